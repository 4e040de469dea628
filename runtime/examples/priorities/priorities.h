/* SPDX-License-Identifier: MIT */
#ifndef PRIORITIES_H
#define PRIORITIES_H

#include <stdint.h>

/* Workgroups that take @ticks of the card's timer each and note when it was their turn. */
struct turn_args {
	uint64_t *next;  /* turns given out, by all kernels */
	uint64_t *turn;  /* of each workgroup */
	uint64_t ticks;
};

#endif

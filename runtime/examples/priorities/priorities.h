/* SPDX-License-Identifier: MIT */
#ifndef PRIORITIES_H
#define PRIORITIES_H

#include <stdint.h>

/* Each workgroup takes @ticks of the card's timer and notes when it started among all. */
struct turn_args {
	uint64_t *next;  /* counts the workgroups of all kernels that have started */
	uint64_t *turn;  /* when each workgroup started: the count at that time */
	uint64_t ticks;
};

#endif

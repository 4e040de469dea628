/* SPDX-License-Identifier: MIT */
#ifndef REDUCE_H
#define REDUCE_H

#include <stdint.h>

#define GROUP 8u /* workgroups that reduce together */

struct reduce_args {
	const uint32_t *in; /* @each numbers for each workgroup */
	uint64_t *out;      /* sum of each group */
	uint64_t each;
	uint64_t *sums;     /* reduce_apart: one for each workgroup ... */
	uint64_t *arrived;  /* ... and a count for each group, 0 */
};

/* Workgroups that do nothing but occupy SMs for a while. */
struct load_args {
	uint64_t *done;
	uint64_t ticks;  /* ticks of the card's timer, at least; some take twice as long */
};

#endif

/* SPDX-License-Identifier: MIT */
/* Arguments of the kernels in task.c. */
#ifndef TUTTI_TEST_TASK_KERNELS_H
#define TUTTI_TEST_TASK_KERNELS_H

#include <stdint.h>

struct tutti_tmd;
struct tutti_signal;

/* each CTA writes down when it started */
struct args_log { uint64_t *clock; uint32_t *order, *runs, *sm_of; uint64_t *now, *most; };
struct args_items { const struct tutti_tmd *tmd; uint32_t *seen; uint64_t *ctas, *items, *least, *most; };
struct args_make { const struct tutti_tmd *tmd; uint32_t from, count; };
struct args_parent {
	struct tutti_tmd *child;     /* room for one for each CTA */
	uint64_t *child_args;        /* kernarg of all of them */
	struct tutti_signal *signal; /* one for each CTA */
	int64_t *result;
	uint64_t *child_runs;
	uint32_t wait, items;
};
struct args_waves { uint32_t *runs; uint32_t waves, pad; };

#endif

/* SPDX-License-Identifier: MIT */
#include "tutti/tmau.h"

#include "gradient.h"

#define X_BYTES (SAMPLES * FEATURES * sizeof(float))
#define BARRIER (X_BYTES + FEATURES * sizeof(float))

/* The workgroups' parts are added in memory, by a store that adds to each element atomically. */
TUTTI_KERNEL(gradient, struct gradient_args, .group_bytes = BARRIER + 8, .workgroup = { 32, 1, 1 })
{
	const float *x = tutti_shared(float, 0);
	float *part = tutti_shared(float, X_BYTES);
	uint64_t *barrier = tutti_shared(uint64_t, BARRIER);
	uint32_t first = tutti_cta_id(0) * SAMPLES;

	tutti_mbarrier_init(barrier, 1);
	tutti_mbarrier_arrive_expect(barrier, X_BYTES);
	tutti_load_tile(args->x, x, barrier, 0, (int32_t)first);
	for (uint32_t f = 0; f < FEATURES; f++)
		part[f] = 0;
	tutti_mbarrier_wait(barrier, 0);
	for (uint32_t i = 0; i < SAMPLES && first + i < args->samples; i++)
		for (uint32_t f = 0; f < FEATURES; f++)
			part[f] += args->error[first + i] * x[i * FEATURES + f];
	tutti_reduce_tile(args->gradient, TUTTI_REDUCE_ADD, part, 0);
	tutti_wait_all();
}

/* SPDX-License-Identifier: MIT */
#include "reduce.h"
#include "tutti/cga.h"
#include "tutti/device.h"

/* Adds up the workgroup's numbers: every wave adds its part to @sum, which is 0 before. */
static void sum_up(const struct reduce_args *args, uint64_t *sum)
{
	const uint32_t *in = args->in + args->each * tutti_cta_linear();
	uint64_t part = 0;

	for (uint64_t i = tutti_wave()->wave; i < args->each; i += tutti_wave()->waves)
		part += in[i];
	__atomic_fetch_add(sum, part, __ATOMIC_RELAXED);
}

/*
 * A tree over the CGA: in each round, half of the workgroups add the sums that the other half has in shared memory. All
 * workgroups of a CGA start together, so nobody waits for one that has no SM.
 */
TUTTI_KERNEL(reduce, struct reduce_args, TUTTI_CGA(GROUP, 1, 1), .group_bytes = sizeof(uint64_t))
{
	uint64_t *mine = tutti_shared(uint64_t, 0);
	uint32_t rank = tutti_cga_rank();

	if (tutti_first_wave())
		*mine = 0;
	tutti_cga_barrier();
	sum_up(args, mine);
	tutti_cga_barrier();
	for (uint32_t step = 1; step < tutti_cga_ctas(); step *= 2) {
		if (tutti_first_wave() && rank % (2 * step) == 0)
			*mine += *tutti_map_rank(mine, rank + step);
		tutti_cga_barrier();
	}
	if (tutti_first_wave() && !rank)
		args->out[tutti_cga_linear()] = *mine;
}

/* The same without a CGA, through memory: a workgroup keeps its SM while it waits for workgroups that may have none. */
TUTTI_KERNEL(reduce_apart, struct reduce_args, .flags = TUTTI_KERNEL_BARRIER, .barriers = 1)
{
	uint32_t cta = tutti_cta_linear(), group = cta / GROUP;
	uint64_t sum = 0;

	sum_up(args, &args->sums[cta]);
	tutti_barrier();
	if (!tutti_first_wave())
		return;
	__atomic_fetch_add(&args->arrived[group], 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&args->arrived[group], __ATOMIC_ACQUIRE) < GROUP)
		tutti_yield();
	for (uint32_t i = 0; i < GROUP; i++)
		sum += args->sums[group * GROUP + i];
	if (cta % GROUP == 0)
		args->out[group] = sum;
}

TUTTI_KERNEL(load, struct load_args)
{
	uint64_t end = tutti_wave()->time + args->ticks + args->ticks * (tutti_cta_linear() * 7 % 16) / 16;

	while (tutti_clock() < end)
		tutti_yield();
	if (tutti_first_wave())
		__atomic_fetch_add(args->done, 1, __ATOMIC_RELAXED);
}

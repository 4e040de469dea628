/* SPDX-License-Identifier: MIT */
#include "priorities.h"
#include "tutti/device.h"

TUTTI_KERNEL(turn, struct turn_args)
{
	uint64_t end = tutti_wave()->time + args->ticks + args->ticks * (tutti_cta_linear() * 5 % 8) / 8;

	args->turn[tutti_cta_linear()] = __atomic_fetch_add(args->next, 1, __ATOMIC_RELAXED);
	while (tutti_clock() < end)
		tutti_yield();
}

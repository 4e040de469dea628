// SPDX-License-Identifier: MIT
#include "core/visit.h"

#include "core/counters.h"

static struct {
	uint32_t event; /* counters.events in the visit that @left is about */
	int32_t left;
} visit;

void visit_init(void)
{
	visit.event = ~0u;
}

COLD bool visit_goes_on(uint32_t steps)
{
	if (visit.event != counters.events) {
		visit.event = counters.events;
		visit.left = VISIT_STEPS;
	}
	if (visit.left > 0)
		visit.left -= (int32_t)steps;
	if (visit.left > 0)
		return true;
	command_ring.limit = NULL; /* so that queue_run() sees it */
	attention.settle |= ATTEND_VISIT;
	return false;
}

COLD bool visit_has(uint32_t steps)
{
	return visit.event != counters.events || visit.left >= (int32_t)steps;
}

COLD bool visit_late(void)
{
	return visit.event == counters.events && visit.left <= 0;
}

COLD void visit_cut(void)
{
	state_detour(DETOUR_CUT, true);
	attention.settle |= ATTEND_ROOM;
	visit_goes_on(VISIT_STEPS); /* none are left in this one */
	command_mark();
}

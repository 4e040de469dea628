/* SPDX-License-Identifier: MIT */
/** DOC: Event counters of the firmware, which have 32 bits here and 64 bits in the control window */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "core/hal.h"

struct counters {
	uint32_t packets, dispatches, references, condensed, barriers, agents, kernels;
	uint32_t ctas_issued, ctas_completed, acquires, releases, signals, fetches, queue_errors;
	uint32_t kernel_misses, repeated, events;
	uint32_t evictions, turns, timeouts, throttles;
	uint32_t tmau_requests, tmau_hits, tmau_misses, tmau_interior, tmau_edge, tmau_movers;
	/* These count only what differs from one for each kernel, so they may be negative. */
	uint32_t state_syncs, placements;
	uint32_t flush_time; /* when counter_idle() was last called (low half) */
};
extern struct counters counters;

void counter_init(void);
/**
 * counter_flush() - bring the counter region of the control window up to date.
 * @residents: CTAs on the card
 * @movers: mover descriptors written so far
 */
void counter_flush(uint32_t residents, uint32_t movers);
#define COUNTER_FLUSH_TICKS 500000u /* firmware that goes idle more often than this does not flush each time */
/** counter_due() - whether it is time for counter_idle(). */
static inline bool counter_due(void)
{
	return HAL_ENGINES->time_lo - counters.flush_time >= COUNTER_FLUSH_TICKS;
}
/** counter_idle() - counter_flush() before the firmware goes idle, called when counter_due(). */
void counter_idle(uint32_t residents, uint32_t movers);

#endif

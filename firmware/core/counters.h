/* SPDX-License-Identifier: MIT */
/** DOC: Event counters of the firmware, which have 32 bits here and 64 bits in the control window */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "core/hal.h"

/* The counters as X(member of struct counters, name in the contract). */
#define COUNTER_MEMBERS(X)                                                                                          \
	X(packets, PACKETS) X(dispatches, PACKETS_DISPATCH) X(references, PACKETS_REFERENCE)                        \
	X(condensed, PACKETS_CONDENSED) X(barriers, PACKETS_BARRIER) X(agents, PACKETS_AGENT) X(kernels, KERNELS)   \
	X(ctas_issued, CTAS_ISSUED) X(ctas_completed, CTAS_COMPLETED) X(acquires, ACQUIRES) X(releases, RELEASES)   \
	X(signals, SIGNALS) X(fetches, FETCHES) X(queue_errors, QUEUE_ERRORS) X(kernel_misses, KERNEL_CACHE_MISSES) \
	X(repeated, REPEATED) X(events, EVENTS) X(evictions, TMD_EVICTIONS) X(turns, QUOTA_TURNS)                   \
	X(timeouts, COALESCE_TIMEOUTS) X(throttles, THROTTLE_SWITCHES) X(tmau_requests, TMAU_REQUESTS)              \
	X(tmau_hits, TMAU_DESCRIPTOR_HITS) X(tmau_misses, TMAU_DESCRIPTOR_MISSES) X(tmau_interior, TMAU_INTERIOR)   \
	X(tmau_edge, TMAU_EDGE) X(tmau_movers, TMAU_MOVERS)

struct counters {
#define COUNTER_MEMBER(member, name) uint32_t member;
	COUNTER_MEMBERS(COUNTER_MEMBER)
#undef COUNTER_MEMBER
	/*
	 * @packets counts slots when they are retired, @kernels only those that no dispatch packet has started. The next four
	 * count only what differs from one for each kernel or request, so the first two of them may be negative.
	 */
	uint32_t state_syncs, placements;
	/* Requests that did not find their descriptor in the cache, and that were neither a tile inside nor at an edge. */
	uint32_t tmau_not_hits, tmau_not_tiles;
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

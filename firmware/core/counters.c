// SPDX-License-Identifier: MIT
#include "core/counters.h"

struct counters counters HOT_DATA;

/* The contract's number of the counter in each word of struct counters. */
#define COUNTER_NUMBER(member, name) TUTTI_COUNTER_##name,
static const uint8_t place[] = { COUNTER_MEMBERS(COUNTER_NUMBER) };
#define COUNTED (sizeof(place) / sizeof(place[0]))

#define COUNT_OF(member) (offsetof(struct counters, member) / 4)

static uint32_t flushed[COUNTED];
/* Two counters are published as the number of kernels plus a difference, which may be negative. */
static struct signed_sum {
	uint64_t sum;     /* of all differences so far */
	uint32_t flushed; /* what the counter was when they were added */
} state_syncs, placements;
static uint64_t *region;

void counter_init(void)
{
	const struct tutti_discovery *discovery = (const void *)HAL_WINDOW;
	unsigned i;

	counters = (struct counters){ 0 };
	region = hal_region(discovery->counters);
	words_clear(region, TUTTI_COUNTER_CORE_INSTRUCTIONS * sizeof(region[0]) / 4);
	for (i = 0; i < COUNTED; i++)
		flushed[i] = 0;
	state_syncs = placements = (struct signed_sum){ 0 };
}

static uint64_t signed_sum(struct signed_sum *s, uint32_t now)
{
	s->sum += (uint64_t)(int32_t)(now - s->flushed);
	s->flushed = now;
	return s->sum;
}

void counter_flush(uint32_t residents, uint32_t movers)
{
	const uint32_t *now = (const uint32_t *)&counters;
	unsigned i;

	region[TUTTI_COUNTER_KERNELS] += counters.dispatches - flushed[COUNT_OF(dispatches)];
	counters.ctas_completed = counters.ctas_issued - residents;
	counters.tmau_movers = movers;
	if (counters.tmau_requests) {
		counters.tmau_hits = counters.tmau_requests - counters.tmau_not_hits;
		counters.tmau_interior = counters.tmau_requests - counters.tmau_edge - counters.tmau_not_tiles;
	}
	for (i = 0; i < COUNTED; i++) {
		if (now[i] == flushed[i])
			continue;
		region[place[i]] += now[i] - flushed[i];
		flushed[i] = now[i];
	}
	region[TUTTI_COUNTER_PLACEMENTS] = region[TUTTI_COUNTER_KERNELS] + signed_sum(&placements, counters.placements);
	region[TUTTI_COUNTER_STATE_SYNCS] = region[TUTTI_COUNTER_KERNELS] + signed_sum(&state_syncs, counters.state_syncs);
}

void counter_idle(uint32_t residents, uint32_t movers)
{
	counters.flush_time = HAL_ENGINES->time_lo;
	counter_flush(residents, movers);
}

// SPDX-License-Identifier: MIT
/*
 * The host's monotonic clock. It is read several times for each kernel, so the time stamp counter is used between two
 * true readings, which are at most a millisecond apart. Each thread has an anchor (a true reading) of its own, so that
 * threads share nothing but the rate.
 */
#include <time.h>

#include "emulator/base/clock.h"
#include "emulator/base/state.h"

static uint64_t clock_true(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

#define ANCHOR_NS 1000000u
#define UNDISTURBED 20000u /* ticks, some microseconds: the most between readings of the two clocks that belong together */
#define RATE_SHIFT 32
#define RATE_NONE 0ull
#define RATE_UNUSABLE 1ull

/* Nanoseconds of a tick << RATE_SHIFT, for the whole process. */
static uint64_t rate;

static __thread struct {
	uint64_t tsc, ns, newest;
} anchor;

static bool tsc_is_steady(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

/*
 * Read the true clock. If the last reading is long enough ago, measure the rate over the time since then. If the
 * thread lost its processor between the readings of the two clocks, they do not belong together; the next call tries again.
 */
static uint64_t settle(void)
{
	uint64_t before = __rdtsc(), ns = clock_true(), tsc = __rdtsc();

	if (tsc - before > UNDISTURBED)
		return ns;
	if (anchor.tsc && tsc > anchor.tsc && ns - anchor.ns > ANCHOR_NS / 2) {
		uint64_t ticks = tsc - anchor.tsc;

		if (ns - anchor.ns < 1000u * ANCHOR_NS && ticks)
			tutti_store_relaxed(&rate, (uint64_t)(((unsigned __int128)(ns - anchor.ns) << RATE_SHIFT) /
							      ticks) | 2);
	} else if (anchor.tsc && tutti_load_relaxed(&rate) == RATE_NONE) {
		return ns; /* too little time has passed to measure the rate */
	}
	anchor.tsc = tsc;
	anchor.ns = ns;
	return ns;
}

uint64_t card_clock(void)
{
	uint64_t now = tutti_load_relaxed(&rate), tsc, ns;

	if (unlikely(now == RATE_UNUSABLE))
		return clock_true();
	if (unlikely(now == RATE_NONE && !anchor.tsc && !tsc_is_steady())) {
		tutti_store_relaxed(&rate, RATE_UNUSABLE);
		return clock_true();
	}
	tsc = __rdtsc();
	ns = (uint64_t)(((unsigned __int128)(tsc - anchor.tsc) * now) >> RATE_SHIFT);
	if (unlikely(now == RATE_NONE || !anchor.tsc || ns > ANCHOR_NS))
		ns = settle();
	else
		ns += anchor.ns;
	/* Time must not go back, though a new anchor may be a little earlier than what the old one predicted. */
	if (ns < anchor.newest)
		return anchor.newest;
	anchor.newest = ns;
	return ns;
}

#else

uint64_t card_clock(void)
{
	return clock_true();
}

#endif

uint64_t card_time(struct tutti_card *card)
{
	if (!card->deterministic)
		return card_clock() - card->start_ns;
	return card->virtual_time +
	       (card->ops->instructions(card->core) - card->virtual_instructions) * CARD_NS_PER_INSTRUCTION;
}

// SPDX-License-Identifier: MIT
/*
 * The counters that the host reads (SYS-13): 64 bits each, of numbers that the firmware counts in 32 bits and, where an
 * event is frequent, only as what differs from the usual case. Compared with sums that have 64 bits from the start.
 */
#include "fw_rig.h"

/* Counters that count nothing but what their name says. */
#define PLAIN(X)                                                                                                     \
	X(packets, PACKETS) X(dispatches, PACKETS_DISPATCH) X(references, PACKETS_REFERENCE)                         \
	X(condensed, PACKETS_CONDENSED) X(barriers, PACKETS_BARRIER) X(agents, PACKETS_AGENT)                        \
	X(ctas_issued, CTAS_ISSUED) X(acquires, ACQUIRES) X(releases, RELEASES) X(signals, SIGNALS)                  \
	X(fetches, FETCHES) X(queue_errors, QUEUE_ERRORS) X(kernel_misses, KERNEL_CACHE_MISSES)                      \
	X(repeated, REPEATED) X(events, EVENTS) X(evictions, TMD_EVICTIONS) X(turns, QUOTA_TURNS)                    \
	X(timeouts, COALESCE_TIMEOUTS) X(throttles, THROTTLE_SWITCHES) X(tmau_misses, TMAU_DESCRIPTOR_MISSES)

#define MEMBER(member, name) { offsetof(struct counters, member) / 4, TUTTI_COUNTER_##name },
static const struct { unsigned word, number; } plain[] = { PLAIN(MEMBER) };
#define PLAINS (sizeof(plain) / sizeof(plain[0]))

#define FIRMWARE TUTTI_COUNTER_CORE_INSTRUCTIONS /* the firmware has this many counters; those behind them are the hardware's */

static uint64_t expected[FIRMWARE];
static uint64_t launched;         /* kernels that no dispatch packet has started */
static int64_t syncs, placements; /* more than one for each kernel */
static uint64_t movers;

static uint64_t *region(void)
{
	const struct tutti_discovery *card = (const void *)hal_host.window;

	return (uint64_t *)(void *)(hal_host.window + card->counters.offset);
}

static void begin(void)
{
	rig_load(4);
	for (unsigned i = 0; i < TUTTI_COUNTERS; i++)
		region()[i] = 0x1122334455667788ull + i;
	memset(&counters, 0xa5, sizeof(counters));
	counter_init();
	memset(expected, 0, sizeof(expected));
	launched = movers = 0;
	syncs = placements = 0;
}

/* A new run of the firmware begins at 0 and leaves the counters of the hardware alone. */
static void begin_at_zero(void **unused)
{
	static const struct counters none;

	begin();
	assert_memory_equal(&counters, &none, sizeof(none));
	counter_flush(0, 0);
	for (unsigned i = 0; i < FIRMWARE; i++)
		assert_int_equal(region()[i], 0);
	for (unsigned i = FIRMWARE; i < TUTTI_COUNTERS; i++)
		assert_int_equal(region()[i], 0x1122334455667788ull + i);
}

/* Anything may have happened since the last flush; nothing has happened 2^32 times. */
static uint32_t some(void)
{
	return roll(3) ? roll(100) : roll(2) ? 0 : roll32() / 4;
}

/* Requests are interior tiles, tiles at an edge or neither, and each finds its descriptor in the cache or does not. */
static void count_requests(void)
{
	uint32_t interior = some(), edge = some(), others = some(), all = interior + edge + others, hits = all ? roll(all) : 0;

	counters.tmau_requests += all;
	counters.tmau_edge += edge;
	counters.tmau_not_tiles += others;
	counters.tmau_not_hits += all - hits;
	expected[TUTTI_COUNTER_TMAU_REQUESTS] += all;
	expected[TUTTI_COUNTER_TMAU_EDGE] += edge;
	expected[TUTTI_COUNTER_TMAU_INTERIOR] += interior;
	expected[TUTTI_COUNTER_TMAU_DESCRIPTOR_HITS] += hits;
}

static void count(void)
{
	uint32_t *word = (uint32_t *)&counters, n;

	for (unsigned i = 0; i < PLAINS; i++) {
		n = some();
		word[plain[i].word] += n;
		expected[plain[i].number] += n;
	}
	n = some();
	counters.kernels += n;
	launched += n;
	n = some();
	counters.state_syncs -= n;
	syncs -= n;
	counters.placements += n;
	placements += n;
	movers += some();
	if (roll(2))
		count_requests();
}

/* Those that are derived from others. */
static void derive(uint32_t residents)
{
	expected[TUTTI_COUNTER_KERNELS] = launched + expected[TUTTI_COUNTER_PACKETS_DISPATCH];
	expected[TUTTI_COUNTER_CTAS_COMPLETED] = expected[TUTTI_COUNTER_CTAS_ISSUED] - residents;
	expected[TUTTI_COUNTER_TMAU_MOVERS] = movers;
	expected[TUTTI_COUNTER_PLACEMENTS] = expected[TUTTI_COUNTER_KERNELS] + (uint64_t)placements;
	expected[TUTTI_COUNTER_STATE_SYNCS] = expected[TUTTI_COUNTER_KERNELS] + (uint64_t)syncs;
}

static void compare(void)
{
	static const char *const name[] = {
#define NAME(word, text) text,
		TUTTI_COUNTER_LIST(NAME)
	};

	for (unsigned i = 0; i < FIRMWARE; i++)
		if (i != TUTTI_COUNTER_CGAS && region()[i] != expected[i])
			fail_msg("%s: %llu, not %llu", name[i], (unsigned long long)region()[i],
				 (unsigned long long)expected[i]);
}

/* However often they are flushed, and also when 32 bits have overflown in between. */
static void sums(void **unused)
{
	for (unsigned round = 0; round < 20; round++) {
		seed(round);
		begin();
		for (unsigned i = 0, residents = 0; i < 200; i++) {
			uint64_t before = expected[TUTTI_COUNTER_CTAS_ISSUED];

			count();
			residents = roll(min32(1000, (uint32_t)(residents + expected[TUTTI_COUNTER_CTAS_ISSUED] - before)) + 1);
			counter_flush(residents, (uint32_t)movers);
			derive(residents);
			compare();
			if (!roll(3)) {
				counter_flush(residents, (uint32_t)movers);
				compare();
			}
		}
	}
}

/* Firmware that goes idle often flushes once in half a millisecond, whatever the low half of the clock shows then. */
static void flushed_when_idle(void **unused)
{
	static const uint32_t times[] = { 0, 1000, 0xfffffff0, 0x7fffffff };

	for (unsigned i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		begin();
		hal_host.engines.time_lo = times[i];
		counters.signals = 7;
		counters.ctas_issued = 5;
		counter_idle(2, 9);
		assert_int_equal(region()[TUTTI_COUNTER_SIGNALS], 7);
		assert_int_equal(region()[TUTTI_COUNTER_CTAS_COMPLETED], 3);
		assert_int_equal(region()[TUTTI_COUNTER_TMAU_MOVERS], 9);
		assert_false(counter_due());
		hal_host.engines.time_lo = times[i] + COUNTER_FLUSH_TICKS - 1;
		assert_false(counter_due());
		hal_host.engines.time_lo = times[i] + COUNTER_FLUSH_TICKS;
		assert_true(counter_due());
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-13 TSK-16", begin_at_zero),
		RIG_TEST("SYS-13 TSK-16", sums),
		RIG_TEST("SYS-13", flushed_when_idle),
	};

	return cmocka_run_group_tests_name("firmware: counters", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The same run twice, and with the firmware translated and interpreted: SYS-12, SYS-13, SYS-51. */
#include <stdlib.h>

#include "raw.h"

struct run {
	uint64_t counters[TUTTI_COUNTERS];
	uint64_t instructions, time;
	size_t functions;
	struct tutti_card_function function[1024];
	uint64_t cell;
	uint32_t log_bytes;
	char log[65536];
	uint64_t traces;
	uint8_t trace[1 << 18];
	struct tutti_crash crash;
	const char *core;
};

static void work(struct run *run, uint64_t seed, bool count)
{
	struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC, .seed = seed, .count = count,
					    .topology = { 7, 5 }, .gpcs = 2 };
	struct raw *raw = raw_create(&config);
	const struct tutti_log *log = (const void *)(raw->bar + raw->discovery->log.offset);
	struct raw_space space;
	struct raw_queue queue, other;
	uint64_t *cell, *counts;
	struct tutti_signal *signal;
	struct raw_condensed c;
	unsigned i, k;

	raw->control->trace_enable = 0xff;
	raw_space_init(raw, &space, 1);
	raw_queue_init(&space, &queue, 1, TUTTI_QUEUE_EXTENDED, 6);
	raw_queue_init(&space, &other, 2, 0, 6);
	cell = raw_small(&space);
	counts = raw_new(&space, 65536);
	signal = raw_signal(&space, 40);
	for (i = 0; i < 20; i++) {
		union tutti_packet p = raw_step(&space, cell, 3, i, signal);

		p.dispatch.ref_num = (uint16_t)(TUTTI_REF_STORE | i % 8);
		raw_submit(&queue, &p);
		p = raw_dispatch(raw, RAW_COUNT, 300 + 10 * i, 1 + i, raw_args(&space, counts, 0, 0), signal);
		raw_submit(&other, &p);
	}
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	for (i = 0; i < 10; i++) {
		raw_condensed(&c);
		for (k = 0; k < 25; k++)
			raw_diff(&c, k % 8, 0);
		raw_submit(&queue, &c.packet);
	}
	raw_retired(&queue);
	raw_counters(raw, run->counters);
	raw_settle(raw);
	run->instructions = tutti_card_instructions(raw->card);
	run->functions = tutti_card_profile(raw->card, run->function, 1024);
	for (i = 0; i < run->functions; i++)
		run->function[i].name = NULL;
	run->cell = *cell;
	run->log_bytes = (uint32_t)log->head;
	memcpy(run->log, log->text, log->bytes < sizeof(run->log) ? log->bytes : sizeof(run->log));
	run->traces = raw->status->trace_tail;
	if (raw->discovery->trace.bytes)
		memcpy(run->trace, raw->bar + raw->discovery->trace.offset,
		       raw->discovery->trace.bytes < sizeof(run->trace) ? raw->discovery->trace.bytes : sizeof(run->trace));
	run->core = tutti_card_core(raw->card);
	tutti_card_inject(raw->card, TUTTI_INJECT_FIRMWARE_CRASH, 1);
	raw_condensed(&c);
	raw_submit(&queue, &c.packet); /* its doorbell wakes the core */
	raw_settle(raw);
	assert_int_equal(raw->status->state, TUTTI_STATE_CRASHED);
	memcpy(&run->crash, raw->bar + raw->discovery->crash.offset, sizeof(run->crash));
	raw_destroy(raw);
}

static void same(const struct run *a, const struct run *b)
{
	unsigned i;

	for (i = 0; i < TUTTI_COUNTERS; i++)
		if (a->counters[i] != b->counters[i])
			fail_msg("counter %u: %llu and %llu", i, (unsigned long long)a->counters[i],
				 (unsigned long long)b->counters[i]);
	assert_true(a->instructions == b->instructions);
	assert_int_equal(a->cell, b->cell);
	assert_int_equal(a->log_bytes, b->log_bytes);
	assert_memory_equal(a->log, b->log, sizeof(a->log));
	assert_int_equal(a->traces, b->traces);
	assert_memory_equal(a->trace, b->trace, sizeof(a->trace));
	assert_int_equal(a->counters[TUTTI_COUNTER_KERNELS], 40 + 250);
	assert_true(a->counters[TUTTI_COUNTER_CORE_INSTRUCTIONS] > 0);
	assert_memory_equal(&a->crash, &b->crash, sizeof(a->crash));
	assert_int_equal(a->crash.cause, TUTTI_CRASH_TRAP);
}

static void twice(void **state)
{
	struct run *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	uint64_t sum = 0;

	work(a, 1, true);
	work(b, 1, true);
	same(a, b);
	assert_int_equal(a->functions, b->functions);
	assert_memory_equal(a->function, b->function, sizeof(a->function));
	for (size_t i = 0; i < a->functions; i++)
		sum += a->function[i].instructions;
	assert_in_range(sum, a->instructions - a->instructions / 50, a->instructions);
	free(a);
	free(b);
}

/* Whichever way the firmware is executed, the card cannot tell. */
static void either_way(void **state)
{
	struct run *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));

	unsetenv("TUTTI_INTERPRET");
	work(a, 1, false);
	assert_string_equal(a->core, "translated");
	work(b, 1, true);
	assert_string_equal(b->core, "interpreted, counted by function");
	same(a, b);
	setenv("TUTTI_INTERPRET", "1", 1);
	work(b, 1, false);
	unsetenv("TUTTI_INTERPRET");
	assert_string_equal(b->core, "interpreted");
	same(a, b);
	free(a);
	free(b);
}

static void seeds_change_nothing_that_matters(void **state)
{
	struct run *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));

	work(a, 1, false);
	work(b, 99, false);
	assert_int_equal(a->cell, b->cell);
	assert_int_equal(a->counters[TUTTI_COUNTER_KERNELS], b->counters[TUTTI_COUNTER_KERNELS]);
	assert_int_equal(a->counters[TUTTI_COUNTER_CTAS_COMPLETED], b->counters[TUTTI_COUNTER_CTAS_COMPLETED]);
	free(a);
	free(b);
}

static void bus_is_counted(void **state)
{
	struct run *a = calloc(1, sizeof(*a));

	work(a, 1, false);
	assert_true(a->counters[TUTTI_COUNTER_BUS_READS] > 0);
	assert_true(a->counters[TUTTI_COUNTER_BUS_READ_BYTES] >= 50 * 64);
	assert_true(a->counters[TUTTI_COUNTER_BUS_WRITES] > 0);
	assert_true(a->counters[TUTTI_COUNTER_BUS_WRITE_BYTES] > 0);
	assert_true(a->counters[TUTTI_COUNTER_DOORBELLS] > 0);
	free(a);
}

/* The cost of @packets empty kernels, one by one, on the bus and the soft core. */
static void bus_of(struct raw *raw, struct raw_queue *queue, struct tutti_signal *signal, unsigned packets,
		   uint64_t cost[TUTTI_COUNTERS])
{
	uint64_t before[TUTTI_COUNTERS];
	unsigned i;

	raw_counters(raw, before);
	for (i = 0; i < packets; i++) {
		union tutti_packet p = raw_dispatch(raw, RAW_EMPTY, 1, 1, NULL, signal);

		raw_submit(queue, &p);
		assert_true(raw_until(raw, &signal->value, signal->value - 1, RAW_PATIENCE));
		raw_settle(raw);
	}
	raw_counters(raw, cost);
	for (i = 0; i < TUTTI_COUNTERS; i++)
		cost[i] -= before[i];
}

/*
 * Each packet costs the same, so twice as many cost exactly twice as much. Not counted are fetches that cross a page,
 * which take two reads, and the soft core's heartbeat.
 */
static void bus_by_packet(void **state)
{
	static const struct { unsigned counter, least; bool exact; } costs[] = {
		{ TUTTI_COUNTER_DOORBELLS, 1, true },	{ TUTTI_COUNTER_SIGNALS, 1, true },
		{ TUTTI_COUNTER_BUS_WRITES, 2, true },	{ TUTTI_COUNTER_BUS_WRITE_BYTES, 16, true },
		{ TUTTI_COUNTER_BUS_READS, 1, false },	{ TUTTI_COUNTER_BUS_READ_BYTES, 64, false },
		{ TUTTI_COUNTER_CORE_INSTRUCTIONS, 100, false },
	};
	struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC, .topology = { 4 }, .gpcs = 1 };
	struct raw *raw = raw_create(&config);
	uint64_t none[TUTTI_COUNTERS], some[TUTTI_COUNTERS], many[TUTTI_COUNTERS];
	struct raw_space space;
	struct raw_queue queue;
	struct tutti_signal *signal;
	unsigned i;

	raw_space_init(raw, &space, 1);
	raw_queue_init(&space, &queue, 1, 0, 10);
	signal = raw_signal(&space, 1000);
	bus_of(raw, &queue, signal, 64, none);
	bus_of(raw, &queue, signal, 0, none);
	bus_of(raw, &queue, signal, 100, some);
	bus_of(raw, &queue, signal, 200, many);
	for (i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		uint64_t one = some[costs[i].counter], two = many[costs[i].counter];

		assert_true(one >= 100 * costs[i].least);
		if (costs[i].exact)
			assert_int_equal(two, 2 * one);
		else
			assert_in_range(two, 2 * one - one / 10, 2 * one + one / 10);
		if (costs[i].counter != TUTTI_COUNTER_CORE_INSTRUCTIONS)
			assert_int_equal(none[costs[i].counter], 0);
	}
	raw_destroy(raw);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{ "SYS-12, SYS-13: the same run twice: counters, instructions, log, trace", twice, NULL, NULL, NULL },
		{ "SYS-51, SYS-12: translated, interpreted or counted: the same, with the crash record", either_way, NULL, NULL,
		  NULL },
		{ "SYS-12: another seed, the same results", seeds_change_nothing_that_matters, NULL, NULL, NULL },
		{ "SYS-13: bus transactions are counted", bus_is_counted, NULL, NULL, NULL },
		{ "SYS-13: bus transactions and instructions of each packet", bus_by_packet, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("deterministic", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* Commands of the soft core: fetch, writes, launch, a full ring; a mover asked by the firmware. */
#include "card_rig.h"

/* ---- memory commands ---- */

static void test_fetch(void **state)
{
	uint32_t got[16], i;
	static uint8_t host[8192] __attribute__((aligned(4096)));
	const uint32_t *event;
	uint64_t bus = (uint64_t)host | TUTTI_BUS_HOST;

	for (i = 0; i < 1024; i++)
		((uint32_t *)(memory + 0x400000))[i] = i * 3;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 0x1234), 0, BUS(0x400040), 64, LOCAL_BUFFER);
	event = event_of(TUTTI_EVENT_FETCH);
	assert_int_equal(event[0], TUTTI_EVENT_FETCH | 0x1234u << 16);
	peek(LOCAL_BUFFER, got, 16);
	assert_memory_equal(got, memory + 0x400040, 64);

	/* host memory: only when registered */
	for (i = 0; i < sizeof(host); i++)
		host[i] = (uint8_t)(i * 7 + i / 64);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 1), TUTTI_FETCH_PACKETS << 16, (uint32_t)bus, (uint32_t)(bus >> 32),
		64, LOCAL_BUFFER);
	event = event_of(TUTTI_EVENT_FETCH);
	assert_int_equal(event[0], TUTTI_EVENT_FETCH | TUTTI_CAUSE_BUS << 8 | 1 << 16);
	assert_int_equal(event[1] | (uint64_t)event[2] << 32, bus);
	assert_int_equal(tutti_card_host_add(card, host, sizeof(host)), 0);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 1), TUTTI_FETCH_PACKETS << 16, (uint32_t)(bus + 4096 - 64),
		(uint32_t)(bus >> 32), 128, LOCAL_BUFFER);
	assert_int_equal(event_of(TUTTI_EVENT_FETCH)[0], TUTTI_EVENT_FETCH | 1 << 16);
	for (i = 0; i < 2; i++) { /* the last packet of a page and the first one of the next */
		peek(LOCAL_BUFFER + 64 * i, got, 16);
		assert_memory_equal(got, host + 4096 - 64 + 64 * i, 64);
	}
	tutti_card_host_remove(card, host);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 1), 0, (uint32_t)bus, (uint32_t)(bus >> 32), 64, LOCAL_BUFFER);
	assert_int_equal(event_of(TUTTI_EVENT_FETCH)[0], TUTTI_EVENT_FETCH | TUTTI_CAUSE_BUS << 8 | 1 << 16);
}

static void test_fetch_bad(void **state)
{
	static const uint32_t bad[][2] = { { 0, LOCAL_BUFFER }, { 3, LOCAL_BUFFER }, { 4100, LOCAL_BUFFER },
					   { 0xfffffffc, LOCAL_BUFFER }, { 64, 0x3fff0 }, { 64, 2 },
					   { 64, 0x80000000 }, { 64, 0xfffffff0 }, { 64, LOCAL_BUFFER + 1 },
					   { 64, LOCAL_BUFFER + 2 }, { 64, LOCAL_BUFFER + 3 } };
	const uint32_t *event;
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 9), 0, BUS(0), bad[i][0], bad[i][1]);
		event = event_of(TUTTI_EVENT_FETCH);
		assert_int_equal(event[0], TUTTI_EVENT_FETCH | TUTTI_CAUSE_ALIGNMENT << 8 | 9 << 16);
		assert_int_equal(event[1] | event[2], 0); /* no address, since it is not the address that is wrong */
	}
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 9), 0, 0xffffffff, 0xffffffff, 4, LOCAL_BUFFER);
	assert_int_not_equal(event_of(TUTTI_EVENT_FETCH)[0] & 0xff00, 0);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 9), 300, BUS(0), 4, LOCAL_BUFFER); /* no such context */
	assert_int_equal(event_of(TUTTI_EVENT_FETCH)[0], TUTTI_EVENT_FETCH | TUTTI_CAUSE_UNMAPPED << 8 | 9 << 16);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 9), 0, BUS(64u << 20), 4, LOCAL_BUFFER);
	assert_int_equal(event_of(TUTTI_EVENT_FETCH)[0], TUTTI_EVENT_FETCH | TUTTI_CAUSE_BUS << 8 | 9 << 16);
}

static void test_post(void **state)
{
	struct tutti_signal *signal = (void *)(memory + 0x400000);
	const uint32_t *event;
	unsigned i;

	COMMAND(TUTTI_COMMAND(TUTTI_CMD_WRITE, 6, 8), 0, BUS(0x401000), 0x89abcdef, 0x01234567);
	assert_true(*(uint64_t *)(memory + 0x401000) == 0x0123456789abcdefull);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_WRITE, 6, 4), 0, BUS(0x401004), 5, 6);
	assert_true(*(uint64_t *)(memory + 0x401000) == 0x0000000589abcdefull);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_WRITE, 6, 8), 7 << 16, BUS(0x401004), 5, 6);
	event = event_of(TUTTI_EVENT_POST_FAULT);
	assert_int_equal(event[0], TUTTI_EVENT_POST_FAULT | TUTTI_CAUSE_ALIGNMENT << 8 | 7 << 16);
	assert_int_equal(event[1], 0x401004);

	/* several values at once, within a block of 64 bytes */
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_BLOCK, 8, 0), 0, BUS(0x4010b0), 1, 2, 3, 4);
	assert_true(*(uint64_t *)(memory + 0x4010b0) == 0x200000001 && *(uint64_t *)(memory + 0x4010b8) == 0x400000003);
	assert_true(!*(uint64_t *)(memory + 0x4010a8) && !*(uint64_t *)(memory + 0x4010c0));
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_BLOCK, 8, 0), 6 << 16, BUS(0x4010b8), 5, 6, 7, 8);
	event = event_of(TUTTI_EVENT_POST_FAULT);
	assert_int_equal(event[0], TUTTI_EVENT_POST_FAULT | TUTTI_CAUSE_ALIGNMENT << 8 | 6 << 16);
	assert_int_equal(event[1], 0x4010b8);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_BLOCK, 6, 0), 0, BUS(0x4010bc), 5, 6);
	assert_int_equal(event_of(TUTTI_EVENT_POST_FAULT)[1], 0x4010bc);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_BLOCK, 6, 0), 0, BUS(64u << 20), 5, 6);
	assert_int_equal(event_of(TUTTI_EVENT_POST_FAULT)[1], 64u << 20);
	assert_true(*(uint64_t *)(memory + 0x4010b8) == 0x400000003 && !*(uint64_t *)(memory + 0x4010c0));

	memset(signal, 0, sizeof(*signal));
	signal->value = 5;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 0, BUS(0x400000));
	assert_int_equal(signal->value, 4);
	assert_int_equal(signal->end_time, 0);
	assert_int_equal(interrupts, 0);
	signal->waiters = 1;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3 | TUTTI_SIGNAL_TIMES), 0, BUS(0x400000));
	assert_int_equal(signal->value, 3);
	assert_true(signal->end_time);
	assert_int_equal(interrupts, 1);
	signal->flags = TUTTI_SIGNAL_SPLIT;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 0, BUS(0x400000));
	assert_int_equal(signal->value, 3);
	assert_int_equal(signal->card_done, 1);
	for (i = 0; i < 3; i++) { /* programs may store any value */
		const int64_t value[] = { INT64_MAX, INT64_MIN, -1 };

		signal->value = value[i];
		signal->waiters = 0;
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3 | TUTTI_SIGNAL_CANCEL), 0, BUS(0x400000));
		assert_true(tutti_signal_load(signal) == TUTTI_SIGNAL_CANCELLED);
		signal->card_done = INT64_MAX;
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 0, BUS(0x400000));
		assert_true(signal->card_done == INT64_MIN);
		signal->waiters = 1;
	}
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 8 << 16, BUS(0x400020));
	assert_int_equal(event_of(TUTTI_EVENT_POST_FAULT)[0],
			 TUTTI_EVENT_POST_FAULT | TUTTI_CAUSE_ALIGNMENT << 8 | 8 << 16);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 31));
	assert_int_equal(interrupts, 3);
	assert_int_equal(vectors[2], 31);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 0xffff));
	assert_int_equal(interrupts, 3);

	for (i = 0; i < 128; i++)
		memset(memory + 0x402000 + 64 * i, 0x77, 64);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SCRUB, 5, 1), 0, BUS(0x402fc0), 2);
	assert_int_equal(*(uint16_t *)(memory + 0x402fc0), 1);
	assert_int_equal(*(uint16_t *)(memory + 0x402fca), 0);
	assert_int_equal(*(uint16_t *)(memory + 0x403000), 1);
	assert_int_equal(*(uint16_t *)(memory + 0x403040), 0x7777);
	assert_int_equal(*(uint16_t *)(memory + 0x402f80), 0x7777);
	/* as many slots as the largest ring has, and not one more */
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SCRUB, 5, 0), 0, BUS(0x1000000), 1u << 16);
	assert_int_equal(*(uint16_t *)(memory + 0x1000000 + 64 * 0xffff), 1);
	assert_int_equal(*(uint16_t *)(memory + 0x1000000 + 64 * 0x10000), 0);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SCRUB, 5, 0), 0, BUS(0x1800000), (1u << 16) + 1);
	assert_int_equal(event_of(TUTTI_EVENT_POST_FAULT)[1], 0x1800000);
	assert_int_equal(*(uint16_t *)(memory + 0x1800000), 0);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SCRUB, 5, 0), 0, BUS((64u << 20) - 64), 0xffffffff);
	assert_non_null(event_of(TUTTI_EVENT_POST_FAULT));
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SCRUB, 5, 0), 0, BUS((64u << 20) - 64), 2);
	assert_int_equal(event_of(TUTTI_EVENT_POST_FAULT)[1], 64u << 20);
}

static void test_commands_bad(void **state)
{
	static const uint32_t bad[] = { 200 | 1 << 8, TUTTI_CMD_FETCH, TUTTI_CMD_FETCH | 5 << 8, TUTTI_CMD_STATE | 3 << 8,
					TUTTI_CMD_WRITE | 255u << 8, TUTTI_CMD_BLOCK | 5 << 8, TUTTI_CMD_BLOCK | 7 << 8,
					TUTTI_CMD_BLOCK | 22 << 8, 0 };
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		COMMAND(bad[i], 0, 0, 0, 0);
		assert_int_equal(status->state, TUTTI_STATE_CRASHED);
		assert_int_equal(crash->cause, TUTTI_CRASH_TRAP);
		boot(image_file, image_bytes);
	}
	/* a WRITE whose last words have not been published */
	*(uint64_t *)(memory + 0x402000) = 1;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_WRITE, 6, 8), 0, BUS(0x402000), 5);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	assert_true(*(uint64_t *)(memory + 0x402000) == 1);
	boot(image_file, image_bytes);
	/* ring words of the engine page: base, words, tail */
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES, 0x3fff0, 1024, 5);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	boot(image_file, image_bytes);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES, 0x1000, 1000, 5);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	boot(image_file, image_bytes);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 16, 0xfffffff0, 0x80000000);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 32, 0xfffffff0, 0x80000000, 77, 0);
	boot(image_file, image_bytes);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
}

static void test_launch(void **state)
{
	uint32_t words[25 + 2] = { TUTTI_COMMAND(TUTTI_CMD_STATE, 25, 9 << 8 | TUTTI_STATE_SPLIT) };
	struct tutti_task_state task = { .entry = 0x1234, .waves = 3 };

	memcpy(words + 1, &task, sizeof(task));
	words[25] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 3, 9);
	words[26] = 1 | 1u << 24;
	script(OP_COMMANDS, (uint32_t[]){ 0 }, 0);
	{
		uint32_t all[28];

		memcpy(all, words, sizeof(words));
		all[27] = 1;
		script(OP_COMMANDS, all, 28);
	}
	assert_int_equal(sms.states, 1);
	assert_int_equal(sms.state.entry, 0x1234);
	assert_int_equal(sms.launches, 1);
	assert_int_equal(sms.slot, 9);
	assert_int_equal(sms.words, 2);
	assert_int_equal(sms.state_flags, TUTTI_STATE_SPLIT);
	sms.refuse = -22;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 3, 9), 1, 1);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(crash->cause, TUTTI_CRASH_TRAP);
}

/* Like STATE, from memory: @base is what lies there, @words the record. */
static void expect_task(const struct tutti_task_state *base, uint32_t sub, uint32_t address, bool grid, bool kernarg)
{
	struct tutti_task_state want = *base;
	uint32_t words[9] = { 0, address, 7 | 5u << 16, 0x89abcdef, 0x1234567 }, n = 5, states = sms.states;

	want.asid = 7;
	want.queue = 5;
	want.packet = 0x123456789abcdefull;
	want.first = 0;
	want.tmd = 0;
	if (grid) {
		words[n++] = want.grid_x = 1001;
		words[n++] = want.groups_x = 33;
	}
	if (kernarg) {
		words[n++] = 0x1000;
		words[n++] = 3;
		want.kernarg = 0x300001000ull;
	}
	sub |= (grid ? TUTTI_TASK_NEW_GRID : 0) | (kernarg ? TUTTI_TASK_NEW_KERNARG : 0);
	words[0] = TUTTI_COMMAND(TUTTI_CMD_TASK, n, sub);
	script(OP_COMMANDS, words, n);
	assert_int_equal(sms.states, states + 1);
	assert_int_equal(sms.slot, sub >> 8);
	assert_int_equal(sms.state_flags, 0);
	assert_false(sms.levels || sms.masked || sms.mask_words);
	assert_memory_equal(&sms.state, &want, sizeof(want));
}

static void test_task(void **state)
{
	struct tutti_task_state base;
	unsigned i;

	for (i = 0; i < sizeof(base); i++)
		((uint8_t *)&base)[i] = (uint8_t)(i * 37 + 11);
	memcpy(memory + 0x402000, &base, sizeof(base));
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 1), 0, BUS(0x402000), sizeof(base), LOCAL_BUFFER);
	for (i = 0; i < 8; i++)
		expect_task(&base, 9 << 8 | i % 3, i & 1 ? LOCAL_BUFFER : TUTTI_CORE_CARD + 0x402000, i & 2, i & 4);
	/* nothing there, or another length than the flags say */
	for (i = 0; i < 6; i++) {
		static const uint32_t bad[6][2] = { { 0, 0x3ffc0 }, { 0, LOCAL_BUFFER + 2 }, { 0, TUTTI_CORE_CONTROL },
						    { 0, TUTTI_CORE_CARD + (64u << 20) - 64 }, { 0, 0xfffffffc },
						    { TUTTI_TASK_NEW_GRID, LOCAL_BUFFER } };

		COMMAND(TUTTI_COMMAND(TUTTI_CMD_TASK, 5, bad[i][0]), bad[i][1], 7, 0, 0);
		assert_int_equal(status->state, TUTTI_STATE_CRASHED);
		boot(image_file, image_bytes);
	}
}

/* More commands with events than the event ring has slots. */
static void test_full_ring(void **state)
{
	uint32_t words[160 * 6], i;

	for (i = 0; i < 160; i++)
		memcpy(&words[6 * i],
		       (uint32_t[]){ TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, i), 0, BUS(0), 4, LOCAL_BUFFER }, 24);
	script(OP_COMMANDS, words, 960);
	assert_int_equal(*(uint32_t *)(memory + EVENTS), 161);
	assert_int_equal(event_of(TUTTI_EVENT_FETCH)[0], TUTTI_EVENT_FETCH | 159 << 16);
}

/* ---- movers ---- */

static void move(const struct tutti_mover *d, const struct tutti_mover_shape *shape)
{
	uint32_t words[33] = { LOCAL_BUFFER + 0x1000 }, tail;

	memcpy(words + 1, d, sizeof(*d));
	memcpy(words + 17, shape, sizeof(*shape));
	words[1 + offsetof(struct tutti_mover, shape) / 4] = LOCAL_BUFFER + 0x1040;
	script(OP_POKE, words, 33);
	script(OP_POKE, (uint32_t[]){ TUTTI_CORE_ENGINES + 32, LOCAL_BUFFER + 0x1000, 1 }, 3);
	peek(TUTTI_CORE_ENGINES + 44, &tail, 1);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 60, tail + 1);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 40, tail + 1);
}

static void test_mover(void **state)
{
	struct tutti_mover d = { .op = TUTTI_MOVE_FILL, .tag = 0x77, .flags = TUTTI_MOVER_EVENT | TUTTI_MOVER_LINEAR,
				 .global = 0x500004, .bytes = 10000 };
	struct tutti_mover_shape shape = { .fill = 0x1234567812345678 };
	const uint32_t *words = (uint32_t *)(memory + 0x500000);
	unsigned i;

	memset(memory + 0x500000, 0, 0x10000);
	memory[0x700001 + 96] = 0;
	move(&d, &shape);
	assert_int_equal(event_of(TUTTI_EVENT_MOVER_ROOM)[0], TUTTI_EVENT_MOVER_ROOM);
	assert_int_equal(event_of(TUTTI_EVENT_MOVER)[0], TUTTI_EVENT_MOVER | 0x77 << 16);
	assert_int_equal(words[0], 0);
	assert_int_equal(words[1], 0x12345678);
	assert_int_equal(words[2500], 0x12345678);
	assert_int_equal(words[2501], 0);
	/* 3 x 4 rows of 8 bytes, gathered */
	for (i = 0; i < 65536; i++)
		memory[0x600000 + i] = (uint8_t)(i ^ i >> 8);
	d = (struct tutti_mover){ .op = TUTTI_MOVE_COPY, .flags = TUTTI_MOVER_EVENT, .global = 0x600ffc,
				  .other = 0x700001 };
	shape = (struct tutti_mover_shape){ .unit = 1, .count = { 8, 3, 4, 1 }, .stride = { 1, 100, 5000 } };
	move(&d, &shape);
	assert_int_equal(event_of(TUTTI_EVENT_MOVER)[0], TUTTI_EVENT_MOVER);
	for (i = 0; i < 96; i++)
		assert_int_equal(memory[0x700001 + i],
				 memory[0x600ffc + i % 8 + 100 * (i / 8 % 3) + 5000 * (i / 24)]);
	assert_int_equal(memory[0x700001 + 96], 0);
	/* units with a stride */
	d.global = 0x600000;
	d.other = 0x701000;
	shape = (struct tutti_mover_shape){ .unit = 2, .count = { 10, 1, 1, 1 }, .stride = { 6 } };
	move(&d, &shape);
	for (i = 0; i < 10; i++)
		assert_memory_equal(memory + 0x701000 + 2 * i, memory + 0x600000 + 6 * i, 2);
	d.flags |= TUTTI_MOVER_LINEAR;
	d.bytes = ~0u; /* runs out of card memory */
	move(&d, &shape);
	assert_int_equal(event_of(TUTTI_EVENT_MOVER)[0], TUTTI_EVENT_MOVER | TUTTI_CAUSE_BUS << 8);
	d.op = TUTTI_MOVE_LOAD;
	move(&d, &shape);
	assert_int_equal(event_of(TUTTI_EVENT_MOVER)[0], TUTTI_EVENT_MOVER | TUTTI_CAUSE_SERVICE << 8);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 40, 0x7777);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fetch), TEST(test_fetch_bad), TEST(test_post), TEST(test_commands_bad), TEST(test_launch),
		{ "PKT-09 CGA-19: a task state that lies in memory", test_task, setup, teardown, NULL },
		TEST(test_full_ring), TEST(test_mover),
	};

	return cmocka_run_group_tests(tests, make_image, drop_image);
}

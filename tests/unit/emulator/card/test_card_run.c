// SPDX-License-Identifier: MIT
/* Determinism, counts, injected faults, random commands; sleep, timers and watchdog in fast mode. */
#include "card_rig.h"
#include "emulator/base/clock.h"
#include "emulator/engines/engines.h"

/* ---- determinism, counts ---- */

static uint64_t work(void)
{
	uint64_t n;

	boot(image_file, image_bytes);
	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	*doorbell(0) = 1;
	SCRIPT_WORDS(OP_TIMER, 0, 1);
	settle();
	settle();
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 9), 0, BUS(0), 64, LOCAL_BUFFER);
	n = tutti_card_instructions(card);
	return n * 1000003 + ((uint64_t *)(bar + discovery->counters.offset))[TUTTI_COUNTER_CORE_WAKES];
}

static void test_deterministic(void **state)
{
	uint64_t first = work();

	assert_int_equal(work(), first);
	tutti_card_destroy(card);
	card_open(TUTTI_CARD_DETERMINISTIC);
	assert_int_equal(work(), first);
}

static uint64_t core_wakes(void)
{
	return ((uint64_t *)(bar + discovery->counters.offset))[TUTTI_COUNTER_CORE_WAKES];
}

/* The rest of the card gets turns while the core runs, and which ones follows from the seed. */
static void test_slices(void **state)
{
	uint64_t whole, first;

	work();
	whole = core_wakes();
	slice = 20;
	for (unsigned i = 0; i < 2; i++) {
		tutti_card_destroy(card);
		card_open(TUTTI_CARD_DETERMINISTIC);
		if (!i)
			first = work();
		else
			assert_int_equal(work(), first);
		assert_true(core_wakes() > 2 * whole);
	}
	slice = 0;
}

static bool fetched(void *context)
{
	return *(uint32_t *)(memory + EVENTS) >= 2; /* the MESSAGE and the FETCH */
}

/* Interrupts come later than what they tell of, some of them so that it can be seen before; none is lost. */
static void test_late_interrupts(void **state)
{
	const uint32_t words[] = { TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 3), TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 9), 0, 0, 0, 4,
				   LOCAL_BUFFER };
	unsigned late = 0, before = interrupts;

	for (unsigned i = 1; i <= 50; i++) {
		*(uint32_t *)(memory + EVENTS) = 0;
		script_begin(OP_COMMANDS, words, 7);
		for (unsigned k = 0; k < 100 && !fetched(NULL); k++)
			tutti_card_run(card, fetched, NULL);
		late += interrupts != before + i;
		settle();
		assert_int_equal(interrupts, before + i);
	}
	assert_in_range(late, 10, 49);
}

static bool timer_seen(void *context)
{
	++*(unsigned *)context;
	return event_of(TUTTI_EVENT_TIMER);
}

/* A turn in which nothing happens but that the timer fires goes on like any other, and is not the end of the work. */
static void test_turn_of_the_timer(void **state)
{
	unsigned looks = 0;

	SCRIPT_WORDS(OP_TIMER, 0, 1);
	*(uint32_t *)(memory + EVENTS) = 0;
	assert_false(tutti_card_run(card, timer_seen, &looks));
	assert_int_equal(looks, 2); /* before the timer, and after it */
	assert_non_null(event_of(TUTTI_EVENT_TIMER));
	assert_true(tutti_card_run(card, NULL, NULL));
}

/* A host may see the answer to COUNTERS before the interrupt for it, and the counters must be current by then. */
static bool updated(void *bus_reads)
{
	if (!fetched(NULL))
		return false;
	*(uint64_t *)bus_reads = ((uint64_t *)(bar + discovery->counters.offset))[TUTTI_COUNTER_BUS_READS];
	return true;
}

static void test_update(void **state)
{
	static uint8_t host[4096] __attribute__((aligned(4096)));
	const uint64_t bus = (uintptr_t)host | TUTTI_BUS_HOST;
	const uint32_t words[] = { TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 8), 0, (uint32_t)bus, (uint32_t)(bus >> 32), 4,
				   LOCAL_BUFFER, TUTTI_COMMAND(TUTTI_CMD_SM_MODE, 1, TUTTI_SM_UPDATE) };
	uint64_t seen = 0;

	assert_int_equal(tutti_card_host_add(card, host, sizeof(host)), 0);
	for (unsigned i = 1; i <= 3; i++) {
		*(uint32_t *)(memory + EVENTS) = 0;
		script_begin(OP_COMMANDS, words, 7);
		for (unsigned k = 0; k < 100 && !fetched(NULL); k++)
			tutti_card_run(card, updated, &seen);
		assert_int_equal(seen, i);
	}
	assert_int_equal(interrupts, 0);
	tutti_card_host_remove(card, host);
}

/* Instructions of both functions of the test's firmware. */
static uint64_t counted(void)
{
	struct tutti_card_function functions[4];

	assert_int_equal(tutti_card_profile(card, functions, 4), 2);
	assert_string_equal(functions[0].name, "start");
	return functions[0].instructions + functions[1].instructions;
}

static void test_marks(void **state)
{
	uint64_t marks[4][2], before = tutti_card_instructions(card);

	assert_int_equal(counted(), 0);
	tutti_card_count(card, true);
	SCRIPT_WORDS(OP_MARK, 0);
	assert_int_equal(tutti_card_marks(card, marks, 4), 2);
	assert_int_equal(marks[0][0], 1);
	assert_int_equal(marks[1][0], 2);
	/* 5 nops, and what the compiler needs for the second store: li and sw at least */
	assert_in_range(marks[1][1] - marks[0][1], 6, 9);
	assert_true(before > 0);
	assert_int_equal(counted(), tutti_card_instructions(card) - before);
}

/* ---- injection ---- */

static void test_inject(void **state)
{
	const uint32_t *event;
	uint64_t before;
	int i;

	assert_int_equal(tutti_card_inject_string(card, "no-such-fault"), -22);
	assert_int_equal(tutti_card_inject_string(card, "lost-doorbell:x"), -22);
	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	assert_int_equal(tutti_card_inject_string(card, "lost-doorbell:2,lost-interrupt"), 0);
	*(uint32_t *)(memory + EVENTS) = 0;
	for (i = 0; i < 3; i++) {
		assert_null(event_of(TUTTI_EVENT_DOORBELL));
		*doorbell(0) = 1;
		settle();
	}
	assert_non_null(event_of(TUTTI_EVENT_DOORBELL));
	interrupts = 0;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 1));
	assert_int_equal(interrupts, 0);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 1));
	assert_int_equal(interrupts, 1);

	map_page(tutti_pte(0x500000ull, LEAF));
	assert_int_equal(read_cause(VA), 0);
	tutti_card_inject(card, TUTTI_INJECT_PAGE_FAULT, 1);
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_UNMAPPED);
	assert_int_equal(read_cause(VA), 0);
	tutti_card_inject(card, TUTTI_INJECT_MEMORY_ERROR, 1);
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_ECC);
	assert_int_equal(read_cause(VA), 0);

	memset(memory + 0x400000, 0x11, 64);
	tutti_card_inject(card, TUTTI_INJECT_TORN_FETCH, 1);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 1), TUTTI_FETCH_PACKETS << 16, BUS(0x400000), 64, LOCAL_BUFFER);
	event = event_of(TUTTI_EVENT_FETCH);
	assert_int_equal(event[0], TUTTI_EVENT_FETCH | 1 << 16);
	{
		uint32_t got[16];

		peek(LOCAL_BUFFER, got, 16);
		assert_int_equal(got[0], 0x11110000 | TUTTI_PACKET_INVALID);
		assert_int_equal(got[1], 0x11111111);
		assert_int_equal(got[15], 0);
	}
	before = status->heartbeat;
	assert_int_equal(status->heartbeat, before);
	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_CRASH, 0);
	SCRIPT_WORDS(OP_PEEK, 0, 0);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	boot(image_file, image_bytes);
	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 1);
	script_begin(OP_PEEK, (uint32_t[]){ 0, 0 }, 2);
	for (i = 0; i < 3000 && status->state == TUTTI_STATE_RUNNING; i++)
		tutti_card_run(card, NULL, NULL);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 0);
	boot(image_file, image_bytes);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 1);
	*(uint32_t *)(memory + EVENTS) = 0;
	*doorbell(0) = 1;
	settle();
	assert_null(event_of(TUTTI_EVENT_DOORBELL));
	assert_false(engines_visible(card)); /* so the thread of a card in fast mode goes on sleeping */
	tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 0);
	assert_true(engines_visible(card));
	settle();
	assert_non_null(event_of(TUTTI_EVENT_DOORBELL));
	tutti_card_inject(card, TUTTI_INJECT_REMOVED, 1);
	assert_true(discovery->magic == ~0ull);
	boot(image_file, 0);
	tutti_card_reset(card);
}

static uint64_t random_state = 12345;

static uint32_t random_word(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(random_state >> 33) << (random_state >> 29 & 7);
}

/* Values around which things break, or anything. */
static uint32_t random_value(void)
{
	static const uint32_t odd[] = { 0, 1, 0xffffffff, 0x80000000, TABLES, TABLES + 4096, 0x00800000, 0x3fffc,
					LOCAL_BUFFER, 0x10000000, 64, 4096, 0x1234 };

	return random_word() & 1 ? odd[random_word() % (sizeof(odd) / 4)] : random_word();
}

/* Whatever is in the rings, the engine page and the page tables: the emulator lives and boots again. */
static void test_fuzz(void **state)
{
	uint32_t words[64], i, k, n, op;

	for (i = 0; i < 3000; i++) {
		if (status->state != TUTTI_STATE_RUNNING)
			boot(image_file, image_bytes);
		for (k = 0; k < 64; k++)
			words[k] = random_value();
		for (k = 0; k < 16; k++)
			table(0)[random_word() % 2048] = random_value() | (uint64_t)random_value() << 32;
		if (i % 50 == 49) { /* not the event ring's words: the test firmware would wait for ever */
			words[0] = TUTTI_CORE_ENGINES + (random_word() & 1 ? 0 : 32 + random_word() % 12 * 4);
			script(OP_POKE, words, 2 + random_word() % 3);
			continue;
		}
		op = random_word() % 19;
		n = op == TUTTI_CMD_STATE ? 25 + random_word() % 3 : 1 + random_word() % 6;
		words[0] = op | n << 8 | random_word() << 16;
		words[1] &= random_word() & 1 ? 3 : ~0u;
		script(OP_COMMANDS, words, random_word() % 8 ? n : 1 + random_word() % 60);
	}
	boot(image_file, image_bytes);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
}

/* An endless loop in deterministic mode ends by the watchdog. */
static void test_spin(void **state)
{
	int i;

	script_begin(OP_SPIN, (uint32_t[]){ 0 }, 1);
	for (i = 0; i < 3000 && status->state == TUTTI_STATE_RUNNING; i++)
		tutti_card_run(card, NULL, NULL);
	assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
}

/* A core that takes one event after another is well, however long it does not idle; without events it is not. */
static void test_busy(void **state)
{
	unsigned i;

	*(uint32_t *)(memory + EVENTS) = 0;
	script_begin(OP_BUSY, (uint32_t[]){ 4, 400000000 }, 2);
	for (i = 0; i < 3000 && *(uint32_t *)(memory + EVENTS) < 5 && status->state == TUTTI_STATE_RUNNING; i++)
		tutti_card_run(card, NULL, NULL);
	settle();
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	script_begin(OP_BUSY, (uint32_t[]){ 1, 1200000000 }, 2);
	for (i = 0; i < 3000 && status->state == TUTTI_STATE_RUNNING; i++)
		tutti_card_run(card, NULL, NULL);
	assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
}

/* ---- fast mode ---- */

/* SYS-12: the card's clock agrees with the system's, and never goes back. */
static void test_clock(void **state)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < 300000; i++) {
		struct timespec before, after;
		uint64_t now;

		clock_gettime(CLOCK_MONOTONIC, &before);
		now = card_clock();
		clock_gettime(CLOCK_MONOTONIC, &after);
		assert_true(now >= last);
		last = now;
		/* the rate is measured for half a millisecond at least, in which a thread may be interrupted */
		assert_in_range(now, (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec - 2000000,
				(uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec + 2000000);
	}
}

static void wait_ms(int ms)
{
	struct timespec t = { 0, ms * 1000000l };

	nanosleep(&t, NULL);
}

static bool until(bool (*condition)(void))
{
	int i;

	for (i = 0; i < 3000 && !condition(); i++)
		wait_ms(1);
	return condition();
}

static bool is_asleep(void)
{
	return __atomic_load_n(&status->asleep, __ATOMIC_SEQ_CST);
}

static bool has_doorbell(void)
{
	return *(volatile uint32_t *)(memory + EVENTS) && event_of(TUTTI_EVENT_DOORBELL);
}

static void test_sleep(void **state)
{
	uint32_t *events = (uint32_t *)(memory + EVENTS);
	int i;

	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	for (i = 0; i < 50; i++) {
		assert_true(until(is_asleep));
		*(volatile uint32_t *)events = 0;
		__atomic_store_n(doorbell(0), 1, __ATOMIC_SEQ_CST);
		if (is_asleep())
			tutti_card_kick(card);
		assert_true(until(has_doorbell));
	}
	/* with no inline driver at all */
	for (i = 0; i < 2000; i++) {
		*(volatile uint32_t *)events = 0;
		__atomic_store_n(doorbell(0), 1, __ATOMIC_SEQ_CST);
		if (is_asleep())
			tutti_card_kick(card);
		while (*(volatile uint32_t *)events == 0)
			;
	}
}

static bool has_timer(void)
{
	return *(volatile uint32_t *)(memory + EVENTS) && event_of(TUTTI_EVENT_TIMER);
}

static void test_timer_fast(void **state)
{
	SCRIPT_WORDS(OP_TIMER, 0, 0); /* in the past */
	assert_true(until(has_timer));
	assert_true(until(is_asleep));
	SCRIPT_WORDS(OP_TIMER, 200000000, 0);
	assert_true(until(has_timer));
}

static void test_spin_fast(void **state)
{
	int i;

	script_begin(OP_SPIN, (uint32_t[]){ 0 }, 1);
	for (i = 0; i < 60000 && status->state == TUTTI_STATE_RUNNING; i++) {
		tutti_card_run(card, NULL, NULL);
		wait_ms(1);
	}
	assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
	boot(image_file, image_bytes);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	script_begin(OP_SPIN, (uint32_t[]){ 0 }, 1);
	wait_ms(5);
	/* destroyed while the firmware runs for ever */
}

static void test_count_fast(void **state)
{
	uint64_t n, sum;

	SCRIPT_WORDS(OP_PEEK, 0, 1);
	n = tutti_card_instructions(card);
	assert_int_equal(counted(), 0);
	tutti_card_count(card, true);
	SCRIPT_WORDS(OP_PEEK, 0, 100);
	assert_in_range(tutti_card_instructions(card) - n, 300, 3000);
	sum = counted();
	assert_int_equal(sum, tutti_card_instructions(card) - n);
	tutti_card_count(card, false);
	SCRIPT_WORDS(OP_PEEK, 0, 100);
	assert_in_range(tutti_card_instructions(card) - n, sum + 300, sum + 3000);
	assert_int_equal(counted(), sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_deterministic), TEST(test_slices), TEST(test_late_interrupts),
		{ "SYS-12: a turn in which the timer fires", test_turn_of_the_timer, setup, teardown, NULL },
		{ "SYS-13 TMA-27: the hardware's counters are current when the firmware has asked for it", test_update,
		  setup, teardown, NULL },
		TEST(test_marks), TEST(test_inject), TEST(test_spin), TEST(test_busy), TEST(test_fuzz),
		cmocka_unit_test(test_clock),
		TEST_FAST(test_sleep), TEST_FAST(test_timer_fast), TEST_FAST(test_count_fast), TEST_FAST(test_spin_fast),
	};

	return cmocka_run_group_tests(tests, make_image, drop_image);
}

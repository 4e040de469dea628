// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=card_clock */
/*
 * How long one call of tutti_card_run() drives a card (SYS-12). In deterministic mode this is measured in virtual time, in
 * fast mode by a clock that the test simulates.
 */
#include "card_rig.h"

#include "emulator/base/clock.h"
#include "emulator/base/state.h"

#define SLICE	    (1u << 22) /* virtual time that a call lasts, in ns: 2^20 instructions of 4 ns */
#define SLICE_FAST  1000000u   /* time that a call lasts in fast mode, in ns */
#define WAVE_SLICE  100000u    /* how long a turn of waves takes in which no CTA ends, in ns */
#define WAVE	    1000u      /* how long a turn of waves takes in which a CTA ends, in ns */
#define LOOKS	    16u	       /* turns between two readings of the clock */
#define MICROSECOND 1000u

static uint64_t still;	/* time of the simulated clock, or 0 if the host's clock is used */
static unsigned readings; /* of the simulated clock, by the thread of the test */
static pthread_t tester;

uint64_t __real_card_clock(void);
uint64_t __wrap_card_clock(void);

uint64_t __wrap_card_clock(void)
{
	uint64_t now = __atomic_load_n(&still, __ATOMIC_SEQ_CST);

	readings += now && pthread_equal(pthread_self(), tester);
	return now ? now : __real_card_clock();
}

static unsigned turns;

static bool count_turn(void *unused)
{
	turns++;
	return false;
}

/* The card calls this before each turn. It moves the simulated clock forward by a microsecond. */
static bool go_on(void *unused)
{
	turns++;
	__atomic_add_fetch(&still, MICROSECOND, __ATOMIC_SEQ_CST);
	return false;
}

/* While waves run for ever, a call ends when its time is over, and returns that the card is not idle. */
static void test_waves(void **state)
{
	for (unsigned completes = 0; completes < 2; completes++)
		for (unsigned round = 0; round < 3; round++) {
			uint64_t begin = card_time(card), step = completes ? WAVE : WAVE_SLICE, n = (SLICE + step - 1) / step;

			sms.endless = true;
			sms.completes = completes;
			turns = 0;
			assert_false(tutti_card_run(card, count_turn, NULL));
			assert_int_equal(turns, n);
			assert_true(card_time(card) == begin + n * step);
			sms.endless = sms.completes = false;
			settle();
		}
}

/* A call returns as soon as the condition of its caller is met. Nothing more happens on the card after that. */
static bool after_five(void *unused)
{
	return ++turns == 6;
}

static void test_done(void **state)
{
	uint64_t begin = card_time(card);

	sms.endless = true;
	turns = 0;
	assert_false(tutti_card_run(card, after_five, NULL));
	assert_int_equal(turns, 6);
	assert_true(card_time(card) == begin + 5 * WAVE_SLICE);
	sms.endless = false;
}

static uint64_t engine_time(void)
{
	return card->page->time_lo | (uint64_t)card->page->time_hi << 32;
}

/*
 * The clock of an idle card jumps to the time that the timer is set to, however far away that is, but no further. The event
 * of the timer does not come before that.
 */
static void test_timer(void **state)
{
	static const uint64_t after[] = {1000000, 30, 5000000000, SLICE - 1, SLICE, SLICE + 1, 1ull << 40};

	for (unsigned i = 0; i < sizeof(after) / sizeof(*after); i++) {
		uint64_t timer = card_time(card) + 20000 + after[i];

		SCRIPT_WORDS(OP_TIMER, (uint32_t)timer, (uint32_t)(timer >> 32));
		assert_true(card_time(card) < timer);
		assert_null(event_of(TUTTI_EVENT_TIMER));
		*(uint32_t *)(memory + EVENTS) = 0;
		tutti_card_run(card, NULL, NULL);
		assert_non_null(event_of(TUTTI_EVENT_TIMER));
		assert_in_range(engine_time(), timer, timer + 500);
		assert_in_range(card_time(card), timer, timer + 20000);
		settle();
		assert_in_range(card_time(card), timer, timer + 20000);
	}
	/* without a timer the clock of an idle card stands still */
	for (unsigned i = 0; i < 5; i++) {
		uint64_t before = card_time(card);

		assert_true(tutti_card_run(card, NULL, NULL));
		assert_true(card_time(card) == before);
	}
}

/* Let waves run for ever as soon as the timer's event has come. */
static bool run_waves(void *unused)
{
	sms.endless = event_of(TUTTI_EVENT_TIMER);
	return false;
}

/* A call whose clock has jumped to the timer goes on for a whole slice after that, however far the clock has jumped. */
static void test_after_timer(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		uint64_t timer = card_time(card) + (uint64_t[]){30000, SLICE, 3 * SLICE, 10000000000}[i];

		SCRIPT_WORDS(OP_TIMER, (uint32_t)timer, (uint32_t)(timer >> 32));
		*(uint32_t *)(memory + EVENTS) = 0;
		assert_false(tutti_card_run(card, run_waves, NULL));
		assert_in_range(card_time(card), timer + SLICE, timer + SLICE + WAVE_SLICE);
		sms.endless = false;
		settle();
	}
}

/* SYS-13: each event wakes the core once, and each of these wake-ups is counted. Otherwise the core does not run. */
static void test_wakes(void **state)
{
	const uint64_t *wakes = (const uint64_t *)(bar + discovery->counters.offset) + TUTTI_COUNTER_CORE_WAKES;

	for (unsigned i = 1; i <= 5; i++) {
		uint64_t before = *wakes, executed;

		for (unsigned n = 0; n < i; n++)
			SCRIPT_WORDS(OP_PEEK, 0, 1);
		assert_true(*wakes == before + i);
		executed = tutti_card_instructions(card);
		for (unsigned n = 0; n < 3; n++)
			settle();
		assert_true(*wakes == before + i);
		assert_true(tutti_card_instructions(card) == executed);
	}
}

/* In fast mode a call lasts a millisecond, and the clock is read once in 16 turns. */
static void test_fast(void **state)
{
	tester = pthread_self();
	for (unsigned round = 0; round < 5; round++) {
		const unsigned n = SLICE_FAST / MICROSECOND / LOOKS + 1;

		__atomic_store_n(&sms.endless, true, __ATOMIC_SEQ_CST);
		/* an hour ahead of the host's clock, so that the call can wait until the card's own thread makes way */
		__atomic_store_n(&still, __real_card_clock() + 3600000000000, __ATOMIC_SEQ_CST);
		turns = readings = 0;
		assert_false(tutti_card_run(card, go_on, NULL));
		assert_int_equal(turns, n * LOOKS);
		/* the clock is also read before and after the loop, and perhaps to wait for the lock */
		assert_in_range(readings, n + 2, n + 3);
	}
	__atomic_store_n(&sms.endless, false, __ATOMIC_SEQ_CST);
	__atomic_store_n(&still, 0, __ATOMIC_SEQ_CST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-12: calls while waves run", test_waves, setup, teardown, NULL},
	    {"SYS-12: calls that end early", test_done, setup, teardown, NULL},
	    {"SYS-12: the clock jumps to the timer", test_timer, setup, teardown, NULL},
	    {"SYS-12: calls go on after the timer", test_after_timer, setup, teardown, NULL},
	    {"SYS-13: when the core is woken", test_wakes, setup, teardown, NULL},
	    {"SYS-12: calls in fast mode", test_fast, setup_fast, teardown, NULL},
	};

	return cmocka_run_group_tests_name("card: its turns", tests, make_image, drop_image);
}

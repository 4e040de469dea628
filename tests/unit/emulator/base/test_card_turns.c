// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=card_clock */
/* How long a card is driven by one call (SYS-12): by virtual time in deterministic mode, else by a clock that the test plays. */
#include "card_rig.h"

#include "emulator/base/clock.h"
#include "emulator/base/state.h"

#define SLICE	    (1u << 22) /* ns of virtual time of a call: 2^20 instructions of 4 ns */
#define SLICE_FAST  1000000u   /* ns of a call in fast mode */
#define WAVE_SLICE  100000u    /* ns that a turn of waves takes that has ended no CTA */
#define WAVE	    1000u      /* ns that one takes that has */
#define LOOKS	    16u	       /* turns between two looks at the clock */
#define MICROSECOND 1000u

static uint64_t still;	/* the time of the played clock, 0: it is the host's */
static unsigned readings; /* of the played clock, by the test's thread */
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

/* Asked before each turn, during which the clock goes on by a microsecond. */
static bool go_on(void *unused)
{
	turns++;
	__atomic_add_fetch(&still, MICROSECOND, __ATOMIC_SEQ_CST);
	return false;
}

/* Waves that run for ever: a call ends when its time is over, and says that the card is not idle. */
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

/* Who has seen what he waited for gets the card back at once, in the state of then. */
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

/* An idle card's clock jumps to its timer, however far that is, and not further; its time does not pass before. */
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
	/* without a timer it stands still */
	for (unsigned i = 0; i < 5; i++) {
		uint64_t before = card_time(card);

		assert_true(tutti_card_run(card, NULL, NULL));
		assert_true(card_time(card) == before);
	}
}

/* Waves run for ever from the timer's event on. */
static bool run_waves(void *unused)
{
	sms.endless = event_of(TUTTI_EVENT_TIMER);
	return false;
}

/* A call whose clock has jumped goes on for a whole slice, however far that was. */
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

/* SYS-13: the core is woken for each event, and counted once then; otherwise it does not run. */
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
		/* by the host's clock it is far away, so that the card's own thread has time to make way */
		__atomic_store_n(&still, __real_card_clock() + 3600000000000, __ATOMIC_SEQ_CST);
		turns = readings = 0;
		assert_false(tutti_card_run(card, go_on, NULL));
		assert_int_equal(turns, n * LOOKS);
		assert_in_range(readings, n + 2, n + 3); /* at the begin, the end, and perhaps to wait for the card */
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

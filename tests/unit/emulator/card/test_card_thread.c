// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=card_clock */
/* Fast mode: a thread of the card's own drives it while nobody else does, makes way, sleeps and is woken. */
#include <pthread.h>

#include "card_rig.h"
#include "emulator/base/clock.h"

#define GRACE_NS 1000000ull /* how long the card looks for work by itself after a host thread has driven it */

/* A clock that a test can stop. */
static uint64_t still; /* the time at which it has stopped; 0: it runs */
static unsigned looks; /* how often the card's own thread has read the clock */
static pthread_t tester;

uint64_t __real_card_clock(void);
uint64_t __wrap_card_clock(void);

uint64_t __wrap_card_clock(void)
{
	uint64_t now = __atomic_load_n(&still, __ATOMIC_SEQ_CST);

	if (!pthread_equal(pthread_self(), tester))
		__atomic_add_fetch(&looks, 1, __ATOMIC_SEQ_CST);
	return now ? now : __real_card_clock();
}

static bool until(bool (*condition)(void))
{
	for (unsigned i = 0; i < 20000 && !condition(); i++)
		usleep(1000);
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

static void ring(void)
{
	*(volatile uint32_t *)(memory + EVENTS) = 0;
	__atomic_store_n(doorbell(0), 1, __ATOMIC_SEQ_CST);
}

/* SYS-13: waves that run for ever keep nobody from asking, counting or resetting; otherwise this would not return. */
static void test_never_idle(void **state)
{
	struct tutti_card_function functions[4];
	uint64_t marks[4][2];

	__atomic_store_n(&sms.endless, true, __ATOMIC_SEQ_CST);
	tutti_card_kick(card);
	for (unsigned i = 0; i < 20; i++) {
		usleep(500); /* the card's own thread drives it again */
		assert_true(tutti_card_instructions(card) > 0);
		assert_int_equal(tutti_card_profile(card, functions, 4), 2);
		assert_int_equal(tutti_card_marks(card, marks, 4), 0);
		tutti_card_count(card, i & 1);
		assert_non_null(strstr(tutti_card_core(card), "interpreted"));
	}
	tutti_card_reset(card);
	assert_int_equal(status->state, TUTTI_STATE_OFF);
}

static unsigned asked;

static bool ask(void *context)
{
	asked++;
	return false;
}

/* SYS-12: a run lasts about a millisecond, even if the soft core uses all of its time slices, which last longer. */
static void test_spin_ends(void **state)
{
	bool idle = true;

	script_begin(OP_SPIN, (uint32_t[]){0}, 1);
	while (status->state == TUTTI_STATE_RUNNING && (idle || !asked)) {
		asked = 0;
		idle = tutti_card_run(card, ask, NULL);
	}
	assert_in_range(asked, 1, 4);
	assert_false(idle);
}

/* SYS-12: who has driven the card and leaves it must not have to kick it: its own thread looks at doorbells again. */
static void test_driven_from_sleep(void **state)
{
	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	for (unsigned i = 0; i < 20; i++) {
		assert_true(until(is_asleep));
		tutti_card_run(card, NULL, NULL);
		ring();
		if (is_asleep())
			tutti_card_kick(card);
		assert_true(until(has_doorbell));
	}
}

static unsigned wanted;

static bool has_looked(void)
{
	return __atomic_load_n(&looks, __ATOMIC_SEQ_CST) >= wanted;
}

/* SYS-12: for a millisecond after it was driven the card stays awake, so that nobody has to kick it. */
static void test_grace(void **state)
{
	uint64_t begin = __real_card_clock();

	tester = pthread_self();
	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	__atomic_store_n(&still, begin, __ATOMIC_SEQ_CST);
	while (!tutti_card_run(card, NULL, NULL)) /* its own thread may have the lock */
		;
	for (unsigned i = 0; i < 2; i++) {
		wanted = __atomic_load_n(&looks, __ATOMIC_SEQ_CST) + 5;
		assert_true(until(has_looked));
		assert_false(is_asleep());
		__atomic_store_n(&still, begin + GRACE_NS, __ATOMIC_SEQ_CST);
	}
	ring();
	assert_true(until(has_doorbell));
	__atomic_store_n(&still, begin + GRACE_NS + 1, __ATOMIC_SEQ_CST);
	assert_true(until(is_asleep));
}

static int teardown_grace(void **state)
{
	__atomic_store_n(&still, 0, __ATOMIC_SEQ_CST);
	return teardown(state);
}

/* SYS-13: a card that sleeps shows all that it has counted. */
static void test_published(void **state)
{
	const uint64_t *counters = (uint64_t *)(bar + discovery->counters.offset);

	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	for (unsigned i = 0; i < 5; i++) {
		assert_true(until(is_asleep));
		ring();
		tutti_card_kick(card);
		assert_true(until(has_doorbell));
		assert_true(until(is_asleep));
		assert_int_equal(counters[TUTTI_COUNTER_CORE_INSTRUCTIONS], tutti_card_instructions(card));
		assert_int_equal(counters[TUTTI_COUNTER_DOORBELLS], i + 1);
	}
}

/* SYS-12: a card that sleeps does so until it is woken; otherwise it would look for work and take back what it has shown. */
static void test_stays_asleep(void **state)
{
	assert_true(until(is_asleep));
	for (unsigned i = 0; i < 300; i++) {
		usleep(100);
		assert_true(is_asleep());
	}
}

/* SYS-12: while workers run waves, the card is neither idle nor asleep. */
static void test_workers(void **state)
{
	assert_true(until(is_asleep));
	__atomic_store_n(&sms.busy, true, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < 20; i++)
		assert_false(tutti_card_run(card, NULL, NULL));
	usleep(20000); /* long enough to fall asleep */
	assert_false(is_asleep());
	__atomic_store_n(&sms.busy, false, __ATOMIC_SEQ_CST);
	assert_true(until(is_asleep));
}

static bool has_crashed(void)
{
	return __atomic_load_n(&status->state, __ATOMIC_SEQ_CST) == TUTTI_STATE_CRASHED;
}

/* SYS-15: a fault that is armed while the card sleeps happens, though nobody else wakes the card. */
static void test_armed_asleep(void **state)
{
	assert_true(until(is_asleep));
	assert_int_equal(tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 1), 0);
	assert_true(until(has_crashed));
	assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
}

/* The card has been woken for nothing: it falls asleep again, and its thread does not look for work over and over. */
static void falls_asleep(void)
{
	unsigned before;

	usleep(20000);
	assert_true(until(is_asleep));
	before = __atomic_load_n(&looks, __ATOMIC_SEQ_CST);
	usleep(50000);
	assert_in_range(__atomic_load_n(&looks, __ATOMIC_SEQ_CST) - before, 0, 10);
}

/*
 * SYS-15: a card that is cut off sleeps although its firmware's timer has run out, the host has rung and wants it to boot,
 * since nothing of that can happen.
 */
static void sleeps_cut_off(enum tutti_card_fault fault)
{
	uint64_t soon = card_time(card) + 20000000;
	uint64_t *bell = doorbell(0);

	tester = pthread_self();
	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	SCRIPT_WORDS(OP_TIMER, (uint32_t)soon, (uint32_t)(soon >> 32));
	assert_int_equal(tutti_card_inject(card, fault, 1), 0);
	falls_asleep();
	*(volatile uint32_t *)(memory + EVENTS) = 0;
	__atomic_store_n(bell, 1, __ATOMIC_SEQ_CST);
	tutti_card_kick(card);
	falls_asleep();
	control->boot_sequence++;
	tutti_card_kick(card);
	falls_asleep();
	control->boot_sequence--;
}

/* When the link is up again, the doorbell is seen. */
static void test_link_down(void **state)
{
	sleeps_cut_off(TUTTI_INJECT_LINK_DOWN);
	assert_false(has_doorbell());
	assert_int_equal(tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 0), 0);
	assert_true(until(has_doorbell));
}

/* Waves of a card that was removed stand still, too. */
static void test_removed(void **state)
{
	sleeps_cut_off(TUTTI_INJECT_REMOVED);
	__atomic_store_n(&sms.busy, true, __ATOMIC_SEQ_CST);
	tutti_card_kick(card);
	falls_asleep();
}

/* A reset leaves the card as after power-on, whatever was under way, and it boots again. */
static void test_reset(void **state)
{
	for (unsigned i = 0; i < 5; i++) {
		script_begin(OP_SPIN, (uint32_t[]){0}, 1);
		tutti_card_reset(card);
		assert_int_equal(status->state, TUTTI_STATE_OFF);
		assert_int_equal(status->boot_sequence, 0);
		for (unsigned q = 0; q < discovery->max_queues; q++)
			*doorbell(q) = TUTTI_DOORBELL_EMPTY;
		boot(image_file, image_bytes);
		assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	}
}

/* SYS-12: a card that is not booted has nothing to do, and sleeps, also if its firmware ran for ever before. */
static void test_reset_sleeps(void **state)
{
	script_begin(OP_SPIN, (uint32_t[]){0}, 1);
	usleep(2000);
	tutti_card_reset(card);
	for (unsigned q = 0; q < discovery->max_queues; q++)
		*doorbell(q) = TUTTI_DOORBELL_EMPTY;
	assert_true(until(is_asleep));
	assert_int_equal(status->state, TUTTI_STATE_OFF);
}

/* Interrupts of a fast card come at once. */
static void test_interrupts(void **state)
{
	for (unsigned i = 1; i <= 3; i++) {
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 4 + i));
		assert_int_equal(interrupts, i);
		assert_int_equal(vectors[i - 1], 4 + i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-13: a card that never idles answers", test_never_idle, setup_fast, teardown, NULL},
	    {"SYS-12: a run ends though the firmware does not idle", test_spin_ends, setup_fast, teardown, NULL},
	    {"SYS-12: doorbells are seen after another thread has driven", test_driven_from_sleep, setup_fast, teardown,
	     NULL},
	    {"SYS-12: no sleep soon after another thread has driven", test_grace, setup_fast, teardown_grace, NULL},
	    {"SYS-13: counters of a card that sleeps", test_published, setup_fast, teardown, NULL},
	    {"SYS-12: sleep without a break", test_stays_asleep, setup_fast, teardown, NULL},
	    {"SYS-12: no sleep while workers run", test_workers, setup_fast, teardown, NULL},
	    {"SYS-15: faults that are armed while the card sleeps", test_armed_asleep, setup_fast, teardown, NULL},
	    {"SYS-12, SYS-15: sleep while the link is down", test_link_down, setup_fast, teardown, NULL},
	    {"SYS-12, SYS-15: sleep after removal", test_removed, setup_fast, teardown, NULL},
	    {"SYS-10: reset while the firmware runs for ever", test_reset, setup_fast, teardown, NULL},
	    {"SYS-12: sleep after a reset", test_reset_sleeps, setup_fast, teardown, NULL},
	    {"SYS-12: interrupts of a fast card", test_interrupts, setup_fast, teardown, NULL},
	};

	return cmocka_run_group_tests_name("card: its thread", tests, make_image, drop_image);
}

/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=clock_gettime */
/* Waits on a card that works by itself, with a clock that goes as fast as it is looked at (PERF-03, SYS-56). */
#include <time.h>

#include "rt_rig.h"

static uint64_t now; /* ns; each look at the clock takes a microsecond */
static uint64_t done_at = UINT64_MAX;
static unsigned slept, asked;
static tutti_signal_t done;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	now += 1000;
	if (now >= done_at)
		tutti_signal_store(done, 0);
	*time = (struct timespec){.tv_sec = (time_t)(now / 1000000000u), .tv_nsec = (long)(now % 1000000000u)};
	return 0;
}

static void counts_sleeps(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	slept++;
	now = deadline > now + 1000000 ? now + 1000000 : deadline;
}

static bool counts_questions(struct tutti_device *of)
{
	asked++;
	return false;
}

/* Return: what a wait returns when the signal is done after @ns; @took: how long it was. */
static int wait_ns(uint64_t ns, uint64_t timeout_ns, uint64_t *took)
{
	uint64_t start = now;
	int error;

	slept = asked = 0;
	assert_int_equal(tutti_signal_create(device, 1, &done), 0);
	done_at = ns == UINT64_MAX ? ns : now + ns;
	error = tutti_signal_wait(device, done, TUTTI_EQ, 0, timeout_ns, NULL);
	done_at = UINT64_MAX;
	*took = now - start;
	assert_int_equal(tutti_signal_destroy(device, done), 0);
	return error;
}

/* What is over soon costs neither a question to the driver nor a sleep; the processor is not kept for what is not. */
static void short_and_long(void **state)
{
	uint64_t took;

	assert_int_equal(wait_ns(8000, TUTTI_WAIT_FOREVER, &took), 0);
	assert_int_equal(slept + asked, 0);
	assert_in_range(took, 8000, 10000);
	assert_int_equal(wait_ns(300000, TUTTI_WAIT_FOREVER, &took), 0);
	assert_int_equal(slept, 1);
	assert_int_equal(wait_ns(30000000, TUTTI_WAIT_FOREVER, &took), 0);
	assert_in_range(slept, 20, 35);
	assert_in_range(took, 30000000, 32000000);
}

static void in_time(void **state)
{
	uint64_t took;

	assert_int_equal(wait_ns(UINT64_MAX, 5000, &took), -ETIMEDOUT);
	assert_in_range(took, 5000, 12000);
	assert_int_equal(wait_ns(UINT64_MAX, 5000000, &took), -ETIMEDOUT);
	assert_in_range(took, 5000000, 5100000);
	assert_true(slept >= 4);
	assert_int_equal(wait_ns(UINT64_MAX, 0, &took), -ETIMEDOUT);
	assert_int_equal(slept, 0);
}

/* A time limit is kept whether it is longer or shorter than the clock has gone, and to less than a nap. */
static void limits_of_any_length(void **state)
{
	uint64_t took;

	now = 1000;
	assert_int_equal(wait_ns(UINT64_MAX, 5000000, &took), -ETIMEDOUT);
	assert_in_range(took, 5000000, 5100000);
	assert_int_equal(wait_ns(UINT64_MAX, 5400000, &took), -ETIMEDOUT);
	assert_in_range(took, 5400000, 5500000);
	assert_int_equal(wait_ns(8000000, TUTTI_WAIT_FOREVER - 1, &took), 0);
}

static unsigned interrupts_asked;

static uint64_t counts_interrupts(struct tutti_device *of)
{
	interrupts_asked++;
	return 0;
}

/*
 * If the waiting thread drives the card, and the signal is done after the first drive, the wait looks neither at the clock
 * nor at the number of interrupts.
 */
static void over_with_the_first_drive(void **state)
{
	struct tutti_queue *queue;
	struct tutti_launch launch;
	uint64_t before;

	transport.interrupts = counts_interrupts;
	assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
	assert_int_equal(tutti_signal_create(device, 1, &done), 0);
	launch = a_launch(0, 0, done);
	assert_int_equal(tutti_dispatch(queue, &launch), 0);
	before = now;
	interrupts_asked = 0;
	assert_int_equal(tutti_signal_wait(device, done, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL), 0);
	assert_int_equal(interrupts_asked, 0);
	assert_true(now == before);
	assert_int_equal(fake.n, 1);
	assert_int_equal(tutti_signal_destroy(device, done), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	transport.interrupts = interrupts;
}

static int works_by_itself(void **state)
{
	int error = open_fake(state);

	device->run = NULL;
	transport.run = NULL;
	transport.sleep = counts_sleeps;
	transport.poll = counts_questions;
	return error;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(over_with_the_first_drive, open_fake, close_fake),
	    cmocka_unit_test_setup_teardown(short_and_long, works_by_itself, close_fake),
	    cmocka_unit_test_setup_teardown(in_time, works_by_itself, close_fake),
	    cmocka_unit_test_setup_teardown(limits_of_any_length, works_by_itself, close_fake),
	};

	return cmocka_run_group_tests_name("PERF-03, SYS-56 waits that are over soon", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* The card's clock over a played host, whose time and time stamp counter go as the test says (SYS-12). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define TICKS 3 /* of the counter in a nanosecond */
#define LATE  300u /* ns at most that the host takes to read its clock */

static uint64_t time_now; /* ns */
static unsigned readings;
static uint64_t lost_before, lost_after; /* ns without a processor, before and after the host's clock is read */
static int steady; /* does the counter go at the same speed all the time? */

static int read_clock(struct timespec *t)
{
	time_now += readings++ * 37 % (LATE + 1) + lost_before;
	*t = (struct timespec){(time_t)(time_now / 1000000000u), (long)(time_now % 1000000000u)};
	time_now += lost_after;
	lost_before = lost_after = 0;
	return 0;
}

#define clock_gettime(clock, t) read_clock(t)
#define __rdtsc() (TICKS * time_now + 12345)
#define __get_cpuid(leaf, a, b, c, d) (*(a) = *(b) = *(c) = 0, *(d) = steady ? 1u << 8 : 0, 1)
#include "emulator/base/clock.c"

static int setup(void **state)
{
	time_now = 5000000000u;
	readings = 0;
	lost_before = lost_after = 0;
	steady = 1;
#if defined(__x86_64__)
	rate = 0;
	memset(&anchor, 0, sizeof(anchor));
#endif
	return 0;
}

/* The clock is never off by more than the host takes to read its own, however often it is read, and it never goes back. */
static void agrees(void **state)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < 200000; i++) {
		uint64_t before, clock;

		time_now += i % 50000 == 49999 ? 3000000000u : 20 + (uint64_t)i * 7919 % 400;
		before = time_now;
		clock = card_clock();
		assert_in_range(clock, before - 4 * LATE, time_now + 4 * LATE);
		assert_true(clock >= last);
		last = clock;
	}
}

/* The clock stays right when a thread loses its processor for a while just before or after it reads the host's clock. */
static void lost_time(void **state)
{
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t before, clock;

		time_now += 100 + (uint64_t)i * 7919 % 4000;
		if (i % 64 == 0)
			*(i / 64 % 2 ? &lost_before : &lost_after) = 20000 + (uint64_t)i * 1000;
		before = time_now;
		clock = card_clock();
		assert_in_range(clock, before - 4 * LATE, time_now + 4 * LATE);
	}
}

/* Once the speed of the counter is known, the host's clock is read about once in a millisecond. */
static void seldom_read(void **state)
{
	for (unsigned i = 0; i < 2000; i++, time_now += 1000)
		card_clock();
	readings = 0;
	for (unsigned i = 0; i < 1000000; i++, time_now += 100)
		card_clock();
#if defined(__x86_64__)
	assert_in_range(readings, 90, 110);
#endif
}

/* A counter whose speed changes is not used. */
static void unsteady(void **state)
{
	steady = 0;
	for (unsigned i = 0; i < 100; i++) {
		uint64_t clock;

		time_now += (uint64_t)i * 50000;
		clock = card_clock();
		assert_true(clock == time_now);
		assert_int_equal(readings, i + 1);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    {"SYS-12: it agrees with the host's", agrees, setup, NULL, NULL},
	    {"SYS-12: time that a thread has lost", lost_time, setup, NULL, NULL},
	    {"SYS-12: the host's is seldom read", seldom_read, setup, NULL, NULL},
	    {"SYS-12: a counter whose speed changes", unsteady, setup, NULL, NULL},
	};

	return cmocka_run_group_tests_name("card: its clock", tests, NULL, NULL);
}

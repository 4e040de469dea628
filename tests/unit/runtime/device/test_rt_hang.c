/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=clock_gettime */
/* A wait ends when the firmware has shown the same heartbeat for 5 s of the time in which it could have run (SYS-56). */
#include <time.h>

#include "device/wait.h"
#include "rt_rig.h"

#define MS	1000000ull
#define LIMIT	5000u /* ms */
#define BETWEEN 400u  /* ms; a thread that has not looked for more than 500 ms was stopped */

static uint64_t wall_ns, thread_ns; /* what time it is, and how much of it this thread has had */

int __wrap_clock_gettime(clockid_t which, struct timespec *t)
{
	uint64_t now = which == CLOCK_THREAD_CPUTIME_ID ? thread_ns : wall_ns;

	*t = (struct timespec){.tv_sec = (time_t)(now / 1000000000u), .tv_nsec = (long)(now % 1000000000u)};
	return 0;
}

/* What happens between two looks: so many milliseconds pass, of which the thread has its share. */
static struct {
	unsigned ms, thread_ms;
	unsigned looks, beats_at, sleeps_at, wakes_at;
} turn;

static bool a_look_passes(void)
{
	turn.looks++;
	wall_ns += turn.ms * MS;
	thread_ns += turn.thread_ms * MS;
	device->status->heartbeat += turn.looks == turn.beats_at;
	if (turn.looks == turn.sleeps_at)
		device->status->asleep = 1;
	if (turn.looks == turn.wakes_at)
		device->status->asleep = 0;
	return false;
}

static bool drive(struct tutti_device *d, bool (*done)(void *), void *context)
{
	return a_look_passes();
}

static bool poll_in_time(struct tutti_device *d)
{
	return a_look_passes();
}

static bool never(const struct wait *wait)
{
	return false;
}

/* Wait for ever, at most for @looks. Return: after how many looks the firmware was found to hang; 0 if it was not */
static unsigned hangs_after(unsigned looks, bool passive)
{
	struct wait wait = {.device = device, .satisfied = never, .passive = passive};
	uint64_t limit = (uint64_t)looks * turn.ms * MS;
	int error;

	turn.looks = 0;
	device->dead = device->said_dead = false;
	error = wait_for(&wait, limit ? limit : TUTTI_WAIT_FOREVER);
	assert_int_equal(error, device->dead ? -EIO : -ETIMEDOUT);
	return device->dead ? turn.looks : 0;
}

static int opens(void **state)
{
	int error = open_fake(state);

	memset(&turn, 0, sizeof(turn));
	turn.ms = turn.thread_ms = BETWEEN;
	wall_ns = thread_ns = 1000000 * MS;
	device->status->heartbeat = 7;
	transport.poll = poll_card;
	device->run = drive;
	return error;
}

/* A card that runs by itself is only looked at. */
static void runs_by_itself(void)
{
	transport.poll = poll_in_time;
	device->run = NULL;
}

/* The first look sees the heartbeat, a later one sees that the limit is passed, and the one behind it ends the wait. */
#define LOOKS(between) (1 + LIMIT / (between) + 1 + 1)
#define TOO_LATE       LOOKS(BETWEEN)

static void no_heartbeat(void **state)
{
	runs_by_itself();
	turn.thread_ms = 0;
	assert_int_equal(hangs_after(TOO_LATE - 2, false), 0);
	assert_int_equal(hangs_after(100, false), TOO_LATE);
	assert_int_equal(hangs_after(100, true), TOO_LATE); /* nobody else drives it either */
	turn.ms = LIMIT / 25; /* the limit itself is not too long */
	assert_int_equal(hangs_after(100, false), LOOKS(LIMIT / 25));
}

static void heartbeats_start_it_anew(void **state)
{
	runs_by_itself();
	turn.beats_at = 10;
	assert_int_equal(hangs_after(100, false), 10 + TOO_LATE - 1);
	/* a card that sleeps needs none */
	turn.beats_at = 0;
	turn.sleeps_at = 3;
	assert_int_equal(hangs_after(100, false), 0);
	turn.wakes_at = 50;
	assert_int_equal(hangs_after(100, false), 49 + TOO_LATE - 1);
}

/* Whoever stopped this thread, a debugger or the host's suspend, may have stopped the card. */
static void stopped_thread(void **state)
{
	runs_by_itself();
	turn.ms = 501;
	assert_int_equal(hangs_after(100, false), 0);
	turn.ms = 500;
	assert_int_equal(hangs_after(100, false), LOOKS(500));
}

/* REL-09: a card that the waiting thread drives has no more time than that thread. */
static void driven_card(void **state)
{
	turn.thread_ms = 1;
	assert_int_equal(hangs_after(4000, false), 0);
	turn.ms = 1;
	turn.thread_ms = BETWEEN;
	assert_int_equal(hangs_after(100, false), TOO_LATE);
	transport.poll = poll_in_time;
	assert_int_equal(hangs_after(100, true), 0); /* it leaves the card to others, who watch it */
}

#define HANG(f) cmocka_unit_test_setup_teardown(f, opens, close_fake)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    HANG(no_heartbeat),
	    HANG(heartbeats_start_it_anew),
	    HANG(stopped_thread),
	    HANG(driven_card),
	};

	return cmocka_run_group_tests_name("SYS-56 REL-09: firmware that hangs is noticed by waits", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Heartbeats: how often they come (SYS-05), and the hang limit of a queue (SYS-52), which is counted in time that has
 * passed, also when they come late.
 */
#include "tasks/task_table.h"
#include "fw_tasks.h"

#define US 1000u /* ticks */
#define LIMIT_MS 1000u

static void beat_after(unsigned ms)
{
	hal_host.time += (uint64_t)ms * 1000 * US;
	hal_host.engines.timer_hi = TUTTI_TIMER_OFF;
	rig_event(TUTTI_EVENT_TIMER, 0, 0);
	main_settle();
}

static bool killed(void)
{
	for (unsigned i = 0; i < fw.tasks; i++)
		if (tasks[i].state == TASK_KILLED)
			return true;
	return false;
}

/* Time after which a task that does nothing is killed, with heartbeats every @ms milliseconds. */
static unsigned killed_after(unsigned ms)
{
	unsigned passed = 0;

	begin(1, 32, 32, 1);
	beat_after(1);
	queues[0].timeout = LIMIT_MS;
	submit(&(struct job){ .queue = 0, .groups = 1, .plain = true });
	assert_int_equal(job[0].running, 1);
	while (!killed() && passed < 100 * LIMIT_MS) {
		beat_after(ms);
		passed += ms;
	}
	if (killed())
		return passed;
	end_one(0);
	return ~0u;
}

static void late_beats(void **unused)
{
	assert_in_range(killed_after(10), LIMIT_MS, LIMIT_MS * 12 / 10);
	assert_in_range(killed_after(18), LIMIT_MS, LIMIT_MS * 12 / 10);
	assert_in_range(killed_after(40), LIMIT_MS, LIMIT_MS * 12 / 10);
	assert_in_range(killed_after(100), LIMIT_MS, LIMIT_MS * 12 / 10);
}

/* One beat that is very late, as after the machine was asleep, does not end what has begun just now. */
static void a_very_late_beat(void **unused)
{
	assert_true(killed_after(3000) >= 8 * 3000);
	assert_true(killed_after(10000) >= 8 * 10000);
}

static uint64_t timer(void)
{
	return hal_host.engines.timer_lo | (uint64_t)hal_host.engines.timer_hi << 32;
}

static void timer_event_at(uint64_t time)
{
	hal_host.time = time;
	hal_host.engines.timer_hi = TUTTI_TIMER_OFF;
	rig_event(TUTTI_EVENT_TIMER, 0, 0);
}

/* The host says how often the heart beats, within limits, and can change it at any time. */
static void periods(void **unused)
{
	static const struct { uint32_t asked, us; } periods[] = {
		{ 0, 10000 }, { 1, 100 }, { 99, 100 }, { 100, 100 }, { 101, 101 }, { 9999999, 9999999 },
		{ 10000000, 10000000 }, { 10000001, 10000000 }, { ~0u, 10000000 },
	};
	const struct tutti_discovery *d = (const void *)hal_host.window;
	const struct tutti_status *status;
	struct tutti_control *control;
	uint64_t at, beats;
	unsigned i;

	begin(1, 32, 32, 1);
	beat_after(1);
	status = (const void *)(hal_host.window + d->status.offset);
	control = (void *)(hal_host.window + d->control.offset);
	for (i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		control->heartbeat_us = periods[i].asked;
		at = timer();
		beats = status->heartbeat;
		timer_event_at(at - 1);
		assert_int_equal(status->heartbeat, beats);
		timer_event_at(at);
		assert_int_equal(status->heartbeat, beats + 1);
		assert_int_equal(status->heartbeat_time, at);
		assert_int_equal(timer() - at, (uint64_t)periods[i].us * US);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods),
		cmocka_unit_test(late_beats),
		cmocka_unit_test(a_very_late_beat),
	};

	return cmocka_run_group_tests_name("SYS-05 SYS-52 heartbeats", tests, NULL, NULL);
}

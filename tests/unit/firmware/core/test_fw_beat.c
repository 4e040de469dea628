/* SPDX-License-Identifier: MIT */
/* The hang limit of a queue (SYS-52): it is counted in time that has passed, also when heartbeats come late. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_beats),
		cmocka_unit_test(a_very_late_beat),
	};

	return cmocka_run_group_tests_name("SYS-52 hang limits by late heartbeats", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Task states that SMs acknowledge (TSK-05): on a card without TUTTI_FEATURE_ORDERED_STATES the firmware launches no CTA
 * of a task before event STATE has answered every STATE of the task's slot. take_launch() of fw_tasks.h checks that at
 * each launch; here acknowledgements come late, in any order, and when the slot has become another task's.
 */
#include "fw_tasks.h"
#include "tutti/fault.h"

static int boot_acknowledging(void **state)
{
	hal_host_acknowledge = true;
	return 0;
}

static int boot_ordered(void **state)
{
	hal_host_acknowledge = false;
	return 0;
}

static unsigned slot_of(unsigned n)
{
	for (unsigned s = 0; s < CARD_SLOTS; s++)
		if (card_slot[s].busy && slot_job[s] == (int)n)
			return s;
	fail_msg("job %u has no slot", n);
	return 0;
}

static unsigned all_unacknowledged(void)
{
	unsigned n = 0;

	for (unsigned s = 0; s < CARD_SLOTS; s++)
		n += unacknowledged[s];
	return n;
}

/* Where the order of delivery is enough, nothing waits. */
static void in_order(void **unused)
{
	begin(1, 32, 4, 0);
	late = true;
	submit(&(struct job){ .groups = 2, .plain = true });
	submit(&(struct job){ .groups = 2, .priority = 3 });
	assert_int_equal(launches, 4);
	assert_int_equal(all_unacknowledged(), 0);
}

/* Plain kernels and those with metadata wait, each for its own state. */
static void each_for_its_own(void **unused)
{
	begin(1, 32, 8, 0);
	late = true;
	submit(&(struct job){ .queue = 0, .groups = 2, .plain = true });
	submit(&(struct job){ .queue = 1, .groups = 2, .priority = 3 });
	submit(&(struct job){ .queue = 2, .groups = 2, .plain = true });
	assert_int_equal(launches, 0);
	assert_int_equal(all_unacknowledged(), 3);
	assert_true(acknowledge(slot_of(1), 1));
	pump();
	assert_int_equal(launches, 2);
	assert_int_equal(launched[0], 1);
	acknowledge_all();
	pump();
	assert_int_equal(launches, 6);
	while (card_slot[slot_of(0)].running)
		end_one(slot_of(0));
	assert_true(job[0].signalled);
}

/* An event of a card that is out of its mind is no harm. */
static void unasked_for(void **unused)
{
	begin(1, 32, 8, 0);
	late = true;
	rig_event(TUTTI_EVENT_STATE | 3 << 8, 1, 0);
	submit(&(struct job){ .groups = 1, .plain = true });
	assert_int_equal(launches, 0);
	rig_event(TUTTI_EVENT_STATE | slot_of(0) << 8, 0, 0);
	pump();
	assert_int_equal(launches, 0);
	unacknowledged[slot_of(0)] = 0;
	rig_event(TUTTI_EVENT_STATE | slot_of(0) << 8, 99, 0);
	pump();
	assert_int_equal(launches, 1);
}

/* Cancelled before the acknowledgement: the slot's next task waits for both states. */
static void slot_used_again(void **unused)
{
	begin(1, 1, 8, 0);
	late = true;
	submit(&(struct job){ .queue = 1, .groups = 3, .plain = true });
	assert_int_equal(rig_request(TUTTI_MSG_TASK_CANCEL, 1, 0, 0), 0);
	card_slot[slot_of(0)].busy = false;
	submit(&(struct job){ .queue = 2, .groups = 3, .plain = true });
	assert_int_equal(unacknowledged[slot_of(1)], 2);
	acknowledge(slot_of(1), 1);
	pump();
	assert_int_equal(launches, 0);
	acknowledge(slot_of(1), 1);
	pump();
	assert_int_equal(launches, 3);
	assert_int_equal(launched[0], 1);
}

static void acknowledge_some(void)
{
	unsigned s = roll(CARD_SLOTS);

	for (unsigned i = 0; i < CARD_SLOTS; i++, s = (s + 1) % CARD_SLOTS)
		if (unacknowledged[s]) {
			acknowledge(s, 1 + roll(unacknowledged[s]));
			break;
		}
	pump();
}

static void end_some(void)
{
	unsigned s = roll(CARD_SLOTS);

	for (unsigned i = 0; i < CARD_SLOTS; i++, s = (s + 1) % CARD_SLOTS)
		if (card_slot[s].running) {
			end_one(s);
			return;
		}
}

static unsigned live(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < jobs; i++)
		n += !job[i].signalled;
	return n;
}

/* Few slots, so that tasks are evicted, resumed and take turns on the SM; one run. */
static void run(uint64_t number)
{
	begin(number, 1 + (unsigned)number % 4, 1 + (unsigned)number % 3, 0);
	late = true;
	for (unsigned step = 0; step < 300; step++)
		switch (roll(4)) {
		case 0:
			if (live() < 8 && jobs < TASKS)
				submit(&(struct job){ .queue = roll(QUEUES), .priority = 1 + roll(10), .groups = 1 + roll(6),
						      .head = !roll(4), .sequence = !roll(4), .plain = !roll(3) });
			break;
		case 1:
			end_some();
			break;
		default:
			acknowledge_some();
		}
	for (unsigned i = 0; live() && i < 10000; i++) {
		acknowledge_some();
		end_some();
	}
	for (unsigned i = 0; i < jobs; i++) {
		assert_true(job[i].signalled);
		assert_int_equal(job[i].issued, job[i].groups);
	}
}

/* Tasks are evicted and resumed, none is cancelled, and no launch comes too early. */
static void any_order(void **unused)
{
	uint64_t evictions = 0;

	for (uint64_t i = 0; i < 300; i++) {
		run(1 + i);
		evictions += counters.evictions;
	}
	assert_true(evictions > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TSK-05", in_order),
		{ "TSK-05: each_for_its_own", each_for_its_own, boot_acknowledging, boot_ordered, NULL },
		{ "TSK-05: unasked_for", unasked_for, boot_acknowledging, boot_ordered, NULL },
		{ "TSK-05 TSK-12: slot_used_again", slot_used_again, boot_acknowledging, boot_ordered, NULL },
		{ "TSK-05 TSK-03 TSK-08: any_order", any_order, boot_acknowledging, boot_ordered, NULL },
	};

	return cmocka_run_group_tests_name("firmware: task states that SMs acknowledge", tests, NULL, NULL);
}

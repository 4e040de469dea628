/* SPDX-License-Identifier: MIT */
/* Work items that kernels put: they start at once where nothing stands in their way, and only there. */
#include "fw_direct.h"

#include "core/wait.h"
#include "queues/queue.h"
#include "tasks/metadata.h"
#include "tasks/task_table.h"

#define WORK 4u /* struct tmd[WORK] is used as the work queue, and the one behind it as an affinity mask */
#define WORK_AT (TMD_AT + WORK * sizeof(tmd[0]))
#define MASK_AT (WORK_AT + sizeof(tmd[0]))

static struct tutti_work_queue *work(void)
{
	return (struct tutti_work_queue *)(void *)&tmd[WORK];
}

/* A queue task in queue 0, and a kernel of queue 1 that puts items. Return: the slot of the kernel */
static unsigned start_work(unsigned sms, unsigned slots, uint32_t flags, uint32_t least, uint32_t most)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	start(sms, slots);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED);
	*work() = (struct tutti_work_queue){ .base = TMD_AT, .items = 64, .item_bytes = 16 };
	tmd[0] = (struct tutti_tmd){
		.magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .type = TUTTI_TASK_QUEUE, .flags = flags,
		.queue = WORK_AT, .coalesce_min = least, .coalesce_max = most,
		.affinity = flags & TUTTI_TMD_AFFINITY ? MASK_AT : 0, .quota = flags & TUTTI_TMD_QUOTA ? 1 : 0,
	};
	((uint32_t *)(void *)&tmd[WORK + 1])[0] = 4;
	submit(1, &p);
	p.tmd = TMD_AT;
	p.grid_x = 32;
	submit(0, &p);
	return (unsigned)slot_of(1, 0);
}

static const struct task *consumer(void)
{
	for (unsigned slot = 0; slot < SLOTS; slot++)
		if (tasks[slot].state != TASK_FREE && tasks[slot].rare & TASK_WORK)
			return &tasks[slot];
	fail();
	return NULL;
}

static void put(unsigned producer, unsigned items)
{
	unsigned before = replies;

	work()->write_index += items;
	ask_for(TUTTI_SERVICE_QUEUE_NOTIFY, producer, TMD_AT);
	take();
	assert_int_equal(replies, before + 1);
	assert_int_equal(reply_value, 0);
}

/* Items get their CTAs one after another, and so does what is left over; the card says how far it is. */
static void items_at_once(void **unused)
{
	unsigned producer, slot;

	(void)unused;
	producer = start_work(4, 0, 0, 2, 4);
	slot = consumer()->slot;
	put(producer, 1);
	assert_int_equal(items_given, 0); /* too few */
	put(producer, 2);
	assert_int_equal(items_given, 3);
	assert_int_equal(running[slot].ctas, 1);
	tasks[slot].progress = 5;
	end_all(slot);
	assert_int_equal(tasks[slot].progress, 0); /* or the watchdog would kill it some time */
	put(producer, 4 * 6 + 3);
	assert_int_equal(running[slot].ctas, 7);
	assert_int_equal(items_given, 30);
	assert_int_equal(work()->read_index, 30);
	end_all(slot);
	put(producer, 1);
	work()->closed = 1;
	ring_doorbell(0);
	assert_int_equal(items_given, 31);
	end_all(slot);
	assert_int_equal(tmd[0].state, TUTTI_TMD_FINISHED);
	assert_int_equal(tmd[0].issued, 9);
	assert_int_equal(tmd[0].completed, 9);
	assert_int_equal(queue_at(0)->flight, 0);
	end_all(producer);
}

/* A queue task that has nothing to do keeps no other kernel from the short way, before its items as after them. */
static void idle_is_idle(void **unused)
{
	unsigned producer = start_work(4, 0, 0, 1, 1);

	(void)unused;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(place_state.detours, 0);
		put(producer, 1);
		assert_int_equal(place_state.detours, 0);
		end_all(consumer()->slot);
	}
	assert_int_equal(items_given, 3);
}

/* There is room for one CTA beside the producer: the second item waits, and starts when the CTA of the first has ended. */
static void items_without_room(void **unused)
{
	unsigned producer, slot;

	(void)unused;
	producer = start_work(1, 0, 0, 1, 1);
	slot = consumer()->slot;
	put(producer, 40);
	assert_true(items_given > 1 && items_given < 40);
	assert_true(place_state.detours & DETOUR_ISSUE);
	while (running[slot].ctas)
		end_all(slot);
	assert_int_equal(items_given, 40);
	assert_int_equal(place_state.detours & DETOUR_ISSUE, 0);
}

/* A sequence task runs one CTA at a time, and one with an affinity mask only where that says. */
static void items_with_rules(void **unused)
{
	unsigned producer, slot;

	(void)unused;
	producer = start_work(4, 0, TUTTI_TMD_SEQUENCE, 1, 1);
	slot = consumer()->slot;
	put(producer, 3);
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(items_given, i);
		assert_int_equal(running[slot].ctas, 1);
		end_all(slot);
	}
	assert_int_equal(running[slot].ctas, 0);

	producer = start_work(4, 0, TUTTI_TMD_AFFINITY, 1, 1);
	slot = consumer()->slot;
	put(producer, 3);
	assert_int_equal(items_given, 3);
	assert_int_equal(running[slot].on[2], 3); /* bit 2 of the mask */
}

/* Nothing starts while the card is suspended, and all of it afterwards. */
static void items_while_suspended(void **unused)
{
	unsigned producer = start_work(4, 0, 0, 1, 1);

	(void)unused;
	put(producer, 1);
	assert_int_equal(items_given, 1);
	work()->write_index++;
	ask_for(TUTTI_SERVICE_QUEUE_NOTIFY, producer, TMD_AT);
	queue_suspend(); /* while the index is being fetched */
	take();
	put(producer, 1);
	assert_int_equal(items_given, 1);
	queue_resume();
	main_settle();
	take();
	assert_int_equal(items_given, 3);
}

/* While the card is emptied for a throttle task no item starts, although there is room. */
static void items_beside_throttle(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	unsigned producer = start_work(4, 0, 0, 1, 1);

	(void)unused;
	tmd[1] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .flags = TUTTI_TMD_THROTTLE,
				     .throttle_sms = 1 };
	p.tmd = TMD_AT + sizeof(tmd[0]);
	submit(0, &p);
	put(producer, 1);
	assert_int_equal(items_given, 0);
	assert_int_equal(started[0], 2); /* it has a slot, too */
	end_all(producer);
	rig_event(TUTTI_EVENT_THROTTLE, 0, 0);
	take();
	assert_int_equal(items_given, 0);
	end_all((unsigned)slot_of(0, 1));
	rig_event(TUTTI_EVENT_THROTTLE, 0, 0);
	take();
	assert_int_equal(items_given, 1);
}

/* A queue task with a quota of one takes turns with another task that has CTAs to issue. */
static void items_with_quota(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 100);
	unsigned producer = start_work(1, 0, TUTTI_TMD_QUOTA, 1, 1), slot = consumer()->slot, other, ctas;

	(void)unused;
	submit(1, &p);
	other = (unsigned)slot_of(1, 1);
	ctas = running[other].ctas;
	assert_true(tasks[other].unissued > 0);
	put(producer, 40);
	assert_int_equal(items_given, 0);
	assert_true(place_state.detours & DETOUR_ISSUE);
	end_all(other);
	assert_int_equal(items_given, (ctas + 1) / 2);
	assert_int_equal(running[slot].ctas, (ctas + 1) / 2);
	end_all(producer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TSK-10 PERF-12", items_at_once),
		RIG_TEST("TSK-10 PERF-12", idle_is_idle),
		RIG_TEST("TSK-10 TSK-06", items_without_room),
		RIG_TEST("TSK-10 TSK-04 TSK-08", items_with_rules),
		RIG_TEST("TSK-10 SYS-08", items_while_suspended),
		RIG_TEST("TSK-10 TSK-07", items_beside_throttle),
		RIG_TEST("TSK-10 TSK-09", items_with_quota),
	};

	return cmocka_run_group_tests_name("firmware: work items", tests, NULL, NULL);
}

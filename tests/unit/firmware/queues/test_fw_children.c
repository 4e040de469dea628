/* SPDX-License-Identifier: MIT */
/* Children and work items that kernels put: they start at once where nothing stands in their way, and only there. */
#include "fw_work.h"

#include "core/counters.h"
#include "core/wait.h"
#include "place/affinity.h"
#include "queues/queue.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/task_table.h"

/* Work queues of sizes that make no sense, one of a single slot among them, are refused with their packet (TSK-10). */
static void sizes_of_work_queues(void **unused)
{
	static const struct {
		struct tutti_work_queue sizes;
		bool good;
	} made[] = {
		{ { .base = TMD_AT, .items = 2, .item_bytes = 8 }, true },
		{ { .base = TMD_AT, .items = 1, .item_bytes = 8 }, false },
		{ { .base = TMD_AT, .items = 0, .item_bytes = 8 }, false },
		{ { .base = TMD_AT, .items = 6, .item_bytes = 8 }, false },
		{ { .base = TMD_AT, .items = 2, .item_bytes = 0 }, false },
		{ { .base = TMD_AT, .items = 2, .item_bytes = 12 }, false },
		{ { .base = TMD_AT + 4, .items = 2, .item_bytes = 8 }, false },
		{ { .base = TUTTI_VA_END, .items = 2, .item_bytes = 8 }, false },
		{ { .base = TMD_AT, .items = 1u << 24, .item_bytes = 1u << 23 }, true },
		{ { .base = TMD_AT, .items = 1u << 24, .item_bytes = (1u << 23) + 8 }, false },
	};
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	(void)unused;
	p.tmd = TMD_AT;
	for (unsigned i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		start(4, 0);
		rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
		*work() = made[i].sizes;
		tmd[0] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .type = TUTTI_TASK_QUEUE,
					     .queue = WORK_AT, .coalesce_min = 1, .coalesce_max = 1 };
		submit(0, &p);
		assert_int_equal(queue_at(0)->state, made[i].good ? QUEUE_RUNNING : QUEUE_STOPPED);
	}
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

/* The card has carried out the command THROTTLE, which was the @nth. */
static void throttle_switched(unsigned nth)
{
	assert_int_equal(counters.throttles, nth);
	rig_event(TUTTI_EVENT_THROTTLE, 0, 0);
	take();
	assert_int_equal(counters.throttles, nth);
}

/* A kernel of queue 1 that starts at once, packet @number of its queue, ends. */
static void starts_and_ends(uint64_t number)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	submit(1, &p);
	assert_true(slot_of(1, number) >= 0);
	end_all((unsigned)slot_of(1, number));
}

/*
 * A throttle task whose work queue is empty, or has too few items for a CTA, keeps nobody from the card. The mode begins
 * with the item that makes a CTA of them, and ends with that CTA.
 */
static void throttle_of_an_empty_queue(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	unsigned producer = start_work(4, 0, TUTTI_TMD_THROTTLE, 2, 4), slot = consumer()->slot;

	(void)unused;
	starts_and_ends(1);
	put(producer, 1);
	starts_and_ends(2);
	assert_int_equal(counters.throttles, 0);
	assert_int_equal(place_state.detours, 0);
	put(producer, 1);
	assert_true(place_state.detours & DETOUR_THROTTLE);
	end_all(producer);
	assert_int_equal(items_given, 0);
	throttle_switched(1);
	assert_int_equal(items_given, 2);
	submit(1, &p);
	assert_int_equal(slot_of(1, 3), -1);
	end_all(slot);
	throttle_switched(2);
	producer = (unsigned)slot_of(1, 3);
	assert_true(producer < SLOTS);
	assert_int_equal(place_state.detours, 0);
	put(producer, 1);
	starts_and_ends(4);
	assert_int_equal(counters.throttles, 2);
	end_all(producer);
}

/*
 * The card is suspended while it is being emptied for a queue task in throttle mode, whose items may not start now. Nobody
 * waits for that task: what is on the card ends, so that the request can be answered.
 */
static void throttle_while_suspended(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1000);
	unsigned producer = start_work(4, 0, TUTTI_TMD_THROTTLE, 1, 1), slot, n;

	(void)unused;
	submit(1, &p);
	slot = (unsigned)slot_of(1, 1);
	put(producer, 1);
	assert_true(place_state.detours & DETOUR_THROTTLE);
	end_all(slot);
	assert_int_equal(running[slot].ctas, 0); /* they wait until the producer has ended, too */
	queue_suspend();
	take();
	assert_true(running[slot].ctas > 0);
	end_all(producer);
	for (n = 0; queue_at(1)->flight; n++) {
		assert_true(n < 1000);
		end_all(slot);
	}
	assert_int_equal(counters.throttles, 0);
	assert_int_equal(items_given, 0);
	queue_resume();
	main_settle();
	take();
	throttle_switched(1);
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

/* ---- children ---- */

/* A child starts beside its parent as a task of the parent's packet, and leaves the queue as it was. */
static void child_at_once(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1), next = kernel_packet(0, 1);
	struct queue before;
	unsigned parent;

	(void)unused;
	start(4, 0);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	submit(0, &p);
	next.header |= TUTTI_HEADER_BARRIER;
	submit(0, &next);
	parent = (unsigned)slot_of(0, 0);
	slow_kernels = true;
	for (unsigned i = 1; i <= 3; i++) {
		before = *queue_at(0);
		tmd[i] = child(1 + (i > 1)); /* the first two are fetched, the third time the kernel is known */
		tmd[i].grid[0] = 32 * 3;
		tmd[i].signal = SIGNAL_AT + 64 * i;
		ask_for_child(parent, TMD_AT + i * sizeof(tmd[0]));
		take();
		assert_int_equal(kernel_answers, i < 3);
		assert_int_equal(replies, i - (i < 3));
		assert_int_equal(queue_at(0)->head, before.head);
		assert_int_equal(queue_at(0)->situation, before.situation);
		if (kernel_answers) {
			hal_host_event(&kernel_answer[--kernel_answers]);
			take();
		}
		assert_int_equal(replies, i);
		assert_int_equal(reply_value, 0);
		assert_int_equal(started[0], 1 + i);
		assert_int_equal(tasks[parent].children, 1);
		assert_int_equal(queue_at(0)->in_flight, 2);
		for (unsigned slot = 0; slot < SLOTS; slot++)
			if (slot != parent && running[slot].ctas) {
				assert_int_equal(running[slot].ctas, 3);
				assert_int_equal(running[slot].packet, 0);
				assert_int_equal(running[slot].tmd, TMD_AT + i * sizeof(tmd[0]));
				end_all(slot);
			}
		assert_int_equal(signal_count, i);
		assert_int_equal(signals[i - 1].address, SIGNAL_AT + 64 * i);
		assert_int_equal(tmd[i].state, TUTTI_TMD_FINISHED);
		assert_int_equal(tmd[i].issued, 3);
		assert_int_equal(tmd[i].completed, 3);
		assert_int_equal(tasks[parent].children, 0);
		assert_int_equal(queue_at(0)->in_flight, 1);
	}
	end_all(parent);
	assert_int_equal(started[0], 5); /* the packet behind the barrier */
	end_all((unsigned)slot_of(0, 1));
	assert_int_equal(queue_at(0)->flight, 0);
	assert_int_equal(tmd_free_count, FW_TMDS);
	assert_int_equal(acquires, 3); /* one for each child */
	assert_int_equal(counters.acquires, 3);
}

/* A kernel of queue 0 on a card of @sms SMs, and a child of 100 CTAs that it has yet to ask for. Return: its slot */
static unsigned parent_of_many(unsigned sms, unsigned groups)
{
	struct tutti_dispatch_packet p = kernel_packet(0, groups);

	start(sms, 0);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	submit(0, &p);
	tmd[0] = child(0);
	tmd[0].grid[0] = 32 * 100;
	return (unsigned)slot_of(0, 0);
}

static int asked(unsigned parent)
{
	unsigned before = replies;

	ask_for_child(parent, TMD_AT);
	take();
	assert_int_equal(replies, before + 1);
	return reply_value;
}

/* A child that is larger than the room there is starts with what fits, and goes on when that has ended. */
static void child_in_parts(void **unused)
{
	unsigned parent = parent_of_many(1, 1), slot = !parent, ended = 0;

	(void)unused;
	assert_int_equal(asked(parent), 0);
	assert_true(running[slot].ctas && running[slot].ctas < 100);
	assert_int_equal(pending_free, FW_PENDING - 1);
	while (running[slot].ctas) {
		ended += running[slot].ctas;
		end_all(slot);
	}
	assert_int_equal(ended, 100);
	assert_int_equal(tmd[0].completed, 100);
	assert_int_equal(pending_free, FW_PENDING);
	end_all(parent);
	assert_int_equal(queue_at(0)->flight, 0);
}

/* Where room may never come a child is refused: the parent has taken all of it, or no record is left for what cannot start. */
static void child_without_room(void **unused)
{
	unsigned parent = parent_of_many(1, 100), all = running[parent].ctas, left;

	(void)unused;
	parent = parent_of_many(1, all);
	assert_int_equal(tasks[parent].unissued, 0);
	assert_int_equal(asked(parent), -TUTTI_EBUSY);
	assert_int_equal(started[0], 1);

	parent = parent_of_many(1, 1);
	left = pending_free;
	pending_free = 0;
	assert_int_equal(asked(parent), -TUTTI_EBUSY);
	pending_free = left;
	assert_int_equal(started[0], 1);
	assert_int_equal(tasks[parent].children, 0);
	assert_int_equal(tmd_free_count, FW_TMDS);
	assert_int_equal(asked(parent), 0);
}

/* A child is a sequence task, or may run on one SM only. */
static void child_with_rules(void **unused)
{
	unsigned parent = parent_of_many(4, 1), slot = !parent, masks = affinity_left();

	(void)unused;
	tmd[0].flags = TUTTI_TMD_SEQUENCE;
	tmd[0].grid[0] = 32 * 3;
	assert_int_equal(asked(parent), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(running[slot].ctas, 1);
		end_all(slot);
	}
	assert_int_equal(tmd[0].completed, 3);

	tmd[0].flags = TUTTI_TMD_AFFINITY;
	tmd[0].affinity = MASK_AT;
	((uint32_t *)(void *)&tmd[WORK + 1])[0] = 4;
	assert_int_equal(asked(parent), 0);
	assert_int_equal(running[slot].ctas, 3);
	assert_int_equal(running[slot].on[2], 3);
	assert_int_equal(affinity_left(), masks - 1);
	end_all(slot);
	assert_int_equal(affinity_left(), masks);
	assert_int_equal(tasks[parent].children, 0);
	end_all(parent);
	assert_int_equal(queue_at(0)->flight, 0);
}

/* The signal of a child says when it started, too, if its queue's signals do. */
static void child_with_times(void **unused)
{
	const struct tutti_signal *signal = (const void *)&tmd[1];
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	(void)unused;
	start(4, 0);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_PROFILE);
	submit(0, &p);
	tmd[0] = child(0);
	tmd[0].signal = TMD_AT + sizeof(tmd[0]);
	hal_host.time = hal_host.engines.time_lo = 77;
	assert_int_equal(asked((unsigned)slot_of(0, 0)), 0);
	assert_int_equal(started[0], 2);
	assert_int_equal(signal->start_time, 77);
}

/* The engines have yet to take so many commands that there is no room for others; or have taken all. */
static void ring_full(bool full)
{
	hal_host.engines.command_head = command_tail() - (full ? COMMAND_WORDS - COMMAND_OWED : 0);
	if (!command_renew())
		return;
	assert_false(full);
	main_settle();
	main_settle();
	take();
}

/* A wave asks for a child, and the engines fall behind while they fetch its metadata. */
static void ask_and_fall_behind(unsigned parent)
{
	const uint32_t *w;
	unsigned words;

	ask_for_child(parent, TMD_AT);
	command_publish();
	w = hal_host_command(&words);
	assert_int_equal(w[0] & 0xff, TUTTI_CMD_FETCH);
	ring_full(true);
	take_fetch(w);
}

/* No room in the command ring when a child is to start, and none when it has ended. */
static void child_with_full_ring(void **unused)
{
	unsigned parent = parent_of_many(4, 1), at;

	(void)unused;
	tmd[0].grid[0] = 32;
	at = command_tail() + COMMAND_FETCH_WORDS;
	ask_and_fall_behind(parent);
	assert_int_equal(command_tail(), at);
	ring_full(false);
	assert_int_equal(replies, 1);
	assert_int_equal(reply_value, 0);
	assert_int_equal(running[!parent].ctas, 1);
	ring_full(true);
	at = command_tail();
	end_all(!parent);
	assert_int_equal(command_tail(), at);
	ring_full(false);
	assert_int_equal(tmd[0].completed, 1);
	assert_int_equal(tasks[parent].children, 0);
	assert_int_equal(tmd_free_count, FW_TMDS);
}

/* The command ring is full when a child's mask is to be fetched, and no mask is left when it has room again. */
static void child_without_mask(void **unused)
{
	unsigned parent = parent_of_many(4, 1);

	(void)unused;
	tmd[0].flags = TUTTI_TMD_AFFINITY;
	tmd[0].affinity = MASK_AT;
	ask_and_fall_behind(parent);
	while (affinity_left())
		affinity_take();
	assert_int_equal(replies, 0);
	ring_full(false);
	assert_int_equal(replies, 1);
	assert_int_equal(reply_value, -TUTTI_EBUSY);
	assert_int_equal(tmd_free_count, FW_TMDS);
}

/* So many children, one after another, that the command ring wraps often. */
static void round_the_ring(void **unused)
{
	unsigned parent = parent_of_many(2, 1);

	(void)unused;
	for (unsigned i = 0; i < 3000; i++) {
		tmd[0].grid[0] = 32 * (1 + i % 3);
		tmd[0].signal = i % 7 ? 0 : SIGNAL_AT;
		assert_int_equal(asked(parent), 0);
		assert_int_equal(running[!parent].ctas, 1 + i % 3);
		end_all(!parent);
		assert_int_equal(tmd[0].completed, 1 + i % 3);
	}
	assert_int_equal(signal_count, 3000 / 7 + 1);
	end_all(parent);
	assert_int_equal(queue_at(0)->flight, 0);
}

/* The parent ends first: its child is an orphan, and its end changes nothing of the task that has the slot by then. */
static void child_of_none(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	unsigned parent;

	(void)unused;
	start(4, 0);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	submit(0, &p);
	parent = (unsigned)slot_of(0, 0);
	tmd[0] = child(1);
	ask_for_child(parent, TMD_AT);
	take();
	end_all(parent);
	submit(0, &p);
	assert_int_equal(slot_of(0, 1), parent);
	tmd[1] = child(1);
	ask_for_child(parent, TMD_AT + sizeof(tmd[0]));
	take();
	assert_int_equal(tasks[parent].children, 1);
	assert_true(slot_of(0, 0) >= 0);
	end_all((unsigned)slot_of(0, 0));
	assert_int_equal(tmd[0].state, TUTTI_TMD_FINISHED);
	assert_int_equal(tmd[1].state, 0);
	assert_int_equal(tasks[parent].children, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TSK-10", sizes_of_work_queues),
		RIG_TEST("TSK-10 PERF-12", items_at_once),
		RIG_TEST("TSK-10 PERF-12", idle_is_idle),
		RIG_TEST("TSK-10 TSK-06", items_without_room),
		RIG_TEST("TSK-10 TSK-04 TSK-08", items_with_rules),
		RIG_TEST("TSK-10 SYS-08", items_while_suspended),
		RIG_TEST("TSK-10 TSK-07", items_beside_throttle),
		RIG_TEST("TSK-07 TSK-10 REL-11", throttle_of_an_empty_queue),
		RIG_TEST("TSK-07 TSK-10 SYS-08", throttle_while_suspended),
		RIG_TEST("TSK-10 TSK-09", items_with_quota),
		RIG_TEST("TSK-11 TSK-01 PERF-12", child_at_once),
		RIG_TEST("TSK-11 TSK-06", child_in_parts),
		RIG_TEST("TSK-11", child_without_room),
		RIG_TEST("TSK-11 TSK-04 TSK-08", child_with_rules),
		RIG_TEST("TSK-11 REL-11", child_with_full_ring),
		RIG_TEST("TSK-11 REL-11", child_without_mask),
		RIG_TEST("TSK-11 REL-11", round_the_ring),
		RIG_TEST("TSK-11", child_of_none),
		RIG_TEST("TSK-11 PKT-04", child_with_times),
	};

	return cmocka_run_group_tests_name("firmware: children and work items", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Queue tasks (TSK-10): which items a CTA gets and when, against a plain model; what the firmware reads of a work queue;
 * and what becomes of the items of a task that waits, fails or is cancelled.
 */
#include "fw_work.h"

#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/task_table.h"
#include "tasks/work_queue.h"
#include "tutti/fault.h"

#define US 1000u     /* ticks */
#define NEVER (~0ull)
#define CAPACITY 64u /* of the work queue */

/* ---- items and CTAs ---- */

static struct {
	uint64_t written, given, deadline;
	unsigned ctas, timeouts;
	uint32_t least, most;
	bool late, closed; /* late: the timeout has passed */
} model;

static void give(uint64_t items)
{
	model.given += items;
	model.ctas++;
	model.late = false;
	model.deadline = NEVER;
}

/* All CTAs that can start now do. What is left over begins to wait, if it does not wait already. */
static void start_ctas(void)
{
	uint64_t left;

	while (model.written - model.given >= model.most)
		give(model.most);
	left = model.written - model.given;
	if (left && (left >= model.least || model.closed || model.late))
		give(left);
	else if (!left)
		model.deadline = NEVER;
	else if (model.deadline == NEVER)
		model.deadline = hal_host.time + (uint64_t)work_us * US;
}

static uint64_t timer(void)
{
	return hal_host.engines.timer_lo | (uint64_t)hal_host.engines.timer_hi << 32;
}

static void check(unsigned slot)
{
	assert_int_equal(items_given, model.given);
	assert_int_equal(work()->read_index, model.given);
	assert_int_equal(counters.timeouts, model.timeouts);
	assert_int_equal(tasks[slot].unissued, 0);
	assert_true(timer() <= model.deadline);
}

/* Time passes. The timer's event comes when the firmware has asked for it. */
static void pass(uint64_t ticks)
{
	uint64_t until = hal_host.time + ticks;

	while (timer() <= until) {
		hal_host.time = timer();
		hal_host.engines.timer_hi = TUTTI_TIMER_OFF;
		if (model.deadline <= hal_host.time) {
			model.late = true;
			model.timeouts++;
			model.deadline = NEVER;
		}
		start_ctas();
		rig_event(TUTTI_EVENT_TIMER, 0, 0);
		take();
	}
	hal_host.time = until;
}

static void close_it(unsigned slot, unsigned producer)
{
	work()->closed = 1;
	model.closed = true;
	put(producer, 0);
	start_ctas();
	check(slot);
	end_all(slot);
	assert_int_equal(tmd[0].state, TUTTI_TMD_FINISHED);
	assert_int_equal(tmd[0].error, 0);
	assert_int_equal(tmd[0].issued, model.ctas);
	assert_int_equal(tmd[0].completed, model.ctas);
	assert_int_equal(tmd[0].outstanding, 0);
	assert_int_equal(tmd[0].timeouts, model.timeouts);
	assert_int_equal(tasks[slot].state, TASK_FREE);
	assert_int_equal(queue_at(0)->works, 0);
}

static void items_of(uint32_t least, uint32_t most, uint32_t us, unsigned number)
{
	unsigned producer, slot, n;

	seed(number);
	work_us = us;
	producer = start_work(4, 0, 0, least, most);
	slot = consumer()->slot;
	memset(&model, 0, sizeof(model));
	model.least = least;
	model.most = most;
	model.deadline = NEVER;
	for (unsigned i = 0; i < 80; i++) {
		n = roll(2) ? roll(3) : roll(2 * most < CAPACITY / 2 ? 2 * most + 2 : CAPACITY / 2);
		model.written += n;
		put(producer, n);
		start_ctas();
		check(slot);
		pass(roll(2) ? roll(3 * US) : roll(2) ? us * US : roll(2 * us * US + 1));
		check(slot);
		if (running[slot].ctas > 40)
			end_all(slot);
	}
	close_it(slot, producer);
	end_all(producer);
	work_us = 0;
}

/* Any minimum, maximum and timeout, and items that come in lumps. */
static void items_by_rule(void **unused)
{
	static const struct { uint32_t least, most, us; } rule[] = {
		{ 1, 1, 0 }, { 1, 4, 0 }, { 2, 4, 0 }, { 2, 4, 1 }, { 2, 4, 7 }, { 3, 7, 100 }, { 8, 8, 50 }, { 5, 6, 20000 },
		{ 1, 32, 5 }, { 9, 32, 5 }, { 32, 32, 30 }, { 2, 3, 5 },
	};

	for (unsigned i = 0; i < sizeof(rule) / sizeof(rule[0]); i++)
		for (unsigned n = 0; n < 3; n++)
			items_of(rule[i].least, rule[i].most, rule[i].us, 10 * i + n);
}

/* The write index is the program's word. It cannot make more items of a ring than the ring holds, nor take any back. */
static void senseless_index(void **unused)
{
	unsigned producer = start_work(4, 0, 0, 1, 1), slot = consumer()->slot;

	put(producer, 5);
	assert_int_equal(items_given, 5);
	work()->write_index = 3;
	put(producer, 0);
	assert_int_equal(items_given, 5);
	work()->write_index = 5 + (1ull << 63);
	put(producer, 0);
	assert_int_equal(items_given, 5);
	work()->write_index = 5 + CAPACITY + 1000;
	put(producer, 0);
	assert_int_equal(items_given % CAPACITY, 5); /* a full ring, as often as it is looked at */
	assert_true(items_given >= 5 + CAPACITY);
	end_all(slot);
}

/* ---- what is read ---- */

static bool of_metadata(const uint32_t *w)
{
	unsigned kind = w[0] >> 16 & TAG_KIND;

	return (w[0] & 0xff) == TUTTI_CMD_FETCH && (kind == TAG_TMD || kind == TAG_WORK);
}

/* The next fetch of metadata or of a work queue: of @bytes at @address, for @tag. It is answered. */
static void expect_fetch(uint64_t address, unsigned bytes, unsigned tag)
{
	uint32_t copy[COMMAND_RECORD];
	const uint32_t *w;
	unsigned words;

	for (;;) {
		command_publish();
		w = hal_host_command(&words);
		assert_non_null(w);
		memcpy(copy, w, words * 4);
		if (of_metadata(copy))
			break;
		take_one(copy, words);
	}
	assert_int_equal(copy[0] >> 16, tag);
	assert_int_equal(copy[1], ASID); /* as it is in memory now, no packets */
	assert_int_equal(copy[2] | (uint64_t)copy[3] << 32, address);
	assert_int_equal(copy[4], bytes);
	take_one(copy, words);
}

/* Metadata, then the mask and how the queue is at first; with each notice whether it is closed, before its index. */
static void what_is_read(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	unsigned number;

	start_work(100, 0, TUTTI_TMD_AFFINITY, 1, 1);
	rig_queue(2, ASID, TUTTI_QUEUE_EXTENDED);
	number = tmd_number(tmd_free);
	p.tmd = TMD_AT;
	write_packet(2, &p);
	rig_event(TUTTI_EVENT_DOORBELL, 1u << 2, 0);
	expect_fetch(TMD_AT, offsetof(struct tutti_tmd, state), TAG_TMD | number);
	expect_fetch(MASK_AT, 4 * 4, TAG_TMD | number); /* a hundred SMs */
	expect_fetch(WORK_AT + offsetof(struct tutti_work_queue, read_index), 8, TAG_TMD | number);
	expect_fetch(WORK_AT + offsetof(struct tutti_work_queue, base), 24, TAG_TMD | number);
	for (unsigned i = 0; i < 2; i++) {
		expect_fetch(WORK_AT + offsetof(struct tutti_work_queue, closed), 4, TAG_WORK | 0x100 | number);
		expect_fetch(WORK_AT, 8, TAG_WORK | number);
		take();
		work_poll(tmd_at(number));
	}
}

/* ---- notices ---- */

/* A notice is for the task whose metadata lie at that address in that client's memory. */
static void notices(void **unused)
{
	unsigned producer = start_work(4, 0, 0, 1, 1);
	uint32_t before = counters.fetches;

	assert_int_equal(work_notify(ASID, TMD_AT + sizeof(tmd[0])), -TUTTI_ENOENT);
	assert_int_equal(work_notify(ASID + 1, TMD_AT), -TUTTI_ENOENT);
	assert_int_equal(work_notify(ASID, TMD_AT + (1ull << 32)), -TUTTI_ENOENT);
	assert_int_equal(counters.fetches, before);
	assert_int_equal(work_notify(ASID, TMD_AT), 0);
	assert_int_equal(counters.fetches, before + 2);
	/* while it is being looked at, a second notice makes it be looked at once more, and not more often */
	assert_int_equal(work_notify(ASID, TMD_AT), 0);
	assert_int_equal(work_notify(ASID, TMD_AT), 0);
	assert_int_equal(counters.fetches, before + 2);
	take();
	assert_int_equal(counters.fetches, before + 4);
	end_all(producer);
}

/* ---- tasks without a slot ---- */

/*
 * A queue task that has nothing to do gives its slot to any kernel, also to one of lower priority, and gets one again
 * when there are items, or when its queue is closed.
 */
static void asleep(void **unused)
{
	for (unsigned closed = 0; closed < 2; closed++) {
		struct tutti_dispatch_packet p = kernel_packet(0, 1);
		unsigned producer = start_work(4, 2, 0, 2, 2), slot = consumer()->slot, evictions = counters.evictions;

		tmd[1] = child(0);
		tmd[1].priority = 10;
		p.tmd = TMD_AT + sizeof(tmd[0]);
		submit(1, &p);
		assert_int_equal(slot_of(1, 1), slot);
		assert_int_equal(counters.evictions, evictions + 1);
		put(producer, 1); /* too few */
		end_all(slot);
		assert_int_equal(tasks[slot].state, TASK_FREE);
		put(producer, !closed);
		work()->closed = closed;
		put(producer, 0);
		assert_int_equal(items_given, 2 - closed);
		assert_int_equal(running[slot].ctas, 1);
		end_all(slot);
		assert_int_equal(tmd[0].evictions, 1);
		assert_int_equal(tmd[0].state, closed ? TUTTI_TMD_FINISHED : 0);
		end_all(producer);
	}
}

/* One that has CTAs on the card is not asleep, and keeps its slot until they have ended. */
static void not_asleep(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	unsigned producer = start_work(4, 2, 0, 1, 1), slot = consumer()->slot;

	put(producer, 2);
	submit(1, &p);
	end_first(slot);
	assert_int_equal(slot_of(1, 1), -1);
	assert_int_equal(tasks[slot].state, TASK_RUNNING);
	end_first(slot);
	assert_int_equal(slot_of(1, 1), slot);
	end_all(slot);
	put(producer, 1);
	assert_int_equal(items_given, 3);
	end_all(consumer()->slot);
	end_all(producer);
}

/* It gets a slot for which a kernel waits as well, and has nothing to do: that one gets it. */
static void asleep_at_once(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	unsigned producer = start_work(4, 2, 0, 1, 1), slot = consumer()->slot;

	rig_queue(2, ASID, TUTTI_QUEUE_EXTENDED);
	submit(1, &p);
	tmd[1] = tmd[0];
	p.tmd = TMD_AT + sizeof(tmd[0]);
	submit(1, &p);
	p.tmd = 0;
	submit(2, &p);
	assert_int_equal(slot_of(1, 1), slot);
	end_all(slot);
	assert_int_equal(slot_of(2, 0), slot);
	end_all(slot);
	end_all(producer);
}

/*
 * A kernel of higher priority takes the slot of a queue task that runs CTAs, when these have ended. The task goes on when
 * it has a slot again; if its queue is closed and empty by then, it has ended.
 */
static void evicted(void **unused)
{
	for (unsigned closed = 0; closed < 2; closed++) {
		struct tutti_dispatch_packet p = kernel_packet(0, 1);
		unsigned producer = start_work(4, 2, 0, 1, 1), slot = consumer()->slot;

		put(producer, 2);
		work()->closed = closed;
		put(producer, 0);
		tmd[1] = child(0);
		tmd[1].priority = 1;
		p.tmd = TMD_AT + sizeof(tmd[0]);
		submit(1, &p);
		assert_int_equal(tasks[slot].state, TASK_LEAVING);
		assert_int_equal(slot_of(1, 1), -1);
		if (!closed)
			put(producer, 1); /* it gets no CTA now, but does not fall asleep */
		assert_int_equal(items_given, 2);
		end_all(slot);
		assert_int_equal(slot_of(1, 1), slot);
		assert_int_equal(tmd[0].state, closed ? TUTTI_TMD_FINISHED : 0);
		assert_int_equal(tmd[0].issued, 2);
		assert_int_equal(tmd[0].completed, 2);
		assert_int_equal(tmd[0].evictions, 1);
		assert_int_equal(queue_at(0)->works, !closed);
		end_all(slot);
		if (closed)
			continue;
		assert_int_equal(items_given, 3);
		end_all(slot);
		end_all(producer);
	}
}

/* It had items that found no room when it was evicted: they get their CTAs when it has a slot again, without a notice. */
static void evicted_with_items(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	unsigned producer = start_work(1, 2, 0, 1, 1), slot = consumer()->slot;

	put(producer, 40);
	assert_int_equal(items_given, 31);
	tmd[1] = child(0);
	tmd[1].priority = 1;
	p.tmd = TMD_AT + sizeof(tmd[0]);
	submit(1, &p);
	assert_int_equal(tasks[slot].state, TASK_LEAVING);
	end_all(slot);
	assert_int_equal(tmd[0].state | tmd[0].error, 0);
	assert_int_equal(tmd[0].issued, 31);
	assert_int_equal(tmd[0].outstanding, 9);
	assert_int_equal(slot_of(1, 1), slot);
	end_all(slot);
	assert_int_equal(items_given, 40);
	end_all(slot);
	end_all(producer);
}

/* A task that waits for an SM that is off has no CTA on the card either, but it does not sleep, and keeps its slot. */
static void others_do_not_sleep(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	unsigned producer = start_work(4, 2, 0, 1, 1), slot = consumer()->slot;

	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 2, 1, 0), 0);
	end_all(producer);
	tmd[1] = child(0);
	tmd[1].flags = TUTTI_TMD_AFFINITY;
	tmd[1].affinity = MASK_AT; /* SM 2 */
	p.tmd = TMD_AT + sizeof(tmd[0]);
	submit(1, &p);
	assert_int_equal(tasks[producer].state, TASK_RUNNING);
	assert_int_equal(tasks[producer].unissued, 1);
	assert_true(producer < slot);
	p.tmd = 0;
	submit(1, &p);
	assert_int_equal(slot_of(1, 2), slot);
	assert_int_equal(tasks[producer].state, TASK_RUNNING);
	assert_int_equal(tasks[producer].packet, 1);
	end_all(slot);
}

/* ---- ends before its queue is closed ---- */

/* A cancelled task says how many items nobody has got. */
static void cancelled(void **unused)
{
	unsigned producer = start_work(4, 0, 0, 4, 4);

	put(producer, 7);
	assert_int_equal(items_given, 4);
	assert_int_equal(task_cancel(queue_at(0), 0), 0);
	end_all(consumer()->slot);
	assert_int_equal(tmd[0].state, TUTTI_TMD_FINISHED | TUTTI_TMD_CANCELLED);
	assert_int_equal(tmd[0].issued, 1);
	assert_int_equal(tmd[0].completed, 1);
	assert_int_equal(tmd[0].outstanding, 3);
	assert_int_equal(queue_at(0)->works, 0);
	end_all(producer);
	assert_int_equal(tmd_free_count, FW_TMDS);
}

/* It is cancelled while it is asleep: it ends at once. */
static void cancelled_asleep(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	unsigned producer = start_work(4, 2, 0, 2, 2), slot = consumer()->slot;

	put(producer, 1);
	submit(1, &p);
	assert_int_equal(slot_of(1, 1), slot);
	assert_int_equal(task_oldest(queue_at(0), 9), 0);
	assert_int_equal(task_cancel(queue_at(0), 0), 0);
	take();
	assert_int_equal(tmd[0].state, TUTTI_TMD_FINISHED | TUTTI_TMD_CANCELLED);
	assert_int_equal(tmd[0].outstanding, 1);
	assert_int_equal(queue_at(0)->flight, 0);
	assert_int_equal(queue_at(0)->works, 0);
	end_all(slot);
	end_all(producer);
	assert_int_equal(tmd_free_count, FW_TMDS);
}

/* It is cancelled while its index is on the way: the record, into which that will be written, is free only then. */
static void cancelled_while_it_is_read(void **unused)
{
	unsigned producer = start_work(4, 0, 0, 1, 1);

	work()->write_index = 1;
	ask_for(TUTTI_SERVICE_QUEUE_NOTIFY, producer, TMD_AT);
	assert_int_equal(task_cancel(queue_at(0), 0), 0);
	assert_int_equal(tmd_free_count, FW_TMDS - 1);
	assert_null(tmd_next_work(NULL));
	take();
	assert_int_equal(items_given, 0);
	assert_int_equal(tmd_free_count, FW_TMDS);
	end_all(producer);
}

static struct tutti_fault reported(void)
{
	const struct tutti_discovery *d = (void *)hal_host.window;
	const struct tutti_status *status = (void *)(hal_host.window + d->status.offset);
	const struct tutti_message *ring = (void *)(hal_host.window + d->card_ring.offset);
	const struct tutti_message *newest = &ring[(status->card_ring_tail - 1) % (d->card_ring.bytes / sizeof(*ring))];

	assert_int_equal(newest->type, TUTTI_MSG_QUEUE_ERROR);
	return newest->fault;
}

#define GONE 0x765412345678ull

/* A read of the queue, of the flag or of the index, is refused. */
static void read_fails(unsigned which, unsigned number)
{
	work_notify(ASID, TMD_AT);
	command_publish();
	rig_drain();
	for (unsigned part = 0; part < 2; part++)
		rig_event(TUTTI_EVENT_FETCH | (part == which ? TUTTI_CAUSE_PROTECTION << 8 : 0) |
				  (TAG_WORK | (part ? 0 : 0x100u) | number) << 16,
			  (uint32_t)GONE, (uint32_t)(GONE >> 32));
	take();
}

/* The program has unmapped its work queue: the task fails and its queue stops, whether or not it has a slot just then. */
static void queue_is_gone(void **unused)
{
	for (unsigned way = 0; way < 4; way++) {
		struct tutti_dispatch_packet p = kernel_packet(0, 1);
		unsigned producer = start_work(4, 2, 0, 1, 1), number = tmd_number(consumer()->tmd);
		struct tutti_fault got;

		if (way / 2)
			submit(1, &p); /* and it is asleep */
		read_fails(way % 2, number);
		got = reported();
		assert_int_equal(queue_at(0)->state, QUEUE_STOPPED);
		assert_int_equal(queue_at(1)->state, QUEUE_RUNNING);
		assert_int_equal(got.code, TUTTI_ERROR_TMD);
		assert_int_equal(got.engine, TUTTI_ENGINE_FETCH);
		assert_int_equal(got.access, TUTTI_ACCESS_READ);
		assert_int_equal(got.cause, TUTTI_CAUSE_PROTECTION);
		assert_int_equal(got.queue, 0);
		assert_int_equal(got.packet, 0);
		assert_int_equal(got.sm, 0xffff);
		assert_int_equal(got.address, GONE);
		end_all(producer);
		if (way / 2)
			end_all((unsigned)slot_of(1, 1));
		assert_int_equal(tmd_free_count, FW_TMDS);
		assert_true(pending_idle());
		assert_int_equal(queue_at(0)->works, 0);
		assert_int_equal(queue_at(0)->flight, 0);
	}
}

/* How many tasks of a queue are quiet: they run nothing, and nothing of them is being read. */
static void quiet(void **unused)
{
	unsigned producer = start_work(4, 0, 0, 1, 1);

	assert_int_equal(work_quiet(queue_at(0)), 1);
	assert_int_equal(work_quiet(queue_at(1)), 0);
	work_notify(ASID, TMD_AT);
	assert_int_equal(work_quiet(queue_at(0)), 0);
	take();
	assert_int_equal(work_quiet(queue_at(0)), 1);
	put(producer, 1);
	assert_int_equal(work_quiet(queue_at(0)), 0);
	end_all(consumer()->slot);
	assert_int_equal(work_quiet(queue_at(0)), 1);
	end_all(producer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TSK-10", items_by_rule),
		RIG_TEST("TSK-10 SYS-09", senseless_index),
		RIG_TEST("TSK-10", what_is_read),
		RIG_TEST("TSK-10 TSK-11", notices),
		RIG_TEST("TSK-10 TSK-03", asleep),
		RIG_TEST("TSK-10 TSK-03", not_asleep),
		RIG_TEST("TSK-10 TSK-03", asleep_at_once),
		RIG_TEST("TSK-10 TSK-03", evicted),
		RIG_TEST("TSK-10 TSK-03", evicted_with_items),
		RIG_TEST("TSK-10 TSK-03", others_do_not_sleep),
		RIG_TEST("TSK-10 TSK-12", cancelled),
		RIG_TEST("TSK-10 TSK-12", cancelled_asleep),
		RIG_TEST("TSK-10 TSK-12", cancelled_while_it_is_read),
		RIG_TEST("TSK-10 PKT-06", queue_is_gone),
		RIG_TEST("TSK-10 SYS-08", quiet),
	};

	return cmocka_run_group_tests_name("firmware: queue tasks", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * The command ring is full because its engines have stopped: operations that have begun end without an overrun
 * (hal_host_written() aborts the test), and nothing is forgotten once the engines go on.
 */
#include "queues/queue_life.h"
#include "groups/cga_ids.h"
#include "queues/child_tasks.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/work_queue.h"
#include "top/heartbeat.h"
#include "top/host_channel.h"
#include "tutti/fault.h"
#include "fw_tasks.h"

/* What the firmware does before it idles. */
static void idle(void)
{
	if (attention.idle & ATTEND_CHANNEL)
		channel_event();
	main_before_idle();
}

/* The firmware idles, the engines go on, and only events wake the firmware, until it wants nothing more. */
static void go_on(void)
{
	uint32_t events;

	idle();
	do {
		events = counters.events;
		pump();
		if (counters.events != events)
			idle();
	} while (counters.events != events);
	assert_false(attention.settle & ATTEND_ROOM);
}

static unsigned replies(uint32_t id)
{
	const struct tutti_discovery *d = (void *)hal_host.window;
	const struct tutti_status *status = (void *)(hal_host.window + d->status.offset);
	const struct tutti_message *from = (void *)(hal_host.window + d->card_ring.offset);
	uint32_t at, n = 0;

	for (at = 0; at != status->card_ring_tail; at++)
		n += from[at % (d->card_ring.bytes / 64)].type == TUTTI_MSG_REPLY && from[at % (d->card_ring.bytes / 64)].id == id;
	return n;
}

static void ask(unsigned type, uint32_t id, uint64_t a, uint64_t b)
{
	const struct tutti_discovery *d = (void *)hal_host.window;
	struct tutti_control *control = (void *)(hal_host.window + d->control.offset);
	struct tutti_message *to = (void *)(hal_host.window + d->host_ring.offset);

	to[control->host_ring_tail % (d->host_ring.bytes / 64)] =
		(struct tutti_message){ .type = (uint16_t)type, .id = id, .arg = { a, b } };
	control->host_ring_tail++;
	rig_event(TUTTI_EVENT_MESSAGE, 0, 0);
}

static void host_reads(void)
{
	const struct tutti_discovery *d = (void *)hal_host.window;

	((struct tutti_control *)(void *)(hal_host.window + d->control.offset))->card_ring_head =
		((struct tutti_status *)(void *)(hal_host.window + d->status.offset))->card_ring_tail;
}

/* As many tasks with metadata as one client may have at a priority of 5. */
#define RECORDS (FW_TMDS / 2 - 1)

/* All but two of them wait behind those; their queue goes away, with the least room there can be. */
static void destroy_with_waiting_tasks(void **unused)
{
	const struct job what = { .queue = 1, .priority = 5, .groups = 3 };
	unsigned i, waiting = 0;

	begin(1, 2, 1, 1);
	for (i = 0; i < RECORDS; i++)
		submit(&what);
	for (i = 0; i < FW_PENDING; i++)
		waiting += pending_at(i)->place == PENDING_LISTED;
	assert_true(waiting == RECORDS - 2);
	hal_host_fill(COMMAND_OWED);
	assert_int_equal(queue_destroy(1, 77), 0);
	main_settle();
	assert_int_equal(queues[1].state, QUEUE_DYING);
	assert_int_equal(replies(77), 0);
	go_on();
	hal_host_fill(COMMAND_OWED_ANSWER - 1); /* the reply has to wait as well */
	for (i = 0; i < CARD_SLOTS; i++)
		if (card_slot[i].running) {
			card_slot[i].running = 0;
			rig_event(TUTTI_EVENT_CTA | i << 8 | 1u << 24, 1, 1);
			rig_event(TUTTI_EVENT_KILLED | i << 8, ~0u, 0);
		} else if (card_slot[i].busy) {
			rig_event(TUTTI_EVENT_KILLED | i << 8, ~0u, 0);
		}
	assert_int_equal(queues[1].state, QUEUE_DYING);
	go_on();
	assert_int_equal(replies(77), 1);
	assert_int_equal(queues[1].state, QUEUE_NONE);
	for (i = 0; i < FW_TMDS; i++)
		assert_int_equal(tmd_at(i)->stage, TMD_FREE);
	for (i = 0; i < FW_PENDING; i++)
		assert_int_equal(pending_at(i)->place, PENDING_FREE);
	for (i = 0; i < RECORDS; i++)
		assert_true(tmd[i].state & TUTTI_TMD_FINISHED);
}

/* The same tasks are cancelled one by one: each gets its signal, cancelled, and its metadata. */
static void cancel_waiting_tasks(void **unused)
{
	const struct job what = { .queue = 1, .priority = 5, .groups = 3 };
	unsigned i;

	begin(2, 2, 1, 1);
	for (i = 0; i < RECORDS; i++)
		submit(&what);
	hal_host_fill(COMMAND_OWED);
	for (i = 2; i < RECORDS; i++)
		assert_int_equal(task_cancel(&queues[1], i), 0);
	main_settle();
	go_on();
	for (i = 2; i < RECORDS; i++) {
		assert_true(job[i].cancelled);
		assert_true(tmd[i].state & TUTTI_TMD_CANCELLED);
	}
	for (i = 0; i < 400; i++)
		if (card_slot[i % CARD_SLOTS].running)
			end_one(i % CARD_SLOTS);
	assert_true(job[0].signalled && job[1].signalled && !job[0].cancelled);
}

/* A condensed packet of 31 kernels that each have a signal is cancelled: the request waits until there is room for all. */
static void cancel_packet(void **unused)
{
	static uint64_t sent[64];
	struct tutti_condensed_packet packet = { .type = TUTTI_PACKET_CONDENSED, .num_kernels = 31 };
	const uint32_t *w;
	struct queue *queue;
	unsigned i, words, n = 0;

	rig_load(4);
	rig_boot(4, ASID);
	rig_rsb(1, ASID, TUTTI_RSB_SCRATCH);
	queue = rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
	/* a kernel with a signal, in entry 0 */
	queue->rsb->valid = 1;
	queue->table[0] = (struct tutti_reference){ .groups = 1, .groups_x = 1, .groups_y = 1, .groups_z = 1, .waves = 1,
						    .workgroup_x = 32, .workgroup_y = 1, .workgroup_z = 1, .setup = 1,
						    .scalar_blocks = 1, .signal = SIGNAL_AT, .flags = TUTTI_REFERENCE_VALID };
	queue->block = condensed_block_find(queue);
	assert_int_equal(condensed_expand(queue, (union tutti_packet *)&packet, queue->block), 0);
	queue->block->busy = 1;
	queue->rsb->readers = 1;
	queue->record = queue->block->record;
	queue->run_packet = queue->head;
	queue->run_kernels = 31;
	queue->wait = WAIT_TASKS;
	rig_drain();
	hal_host_fill(COMMAND_ASK(40)); /* 31 signals of four words are more */
	ask(TUTTI_MSG_TASK_CANCEL, 99, 1, queue->head);
	assert_int_equal(queue->run_kernels, 31); /* not yet */
	rig_drain();
	channel_event();
	main_settle();
	while ((w = hal_host_command(&words)))
		if ((w[0] & 0xff) == TUTTI_CMD_SIGNAL && w[0] >> 16 & TUTTI_SIGNAL_CANCEL)
			sent[n++] = pair(w + 2);
	assert_int_equal(n, 31);
	for (i = 0; i < n; i++)
		assert_int_equal(sent[i], SIGNAL_AT);
	assert_int_equal(queue->run_kernels, 0);
}

/* All slots complete while the ring holds no more than what is owed to them: fence, signal, and then their progress. */
static void complete_all(void **unused)
{
	unsigned q, i, progress = 0, words;
	const uint32_t *w;

	begin(3, 32, 32, 1);
	for (i = 0; i < 32; i++) {
		struct job what = { .queue = i % QUEUES, .groups = 1, .plain = true };

		submit(&what);
	}
	for (q = 0; q < QUEUES; q++)
		queues[q].progress = 0x70000000ull + 64 * q;
	for (i = 0; i < 32; i++) {
		assert_int_equal(tasks[i].state, TASK_RUNNING);
		tasks[i].release = TUTTI_SCOPE_SYSTEM;
	}
	pump();
	hal_host_fill(COMMAND_OWED_TASKS);
	for (i = 0; i < 32; i++) {
		card_slot[i].running = 0;
		rig_event(TUTTI_EVENT_CTA | i << 8 | 1u << 24, 1, 1);
	}
	for (i = 0; i < 32; i++)
		assert_int_equal(tasks[i].state, TASK_FREE);
	for (i = 0; i < 8; i++) {
		while ((w = hal_host_command(&words))) {
			if ((w[0] & 0xff) == TUTTI_CMD_SIGNAL)
				job[(pair(w + 2) - SIGNAL_AT) / 64].signalled = true;
			if ((w[0] & 0xff) == TUTTI_CMD_WRITE && w[2] >= 0x70000000 && w[2] < 0x70001000 &&
			    pair(w + 4) == queues[(w[2] - 0x70000000) / 64].head)
				progress |= 1u << ((w[2] - 0x70000000) / 64);
		}
		main_settle();
	}
	for (i = 0; i < 32; i++)
		assert_true(job[i].signalled);
	assert_int_equal(progress, (1u << QUEUES) - 1);
}

/*
 * Tasks with metadata end together, as they would or because they are cancelled: what is written to each is more than is
 * owed, so most of them end later.
 */
static void end_with_metadata(bool cancelled)
{
	unsigned i, n = 0;

	begin(8, 32, 32, 1);
	for (i = 0; i < 16; i++) {
		struct job what = { .queue = 1 + i % 4, .priority = 1, .groups = 1 };

		submit(&what);
		n += card_slot[i].running;
	}
	assert_int_equal(n, 16);
	for (i = 0; cancelled && i < 16; i++)
		assert_int_equal(task_cancel(&queues[1 + i % 4], i / 4), 0);
	hal_host_fill(COMMAND_OWED_TASKS);
	for (i = 0; i < 16; i++) {
		card_slot[i].running = 0;
		rig_event(TUTTI_EVENT_CTA | i << 8 | 1u << 24, 1, 1);
	}
	assert_true(task_table.ending);
	go_on();
	assert_int_equal(task_table.ending, 0);
	for (i = 0; i < 16; i++) {
		assert_true(cancelled ? job[i].cancelled : job[i].signalled && !job[i].cancelled);
		assert_int_equal(tmd[i].completed, 1);
		assert_int_equal(!!(tmd[i].state & TUTTI_TMD_CANCELLED), cancelled);
	}
	for (i = 1; i <= 4; i++)
		assert_int_equal(queues[i].flight / QUEUE_ONE, 0);
}

static void complete_with_metadata(void **unused)
{
	end_with_metadata(false);
}

static void cancel_with_metadata(void **unused)
{
	end_with_metadata(true);
}

/* All records arrive together that each name a work queue. */
static void fetch_what_records_name(void **unused)
{
	unsigned i, fetches = 0, words;
	const uint32_t *w;

	begin(9, 32, 32, 1);
	for (i = 0; i < FW_TMDS; i++) {
		*tmd_at(i) = (struct tmd){ .stage = TMD_FETCHING, .queue = &queues[0], .answers = 1 };
		*(struct tutti_tmd *)memset(&tmd[i], 0, sizeof(tmd[i])) = (struct tutti_tmd){
			.magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .type = TUTTI_TASK_QUEUE, .queue = 0x71000000,
			.coalesce_min = 1, .coalesce_max = 1,
		};
		memcpy(tmd_at(i)->word, &tmd[i], sizeof(tmd_at(i)->word));
	}
	hal_host_fill(COMMAND_OWED_AGENTS);
	for (i = 0; i < FW_TMDS; i++)
		rig_event(TUTTI_EVENT_FETCH | (TAG_TMD | i) << 16, 0, 0);
	rig_drain();
	main_settle();
	while ((w = hal_host_command(&words)))
		fetches += (w[0] & 0xff) == TUTTI_CMD_FETCH && (w[0] >> 16 & TAG_KIND) == TAG_TMD;
	assert_int_equal(fetches, 2 * FW_TMDS);
}

/* The heartbeat, and each of a thousand kernels, look at twenty work queues. */
static void look_at_work_queues(void **unused)
{
	unsigned i, fetches = 0, words;
	const uint32_t *w;

	begin(4, 32, 32, 1);
	for (i = 0; i < FW_TMDS; i++) {
		struct tutti_tmd *t = (struct tutti_tmd *)tmd_at(i)->word;

		*tmd = (struct tutti_tmd){ 0 };
		*tmd_at(i) = (struct tmd){ .queue = &queues[0] };
		t->type = TUTTI_TASK_QUEUE;
		t->queue = 0x71000000;
		t->coalesce_max = 1;
		tmd_take_any(&queues[0], tmd_at(i), 0);
	}
	hal_host_fill(COMMAND_OWED_MODE + COMMAND_OWED_RETIRE);
	for (i = 0; i < 10; i++)
		work_poll_all(NULL);
	main_settle();
	rig_drain();
	main_settle();
	while ((w = hal_host_command(&words)))
		fetches += (w[0] & 0xff) == TUTTI_CMD_FETCH;
	assert_int_equal(fetches, 2 * FW_TMDS);
}

/* More waves ask than the ring has words for answers: each gets its own, the newest if it was killed and another asks. */
static void answer_waves(void **unused)
{
	static int answer[64][32];
	const struct job what = { .queue = 1, .groups = 1, .plain = true };
	unsigned i, words, sm, wave, n = 0;
	const uint32_t *w;

	begin(5, 32, 32, 1);
	submit(&what);
	memset(answer, 0, sizeof(answer));
	hal_host_fill(COMMAND_OWED);
	for (i = 0; i < 64 * 32 + 5; i++)
		rig_event(TUTTI_EVENT_REQUEST | (i % 3 ? TUTTI_SERVICE_QUEUE_NOTIFY : 99) << 16, i % 64 | i / 64 % 32 << 16, 0);
	for (i = 0; i < 100; i++) {
		while ((w = hal_host_command(&words)))
			if ((w[0] & 0xff) == TUTTI_CMD_REPLY) {
				sm = w[1] & 0xffff;
				wave = w[1] >> 16;
				assert_int_equal(answer[sm][wave], 0);
				answer[sm][wave] = (int)w[2];
				assert_int_equal(w[3], ~0u);
				n++;
			}
		main_settle();
	}
	assert_int_equal(n, 64 * 32);
	for (i = 5; i < 64 * 32; i++)
		assert_int_equal(answer[i % 64][i / 64], i % 3 ? -TUTTI_ENOENT : -TUTTI_ENOTSUP);
}

/* A fault of a queue's posts costs an interrupt: one does for all of them. */
static void tell_many_faults(void **unused)
{
	unsigned q, words, interrupts = 0;
	const uint32_t *w;

	begin(6, 32, 32, 1);
	host_reads();
	hal_host_fill(COMMAND_OWED_MARK + COMMAND_OWED_WRAP);
	for (q = 0; q < QUEUES; q++)
		rig_event(TUTTI_EVENT_POST_FAULT | TUTTI_CAUSE_UNMAPPED << 8 | q << 16, 0x20000000 + 64 * q, 0);
	for (q = 0; q < QUEUES; q++)
		assert_int_equal(queues[q].state, QUEUE_STOPPED);
	idle(); /* without room for the interrupt */
	while ((w = hal_host_command(&words))) {
		interrupts += (w[0] & 0xff) == TUTTI_CMD_INTERRUPT;
		if ((w[0] & 0xff) == TUTTI_CMD_FETCH) {
			rig_event(TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u), 0, 0);
			idle();
		}
	}
	assert_int_equal(interrupts, 1);
}

/* CGAs end and there is no room to flush their SMs: their ids stay theirs until there is. */
static void end_groups(void **unused)
{
	unsigned i, n = 0, words, ids = 0;
	const uint32_t *w;
	struct gpc *gpc;

	rig_boot(18, ASID);
	gpc = &domains.gpc[0];
	while (gpc->credits) {
		unsigned id = cga_ids_take(gpc, 0);

		cga_ids_started(gpc, id, 3, 1);
		ids++;
	}
	assert_true(ids >= 128);
	hal_host_fill(5);
	for (i = 0; i < ids; i++)
		cga_ids_ended(gpc, i, 1);
	main_settle();
	for (i = 0; i < 100; i++) {
		while ((w = hal_host_command(&words)))
			if ((w[0] & 0xff) == TUTTI_CMD_FLUSH) {
				struct tutti_event event = { { TUTTI_EVENT_FLUSHED, w[1], w[2] } };

				assert_int_equal(w[2], 3);
				cga_ids_event_flushed(&event);
				n++;
			}
		main_settle();
	}
	assert_int_equal(n, ids);
	assert_true(cga_ids_idle());
}

/* A reset hands the refused packet's slot back at once, not when there is room to run the queue; its request has asked. */
static void reset_queues(void **unused)
{
	unsigned q;

	begin(7, 32, 32, 1);
	for (q = 0; q < QUEUES; q++) {
		ring[q][0].word[0] = 0xffff0000u | TUTTI_PACKET_KERNEL_DISPATCH;
		ring[q][0].dispatch.setup = 9;
		rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
		pump();
		assert_int_equal(queues[q].state, QUEUE_STOPPED);
	}
	host_reads();
	hal_host_fill(COMMAND_OWED);
	for (q = 0; q < QUEUES; q++)
		ask(TUTTI_MSG_QUEUE_RESET, 50 + q, q, 0);
	for (q = 0; q < QUEUES; q++)
		assert_int_equal(queues[q].state, QUEUE_STOPPED); /* the host has not asked yet */
	go_on();
	for (q = 0; q < QUEUES; q++) {
		assert_int_equal(queues[q].state, QUEUE_RUNNING);
		assert_int_equal(queues[q].head, 1);
		assert_int_equal(ring[q][0].dispatch.header & TUTTI_HEADER_TYPE, TUTTI_PACKET_INVALID);
		assert_int_equal(replies(50 + q), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("REL-11 SYS-09", destroy_with_waiting_tasks),
		RIG_TEST("REL-11 SYS-09 TSK-12", cancel_waiting_tasks),
		RIG_TEST("REL-11 SYS-09 TSK-12", cancel_packet),
		RIG_TEST("REL-11 SYS-09", complete_all),
		RIG_TEST("REL-11 SYS-09 TSK-01", complete_with_metadata),
		RIG_TEST("REL-11 SYS-09 TSK-01 TSK-12", cancel_with_metadata),
		RIG_TEST("REL-11 SYS-09 TSK-01", fetch_what_records_name),
		RIG_TEST("REL-11 SYS-09 TSK-10", look_at_work_queues),
		RIG_TEST("REL-11 SYS-09 TSK-11", answer_waves),
		RIG_TEST("REL-11 SYS-09", tell_many_faults),
		RIG_TEST("REL-11 SYS-09 CGA-17", end_groups),
		RIG_TEST("REL-11 SYS-09", reset_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

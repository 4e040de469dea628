/* SPDX-License-Identifier: MIT */
/*
 * Tasks that fail, are killed or cancelled: what the host is told, which commands end them, and what their metadata say
 * (PKT-06, TSK-12).
 */
#include "fw_direct.h"

#include "groups/cga_ids.h"
#include "tasks/metadata.h"
#include "queues/queue_life.h"
#include "tasks/task_table.h"
#include "tutti/fault.h"

#define PC 0x123456789abcull
#define ADDRESS 0xfedcba987654ull
#define SM 77u
#define WAVE 21u

static const struct tutti_discovery *card(void)
{
	return (const void *)hal_host.window;
}

static uint32_t told(void)
{
	return ((const struct tutti_status *)(const void *)(hal_host.window + card()->status.offset))->card_ring_tail;
}

/* The newest message to the host that tells a fault. */
static struct tutti_fault reported(void)
{
	const struct tutti_message *ring = (const void *)(hal_host.window + card()->card_ring.offset), *message;
	uint32_t at = told();

	do {
		assert_true(at);
		message = &ring[--at % (card()->card_ring.bytes / sizeof(*ring))];
	} while (message->type != TUTTI_MSG_QUEUE_ERROR);
	return message->fault;
}

static void expect_fault(const struct tutti_fault *want)
{
	struct tutti_fault got = reported();

	assert_memory_equal(&got, want, sizeof(got));
}

/* A kernel of @groups CTAs in queue 3 as its packet 1, in slot 2. */
static void run_one(unsigned groups)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	start(8, 0);
	for (unsigned q = 2; q < 4; q++)
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED);
	submit(2, &p);
	submit(3, &p);
	p = kernel_packet(0, groups);
	p.signal = SIGNAL_AT;
	submit(3, &p);
	assert_int_equal(slot_of(3, 1), 2);
}

static void wave_fails(unsigned slot, unsigned cause, unsigned engine)
{
	struct tutti_event event = { { TUTTI_EVENT_FAULT | slot << 8 | cause << 16 | TUTTI_ACCESS_WRITE << 24,
				       SM | WAVE << 16, (uint32_t)PC, (uint32_t)(PC >> 32), (uint32_t)ADDRESS,
				       (uint32_t)(ADDRESS >> 32), engine } };

	hal_host_event(&event);
	take();
}

static struct tutti_fault of_wave(unsigned code, unsigned cause, unsigned engine)
{
	return (struct tutti_fault){ .code = (uint16_t)code, .engine = (uint8_t)engine, .access = TUTTI_ACCESS_WRITE,
				     .cause = (uint16_t)cause, .queue = 3, .packet = 1, .context = ASID, .sm = SM, .wave = WAVE,
				     .pc = PC, .address = ADDRESS };
}

/* What each cause is reported as. Those that no wave finds itself are left out. */
static unsigned code_of(unsigned cause)
{
	static const uint8_t memory[] = { TUTTI_CAUSE_UNMAPPED, TUTTI_CAUSE_PROTECTION, TUTTI_CAUSE_ALIGNMENT, TUTTI_CAUSE_BUS,
					  TUTTI_CAUSE_STACK };

	if (memchr(memory, (int)cause, sizeof(memory)))
		return TUTTI_ERROR_MEMORY_FAULT;
	if (cause == TUTTI_CAUSE_CGA_RANK || cause == TUTTI_CAUSE_CGA_OFFSET)
		return TUTTI_ERROR_CGA;
	return cause >= TUTTI_CAUSE_TENSOR		? TUTTI_ERROR_TENSOR
	       : cause == TUTTI_CAUSE_ECC		? TUTTI_ERROR_MEMORY
	       : cause == TUTTI_CAUSE_WATCHDOG		? TUTTI_ERROR_TIMEOUT
							: TUTTI_ERROR_KERNEL_TRAP;
}

/* The host is told everything that the wave's SM has found; the queue stops, its signal stays as it is. */
static void every_cause(void **unused)
{
	for (unsigned cause = 1; cause < 256; cause += cause < 70 ? 1 : 37) {
		struct tutti_fault want;
		unsigned engine = cause % 2 ? TUTTI_ENGINE_MOVER : 0;

		if (cause == TUTTI_CAUSE_CGA_EXITED || cause == TUTTI_CAUSE_CGA_SEGMENT)
			continue;
		run_one(2);
		wave_fails(2, cause, engine);
		want = of_wave(code_of(cause), cause, engine ? engine : TUTTI_ENGINE_WAVE);
		expect_fault(&want);
		assert_int_equal(queue_at(3)->state, QUEUE_STOPPED);
		assert_int_equal(queue_at(3)->error, want.code);
		assert_int_equal(queue_at(2)->state, QUEUE_RUNNING);
		assert_int_equal(signal_count, 0);
		assert_int_equal(tasks[2].state, TASK_FREE);
		assert_int_equal(counters.queue_errors, 1);
	}
}

/* Its waves may all fail: one KILL, and the first failure is the one that is told, when the last CTA is gone. */
static void first_of_many(void **unused)
{
	struct tutti_fault want = of_wave(TUTTI_ERROR_MEMORY_FAULT, TUTTI_CAUSE_STACK, TUTTI_ENGINE_WAVE);
	uint32_t before, tail;

	run_one(3);
	slow_kills = true;
	before = told();
	tail = command_tail();
	wave_fails(2, TUTTI_CAUSE_STACK, 0);
	assert_int_equal(command_tail(), tail + COMMAND_KILL_WORDS);
	assert_int_equal(queue_at(3)->state, QUEUE_STOPPED); /* at once, so that nothing behind it starts */
	assert_true(task_failed(queue_at(3), 1));
	assert_false(task_failed(queue_at(3), 0) || task_failed(queue_at(2), 1));
	wave_fails(2, TUTTI_CAUSE_ILLEGAL, TUTTI_ENGINE_POST);
	assert_int_equal(command_tail(), tail + COMMAND_KILL_WORDS);
	assert_int_equal(told(), before);
	killed(2);
	take();
	expect_fault(&want);
	assert_int_equal(told(), before + 1);
	killed(2); /* it is nobody's any more */
	take();
	assert_int_equal(told(), before + 1);
	assert_false(task_failed(queue_at(3), 1));
}

/* A kernel that hangs: the card says where a wave of it was, if there was one; of other failures that is known already. */
static void where_it_was(void **unused)
{
	for (unsigned timeout = 0; timeout < 2; timeout++)
		for (unsigned known = 0; known < 2; known++) {
			unsigned cause = timeout ? TUTTI_CAUSE_WATCHDOG : TUTTI_CAUSE_BREAK;
			struct tutti_fault want = of_wave(code_of(cause), cause, TUTTI_ENGINE_WAVE);

			run_one(1);
			slow_kills = true;
			wave_fails(2, want.cause, 0);
			hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_KILLED | 2 << 8, known ? 5 | 6 << 16 : ~0u,
								0x11112222, 0x3333 } });
			take();
			if (timeout && known) {
				want.sm = 5;
				want.wave = 6;
				want.pc = 0x333311112222;
			}
			expect_fault(&want);
		}
}

/* A task that has not failed is not ended by the word that it was killed. */
static void not_killed(void **unused)
{
	run_one(2);
	killed(2);
	take();
	assert_int_equal(running[2].ctas, 2);
	assert_int_equal(tasks[2].state, TASK_RUNNING);
	assert_int_equal(queue_at(3)->state, QUEUE_RUNNING);
	end_all(2);
	assert_int_equal(signal_count, 1);
}

/* Metadata of a task that fails say which CTAs have completed before, and why the others have not. */
static void metadata_of_a_failure(void **unused)
{
	for (unsigned ended = 0; ended < 3; ended++) {
		struct tutti_dispatch_packet p = kernel_packet(0, 5);

		start(8, 0);
		rig_queue(3, ASID, TUTTI_QUEUE_EXTENDED);
		tmd[0] = child(0);
		p.tmd = TMD_AT;
		submit(3, &p);
		assert_int_equal(running[0].ctas, 5);
		for (unsigned i = 0; i < ended; i++)
			end_first(0);
		wave_fails(0, TUTTI_CAUSE_ILLEGAL, 0);
		assert_int_equal(tmd[0].state, TUTTI_TMD_FINISHED);
		assert_int_equal(tmd[0].error, TUTTI_ERROR_KERNEL_TRAP);
		assert_int_equal(tmd[0].issued, 5);
		assert_int_equal(tmd[0].completed, ended);
		assert_int_equal(tmd_free_count, FW_TMDS);
	}
}

/* What has ended, or was cancelled or killed already, cannot be cancelled. */
static void too_late_to_cancel(void **unused)
{
	run_one(2);
	end_all(2);
	assert_int_equal(signal_count, 1);
	assert_int_equal(task_cancel(queue_at(3), 1), -TUTTI_ENOENT);
	run_one(2);
	assert_int_equal(task_cancel(queue_at(3), 1), 0);
	assert_int_equal(task_cancel(queue_at(3), 1), -TUTTI_ENOENT);
	end_all(2);
	assert_int_equal(signal_count, 1);
	assert_true(signals[0].cancelled);
	run_one(2);
	slow_kills = true;
	wave_fails(2, TUTTI_CAUSE_ILLEGAL, 0);
	assert_int_equal(task_cancel(queue_at(3), 1), -TUTTI_ENOENT);
	killed(2);
	take();
	assert_int_equal(signal_count, 0);
	assert_int_equal(reported().code, TUTTI_ERROR_KERNEL_TRAP);
}

/* A cancelled task fails before its last CTA has ended: then it has failed. */
static void cancelled_fails(void **unused)
{
	run_one(2);
	assert_int_equal(task_cancel(queue_at(3), 1), 0);
	wave_fails(2, TUTTI_CAUSE_ILLEGAL, 0);
	assert_int_equal(reported().code, TUTTI_ERROR_KERNEL_TRAP);
	assert_int_equal(queue_at(3)->state, QUEUE_STOPPED);
	assert_int_equal(signal_count, 0);
}

/* A queue is destroyed while a kernel of it and its child run: both are killed, without a report, and then all is free. */
static void destroyed_with_a_child(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	unsigned parent, slot;

	start(8, 0);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	submit(0, &p);
	parent = (unsigned)slot_of(0, 0);
	tmd[0] = child(1);
	tmd[0].signal = SIGNAL_AT;
	ask_for_child(parent, TMD_AT);
	take();
	assert_int_equal(tmd_free_count, FW_TMDS - 1);
	slow_kills = true;
	assert_int_equal(queue_destroy(0, 5), 0);
	take();
	assert_int_equal(queue_at(0)->state, QUEUE_DYING);
	assert_int_equal(tmd_free_count, FW_TMDS - 1);
	for (slot = 0; slot < SLOTS; slot++)
		if (tasks[slot].state != TASK_FREE) {
			assert_int_equal(tasks[slot].state, TASK_KILLED);
			killed(slot);
			assert_int_not_equal(queue_at(0)->state, QUEUE_STOPPED);
		}
	take();
	assert_int_equal(tmd_free_count, FW_TMDS);
	assert_int_equal(queue_at(0)->state, QUEUE_NONE);
	assert_int_equal(signal_count, 0);
	assert_int_equal(counters.queue_errors, 0);
}

/* Carry out commands up to the next fetch of metadata, which is written to @fetch. */
static void up_to_metadata(uint32_t *fetch)
{
	const uint32_t *w;
	unsigned words;

	for (;;) {
		command_publish();
		w = hal_host_command(&words);
		assert_non_null(w);
		memcpy(fetch, w, words * 4);
		if ((fetch[0] & 0xff) == TUTTI_CMD_FETCH && (fetch[0] >> 16 & TAG_KIND) == TAG_TMD)
			return;
		take_one(fetch, words);
	}
}

/* A queue is destroyed while metadata of a child of it, and those of another queue, are on their way: the latter go on. */
static void destroyed_beside_others(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	uint32_t of_child[COMMAND_RECORD], of_other[COMMAND_RECORD];

	start(8, 0);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED);
	submit(0, &p);
	tmd[0] = tmd[1] = child(0);
	ask_for_child((unsigned)slot_of(0, 0), TMD_AT);
	up_to_metadata(of_child);
	p.tmd = TMD_AT + sizeof(tmd[0]);
	write_packet(1, &p);
	rig_event(TUTTI_EVENT_DOORBELL, 1u << 1, 0);
	up_to_metadata(of_other);
	assert_int_equal(queue_destroy(0, 5), 0);
	take();
	assert_int_equal(tmd_free_count, FW_TMDS - 2);
	take_one(of_other, COMMAND_FETCH_WORDS);
	take();
	assert_int_equal(running[slot_of(1, 0)].ctas, 1);
	take_one(of_child, COMMAND_FETCH_WORDS);
	take();
	assert_int_equal(tmd_free_count, FW_TMDS - 1);
	assert_int_equal(started[0], 1); /* the child has not */
	end_all((unsigned)slot_of(1, 0));
	assert_int_equal(tmd_free_count, FW_TMDS);
	assert_int_equal(tmd[1].state, TUTTI_TMD_FINISHED);
	assert_int_equal(queue_at(0)->state, QUEUE_NONE);
}

/* ---- kernels of one packet that overlap ---- */

/* Two kernels, of which the last has the packet's signal, run side by side. */
static void two_of_a_packet(void)
{
	union tutti_packet two = condensed(2);
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	start(8, 0);
	rig_rsb(1, ASID, TUTTI_RSB_SCRATCH);
	rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB | TUTTI_QUEUE_OVERLAP);
	p.signal = SIGNAL_AT;
	store(1, 0, p);
	submit(1, &two);
	assert_int_equal(running[0].ctas + running[1].ctas, 2);
	signal_count = 0;
}

static unsigned of_signals(bool cancelled)
{
	unsigned n = 0;

	for (unsigned i = 0; i < signal_count; i++)
		n += signals[i].cancelled == cancelled;
	return n;
}

/* One fails: the other may still signal its own end, but the packet's signal is not sent. */
static void one_of_a_packet_fails(void **unused)
{
	unsigned all, slot;

	two_of_a_packet();
	end_all(0);
	end_all(1);
	all = of_signals(false);
	for (slot = 0; slot < 2; slot++) {
		two_of_a_packet();
		wave_fails(slot, TUTTI_CAUSE_ILLEGAL, 0);
		assert_int_equal(reported().kernel, tasks[slot].kernel);
		assert_int_equal(reported().packet, 1);
		end_all(!slot);
		assert_true(of_signals(false) < all);
		assert_int_equal(of_signals(true), 0);
		assert_int_equal(queue_at(1)->flight, 0);
	}
}

/* It is cancelled: all its signals are sent as cancelled, when its last kernel has ended, and the queue goes on. */
static void packet_is_cancelled(void **unused)
{
	unsigned all;

	two_of_a_packet();
	end_all(0);
	end_all(1);
	all = signal_count;
	two_of_a_packet();
	assert_int_equal(task_cancel(queue_at(1), 2), -TUTTI_ENOENT);
	assert_int_equal(task_cancel(queue_at(2), 1), -TUTTI_ENOENT);
	assert_int_equal(task_cancel(queue_at(1), 1), 0);
	take();
	assert_int_equal(signal_count, 0);
	end_all(0);
	end_all(1);
	assert_int_equal(of_signals(true), all);
	assert_int_equal(of_signals(false), 0);
	assert_int_equal(queue_at(1)->state, QUEUE_RUNNING);
	assert_int_equal(queue_at(1)->flight, 0);
	assert_int_equal(counters.queue_errors, 0);
}

/* ---- CGAs ---- */

static unsigned id_of(unsigned slot)
{
	unsigned id = 0;

	while (cga_ids_task(0, id) != (int)slot)
		assert_true(id++ < 256);
	return id;
}

/*
 * The SM of a CTA that was accessed finds that it has exited, or that its memory is smaller: the task of the CGA fails,
 * whichever slot it has. What is said of a CGA that has ended is ignored (CGA-27).
 */
static void access_to_another(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1), pair = kernel_packet(1, 2);

	for (unsigned slot = 0; slot < 3; slot++) {
		unsigned id;
		uint32_t before;

		start(8, 0);
		for (unsigned q = 2; q < 4; q++)
			rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED);
		for (unsigned i = 0; i < slot; i++)
			submit(2, &p);
		tmd[0] = child(1);
		tmd[0].cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_GPC };
		pair.tmd = TMD_AT;
		submit(3, &pair);
		id = id_of(slot);
		before = told();
		rig_event(TUTTI_EVENT_CGA_FAULT | 0 << 8 | (id + 1) << 16 | TUTTI_CAUSE_CGA_EXITED << 24, 6, 0x301);
		take();
		assert_int_equal(told(), before);
		rig_event(TUTTI_EVENT_CGA_FAULT | 0 << 8 | id << 16 | TUTTI_CAUSE_CGA_SEGMENT << 24, 6, 0x301);
		take();
		expect_fault(&(struct tutti_fault){ .code = TUTTI_ERROR_CGA, .engine = TUTTI_ENGINE_WAVE,
						    .cause = TUTTI_CAUSE_CGA_SEGMENT, .queue = 3, .context = ASID, .sm = 6,
						    .address = 0x301 });
		assert_int_equal(queue_at(2)->state, QUEUE_RUNNING);
	}
}

/* An SM is switched off while a CGA that needs it waits. When nothing else runs it can never start: its kernel has failed. */
static void group_without_sms(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 64), two = kernel_packet(1, 2);

	start(2, 0);
	rig_queue(2, ASID, TUTTI_QUEUE_EXTENDED);
	rig_queue(3, ASID, TUTTI_QUEUE_EXTENDED);
	submit(2, &p);
	assert_int_equal(running[slot_of(2, 0)].ctas, 64);
	tmd[0] = child(1);
	tmd[0].cga_mode = TUTTI_CGA_MULTICAST;
	tmd[0].cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_GPC };
	two.tmd = TMD_AT;
	submit(3, &two);
	assert_int_equal(slot_of(3, 0), -1);
	rig_command = take_one;
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 1, 1, 0), 0);
	rig_command = NULL;
	end_all((unsigned)slot_of(2, 0));
	expect_fault(&(struct tutti_fault){ .code = TUTTI_ERROR_GRID, .queue = 3, .context = ASID, .sm = 0xffff,
					    .wave = 0xffff });
	assert_int_equal(tmd[0].error, TUTTI_ERROR_GRID);
	assert_int_equal(tmd[0].issued, 0);
	assert_int_equal(queue_at(2)->state, QUEUE_RUNNING);
}

/*
 * A kernel with CGAs of its own can be neither a sequence task, which runs one CTA at a time, nor a queue task, which has no
 * grid: the metadata are refused as if they asked for the CGAs.
 */
static void groups_of_the_kernel(void **unused)
{
	struct tutti_dispatch_packet p;
	unsigned parent;

	(void)unused;
	for (unsigned queue = 0; queue < 2; queue++) {
		run_one(1);
		descriptor[1].cga[0] = 2;
		descriptor[1].cga[1] = descriptor[1].cga[2] = 1;
		descriptor[1].cga_kind = TUTTI_CGA_GPC;
		tmd[0] = child(1);
		tmd[0].grid[0] = 128;
		if (queue) {
			*(struct tutti_work_queue *)(void *)&tmd[1] =
				(struct tutti_work_queue){ .base = TMD_AT, .items = 64, .item_bytes = 16, .write_index = 3 };
			tmd[0].type = TUTTI_TASK_QUEUE;
			tmd[0].queue = TMD_AT + sizeof(tmd[0]);
			tmd[0].coalesce_min = tmd[0].coalesce_max = 1;
		} else {
			tmd[0].flags = TUTTI_TMD_SEQUENCE;
		}
		parent = (unsigned)slot_of(3, 1);
		ask_for_child(parent, TMD_AT);
		take();
		assert_int_equal(replies, 1);
		assert_int_equal(reply_value, -TUTTI_EINVAL);
		p = kernel_packet(1, 4);
		p.tmd = TMD_AT;
		submit(2, &p);
		expect_fault(&(struct tutti_fault){ .code = TUTTI_ERROR_TMD, .engine = TUTTI_ENGINE_FIRMWARE, .queue = 2, .packet = 1,
						    .context = ASID, .sm = 0xffff,
						    .field = offsetof(struct tutti_dispatch_packet, tmd),
						    .address = TMD_AT + offsetof(struct tutti_tmd, flags) });
		assert_int_equal(tmd_free_count, FW_TMDS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-06 SYS-52", every_cause),
		RIG_TEST("PKT-06", first_of_many),
		RIG_TEST("PKT-06 SYS-52", where_it_was),
		RIG_TEST("PKT-06", not_killed),
		RIG_TEST("PKT-06 TSK-01", metadata_of_a_failure),
		RIG_TEST("TSK-12", too_late_to_cancel),
		RIG_TEST("TSK-12 PKT-06", cancelled_fails),
		RIG_TEST("SYS-08 TSK-11", destroyed_with_a_child),
		RIG_TEST("SYS-08 TSK-11", destroyed_beside_others),
		RIG_TEST("PKT-06 PKT-16", one_of_a_packet_fails),
		RIG_TEST("TSK-12 PKT-16", packet_is_cancelled),
		RIG_TEST("CGA-27", access_to_another),
		RIG_TEST("CGA-05 PKT-06", group_without_sms),
		RIG_TEST("CGA-02 TSK-08 TSK-10", groups_of_the_kernel),
	};

	return cmocka_run_group_tests_name("firmware: tasks that fail", tests, NULL, NULL);
}

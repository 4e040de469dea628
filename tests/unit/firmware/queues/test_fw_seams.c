/* SPDX-License-Identifier: MIT */
/* Directed tests of places where two features meet; tests/combine has found most of them. */
#include "fw_direct.h"

#include "core/wait.h"
#include "place/kernel_cache.h"
#include "tasks/pending_tasks.h"
#include "queues/queue_life.h"

/* A child that ends is no kernel of the condensed packet: the next kernel waits for the one before, and for children. */
static void child_of_condensed(void **unused)
{
	union tutti_packet p = condensed(2);
	int parent;

	(void)unused;
	for (unsigned child_first = 0; child_first < 2; child_first++) {
		start(2, 0);
		rig_rsb(0, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
		store(0, 0, kernel_packet(0, 1));
		submit(0, &p);
		parent = slot_of(0, 1);
		assert_true(parent >= 0);
		tmd[0] = child(1);
		ask_for_child((unsigned)parent, TMD_AT);
		take();
		assert_int_equal(replies, 1);
		assert_int_equal(reply_value, 0);
		assert_int_equal(started[0], 2);
		/* whichever ends first, the second kernel comes after both */
		end_all(child_first ? !parent : (unsigned)parent);
		assert_int_equal(started[0], 2);
		end_all(child_first ? (unsigned)parent : !parent);
		assert_int_equal(started[0], 3);
		end_all((unsigned)slot_of(0, 1));
		assert_int_equal(queue_at(0)->flight, 0);
		submit(0, &p);
		assert_int_equal(started[0], 4);
	}
}

/* After every change of a single place the card has the order that the firmware has. */
static void order_of_one(void **unused)
{
	unsigned i, sm, position, round;

	(void)unused;
	seed(9);
	for (unsigned sms = 1; sms <= 9; sms += 4) {
		start(sms, 0);
		for (round = 0; round < 200; round++) {
			struct tutti_message m = { .type = TUTTI_MSG_POLICY };

			position = roll(sms);
			sm = roll(sms);
			m.arg[0] = TUTTI_POLICY_SM_ORDER;
			m.arg[1] = position << 16 | sm;
			rig_command = take_one;
			assert_int_equal(rig_message(&m), 0);
			rig_command = NULL;
			for (i = 0; i < sms; i++) {
				m = (struct tutti_message){ .type = TUTTI_MSG_POLICY };
				m.arg[0] = TUTTI_POLICY_SM_ORDER;
				m.arg[1] = i;
				m.arg[2] = 1;
				assert_int_equal(rig_message(&m), 0);
				assert_int_equal(card_order[i], m.value);
			}
			assert_int_equal(card_order[position], sm);
		}
	}
}

/* Keep the ring full of launches of one kernel. */
static void fill(unsigned q, unsigned kernel)
{
	struct tutti_dispatch_packet p = kernel_packet(kernel, 1);

	while (written[q] - queue_at(q)->retired < RING)
		write_packet(q, &p);
	rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
}

/* Five queues whose kernels share an entry of the cache, and never end to launch: all of them get on. */
static void one_entry_for_all(void **unused)
{
	unsigned q, s, round, all = 0;

	(void)unused;
	start(4, 4);
	slow_kernels = true;
	for (q = 0; q < QUEUES; q++)
		rig_queue(q, ASID, 0);
	for (round = 0; round < 20000; round++) {
		for (q = 0; q < QUEUES; q++)
			fill(q, 16 * q);
		take();
		if (kernel_answers)
			hal_host_event(&kernel_answer[--kernel_answers]);
		take();
		for (s = 0; s < SLOTS; s++)
			end_all(s);
	}
	for (q = 0; q < QUEUES; q++)
		all += started[q];
	for (q = 0; q < QUEUES; q++)
		assert_in_range(started[q], all / QUEUES / 2, 2 * all / QUEUES);
}

/* Two processes that run the same program have its kernels at the same addresses, and in different entries. */
static void same_program_twice(void **unused)
{
	(void)unused;
	start(4, 0);
	rig_queue(0, ASID, 0);
	rig_queue(1, ASID + 1, 0);
	for (unsigned round = 0; round < 10; round++)
		for (unsigned q = 0; q < 2; q++) {
			struct tutti_dispatch_packet p = kernel_packet(3, 1);

			submit(q, &p);
			for (unsigned s = 0; s < SLOTS; s++)
				end_all(s);
		}
	assert_int_equal(started[0] + started[1], 20);
	assert_int_equal(counters.kernel_misses, 2);
}

/* A queue that is stopped does not come for the descriptor it has asked for. Others get the entry nevertheless. */
static void nobody_comes_for_it(void **unused)
{
	struct tutti_fault fault = { .code = TUTTI_ERROR_PACKET };
	struct tutti_dispatch_packet p = kernel_packet(0, 1), other = kernel_packet(16, 1);

	(void)unused;
	start(4, 0);
	slow_kernels = true;
	rig_queue(0, ASID, 0);
	rig_queue(1, ASID, 0);
	submit(0, &p);
	submit(1, &other);
	assert_int_equal(kernel_answers, 1);
	queue_stop(queue_at(0), &fault);
	hal_host_event(&kernel_answer[--kernel_answers]);
	take();
	assert_int_equal(kernel_answers, 1);
	hal_host_event(&kernel_answer[--kernel_answers]);
	take();
	assert_int_equal(started[1], 1);
}

/* A queue that was suspended uses its descriptor later: it is no longer kept for the queue, but still there. */
static void used_late(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	(void)unused;
	start(4, 0);
	slow_kernels = true;
	rig_queue(0, ASID, 0);
	submit(0, &p);
	queue_suspend();
	hal_host_event(&kernel_answer[--kernel_answers]);
	queue_resume();
	main_settle();
	take();
	assert_int_equal(started[0], 1);
	assert_int_equal(kernel_answers, 0);
}

/* Queues that are ready run in turn: the scan goes on behind the one that ran last. */
static void ready_in_turn(void **unused)
{
	static const uint8_t wanted[] = { 2, 3, 4, 0, 1, 2 };

	(void)unused;
	start(1, 0);
	for (unsigned q = 0; q < QUEUES; q++) {
		rig_queue(q, ASID, 0);
		ring_doorbell(q);
	}
	packet_fetches = 0;
	wait_ready(queue_at(2));
	main_settle();
	take();
	for (unsigned q = 0; q < QUEUES; q++)
		wait_ready(queue_at(q));
	main_settle();
	take();
	assert_int_equal(packet_fetches, 6);
	assert_memory_equal(packets_fetched, wanted, 6);
}

/* Return: a condensed packet with this grid is taken. The metadata and the kernel name different CGAs. */
static bool grid_taken(unsigned cga_tmd, unsigned cga_kernel, unsigned groups, bool several)
{
	struct tutti_dispatch_packet reference = kernel_packet(0, 8);
	union tutti_packet p = condensed(1);
	unsigned at = 0;

	start(20, 0);
	rig_rsb(0, ASID, TUTTI_RSB_SCRATCH);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
	if (cga_kernel) {
		descriptor[0].cga_kind = TUTTI_CGA_GPC;
		descriptor[0].cga[0] = (uint8_t)cga_kernel;
		descriptor[0].cga[1] = descriptor[0].cga[2] = 1;
	}
	if (cga_tmd) {
		tmd[0] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION };
		tmd[0].cga[0] = (struct tutti_cga_shape){ (uint8_t)cga_tmd, 1, 1, TUTTI_CGA_GPC };
		reference.tmd = TMD_AT;
	}
	reference.ref_num = TUTTI_REF_STORE;
	submit(0, &reference);
	assert_int_equal(started[0], 1);
	assert_int_equal(queue_at(0)->state, QUEUE_RUNNING);
	p.condensed.unit[at++] = (uint16_t)((TUTTI_DIFF_GRID_X | (several ? TUTTI_DIFF_WORKGROUP_X : 0))
					    << TUTTI_DIFF_VECTOR_SHIFT);
	if (several)
		p.condensed.unit[at++] = 64;
	p.condensed.unit[at++] = (uint16_t)((several ? 64 : 32) * groups);
	submit(0, &p);
	return queue_at(0)->state == QUEUE_RUNNING && !queue_at(0)->error;
}

/* The CGAs of the metadata count, whatever the kernel's descriptor says. */
static void whose_cgas(void **unused)
{
	(void)unused;
	for (unsigned several = 0; several < 2; several++) {
		assert_true(grid_taken(2, 4, 6, several));
		assert_true(grid_taken(2, 4, 8, several));
		assert_false(grid_taken(4, 2, 6, several));
		assert_true(grid_taken(4, 2, 12, several));
		assert_true(grid_taken(0, 4, 12, several));
		assert_false(grid_taken(0, 4, 6, several));
		assert_false(grid_taken(4, 0, 6, several));
	}
}

/* A wave that asks for a child gets an answer even if another packet stops the queue meanwhile. */
static void child_of_stopped(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1), bad = kernel_packet(0, 1);

	(void)unused;
	start(2, 0);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	submit(0, &p);
	tmd[0] = child(1);
	ask_for_child((unsigned)slot_of(0, 0), TMD_AT);
	command_publish();
	bad.workgroup_x = 0;
	write_packet(0, &bad);
	rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
	/* the fetch of the packet is answered before that of the metadata, which was sent first */
	assert_int_equal(queue_at(0)->fetching != 0, 1);
	rig_event(TUTTI_EVENT_FETCH | TUTTI_CAUSE_UNMAPPED << 8 | TAG_PACKETS << 16, 0, 0);
	assert_int_equal(queue_at(0)->state, QUEUE_STOPPED);
	take();
	assert_int_equal(replies, 1);
	assert_int_equal(reply_value, -TUTTI_EBUSY);
	end_all((unsigned)slot_of(0, 0));
}

/* A ring that cannot be read: the fault says what was read, where, and why. */
static void unreadable_ring(void **unused)
{
	static const struct { uint8_t cause, code; } faults[] = {
		{ TUTTI_CAUSE_UNMAPPED, TUTTI_ERROR_RING_FAULT }, { TUTTI_CAUSE_ECC, TUTTI_ERROR_MEMORY },
	};
	const struct tutti_discovery *d = (const void *)hal_host.window;
	const struct tutti_message *to_host = (const void *)(hal_host.window + d->card_ring.offset), *m;
	const struct tutti_status *status = (const void *)(hal_host.window + d->status.offset);

	(void)unused;
	for (unsigned i = 0; i < 2; i++) {
		start(2, 0);
		rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
		rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
		assert_int_equal(queue_at(0)->fetching != 0, 1);
		rig_event(TUTTI_EVENT_FETCH | (uint32_t)faults[i].cause << 8 | TAG_PACKETS << 16, 0x89abcdc0, 0x1234);
		assert_int_equal(queue_at(0)->state, QUEUE_STOPPED);
		m = &to_host[(status->card_ring_tail - 1) % (d->card_ring.bytes / 64)];
		assert_int_equal(m->type, TUTTI_MSG_QUEUE_ERROR);
		assert_int_equal(m->fault.code, faults[i].code);
		assert_int_equal(m->fault.cause, faults[i].cause);
		assert_int_equal(m->fault.engine, TUTTI_ENGINE_FETCH);
		assert_int_equal(m->fault.access, TUTTI_ACCESS_READ);
		assert_int_equal(m->fault.queue, 0);
		assert_int_equal(m->fault.context, ASID);
		assert_int_equal(m->fault.packet, 0);
		assert_int_equal(m->fault.address, 0x123489abcdc0ull);
	}
}

/* What is launched from a reference is as independent as its kernel was (RES-07), even if it waits for a task slot. */
static void independent_reference(void **unused)
{
	(void)unused;
	for (unsigned form = 0; form < 24; form++) {
		bool independent = form % 6 < 3, waits = form >= 12;
		union tutti_packet p = condensed(1);
		struct tutti_dispatch_packet reference = kernel_packet(0, 1), other = kernel_packet(2, 1);
		int slot;

		start(1, waits);
		rig_rsb(0, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
		rig_queue(1, ASID, 0);
		descriptor[1].flags = TUTTI_KERNEL_INDEPENDENT; /* another kernel has the flag in any case */
		descriptor[0].flags = independent ? TUTTI_KERNEL_INDEPENDENT : 0;
		reference.grid_x = 32 * 1000;
		if (form % 12 >= 6) {
			tmd[0] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION };
			reference.tmd = TMD_AT;
		}
		store(0, 0, kernel_packet(1, 1));
		store(0, 0, reference);
		while ((slot = slot_of(0, 1)) >= 0)
			end_all((unsigned)slot);
		descriptor[0].flags = independent ? 0 : TUTTI_KERNEL_INDEPENDENT;
		kernel_invalidate(ASID, 0, 0);
		if (form % 3 == 1) {
			p.condensed.unit[0] = TUTTI_DIFF_KERNARG << TUTTI_DIFF_VECTOR_SHIFT;
			p.condensed.unit[1] = 64;
		} else if (form % 3 == 2) { /* a patched copy of the reference, although it holds the same */
			p.condensed.unit[0] = TUTTI_DIFF_SCOPES << TUTTI_DIFF_VECTOR_SHIFT;
		}
		submit(1, &other);
		submit(0, &p);
		assert_int_equal(queue_at(0)->state, QUEUE_RUNNING);
		assert_int_equal(started[0], !waits);
		end_all((unsigned)slot_of(1, 0));
		slot = slot_of(0, 2);
		assert_true(slot >= 0);
		assert_true(tasks[slot].unissued > 0);
		assert_int_equal(!!(tasks[slot].kept->kernel_flags & TUTTI_KERNEL_INDEPENDENT), independent);
	}
}

/* A child that finds no task slot free: refused while only its parent runs, accepted when a task will end by itself. */
static void child_without_slot(void **unused)
{
	for (unsigned other = 0; other < 2; other++) {
		struct tutti_dispatch_packet p = kernel_packet(0, 1);

		(void)unused;
		start(1, 1 + other);
		rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
		rig_queue(1, ASID, 0);
		submit(0, &p);
		if (other)
			submit(1, &p);
		tmd[0] = child(1);
		ask_for_child((unsigned)slot_of(0, 0), TMD_AT);
		take();
		assert_int_equal(replies, 1);
		assert_int_equal(reply_value, other ? 0 : -TUTTI_EBUSY);
		if (!other)
			continue;
		assert_int_equal(started[0], 1);
		end_all((unsigned)slot_of(1, 0));
		assert_int_equal(started[0], 2);
	}
}

/* A task may have only so many children at a time, but as many as it likes one after another. */
static void child_after_child(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	unsigned i, parent;

	(void)unused;
	start(1, 2);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	submit(0, &p);
	parent = (unsigned)slot_of(0, 0);
	for (i = 1; i <= 600; i++) {
		tmd[0] = child(1);
		ask_for_child(parent, TMD_AT);
		take();
		assert_int_equal(replies, i);
		assert_int_equal(reply_value, 0);
		assert_int_equal(started[0], 1 + i);
		end_all(!parent);
	}
	end_all(parent);
	assert_int_equal(queue_at(0)->flight, 0);
}

/* A signal is 0 when all of its 64 bits are; a split one when what the card has done is all there was to do. */
static void all_bits_of_a_signal(void **unused)
{
	static const struct tutti_signal not_yet[] = {
		{ .value = 1 }, { .value = 1ll << 32 }, { .value = -1 }, { .value = 1ll << 63 },
		{ .value = 7, .card_done = 6, .flags = TUTTI_SIGNAL_SPLIT },
		{ .value = 7ll << 32, .card_done = 6ll << 32, .flags = TUTTI_SIGNAL_SPLIT },
		{ .value = 7ll << 32, .card_done = 7, .flags = TUTTI_SIGNAL_SPLIT },
		{ .value = 0, .card_done = 1ll << 32, .flags = TUTTI_SIGNAL_SPLIT },
	};
	union tutti_packet wait = { .barrier = { .header = TUTTI_PACKET_BARRIER_AND, .dependency = { SIGNAL_AT } } };
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	unsigned i;

	(void)unused;
	for (i = 0; i < sizeof(not_yet) / sizeof(not_yet[0]); i++) {
		start(1, 0);
		rig_queue(0, ASID, 0);
		signal_memory[0] = not_yet[i];
		submit(0, &wait);
		submit(0, &p);
		assert_int_equal(started[0], 0);
		signal_memory[0].card_done = 5ll << 32 | 5;
		signal_memory[0].value = not_yet[i].flags & TUTTI_SIGNAL_SPLIT ? 5ll << 32 | 5 : 0;
		hal_host.time += 1000000000;
		rig_event(TUTTI_EVENT_TIMER, 0, 0);
		take();
		assert_int_equal(started[0], 1);
	}
}

static uint64_t kernels_counted(void)
{
	const struct tutti_discovery *d = (const void *)hal_host.window;
	const uint64_t *counter = (const void *)(hal_host.window + d->counters.offset);

	assert_int_equal(rig_request(TUTTI_MSG_COUNTERS, 0, 0, 0), 0);
	return counter[TUTTI_COUNTER_KERNELS];
}

/* Each kernel counts once, whichever way it takes: plain, with metadata, condensed, condensed with metadata, as a child. */
static void every_way_counts(void **unused)
{
	struct tutti_dispatch_packet special = kernel_packet(0, 1);
	union tutti_packet p = condensed(6);
	int slot;

	(void)unused;
	start(2, 0);
	rig_rsb(0, ASID, TUTTI_RSB_SCRATCH);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
	store(0, 0, kernel_packet(0, 1));
	assert_int_equal(kernels_counted(), 1);
	tmd[0] = child(0);
	special.tmd = TMD_AT;
	store(0, 1, special);
	assert_int_equal(kernels_counted(), 2);
	p.condensed.unit[0] = TUTTI_DIFF_SCOPES << TUTTI_DIFF_VECTOR_SHIFT;
	p.condensed.unit[6] = 1;
	submit(0, &p);
	while ((slot = slot_of(0, 2)) >= 0)
		end_all((unsigned)slot);
	assert_int_equal(started[0], 6);
	assert_int_equal(kernels_counted(), 8);
	special.tmd = special.ref_num = 0;
	submit(0, &special);
	tmd[1] = child(0);
	ask_for_child((unsigned)slot_of(0, 3), TMD_AT + sizeof(tmd[0]));
	take();
	assert_int_equal(started[0], 8);
	assert_int_equal(kernels_counted(), 10);
}

/* All shapes are those of tasks that wait for the parent's room, so none of them ends before the parent does. */
static void child_without_shape(void **unused)
{
	struct tutti_dispatch_packet p;
	unsigned k;

	(void)unused;
	start(1, 0);
	for (k = 0; k < QUEUES; k++)
		rig_queue(k, ASID, TUTTI_QUEUE_EXTENDED);
	for (k = 0; k < FW_SHAPES + 1; k++)
		descriptor[k].scalar_blocks = (uint16_t)(1 + k);
	p = kernel_packet(0, 1000);
	submit(0, &p);
	for (k = 1; k < FW_SHAPES; k++) {
		p = kernel_packet(k, 1);
		submit(1 + k % 4, &p);
	}
	tmd[0] = child(FW_SHAPES);
	ask_for_child((unsigned)slot_of(0, 0), TMD_AT);
	take();
	assert_int_equal(replies, 1);
	assert_int_equal(reply_value, -TUTTI_EBUSY);
}

/* One kernel of one CTA of each shape the firmware keeps; children of shape FW_SHAPES are asked for by the first @n. */
static void ask_without_shape(unsigned n, unsigned kernel_step)
{
	unsigned k, q;

	start(8, 0);
	for (q = 0; q < QUEUES; q++)
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED);
	for (k = 0; k < KERNELS; k++)
		descriptor[k].scalar_blocks = (uint16_t)(1 + (k < FW_SHAPES ? k : FW_SHAPES));
	for (k = 0; k < FW_SHAPES; k++) {
		struct tutti_dispatch_packet p = kernel_packet(k, 1);

		submit(k % QUEUES, &p);
	}
	slow_kernels = true;
	for (k = 0; k < n; k++) {
		tmd[k] = child(FW_SHAPES + kernel_step * k);
		ask_for_child((unsigned)slot_of(k % QUEUES, k / QUEUES), TMD_AT + k * sizeof(tmd[0]));
		take();
	}
	for (k = 0; k < 50 && kernel_answers; k++) {
		hal_host_event(&kernel_answer[--kernel_answers]);
		take();
	}
	assert_int_equal(kernel_answers, 0); /* nothing is fetched again and again */
}

/* All tasks wait for the shape of a child: that would be for ever, so one of them is refused, and will end. */
static void children_without_shape(void **unused)
{
	(void)unused;
	ask_without_shape(FW_SHAPES, 0);
	assert_int_equal(replies, 1);
	assert_int_equal(reply_value, -TUTTI_EBUSY);
}

/* Two children whose kernels share an entry of the cache wait for a shape: neither fetches its descriptor meanwhile. */
static void children_of_one_entry(void **unused)
{
	unsigned last = FW_SHAPES - 1;

	(void)unused;
	ask_without_shape(2, 16);
	assert_int_equal(replies, 0);
	end_all((unsigned)slot_of(last % QUEUES, last / QUEUES));
	while (kernel_answers) {
		hal_host_event(&kernel_answer[--kernel_answers]);
		take();
	}
	assert_int_equal(replies, 2);
	assert_int_equal(reply_value, 0);
}

/* Kernels of a condensed packet that may overlap and have not started: their signal is not sent as if they had run. */
static void overlapped_and_dropped(void **unused)
{
	struct tutti_dispatch_packet reference = kernel_packet(0, 1), other = kernel_packet(0, 1);
	union tutti_packet p = condensed(3);

	(void)unused;
	for (unsigned cancel = 0; cancel < 2; cancel++) {
		start(2, 1);
		rig_rsb(0, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB | TUTTI_QUEUE_OVERLAP);
		rig_queue(1, ASID, 0);
		reference.signal = 0;
		store(0, 0, reference);
		p.condensed.unit[2] = TUTTI_DIFF_SIGNAL << TUTTI_DIFF_VECTOR_SHIFT;
		memcpy(&p.condensed.unit[3], &(uint64_t){ SIGNAL_AT }, 6);
		submit(1, &other); /* it has the only slot */
		submit(0, &p);
		assert_int_equal(started[0], 0);
		rig_command = take_one;
		if (cancel)
			assert_int_equal(rig_request(TUTTI_MSG_TASK_CANCEL, 0, 1, 0), 0);
		else
			assert_int_equal(rig_request(TUTTI_MSG_QUEUE_DESTROY, 0, 0, 0), 0);
		rig_command = NULL;
		end_all((unsigned)slot_of(1, 0));
		assert_int_equal(started[0], 0);
		assert_int_equal(signal_count, cancel);
		assert_true(!cancel || (signals[0].cancelled && signals[0].address == SIGNAL_AT));
	}
}

static void fails(unsigned slot)
{
	rig_event(TUTTI_EVENT_FAULT | slot << 8 | TUTTI_CAUSE_ILLEGAL << 16, 0, 0x1234);
	take();
}

/*
 * A kernel of a condensed packet fails after the queue has stopped for an earlier packet, and before the reset. There are
 * more kernels in the packet than can be accepted, so some are left to be launched: the reset lets none of them start.
 */
static void fails_before_reset(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	union tutti_packet many = condensed(TUTTI_CONDENSED_KERNELS);
	unsigned kernel;

	(void)unused;
	for (unsigned fault = 0; fault < 2; fault++) {
		start(2, 2);
		rig_rsb(0, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB | TUTTI_QUEUE_OVERLAP);
		store(0, 0, p);
		submit(0, &p);
		submit(0, &many);
		kernel = (unsigned)slot_of(0, 2);
		fails((unsigned)slot_of(0, 1));
		assert_int_equal(queue_at(0)->error, TUTTI_ERROR_KERNEL_TRAP);
		assert_true(queue_at(0)->run_kernels);
		slow_kills = true;
		if (fault)
			fails(kernel);
		started[0] = 0;
		rig_command = take_one;
		assert_int_equal(rig_request(TUTTI_MSG_QUEUE_RESET, 0, 0, 0), 0);
		rig_command = NULL;
		while (slot_of(0, 2) >= 0)
			end_all((unsigned)slot_of(0, 2));
		assert_int_equal(started[0], fault ? 0 : TUTTI_CONDENSED_KERNELS - 2);
		assert_int_equal(queue_at(0)->state, QUEUE_RUNNING);
		if (fault)
			killed(kernel);
		assert_int_equal(queue_at(0)->error, fault ? TUTTI_ERROR_KERNEL_TRAP : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-16 TSK-11", child_of_condensed),
		RIG_TEST("TSK-06", order_of_one),
		RIG_TEST("RES-01 SYS-07", one_entry_for_all),
		RIG_TEST("SYS-07", same_program_twice),
		RIG_TEST("RES-01 SYS-07", nobody_comes_for_it),
		RIG_TEST("SYS-07", used_late),
		RIG_TEST("RES-01", ready_in_turn),
		RIG_TEST("PKT-14 CGA-01", whose_cgas),
		RIG_TEST("TSK-11 PKT-06", child_of_stopped),
		RIG_TEST("PKT-06 SYS-58", unreadable_ring),
		RIG_TEST("PKT-04 PKT-17 TSK-12", overlapped_and_dropped),
		RIG_TEST("PKT-06 PKT-18", fails_before_reset),
		RIG_TEST("RES-07 PKT-08", independent_reference),
		RIG_TEST("TSK-11", child_without_slot),
		RIG_TEST("TSK-11", child_after_child),
		RIG_TEST("PKT-03 PKT-04", all_bits_of_a_signal),
		RIG_TEST("SYS-41 PKT-11", every_way_counts),
		RIG_TEST("TSK-11", child_without_shape),
		RIG_TEST("TSK-11", children_without_shape),
		RIG_TEST("TSK-11", children_of_one_entry),
	};

	return cmocka_run_group_tests_name("firmware: where features meet", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Metadata of tasks: each rule of TSK-01 by itself, and whatever bytes there may be. */
#include "core/wait.h"
#include "queues/fetch_buffers.h"
#include "queues/queue.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "fw_tasks.h"
#include "tutti/fault.h"

/* The newest fault told to the host. */
static struct tutti_fault newest(void)
{
	const struct tutti_discovery *d = (void *)hal_host.window;
	const struct tutti_status *status = (void *)(hal_host.window + d->status.offset);
	const struct tutti_message *from = (void *)(hal_host.window + d->card_ring.offset);
	uint32_t at = status->card_ring_tail;

	while (at--)
		if (from[at % (d->card_ring.bytes / 64)].type == TUTTI_MSG_QUEUE_ERROR)
			return from[at % (d->card_ring.bytes / 64)].fault;
	return (struct tutti_fault){ 0 };
}

static void host_reads(void)
{
	const struct tutti_discovery *d = (void *)hal_host.window;

	((struct tutti_control *)(void *)(hal_host.window + d->control.offset))->card_ring_head =
		((struct tutti_status *)(void *)(hal_host.window + d->status.offset))->card_ring_tail;
}

/* Dispatch one CTA with exactly these metadata. Return: error of the queue, 0 = it runs */
static unsigned try_it(const struct tutti_tmd *what)
{
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT);
	unsigned n = jobs++, q = 1;

	assert_true(n < TASKS);
	job[n] = (struct job){ .queue = q, .groups = 1, .waves = 1 };
	tmd[n] = *what;
	p.workgroup_x = p.grid_x = 32;
	p.kernarg = 16 * n;
	p.signal = SIGNAL_AT + 64 * n;
	p.tmd = TMD_AT + n * sizeof(tmd[0]);
	ring[q][written[q]++ % RING].dispatch = p;
	rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
	pump();
	return queues[q].state == QUEUE_STOPPED ? queues[q].error : 0;
}

/* Not rig_request(): what queues do because of it is to happen. */
static void ask(uint32_t type, uint64_t arg)
{
	struct tutti_discovery *d = (void *)hal_host.window;
	struct tutti_control *control = (void *)(hal_host.window + d->control.offset);
	struct tutti_message *to = (void *)(hal_host.window + d->host_ring.offset);

	to[control->host_ring_tail % (d->host_ring.bytes / 64)] =
		(struct tutti_message){ .type = type, .id = 77, .arg = { arg } };
	control->host_ring_tail++;
	rig_event(TUTTI_EVENT_MESSAGE, 0, 0);
	pump();
}

static void clean_up(void)
{
	unsigned slot, i;

	for (slot = 0; slot < CARD_SLOTS; slot++)
		while (card_slot[slot].running)
			end_one(slot);
	host_reads();
	if (queues[1].state == QUEUE_STOPPED) {
		ask(TUTTI_MSG_QUEUE_RESET, 1);
		host_reads();
		assert_int_equal(queues[1].state, QUEUE_RUNNING);
	}
	pump();
	for (i = 0; i < FW_TMDS; i++)
		assert_int_equal(tmd_at(i)->stage, TMD_FREE);
}

static const struct tutti_tmd sound = { .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .priority = 3 };

#define AT(field) offsetof(struct tutti_tmd, field)
#define ONE_OF(member, unmapped, ...) \
	{ AT(member), { .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, __VA_ARGS__ }, unmapped }
#define CASE_OF(member, ...) ONE_OF(member, false, __VA_ARGS__)
#define UNMAPPED(member, ...) ONE_OF(member, true, __VA_ARGS__)
#define WORK .type = TUTTI_TASK_QUEUE, .queue = 0x70000000, .coalesce_min = 1, .coalesce_max = 1

static void each_rule(void **unused)
{
	static const struct { unsigned field; struct tutti_tmd tmd; bool unmapped; } bad[] = {
		{ AT(magic), { .version = TUTTI_TMD_VERSION }, false },
		{ AT(version), { .magic = TUTTI_TMD_MAGIC }, false },
		CASE_OF(type, .type = 2),
		CASE_OF(priority, .priority = 11),
		CASE_OF(cga_mode, .cga_mode = TUTTI_CGA_MULTICAST + 1),
		CASE_OF(flags, .flags = TUTTI_TMD_FLAGS + 1),
		CASE_OF(flags, .flags = TUTTI_TMD_INDEPENDENT | TUTTI_TMD_DEPENDENT),
		CASE_OF(flags, .flags = TUTTI_TMD_SEQUENCE, .cga = { { 1, 1, 1, TUTTI_CGA_GPC } }),
		CASE_OF(flags, WORK, .cga = { { 1, 1, 1, TUTTI_CGA_GPC } }),
		CASE_OF(quota, .flags = TUTTI_TMD_QUOTA),
		CASE_OF(quota, .quota = 1),
		CASE_OF(affinity, .flags = TUTTI_TMD_AFFINITY),
		CASE_OF(affinity, .flags = TUTTI_TMD_AFFINITY, .affinity = 0x1002),
		CASE_OF(affinity, .flags = TUTTI_TMD_AFFINITY, .affinity = 1ull << 47),
		UNMAPPED(affinity, .flags = TUTTI_TMD_AFFINITY, .affinity = 0x7ffff0000000ull),
		CASE_OF(affinity, .affinity = 0x1000),
		CASE_OF(queue, .queue = 0x1000),
		CASE_OF(queue, .type = TUTTI_TASK_QUEUE, .coalesce_min = 1, .coalesce_max = 1),
		CASE_OF(queue, .type = TUTTI_TASK_QUEUE, .coalesce_min = 1, .coalesce_max = 1, .queue = 0x1010),
		CASE_OF(queue, .type = TUTTI_TASK_QUEUE, .coalesce_min = 1, .coalesce_max = 1, .queue = 1ull << 47),
		UNMAPPED(queue, WORK),
		CASE_OF(coalesce_max, .coalesce_max = 1),
		CASE_OF(coalesce_max, .type = TUTTI_TASK_QUEUE, .queue = 0x1000, .coalesce_min = 1),
		CASE_OF(coalesce_max, .type = TUTTI_TASK_QUEUE, .queue = 0x1000, .coalesce_min = 1, .coalesce_max = 0x10000),
		CASE_OF(coalesce_min, .coalesce_min = 1),
		CASE_OF(coalesce_min, .type = TUTTI_TASK_QUEUE, .queue = 0x1000, .coalesce_min = 3, .coalesce_max = 2),
		CASE_OF(coalesce_min, .type = TUTTI_TASK_QUEUE, .queue = 0x1000, .coalesce_max = 2),
		CASE_OF(coalesce_us, .coalesce_us = 1),
		CASE_OF(throttle_sms, .flags = TUTTI_TMD_THROTTLE),
		CASE_OF(throttle_sms, .flags = TUTTI_TMD_THROTTLE, .throttle_sms = 2), /* the card has one */
		CASE_OF(throttle_sms, .throttle_sms = 1),
		CASE_OF(cga, .cga = { { 1, 1, 1, TUTTI_CGA_GPU + 1 } }),
		CASE_OF(cga, .cga = { { 1, 0, 1, TUTTI_CGA_GPC } }),
		CASE_OF(cga, .cga = { { 1, 1, 1, TUTTI_CGA_GPC }, { 1, 1, 1, TUTTI_CGA_CPC } }),
		CASE_OF(cga, .cga = { { 1, 1, 1, TUTTI_CGA_GPC }, { 1, 1, 1, TUTTI_CGA_GPC } }),
		CASE_OF(cga, .cga = { { 0 }, { 1, 1, 1, TUTTI_CGA_GPC } }),
		CASE_OF(pad0, .pad0 = 1),
	};
	struct tutti_fault fault;
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (i % 20 == 0)
			begin(1, 32, 8, 1);
		if (try_it(&bad[i].tmd) != TUTTI_ERROR_TMD)
			fail_msg("rule %u: error %u", i, queues[1].error);
		fault = newest();
		if (fault.address != TMD_AT + (jobs - 1) * sizeof(tmd[0]) + bad[i].field)
			fail_msg("rule %u: byte %llu named, not %u", i,
				 (unsigned long long)(fault.address - TMD_AT - (jobs - 1) * sizeof(tmd[0])),
				 bad[i].field);
		assert_int_equal(fault.field, offsetof(struct tutti_dispatch_packet, tmd));
		/* only the engine can tell what is not mapped; the firmware has seen everything else itself */
		assert_int_equal(fault.engine, bad[i].unmapped ? TUTTI_ENGINE_FETCH : TUTTI_ENGINE_FIRMWARE);
		assert_int_equal(fault.cause, bad[i].unmapped ? TUTTI_CAUSE_UNMAPPED : 0);
		assert_int_equal(fault.access, bad[i].unmapped ? TUTTI_ACCESS_READ : TUTTI_ACCESS_NONE);
		assert_false(job[jobs - 1].signalled);
		clean_up();
		assert_int_equal(try_it(&sound), 0);
		clean_up();
		assert_true(job[jobs - 1].signalled);
	}
}

/* The last values that are good. */
static void at_the_limits(void **unused)
{
	static const struct tutti_tmd good[] = {
#define GOOD(...) { .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, __VA_ARGS__ }
		GOOD(.priority = 1),
		GOOD(.priority = 10),
		GOOD(.cga_mode = TUTTI_CGA_MULTICAST),
		GOOD(.flags = TUTTI_TMD_QUOTA, .quota = 1),
		GOOD(.flags = TUTTI_TMD_QUOTA, .quota = ~0u),
		GOOD(.flags = TUTTI_TMD_INDEPENDENT | TUTTI_TMD_HEAD),
		GOOD(.flags = TUTTI_TMD_DEPENDENT | TUTTI_TMD_SEQUENCE),
	};
	unsigned i;

	begin(1, 32, 8, 1);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (try_it(&good[i]))
			fail_msg("metadata %u: error %u", i, queues[1].error);
		assert_int_equal(job[i].issued, 1);
		clean_up();
	}
}

/* Metadata may ask for the highest priority that their queue may have, and for lower ones: simple metadata and others. */
static void highest_priority(void **unused)
{
	struct tutti_tmd t = sound;
	unsigned highest, priority;

	for (highest = 1; highest <= 10; highest++) {
		begin(highest, 32, 8, 1);
		queues[1].highest = (uint8_t)(highest & 15);
		for (priority = 0; priority <= 11; priority++) {
			t.priority = (uint8_t)priority;
			t.flags = highest & 1 ? TUTTI_TMD_QUOTA : 0;
			t.quota = highest & 1;
			assert_int_equal(try_it(&t), priority <= 10 && (!priority || priority >= highest) ? 0 : TUTTI_ERROR_TMD);
			clean_up();
		}
	}
}

/* Sound metadata with a few bytes changed to anything: they are refused or the task runs; the next one runs. */
static void any_bytes(void **unused)
{
	static const uint8_t likely_bytes[] = { 0, 1, 2, 3, 4, 5, 10, 16, 32, 64, 128, 255 };
	unsigned round, i, n, refused = 0, ran = 0;
	struct tutti_tmd t;

	for (round = 0; round < 20000; round++) {
		if (round % 150 == 0) {
			begin(1 + round, 32, 8, 1);
			seed(round);
		}
		t = sound;
		for (n = 1 + roll(4), i = 0; i < n; i++)
			((uint8_t *)&t)[4 + roll(offsetof(struct tutti_tmd, state) - 4)] =
				roll(2) ? likely_bytes[roll(sizeof(likely_bytes))] : (uint8_t)roll(256);
		if (try_it(&t))
			refused++;
		else
			ran++;
		/* a queue task or one for throttle mode does not end by itself */
		if (!job[jobs - 1].running && queues[1].state != QUEUE_STOPPED && !job[jobs - 1].signalled) {
			begin(1 + round, 32, 8, 1);
			continue;
		}
		clean_up();
		assert_int_equal(try_it(&sound), 0);
		clean_up();
		assert_true(job[jobs - 1].signalled);
	}
	assert_true(refused > 3000 && ran > 1000);
}

/* Packets with metadata and the barrier bit, @n of one CTA each, in queue 1. */
static void in_order(unsigned n)
{
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT);

	for (; n--; jobs++) {
		job[jobs] = (struct job){ .queue = 1, .groups = 1, .waves = 1 };
		tmd[jobs] = sound;
		p.header |= TUTTI_HEADER_BARRIER;
		p.workgroup_x = p.grid_x = 32;
		p.kernarg = 16 * jobs;
		p.signal = SIGNAL_AT + 64 * jobs;
		p.tmd = TMD_AT + jobs * sizeof(tmd[0]);
		ring[1][written[1]++ % RING].dispatch = p;
	}
	rig_event(TUTTI_EVENT_DOORBELL, 1u << 1, 0);
	pump();
}

static void end_running(void)
{
	for (unsigned slot = 0; slot < CARD_SLOTS; slot++)
		if (card_slot[slot].running) {
			end_one(slot);
			return;
		}
	fail();
}

static void ended(const struct tutti_tmd *t, unsigned ctas)
{
	assert_int_equal(t->state, TUTTI_TMD_FINISHED);
	assert_int_equal(t->error, 0);
	assert_int_equal(t->issued, ctas);
	assert_int_equal(t->completed, ctas);
	assert_int_equal(t->resume, ctas);
}

/* Tasks whose CTAs find room at once keep no record of their state; others do, until all CTAs are issued. */
static void state_only_kept_if_needed(void **unused)
{
	unsigned i;

	begin(1, 32, 8, 1);
	submit(&(struct job){ .queue = 1, .priority = 2, .groups = 8 });
	assert_int_equal(job[0].issued, 8);
	assert_true(pending_idle());
	submit(&(struct job){ .queue = 2, .priority = 2, .groups = 3 });
	assert_int_equal(job[1].issued, 0);
	assert_false(pending_idle());
	for (i = 0; i < 3; i++)
		end_one(0);
	assert_int_equal(job[1].issued, 3);
	assert_true(pending_idle());
	for (i = 0; i < 5; i++)
		end_one(0);
	for (i = 0; i < 3; i++)
		end_running();
	ended(&tmd[0], 8);
	ended(&tmd[1], 3);
	assert_true(job[0].signalled && job[1].signalled);
}

/* Bits of an affinity mask that stand for no SM of the card are left out, even if its last word is only partly used. */
static void masks_end_with_the_card(void **unused)
{
	static const unsigned sizes[] = { 1, 31, 33, 40, 143 };

	for (unsigned k = 0; k < 5; k++) {
		uint32_t *mask, count = 0;
		unsigned number;

		rig_load(sizes[k]);
		main_init();
		number = affinity_take();
		mask = affinity_mask(number);
		for (unsigned w = 0; w < TUTTI_MAX_SMS / 32; w++)
			mask[w] = ~0u;
		assert_true(affinity_order(number));
		for (unsigned w = 0; w < (sizes[k] + 31) / 32; w++)
			count += popcount32(mask[w]);
		assert_int_equal(count, sizes[k]);
	}
}

/* A task that is cancelled reports what it has issued, whether or not its state is kept. */
static void cancelled_report(void **unused)
{
	begin(1, 32, 8, 1);
	submit(&(struct job){ .queue = 1, .priority = 2, .groups = 12 });
	assert_int_equal(job[0].issued, 8);
	assert_int_equal(rig_request(TUTTI_MSG_TASK_CANCEL, 1, 0, 0), 0);
	for (unsigned i = 0; i < 8; i++)
		end_one(0);
	assert_int_equal(tmd[0].state, TUTTI_TMD_FINISHED | TUTTI_TMD_CANCELLED);
	assert_int_equal(tmd[0].issued, 8);
	assert_int_equal(tmd[0].completed, 8);
	assert_true(pending_idle());
}

/* A queue that is being destroyed has no task that could be cancelled any more, though its CTAs still run. */
static void too_late_to_cancel(void **unused)
{
	begin(1, 32, 8, 1);
	submit(&(struct job){ .queue = 1, .priority = 2, .groups = 8 });
	submit(&(struct job){ .queue = 1, .priority = 2, .groups = 8 });
	ask(TUTTI_MSG_QUEUE_DESTROY, 1);
	assert_int_equal(queues[1].state, QUEUE_DYING);
	assert_int_equal(rig_request(TUTTI_MSG_TASK_CANCEL, 1, 0, 0), -TUTTI_ENOENT);
	assert_int_equal(rig_request(TUTTI_MSG_TASK_CANCEL, 1, 1, 0), -TUTTI_ENOENT);
}

/* Packets that wait for each other: each is launched when its metadata arrive, and their slots are retired in the end. */
static void one_after_another(void **unused)
{
	card_size = 4;
	begin(1, 32, 8, 1);
	card_size = 1;
	in_order(10);
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(launches, i + 1);
		assert_int_equal(launched[i], i);
		assert_int_equal(queues[1].flight / QUEUE_ONE, 1);
		end_running();
		ended(&tmd[i], 1);
		assert_true(job[i].signalled);
	}
	assert_int_equal(queues[1].retired, 10);
	assert_false(queues[1].tmd);
	clean_up();
}

/* Metadata are read once, whatever else their packet has to wait for: here for its kernel, a slot, and its shape. */
static void read_once(void **unused)
{
	unsigned i;

	begin(3, 32, 1, 1);
	assert_int_equal(try_it(&sound), 0); /* the kernel is not known yet */
	assert_int_equal(metadata_fetches, 1);
	clean_up();
	assert_int_equal(rig_request(TUTTI_MSG_CODE_INVALIDATE, ASID, 0, 0), 0);
	assert_int_equal(try_it(&sound), 0);
	assert_int_equal(metadata_fetches, 2);
	clean_up();
	for (i = 0; i < RING / 2; i++)
		submit(&(struct job){ .queue = 1 + i % 3, .priority = 2, .groups = 1 });
	for (i = 0; i < RING / 2; i++)
		end_running();
	clean_up();
	assert_int_equal(metadata_fetches, 2 + RING / 2);
	assert_int_equal(launches, 2 + RING / 2);
	/* a shape more than there may be at once */
	begin(3, 32, 32, 1);
	for (i = 0; i <= FW_SHAPES; i++)
		submit(&(struct job){ .queue = 1 + i % 3, .priority = 2, .groups = 1, .waves = i + 1 });
	assert_int_equal(launches, FW_SHAPES);
	for (i = 0; i <= FW_SHAPES; i++)
		end_running();
	assert_int_equal(launches, FW_SHAPES + 1);
	assert_int_equal(metadata_fetches, FW_SHAPES + 1);
	clean_up();
}

/* A packet that is refused for another reason gives its metadata back. */
static void given_back_when_refused(void **unused)
{
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT);
	unsigned n;

	begin(4, 32, 8, 1);
	for (n = 0; n < 2 * FW_TMDS; n++) {
		tmd[n] = sound;
		p.workgroup_x = 0;
		p.tmd = TMD_AT + n * sizeof(tmd[0]);
		ring[1][written[1]++ % RING].dispatch = p;
		rig_event(TUTTI_EVENT_DOORBELL, 1u << 1, 0);
		pump();
		assert_int_equal(queues[1].state, QUEUE_STOPPED);
		assert_int_equal(queues[1].error, TUTTI_ERROR_DIMENSIONS);
		clean_up();
	}
	assert_int_equal(metadata_fetches, n);
}

/* What may become of a queue while the metadata of its next packet are on their way. */
static void meanwhile(void **unused)
{
	for (unsigned what = 0; what < 5; what++) {
		card_size = 4;
		begin(1, 32, 8, 1);
		card_size = 1;
		in_order(4);
		metadata_late = true;
		end_running();
		assert_int_equal(queues[1].wait, WAIT_FOLLOW);
		assert_int_equal(launches, 1);
		metadata_late = false;
		switch (what) {
		case 1: /* another queue has taken its buffer: the packets are fetched again */
			buffer_drop(&queues[1]);
			break;
		case 2:
			ask(TUTTI_MSG_SUSPEND, 0);
			break;
		case 3: /* the packet is another one after that, and has no metadata */
			buffer_drop(&queues[1]);
			ring[1][1].dispatch.tmd = 0;
			break;
		case 4: /* they are wrong */
			tmd[1].magic++;
			break;
		}
		answer_fetch(metadata_fetch);
		pump();
		if (what == 2) {
			assert_int_equal(launches, 1);
			ask(TUTTI_MSG_RESUME, 0);
		}
		assert_int_equal(launches, what == 4 ? 1 : 2);
		if (what == 4) {
			assert_int_equal(queues[1].error, TUTTI_ERROR_TMD);
			host_reads();
			ask(TUTTI_MSG_QUEUE_RESET, 1); /* the next packet runs */
		}
		for (unsigned i = what == 4 ? 2 : 1; i < 4; i++)
			end_running();
		assert_int_equal(launches, what == 4 ? 3 : 4);
		clean_up();
	}
}

/* Metadata lie at multiples of 64 bytes, below the addresses that only the system has. Others are not even read. */
static void senseless_addresses(void **unused)
{
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT);

	begin(1, 32, 8, 1);
	for (unsigned bit = 0; bit < 64; bit += bit == 5 ? 42 : 1) {
		p.workgroup_x = p.grid_x = 32;
		p.tmd = TMD_AT | 1ull << bit;
		ring[1][written[1]++ % RING].dispatch = p;
		rig_event(TUTTI_EVENT_DOORBELL, 1u << 1, 0);
		pump();
		assert_int_equal(queues[1].state, QUEUE_STOPPED);
		assert_int_equal(queues[1].error, TUTTI_ERROR_TMD);
		assert_int_equal(newest().field, offsetof(struct tutti_dispatch_packet, tmd));
		clean_up();
	}
	assert_int_equal(metadata_fetches, 0);
}

/* The dynamic part is written by one command, word by word as the contract says. */
static void written_back(void **unused)
{
	const uint32_t *w;
	unsigned words;

	begin(1, 32, 8, 1);
	submit(&(struct job){ .queue = 1, .priority = 2, .groups = 3 });
	end_running();
	end_running();
	tmd_at(0)->evictions = 11;
	tmd_at(0)->turns = 12;
	tmd_at(0)->timeouts = 13;
	card_end(0, 0);
	hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_CTA | 1u << 24, 1, 1, 1 } });
	command_publish();
	do
		w = hal_host_command(&words);
	while (w && (w[0] & 0xff) != TUTTI_CMD_BLOCK);
	assert_non_null(w);
	assert_int_equal(words, 4 + 2 * 7);
	assert_int_equal(w[0], TUTTI_CMD_BLOCK | words << 8);
	assert_int_equal(w[1], ASID | 1 << 16);
	assert_int_equal(pair(w + 2), TMD_AT + offsetof(struct tutti_tmd, state));
	assert_int_equal(w[4], TUTTI_TMD_FINISHED);
	assert_int_equal(w[5], 0);
	assert_int_equal(pair(w + 6), 3);  /* issued, completed, resume */
	assert_int_equal(pair(w + 8), 3);
	assert_int_equal(pair(w + 10), 3);
	assert_int_equal(pair(w + 12), 0); /* outstanding */
	assert_int_equal(w[14], 11);
	assert_int_equal(w[15], 12);
	assert_int_equal(w[16], 13);
	assert_int_equal(w[17], 0);
}

/* The answer to a fetch that nobody waits for, which only a faulty card would send, changes nothing. */
static void unasked_for(void **unused)
{
	unsigned number;

	begin(1, 32, 8, 1);
	assert_int_equal(try_it(&sound), 0);
	for (number = 0; number < FW_TMDS; number++) {
		rig_event(TUTTI_EVENT_FETCH | (TAG_TMD | number) << 16, 0, 0);
		rig_event(TUTTI_EVENT_FETCH | TUTTI_CAUSE_BUS << 8 | (TAG_TMD | number) << 16, 0, 0);
		pump();
		assert_int_equal(tmd_at(number)->answers, 0);
	}
	assert_int_equal(job[0].running, 1);
	clean_up();
	ended(&tmd[0], 1);
	assert_int_equal(tmd_free_count, FW_TMDS);
}

/* The same for a record that waits for a mask: when there is one it is fetched, and the task starts. */
static void unasked_for_while_waiting(void **unused)
{
	unsigned mask[FW_AFFINITIES], n, number;

	begin(1, 32, 8, 1);
	for (n = 0; affinity_left(); n++)
		mask[n] = affinity_take();
	number = tmd_number(tmd_free);
	submit(&(struct job){ .queue = 1, .priority = 2, .groups = 1, .mask = 1 });
	assert_int_equal(launches, 0);
	assert_int_equal(metadata_fetches, 1);
	rig_event(TUTTI_EVENT_FETCH | (TAG_TMD | number) << 16, 0, 0);
	pump();
	while (n--)
		affinity_put(mask[n]);
	metadata_late = true;
	tmd_resume();
	main_settle();
	pump();
	assert_int_equal(metadata_fetches, 2);
	assert_int_equal(launches, 0); /* the mask is on its way */
	metadata_late = false;
	answer_fetch(metadata_fetch);
	pump();
	assert_int_equal(launches, 1);
	end_one(0);
	assert_true(job[0].signalled);
}

/* Its queue goes away while metadata are on their way: the record is in use until they have come. */
static void destroyed_meanwhile(void **unused)
{
	struct tutti_tmd t = sound;
	unsigned masked;

	for (masked = 0; masked < 2; masked++) {
		begin(1, 32, 8, 1);
		t.flags = masked ? TUTTI_TMD_AFFINITY : 0;
		t.affinity = masked ? MASK_AT : 0;
		metadata_late = true;
		assert_int_equal(try_it(&t), 0);
		if (masked) {
			answer_fetch(metadata_fetch); /* the record is there, the mask is not */
			pump();
			assert_int_equal(metadata_fetch[2] | (uint64_t)metadata_fetch[3] << 32, MASK_AT);
			assert_int_equal(affinity_left(), FW_AFFINITIES - 1);
		}
		ask(TUTTI_MSG_QUEUE_DESTROY, 1);
		assert_int_equal(tmd_free_count, FW_TMDS - 1);
		answer_fetch(metadata_fetch);
		pump();
		assert_int_equal(tmd_free_count, FW_TMDS);
		assert_int_equal(affinity_left(), FW_AFFINITIES);
		assert_int_equal(launches, 0);
	}
}

/* A record that waits for its fetch waits for that alone, whatever becomes free meanwhile. */
static void room_meanwhile(void **unused)
{
	begin(1, 32, 8, 1);
	metadata_late = true;
	assert_int_equal(try_it(&sound), 0);
	attention.settle = 0;
	tmd_resume();
	assert_int_equal(attention.settle, 0);
	assert_int_equal(queues[1].wait, WAIT_METADATA);
	assert_int_equal(metadata_fetches, 1);
	metadata_late = false;
	answer_fetch(metadata_fetch);
	pump();
	assert_int_equal(job[0].running, 1);
	clean_up();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TSK-01", each_rule),
		RIG_TEST("TSK-01", at_the_limits),
		RIG_TEST("TSK-01 RES-01", highest_priority),
		RIG_TEST("TSK-01", any_bytes),
		RIG_TEST("TSK-01 TSK-03 PERF-12", state_only_kept_if_needed),
		RIG_TEST("TSK-04", masks_end_with_the_card),
		RIG_TEST("TSK-01 TSK-12", cancelled_report),
		RIG_TEST("TSK-12 SYS-08", too_late_to_cancel),
		RIG_TEST("TSK-01 PKT-05 PERF-12", one_after_another),
		RIG_TEST("TSK-01 SYS-09", read_once),
		RIG_TEST("TSK-01 PKT-06 REL-11", given_back_when_refused),
		RIG_TEST("TSK-01 SYS-08 PERF-12", meanwhile),
		RIG_TEST("TSK-01 PKT-06", senseless_addresses),
		RIG_TEST("TSK-01 TSK-16", written_back),
		RIG_TEST("TSK-01 REL-11", unasked_for),
		RIG_TEST("TSK-01 TSK-04 REL-11", unasked_for_while_waiting),
		RIG_TEST("TSK-01 SYS-08", destroyed_meanwhile),
		RIG_TEST("TSK-01 REL-11", room_meanwhile),
	};

	return cmocka_run_group_tests_name("firmware: metadata of tasks", tests, NULL, NULL);
}

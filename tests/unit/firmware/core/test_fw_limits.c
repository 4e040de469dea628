/* SPDX-License-Identifier: MIT */
/*
 * Tables of the firmware at their limits: entries that do not fit into local memory are kept in card memory and work
 * the same.
 */
#include "core/card_memory.h"
#include "fw_rig.h"

#define ASID 4u
#define KERNEL_AT 0x2130000000ull
#define KERNARG_AT 0x2140000000ull

static union tutti_packet ring[TUTTI_MAX_QUEUES][64];

/* What was launched: kernargs in order, and by which queue. */
static struct { uint64_t kernarg; unsigned queue, slot; } launched[4096];
static unsigned launches;
static struct tutti_event held[4096]; /* CTAs that run until end_some() */
static unsigned holds;
static bool hold;

static bool in_card_memory(const void *p)
{
	return (const uint8_t *)p >= hal_host.card && (const uint8_t *)p < hal_host.card + HAL_HOST_CARD;
}

/* Answer all fetches; each CTA ends at once. */
static void pump(void)
{
	struct tutti_kernel_descriptor descriptor = rig_descriptor();
	struct tutti_task_state state;
	const uint32_t *w;
	uint64_t address;
	unsigned words, slot;

	command_publish();
	while ((w = hal_host_command(&words))) {
		address = w[2] | (uint64_t)w[3] << 32;
		switch (w[0] & 0xff) {
		case TUTTI_CMD_FETCH:
			if ((w[0] >> 16 & TAG_KIND) == TAG_KERNEL)
				memcpy(hal_pointer(w[5]), &descriptor, sizeof(descriptor));
			else if ((w[1] & 0xffff) != TUTTI_ASID_BUS)
				memcpy(hal_pointer(w[5]), (uint8_t *)ring + (address - RIG_RING), w[4]);
			rig_event(TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u), 0, 0);
			break;
		case TUTTI_CMD_STATE:
			memcpy(&state, w + 1, sizeof(state));
			slot = w[0] >> 24;
			launched[launches].kernarg = state.kernarg;
			launched[launches].queue = state.queue;
			launched[launches++].slot = slot;
			break;
		case TUTTI_CMD_LAUNCH: {
			struct tutti_event event = { { TUTTI_EVENT_CTA | (w[0] >> 16 & 0xff) << 8 | 1u << 24, 1, 1, w[2] } };

			if (hold)
				held[holds++ % 4096] = event;
			else
				hal_host_event(&event);
			break;
		}
		case TUTTI_CMD_SCRUB:
			for (unsigned i = 0; i < w[4]; i++)
				((union tutti_packet *)((uint8_t *)ring + (address - RIG_RING)))[i].dispatch.header =
					TUTTI_PACKET_INVALID;
			break;
		}
		command_publish();
	}
}

static void submit(unsigned q, uint64_t index, const void *packet)
{
	memcpy(&ring[q][index % 64], packet, 64);
	rig_event(TUTTI_EVENT_DOORBELL | q / 32 << 8, 1u << (q % 32), 0);
	pump();
}

/* The card watches the doorbells of the queues that exist, here those from @first up to @end, and of no others. */
static void watched(unsigned first, unsigned end)
{
	unsigned q;

	for (q = 0; q < TUTTI_MAX_QUEUES; q++)
		if ((hal_host.engines.doorbell_enable[q / 32] >> (q % 32) & 1) != (q >= first && q < end))
			fail_msg("doorbell of queue %u, of queues %u to %u", q, first, end);
}

/* Every queue there can be, each with a reference buffer of its own in scratch RAM: a kernel is stored and replayed. */
static void every_queue(void **unused)
{
	struct tutti_condensed_packet replay = { .type = TUTTI_PACKET_CONDENSED, .num_kernels = 3 };
	unsigned q, i, far_queues = 0, far_rsbs = 0, far_tables = 0;

	rig_boot(4, ASID);
	for (i = 0; i < TUTTI_MAX_QUEUES * 64; i++)
		ring[i / 64][i % 64].dispatch.header = TUTTI_PACKET_INVALID;
	launches = 0;
	for (q = 0; q < TUTTI_MAX_QUEUES; q++) {
		rig_rsb(q, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
		watched(0, q + 1);
		far_queues += in_card_memory(queue_at(q));
		far_rsbs += in_card_memory(reference_buffer(q));
		far_tables += in_card_memory(reference_buffer(q)->table);
	}
	assert_int_equal(far_queues, TUTTI_MAX_QUEUES - FW_QUEUES);
	assert_int_equal(far_rsbs, TUTTI_MAX_RSBS - FW_RSBS);
	assert_int_equal(far_tables, TUTTI_MAX_RSBS - FW_RSBS_SCRATCH);
	for (i = 0; i < 2; i++)
		for (q = 0; q < TUTTI_MAX_QUEUES; q++) {
			struct tutti_dispatch_packet p = rig_packet(KERNEL_AT);

			p.workgroup_x = p.grid_x = 32;
			p.kernarg = KERNARG_AT + 16 * q;
			p.ref_num = TUTTI_REF_STORE;
			if (i)
				submit(q, 1, &replay);
			else
				submit(q, 0, &p);
		}
	assert_int_equal(launches, 4 * TUTTI_MAX_QUEUES);
	for (i = 0; i < launches; i++) {
		q = i < TUTTI_MAX_QUEUES ? i : (i - TUTTI_MAX_QUEUES) / 3;
		assert_int_equal(launched[i].kernarg, KERNARG_AT + 16 * q);
		assert_int_equal(launched[i].queue, q);
	}
	/* the host's view of a buffer is the same wherever it lies */
	reference_mirror();
	for (q = 0; q < TUTTI_MAX_RSBS; q++) {
		const struct tutti_discovery *d = (void *)hal_host.window;
		const struct tutti_reference *seen = (void *)(hal_host.window + d->rsb_window.offset + q * TUTTI_PAGE_SIZE);

		assert_int_equal(seen->kernarg, KERNARG_AT + 16 * q);
	}
	for (q = 0; q < TUTTI_MAX_QUEUES; q++) {
		assert_int_equal(queue_at(q)->head, 2);
		assert_int_equal(queue_at(q)->state, QUEUE_RUNNING);
		assert_int_equal(rig_request(TUTTI_MSG_QUEUE_DESTROY, q, 0, 0), 0);
		watched(q + 1, TUTTI_MAX_QUEUES);
		assert_int_equal(rig_request(TUTTI_MSG_RSB_DESTROY, q, 0, 0), 0);
	}
	/* nor does the host find references there any more */
	for (q = 0; q < TUTTI_MAX_RSBS; q++) {
		const struct tutti_discovery *d = (void *)hal_host.window;
		const struct tutti_reference *seen = (void *)(hal_host.window + d->rsb_window.offset + q * TUTTI_PAGE_SIZE);

		assert_false(seen->flags & TUTTI_REFERENCE_VALID);
	}
	/* what was given back is found again */
	rig_rsb(255, ASID, TUTTI_RSB_SCRATCH);
	assert_false(in_card_memory(reference_buffer(255)->table));
}

/*
 * Forty queues at once, each with packets that change rare fields: six fetch buffers and two blocks for such packets in
 * local memory go round, a task slot at a time is given back, and every kernel runs once, in the order of its queue.
 */
static void rare_fields(void **unused)
{
	static unsigned next[40];
	unsigned q, i, k, busy = 0;

	rig_boot(32, ASID);
	for (i = 0; i < TUTTI_MAX_QUEUES * 64; i++)
		ring[i / 64][i % 64].dispatch.header = TUTTI_PACKET_INVALID;
	launches = holds = 0;
	for (q = 0; q < 40; q++) {
		struct tutti_dispatch_packet p = rig_packet(KERNEL_AT);

		rig_rsb(q, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
		p.workgroup_x = p.grid_x = 32;
		p.ref_num = TUTTI_REF_STORE;
		submit(q, 0, &p);
	}
	launches = 0;
	hold = true;
	for (i = 1; i <= 4; i++)
		for (q = 0; q < 40; q++) {
			struct tutti_condensed_packet p = { .type = TUTTI_PACKET_CONDENSED, .num_kernels = 3 };

			for (k = 0; k < 3; k++) {
				uint16_t *unit = &p.unit[7 * k];

				unit[0] = (TUTTI_DIFF_GROUP_BYTES | TUTTI_DIFF_KERNARG) << TUTTI_DIFF_VECTOR_SHIFT;
				unit[1] = 256;
				unit[3] = (uint16_t)(16 * (3 * i + k));
				unit[4] = (uint16_t)q;
			}
			submit(q, i, &p);
		}
	for (i = 0; i < FW_BLOCKS; i++)
		busy += blocks[i].busy && blocks[i].record != blocks[i].simple;
	assert_int_equal(busy, FW_GENERAL_BLOCKS); /* the others have theirs in card memory */
	for (i = 0; i < holds; i++) {
		hal_host_event(&held[i]);
		pump();
	}
	hold = false;
	assert_int_equal(launches, 40 * 12);
	memset(next, 0, sizeof(next));
	for (i = 0; i < launches; i++) {
		q = launched[i].queue;
		assert_int_equal(launched[i].kernarg, 16 * (3 + next[q]++) | (uint64_t)q << 16);
	}
}

/* A buffer that is not used while others write 2^31 words of commands and more: its entries can still be replaced. */
static void old_references(void **unused)
{
	static const uint32_t laps[] = { 1u << 18, 1u << 19, (1u << 19) + 1, 3u << 18, (1u << 20) - 2, (1u << 20) - 1 };
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT);
	struct tutti_condensed_packet replay = { .type = TUTTI_PACKET_CONDENSED, .num_kernels = 1 };
	unsigned i, n;

	for (i = 0; i < sizeof(laps) / sizeof(laps[0]); i++) {
		rig_boot(4, ASID);
		for (n = 0; n < 64; n++)
			ring[1][n].dispatch.header = TUTTI_PACKET_INVALID;
		launches = 0;
		rig_rsb(1, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
		p.workgroup_x = p.grid_x = 32;
		p.ref_num = TUTTI_REF_STORE;
		p.kernarg = KERNARG_AT;
		submit(1, 0, &p);
		submit(1, 1, &replay);
		pump();
		hal_host_skip(laps[i]);
		p.kernarg = KERNARG_AT + 16;
		submit(1, 2, &p);
		submit(1, 3, &replay);
		assert_int_equal(launches, 4);
		assert_int_equal(launched[3].kernarg, KERNARG_AT + 16);
	}
}

/* A card without room for all that, or with an image in its way, does not boot: nothing would be written over. */
static void no_room_in_card_memory(void **unused)
{
	struct tutti_discovery *d = (void *)hal_host.window;
	struct tutti_control *control;

	rig_load(4);
	control = (void *)(hal_host.window + d->control.offset);
	assert_true(fw_limits_init(d));
	control->image_offset = d->reserved_bytes - TUTTI_FIRMWARE_BYTES - 100;
	control->image_bytes = 100;
	assert_true(fw_limits_init(d));
	control->image_bytes = 101;
	assert_false(fw_limits_init(d));
	control->image_offset = ~0ull - 50;
	assert_false(fw_limits_init(d));
	control->image_offset = control->image_bytes = 0;
	d->reserved_bytes = TUTTI_FIRMWARE_BYTES + d->max_rsbs * sizeof(struct tutti_rsb);
	assert_true(fw_limits_init(d));
	d->reserved_bytes -= 4096;
	assert_false(fw_limits_init(d));
	d->reserved_bytes = 4096;
	assert_false(fw_limits_init(d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-04 SYS-09 PKT-10", every_queue),
		RIG_TEST("SYS-04 PKT-12 PKT-14", rare_fields),
		RIG_TEST("SYS-09 PKT-09", old_references),
		RIG_TEST("SYS-04 SYS-09", no_room_in_card_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

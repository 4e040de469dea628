/* SPDX-License-Identifier: MIT */
/*
 * REL-01: one reference packet and one condensed packet of any bytes, against plain packets with the fields patched:
 * the condensed packet is accepted exactly when each of its kernels would be, and means the same (PKT-12 .. PKT-20).
 * Input: 1 byte of choices, 64 bytes reference packet, 64 bytes condensed packet; kernel objects become cached ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/command_ring.h"
#include "place/cta_shape.h"
#include "queues/queue.h"
#include "top/host/drive.h"

#define KERNEL_AT 0x400000ull
#define KERNELS 8u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct queue *queue;

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void message(struct tutti_message *m)
{
	const struct tutti_discovery *d = (void *)hal_host.window;
	struct tutti_control *control = (void *)(hal_host.window + d->control.offset);
	struct tutti_message *to = (void *)(hal_host.window + d->host_ring.offset);

	to[control->host_ring_tail++ % (d->host_ring.bytes / 64)] = *m;
	hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_MESSAGE } });
}

static void answer_fetches(void)
{
	const struct tutti_kernel_descriptor d = { .magic = TUTTI_KERNEL_MAGIC, .version = 1, .kernarg_align = 16,
						   .entry_offset = 64, .group_bytes = 5000, .private_bytes = 40, .barriers = 1,
						   .scalar_blocks = 2 };
	const uint32_t *w;
	unsigned words;

	command_publish();
	while ((w = hal_host_command(&words)))
		if ((w[0] & 0xff) == TUTTI_CMD_FETCH && (w[0] >> 16 & TAG_KIND) != TAG_PACKETS) {
			if (w[4] == sizeof(d))
				memcpy(hal_pointer(w[5]), &d, sizeof(d));
			hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u) } });
		}
}

static void set_up(unsigned flags)
{
	struct tutti_message context = { .type = TUTTI_MSG_CONTEXT_CREATE, .context = { .asid = 1, .root = 4096 } };
	struct tutti_message rsb = { .type = TUTTI_MSG_RSB_CREATE, .rsb = { .asid = 1 } };
	struct tutti_message create = { .type = TUTTI_MSG_QUEUE_CREATE, .queue = { .asid = 1, .ring = 0x10000,
		.flags = (uint16_t)(TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB | flags), .read_index = 64, .size_log2 = 4,
		.priority = 5 } };

	memset(&shapes, 0, sizeof(shapes));
	hal_host_boot(8);
	message(&context);
	message(&rsb);
	message(&create);
	queue = &queues[0];
	answer_fetches();
}

static int plain(struct tutti_dispatch_packet *p, struct tutti_task_state *state, struct launch *launch)
{
	int code = packet_dispatch(queue, p, (uint32_t *)state, launch);

	if (code == PACKET_PARKED) {
		answer_fetches();
		code = packet_dispatch(queue, p, (uint32_t *)state, launch);
	}
	return code;
}

/* Kernels that exist, so that hardly anything parks; objects no packet may name stay. */
static uint64_t object(uint64_t any)
{
	return any & 63 || !any || any >> 47 ? any : KERNEL_AT + (any >> 6 & (KERNELS - 1)) * 64;
}

/* Field by field, straight from the list in the contract. -1: runs over the end. */
static int patch(struct tutti_dispatch_packet *p, uint16_t *unit, unsigned at, uint32_t vector, bool *reserved)
{
	uint64_t value[13] = { 0 };
	unsigned i;

#define VALUE(bit, name, units)                                                  \
	if (vector >> (bit) & 1)                                                 \
		for (i = 0; i < (units); i++, at++) {                            \
			if (at >= TUTTI_CONDENSED_UNITS)                         \
				return -1;                                       \
			value[bit] |= (uint64_t)unit[at] << (16 * i);            \
		}                                                                \
	if ((bit) == 10 && vector >> 10 & 1) {                                   \
		value[10] = object(value[10]);                                   \
		for (i = 0; i < 4; i++)                                          \
			unit[at - 4 + i] = (uint16_t)(value[10] >> (16 * i));    \
	}
	TUTTI_DIFF_FIELDS(VALUE)
	if (vector & 1) {
		p->header = (uint16_t)((p->header & 0xff) | value[0] << 8);
		*reserved |= value[0] >> 8;
	}
	if (vector & TUTTI_DIFF_SETUP)
		p->setup = (uint16_t)value[1];
	if (vector & TUTTI_DIFF_WORKGROUP_X)
		p->workgroup_x = (uint16_t)value[2];
	if (vector & TUTTI_DIFF_WORKGROUP_Y)
		p->workgroup_y = (uint16_t)value[3];
	if (vector & TUTTI_DIFF_WORKGROUP_Z)
		p->workgroup_z = (uint16_t)value[4];
	if (vector & TUTTI_DIFF_GRID_X)
		p->grid_x = (uint32_t)value[5];
	if (vector & TUTTI_DIFF_GRID_Y)
		p->grid_y = (uint32_t)value[6];
	if (vector & TUTTI_DIFF_GRID_Z)
		p->grid_z = (uint32_t)value[7];
	if (vector & TUTTI_DIFF_PRIVATE_BYTES)
		p->private_bytes = (uint32_t)value[8];
	if (vector & TUTTI_DIFF_GROUP_BYTES)
		p->group_bytes = (uint32_t)value[9];
	if (vector & TUTTI_DIFF_KERNEL_OBJECT)
		p->kernel_object = value[10];
	if (vector & TUTTI_DIFF_KERNARG)
		p->kernarg = value[11];
	if (vector & TUTTI_DIFF_SIGNAL)
		p->signal = value[12];
	return (int)at;
}

static int expand(const union tutti_packet *packet, struct block *block)
{
	int code, tries = 0;

	while ((code = condensed_expand(queue, packet, block)) == PACKET_PARKED && tries++ < 32)
		answer_fetches();
	block->at_unit = 0;
	return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct tutti_task_state want[TUTTI_CONDENSED_KERNELS];
	static uint32_t groups[TUTTI_CONDENSED_KERNELS];
	struct tutti_dispatch_packet reference;
	struct tutti_task_state state = { 0 };
	union tutti_packet packet;
	struct launch launch;
	struct block *block;
	const uint32_t *record;
	unsigned i, at = 0, n;
	bool good, table;
	int code;

	if (bytes != 129)
		return 0;
	table = data[0] & 1;
	set_up(table ? TUTTI_QUEUE_TABLE_DIFFS : 0);
	memcpy(&reference, data + 1, 64);
	memcpy(&packet, data + 65, 64);
	reference.kernel_object = object(reference.kernel_object);
	reference.tmd = 0;
	if (plain(&reference, &state, &launch))
		return 0;
	for (i = 0; i < 8; i++)
		if (data[0] >> i & 1 || i == 1)
			reference_store(queue->rsb, i, &reference, (const uint32_t *)&state, &launch);
	packet.condensed.type = TUTTI_PACKET_CONDENSED;
	n = packet.condensed.num_kernels;
	good = n >= 1 && n <= TUTTI_CONDENSED_KERNELS;
	for (i = 0; good && !table && i < n; i++) {
		struct tutti_dispatch_packet p = reference;
		uint32_t head;
		bool reserved = false;
		int next;

		if (at >= TUTTI_CONDENSED_UNITS) {
			good = false;
			break;
		}
		head = packet.condensed.unit[at];
		next = patch(&p, packet.condensed.unit, at + 1, head >> 3, &reserved);
		good = next > 0 && !reserved && queue->rsb->valid >> (head & 7) & 1 && !plain(&p, &want[i], &launch);
		groups[i] = launch.groups;
		at = (unsigned)next;
	}
	block = condensed_block(queue);
	code = expand(&packet, block);
	if (table) /* no model: must not crash, must not claim more than the card has */
		good = !code;
	check(code >= 0 && good == !code);
	if (!code) {
		queue->run_packet = queue->head;
		for (record = block->record, i = 0; i < n; i++) {
			record = condensed_kernel(queue, record, (uint32_t *)&state, &launch);
			check(shape_capacity(state.scalar_blocks | (uint32_t)state.vector_blocks << 16,
					     state.shared_blocks | (uint32_t)state.barriers << 16, state.waves));
			check(state.workgroup_x * state.workgroup_y * state.workgroup_z <= state.waves * 32u);
			if (!table)
				check(!memcmp(&state, &want[i], sizeof(state)) && launch.groups == groups[i]);
		}
		check(!expand(&packet, block) && condensed_same(queue, &packet, block));
	}
	return 0;
}

// SPDX-License-Identifier: MIT
#include "packet.h"

#include "kernel.h"
#include "queue.h"

struct packet_error packet_error;

/* Byte of a dispatch packet a field starts at. */
#define BYTE(field) offsetof(struct tutti_dispatch_packet, field)

COLD int packet_refuse(int code, uint32_t field)
{
	packet_error.field = field;
	return code;
}

/* Which of the size fields is wrong: for the report only. */
static COLD int refuse_sizes(const struct tutti_dispatch_packet *packet)
{
	if (!packet->workgroup_x || !packet->workgroup_y || !packet->workgroup_z)
		return packet_refuse(TUTTI_ERROR_DIMENSIONS, BYTE(workgroup_x));
	if (!packet->grid_x || !packet->grid_y || !packet->grid_z)
		return packet_refuse(TUTTI_ERROR_DIMENSIONS, BYTE(grid_x));
	return packet_refuse(TUTTI_ERROR_DIMENSIONS, BYTE(setup));
}

static bool required_ok(const struct kernel *kernel, uint32_t x, uint32_t y, uint32_t z)
{
	const uint16_t *need = kernel->workgroup;

	return (!need[0] || need[0] == x) && (!need[1] || need[1] == y) && (!need[2] || need[2] == z);
}

/*
 * Reads the packet and the cached kernel once and writes each word of the task
 * state as soon as it is known; a refused packet leaves an unpublished record.
 */
HOT int packet_dispatch(struct queue *queue, const struct tutti_dispatch_packet *packet, uint32_t *state,
			struct launch *launch)
{
	const uint32_t *w = (const uint32_t *)packet;
	uint32_t head = w[0], low = w[8], high = w[9], wx, wy, wz, gx, items, groups, need, blocks;
	const struct kernel *kernel = kernel_slot(low);
	struct shape *shape;

	if (unlikely(head & (TUTTI_HEADER_RESERVED | 0xfffc0000u) || (head & head >> 1 & 0x0a00)))
		return packet_refuse(TUTTI_ERROR_PACKET, head & 0xfffc0000u ? BYTE(setup) : BYTE(header));
	if (unlikely(kernel->low != low || kernel->high != (high ^ queue->asid_queue << 16) ||
		     kernel->state != KERNEL_READY)) {
		if ((!low && !high) || low & 63 || high >> 15)
			return packet_refuse(TUTTI_ERROR_CODE_OBJECT, BYTE(kernel_object));
		return kernel_miss(queue, low, high | queue->asid_queue << 16);
	}
	launch->kernel = kernel;
	state[STATE_AT(entry)] = kernel->entry[0];
	state[STATE_AT(entry) + 1] = kernel->entry[1];

	/* sizes */
	wx = w[1] & 0xffff;
	wy = w[1] >> 16;
	wz = w[2] & 0xffff;
	gx = w[3];
	if (unlikely(!wx || !gx))
		return refuse_sizes(packet);
	state[STATE_AT(grid_x)] = gx;
	groups = packet_groups(gx, wx);
	state[STATE_AT(groups_x)] = groups;
	items = wx;
	if (head >> 16 == 1) {
		if (unlikely((wy ^ 1) | (wz ^ 1) | (w[4] ^ 1) | (w[5] ^ 1)))
			return refuse_sizes(packet);
		state[STATE_AT(groups_y)] = 1;
		state[STATE_AT(groups_z)] = 1;
		state[STATE_AT(grid_y)] = 1;
		state[STATE_AT(grid_z)] = 1;
	} else {
		uint32_t gy = w[4], gz = w[5], groups_y, groups_z = gz;
		uint64_t all;

		if (unlikely(!wy || !wz || !gy || !gz || !(head >> 16)))
			return refuse_sizes(packet);
		if (head >> 16 == 2) {
			if (unlikely((wz ^ 1) | (gz ^ 1)))
				return refuse_sizes(packet);
		} else {
			groups_z = packet_groups(gz, wz);
		}
		groups_y = packet_groups(gy, wy);
		state[STATE_AT(groups_y)] = groups_y;
		state[STATE_AT(groups_z)] = groups_z;
		state[STATE_AT(grid_y)] = gy;
		state[STATE_AT(grid_z)] = gz;
		all = (uint64_t)groups * groups_y;
		if (likely(!(all >> 32)))
			all = (all & 0xffffffff) * groups_z;
		if (unlikely(all >> 32))
			return packet_refuse(TUTTI_ERROR_GRID, BYTE(grid_x));
		groups = (uint32_t)all;
		items *= wy;
		if (unlikely(items > kernel->items_max))
			return packet_refuse(TUTTI_ERROR_WORKGROUP, BYTE(workgroup_x));
		items *= wz;
	}
	if (unlikely(items > kernel->items_max))
		return packet_refuse(TUTTI_ERROR_WORKGROUP, BYTE(workgroup_x));
	if (unlikely(kernel->required) && !required_ok(kernel, wx, wy, wz))
		return packet_refuse(TUTTI_ERROR_WORKGROUP, BYTE(workgroup_x));
	launch->groups = groups;
	items = (items + TUTTI_WAVE_ITEMS - 1) / TUTTI_WAVE_ITEMS;
	state[STATE_AT(workgroup_x)] = w[1];
	state[STATE_AT(workgroup_z)] = wz | items << 16;

	/* memory */
	need = w[6];
	if (need < kernel->private_bytes)
		need = kernel->private_bytes;
	if (unlikely(need > fw.private_bytes / TUTTI_WAVE_ITEMS))
		return packet_refuse(TUTTI_ERROR_PRIVATE_MEMORY, BYTE(private_bytes));
	state[STATE_AT(private_bytes)] = need * TUTTI_WAVE_ITEMS;
	need = w[7];
	if (need < kernel->group_bytes)
		need = kernel->group_bytes;
	blocks = 0;
	if (need) {
		blocks = ((need - 1) >> fw.shared_shift) + 1;
		if (unlikely(blocks > fw.shared_blocks))
			return packet_refuse(TUTTI_ERROR_GROUP_MEMORY, BYTE(group_bytes));
	}
	state[STATE_AT(shared_bytes)] = blocks << fw.shared_shift;
	blocks |= kernel->barriers;
	state[STATE_AT(scalar_blocks)] = kernel->registers;
	state[STATE_AT(shared_blocks)] = blocks;

	/* addresses */
	state[STATE_AT(kernarg)] = w[10];
	state[STATE_AT(kernarg) + 1] = w[11];
	if (unlikely(w[11] >> 15))
		return packet_refuse(TUTTI_ERROR_PACKET, BYTE(kernarg));
	launch->signal[0] = w[14];
	launch->signal[1] = w[15];
	if (unlikely(!packet_signal_ok(w[14], w[15])))
		return packet_refuse(TUTTI_ERROR_PACKET, BYTE(signal));
	if (unlikely((w[12] | w[13]) && queue->flags & TUTTI_QUEUE_EXTENDED))
		return packet_refuse(TUTTI_ERROR_TMD, BYTE(tmd));

	launch->header = head;
	state[STATE_AT(asid)] = queue->asid_queue;
	state[STATE_AT(cga_x)] = 0;
	state[STATE_AT(cga_z)] = head & 0xffff0000u;
	state[STATE_AT(first)] = 0;
	state[STATE_AT(tmd)] = 0;
	state[STATE_AT(tmd) + 1] = 0;
	state[STATE_AT(packet)] = (uint32_t)queue->head;
	state[STATE_AT(packet) + 1] = (uint32_t)(queue->head >> 32);

	shape = shape_get(kernel->registers, blocks, items);
	if (unlikely(!shape))
		return queue_park(queue, WAIT_SHAPE);
	if (unlikely(!shape->capacity))
		return packet_refuse(TUTTI_ERROR_WORKGROUP, BYTE(workgroup_x));
	launch->shape = shape;
	return 0;
}

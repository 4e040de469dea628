// SPDX-License-Identifier: MIT
#include "packets/dispatch_packet.h"

#include "core/queue_record.h"
#include "core/state.h"
#include "core/wait.h"
#include "packets/kernel_rules.h"
#include "place/cta_shape.h"
#include "place/shape_line.h"

/* Offset in bytes of a field of a dispatch packet. */
#define BYTE(field) offsetof(struct tutti_dispatch_packet, field)

/* Finds out which of the size fields is wrong, for the error report only. */
static COLD int refuse_sizes(const struct tutti_dispatch_packet *packet)
{
	if (!packet->workgroup_x || !packet->workgroup_y || !packet->workgroup_z)
		return packet_refuse(TUTTI_ERROR_DIMENSIONS, BYTE(workgroup_x));
	if (!packet->grid_x || !packet->grid_y || !packet->grid_z)
		return packet_refuse(TUTTI_ERROR_DIMENSIONS, BYTE(grid_x));
	return packet_refuse(TUTTI_ERROR_DIMENSIONS, BYTE(setup));
}

static inline bool header_ok(uint32_t head)
{
	return !((head & (TUTTI_HEADER_RESERVED | 0xfffc0000u)) | (head >> 9 & head >> 10 & 5));
}

static int refuse_header(uint32_t head)
{
	return packet_refuse(TUTTI_ERROR_PACKET, head & 0xfffc0000u ? BYTE(setup) : BYTE(header));
}

bool packet_any HOT_DATA;

/* The kernel's descriptor is not in the cache or was not used yet. */
static COLD int find_kernel(struct queue *queue, const struct tutti_dispatch_packet *packet, uint32_t *state,
			    struct launch *launch)
{
	int code = kernel_get(queue, packet->kernel_object, &launch->kernel);

	return code ? code : packet_dispatch(queue, packet, state, launch);
}

/* The kernel was not launched with workgroups of this size before. */
static COLD int other_sizes(struct queue *queue, const struct tutti_dispatch_packet *packet, uint32_t *state,
			    struct launch *launch)
{
	if (!packet->workgroup_x || !packet->workgroup_y || !packet->workgroup_z)
		return refuse_sizes(packet);
	kernel_resize(launch->kernel, packet->workgroup_x, packet->workgroup_y, packet->workgroup_z);
	return packet_dispatch(queue, packet, state, launch);
}

/*
 * The packet is decoded, but its shape of CTA is not the one used last, unless only KERNEL_GROUPED makes them differ.
 * From now on it is the one used last.
 */
static __attribute__((noinline)) int other_shape(struct queue *queue, uint32_t *state, struct launch *launch)
{
	uint32_t grouped = state[STATE_AT(shared_blocks)] & KERNEL_GROUPED;
	struct shape *shape;

	state[STATE_AT(shared_blocks)] ^= grouped;
	shape = shape_get(state[STATE_AT(scalar_blocks)], state[STATE_AT(shared_blocks)], state[STATE_AT(workgroup_z)] >> 16);
	if (unlikely(!shape))
		return shape_line_wait(queue, state[STATE_AT(scalar_blocks)], state[STATE_AT(shared_blocks)],
				       state[STATE_AT(workgroup_z)] >> 16);
	launch->shape = shape;
	if (unlikely(!shape->capacity))
		return packet_refuse(TUTTI_ERROR_WORKGROUP, BYTE(workgroup_x));
	return grouped ? PACKET_GROUPED : 0;
}

/*
 * Reads the packet and its kernel once and writes each word of the task state as soon as it is known; when a packet is
 * refused, the command it was written to is never published. Rare cases are tail calls, so that the hot path saves no
 * register for them.
 */
HOT int packet_dispatch(struct queue *queue, const struct tutti_dispatch_packet *packet, uint32_t *state,
			struct launch *launch)
{
	const uint32_t *w = (const uint32_t *)packet;
	uint32_t head = w[0], low = w[8], high = w[9], wx, wy, wz, gx, items, groups, need, blocks;
	const struct kernel *kernel = kernel_slot(low, queue->asid_queue);
	uint32_t workgroup, dimensions, registers;
	struct shape *shape;

	if (unlikely(w[12] | w[13]) && queue->flags & TUTTI_QUEUE_EXTENDED && !packet_any)
		return PACKET_SPECIAL;
	if (unlikely(!header_ok(head)))
		return refuse_header(head);
	if (unlikely(kernel->low != low) || unlikely(kernel->high != (high ^ queue->asid_queue << 16)))
		return find_kernel(queue, packet, state, launch);
	launch->kernel = kernel;
	state[STATE_AT(entry)] = kernel->entry[0];
	state[STATE_AT(entry) + 1] = kernel->entry[1];

	/* sizes */
	workgroup = w[1];
	wx = packet->workgroup_x;
	wy = workgroup >> 16;
	wz = packet->workgroup_z;
	gx = w[3];
	if (unlikely(kernel->size[0].by != wx))
		return other_sizes(queue, packet, state, launch);
	state[STATE_AT(grid_x)] = gx;
	groups = packet_groups(&kernel->size[0], gx);
	if (unlikely(!groups))
		return refuse_sizes(packet);
	state[STATE_AT(groups_x)] = groups;
	items = wx;
	dimensions = head >> 16;
	if (likely(dimensions == 1)) {
		if (unlikely(wy != 1) || unlikely(wz != 1) || unlikely(w[4] != 1) || unlikely(w[5] != 1))
			return refuse_sizes(packet);
		state[STATE_AT(groups_y)] = 1;
		state[STATE_AT(groups_z)] = 1;
		state[STATE_AT(grid_y)] = 1;
		state[STATE_AT(grid_z)] = 1;
	} else {
		uint32_t gy = w[4], gz = w[5], along;
		uint64_t all;

		if (unlikely(kernel->size[1].by != wy))
			return other_sizes(queue, packet, state, launch);
		state[STATE_AT(grid_y)] = gy;
		state[STATE_AT(grid_z)] = gz;
		along = packet_groups(&kernel->size[1], gy);
		if (unlikely(!along))
			return refuse_sizes(packet);
		state[STATE_AT(groups_y)] = along;
		all = (uint64_t)groups * along;
		if (unlikely(all >> 32))
			return packet_refuse(TUTTI_ERROR_GRID, BYTE(grid_x));
		groups = (uint32_t)all;
		items *= wy;
		along = 1;
		if (dimensions == 2) {
			if (unlikely(wz != 1) || unlikely(gz != 1))
				return refuse_sizes(packet);
		} else {
			if (unlikely(kernel->size[2].by != wz))
				return other_sizes(queue, packet, state, launch);
			along = packet_groups(&kernel->size[2], gz);
			if (unlikely(!along) || unlikely(!dimensions))
				return refuse_sizes(packet);
			all = (uint64_t)groups * along;
			if (unlikely(all >> 32))
				return packet_refuse(TUTTI_ERROR_GRID, BYTE(grid_x));
			groups = (uint32_t)all;
			if (unlikely(items > kernel->items_max))
				return packet_refuse(TUTTI_ERROR_WORKGROUP, BYTE(workgroup_x));
			items *= wz;
		}
		state[STATE_AT(groups_z)] = along;
	}
	if (unlikely(items > kernel->items_max))
		return packet_refuse(TUTTI_ERROR_WORKGROUP, BYTE(workgroup_x));
	if (unlikely(kernel->demands)) {
		if (!kernel_takes(kernel, wx, wy, wz))
			return packet_refuse(TUTTI_ERROR_WORKGROUP, BYTE(workgroup_x));
		if (kernel->demands & KERNEL_WAVES && !packet_any && queue->flags & TUTTI_QUEUE_EXTENDED && packet->ref_num)
			return PACKET_SPECIAL;
	}
	launch->groups = groups;
	items = kernel_waves(items);
	state[STATE_AT(workgroup_x)] = workgroup;
	state[STATE_AT(workgroup_z)] = wz | items << 16;

	/* memory */
	if (!kernel_private(kernel, w[6], &need))
		return packet_refuse(TUTTI_ERROR_PRIVATE_MEMORY, BYTE(private_bytes));
	state[STATE_AT(private_bytes)] = need;
	if (!kernel_shared(kernel, w[7], &fw.cta_shared, &blocks))
		return packet_refuse(TUTTI_ERROR_GROUP_MEMORY, BYTE(group_bytes));
	state[STATE_AT(shared_bytes)] = blocks << fw.shared_shift;
	blocks |= kernel->barriers;
	registers = kernel->registers;
	state[STATE_AT(scalar_blocks)] = registers;
	state[STATE_AT(shared_blocks)] = blocks;

	/* addresses */
	low = w[10];
	high = w[11];
	state[STATE_AT(kernarg)] = low;
	state[STATE_AT(kernarg) + 1] = high;
	low = w[14];
	need = w[15];
	launch->signal[0] = low;
	launch->signal[1] = need;
	if (unlikely((low & 63) | (high | need) >> 15))
		return packet_refuse(TUTTI_ERROR_PACKET, high >> 15 ? BYTE(kernarg) : BYTE(signal));

	launch->header = head;
	state[STATE_AT(asid)] = queue->asid_queue;
	state[STATE_AT(cga_x)] = 0;
	state[STATE_AT(cga_z)] = dimensions << 16;
	state[STATE_AT(first)] = 0;
	state[STATE_AT(tmd)] = 0;
	state[STATE_AT(tmd) + 1] = 0;
	state[STATE_AT(packet)] = (uint32_t)queue->head;
	state[STATE_AT(packet) + 1] = (uint32_t)(queue->head >> 32);

	shape = shape_last;
	if (unlikely(shape->registers != registers) || unlikely(shape->shared != blocks) ||
	    unlikely(shape->match != items))
		return other_shape(queue, state, launch);
	launch->shape = shape;
	if (unlikely(!shape->capacity))
		return packet_refuse(TUTTI_ERROR_WORKGROUP, BYTE(workgroup_x));
	return 0;
}

/* A throttle task need not fit an SM as it is now, only as it will be in throttle mode. */
static bool fits_throttled(const struct launch *launch, uint32_t shared_limit)
{
	const struct shape *shape = launch->shape;

	return shared_limit && shape && !shape->capacity &&
	       shape_capacity_with(shape->registers, shape->shared, shape->waves, shared_limit);
}

COLD int packet_special(struct queue *queue, const struct tutti_dispatch_packet *packet, uint32_t shared_limit,
			uint32_t *state, struct launch *launch)
{
	int code;

	packet_any = true;
	if (shared_limit)
		fw.cta_shared = shared_limit;
	launch->shape = NULL;
	code = packet_dispatch(queue, packet, state, launch);
	packet_any = false;
	fw.cta_shared = fw.shared_blocks;
	return code == PACKET_GROUPED || (code == TUTTI_ERROR_WORKGROUP && fits_throttled(launch, shared_limit)) ? 0 : code;
}

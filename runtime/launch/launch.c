// SPDX-License-Identifier: MIT
#include "queue/queue.h"
#include "record/record.h"

static inline bool workgroup_ok(const struct tutti_kernel_descriptor *descriptor, uint32_t x, uint32_t y,
				uint32_t z)
{
	uint64_t items = (uint64_t)x * y * z;

	if ((descriptor->workgroup[0] && descriptor->workgroup[0] != x) ||
	    (descriptor->workgroup[1] && descriptor->workgroup[1] != y) ||
	    (descriptor->workgroup[2] && descriptor->workgroup[2] != z))
		return false;
	return items <= (descriptor->workgroup_max ? descriptor->workgroup_max : UINT16_MAX);
}

/* Fills a ring slot or a private copy, except for its first word: the caller stores that last, to publish it. */
static inline int encode(const struct tutti_launch *launch, struct tutti_dispatch_packet *packet,
			 uint32_t *word)
{
	const struct tutti_kernel *kernel = launch->kernel;
	uint32_t grid_y = launch->grid[1] ? launch->grid[1] : 1,
		 grid_z = launch->grid[2] ? launch->grid[2] : 1;
	uint16_t y = launch->workgroup[1] ? launch->workgroup[1] : 1,
		 z = launch->workgroup[2] ? launch->workgroup[2] : 1;
	uint32_t group_bytes, dimensions;

	if (!kernel || !launch->grid[0] || !launch->workgroup[0] || launch->acquire > TUTTI_SCOPE_SYSTEM ||
	    launch->release > TUTTI_SCOPE_SYSTEM || ((uintptr_t)launch->tmd & 63) ||
	    ((uintptr_t)launch->signal & 63) ||
	    __builtin_add_overflow(kernel->group_bytes, launch->dynamic_group_bytes, &group_bytes))
		return -EINVAL;
	if (kernel->descriptor && !workgroup_ok(kernel->descriptor, launch->workgroup[0], y, z))
		return -EINVAL;
	dimensions = grid_z > 1 || z > 1 ? 3 : grid_y > 1 || y > 1 ? 2 : 1;
	*word =
	    tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, launch->barrier, launch->acquire, launch->release) |
	    dimensions << 16;
	packet->workgroup_x = launch->workgroup[0];
	packet->workgroup_y = y;
	packet->workgroup_z = z;
	packet->ref_num = 0;
	packet->grid_x = launch->grid[0];
	packet->grid_y = grid_y;
	packet->grid_z = grid_z;
	packet->private_bytes = kernel->private_bytes;
	packet->group_bytes = group_bytes;
	packet->kernel_object = kernel->object;
	packet->kernarg = (uintptr_t)launch->kernarg;
	packet->tmd = (uintptr_t)launch->tmd;
	packet->signal = (uintptr_t)launch->signal;
	return 0;
}

int tutti_launch_packet(const struct tutti_launch *launch, struct tutti_dispatch_packet *packet)
{
	uint32_t word;
	int error = encode(launch, packet, &word);

	if (!error) {
		packet->header = (uint16_t)word;
		packet->setup = (uint16_t)(word >> 16);
	}
	return error;
}

int tutti_dispatch(struct tutti_queue *queue, const struct tutti_launch *launch)
{
	union tutti_packet packet;
	uint32_t word;
	int error = encode(launch, &packet.dispatch, &word);

	if (__builtin_expect(error, 0))
		return error;
	packet.word[0] = word;
	if (__builtin_expect(queue_of(queue)->recording != NULL, 0))
		return record_launch(queue_of(queue)->recording, &packet.dispatch);
	return tutti_queue_submit(queue, &packet);
}

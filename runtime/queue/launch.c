// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "device/wait.h"
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

/* Into a ring slot or a private copy; the first word is returned, to be stored last. */
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

struct copy_wait {
	struct wait wait;
	struct queue *queue;
};

static bool copied(const struct wait *wait)
{
	const struct queue *queue = ((const struct copy_wait *)wait)->queue;

	return tutti_signal_load(queue->copy_signal) <= 0 || tutti_load_relaxed(&queue->stopped);
}

/* One copy of a queue at a time: they share the queue's own signal. */
int tutti_copy(struct tutti_queue *public, void *to, const void *from, size_t bytes)
{
	struct queue *queue = queue_of(public);
	union tutti_packet packet = {.agent = {
					 .header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, true,
								TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM),
					 .type = TUTTI_AGENT_COPY,
					 .arg = {(uintptr_t)to, (uintptr_t)from, bytes},
					 .signal = (uintptr_t)queue->copy_signal,
				     }};
	struct copy_wait wait = {
	    .wait = {.device = queue->device, .satisfied = copied, .waiters = &queue->copy_signal->waiters},
	    .queue = queue,
	};
	int error;

	if (!bytes)
		return 0;
	pthread_mutex_lock(&queue->copy_lock);
	tutti_signal_store(queue->copy_signal, 1);
	error = tutti_queue_submit(public, &packet);
	if (!error)
		error = wait_for(&wait.wait, TUTTI_WAIT_FOREVER);
	if (!error && tutti_signal_load(queue->copy_signal) > 0)
		error = -EIO;
	pthread_mutex_unlock(&queue->copy_lock);
	if (error)
		device_poll(queue->device); /* callbacks only without the lock */
	return error;
}

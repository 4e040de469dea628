// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>

#include "hsa/base/runtime.h"
#include "hsa/base/status.h"
#include "hsa/extension/tutti.h"
#include "hsa/queue/queue.h"

struct recording {
	struct object object;
	struct tutti_recording *launches;
};

static struct tutti_recording *launches_of(hsa_ven_tutti_recording_t handle)
{
	const struct recording *recording = object_find(OBJECT_RECORDING, handle.handle);

	return recording ? recording->launches : NULL;
}

/* Is it an extended queue, on which recordings are made? */
static struct tutti_queue *extended(const hsa_queue_t *public)
{
	const struct queue *queue = queue_find(public);

	return queue && queue->card && queue->card->flags & TUTTI_QUEUE_EXTENDED ? queue->card : NULL;
}

static void recording_free(struct object *object)
{
	tutti_recording_destroy(((struct recording *)object)->launches);
	free(object);
}

hsa_status_t record_begin(hsa_queue_t *public)
{
	struct tutti_queue *queue;
	int error;

	REQUIRE_INIT();
	queue = extended(public);
	REQUIRE(queue, INVALID_QUEUE);
	error = tutti_record_begin(queue);
	return error == -EBUSY ? HSA_STATUS_ERROR_RESOURCE_FREE : status_of(error);
}

static uint8_t scope(uint16_t header, unsigned shift)
{
	return header >> shift & ((1u << HSA_PACKET_HEADER_WIDTH_SCACQUIRE_FENCE_SCOPE) - 1);
}

/* What a packet asks for, as libtutti records it. */
static struct tutti_launch launch_of(const hsa_kernel_dispatch_packet_t *packet, const struct tutti_kernel *kernel)
{
	return (struct tutti_launch){
		.kernel = kernel,
		.grid = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z},
		.workgroup = {packet->workgroup_size_x, packet->workgroup_size_y, packet->workgroup_size_z},
		.kernarg = packet->kernarg_address,
		.signal = signal_of(packet->completion_signal),
		.barrier = packet->header >> HSA_PACKET_HEADER_BARRIER & 1,
		.acquire = scope(packet->header, HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE),
		.release = scope(packet->header, HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE),
		.bytes = sizeof(struct tutti_launch),
		.tmd = (void *)(uintptr_t)packet->reserved2,
	};
}

hsa_status_t record_dispatch(hsa_queue_t *public, const hsa_kernel_dispatch_packet_t *packet)
{
	struct tutti_kernel kernel;
	struct tutti_queue *queue;
	struct tutti_launch launch;

	REQUIRE_INIT();
	queue = extended(public);
	REQUIRE(queue, INVALID_QUEUE);
	REQUIRE(packet && (packet->header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH, INVALID_ARGUMENT);
	kernel = (struct tutti_kernel){.object = packet->kernel_object,
				       .group_bytes = packet->group_segment_size,
				       .private_bytes = packet->private_segment_size};
	launch = launch_of(packet, &kernel);
	return status_of(tutti_dispatch(queue, &launch));
}

hsa_status_t record_end(hsa_queue_t *public, hsa_ven_tutti_recording_t *handle)
{
	struct tutti_queue *queue;
	struct recording *recording;
	int error;

	REQUIRE_INIT();
	queue = extended(public);
	REQUIRE(queue, INVALID_QUEUE);
	REQUIRE(handle, INVALID_ARGUMENT);
	recording = calloc(1, sizeof(*recording));
	REQUIRE(recording, OUT_OF_RESOURCES);
	error = tutti_record_end(queue, &recording->launches);
	if (error) {
		free(recording);
		return error == -EINVAL ? HSA_STATUS_ERROR_INVALID_QUEUE : status_of(error);
	}
	recording->object.destroy = recording_free;
	object_add(&recording->object, OBJECT_RECORDING, 0);
	handle->handle = recording->object.handle;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t recording_destroy(hsa_ven_tutti_recording_t handle)
{
	struct tutti_recording *launches;

	REQUIRE_INIT();
	launches = launches_of(handle);
	REQUIRE(launches, INVALID_ARGUMENT);
	REQUIRE(tutti_recording_destroy(launches) != -EBUSY, RESOURCE_FREE);
	free(object_remove(OBJECT_RECORDING, handle.handle));
	return HSA_STATUS_SUCCESS;
}

hsa_status_t recording_packets(hsa_ven_tutti_recording_t handle, uint32_t *packets)
{
	REQUIRE_INIT();
	REQUIRE(launches_of(handle) && packets, INVALID_ARGUMENT);
	*packets = tutti_recording_packets(launches_of(handle));
	return HSA_STATUS_SUCCESS;
}

hsa_status_t recording_set_kernarg(hsa_ven_tutti_recording_t handle, uint32_t index, void *kernarg)
{
	REQUIRE_INIT();
	return status_of(tutti_recording_set_kernarg(launches_of(handle), index, kernarg));
}

hsa_status_t recording_set_grid(hsa_ven_tutti_recording_t handle, uint32_t index, hsa_dim3_t grid)
{
	REQUIRE_INIT();
	return status_of(tutti_recording_set_grid(launches_of(handle), index, (uint32_t[3]){grid.x, grid.y, grid.z}));
}

hsa_status_t recording_set_signal(hsa_ven_tutti_recording_t handle, uint32_t index, hsa_signal_t signal)
{
	REQUIRE_INIT();
	return status_of(tutti_recording_set_signal(launches_of(handle), index, signal_of(signal)));
}

hsa_status_t recording_replay(hsa_ven_tutti_recording_t handle)
{
	struct tutti_recording *launches;

	REQUIRE_INIT();
	launches = launches_of(handle);
	REQUIRE(launches, INVALID_ARGUMENT);
	REQUIRE(!tutti_replay(launches), INVALID_QUEUE);
	return HSA_STATUS_SUCCESS;
}

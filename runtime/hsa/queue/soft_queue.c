// SPDX-License-Identifier: MIT
/* Queues that the application serves itself: a ring in memory, and a signal of the application as doorbell. */
#include <stdlib.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/queue/queue.h"

static hsa_status_t make(struct queue *queue, const struct region *region)
{
	static uint64_t made;
	hsa_status_t status;
	hsa_agent_dispatch_packet_t *packet;

	status = region_allocate(region, (size_t)queue->public.size * sizeof(*packet), &queue->public.base_address);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	packet = queue->public.base_address;
	for (uint32_t i = 0; i < queue->public.size; i++)
		packet[i].header = HSA_PACKET_TYPE_INVALID;
	queue->write_index = &queue->words[0];
	queue->read_index = &queue->words[1];
	/* Ids of the card's queues are small. */
	queue->public.id = UINT32_MAX + __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_soft_queue_create(hsa_region_t handle, uint32_t size, hsa_queue_type32_t type, uint32_t features,
				   hsa_signal_t doorbell, hsa_queue_t **out)
{
	const struct region *region = region_of(handle.handle);
	struct queue *queue;
	hsa_status_t status;

	REQUIRE_INIT();
	REQUIRE(region && out && doorbell.handle && size && !(size & (size - 1)), INVALID_ARGUMENT);
	REQUIRE(type == HSA_QUEUE_TYPE_MULTI || type == HSA_QUEUE_TYPE_SINGLE, INVALID_ARGUMENT);
	queue = queue_new(type, features, size);
	REQUIRE(queue, OUT_OF_RESOURCES);
	queue->public.doorbell_signal = doorbell;
	status = make(queue, region);
	if (status != HSA_STATUS_SUCCESS) {
		free(queue);
		return status;
	}
	object_add(&queue->object, OBJECT_QUEUE, (uintptr_t)&queue->public);
	*out = &queue->public;
	return HSA_STATUS_SUCCESS;
}

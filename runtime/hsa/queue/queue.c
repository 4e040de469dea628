// SPDX-License-Identifier: MIT
#include "hsa/queue/queue.h"

#include <hsa/hsa_ext_amd.h>
#include <stdlib.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"

void queue_free(struct object *object)
{
	struct queue *queue = (struct queue *)object;

	queue->bell.queue = NULL;
	if (queue->card)
		tutti_queue_destroy(queue->card);
	else
		tutti_memory_free(runtime_device(), queue->public.base_address);
	free(queue);
}

struct queue *queue_new(hsa_queue_type32_t type, uint32_t features, uint32_t size)
{
	struct queue *queue = aligned_alloc(_Alignof(struct queue), sizeof(*queue));

	if (!queue)
		return NULL;
	*queue = (struct queue){
		.object.destroy = queue_free,
		.public = {.type = type, .features = features, .size = size},
		.bell.signal.flags = SIGNAL_DOORBELL,
	};
	return queue;
}

/* Either function may destroy the queue or shut the runtime down, so the one that needs no queue comes last. */
static void on_error(struct tutti_queue *card, const struct tutti_fault *fault, void *context)
{
	struct queue *queue = context;

	(void)card;
	runtime_callback_begin();
	if (queue->callback)
		queue->callback(status_of_fault(fault->code), &queue->public, queue->data);
	if (fault->code == TUTTI_ERROR_MEMORY_FAULT)
		event_memory_fault(fault);
	runtime_callback_end();
}

/*
 * Kernels may run as long as they like, as HSA has it. Times are always taken: an application that asks for them does so
 * when the queue is there already.
 */
static hsa_status_t make(struct queue *queue, const struct tutti_queue_options *extra)
{
	const struct tutti_queue_options options = {
		.packets = queue->public.size,
		.multi = queue->public.type == HSA_QUEUE_TYPE_MULTI,
		.flags = TUTTI_QUEUE_PROFILE | extra->flags,
		.priority = extra->priority,
		.rsb_in_memory = extra->rsb_in_memory,
		.rsb = extra->rsb,
		.timeout_ms = UINT32_MAX,
		.error = on_error,
		.context = queue,
	};
	int error = tutti_queue_create(runtime_device(), &options, &queue->card);

	if (error)
		return status_of(error);
	queue->bell.queue = queue->card;
	queue->write_index = queue->card->write_index;
	queue->read_index = (uint64_t *)queue->card->read_index;
	queue->public.base_address = queue->card->ring;
	queue->public.size = (uint32_t)queue->card->mask + 1;
	queue->public.doorbell_signal = signal_handle(&queue->bell.signal);
	queue->public.id = queue->card->id;
	return HSA_STATUS_SUCCESS;
}

static bool size_ok(uint32_t size)
{
	return size && !(size & (size - 1)) && size <= runtime_card()->ring_packets_max;
}

hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			  const struct tutti_queue_options *extra,
			  void (*callback)(hsa_status_t status, hsa_queue_t *queue, void *data), void *data,
			  hsa_queue_t **out)
{
	struct queue *queue;
	hsa_status_t status;

	REQUIRE(agent_of(agent) != AGENTS, INVALID_AGENT);
	REQUIRE(out && type <= HSA_QUEUE_TYPE_COOPERATIVE && size_ok(size), INVALID_ARGUMENT);
	REQUIRE(agent_of(agent) == AGENT_CARD && type != HSA_QUEUE_TYPE_COOPERATIVE, INVALID_QUEUE_CREATION);
	queue = queue_new(type, (unsigned)HSA_QUEUE_FEATURE_KERNEL_DISPATCH | (unsigned)HSA_QUEUE_FEATURE_AGENT_DISPATCH,
			  size);
	REQUIRE(queue, OUT_OF_RESOURCES);
	queue->callback = callback;
	queue->data = data;
	status = make(queue, extra);
	if (status != HSA_STATUS_SUCCESS) {
		free(queue);
		return status;
	}
	object_add(&queue->object, OBJECT_QUEUE, (uintptr_t)&queue->public);
	*out = &queue->public;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			      void (*callback)(hsa_status_t status, hsa_queue_t *queue, void *data), void *data,
			      uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **out)
{
	(void)private_bytes; /* hints: the card finds out what each packet needs */
	(void)group_bytes;
	REQUIRE_INIT();
	return queue_create(agent, size, type, &(struct tutti_queue_options){0}, callback, data, out);
}

hsa_status_t hsa_queue_destroy(hsa_queue_t *public)
{
	struct queue *queue;

	REQUIRE_INIT();
	REQUIRE(public, INVALID_ARGUMENT);
	queue = object_remove(OBJECT_QUEUE, (uintptr_t)public);
	REQUIRE(queue, INVALID_QUEUE);
	queue_free(&queue->object);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_inactivate(hsa_queue_t *public)
{
	struct queue *queue;

	REQUIRE_INIT();
	REQUIRE(public, INVALID_ARGUMENT);
	queue = queue_find(public);
	REQUIRE(queue, INVALID_QUEUE);
	queue->bell.queue = NULL;
	return queue->card ? status_of(tutti_queue_inactivate(queue->card)) : HSA_STATUS_SUCCESS;
}

/* Times are always taken (see make()). */
hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *public, int enable)
{
	(void)enable;
	REQUIRE_INIT();
	REQUIRE(public, INVALID_ARGUMENT);
	REQUIRE(queue_find(public), INVALID_QUEUE);
	return HSA_STATUS_SUCCESS;
}

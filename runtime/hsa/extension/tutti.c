// SPDX-License-Identifier: MIT
/* Extended queues, tasks and tensor descriptors; recordings are in a file of their own. */
#include "hsa/extension/tutti.h"

#include <stdlib.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"
#include "hsa/queue/queue.h"

#define QUEUE_FLAGS (TUTTI_QUEUE_OVERLAP | TUTTI_QUEUE_TABLE_DIFFS)

/* The reference state buffer of an extended queue; NULL if it is none. */
static struct tutti_rsb_object *references_of(const hsa_queue_t *public)
{
	const struct queue *queue = queue_find(public);

	return queue && queue->card ? tutti_queue_rsb(queue->card) : NULL;
}

hsa_status_t extended_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				   const hsa_ven_tutti_queue_options_t *options,
				   void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
				   hsa_queue_t **queue)
{
	struct tutti_queue_options extra = {.flags = TUTTI_QUEUE_EXTENDED};

	REQUIRE_INIT();
	if (options) {
		REQUIRE(!(options->flags & ~QUEUE_FLAGS) && options->priority <= 10, INVALID_ARGUMENT);
		extra.flags |= options->flags;
		extra.priority = options->priority;
		extra.rsb_in_memory = options->references_in_memory;
		if (options->references_of) {
			extra.rsb = references_of(options->references_of);
			REQUIRE(extra.rsb, INVALID_QUEUE);
		}
	}
	return queue_create(agent, size, type, &extra, callback, data, queue);
}

struct task {
	struct object object;
	struct tutti_task *task;
};

static void task_free(struct object *object)
{
	tutti_task_destroy(((struct task *)object)->task);
	free(object);
}

static struct tutti_task *task_of(hsa_ven_tutti_task_t handle)
{
	const struct task *task = object_find(OBJECT_TASK, handle.handle);

	return task ? task->task : NULL;
}

hsa_status_t task_create(hsa_agent_t agent, const struct tutti_task_attributes *attributes,
			 hsa_ven_tutti_task_t *handle)
{
	struct task *task;
	int error;

	REQUIRE_INIT();
	REQUIRE(agent_of(agent) == AGENT_CARD, INVALID_AGENT);
	REQUIRE(attributes && handle, INVALID_ARGUMENT);
	task = calloc(1, sizeof(*task));
	REQUIRE(task, OUT_OF_RESOURCES);
	error = tutti_task_create(runtime_device(), attributes, &task->task);
	if (error) {
		free(task);
		return status_of(error);
	}
	task->object.destroy = task_free;
	object_add(&task->object, OBJECT_TASK, 0);
	handle->handle = task->object.handle;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t task_destroy(hsa_ven_tutti_task_t handle)
{
	struct task *task;

	REQUIRE_INIT();
	task = object_remove(OBJECT_TASK, handle.handle);
	REQUIRE(task, INVALID_ARGUMENT);
	task_free(&task->object);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t task_address(hsa_ven_tutti_task_t handle, uint64_t *address)
{
	REQUIRE_INIT();
	REQUIRE(task_of(handle) && address, INVALID_ARGUMENT);
	*address = (uintptr_t)tutti_task_tmd(task_of(handle));
	return HSA_STATUS_SUCCESS;
}

hsa_status_t task_counters(hsa_ven_tutti_task_t handle, struct tutti_task_counters *counters)
{
	REQUIRE_INIT();
	REQUIRE(task_of(handle) && counters, INVALID_ARGUMENT);
	return status_of(tutti_task_counters(task_of(handle), counters));
}

hsa_status_t tensor_tiled(struct tutti_tensor *tensor, const struct tutti_tiled *tiled)
{
	REQUIRE_INIT();
	REQUIRE(tensor && tiled && !tutti_tensor_encode_tiled(tensor, tiled), INVALID_ARGUMENT);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t tensor_im2col(struct tutti_tensor *tensor, const struct tutti_im2col *im2col)
{
	REQUIRE_INIT();
	REQUIRE(tensor && im2col && !tutti_tensor_encode_im2col(tensor, im2col), INVALID_ARGUMENT);
	return HSA_STATUS_SUCCESS;
}

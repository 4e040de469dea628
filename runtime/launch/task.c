// SPDX-License-Identifier: MIT
#include <string.h>

#include "base/sized.h"
#include "launch/work.h"
#include "memory/memory.h"
#include "queue/queue.h"

struct tutti_task {
	struct handle handle;
	struct tutti_device *device;
	struct tutti_tmd *tmd;
	uint32_t *affinity;
	struct tutti_work *work;
	struct queue_user user; /* queue of the newest dispatch; no queue if that was recorded */
	uint64_t packet;
};

static struct handle_pool pool = HANDLE_POOL(struct tutti_task);

static bool task_call(struct call *call, struct tutti_task *task)
{
	return call_begin(call, task ? &task->handle : NULL);
}

/* ---- descriptions ---- */

static uint32_t flags_of(const struct tutti_task_attributes *a)
{
	return (a->head ? TUTTI_TMD_HEAD : 0) | (a->sequence ? TUTTI_TMD_SEQUENCE : 0) |
	       (a->quota ? TUTTI_TMD_QUOTA : 0) | (a->affinity ? TUTTI_TMD_AFFINITY : 0) |
	       (a->throttle_sms ? TUTTI_TMD_THROTTLE : 0) |
	       (a->independence == TUTTI_WAVES_INDEPENDENT ? TUTTI_TMD_INDEPENDENT : 0) |
	       (a->independence == TUTTI_WAVES_TOGETHER ? TUTTI_TMD_DEPENDENT : 0);
}

static bool levels_ok(const struct tutti_cga_shape *level)
{
	unsigned kind = TUTTI_CGA_NONE, i;

	for (i = 0; i < TUTTI_CGA_LEVELS && level[i].kind; kind = level[i++].kind)
		if (level[i].kind <= kind || level[i].kind > TUTTI_CGA_GPU || !level[i].x || !level[i].y ||
		    !level[i].z)
			return false;
	for (; i < TUTTI_CGA_LEVELS; i++)
		if (level[i].kind || level[i].x || level[i].y || level[i].z)
			return false;
	return true;
}

static bool attributes_ok(const struct tutti_device *device, const struct tutti_task_attributes *a)
{
	uint32_t min = a->coalesce_min ? a->coalesce_min : 1;

	if (a->work && (!handle_live(&a->work->handle) || a->work->device != device))
		return false;
	if (a->priority > 10 || !levels_ok(a->cga) || a->throttle_sms > device->known.sms)
		return false;
	if (a->affinity ? !a->affinity_words || a->affinity_words > TUTTI_MAX_SMS / 32 : a->affinity_words)
		return false;
	if (a->cga[0].kind && (a->sequence || a->work))
		return false;
	if (!a->work)
		return !(a->coalesce_min | a->coalesce_max | a->coalesce_us);
	return a->coalesce_max ? a->coalesce_max >= min && a->coalesce_max <= 0xffff : min <= 0xffff;
}

static void fill(struct tutti_task *task, const struct tutti_task_attributes *a)
{
	struct tutti_tmd *tmd = task->tmd;
	unsigned i;

	*tmd = (struct tutti_tmd){
	    .magic = TUTTI_TMD_MAGIC,
	    .version = TUTTI_TMD_VERSION,
	    .type = a->work ? TUTTI_TASK_QUEUE : TUTTI_TASK_GRID,
	    .priority = a->priority,
	    .cga_mode = a->multicast ? TUTTI_CGA_MULTICAST : TUTTI_CGA_LOAD_BALANCE,
	    .flags = flags_of(a),
	    .quota = a->quota,
	    .affinity = (uintptr_t)task->affinity,
	    .throttle_sms = a->throttle_sms,
	};
	memcpy(tmd->cga, a->cga, sizeof(tmd->cga));
	for (i = 0; i < a->affinity_words; i++)
		task->affinity[i] = a->affinity[i];
	if (!a->work)
		return;
	tmd->queue = (uintptr_t)a->work->shared;
	tmd->coalesce_min = a->coalesce_min ? a->coalesce_min : 1;
	tmd->coalesce_max = a->coalesce_max ? a->coalesce_max : tmd->coalesce_min;
	tmd->coalesce_us = a->coalesce_us;
}

int tutti_task_create(struct tutti_device *device, const struct tutti_task_attributes *given,
		      struct tutti_task **out)
{
	CALL_SCOPE(call);
	struct tutti_task_attributes own, *attributes = &own;
	struct tutti_task *task;
	void *memory;
	int error;

	if (!device_call(&call, device) || !given || !out)
		return -EINVAL;
	error = SIZED_COPY(attributes, given, bytes);
	if (error)
		return error;
	if (!attributes_ok(device, attributes))
		return -EINVAL;
	task = handle_new(&pool, &device->handle);
	if (!task)
		return -ENOMEM;
	error = memory_alloc(device, TUTTI_MEMORY_SYSTEM,
				   sizeof(struct tutti_tmd) + (attributes->affinity ? TUTTI_MAX_SMS / 8 : 0),
				   &memory);
	if (error) {
		handle_free(&pool, &task->handle);
		return error;
	}
	task->device = device;
	task->tmd = memory;
	task->affinity = attributes->affinity ? (uint32_t *)(task->tmd + 1) : NULL;
	task->work = attributes->work;
	fill(task, attributes);
	*out = task;
	return 0;
}

int tutti_task_destroy(struct tutti_task *task)
{
	CALL_SCOPE(call);

	if (!task)
		return 0;
	call_begin_owner(&call, &task->handle);
	if (!handle_end(&task->handle))
		return -EINVAL;
	if (call.owner) {
		queue_use(task->device, &task->user, NULL);
		memory_free(task->device, task->tmd);
	}
	handle_free(&pool, &task->handle);
	return 0;
}

void *tutti_task_tmd(struct tutti_task *task)
{
	return task && handle_live(&task->handle) ? task->tmd : NULL;
}

/* ---- dispatch, cancel, counters ---- */

int tutti_task_dispatch(struct tutti_queue *public, const struct tutti_launch *launch,
			struct tutti_task *task)
{
	CALL_SCOPE(call);
	struct queue *queue = queue_of(public);
	struct tutti_launch with;
	union tutti_packet packet;
	int error;

	if (!queue_live(public) || !launch || !task_call(&call, task) || task->device != queue->device)
		return -EINVAL;
	error = SIZED_COPY(&with, launch, tmd);
	if (error)
		return error;
	with.bytes = 0; /* the copy has the fields of this version, and nothing behind them */
	with.tmd = task->tmd;
	if (!(public->flags & TUTTI_QUEUE_EXTENDED))
		return -EINVAL;
	if (task->work)
		queue_use(task->device, &task->work->user, queue);
	queue_use(task->device, &task->user, NULL);
	if (queue->recording)
		return tutti_dispatch(public, &with);
	error = tutti_launch_packet(&with, &packet.dispatch);
	if (!error && (tutti_launch_check(task->device, &with) || !signal_take(task->device, with.signal)))
		error = -EINVAL;
	if (!error && queue_stopped(queue))
		error = -EIO;
	if (!error)
		error = tutti_queue_put(public, &packet, &task->packet);
	if (!error)
		queue_use(task->device, &task->user, queue);
	return error;
}

/* Begins a call on the task's queue. Otherwise another thread could destroy it, and its number be given to a new queue. */
static struct queue *begin_queue(struct tutti_task *task, struct call *call)
{
	struct queue *queue;

	pthread_mutex_lock(&task->device->lock);
	queue = task->user.queue;
	if (queue && !call_begin(call, &queue->handle))
		queue = NULL;
	pthread_mutex_unlock(&task->device->lock);
	return queue;
}

int tutti_task_cancel(struct tutti_task *task)
{
	CALL_SCOPE(call);
	CALL_SCOPE(use);
	struct queue *queue;

	if (!task_call(&call, task))
		return -EINVAL;
	queue = begin_queue(task, &use);
	if (!queue)
		return -ENOENT;
	return task->device->transport->task_cancel(task->device, queue->public.id, task->packet);
}

int tutti_task_counters(const struct tutti_task *task, struct tutti_task_counters *counters)
{
	const struct tutti_tmd *tmd;
	uint64_t state;

	if (!task || !handle_live(&task->handle) || !counters)
		return -EINVAL;
	tmd = task->tmd;
	state = tutti_load_acquire((const uint64_t *)(const void *)&tmd->state);
	*counters = (struct tutti_task_counters){
	    .state = (uint32_t)state,
	    .error = (uint32_t)(state >> 32),
	    .issued = tmd->issued,
	    .completed = tmd->completed,
	    .outstanding = tmd->outstanding,
	    .evictions = tmd->evictions,
	    .turns = tmd->turns,
	    .timeouts = tmd->timeouts,
	};
	return 0;
}

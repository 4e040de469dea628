// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "device/wait.h"
#include "queue/queue.h"
#include "record/record.h"
#include "tutti/task.h"

struct tutti_task {
	struct tutti_device *device;
	struct tutti_tmd *tmd;
	uint32_t *affinity;
	struct tutti_work *work;
	struct queue *queue;   /* of the newest dispatch, NULL = recorded or none */
	uint64_t packet;
};

/**
 * struct tutti_work - a work queue.
 * @queue: of the task that consumes it, whose doorbell tells the card
 */
struct tutti_work {
	struct tutti_device *device;
	struct tutti_work_queue *shared;
	struct queue *queue;
	uint32_t bytes; /* of an item as the host sees it */
};

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
		if (level[i].kind <= kind || level[i].kind > TUTTI_CGA_GPU || !level[i].x || !level[i].y || !level[i].z)
			return false;
	for (; i < TUTTI_CGA_LEVELS; i++)
		if (level[i].kind || level[i].x || level[i].y || level[i].z)
			return false;
	return true;
}

static bool attributes_ok(const struct tutti_device *device, const struct tutti_task_attributes *a)
{
	uint32_t min = a->coalesce_min ? a->coalesce_min : 1;

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

int tutti_task_create(struct tutti_device *device, const struct tutti_task_attributes *attributes,
		      struct tutti_task **out)
{
	struct tutti_task *task;
	void *memory;
	int error;

	if (!attributes_ok(device, attributes))
		return -EINVAL;
	task = calloc(1, sizeof(*task));
	if (!task)
		return -ENOMEM;
	error = tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM,
				   sizeof(struct tutti_tmd) + (attributes->affinity ? TUTTI_MAX_SMS / 8 : 0), &memory);
	if (error) {
		free(task);
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

void tutti_task_destroy(struct tutti_task *task)
{
	if (!task)
		return;
	tutti_memory_free(task->device, task->tmd);
	free(task);
}

void *tutti_task_tmd(struct tutti_task *task)
{
	return task->tmd;
}

/* ---- dispatch, cancel, counters ---- */

int tutti_task_dispatch(struct tutti_queue *public, const struct tutti_launch *launch, struct tutti_task *task)
{
	struct queue *queue = queue_of(public);
	struct tutti_launch with = *launch;
	union tutti_packet packet;
	uint64_t index;
	int error;

	with.tmd = task->tmd;
	if (!(public->flags & TUTTI_QUEUE_EXTENDED))
		return -EINVAL;
	if (task->work)
		task->work->queue = queue;
	task->queue = NULL;
	if (queue->recording)
		return tutti_dispatch(public, &with);
	error = tutti_launch_packet(&with, &packet.dispatch);
	if (!error)
		error = tutti_queue_reserve(public, 1, &index);
	if (error)
		return error;
	memcpy(&tutti_queue_slot(public, index)->word[1], &packet.word[1], sizeof(packet) - sizeof(packet.word[0]));
	tutti_queue_publish(public, index, packet.word[0]);
	tutti_queue_ring(public, index);
	task->queue = queue;
	task->packet = index;
	return 0;
}

int tutti_task_cancel(struct tutti_task *task)
{
	if (!task->queue)
		return -ENOENT;
	return device_request(task->device, TUTTI_MSG_TASK_CANCEL, task->queue->public.id, task->packet, 0, NULL);
}

void tutti_task_counters(const struct tutti_task *task, struct tutti_task_counters *counters)
{
	const struct tutti_tmd *tmd = task->tmd;
	uint64_t state = tutti_load_acquire((const uint64_t *)(const void *)&tmd->state);

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
}

/* ---- work queues ---- */

static uint64_t *slot(const struct tutti_work_queue *queue, uint64_t number)
{
	return (uint64_t *)(uintptr_t)(queue->base + (number & (queue->items - 1)) * queue->item_bytes);
}

int tutti_work_create(struct tutti_device *device, uint32_t items, uint32_t bytes, struct tutti_work **out)
{
	uint64_t all = ((uint64_t)bytes + 15) & ~7ull;
	struct tutti_work *work;
	void *memory;
	int error;

	if (!items || items & (items - 1) || all > UINT32_MAX)
		return -EINVAL;
	work = calloc(1, sizeof(*work));
	if (!work)
		return -ENOMEM;
	error = tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(struct tutti_work_queue) + items * all, &memory);
	if (error) {
		free(work);
		return error;
	}
	work->device = device;
	work->bytes = bytes;
	work->shared = memory;
	*work->shared = (struct tutti_work_queue){
	    .base = (uintptr_t)(work->shared + 1), .items = items, .item_bytes = (uint32_t)all};
	for (uint32_t i = 0; i < items; i++)
		*slot(work->shared, i) = i;
	*out = work;
	return 0;
}

void tutti_work_destroy(struct tutti_work *work)
{
	if (!work)
		return;
	tutti_memory_free(work->device, work->shared);
	free(work);
}

struct tutti_work_queue *tutti_work_queue(struct tutti_work *work)
{
	return work->shared;
}

/* The doorbell of its AQL queue, with an index that was rung before: it only wakes. */
static void notify(struct tutti_work *work)
{
	struct tutti_queue *queue = work->queue ? &work->queue->public : NULL;
	uint64_t written;

	if (!queue)
		return;
	tutti_fence();
	written = tutti_load_relaxed(queue->write_index);
	tutti_queue_ring(queue, written ? written - 1 : 0);
}

int tutti_work_try_push(struct tutti_work *work, const void *item)
{
	struct tutti_work_queue *queue = work->shared;
	uint64_t at = tutti_load_relaxed(&queue->write_index);
	int64_t ahead;

	if (tutti_load_relaxed(&queue->closed))
		return -EPIPE;
	for (;;) {
		ahead = (int64_t)(tutti_load_acquire(slot(queue, at)) - at);
		if (ahead < 0)
			return -EAGAIN;
		if (ahead > 0)
			at = tutti_load_relaxed(&queue->write_index);
		else if (__atomic_compare_exchange_n(&queue->write_index, &at, at + 1, 0, __ATOMIC_ACQ_REL,
						     __ATOMIC_RELAXED))
			break;
	}
	memcpy(slot(queue, at) + 1, item, work->bytes);
	tutti_store_release(slot(queue, at), at + 1);
	notify(work);
	return 0;
}

struct room_wait {
	struct wait wait;
	const struct tutti_work *work;
};

static bool has_room(const struct wait *wait)
{
	const struct tutti_work *work = ((const struct room_wait *)wait)->work;
	uint64_t at = tutti_load_acquire(&work->shared->write_index);

	return (int64_t)(tutti_load_acquire(slot(work->shared, at)) - at) >= 0 ||
	       tutti_load_relaxed(&work->shared->closed) || (work->queue && tutti_load_relaxed(&work->queue->stopped));
}

int tutti_work_push(struct tutti_work *work, const void *item, uint64_t timeout_ns)
{
	struct room_wait room = {.wait = {.device = work->device, .satisfied = has_room}, .work = work};
	int error;

	while ((error = tutti_work_try_push(work, item)) == -EAGAIN) {
		error = wait_for(&room.wait, timeout_ns);
		if (!error && work->queue && tutti_load_relaxed(&work->queue->stopped))
			error = -EIO;
		if (error)
			return error;
	}
	return error;
}

void tutti_work_close(struct tutti_work *work)
{
	tutti_store_release(&work->shared->closed, 1);
	notify(work);
}

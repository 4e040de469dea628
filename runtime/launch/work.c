// SPDX-License-Identifier: MIT
/* Work queues: any number of producers, and a task on the card as the consumer (include/tutti/tmd.h). */
#include "launch/work.h"

#include <string.h>

#include "base/clock.h"
#include "device/wait.h"
#include "memory/memory.h"

static struct handle_pool pool = HANDLE_POOL(struct tutti_work);

static uint64_t *slot(const struct tutti_work_queue *queue, uint64_t number)
{
	return (uint64_t *)(uintptr_t)(queue->base + (number & (queue->items - 1)) * queue->item_bytes);
}

int tutti_work_create(struct tutti_device *device, uint32_t items, uint32_t bytes, struct tutti_work **out)
{
	uint64_t all = ((uint64_t)bytes + 15) & ~7ull;
	CALL_SCOPE(call);
	struct tutti_work *work;
	void *memory;
	int error;

	if (!device_call(&call, device) || !out || !items || items & (items - 1) || all > UINT32_MAX)
		return -EINVAL;
	if (items == 1)
		items = 2; /* in a single slot "item k is there" and "item k + 1 may be written" are the same number */
	work = handle_new(&pool, &device->handle);
	if (!work)
		return -ENOMEM;
	error = memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(struct tutti_work_queue) + items * all, &memory);
	if (error) {
		handle_free(&pool, &work->handle);
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

int tutti_work_destroy(struct tutti_work *work)
{
	CALL_SCOPE(call);

	if (!work)
		return 0;
	call_begin_owner(&call, &work->handle);
	if (!handle_end(&work->handle))
		return -EINVAL;
	if (call.owner) {
		queue_use(work->device, &work->user, NULL);
		memory_free(work->device, work->shared);
	}
	handle_free(&pool, &work->handle);
	return 0;
}

struct tutti_work_queue *tutti_work_queue(struct tutti_work *work)
{
	return work_live(work) ? work->shared : NULL;
}

/*
 * Rings the doorbell of the task's AQL queue with an index that is not new, which only makes the card look again. Another
 * thread may destroy that queue meanwhile, since a push is no call on it.
 */
static void notify(struct tutti_work *work)
{
	CALL_SCOPE(call);
	struct queue *queue = tutti_load_relaxed(&work->user.queue);
	uint64_t written;

	if (!call_begin(&call, queue ? &queue->handle : NULL))
		return;
	tutti_fence();
	written = tutti_load_relaxed(queue->public.write_index);
	tutti_queue_ring(&queue->public, written ? written - 1 : 0);
}

/* The caller has begun a call. */
static int push(struct tutti_work *work, const void *item)
{
	struct tutti_work_queue *queue = work->shared;
	uint64_t at = tutti_load_relaxed(&queue->write_index);
	int64_t ahead;

	if (!item)
		return -EINVAL;
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

int tutti_work_try_push(struct tutti_work *work, const void *item)
{
	CALL_SCOPE(call);

	return call_begin(&call, work ? &work->handle : NULL) ? push(work, item) : -EINVAL;
}

struct work_wait {
	struct wait wait;
	const struct tutti_work *work;
};

/* Has the task been dispatched to a queue that has stopped or been destroyed, so that nobody takes items any more? */
static bool nobody_takes(const struct tutti_work *work)
{
	const struct queue *queue = tutti_load_acquire(&work->user.queue);

	return queue ? queue_stopped(queue) != 0 : tutti_load_relaxed(&work->user.gone);
}

static bool has_room(const struct wait *wait)
{
	const struct tutti_work *work = ((const struct work_wait *)wait)->work;
	uint64_t at = tutti_load_acquire(&work->shared->write_index);

	return (int64_t)(tutti_load_acquire(slot(work->shared, at)) - at) >= 0 ||
	       tutti_load_relaxed(&work->shared->closed) || nobody_takes(work);
}

static int wait_and_push(struct tutti_work *work, const void *item, uint64_t timeout_ns)
{
	const struct work_wait room = {
	    .wait = {.device = work->device, .satisfied = has_room, .handle = &work->handle}, .work = work};
	uint64_t now = time_ns(), end = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
	int error;

	do {
		error = wait_for(&room.wait, now < end ? end - now : 0);
		if (!error)
			error = nobody_takes(work) ? -EIO : push(work, item);
		now = time_ns(); /* other producers may have taken the room, even several times */
	} while (error == -EAGAIN);
	return error;
}

int tutti_work_push(struct tutti_work *work, const void *item, uint64_t timeout_ns)
{
	CALL_SCOPE(call);
	int error;

	if (!call_begin(&call, work ? &work->handle : NULL))
		return -EINVAL;
	error = push(work, item);
	return error == -EAGAIN ? wait_and_push(work, item, timeout_ns) : error;
}

int tutti_work_close(struct tutti_work *work)
{
	CALL_SCOPE(call);

	if (!call_begin(&call, work ? &work->handle : NULL))
		return -EINVAL;
	tutti_store_release(&work->shared->closed, 1);
	notify(work);
	return 0;
}

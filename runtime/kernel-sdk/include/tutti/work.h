/* SPDX-License-Identifier: MIT */
/**
 * DOC: Kernels that consume work items, and kernels that start others
 *
 * A queue task has no grid: each of its CTAs gets a few items of a ring in memory (struct
 * tutti_work_queue, whose rules are in tmd.h). Its kernel looks like this:
 *
 *	TUTTI_KERNEL(consume, struct args)
 *	{
 *		for (uint32_t i = tutti_wave()->wave; i < tutti_work_items(); i += tutti_wave()->waves) {
 *			struct item *item = tutti_work_item(args->queue, i);
 *
 *			...item->value...
 *			tutti_work_done(args->queue, i);
 *		}
 *	}
 *
 * The host and any kernel can add items with tutti_work_put(). Any kernel can start child
 * tasks with tutti_task_create() and wait for them with tutti_signal_wait(). A task is
 * described by its task metadata (TMD); tutti_task_grid() fills in one for a plain grid.
 * (spec TSK-10, TSK-11)
 */
#ifndef TUTTI_WORK_H
#define TUTTI_WORK_H

#include "tutti/device.h"
#include "tutti/message.h"
#include "tutti/signal.h"
#include "tutti/tmd.h"

/* ---- items: consumer -------------------------------------------------- */

/** tutti_work_items() - number of items that this CTA has been given; 0 if the task has no work queue. */
static inline uint32_t tutti_work_items(void)
{
	return tutti_wave()->work_items;
}

/** tutti_work_first() - number of the first of them, counted since the queue was created. */
static inline uint64_t tutti_work_first(void)
{
	return tutti_wave()->work_first;
}

static inline uint64_t *tutti_work_slot(const struct tutti_work_queue *queue, uint64_t number)
{
	return (uint64_t *)(uintptr_t)(queue->base + (number & (queue->items - 1)) * queue->item_bytes);
}

/**
 * tutti_work_item() - pointer to the payload of item @i of those given to this CTA.
 * The card may hand out an item as soon as a producer has reserved its slot, so this waits until it is written.
 */
static inline void *tutti_work_item(const struct tutti_work_queue *queue, uint32_t i)
{
	uint64_t number = tutti_work_first() + i, *slot = tutti_work_slot(queue, number);

	while (tutti_load_acquire(slot) != number + 1)
		tutti_yield();
	return slot + 1;
}

/** tutti_work_done() - release the slot of item @i, which has been read, so that it can be written again. */
static inline void tutti_work_done(const struct tutti_work_queue *queue, uint32_t i)
{
	uint64_t number = tutti_work_first() + i;

	tutti_store_release(tutti_work_slot(queue, number), number + queue->items);
}

/* ---- items: producer -------------------------------------------------- */

/**
 * tutti_work_reserve() - take the next slot of @queue for writing.
 * @number: receives the item's number, for tutti_work_publish()
 * Return: where to write the payload, or NULL if the queue is full.
 */
static inline void *tutti_work_reserve(struct tutti_work_queue *queue, uint64_t *number)
{
	uint64_t at = tutti_load_relaxed(&queue->write_index);

	for (;;) {
		int64_t ahead = (int64_t)(tutti_load_acquire(tutti_work_slot(queue, at)) - at);

		if (ahead < 0)
			return NULL;
		if (ahead > 0) /* another producer has taken this slot */
			at = tutti_load_relaxed(&queue->write_index);
		else if (__atomic_compare_exchange_n(&queue->write_index, &at, at + 1, 0, __ATOMIC_ACQ_REL,
						     __ATOMIC_RELAXED))
			break;
	}
	*number = at;
	return tutti_work_slot(queue, at) + 1;
}

/** tutti_work_publish() - mark item @number as written. One tutti_work_notify() then tells the card of many items. */
static inline void tutti_work_publish(struct tutti_work_queue *queue, uint64_t number)
{
	tutti_store_release(tutti_work_slot(queue, number), number + 1);
}

/** tutti_work_notify() - tell the card that the queue of task @tmd has new items. Return: 0 or a negative error. */
static inline int64_t tutti_work_notify(const struct tutti_tmd *tmd)
{
	tutti_fence();
	return tutti_service(TUTTI_SERVICE_QUEUE_NOTIFY, (uint64_t)(uintptr_t)tmd);
}

/**
 * tutti_work_put() - add one item and tell the card.
 * @item: queue->item_bytes - 8 bytes
 * Return: 0, -TUTTI_ENOSPC if the queue is full, or another negative error of the card.
 */
static inline int64_t tutti_work_put(const struct tutti_tmd *tmd, const void *item)
{
	struct tutti_work_queue *queue = (struct tutti_work_queue *)(uintptr_t)tmd->queue;
	uint64_t number, *slot = (uint64_t *)tutti_work_reserve(queue, &number);

	if (!slot)
		return -TUTTI_ENOSPC;
	__builtin_memcpy(slot, item, queue->item_bytes - 8);
	tutti_work_publish(queue, number);
	return tutti_work_notify(tmd);
}

/* ---- child tasks ------------------------------------------------------ */

/**
 * tutti_task_create() - start the task described by @tmd, which is 64-byte aligned.
 * The task's signal tells when it ends.
 *
 * Return: 0; -TUTTI_EBUSY: the card has no room for it now; -TUTTI_EPERM: the kernel's queue is no extended one, or the
 * kernel runs in throttle mode; -TUTTI_EINVAL: bad metadata.
 */
static inline int64_t tutti_task_create(const struct tutti_tmd *tmd)
{
	tutti_fence();
	return tutti_service(TUTTI_SERVICE_TASK, (uint64_t)(uintptr_t)tmd);
}

/**
 * tutti_task_grid() - fill in @tmd for a one-dimensional grid.
 * @kernel: address of the kernel's descriptor, see TUTTI_KERNEL_OBJECT()
 * @signal: decremented when the task is done, or NULL
 * All other fields become 0 and may be set afterwards: more dimensions, CGAs, priority and so on.
 */
static inline void tutti_task_grid(struct tutti_tmd *tmd, uint64_t kernel, const void *args, uint32_t items,
				   uint16_t workgroup, const struct tutti_signal *signal)
{
	__builtin_memset(tmd, 0, sizeof(*tmd));
	tmd->magic = TUTTI_TMD_MAGIC;
	tmd->version = TUTTI_TMD_VERSION;
	tmd->type = TUTTI_TASK_GRID;
	tmd->kernel_object = kernel;
	tmd->kernarg = (uint64_t)(uintptr_t)args;
	tmd->signal = (uint64_t)(uintptr_t)signal;
	tmd->grid[0] = items;
	tmd->grid[1] = tmd->grid[2] = 1;
	tmd->workgroup[0] = workgroup;
	tmd->workgroup[1] = tmd->workgroup[2] = 1;
	tmd->setup = 1;
}

/**
 * TUTTI_KERNEL_OBJECT() - address of the descriptor of kernel @name in the same code object, for a TMD.
 * It needs TUTTI_KERNEL_DECLARE(name) at file scope before it.
 */
#define TUTTI_KERNEL_OBJECT(name) ((uint64_t)(uintptr_t)name##_descriptor)
#define TUTTI_KERNEL_DECLARE(name) \
	extern const char name##_descriptor[] __asm__(#name ".kd") __attribute__((visibility("hidden")))

/** tutti_signal_wait() - wait until @signal is less than @value; other waves run meanwhile. Return: the value seen. */
static inline int64_t tutti_signal_wait(const struct tutti_signal *signal, int64_t value)
{
	int64_t now;

	while ((now = tutti_signal_load(signal)) >= value)
		tutti_yield();
	return now;
}

#endif

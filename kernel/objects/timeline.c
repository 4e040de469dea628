// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Fences that follow a queue's progress (spec SYS-26). What is compared lies in kernel-owned memory that only the card
 * writes.
 *
 * By the rules of dma_fence: a fence may be for a packet that its user never submits, and so it ends by itself, with
 * -ETIMEDOUT after fence_timeout_ms at the latest. What signals needs tutti_timeline_poll() only, from the interrupt's
 * thread and from fence_work, which is alone on its work queue: no memory, no wait for the firmware, no lock but
 * fence_lock, under which nobody waits. A tenant that stalls, or has many fences, delays nobody else's.
 */
#include <linux/module.h>

#include "base/delay.h"
#include "base/trace.h"
#include "card/card.h"
#include "objects/timeline.h"

static uint fence_timeout_ms = 10000;
module_param(fence_timeout_ms, uint, 0644);
MODULE_PARM_DESC(fence_timeout_ms, "longest life of a fence (10000)");

static uint queue_fences_max = 1024;
module_param(queue_fences_max, uint, 0644);
MODULE_PARM_DESC(queue_fences_max, "fences of a queue that are still to come (1024)");

/* An interrupt may be lost: how often progress is looked at while there are fences. */
#define POLL_JIFFIES max(1, HZ / 10)

static const char *tutti_timeline_driver_name(struct dma_fence *fence)
{
	return "tutti";
}

static const char *tutti_timeline_name(struct dma_fence *fence)
{
	return "queue";
}

static void tutti_timeline_release(struct dma_fence *fence)
{
	dma_fence_free(fence);
	module_put(THIS_MODULE);
}

/* A fence may outlive file and device, in a sync file: the module stays with it. */
static const struct dma_fence_ops fence_ops = {
	.get_driver_name = tutti_timeline_driver_name,
	.get_timeline_name = tutti_timeline_name,
	.release = tutti_timeline_release,
};

/** tutti_timeline_fence_alloc() - a fence of no timeline yet, or NULL. */
struct tutti_fence *tutti_timeline_fence_alloc(u64 packet)
{
	struct tutti_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);

	if (!fence)
		return NULL;
	__module_get(THIS_MODULE);
	spin_lock_init(&fence->lock);
	/* points of a queue may be asked for in any order: each is a timeline of its own */
	dma_fence_init(&fence->base, &fence_ops, &fence->lock, dma_fence_context_alloc(1), 1);
	fence->packet = packet;
	return fence;
}

void tutti_timeline_init(struct tutti_timeline *timeline, struct tutti_device *tdev, u32 queue)
{
	timeline->tdev = tdev;
	timeline->queue = queue;
	INIT_LIST_HEAD(&timeline->link);
	INIT_LIST_HEAD(&timeline->fences);
}

static void tutti_timeline_insert(struct tutti_timeline *timeline, struct tutti_fence *fence)
{
	struct tutti_fence *before;

	list_for_each_entry_reverse(before, &timeline->fences, link)
		if (before->packet <= fence->packet)
			break;
	list_add(&fence->link, &before->link);
	list_add_tail(&fence->age, &timeline->tdev->fences);
	if (!timeline->count++)
		list_add_tail(&timeline->link, &timeline->tdev->timelines);
}

/**
 * tutti_timeline_add() - the fence is signalled when the queue gets there.
 * @timeline: of a queue that is on the card, and cannot leave it meanwhile
 * @fence: gets a reference of the timeline's
 *
 * Return: 0, or -EDQUOT: the queue has as many fences as it may have.
 */
int tutti_timeline_add(struct tutti_timeline *timeline, struct tutti_fence *fence)
{
	struct tutti_device *tdev = timeline->tdev;
	int error = -EDQUOT;

	fence->timeline = timeline;
	fence->end = jiffies + msecs_to_jiffies(READ_ONCE(fence_timeout_ms));
	spin_lock(&tdev->fence_lock);
	if (timeline->count < READ_ONCE(queue_fences_max)) {
		dma_fence_get(&fence->base);
		tutti_timeline_insert(timeline, fence);
		error = 0;
	}
	spin_unlock(&tdev->fence_lock);
	if (!error)
		mod_delayed_work(tdev->fence_queue, &tdev->fence_work, 0);
	return error;
}

static void tutti_timeline_finish(struct tutti_fence *fence, int error)
{
	struct tutti_timeline *timeline = fence->timeline;

	lockdep_assert_held(&timeline->tdev->fence_lock);
	trace_tutti_fence_signal(timeline->queue, fence->packet, error);
	list_del(&fence->link);
	list_del(&fence->age);
	if (!--timeline->count)
		list_del_init(&timeline->link);
	if (error)
		dma_fence_set_error(&fence->base, error);
	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
}

/* Progress is read only while there are fences: when a file is closed late, its queue's progress word may be gone. */
static void tutti_timeline_advance(struct tutti_timeline *timeline)
{
	struct tutti_fence *fence, *next;

	list_for_each_entry_safe(fence, next, &timeline->fences, link) {
		if (fence->packet > tutti_card_progress(timeline->tdev, timeline->queue))
			break;
		tutti_timeline_finish(fence, 0);
	}
}

/** tutti_timeline_poll() - signal what has come about, and end what is too old. */
void tutti_timeline_poll(struct tutti_device *tdev)
{
	struct tutti_timeline *timeline, *next_timeline;
	struct tutti_fence *fence, *next;
	bool cookie;

	tutti_delay(TUTTI_DELAY_fences);
	cookie = dma_fence_begin_signalling();
	spin_lock(&tdev->fence_lock);
	list_for_each_entry_safe(timeline, next_timeline, &tdev->timelines, link)
		tutti_timeline_advance(timeline);
	list_for_each_entry_safe(fence, next, &tdev->fences, age) {
		if (!time_after(jiffies, fence->end))
			break;
		tutti_timeline_finish(fence, -ETIMEDOUT);
	}
	spin_unlock(&tdev->fence_lock);
	dma_fence_end_signalling(cookie);
}

/** tutti_timeline_interrupt() - queues may have got on. From the thread of an interrupt. */
void tutti_timeline_interrupt(struct tutti_device *tdev)
{
	if (list_empty(&tdev->fences))
		return;
	tutti_timeline_poll(tdev);
	queue_work(system_freezable_wq, &tdev->arm_work);
}

static void tutti_timeline_work(struct work_struct *work)
{
	struct tutti_device *tdev = container_of(work, struct tutti_device, fence_work.work);

	tutti_timeline_poll(tdev);
	if (list_empty(&tdev->fences))
		return;
	queue_work(system_freezable_wq, &tdev->arm_work);
	queue_delayed_work(tdev->fence_queue, &tdev->fence_work, POLL_JIFFIES);
}

/**
 * tutti_timeline_cancel() - end all fences of a queue that will get no further.
 * @timeline: timeline; unless it has no fences, its queue is on the card
 * @error: error of the fences whose packets have not retired; the others succeed
 */
void tutti_timeline_cancel(struct tutti_timeline *timeline, int error)
{
	struct tutti_device *tdev = timeline->tdev;
	struct tutti_fence *fence, *next;

	spin_lock(&tdev->fence_lock);
	tutti_timeline_advance(timeline);
	list_for_each_entry_safe(fence, next, &timeline->fences, link)
		tutti_timeline_finish(fence, error);
	spin_unlock(&tdev->fence_lock);
}

void tutti_timeline_setup(struct tutti_device *tdev)
{
	spin_lock_init(&tdev->fence_lock);
	INIT_LIST_HEAD(&tdev->timelines);
	INIT_LIST_HEAD(&tdev->fences);
	INIT_DELAYED_WORK(&tdev->fence_work, tutti_timeline_work);
}

/** tutti_timeline_unplug() - nobody looks at progress any more; queues that are lost end their fences. */
void tutti_timeline_unplug(struct tutti_device *tdev)
{
	cancel_delayed_work_sync(&tdev->fence_work);
}

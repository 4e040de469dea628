// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Timeline points that follow a queue's progress (spec SYS-26). What is compared lies in
 * kernel-owned memory that only the card writes; a fence ends by itself after a time, so
 * that nobody in the system waits for ever for what a user does not submit.
 */
#include <linux/dma-fence-chain.h>
#include <linux/moduleparam.h>
#include <drm/drm_syncobj.h>

#include "tutti_queue.h"
#include "tutti_trace.h"

static uint fence_timeout_ms = 10000;
module_param(fence_timeout_ms, uint, 0644);
MODULE_PARM_DESC(fence_timeout_ms, "longest life of a fence (10000)");

struct tutti_fence {
	struct dma_fence base;
	/** @lock: of @base */
	spinlock_t lock;
	struct list_head link;
	/** @queue: compared only, no reference: it takes its fences with it */
	struct tutti_queue *queue;
	u64 packet;
	unsigned long end;
};

static const char *fence_driver_name(struct dma_fence *fence)
{
	return "tutti";
}

static const char *fence_timeline_name(struct dma_fence *fence)
{
	return "queue";
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = fence_driver_name,
	.get_timeline_name = fence_timeline_name,
};

static void fence_finish(struct tutti_fence *fence, int error)
{
	trace_tutti_fence_signal(fence->queue->base.id, fence->packet, error);
	list_del(&fence->link);
	if (error)
		dma_fence_set_error(&fence->base, error);
	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
}

/* An interrupt may be lost. */
#define FENCE_JIFFIES max(1, HZ / 10)

/** tutti_fence_poll() - signal what has come about. */
void tutti_fence_poll(struct tutti_device *tdev)
{
	struct tutti_fence *fence, *next;

	spin_lock(&tdev->fence_lock);
	list_for_each_entry_safe(fence, next, &tdev->fences, link) {
		if (tutti_queue_progress(fence->queue) >= fence->packet)
			fence_finish(fence, 0);
		else if (time_after(jiffies, fence->end))
			fence_finish(fence, -ETIMEDOUT);
	}
	spin_unlock(&tdev->fence_lock);
}

/** tutti_fence_interrupt() - fences may have come about. From any thread. */
void tutti_fence_interrupt(struct tutti_device *tdev)
{
	if (!list_empty(&tdev->fences))
		mod_delayed_work(system_wq, &tdev->fence_work, 0);
}

/* The queue, with a reference, of a fence that no interrupt will come for. It outlives its fences. */
static struct tutti_queue *unarmed(struct tutti_device *tdev, u64 *packet)
{
	struct tutti_queue *queue = NULL;
	struct tutti_fence *fence;

	spin_lock(&tdev->fence_lock);
	list_for_each_entry(fence, &tdev->fences, link) {
		u64 armed = READ_ONCE(fence->queue->armed);

		if (armed > tutti_queue_progress(fence->queue) && armed <= fence->packet)
			continue;
		queue = fence->queue;
		*packet = fence->packet;
		tutti_object_get(&queue->base);
		break;
	}
	spin_unlock(&tdev->fence_lock);
	return queue;
}

static void fence_work(struct work_struct *work)
{
	struct tutti_device *tdev = container_of(work, struct tutti_device, fence_work.work);
	struct tutti_queue *queue;
	int error = 0;
	u64 packet;

	tutti_fence_poll(tdev);
	while (!error && (queue = unarmed(tdev, &packet))) {
		error = tutti_queue_arm(queue, packet);
		tutti_object_put(&queue->base);
		tutti_fence_poll(tdev);
	}
	if (!list_empty(&tdev->fences))
		queue_delayed_work(system_wq, &tdev->fence_work, FENCE_JIFFIES);
}

void tutti_fence_init(struct tutti_device *tdev)
{
	spin_lock_init(&tdev->fence_lock);
	INIT_LIST_HEAD(&tdev->fences);
	INIT_DELAYED_WORK(&tdev->fence_work, fence_work);
}

void tutti_fence_unplug(struct tutti_device *tdev)
{
	cancel_delayed_work_sync(&tdev->fence_work);
}

/** tutti_fence_cancel() - the queue will not get there. */
void tutti_fence_cancel(struct tutti_queue *queue, int error)
{
	struct tutti_device *tdev = queue->base.tdev;
	struct tutti_fence *fence, *next;

	spin_lock(&tdev->fence_lock);
	list_for_each_entry_safe(fence, next, &tdev->fences, link)
		if (fence->queue == queue)
			fence_finish(fence, error);
	spin_unlock(&tdev->fence_lock);
}

static int fence_add(struct tutti_queue *queue, struct drm_syncobj *syncobj, const struct drm_tutti_fence *args)
{
	struct tutti_device *tdev = queue->base.tdev;
	struct dma_fence_chain *chain = dma_fence_chain_alloc();
	struct tutti_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);

	if (!chain || !fence) {
		dma_fence_chain_free(chain);
		kfree(fence);
		return -ENOMEM;
	}
	spin_lock_init(&fence->lock);
	/* points of a queue may be asked for in any order: each is a timeline of its own */
	dma_fence_init(&fence->base, &fence_ops, &fence->lock, dma_fence_context_alloc(1), 1);
	fence->queue = queue;
	fence->packet = args->packet;
	fence->end = jiffies + msecs_to_jiffies(fence_timeout_ms);
	dma_fence_get(&fence->base);
	drm_syncobj_add_point(syncobj, chain, &fence->base, args->point);
	spin_lock(&tdev->fence_lock);
	list_add_tail(&fence->link, &tdev->fences);
	spin_unlock(&tdev->fence_lock);
	dma_fence_put(&fence->base);
	return 0;
}

int tutti_ioctl_fence(struct drm_device *drm, void *data, struct drm_file *df)
{
	const struct drm_tutti_fence *args = data;
	struct drm_syncobj *syncobj;
	struct tutti_call call;
	int error = args->point ? tutti_call_begin(&call, df, TUTTI_QUEUE, args->handle) : -EINVAL;

	if (error)
		return error;
	error = -ENOENT;
	syncobj = drm_syncobj_find(df, args->syncobj);
	if (!syncobj)
		goto end;
	/* the lock keeps a destruction, which cancels, behind the addition */
	mutex_lock(&call.object->lock);
	error = call.object->on_card ? fence_add(to_queue(call.object), syncobj, args) : -EIO;
	mutex_unlock(&call.object->lock);
	if (!error)
		tutti_fence_interrupt(call.file->tdev);
	drm_syncobj_put(syncobj);
end:
	tutti_call_end(&call);
	return error;
}

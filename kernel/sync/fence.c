// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Points of timeline syncobjs that follow a queue (spec SYS-26), and the interrupts that make them prompt. Without an
 * interrupt a fence is signalled too, by objects/timeline.c, but only a tenth of a second later.
 */
#include <linux/dma-fence-chain.h>
#include <drm/drm_syncobj.h>

#include "card/card.h"
#include "objects/call.h"
#include "objects/queue.h"
#include "sync/fence.h"

/* ---- interrupts ---- */

/* With fence_lock held: nothing will interrupt for the first fence. */
static bool tutti_fence_is_unarmed(const struct tutti_timeline *timeline, u64 packet)
{
	u64 armed = READ_ONCE(timeline->armed);

	return armed <= tutti_card_progress(timeline->tdev, timeline->queue) || armed > packet;
}

/* The next queue from that number on whose first fence nothing will interrupt for; with a reference, or NULL. */
static struct tutti_queue *tutti_fence_next_unarmed(struct tutti_device *tdev, u32 from, u64 *packet)
{
	struct tutti_timeline *timeline, *found = NULL;

	spin_lock(&tdev->fence_lock);
	list_for_each_entry(timeline, &tdev->timelines, link) {
		u64 first = list_first_entry(&timeline->fences, struct tutti_fence, link)->packet;

		if (timeline->queue < from || (found && timeline->queue > found->queue) ||
		    !tutti_fence_is_unarmed(timeline, first))
			continue;
		found = timeline;
		*packet = first;
	}
	if (found) /* a queue with fences is on the card, which has a reference */
		tutti_object_get(&container_of(found, struct tutti_queue, timeline)->base);
	spin_unlock(&tdev->fence_lock);
	return found ? container_of(found, struct tutti_queue, timeline) : NULL;
}

static void tutti_fence_arm_work(struct work_struct *work)
{
	struct tutti_device *tdev = container_of(work, struct tutti_device, arm_work);
	struct tutti_queue *queue;
	u32 from = 0;
	u64 packet;

	while ((queue = tutti_fence_next_unarmed(tdev, from, &packet))) {
		from = queue->base.id + 1;
		tutti_queue_try_arm(queue, packet);
		tutti_object_put(&queue->base);
	}
	tutti_timeline_poll(tdev); /* what came about before its interrupt was asked for */
}

void tutti_fence_init(struct tutti_device *tdev)
{
	INIT_WORK(&tdev->arm_work, tutti_fence_arm_work);
}

void tutti_fence_unplug(struct tutti_device *tdev)
{
	cancel_work_sync(&tdev->arm_work);
}

/* ---- the call ---- */

/* Allocated before the queue is locked: its lock is taken by whoever arms interrupts for fences. */
struct tutti_new_fence {
	struct dma_fence_chain *chain;
	struct tutti_fence *fence;
};

static int tutti_fence_alloc(struct tutti_new_fence *new, u64 packet)
{
	new->chain = dma_fence_chain_alloc();
	new->fence = tutti_timeline_fence_alloc(packet);
	return new->chain && new->fence ? 0 : -ENOMEM;
}

/* What has not been added; the timeline has its own reference to the fence. */
static void tutti_fence_free(struct tutti_new_fence *new)
{
	dma_fence_chain_free(new->chain);
	if (new->fence)
		dma_fence_put(&new->fence->base);
}

/* The fences of a queue were cancelled when it stopped, but one that is added afterwards has to be cancelled here. */
static void tutti_fence_cancel_if_stopped(struct tutti_queue *queue)
{
	struct tutti_device *tdev = queue->base.tdev;

	spin_lock(&tdev->objects_lock);
	if (queue->stopped)
		tutti_timeline_cancel(&queue->timeline, -ECANCELED);
	spin_unlock(&tdev->objects_lock);
}

/* With its lock a queue that is on the card stays there: its destruction, which cancels fences, comes behind. */
static int tutti_fence_add(struct tutti_queue *queue, struct drm_syncobj *syncobj, struct tutti_new_fence *new,
			   u64 point)
{
	int error = -EIO;

	mutex_lock(&queue->base.lock);
	if (tutti_object_is_on_card(&queue->base))
		error = tutti_timeline_add(&queue->timeline, new->fence);
	if (!error) {
		drm_syncobj_add_point(syncobj, new->chain, &new->fence->base, point);
		new->chain = NULL;
		tutti_fence_cancel_if_stopped(queue);
	}
	mutex_unlock(&queue->base.lock);
	return error;
}

int tutti_fence_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	const struct drm_tutti_fence *args = data;
	struct tutti_new_fence new;
	struct drm_syncobj *syncobj;
	struct tutti_call call;
	int error = args->point ? tutti_call_begin(&call, df, TUTTI_QUEUE, args->handle) : -EINVAL;

	if (error)
		return error;
	error = -ENOENT;
	syncobj = drm_syncobj_find(df, args->syncobj);
	if (!syncobj)
		goto end;
	error = tutti_fence_alloc(&new, args->packet);
	if (!error)
		error = tutti_fence_add(to_queue(call.object), syncobj, &new, args->point);
	tutti_fence_free(&new);
	drm_syncobj_put(syncobj);
end:
	tutti_call_end(&call);
	return error;
}

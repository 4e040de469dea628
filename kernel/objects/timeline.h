/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_TIMELINE_H
#define TUTTI_KERNEL_TIMELINE_H

#include <linux/dma-fence.h>

#include "base/device.h"

/** struct tutti_timeline - the fences of a queue. All but @tdev and @queue: fence_lock. */
struct tutti_timeline {
	struct tutti_device *tdev;
	/** @queue: number of the queue, whose progress signals the fences */
	u32 queue;
	/** @link: in tutti_device.timelines while there are fences */
	struct list_head link;
	/** @fences: by packet, the smallest first; @count: how many */
	struct list_head fences;
	u32 count;
	/** @armed: an interrupt comes when so many packets have retired; the lock of the queue */
	u64 armed;
};

/** struct tutti_fence - signalled when so many packets of the queue have retired. */
struct tutti_fence {
	struct dma_fence base;
	/** @lock: of @base */
	spinlock_t lock;
	struct tutti_timeline *timeline;
	/** @link: in tutti_timeline.fences, @age: in tutti_device.fences */
	struct list_head link, age;
	u64 packet;
	/** @end: it ends with -ETIMEDOUT after that (jiffies) */
	unsigned long end;
};

void tutti_timeline_setup(struct tutti_device *tdev);
void tutti_timeline_unplug(struct tutti_device *tdev);
void tutti_timeline_init(struct tutti_timeline *timeline, struct tutti_device *tdev, u32 queue);
struct tutti_fence *tutti_timeline_fence_alloc(u64 packet);
int tutti_timeline_add(struct tutti_timeline *timeline, struct tutti_fence *fence);
void tutti_timeline_cancel(struct tutti_timeline *timeline, int error);
void tutti_timeline_interrupt(struct tutti_device *tdev);
void tutti_timeline_poll(struct tutti_device *tdev);

#endif

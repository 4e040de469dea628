/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_QUEUE_H
#define TUTTI_KERNEL_QUEUE_H

#include "tutti_context.h"
#include "tutti_view.h"

struct eventfd_ctx;

/** struct tutti_queue - a user-mode queue. */
struct tutti_queue {
	struct kref ref;
	struct tutti_device *tdev;
	struct tutti_context *context;
	struct tutti_rsb_object *rsb;
	/** @id: number on the card, and of its doorbell */
	u32 id;
	u32 vector;
	/** @lock: that the queue stays on the card */
	struct mutex lock;
	/** @view: the doorbell */
	struct tutti_view *view;
	/** @ring, @ring_bytes, @index: addresses whose mapping stays while the card has the queue */
	u64 ring, ring_bytes, index;
	/* the rest: objects_lock */
	bool on_card;
	struct list_head link;
	/** @file: told about errors; NULL after close */
	struct tutti_file *file;
	/** @fault: of the last error, @errors: how many, @stopped: code of the one that stopped it */
	struct tutti_fault fault;
	u64 errors;
	u32 stopped;
	struct eventfd_ctx *eventfd;
	u32 event_flags;
};

struct tutti_queue *tutti_queue_get(struct tutti_file *file, u32 handle);
void tutti_queue_put(struct tutti_queue *queue);
bool tutti_queue_uses(struct tutti_context *context, u64 address, u64 bytes);
void tutti_queue_post_reset(struct tutti_device *tdev);
void tutti_queue_close(struct tutti_file *file);
int tutti_queue_cancel(struct tutti_file *file, u64 handle, u64 packet);
int tutti_ioctl_queue_create(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_queue_destroy(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_queue_reset(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_queue_query(struct drm_device *drm, void *data, struct drm_file *df);

static inline u64 tutti_queue_progress(const struct tutti_queue *queue)
{
	return READ_ONCE(queue->tdev->progress[queue->id]);
}

#endif

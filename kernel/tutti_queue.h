/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_QUEUE_H
#define TUTTI_KERNEL_QUEUE_H

#include "tutti_context.h"
#include "tutti_view.h"

struct eventfd_ctx;

/** struct tutti_queue - a user-mode queue; base.id is its number and its doorbell's. */
struct tutti_queue {
	/** @base: parents: the context, and the RSB or NULL */
	struct tutti_object base;
	u32 vector;
	/** @view: the doorbell */
	struct tutti_view *view;
	/** @ring, @ring_bytes, @index: addresses whose mapping stays while the card has the queue */
	u64 ring, ring_bytes, index;
	/** @ring_bo, @ring_at: where the ring is, for a look; while the card has the queue */
	struct tutti_bo *ring_bo;
	u64 ring_at;
	/** @armed: an interrupt comes when so many packets have retired; base.lock */
	u64 armed;
	/** @watched: progress when the watchdog came by last */
	u64 watched;
	/* the rest: objects_lock */
	/** @file: told about errors; NULL after close */
	struct tutti_file *file;
	/** @fault: of the last error, @errors: how many, @stopped: code of the one that stopped it */
	struct tutti_fault fault;
	u64 errors;
	u32 stopped;
	struct eventfd_ctx *eventfd;
	u32 event_flags;
};

static inline struct tutti_queue *to_queue(struct tutti_object *object)
{
	return container_of(object, struct tutti_queue, base);
}

static inline struct tutti_context *tutti_queue_context(const struct tutti_queue *queue)
{
	return to_context(queue->base.parent[0]);
}

void tutti_queue_ring_again(struct tutti_device *tdev);
int tutti_queue_arm(struct tutti_queue *queue, u64 packet);
bool tutti_queue_uses(struct tutti_context *context, u64 address, u64 bytes);
void tutti_queue_close(struct tutti_file *file);
int tutti_queue_cancel(struct tutti_file *file, u64 handle, u64 packet);
int tutti_ioctl_queue_create(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_queue_destroy(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_queue_reset(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_queue_query(struct drm_device *drm, void *data, struct drm_file *df);

static inline u64 tutti_queue_progress(const struct tutti_queue *queue)
{
	return READ_ONCE(queue->base.tdev->progress[queue->base.id]);
}

#endif

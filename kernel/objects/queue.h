/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_QUEUE_H
#define TUTTI_KERNEL_QUEUE_H

#include "card/card.h"
#include "objects/context.h"
#include "objects/timeline.h"

struct eventfd_ctx;

/** struct tutti_queue - a user-mode queue; base.id is its number and its doorbell's. */
struct tutti_queue {
	/** @base: parents: the context, and the RSB or NULL; its view is the doorbell */
	struct tutti_object base;
	u32 vector;
	/** @ring, @ring_bytes, @index: addresses whose mapping stays while the card has the queue */
	u64 ring, ring_bytes, index;
	/** @ring_bo, @ring_at: where the ring is, for a look; while the card has the queue */
	struct tutti_bo *ring_bo;
	u64 ring_at;
	struct tutti_timeline timeline;
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

/** tutti_queue_progress() - packets that have retired. */
static inline u64 tutti_queue_progress(const struct tutti_queue *queue)
{
	return tutti_card_progress(queue->base.tdev, queue->base.id);
}

void tutti_queue_fault(struct tutti_queue *queue, const struct tutti_fault *fault);
int tutti_queue_try_arm(struct tutti_queue *queue, u64 packet);
void tutti_queue_close(struct tutti_file *file);
int tutti_queue_cancel(struct tutti_file *file, u64 handle, u64 packet);
int tutti_queue_create_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_queue_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_queue_reset_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_queue_query_ioctl(struct drm_device *drm, void *data, struct drm_file *df);

#endif

// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Errors of queues and interrupts, told to their owners only (spec SYS-26, SYS-27). */
#include <linux/eventfd.h>

#include "compat.h"
#include "tutti_queue.h"

#define EVENT_FLAGS (DRM_TUTTI_EVENT_ERROR | DRM_TUTTI_EVENT_COMPLETION)

/** tutti_event_error() - the firmware has stopped a queue, or the driver has lost it. */
void tutti_event_error(struct tutti_device *tdev, const struct tutti_fault *fault)
{
	struct tutti_queue *queue;

	if (fault->queue >= TUTTI_MAX_QUEUES)
		return;
	spin_lock(&tdev->objects_lock);
	queue = tdev->queue_by_id[fault->queue];
	if (queue) {
		kref_get(&queue->ref);
		queue->fault = *fault;
		queue->stopped = fault->code ? fault->code : TUTTI_ERROR_PACKET;
		queue->errors++;
		if (queue->file)
			atomic64_inc(&queue->file->events);
		if (queue->eventfd && (queue->event_flags & DRM_TUTTI_EVENT_ERROR))
			tutti_eventfd_signal(queue->eventfd);
	}
	spin_unlock(&tdev->objects_lock);
	wake_up_all(&tdev->wait);
	if (!queue)
		return;
	drm_dbg_driver(&tdev->drm, "queue %u stopped: code %u cause %u packet %llu address %#llx\n", fault->queue,
		       fault->code, fault->cause, fault->packet, fault->address);
	tutti_fence_cancel(queue, -ECANCELED);
	tutti_queue_put(queue);
}

/** tutti_event_vector() - an interrupt has come; from the interrupt's thread. */
void tutti_event_vector(struct tutti_device *tdev, u32 vector)
{
	struct tutti_queue *queue;

	atomic64_inc(&tdev->vector_count[vector]);
	spin_lock(&tdev->objects_lock);
	list_for_each_entry(queue, &tdev->queues, link)
		if (queue->eventfd && queue->vector == vector &&
		    (queue->event_flags & DRM_TUTTI_EVENT_COMPLETION))
			tutti_eventfd_signal(queue->eventfd);
	spin_unlock(&tdev->objects_lock);
	wake_up_all(&tdev->wait);
}

static void event_set(struct tutti_queue *queue, struct eventfd_ctx *eventfd, u32 flags)
{
	struct eventfd_ctx *old;

	spin_lock(&queue->tdev->objects_lock);
	old = queue->eventfd;
	queue->eventfd = eventfd;
	queue->event_flags = flags;
	/* an error that came before must not be missed */
	if (eventfd && (flags & DRM_TUTTI_EVENT_ERROR) && queue->stopped)
		tutti_eventfd_signal(eventfd);
	spin_unlock(&queue->tdev->objects_lock);
	if (old)
		eventfd_ctx_put(old);
}

int tutti_ioctl_event(struct drm_device *drm, void *data, struct drm_file *df)
{
	const struct drm_tutti_event *args = data;
	struct tutti_file *file = df->driver_priv;
	struct eventfd_ctx *eventfd = NULL;
	struct tutti_queue *queue;
	int error, index;

	if (args->pad || (args->flags & ~EVENT_FLAGS) || (args->fd == -1) != !args->flags)
		return -EINVAL;
	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = -ENOENT;
	queue = tutti_queue_get(file, args->handle);
	if (!queue)
		goto exit;
	if (args->fd != -1) {
		eventfd = eventfd_ctx_fdget(args->fd);
		error = PTR_ERR_OR_ZERO(eventfd);
		if (error)
			goto put;
	}
	event_set(queue, eventfd, args->flags);
	error = 0;
put:
	tutti_queue_put(queue);
exit:
	tutti_exit(file, index);
	return error;
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the card tells the host: errors of queues and interrupts; passed on to their owners (spec SYS-26, SYS-27). */
#include <linux/eventfd.h>

#include "base/compat.h"
#include "objects/call.h"
#include "objects/queue.h"
#include "objects/timeline.h"
#include "sync/event.h"

#define EVENT_FLAGS (DRM_TUTTI_EVENT_ERROR | DRM_TUTTI_EVENT_COMPLETION)

/** tutti_event_message() - what the firmware says unasked; a tutti_channel_event. */
void tutti_event_message(struct tutti_device *tdev, const struct tutti_message *message)
{
	struct tutti_queue *queue;

	if (message->type != TUTTI_MSG_QUEUE_ERROR)
		return;
	spin_lock(&tdev->objects_lock);
	list_for_each_entry(queue, &tdev->objects[TUTTI_QUEUE], base.link)
		if (queue->base.id == message->fault.queue)
			tutti_queue_fault(queue, &message->fault);
	spin_unlock(&tdev->objects_lock);
}

/** tutti_event_vector() - an interrupt has come; from the interrupt's thread. */
void tutti_event_vector(struct tutti_device *tdev, u32 vector)
{
	struct tutti_queue *queue;

	atomic64_inc(&tdev->vector_count[vector]);
	spin_lock(&tdev->objects_lock);
	list_for_each_entry(queue, &tdev->objects[TUTTI_QUEUE], base.link)
		if (queue->eventfd && queue->vector == vector &&
		    (queue->event_flags & DRM_TUTTI_EVENT_COMPLETION))
			tutti_eventfd_signal(queue->eventfd);
	spin_unlock(&tdev->objects_lock);
	tutti_timeline_interrupt(tdev);
	wake_up_all(&tdev->wait);
}

static void tutti_event_set_eventfd(struct tutti_queue *queue, struct eventfd_ctx *eventfd, u32 flags)
{
	struct eventfd_ctx *old;

	spin_lock(&queue->base.tdev->objects_lock);
	old = queue->eventfd;
	queue->eventfd = eventfd;
	queue->event_flags = flags;
	/* an error that came before must not be missed */
	if (eventfd && (flags & DRM_TUTTI_EVENT_ERROR) && queue->stopped)
		tutti_eventfd_signal(eventfd);
	spin_unlock(&queue->base.tdev->objects_lock);
	if (old)
		eventfd_ctx_put(old);
}

int tutti_event_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	const struct drm_tutti_event *args = data;
	struct eventfd_ctx *eventfd = NULL;
	struct tutti_call call;
	int error;

	if (args->pad || (args->flags & ~EVENT_FLAGS) || (args->fd == -1) != !args->flags)
		return -EINVAL;
	error = tutti_call_begin(&call, df, TUTTI_QUEUE, args->handle);
	if (error)
		return error;
	if (args->fd != -1)
		eventfd = eventfd_ctx_fdget(args->fd);
	error = PTR_ERR_OR_ZERO(eventfd);
	if (!error)
		tutti_event_set_eventfd(to_queue(call.object), eventfd, args->flags);
	tutti_call_end(&call);
	return error;
}

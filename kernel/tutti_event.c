// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Errors of queues and interrupts, told to their owners only (spec SYS-26, SYS-27). */
#include <linux/eventfd.h>
#include <linux/moduleparam.h>

#include "compat.h"
#include "tutti_queue.h"
#include "tutti_trace.h"

static uint context_errors_max = 1000;
module_param(context_errors_max, uint, 0644);
MODULE_PARM_DESC(context_errors_max, "more queue errors than this in a second cost a context its life; 0 = never (1000)");

#define EVENT_FLAGS (DRM_TUTTI_EVENT_ERROR | DRM_TUTTI_EVENT_COMPLETION)

/* With objects_lock held. True: the context has had its share of errors. */
static bool count_error(struct tutti_context *context)
{
	u32 most = READ_ONCE(context_errors_max);

	if (time_after(jiffies, context->errors_since + HZ)) {
		context->errors_since = jiffies;
		context->errors = 0;
	}
	return ++context->errors > most && most;
}

/* With objects_lock held. */
static bool take_error(struct tutti_queue *queue, const struct tutti_fault *fault)
{
	queue->fault = *fault;
	queue->stopped = fault->code ? fault->code : TUTTI_ERROR_PACKET;
	queue->errors++;
	if (queue->file)
		atomic64_inc(&queue->file->events);
	if (queue->eventfd && (queue->event_flags & DRM_TUTTI_EVENT_ERROR))
		tutti_eventfd_signal(queue->eventfd);
	return count_error(tutti_queue_context(queue));
}

/** tutti_event_error() - the firmware has stopped a queue, or the driver has lost it. */
void tutti_event_error(struct tutti_device *tdev, const struct tutti_fault *fault)
{
	struct tutti_object *object = tutti_object_find(tdev, TUTTI_QUEUE, fault->queue);
	bool enough;

	trace_tutti_fault(fault);
	if (!object)
		return;
	spin_lock(&tdev->objects_lock);
	enough = take_error(to_queue(object), fault);
	spin_unlock(&tdev->objects_lock);
	wake_up_all(&tdev->wait);
	drm_dbg_driver(&tdev->drm, "queue %u stopped: code %u cause %u packet %llu address %#llx\n", fault->queue,
		       fault->code, fault->cause, fault->packet, fault->address);
	tutti_fence_cancel(to_queue(object), -ECANCELED);
	if (enough)
		tutti_recovery_context(tutti_queue_context(to_queue(object)), "errors without end");
	tutti_object_put(object);
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
	tutti_fence_interrupt(tdev);
	wake_up_all(&tdev->wait);
}

static void event_set(struct tutti_queue *queue, struct eventfd_ctx *eventfd, u32 flags)
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

int tutti_ioctl_event(struct drm_device *drm, void *data, struct drm_file *df)
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
		event_set(to_queue(call.object), eventfd, args->flags);
	tutti_call_end(&call);
	return error;
}

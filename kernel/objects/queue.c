// SPDX-License-Identifier: GPL-2.0 OR MIT
/* User-mode queues (spec SYS-24). */
#include <linux/capability.h>
#include <linux/eventfd.h>

#include "base/compat.h"
#include "base/delay.h"
#include "base/trace.h"
#include "card/gate.h"
#include "firmware/channel.h"
#include "firmware/message.h"
#include "memory/view.h"
#include "objects/call.h"
#include "objects/queue.h"

/* Above it others have to wait: that takes CAP_SYS_NICE. The firmware holds task metadata to the same limit. */
#define DEFAULT_PRIORITY 5u
#define USER_FLAGS (TUTTI_QUEUE_FLAGS & ~TUTTI_QUEUE_RSB)

/* ---- life ---- */

static void tutti_queue_release(struct tutti_object *object)
{
	struct tutti_queue *queue = to_queue(object);

	if (queue->eventfd)
		eventfd_ctx_put(queue->eventfd);
	tutti_object_fini(object);
	kfree(queue);
}

/**
 * tutti_queue_fault() - the firmware has stopped the queue, or the card has lost it: its owner is told.
 * @queue: on the card; objects_lock is held
 * @fault: what happened
 */
void tutti_queue_fault(struct tutti_queue *queue, const struct tutti_fault *fault)
{
	struct tutti_device *tdev = queue->base.tdev;

	lockdep_assert_held(&tdev->objects_lock);
	trace_tutti_fault(fault);
	drm_dbg_driver(&tdev->drm, "queue %u stopped: code %u cause %u packet %llu address %#llx\n", fault->queue,
		       fault->code, fault->cause, fault->packet, fault->address);
	queue->fault = *fault;
	WRITE_ONCE(queue->stopped, fault->code ? fault->code : TUTTI_ERROR_PACKET);
	queue->errors++;
	if (queue->file)
		atomic64_inc(&queue->file->events);
	if (queue->eventfd && (queue->event_flags & DRM_TUTTI_EVENT_ERROR))
		tutti_eventfd_signal(queue->eventfd);
	wake_up_all(&tdev->wait);
	tutti_timeline_cancel(&queue->timeline, -ECANCELED);
	if (tutti_context_count_error(tutti_queue_context(queue)))
		tutti_context_condemn_locked(tutti_queue_context(queue), "errors without end");
}

/* Fences first, with the true reason: the fault ends what is left as cancelled. */
static void tutti_queue_lost(struct tutti_object *object)
{
	struct tutti_fault fault = { .code = TUTTI_ERROR_CANCELLED, .queue = object->id, .sm = 0xffff };
	struct tutti_queue *queue = to_queue(object);

	tutti_timeline_cancel(&queue->timeline, drm_dev_is_unplugged(&object->tdev->drm) ? -ENODEV : -EIO);
	spin_lock(&object->tdev->objects_lock);
	tutti_queue_fault(queue, &fault);
	spin_unlock(&object->tdev->objects_lock);
}

/* Whoever destroys it may close the file next: from now on there is nobody to be told. */
static void tutti_queue_off_card(struct tutti_object *object)
{
	spin_lock(&object->tdev->objects_lock);
	to_queue(object)->file = NULL;
	spin_unlock(&object->tdev->objects_lock);
}

/* A queue that does not come to an end costs its context its life: nobody else shall notice. */
static int tutti_queue_answered(struct tutti_queue *queue, int error)
{
	if (error == -ETIMEDOUT)
		tutti_context_condemn(tutti_queue_context(queue), "a queue does not come to an end");
	return error;
}

/* The doorbell first, so that nothing new is heard of; then the firmware kills what runs, and answers. */
static int tutti_queue_destroy(struct tutti_object *object)
{
	struct tutti_queue *queue = to_queue(object);
	int error;

	lockdep_assert_held(&object->lock);
	tutti_view_revoke(object->view);
	tutti_delay(TUTTI_DELAY_queue_destroy);
	error = tutti_queue_answered(queue, tutti_message_queue_destroy(object->tdev, object->epoch, object->id));
	tutti_timeline_cancel(&queue->timeline, error ? -EIO : -ECANCELED);
	wake_up_all(&object->tdev->wait);
	return error;
}

/* The ring or the read index lies in the range. */
static bool tutti_queue_uses(struct tutti_object *object, u64 address, u64 bytes)
{
	struct tutti_queue *queue = to_queue(object);

	return (queue->ring < address + bytes && address < queue->ring + queue->ring_bytes) ||
	       (queue->index < address + bytes && address < queue->index + sizeof(u64));
}

static const struct tutti_object_ops queue_ops = {
	.destroy = tutti_queue_destroy,
	.lost = tutti_queue_lost,
	.off_card = tutti_queue_off_card,
	.uses = tutti_queue_uses,
	.release = tutti_queue_release,
};

static struct tutti_queue *tutti_queue_alloc(struct tutti_file *file, struct tutti_context *context)
{
	struct tutti_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);
	int error;

	if (!queue)
		return ERR_PTR(-ENOMEM);
	error = tutti_object_init(&queue->base, file->tdev, TUTTI_QUEUE, &queue_ops);
	if (error) {
		kfree(queue);
		return ERR_PTR(error);
	}
	tutti_timeline_init(&queue->timeline, file->tdev, queue->base.id);
	queue->vector = file->vector;
	tutti_object_get(&context->base);
	queue->base.parent[0] = &context->base;
	return queue;
}

static void tutti_queue_set_file(struct tutti_queue *queue, struct tutti_file *file)
{
	spin_lock(&queue->base.tdev->objects_lock);
	queue->file = queue->base.on_card ? file : NULL;
	spin_unlock(&queue->base.tdev->objects_lock);
}

/** tutti_queue_close() - the file goes; errors have nobody to be told to. */
void tutti_queue_close(struct tutti_file *file)
{
	struct tutti_object *object;
	unsigned long handle;

	xa_for_each(&file->handles[TUTTI_QUEUE], handle, object)
		tutti_queue_set_file(to_queue(object), NULL);
	tutti_handle_close_all(file, TUTTI_QUEUE);
}

/* ---- creation ---- */

static int tutti_queue_create_check(struct tutti_device *tdev, const struct drm_tutti_queue_create *args)
{
	const struct tutti_discovery *known = &tdev->known;
	u64 packets = args->size_log2 < 32 ? 1ull << args->size_log2 : 0;

	if ((args->flags & ~USER_FLAGS) || args->handle || args->id || args->doorbell_offset)
		return -EINVAL;
	if (packets < known->ring_packets_min || packets > known->ring_packets_max)
		return -EINVAL;
	if (args->priority < 1 || args->priority > 10 || (args->ring & 63) || (args->read_index & 7))
		return -EINVAL;
	if (args->ring >= TUTTI_VA_END || args->read_index >= TUTTI_VA_END)
		return -EINVAL;
	if (!(args->flags & TUTTI_QUEUE_EXTENDED) &&
	    (args->rsb || (args->flags & (TUTTI_QUEUE_OVERLAP | TUTTI_QUEUE_TABLE_DIFFS))))
		return -EINVAL;
	return args->priority < DEFAULT_PRIORITY && !capable(CAP_SYS_NICE) ? -EACCES : 0;
}

static int tutti_queue_find_memory(struct tutti_queue *queue, const struct drm_tutti_queue_create *args)
{
	const u32 access = DRM_TUTTI_ACCESS_READ | DRM_TUTTI_ACCESS_WRITE;
	struct tutti_context *context = tutti_queue_context(queue);
	u64 bytes = (u64)TUTTI_PACKET_BYTES << args->size_log2;
	struct tutti_mapping *mapping = tutti_mapping_find(&context->space, args->ring, bytes, access);

	if (!mapping || !tutti_mapping_find(&context->space, args->read_index, 8, access))
		return -EFAULT;
	queue->ring_bo = mapping->bo;
	queue->ring_at = mapping->offset + args->ring - mapping->node.start;
	queue->ring = args->ring;
	queue->ring_bytes = bytes;
	queue->index = args->read_index;
	return 0;
}

static int tutti_queue_find_rsb(struct tutti_queue *queue, struct tutti_file *file, u32 handle)
{
	struct tutti_object *rsb;

	if (!handle)
		return 0;
	rsb = tutti_handle_get(file, TUTTI_RSB, handle);
	if (!rsb)
		return -ENOENT;
	queue->base.parent[1] = rsb;
	return rsb->parent[0] == queue->base.parent[0] ? 0 : -EPERM;
}

static u8 tutti_queue_priority(const struct drm_tutti_queue_create *args)
{
	u8 highest = ns_capable_noaudit(&init_user_ns, CAP_SYS_NICE) ? 0 : DEFAULT_PRIORITY;

	return args->priority | highest << TUTTI_QUEUE_HIGHEST_SHIFT;
}

static int tutti_queue_tell_card(struct tutti_queue *queue, const struct drm_tutti_queue_create *args)
{
	struct tutti_device *tdev = queue->base.tdev;
	struct tutti_object *rsb = queue->base.parent[1];
	struct tutti_msg_queue message = {
		.queue = queue->base.id,
		.asid = tutti_queue_context(queue)->base.id,
		.flags = args->flags | (rsb ? TUTTI_QUEUE_RSB : 0),
		.rsb = rsb ? rsb->id : 0,
		.ring = args->ring,
		.read_index = args->read_index,
		.progress = TUTTI_BUS_HOST | (tdev->progress_bus + queue->base.id * sizeof(u64)),
		.size_log2 = args->size_log2,
		.priority = tutti_queue_priority(args),
		.vector = queue->vector,
		.timeout_ms = args->timeout_ms,
	};

	WRITE_ONCE(tdev->progress[queue->base.id], 0);
	writeq(TUTTI_DOORBELL_EMPTY, tdev->window + queue->base.view->offset);
	return tutti_message_queue_create(tdev, &message);
}

/* With the locks of its context and its RSB: both stay on the card meanwhile. */
static int tutti_queue_start_locked(struct tutti_queue *queue, const struct drm_tutti_queue_create *args)
{
	struct tutti_object *rsb = queue->base.parent[1];
	int error = -EIO;

	if (tutti_context_works(tutti_queue_context(queue)) && (!rsb || tutti_object_is_on_card(rsb)))
		error = tutti_queue_find_memory(queue, args);
	if (error)
		return error;
	tutti_object_on_card(&queue->base);
	error = tutti_queue_tell_card(queue, args);
	if (error && error != -ETIMEDOUT && error != -EIO)
		tutti_object_off_card(&queue->base); /* refused: the card has never known it */
	return error;
}

static int tutti_queue_start(struct tutti_queue *queue, const struct drm_tutti_queue_create *args)
{
	struct tutti_object *context = queue->base.parent[0], *rsb = queue->base.parent[1];
	int error;

	mutex_lock(&context->lock);
	if (rsb)
		mutex_lock(&rsb->lock);
	error = tutti_queue_start_locked(queue, args);
	if (rsb)
		mutex_unlock(&rsb->lock);
	mutex_unlock(&context->lock);
	return error;
}

/* The handle is known before the queue: its doorbell's place in the file comes from it. */
static int tutti_queue_create(struct tutti_file *file, struct tutti_context *context,
			      struct drm_tutti_queue_create *args)
{
	struct tutti_device *tdev = file->tdev;
	struct tutti_queue *queue = tutti_queue_alloc(file, context);
	u64 doorbell;
	u32 handle;
	int error;

	if (IS_ERR(queue))
		return PTR_ERR(queue);
	error = tutti_queue_find_rsb(queue, file, args->rsb);
	if (error)
		goto put;
	error = tutti_handle_reserve(file, TUTTI_QUEUE, &handle);
	if (error)
		goto put;
	doorbell = DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_DOORBELL, handle);
	queue->base.view = tutti_view_create(tdev, tdev->known.doorbells.offset + queue->base.id * TUTTI_PAGE_SIZE,
					     doorbell, true);
	error = queue->base.view ? tutti_queue_start(queue, args) : -ENOMEM;
	if (error)
		goto cancel;
	tutti_queue_set_file(queue, file);
	args->handle = handle;
	args->id = queue->base.id;
	args->doorbell_offset = doorbell;
	tutti_handle_publish(file, handle, &queue->base);
	return 0;
cancel:
	tutti_handle_cancel(file, TUTTI_QUEUE, handle);
put:
	tutti_object_put(&queue->base);
	return error;
}

int tutti_queue_create_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_queue_create *args = data;
	struct tutti_call call;
	int error = tutti_queue_create_check(to_tutti(drm), args);

	if (!error)
		error = tutti_call_begin(&call, df, TUTTI_CONTEXT, args->context);
	if (error)
		return error;
	error = tutti_queue_create(call.file, to_context(call.object), args);
	tutti_call_end(&call);
	return error;
}

/* ---- the other calls ---- */

int tutti_queue_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	return tutti_call_destroy(df, TUTTI_QUEUE, data);
}

static int tutti_queue_reset(struct tutti_queue *queue)
{
	struct tutti_device *tdev = queue->base.tdev;
	int error = -EIO;
	u32 stopped;

	mutex_lock(&queue->base.lock);
	if (!tutti_object_is_on_card(&queue->base))
		goto unlock;
	/* an error that comes while the firmware starts the queue again must not be lost */
	spin_lock(&tdev->objects_lock);
	stopped = queue->stopped;
	WRITE_ONCE(queue->stopped, 0);
	spin_unlock(&tdev->objects_lock);
	error = tutti_queue_answered(queue, tutti_message_queue_reset(tdev, queue->base.id));
	if (error) {
		spin_lock(&tdev->objects_lock);
		WRITE_ONCE(queue->stopped, queue->stopped ? queue->stopped : stopped);
		spin_unlock(&tdev->objects_lock);
	}
unlock:
	mutex_unlock(&queue->base.lock);
	return error;
}

int tutti_queue_reset_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_handle *args = data;
	struct tutti_call call;
	int error = args->pad ? -EINVAL : tutti_call_begin(&call, df, TUTTI_QUEUE, args->handle);

	if (error)
		return error;
	error = tutti_queue_reset(to_queue(call.object));
	tutti_call_end(&call);
	return error;
}

static int tutti_queue_query(struct tutti_queue *queue, struct drm_tutti_queue_query *args)
{
	struct tutti_device *tdev = queue->base.tdev;
	int error;

	BUILD_BUG_ON(sizeof(args->fault) != sizeof(queue->fault));
	tutti_channel_poll(tdev);
	spin_lock(&tdev->objects_lock);
	error = queue->base.on_card ? 0 : -EIO;
	args->progress = queue->base.on_card ? tutti_queue_progress(queue) : 0;
	args->errors = queue->errors;
	args->stopped = queue->stopped;
	memcpy(args->fault, &queue->fault, sizeof(args->fault));
	spin_unlock(&tdev->objects_lock);
	return error;
}

int tutti_queue_query_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_queue_query *args = data;
	struct tutti_call call;
	int error;

	if (args->pad || args->pad1)
		return -EINVAL;
	error = tutti_call_begin(&call, df, TUTTI_QUEUE, args->handle);
	if (error)
		return error;
	error = tutti_queue_query(to_queue(call.object), args);
	tutti_call_end(&call);
	return error;
}

/* The firmware keeps the smallest number of packets, and forgets it when it has interrupted. */
static int tutti_queue_arm_locked(struct tutti_queue *queue, u64 packet)
{
	u64 armed = queue->timeline.armed;
	int error;

	lockdep_assert_held(&queue->base.lock);
	if (!tutti_object_is_on_card(&queue->base))
		return -ECANCELED;
	tutti_delay(TUTTI_DELAY_queue_arm);
	if (armed > tutti_queue_progress(queue) && armed <= packet)
		return 0;
	error = tutti_message_queue_notify(queue->base.tdev, queue->base.epoch, queue->base.id, packet);
	WRITE_ONCE(queue->timeline.armed, error ? 0 : packet);
	return error;
}

/**
 * tutti_queue_try_arm() - have an interrupt when so many packets have retired.
 * @queue: a reference is held; between drm_dev_enter() and drm_dev_exit()
 * @packet: packets
 *
 * Return: 0; an error means that nobody will interrupt. -EBUSY: another thread has the queue locked. It may
 * be waiting for the firmware, so a caller that has a deadline, or that a signal interrupts, must not wait for it.
 */
int tutti_queue_try_arm(struct tutti_queue *queue, u64 packet)
{
	int error;

	if (!mutex_trylock(&queue->base.lock))
		return -EBUSY;
	error = tutti_queue_arm_locked(queue, packet);
	mutex_unlock(&queue->base.lock);
	return error;
}

/** tutti_queue_cancel() - ask the firmware to give up a task. Between tutti_gate_enter() and _exit(). */
int tutti_queue_cancel(struct tutti_file *file, u64 handle, u64 packet)
{
	struct tutti_object *object = handle <= U32_MAX ? tutti_handle_get(file, TUTTI_QUEUE, handle) : NULL;
	int error = -EIO;

	if (!object)
		return -ENOENT;
	mutex_lock(&object->lock);
	if (tutti_object_is_on_card(object))
		error = tutti_queue_answered(to_queue(object),
					     tutti_message_task_cancel(object->tdev, object->id, packet));
	mutex_unlock(&object->lock);
	tutti_object_put(object);
	return error;
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
/* User-mode queues (spec SYS-24). */
#include <linux/eventfd.h>

#include "tutti_queue.h"
#include "tutti_rsb.h"

#define USER_FLAGS (TUTTI_QUEUE_FLAGS & ~TUTTI_QUEUE_RSB)

/* ---- life ---- */

static void queue_release(struct kref *ref)
{
	struct tutti_queue *queue = container_of(ref, struct tutti_queue, ref);

	if (queue->eventfd)
		eventfd_ctx_put(queue->eventfd);
	tutti_view_put(queue->view);
	if (queue->rsb)
		tutti_rsb_put(queue->rsb);
	tutti_context_put(queue->context);
	mutex_destroy(&queue->lock);
	kfree(queue);
}

void tutti_queue_put(struct tutti_queue *queue)
{
	kref_put(&queue->ref, queue_release);
}

struct tutti_queue *tutti_queue_get(struct tutti_file *file, u32 handle)
{
	struct tutti_queue *queue;

	xa_lock(&file->queues);
	queue = xa_load(&file->queues, handle);
	if (queue && !kref_get_unless_zero(&queue->ref))
		queue = NULL;
	xa_unlock(&file->queues);
	return queue;
}

static struct tutti_queue *queue_alloc(struct tutti_file *file, struct tutti_context *context)
{
	struct tutti_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);

	if (!queue)
		return NULL;
	kref_init(&queue->ref);
	queue->tdev = file->tdev;
	queue->file = file;
	queue->vector = file->vector;
	mutex_init(&queue->lock);
	INIT_LIST_HEAD(&queue->link);
	kref_get(&context->ref);
	queue->context = context;
	return queue;
}

static void queue_on_card(struct tutti_queue *queue)
{
	struct tutti_device *tdev = queue->tdev;

	kref_get(&queue->ref);
	atomic_inc(&queue->context->users);
	if (queue->rsb)
		atomic_inc(&queue->rsb->users);
	spin_lock(&tdev->objects_lock);
	queue->on_card = true;
	list_add_tail(&queue->link, &tdev->queues);
	tdev->queue_by_id[queue->id] = queue;
	spin_unlock(&tdev->objects_lock);
}

/* The card has let go of it: its number, ring and doorbell are free. May be called twice. */
static void queue_off_card(struct tutti_queue *queue)
{
	struct tutti_device *tdev = queue->tdev;
	bool was;

	spin_lock(&tdev->objects_lock);
	was = queue->on_card;
	queue->on_card = false;
	list_del_init(&queue->link);
	if (was)
		tdev->queue_by_id[queue->id] = NULL;
	spin_unlock(&tdev->objects_lock);
	if (!was)
		return;
	atomic_dec(&queue->context->users);
	if (queue->rsb)
		atomic_dec(&queue->rsb->users);
	ida_free(&tdev->queue_ids, queue->id);
	tutti_queue_put(queue);
}

/** tutti_queue_uses() - ring or read index of a queue of the context lies in the range. */
bool tutti_queue_uses(struct tutti_context *context, u64 address, u64 bytes)
{
	struct tutti_device *tdev = context->tdev;
	struct tutti_queue *queue;
	bool uses = false;

	spin_lock(&tdev->objects_lock);
	list_for_each_entry(queue, &tdev->queues, link)
		uses |= queue->context == context &&
			((queue->ring < address + bytes && address < queue->ring + queue->ring_bytes) ||
			 (queue->index < address + bytes && address < queue->index + sizeof(u64)));
	spin_unlock(&tdev->objects_lock);
	return uses;
}

static struct tutti_queue *first_queue(struct tutti_device *tdev)
{
	struct tutti_queue *queue;

	spin_lock(&tdev->objects_lock);
	queue = list_first_entry_or_null(&tdev->queues, struct tutti_queue, link);
	if (queue)
		kref_get(&queue->ref);
	spin_unlock(&tdev->objects_lock);
	return queue;
}

static void tell_lost(struct tutti_queue *queue)
{
	struct tutti_fault fault = { .code = TUTTI_ERROR_CANCELLED, .queue = queue->id, .sm = 0xffff };

	tutti_event_error(queue->tdev, &fault);
}

/** tutti_queue_post_reset() - the card knows no queue any more; their owners are told. */
void tutti_queue_post_reset(struct tutti_device *tdev)
{
	struct tutti_queue *queue;

	while ((queue = first_queue(tdev))) {
		tutti_fence_cancel(queue, drm_dev_is_unplugged(&tdev->drm) ? -ENODEV : -EIO);
		tell_lost(queue);
		queue_off_card(queue);
		tutti_queue_put(queue);
	}
}

/* Doorbell first: nothing new is heard of; then the firmware kills what runs and answers. */
static int queue_destroy(struct tutti_queue *queue)
{
	struct tutti_device *tdev = queue->tdev;
	int error = 0;

	tutti_view_revoke(queue->view);
	spin_lock(&tdev->objects_lock);
	queue->file = NULL;
	spin_unlock(&tdev->objects_lock);
	mutex_lock(&queue->lock);
	if (queue->on_card) {
		error = tutti_msg_queue_destroy(tdev, queue->id);
		if (!error)
			queue_off_card(queue);
	}
	mutex_unlock(&queue->lock);
	tutti_fence_cancel(queue, -ECANCELED);
	wake_up_all(&tdev->wait);
	return error;
}

void tutti_queue_close(struct tutti_file *file)
{
	struct tutti_queue *queue;
	unsigned long handle;

	xa_for_each(&file->queues, handle, queue) {
		queue_destroy(queue);
		tutti_queue_put(queue);
	}
	xa_destroy(&file->queues);
}

/* ---- creation ---- */

static int create_check(struct tutti_device *tdev, const struct drm_tutti_queue_create *args)
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
	return 0;
}

static int find_memory(struct tutti_queue *queue, const struct drm_tutti_queue_create *args)
{
	const u32 access = DRM_TUTTI_ACCESS_READ | DRM_TUTTI_ACCESS_WRITE;
	u64 bytes = (u64)TUTTI_PACKET_BYTES << args->size_log2;

	if (!tutti_context_find(queue->context, args->ring, bytes, access) ||
	    !tutti_context_find(queue->context, args->read_index, 8, access))
		return -EFAULT;
	queue->ring = args->ring;
	queue->ring_bytes = bytes;
	queue->index = args->read_index;
	return 0;
}

static int find_rsb(struct tutti_queue *queue, struct tutti_file *file, u32 handle)
{
	if (!handle)
		return 0;
	queue->rsb = tutti_rsb_get(file, handle);
	if (!queue->rsb)
		return -ENOENT;
	return queue->rsb->context == queue->context ? 0 : -EPERM;
}

static int tell_card(struct tutti_queue *queue, const struct drm_tutti_queue_create *args)
{
	struct tutti_device *tdev = queue->tdev;
	struct tutti_msg_queue message = {
		.queue = queue->id,
		.asid = queue->context->asid,
		.flags = args->flags | (queue->rsb ? TUTTI_QUEUE_RSB : 0),
		.rsb = queue->rsb ? queue->rsb->id : 0,
		.ring = args->ring,
		.read_index = args->read_index,
		.progress = TUTTI_BUS_HOST | (tdev->progress_bus + queue->id * sizeof(u64)),
		.size_log2 = args->size_log2,
		.priority = args->priority,
		.vector = queue->vector,
		.timeout_ms = args->timeout_ms,
	};

	WRITE_ONCE(tdev->progress[queue->id], 0);
	writeq(TUTTI_DOORBELL_EMPTY, tdev->window + queue->view->offset);
	return tutti_msg_queue_create(tdev, &message);
}

/* With the context's lock held. */
static int queue_start(struct tutti_queue *queue, const struct drm_tutti_queue_create *args)
{
	int error = -EIO;

	if (queue->context->on_card && (!queue->rsb || queue->rsb->on_card))
		error = find_memory(queue, args);
	if (error)
		return error;
	queue_on_card(queue);
	error = tell_card(queue, args);
	if (error && error != -ETIMEDOUT && error != -EIO)
		queue_off_card(queue); /* refused: the card has never known it */
	return error;
}

/* The handle is known before the queue: its doorbell's place in the file comes from it. */
static int queue_create(struct tutti_file *file, struct tutti_context *context,
			struct drm_tutti_queue_create *args)
{
	struct tutti_device *tdev = file->tdev;
	struct tutti_queue *queue = queue_alloc(file, context);
	u64 doorbell;
	u32 handle;
	int error;

	if (!queue)
		return -ENOMEM;
	error = find_rsb(queue, file, args->rsb);
	if (error)
		goto put;
	error = xa_alloc(&file->queues, &handle, NULL, XA_LIMIT(1, BIT(28) - 1), GFP_KERNEL_ACCOUNT);
	if (error)
		goto put;
	error = ida_alloc_max(&tdev->queue_ids, tdev->known.max_queues - 1, GFP_KERNEL);
	if (error < 0)
		goto erase;
	queue->id = error;
	doorbell = DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_DOORBELL, handle);
	error = -ENOMEM;
	queue->view = tutti_view_create(tdev, tdev->known.doorbells.offset + queue->id * TUTTI_PAGE_SIZE,
					doorbell, true);
	if (!queue->view)
		goto free_id;
	mutex_lock(&context->lock);
	error = queue_start(queue, args);
	mutex_unlock(&context->lock);
	if (error)
		goto stopped;
	args->handle = handle;
	args->id = queue->id;
	args->doorbell_offset = doorbell;
	xa_store(&file->queues, handle, queue, GFP_KERNEL_ACCOUNT); /* the slot is there: cannot fail */
	return 0;

free_id:
	ida_free(&tdev->queue_ids, queue->id);
erase:
	xa_erase(&file->queues, handle);
put:
	tutti_queue_put(queue);
	return error;
stopped:
	spin_lock(&tdev->objects_lock);
	queue->file = NULL;
	spin_unlock(&tdev->objects_lock);
	/* -EFAULT and a context that is lost: the number was never given to the card */
	if (!queue->ring_bytes)
		ida_free(&tdev->queue_ids, queue->id);
	goto erase;
}

int tutti_ioctl_queue_create(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_queue_create *args = data;
	struct tutti_file *file = df->driver_priv;
	struct tutti_context *context;
	int error = create_check(file->tdev, args), index;

	if (error)
		return error;
	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = -ENOENT;
	context = tutti_context_get(file, args->context);
	if (context) {
		error = queue_create(file, context, args);
		tutti_context_put(context);
	}
	tutti_exit(file, index);
	return error;
}

/* ---- the other calls ---- */

int tutti_ioctl_queue_destroy(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_handle *args = data;
	struct tutti_file *file = df->driver_priv;
	struct tutti_queue *queue;
	int error, index;

	if (args->pad)
		return -EINVAL;
	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = -ENOENT;
	queue = xa_erase(&file->queues, args->handle);
	if (queue) {
		error = queue_destroy(queue);
		tutti_queue_put(queue);
	}
	tutti_exit(file, index);
	return error;
}

static int queue_reset(struct tutti_queue *queue)
{
	struct tutti_device *tdev = queue->tdev;
	int error = -EIO;
	u32 stopped;

	mutex_lock(&queue->lock);
	if (!queue->on_card)
		goto unlock;
	/* an error that comes while the firmware starts the queue again must not be lost */
	spin_lock(&tdev->objects_lock);
	stopped = queue->stopped;
	queue->stopped = 0;
	spin_unlock(&tdev->objects_lock);
	error = tutti_msg_queue_reset(tdev, queue->id);
	if (error) {
		spin_lock(&tdev->objects_lock);
		queue->stopped = queue->stopped ? queue->stopped : stopped;
		spin_unlock(&tdev->objects_lock);
	}
unlock:
	mutex_unlock(&queue->lock);
	return error;
}

int tutti_ioctl_queue_reset(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_handle *args = data;
	struct tutti_file *file = df->driver_priv;
	struct tutti_queue *queue;
	int error, index;

	if (args->pad)
		return -EINVAL;
	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = -ENOENT;
	queue = tutti_queue_get(file, args->handle);
	if (queue) {
		error = queue_reset(queue);
		tutti_queue_put(queue);
	}
	tutti_exit(file, index);
	return error;
}

int tutti_ioctl_queue_query(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_queue_query *args = data;
	struct tutti_file *file = df->driver_priv;
	struct tutti_queue *queue;
	int error, index;

	if (args->pad || args->pad1)
		return -EINVAL;
	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = -ENOENT;
	queue = tutti_queue_get(file, args->handle);
	if (!queue)
		goto exit;
	BUILD_BUG_ON(sizeof(args->fault) != sizeof(queue->fault));
	tutti_channel_poll(file->tdev);
	spin_lock(&file->tdev->objects_lock);
	error = queue->on_card ? 0 : -EIO;
	args->progress = queue->on_card ? tutti_queue_progress(queue) : 0;
	args->errors = queue->errors;
	args->stopped = queue->stopped;
	memcpy(args->fault, &queue->fault, sizeof(args->fault));
	spin_unlock(&file->tdev->objects_lock);
	tutti_queue_put(queue);
exit:
	tutti_exit(file, index);
	return error;
}

/** tutti_queue_cancel() - ask the firmware to give up a task. */
int tutti_queue_cancel(struct tutti_file *file, u64 handle, u64 packet)
{
	struct tutti_queue *queue = handle <= U32_MAX ? tutti_queue_get(file, handle) : NULL;
	int error = -EIO;

	if (!queue)
		return -ENOENT;
	mutex_lock(&queue->lock);
	if (queue->on_card)
		error = tutti_msg_task_cancel(file->tdev, queue->id, packet);
	mutex_unlock(&queue->lock);
	tutti_queue_put(queue);
	return error;
}

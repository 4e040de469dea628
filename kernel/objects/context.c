// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Contexts: an address space, and the queues and RSBs that live in it (spec SYS-06, SYS-23, SYS-28). */
#include <linux/moduleparam.h>

#include "base/trace.h"
#include "card/gate.h"
#include "firmware/message.h"
#include "objects/call.h"
#include "objects/context.h"

static uint context_errors_max = 1000;
module_param(context_errors_max, uint, 0644);
MODULE_PARM_DESC(context_errors_max,
		 "more queue errors than this in a second cost a context its life; 0 = never (1000)");

/* ---- life ---- */

/*
 * What is mapped in it is given back now, although its owner may keep the handle for long: memory of a process is
 * unpinned, and page tables, which are DMA memory, go while there is a device. Nobody else looks at its mappings: those
 * who do have reset_sem or its lock, and find it off the card.
 */
static void tutti_context_off_card(struct tutti_object *object)
{
	tutti_mapping_fini(&to_context(object)->space);
}

static void tutti_context_release(struct tutti_object *object)
{
	struct tutti_context *context = to_context(object);

	tutti_mapping_fini(&context->space);
	tutti_object_fini(object);
	kfree(context);
}

static int tutti_context_destroy(struct tutti_object *object)
{
	lockdep_assert_held(&object->lock);
	if (atomic_read(&object->users))
		return -EBUSY;
	return tutti_message_context_destroy(object->tdev, object->epoch, object->id);
}

static const struct tutti_object_ops context_ops = {
	.destroy = tutti_context_destroy,
	.off_card = tutti_context_off_card,
	.release = tutti_context_release,
};

static struct tutti_context *tutti_context_alloc(struct tutti_device *tdev)
{
	struct tutti_context *context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	int error;

	if (!context)
		return ERR_PTR(-ENOMEM);
	error = tutti_object_init(&context->base, tdev, TUTTI_CONTEXT, &context_ops);
	if (error)
		goto free;
	error = tutti_mapping_init(&context->space, tdev, context->base.id);
	if (!error)
		return context;
	tutti_object_fini(&context->base);
free:
	kfree(context);
	return ERR_PTR(error);
}

static int tutti_context_create(struct tutti_file *file, struct drm_tutti_context_create *args)
{
	struct tutti_device *tdev = file->tdev;
	struct tutti_context *context = tutti_context_alloc(tdev);
	u32 handle;
	int error;

	if (IS_ERR(context))
		return PTR_ERR(context);
	error = tutti_handle_reserve(file, TUTTI_CONTEXT, &handle);
	if (error)
		goto put;
	tutti_object_on_card(&context->base);
	error = tutti_message_context_create(tdev, context->base.id, tutti_mmu_root(&context->space.mmu),
					     args->print_ring);
	if (error)
		goto cancel;
	args->handle = handle;
	tutti_handle_publish(file, handle, &context->base);
	return 0;
cancel:
	if (error != -ETIMEDOUT && error != -EIO)
		tutti_object_off_card(&context->base); /* refused: the card has never known it */
	tutti_handle_cancel(file, TUTTI_CONTEXT, handle);
put:
	tutti_object_put(&context->base);
	return error;
}

int tutti_context_create_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_context_create *args = data;
	struct tutti_file *file = df->driver_priv;
	int error, index;

	if (args->flags || args->handle || (args->print_ring & 63) || args->print_ring >= TUTTI_VA_END)
		return -EINVAL;
	error = tutti_gate_enter(file, &index);
	if (error)
		return error;
	error = tutti_context_create(file, args);
	tutti_gate_exit(file, index);
	return error;
}

int tutti_context_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	return tutti_call_destroy(df, TUTTI_CONTEXT, data);
}

/* ---- the context rung of the recovery ladder ---- */

/** tutti_context_condemn_locked() - it shall be killed. objects_lock is held. */
void tutti_context_condemn_locked(struct tutti_context *context, const char *why)
{
	struct tutti_device *tdev = context->base.tdev;

	lockdep_assert_held(&tdev->objects_lock);
	if (context->condemned)
		return;
	context->condemned = true;
	drm_err(&tdev->drm, "context %u: %s: killing it\n", context->base.id, why);
	queue_work(tdev->work_queue, &tdev->context_work);
}

/** tutti_context_condemn() - the same without the lock. */
void tutti_context_condemn(struct tutti_context *context, const char *why)
{
	spin_lock(&context->base.tdev->objects_lock);
	tutti_context_condemn_locked(context, why);
	spin_unlock(&context->base.tdev->objects_lock);
}

/** tutti_context_count_error() - of one of its queues; True: it has had its share of errors. */
bool tutti_context_count_error(struct tutti_context *context)
{
	u32 most = READ_ONCE(context_errors_max);

	lockdep_assert_held(&context->base.tdev->objects_lock);
	if (time_after(jiffies, context->errors_since + HZ)) {
		context->errors_since = jiffies;
		context->errors = 0;
	}
	return ++context->errors > most && most;
}

/* A queue that is being destroyed already answers to whoever began it: here only its end is waited for. */
static int tutti_context_kill_queue(struct tutti_object *object)
{
	int error;

	mutex_lock(&object->lock);
	error = tutti_object_is_on_card(object) ? object->ops->destroy(object) : 0;
	if (error == -EBUSY)
		error = tutti_message_queue_gone(object->tdev, object->id);
	if (!error || error == -ENOENT)
		tutti_object_lose(object);
	mutex_unlock(&object->lock);
	return error == -ENOENT ? 0 : error;
}

static int tutti_context_kill_all(struct tutti_context *context, enum tutti_kind kind,
				  int (*kill)(struct tutti_object *object))
{
	struct tutti_object *object;
	int error = 0;

	while (!error && (object = tutti_object_child(&context->base, kind))) {
		error = kill(object);
		tutti_object_put(object);
	}
	return error;
}

/**
 * tutti_context_kill() - stop its queues and what they run, for good; nobody else notices.
 * @context: between drm_dev_enter() and _exit(), with reset_sem read
 *
 * Handles stay: calls that name them give -EIO. Return: 0, or what the firmware said.
 */
int tutti_context_kill(struct tutti_context *context)
{
	int error;

	mutex_lock(&context->base.lock);
	context->killed = true;
	error = tutti_context_kill_all(context, TUTTI_QUEUE, tutti_context_kill_queue);
	if (!error)
		error = tutti_context_kill_all(context, TUTTI_RSB, tutti_object_destroy);
	if (!error && tutti_object_is_on_card(&context->base))
		error = tutti_message_context_destroy(context->base.tdev, context->base.epoch, context->base.id);
	if (!error)
		tutti_object_off_card(&context->base);
	mutex_unlock(&context->base.lock);
	wake_up_all(&context->base.tdev->wait);
	return error;
}

/* ---- mappings ---- */

static int tutti_context_map(struct tutti_context *context, struct tutti_bo *bo, const struct drm_tutti_map *args)
{
	int error = tutti_bo_pin(bo);

	if (error)
		return error;
	mutex_lock(&context->base.lock);
	error = tutti_context_works(context) ? tutti_mapping_create(&context->space, bo, args) : -EIO;
	mutex_unlock(&context->base.lock);
	return error;
}

static int tutti_context_map_check(const struct drm_tutti_map *args)
{
	const u32 all = DRM_TUTTI_ACCESS_READ | DRM_TUTTI_ACCESS_WRITE | DRM_TUTTI_ACCESS_EXECUTE;

	if (args->pad || (args->access & ~all) || !(args->access & DRM_TUTTI_ACCESS_READ) ||
	    !tutti_mapping_range_ok(args->address, args->bytes) || (args->offset & (TUTTI_PAGE_SIZE - 1)))
		return -EINVAL;
	return 0;
}

/*
 * The pages of a buffer that was never mapped are allocated now, which may take long when it is large: before the call
 * gets in the way of a reset. Inside it is looked at once more, and is there.
 */
static int tutti_context_map_prepare(struct tutti_bo *bo)
{
	int index, error = -ENODEV;

	if (!drm_dev_enter(bo->shmem.base.dev, &index))
		return error;
	error = tutti_bo_pin(bo);
	drm_dev_exit(index);
	return error;
}

static int tutti_context_map_bo(struct drm_file *df, struct tutti_bo *bo, const struct drm_tutti_map *args)
{
	struct tutti_call call;
	int error = tutti_context_map_prepare(bo);

	if (!error)
		error = tutti_call_begin(&call, df, TUTTI_CONTEXT, args->context);
	if (error)
		return error;
	error = -EINVAL;
	if (args->offset < bo->shmem.base.size && args->bytes <= bo->shmem.base.size - args->offset)
		error = tutti_context_map(to_context(call.object), bo, args);
	trace_tutti_map(call.object->id, args->address, args->bytes, error);
	tutti_call_end(&call);
	return error;
}

int tutti_context_map_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	const struct drm_tutti_map *args = data;
	struct tutti_bo *bo;
	int error = tutti_context_map_check(args);

	if (!error)
		error = tutti_gate_check(df->driver_priv);
	if (error)
		return error;
	bo = tutti_bo_lookup(df, args->bo);
	if (!bo)
		return -ENOENT;
	error = tutti_context_map_bo(df, bo, args);
	tutti_bo_put(bo);
	return error;
}

static int tutti_context_unmap(struct tutti_context *context, u64 address, u64 bytes)
{
	int error;

	if (!tutti_context_works(context))
		return -EIO;
	if (!tutti_mapping_any(&context->space, address, bytes))
		return -ENOENT;
	if (tutti_object_child_uses(&context->base, address, bytes))
		return -EBUSY;
	error = tutti_mapping_destroy(&context->space, address, bytes);
	trace_tutti_unmap(context->base.id, address, bytes, error);
	return error;
}

typedef int (*range_fn)(struct tutti_context *context, u64 address, u64 bytes);

static int tutti_context_range_call(struct drm_file *df, const struct drm_tutti_range *args, range_fn fn)
{
	struct tutti_call call;
	int error = tutti_call_begin(&call, df, TUTTI_CONTEXT, args->context);

	if (error)
		return error;
	mutex_lock(&call.object->lock);
	error = fn(to_context(call.object), args->address, args->bytes);
	mutex_unlock(&call.object->lock);
	tutti_call_end(&call);
	return error;
}

int tutti_context_unmap_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	const struct drm_tutti_range *args = data;

	if (args->pad || !tutti_mapping_range_ok(args->address, args->bytes))
		return -EINVAL;
	return tutti_context_range_call(df, args, tutti_context_unmap);
}

static int tutti_context_code_invalidate(struct tutti_context *context, u64 address, u64 bytes)
{
	if (!tutti_context_works(context))
		return -EIO;
	return tutti_message_code_invalidate(context->base.tdev, context->base.id, address, bytes);
}

int tutti_context_code_invalidate_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	const struct drm_tutti_range *args = data;

	if (args->pad || !args->bytes || args->address >= TUTTI_VA_END ||
	    args->bytes > TUTTI_VA_END - args->address)
		return -EINVAL;
	return tutti_context_range_call(df, args, tutti_context_code_invalidate);
}

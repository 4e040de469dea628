// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Reference state buffers (spec SYS-25, PKT-10). */
#include <linux/uaccess.h>

#include "tutti_rsb.h"

/* ---- life ---- */

static void rsb_release(struct tutti_object *object)
{
	struct tutti_rsb_object *rsb = to_rsb(object);

	tutti_view_put(rsb->view);
	tutti_object_fini(object);
	kfree(rsb);
}

/* Queues attach with its lock held: what the firmware says of them is true here, too. */
static int rsb_destroy(struct tutti_object *object)
{
	struct tutti_rsb_object *rsb = to_rsb(object);
	int error = -EBUSY;

	if (!atomic_read(&object->users))
		error = tutti_msg_rsb_destroy(object->tdev, object->id);
	if (!error && rsb->view)
		tutti_view_revoke(rsb->view);
	return error;
}

static const struct tutti_object_ops rsb_ops = {
	.destroy = rsb_destroy,
	.release = rsb_release,
};

static struct tutti_rsb_object *rsb_alloc(struct tutti_device *tdev, struct tutti_object *context)
{
	struct tutti_rsb_object *rsb = kzalloc(sizeof(*rsb), GFP_KERNEL_ACCOUNT);
	int error;

	if (!rsb)
		return ERR_PTR(-ENOMEM);
	error = tutti_object_init(&rsb->base, tdev, TUTTI_RSB, &rsb_ops);
	if (error) {
		kfree(rsb);
		return ERR_PTR(error);
	}
	tutti_object_get(context);
	rsb->base.parent[0] = context;
	return rsb;
}

static int tell_card(struct tutti_rsb_object *rsb, u32 placement)
{
	struct tutti_object *context = rsb->base.parent[0];
	struct tutti_msg_rsb message = {
		.rsb = rsb->base.id,
		.asid = context->id,
		.placement = placement,
		/* the first part of the reserved memory is for these */
		.offset = placement == TUTTI_RSB_MEMORY ? rsb->base.id * sizeof(struct tutti_rsb) : 0,
	};
	int error = -EIO;

	mutex_lock(&context->lock);
	if (tutti_context_works(to_context(context))) {
		tutti_object_on_card(&rsb->base);
		error = tutti_msg_rsb_create(rsb->base.tdev, &message);
		if (error && error != -ETIMEDOUT && error != -EIO)
			tutti_object_off_card(&rsb->base);
	}
	mutex_unlock(&context->lock);
	return error;
}

static bool has_mirror(struct tutti_device *tdev, u32 id)
{
	return (id + 1) * TUTTI_PAGE_SIZE <= tdev->known.rsb_window.bytes;
}

static int rsb_create(struct tutti_file *file, struct tutti_object *context, struct drm_tutti_rsb_create *args)
{
	struct tutti_device *tdev = file->tdev;
	struct tutti_rsb_object *rsb = rsb_alloc(tdev, context);
	u64 offset;
	u32 handle;
	int error;

	if (IS_ERR(rsb))
		return PTR_ERR(rsb);
	error = tutti_handle_reserve(file, TUTTI_RSB, &handle);
	if (error)
		goto put;
	offset = DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_RSB, handle);
	error = tell_card(rsb, args->placement);
	if (error)
		goto cancel;
	if (args->placement == TUTTI_RSB_SCRATCH && has_mirror(tdev, rsb->base.id))
		rsb->view = tutti_view_create(tdev, tdev->known.rsb_window.offset + rsb->base.id * TUTTI_PAGE_SIZE,
					      offset, false);
	args->handle = handle;
	args->mmap_offset = rsb->view ? offset : 0;
	tutti_handle_publish(file, handle, &rsb->base);
	return 0;
cancel:
	tutti_handle_cancel(file, TUTTI_RSB, handle);
put:
	tutti_object_put(&rsb->base);
	return error;
}

/* ---- calls ---- */

int tutti_ioctl_rsb_create(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_rsb_create *args = data;
	struct tutti_call call;
	int error;

	if (args->placement > TUTTI_RSB_MEMORY || args->handle || args->pad || args->mmap_offset)
		return -EINVAL;
	error = tutti_call_begin(&call, df, TUTTI_CONTEXT, args->context);
	if (error)
		return error;
	error = rsb_create(call.file, call.object, args);
	tutti_call_end(&call);
	return error;
}

int tutti_ioctl_rsb_destroy(struct drm_device *drm, void *data, struct drm_file *df)
{
	return tutti_call_destroy(df, TUTTI_RSB, data);
}

int tutti_ioctl_rsb_invalidate(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_rsb_invalidate *args = data;
	struct tutti_call call;
	int error = args->mask >> TUTTI_REFERENCES ? -EINVAL :
		    tutti_call_begin(&call, df, TUTTI_RSB, args->handle);

	if (error)
		return error;
	mutex_lock(&call.object->lock);
	error = -EIO;
	if (call.object->on_card)
		error = tutti_msg_rsb_invalidate(call.object->tdev, call.object->id, args->mask);
	mutex_unlock(&call.object->lock);
	tutti_call_end(&call);
	return error;
}

/*
 * tutti_rsb_table() - copy of a table as the firmware has it, 1024 bytes.
 *
 * The firmware copies into a page of the kernel's own: no user memory is named.
 */
int tutti_rsb_table(struct tutti_device *tdev, u32 id, void *table)
{
	int error;

	mutex_lock(&tdev->scratch_lock);
	error = tutti_msg_rsb_read(tdev, id, tdev->scratch.start);
	if (!error)
		memcpy_fromio(table, tdev->aperture + tdev->scratch.start, sizeof(struct tutti_rsb));
	mutex_unlock(&tdev->scratch_lock);
	return error;
}

static int rsb_read(struct tutti_object *object, void *table)
{
	int error = -EIO;

	mutex_lock(&object->lock);
	if (object->on_card)
		error = tutti_rsb_table(object->tdev, object->id, table);
	mutex_unlock(&object->lock);
	return error;
}

int tutti_ioctl_rsb_read(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_rsb_read *args = data;
	struct tutti_call call;
	struct tutti_rsb *table;
	int error;

	if (args->pad)
		return -EINVAL;
	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	error = tutti_call_begin(&call, df, TUTTI_RSB, args->handle);
	if (error)
		goto free;
	error = rsb_read(call.object, table);
	tutti_call_end(&call);
	if (!error && copy_to_user(u64_to_user_ptr(args->pointer), table, sizeof(*table)))
		error = -EFAULT;
free:
	kfree(table);
	return error;
}

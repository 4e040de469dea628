// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Reference state buffers (spec SYS-25, PKT-10). */
#include <linux/uaccess.h>

#include "tutti_rsb.h"

static void rsb_release(struct kref *ref)
{
	struct tutti_rsb_object *rsb = container_of(ref, struct tutti_rsb_object, ref);

	tutti_view_put(rsb->view);
	tutti_context_put(rsb->context);
	mutex_destroy(&rsb->lock);
	kfree(rsb);
}

void tutti_rsb_put(struct tutti_rsb_object *rsb)
{
	kref_put(&rsb->ref, rsb_release);
}

struct tutti_rsb_object *tutti_rsb_get(struct tutti_file *file, u32 handle)
{
	struct tutti_rsb_object *rsb;

	xa_lock(&file->rsbs);
	rsb = xa_load(&file->rsbs, handle);
	if (rsb && !kref_get_unless_zero(&rsb->ref))
		rsb = NULL;
	xa_unlock(&file->rsbs);
	return rsb;
}

static void rsb_on_card(struct tutti_rsb_object *rsb)
{
	kref_get(&rsb->ref);
	atomic_inc(&rsb->context->users);
	spin_lock(&rsb->tdev->objects_lock);
	rsb->on_card = true;
	list_add_tail(&rsb->link, &rsb->tdev->rsbs);
	spin_unlock(&rsb->tdev->objects_lock);
}

static void rsb_off_card(struct tutti_rsb_object *rsb)
{
	struct tutti_device *tdev = rsb->tdev;
	bool was;

	spin_lock(&tdev->objects_lock);
	was = rsb->on_card;
	rsb->on_card = false;
	list_del_init(&rsb->link);
	spin_unlock(&tdev->objects_lock);
	if (!was)
		return;
	atomic_dec(&rsb->context->users);
	ida_free(&tdev->rsb_ids, rsb->id);
	tutti_rsb_put(rsb);
}

/** tutti_rsb_post_reset() - the card knows no RSB any more. */
void tutti_rsb_post_reset(struct tutti_device *tdev)
{
	struct tutti_rsb_object *rsb;

	for (;;) {
		spin_lock(&tdev->objects_lock);
		rsb = list_first_entry_or_null(&tdev->rsbs, struct tutti_rsb_object, link);
		if (rsb)
			kref_get(&rsb->ref);
		spin_unlock(&tdev->objects_lock);
		if (!rsb)
			return;
		rsb_off_card(rsb);
		tutti_rsb_put(rsb);
	}
}

static int rsb_destroy(struct tutti_rsb_object *rsb)
{
	int error = 0;

	mutex_lock(&rsb->lock);
	if (rsb->on_card) {
		error = tutti_msg_rsb_destroy(rsb->tdev, rsb->id);
		if (!error) {
			if (rsb->view)
				tutti_view_revoke(rsb->view);
			rsb_off_card(rsb);
		}
	}
	mutex_unlock(&rsb->lock);
	return error;
}

void tutti_rsb_close(struct tutti_file *file)
{
	struct tutti_rsb_object *rsb;
	unsigned long handle;

	xa_for_each(&file->rsbs, handle, rsb) {
		rsb_destroy(rsb);
		tutti_rsb_put(rsb);
	}
	xa_destroy(&file->rsbs);
}

static int tell_card(struct tutti_rsb_object *rsb, u32 placement)
{
	struct tutti_msg_rsb message = {
		.rsb = rsb->id,
		.asid = rsb->context->asid,
		.placement = placement,
		/* the first part of the reserved memory is for these */
		.offset = placement == TUTTI_RSB_MEMORY ? rsb->id * sizeof(struct tutti_rsb) : 0,
	};
	int error = -EIO;

	mutex_lock(&rsb->context->lock);
	if (rsb->context->on_card) {
		rsb_on_card(rsb);
		error = tutti_msg_rsb_create(rsb->tdev, &message);
		if (error && error != -ETIMEDOUT && error != -EIO)
			rsb_off_card(rsb);
	} else {
		ida_free(&rsb->tdev->rsb_ids, rsb->id);
	}
	mutex_unlock(&rsb->context->lock);
	return error;
}

static bool has_mirror(struct tutti_device *tdev, u32 id)
{
	return (id + 1) * TUTTI_PAGE_SIZE <= tdev->known.rsb_window.bytes;
}

static int rsb_create(struct tutti_file *file, struct tutti_context *context, struct drm_tutti_rsb_create *args)
{
	struct tutti_device *tdev = file->tdev;
	struct tutti_rsb_object *rsb;
	u64 offset = 0;
	u32 handle;
	int error;

	error = ida_alloc_max(&tdev->rsb_ids, tdev->known.max_rsbs - 1, GFP_KERNEL);
	if (error < 0)
		return error;
	rsb = kzalloc(sizeof(*rsb), GFP_KERNEL_ACCOUNT);
	if (!rsb) {
		ida_free(&tdev->rsb_ids, error);
		return -ENOMEM;
	}
	kref_init(&rsb->ref);
	kref_get(&context->ref);
	rsb->tdev = tdev;
	rsb->context = context;
	rsb->id = error;
	mutex_init(&rsb->lock);
	INIT_LIST_HEAD(&rsb->link);
	error = tell_card(rsb, args->placement);
	if (error)
		goto put;
	error = xa_alloc(&file->rsbs, &handle, NULL, XA_LIMIT(1, BIT(28) - 1), GFP_KERNEL_ACCOUNT);
	if (error)
		goto destroy;
	if (args->placement == TUTTI_RSB_SCRATCH && has_mirror(tdev, rsb->id)) {
		offset = DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_RSB, handle);
		rsb->view = tutti_view_create(tdev, tdev->known.rsb_window.offset + rsb->id * TUTTI_PAGE_SIZE,
					      offset, false);
	}
	args->handle = handle;
	args->mmap_offset = rsb->view ? offset : 0;
	xa_store(&file->rsbs, handle, rsb, GFP_KERNEL_ACCOUNT);
	return 0;
destroy:
	rsb_destroy(rsb);
put:
	tutti_rsb_put(rsb);
	return error;
}

int tutti_ioctl_rsb_create(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_rsb_create *args = data;
	struct tutti_file *file = df->driver_priv;
	struct tutti_context *context;
	int error, index;

	if (args->placement > TUTTI_RSB_MEMORY || args->handle || args->pad || args->mmap_offset)
		return -EINVAL;
	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = -ENOENT;
	context = tutti_context_get(file, args->context);
	if (context) {
		error = rsb_create(file, context, args);
		tutti_context_put(context);
	}
	tutti_exit(file, index);
	return error;
}

static int rsb_destroy_handle(struct tutti_file *file, u32 handle)
{
	struct tutti_rsb_object *rsb = tutti_rsb_get(file, handle);
	int error = -ENOENT;

	if (!rsb)
		return error;
	mutex_lock(&rsb->context->lock); /* no queue can attach meanwhile */
	if (atomic_read(&rsb->users)) {
		error = -EBUSY;
	} else if (xa_cmpxchg(&file->rsbs, handle, rsb, NULL, 0) == rsb) {
		error = rsb_destroy(rsb);
		tutti_rsb_put(rsb);
	}
	mutex_unlock(&rsb->context->lock);
	tutti_rsb_put(rsb);
	return error;
}

int tutti_ioctl_rsb_destroy(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_handle *args = data;
	struct tutti_file *file = df->driver_priv;
	int error, index;

	if (args->pad)
		return -EINVAL;
	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = rsb_destroy_handle(file, args->handle);
	tutti_exit(file, index);
	return error;
}

int tutti_ioctl_rsb_invalidate(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_rsb_invalidate *args = data;
	struct tutti_file *file = df->driver_priv;
	struct tutti_rsb_object *rsb;
	int error, index;

	if (args->mask >> TUTTI_REFERENCES)
		return -EINVAL;
	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = -ENOENT;
	rsb = tutti_rsb_get(file, args->handle);
	if (rsb) {
		mutex_lock(&rsb->lock);
		error = rsb->on_card ? tutti_msg_rsb_invalidate(rsb->tdev, rsb->id, args->mask) : -EIO;
		mutex_unlock(&rsb->lock);
		tutti_rsb_put(rsb);
	}
	tutti_exit(file, index);
	return error;
}

/* The firmware copies into a page of the kernel's own: no user memory is named. */
static int rsb_read(struct tutti_rsb_object *rsb, void *table)
{
	struct tutti_device *tdev = rsb->tdev;
	int error = -EIO;

	mutex_lock(&rsb->lock);
	mutex_lock(&tdev->scratch_lock);
	if (rsb->on_card)
		error = tutti_msg_rsb_read(tdev, rsb->id, tdev->scratch.start);
	if (!error)
		memcpy_fromio(table, tdev->aperture + tdev->scratch.start, sizeof(struct tutti_rsb));
	mutex_unlock(&tdev->scratch_lock);
	mutex_unlock(&rsb->lock);
	return error;
}

int tutti_ioctl_rsb_read(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_rsb_read *args = data;
	struct tutti_file *file = df->driver_priv;
	struct tutti_rsb_object *rsb;
	int error, index;
	void *table;

	if (args->pad)
		return -EINVAL;
	table = kzalloc(sizeof(struct tutti_rsb), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	error = tutti_enter(file, &index);
	if (error)
		goto free;
	error = -ENOENT;
	rsb = tutti_rsb_get(file, args->handle);
	if (rsb) {
		error = rsb_read(rsb, table);
		tutti_rsb_put(rsb);
	}
	tutti_exit(file, index);
	if (!error && copy_to_user(u64_to_user_ptr(args->pointer), table, sizeof(struct tutti_rsb)))
		error = -EFAULT;
free:
	kfree(table);
	return error;
}

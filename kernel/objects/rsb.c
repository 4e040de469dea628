// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Reference state buffers (spec SYS-25, PKT-10): objects whose parent is their context. */
#include <linux/uaccess.h>

#include "firmware/message.h"
#include "memory/view.h"
#include "objects/call.h"
#include "objects/context.h"
#include "objects/rsb.h"

/* ---- life ---- */

static void tutti_rsb_release(struct tutti_object *object)
{
	tutti_object_fini(object);
	kfree(object);
}

/* Queues attach with its lock held: what the firmware says of them is true here, too. */
static int tutti_rsb_destroy(struct tutti_object *object)
{
	int error = -EBUSY;

	lockdep_assert_held(&object->lock);
	if (!atomic_read(&object->users))
		error = tutti_message_rsb_destroy(object->tdev, object->epoch, object->id);
	if (!error && object->view)
		tutti_view_revoke(object->view);
	return error;
}

static const struct tutti_object_ops rsb_ops = {
	.destroy = tutti_rsb_destroy,
	.release = tutti_rsb_release,
};

static struct tutti_object *tutti_rsb_alloc(struct tutti_device *tdev, struct tutti_object *context)
{
	struct tutti_object *rsb = kzalloc(sizeof(*rsb), GFP_KERNEL_ACCOUNT);
	int error;

	if (!rsb)
		return ERR_PTR(-ENOMEM);
	error = tutti_object_init(rsb, tdev, TUTTI_RSB, &rsb_ops);
	if (error) {
		kfree(rsb);
		return ERR_PTR(error);
	}
	tutti_object_get(context);
	rsb->parent[0] = context;
	return rsb;
}

static int tutti_rsb_tell_card(struct tutti_object *rsb, u32 placement)
{
	struct tutti_object *context = rsb->parent[0];
	struct tutti_msg_rsb message = {
		.rsb = rsb->id,
		.asid = context->id,
		.placement = placement,
		/* the first part of the reserved memory is for these */
		.offset = placement == TUTTI_RSB_MEMORY ? rsb->id * sizeof(struct tutti_rsb) : 0,
	};
	int error = -EIO;

	mutex_lock(&context->lock);
	if (tutti_context_works(to_context(context))) {
		tutti_object_on_card(rsb);
		error = tutti_message_rsb_create(rsb->tdev, &message);
		if (error && error != -ETIMEDOUT && error != -EIO)
			tutti_object_off_card(rsb);
	}
	mutex_unlock(&context->lock);
	return error;
}

/* Only of a table in the soft core's memory there is a mirror, and only of so many. Before the card knows the RSB. */
static int tutti_rsb_make_view(struct tutti_object *rsb, u32 placement, u64 file_offset)
{
	const struct tutti_region *mirrors = &rsb->tdev->known.rsb_window;

	if (placement != TUTTI_RSB_SCRATCH || (rsb->id + 1) * TUTTI_PAGE_SIZE > mirrors->bytes)
		return 0;
	rsb->view = tutti_view_create(rsb->tdev, mirrors->offset + rsb->id * TUTTI_PAGE_SIZE, file_offset, false);
	return rsb->view ? 0 : -ENOMEM;
}

static int tutti_rsb_create(struct tutti_file *file, struct tutti_object *context, struct drm_tutti_rsb_create *args)
{
	struct tutti_object *rsb = tutti_rsb_alloc(file->tdev, context);
	u64 offset;
	u32 handle;
	int error;

	if (IS_ERR(rsb))
		return PTR_ERR(rsb);
	error = tutti_handle_reserve(file, TUTTI_RSB, &handle);
	if (error)
		goto put;
	offset = DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_RSB, handle);
	error = tutti_rsb_make_view(rsb, args->placement, offset);
	if (!error)
		error = tutti_rsb_tell_card(rsb, args->placement);
	if (error)
		goto cancel;
	args->handle = handle;
	args->mmap_offset = rsb->view ? offset : 0;
	tutti_handle_publish(file, handle, rsb);
	return 0;
cancel:
	tutti_handle_cancel(file, TUTTI_RSB, handle);
put:
	tutti_object_put(rsb);
	return error;
}

/* ---- calls ---- */

int tutti_rsb_create_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_rsb_create *args = data;
	struct tutti_call call;
	int error;

	if (args->placement > TUTTI_RSB_MEMORY || args->handle || args->pad || args->mmap_offset)
		return -EINVAL;
	error = tutti_call_begin(&call, df, TUTTI_CONTEXT, args->context);
	if (error)
		return error;
	error = tutti_rsb_create(call.file, call.object, args);
	tutti_call_end(&call);
	return error;
}

int tutti_rsb_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	return tutti_call_destroy(df, TUTTI_RSB, data);
}

int tutti_rsb_invalidate_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_rsb_invalidate *args = data;
	struct tutti_call call;
	int error = args->mask >> TUTTI_REFERENCES ? -EINVAL :
		    tutti_call_begin(&call, df, TUTTI_RSB, args->handle);

	if (error)
		return error;
	mutex_lock(&call.object->lock);
	error = -EIO;
	if (tutti_object_is_on_card(call.object))
		error = tutti_message_rsb_invalidate(call.object->tdev, call.object->id, args->mask);
	mutex_unlock(&call.object->lock);
	tutti_call_end(&call);
	return error;
}

/**
 * tutti_rsb_table() - copy of a table as the firmware has it.
 * @tdev: device, between drm_dev_enter() and drm_dev_exit()
 * @id: of an RSB that stays on the card meanwhile
 * @table: gets struct tutti_rsb
 *
 * The firmware copies into a page of the kernel's own: no user memory is named.
 */
int tutti_rsb_table(struct tutti_device *tdev, u32 id, void *table)
{
	int error;

	mutex_lock(&tdev->scratch_lock);
	error = tutti_message_rsb_read(tdev, id, tdev->scratch.start);
	if (!error)
		memcpy_fromio(table, tdev->aperture + tdev->scratch.start, sizeof(struct tutti_rsb));
	mutex_unlock(&tdev->scratch_lock);
	return error;
}

static int tutti_rsb_read(struct tutti_object *object, void *table)
{
	int error = -EIO;

	mutex_lock(&object->lock);
	if (tutti_object_is_on_card(object))
		error = tutti_rsb_table(object->tdev, object->id, table);
	mutex_unlock(&object->lock);
	return error;
}

int tutti_rsb_read_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
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
	error = tutti_rsb_read(call.object, table);
	tutti_call_end(&call);
	if (!error && copy_to_user(u64_to_user_ptr(args->pointer), table, sizeof(*table)))
		error = -EFAULT;
free:
	kfree(table);
	return error;
}

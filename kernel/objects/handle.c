// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Handles: by which number a file names an object. Numbers of one file mean nothing in another (spec SYS-27). */
#include <linux/capability.h>
#include <linux/moduleparam.h>

#include "objects/handle.h"

/* So that one file cannot take all that the card has (spec REL-12). */
static uint file_contexts_max = 32, file_queues_max = 64, file_rsbs_max = 64;
module_param(file_contexts_max, uint, 0644);
MODULE_PARM_DESC(file_contexts_max, "contexts of a file without CAP_SYS_RESOURCE (32)");
module_param(file_queues_max, uint, 0644);
MODULE_PARM_DESC(file_queues_max, "queues of a file without CAP_SYS_RESOURCE (64)");
module_param(file_rsbs_max, uint, 0644);
MODULE_PARM_DESC(file_rsbs_max, "reference state buffers of a file without CAP_SYS_RESOURCE (64)");

/** tutti_handle_limit() - how many objects of the kind a file may have. */
u32 tutti_handle_limit(enum tutti_kind kind)
{
	switch (kind) {
	case TUTTI_CONTEXT:
		return READ_ONCE(file_contexts_max);
	case TUTTI_QUEUE:
		return READ_ONCE(file_queues_max);
	default:
		return READ_ONCE(file_rsbs_max);
	}
}

static int tutti_handle_charge(struct tutti_file *file, enum tutti_kind kind)
{
	if ((u32)atomic_inc_return(&file->handle_count[kind]) <= tutti_handle_limit(kind) || capable(CAP_SYS_RESOURCE))
		return 0;
	atomic_dec(&file->handle_count[kind]);
	return -EDQUOT;
}

/** tutti_handle_get() - what the handle names, with a reference, or NULL. */
struct tutti_object *tutti_handle_get(struct tutti_file *file, enum tutti_kind kind, u32 handle)
{
	struct xarray *table = &file->handles[kind];
	struct tutti_object *object;

	xa_lock(table);
	object = xa_load(table, handle);
	if (object && !kref_get_unless_zero(&object->ref))
		object = NULL;
	xa_unlock(table);
	return object;
}

/** tutti_handle_reserve() - a handle that names nothing yet. 0, -ENOMEM or -EDQUOT. */
int tutti_handle_reserve(struct tutti_file *file, enum tutti_kind kind, u32 *handle)
{
	int error = tutti_handle_charge(file, kind);

	if (error)
		return error;
	error = xa_alloc(&file->handles[kind], handle, NULL, XA_LIMIT(1, BIT(28) - 1), GFP_KERNEL_ACCOUNT);
	if (error)
		atomic_dec(&file->handle_count[kind]);
	return error;
}

/** tutti_handle_publish() - a reserved handle names the object; takes over the caller's reference. */
void tutti_handle_publish(struct tutti_file *file, u32 handle, struct tutti_object *object)
{
	xa_store(&file->handles[object->kind], handle, object, GFP_KERNEL_ACCOUNT); /* the slot is there */
}

/** tutti_handle_cancel() - give a reserved handle back. */
void tutti_handle_cancel(struct tutti_file *file, enum tutti_kind kind, u32 handle)
{
	xa_erase(&file->handles[kind], handle);
	atomic_dec(&file->handle_count[kind]);
}

/** tutti_handle_take() - the handle names the object no more. True for one of several callers, who puts the object. */
bool tutti_handle_take(struct tutti_file *file, u32 handle, struct tutti_object *object)
{
	if (xa_cmpxchg(&file->handles[object->kind], handle, object, NULL, 0) != object)
		return false;
	atomic_dec(&file->handle_count[object->kind]);
	return true;
}

/* Whatever the firmware says here: what it did not acknowledge, the next reset frees. */
void tutti_handle_close_all(struct tutti_file *file, enum tutti_kind kind)
{
	struct tutti_object *object;
	unsigned long handle;

	xa_for_each(&file->handles[kind], handle, object) {
		tutti_object_destroy(object);
		tutti_object_put(object);
	}
	xa_destroy(&file->handles[kind]);
}

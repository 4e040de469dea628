// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Handles: by which number a file names an object. Numbers of one file mean nothing in another (spec SYS-27). */
#include "tutti_handle.h"

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

/** tutti_handle_reserve() - a handle that names nothing yet. */
int tutti_handle_reserve(struct tutti_file *file, enum tutti_kind kind, u32 *handle)
{
	return xa_alloc(&file->handles[kind], handle, NULL, XA_LIMIT(1, BIT(28) - 1), GFP_KERNEL_ACCOUNT);
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

u32 tutti_handle_count(struct tutti_file *file, enum tutti_kind kind)
{
	struct tutti_object *object;
	unsigned long handle;
	u32 count = 0;

	xa_for_each(&file->handles[kind], handle, object)
		count++;
	return count;
}

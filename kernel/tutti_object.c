// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Objects of the card and their handles. One reference is the handle's, one the card's: what
 * the card may touch stays until the firmware has acknowledged its end, or a reset.
 */
#include "tutti_object.h"
#include "tutti_trace.h"

static u32 id_first(enum tutti_kind kind)
{
	return kind == TUTTI_CONTEXT; /* address space 0 is the bus */
}

static u32 id_last(struct tutti_device *tdev, enum tutti_kind kind)
{
	const struct tutti_discovery *known = &tdev->known;

	switch (kind) {
	case TUTTI_CONTEXT:
		return known->max_contexts - 1;
	case TUTTI_QUEUE:
		return known->max_queues - 1;
	default:
		return known->max_rsbs - 1;
	}
}

/* ---- life ---- */

/* A queue is made with its context's lock held, then its RSB's: one class would look like a deadlock. */
static struct lock_class_key lock_keys[TUTTI_KINDS];

/** tutti_object_init() - with a free id. 0, -ENOMEM or -ENOSPC; then there is nothing to undo. */
int tutti_object_init(struct tutti_object *object, struct tutti_device *tdev, enum tutti_kind kind,
		      const struct tutti_object_ops *ops)
{
	int id = ida_alloc_range(&tdev->ids[kind], id_first(kind), id_last(tdev, kind), GFP_KERNEL);

	if (id < 0)
		return id;
	kref_init(&object->ref);
	object->tdev = tdev;
	object->ops = ops;
	object->kind = kind;
	object->id = id;
	object->has_id = true;
	mutex_init(&object->lock);
	lockdep_set_class(&object->lock, &lock_keys[kind]);
	INIT_LIST_HEAD(&object->link);
	drm_dev_get(&tdev->drm);
	return 0;
}

static void free_id(struct tutti_object *object)
{
	if (object->has_id)
		ida_free(&object->tdev->ids[object->kind], object->id);
	object->has_id = false;
}

/** tutti_object_fini() - for ops->release(): everything but the memory. */
void tutti_object_fini(struct tutti_object *object)
{
	struct tutti_device *tdev = object->tdev;
	int i;

	free_id(object);
	for (i = 0; i < ARRAY_SIZE(object->parent); i++)
		if (object->parent[i])
			tutti_object_put(object->parent[i]);
	mutex_destroy(&object->lock);
	drm_dev_put(&tdev->drm);
}

static void object_release(struct kref *ref)
{
	struct tutti_object *object = container_of(ref, struct tutti_object, ref);

	object->ops->release(object);
}

void tutti_object_put(struct tutti_object *object)
{
	kref_put(&object->ref, object_release);
}

/* ---- on the card ---- */

/** tutti_object_on_card() - before the firmware is told: from now on the card may touch it. */
void tutti_object_on_card(struct tutti_object *object)
{
	struct tutti_device *tdev = object->tdev;
	int i;

	tutti_object_get(object);
	for (i = 0; i < ARRAY_SIZE(object->parent); i++)
		if (object->parent[i])
			atomic_inc(&object->parent[i]->users);
	spin_lock(&tdev->objects_lock);
	object->on_card = true;
	list_add_tail(&object->link, &tdev->objects[object->kind]);
	spin_unlock(&tdev->objects_lock);
	trace_tutti_on_card(object->kind, object->id);
}

/** tutti_object_off_card() - the card has let go of it: id and memory are free. May be called twice. */
void tutti_object_off_card(struct tutti_object *object)
{
	struct tutti_device *tdev = object->tdev;
	bool was;
	int i;

	spin_lock(&tdev->objects_lock);
	was = object->on_card;
	object->on_card = false;
	list_del_init(&object->link);
	spin_unlock(&tdev->objects_lock);
	if (!was)
		return;
	trace_tutti_off_card(object->kind, object->id);
	for (i = 0; i < ARRAY_SIZE(object->parent); i++)
		if (object->parent[i])
			atomic_dec(&object->parent[i]->users);
	if (object->ops->off_card)
		object->ops->off_card(object);
	free_id(object);
	tutti_object_put(object);
}

/** tutti_object_destroy() - 0: the card does not know it any more. */
int tutti_object_destroy(struct tutti_object *object)
{
	int error = 0;

	mutex_lock(&object->lock);
	if (object->on_card)
		error = object->ops->destroy(object);
	if (!error)
		tutti_object_off_card(object);
	mutex_unlock(&object->lock);
	return error;
}

/** tutti_object_lose() - the card has lost it. */
void tutti_object_lose(struct tutti_object *object)
{
	if (object->ops->lost)
		object->ops->lost(object);
	tutti_object_off_card(object);
}

/** tutti_object_first() - the first on the card that fits; with a reference, or NULL. */
struct tutti_object *tutti_object_first(struct tutti_device *tdev, enum tutti_kind kind, tutti_object_fits fits,
					const void *with)
{
	struct tutti_object *object, *found = NULL;

	spin_lock(&tdev->objects_lock);
	list_for_each_entry(object, &tdev->objects[kind], link) {
		if (!fits(object, with))
			continue;
		found = object;
		tutti_object_get(found);
		break;
	}
	spin_unlock(&tdev->objects_lock);
	return found;
}

static bool fits_any(struct tutti_object *object, const void *with)
{
	return true;
}

static bool fits_id(struct tutti_object *object, const void *with)
{
	return object->id == *(const u32 *)with;
}

static bool fits_parent(struct tutti_object *object, const void *with)
{
	return object->parent[0] == with;
}

/** tutti_object_lose_all() - after a reset, and for ever at removal: the card knows none of the kind. */
void tutti_object_lose_all(struct tutti_device *tdev, enum tutti_kind kind)
{
	struct tutti_object *object;

	while ((object = tutti_object_first(tdev, kind, fits_any, NULL))) {
		tutti_object_lose(object);
		tutti_object_put(object);
	}
}

/** tutti_object_find() - by its number on the card; with a reference, or NULL. */
struct tutti_object *tutti_object_find(struct tutti_device *tdev, enum tutti_kind kind, u32 id)
{
	return tutti_object_first(tdev, kind, fits_id, &id);
}

/** tutti_object_child() - any object of the kind that lives in @parent; with a reference, or NULL. */
struct tutti_object *tutti_object_child(struct tutti_object *parent, enum tutti_kind kind)
{
	return tutti_object_first(parent->tdev, kind, fits_parent, parent);
}

/* ---- handles ---- */

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

/* ---- calls ---- */

/** tutti_call_begin() - tutti_enter(), and look the handle up. 0, -ENOENT or what tutti_enter() says. */
int tutti_call_begin(struct tutti_call *call, struct drm_file *df, enum tutti_kind kind, u32 handle)
{
	int error;

	call->file = df->driver_priv;
	error = tutti_enter(call->file, &call->index);
	if (error)
		return error;
	call->object = tutti_handle_get(call->file, kind, handle);
	if (call->object)
		return 0;
	tutti_exit(call->file, call->index);
	return -ENOENT;
}

void tutti_call_end(struct tutti_call *call)
{
	tutti_object_put(call->object);
	tutti_exit(call->file, call->index);
}

/** tutti_call_destroy() - *_DESTROY: the handle stays if the card keeps the object. */
int tutti_call_destroy(struct drm_file *df, enum tutti_kind kind, const struct drm_tutti_handle *args)
{
	struct tutti_call call;
	int error;

	if (args->pad)
		return -EINVAL;
	error = tutti_call_begin(&call, df, kind, args->handle);
	if (error)
		return error;
	error = tutti_object_destroy(call.object);
	/* of several who destroy it at once, one gets the handle */
	if (!error && xa_cmpxchg(&call.file->handles[kind], args->handle, call.object, NULL, 0) != call.object)
		error = -ENOENT;
	else if (!error)
		tutti_object_put(call.object);
	tutti_call_end(&call);
	return error;
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What the card knows by a number: contexts, queues, RSBs. One reference is the handle's, one the card's: what the card
 * may touch stays until the firmware has acknowledged its end, or until a reset.
 */
#include "base/delay.h"
#include "base/trace.h"
#include "memory/view.h"
#include "objects/object.h"

static u32 tutti_object_id_first(enum tutti_kind kind)
{
	return kind == TUTTI_CONTEXT; /* address space 0 is the bus */
}

static u32 tutti_object_id_last(struct tutti_device *tdev, enum tutti_kind kind)
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
	int id = ida_alloc_range(&tdev->ids[kind], tutti_object_id_first(kind), tutti_object_id_last(tdev, kind),
				 GFP_KERNEL);

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

static void tutti_object_free_id(struct tutti_object *object)
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

	tutti_object_free_id(object);
	for (i = 0; i < ARRAY_SIZE(object->parent); i++)
		if (object->parent[i])
			tutti_object_put(object->parent[i]);
	tutti_view_put(object->view);
	mutex_destroy(&object->lock);
	drm_dev_put(&tdev->drm);
}

static void tutti_object_release(struct kref *ref)
{
	struct tutti_object *object = container_of(ref, struct tutti_object, ref);

	object->ops->release(object);
}

void tutti_object_put(struct tutti_object *object)
{
	kref_put(&object->ref, tutti_object_release);
}

/* ---- on the card ---- */

/* Under objects_lock, so that an object whose children cannot be found any more has no users either. */
static void tutti_object_count_user(struct tutti_object *object, int add)
{
	int i;

	lockdep_assert_held(&object->tdev->objects_lock);
	for (i = 0; i < ARRAY_SIZE(object->parent); i++)
		if (object->parent[i])
			atomic_add(add, &object->parent[i]->users);
}

/** tutti_object_on_card() - before the firmware is told: from now on the card may touch it. */
void tutti_object_on_card(struct tutti_object *object)
{
	struct tutti_device *tdev = object->tdev;

	tutti_object_get(object);
	spin_lock(&tdev->objects_lock);
	tutti_object_count_user(object, 1);
	WRITE_ONCE(object->on_card, true);
	object->epoch = READ_ONCE(tdev->channel.epoch);
	list_add_tail(&object->link, &tdev->objects[object->kind]);
	spin_unlock(&tdev->objects_lock);
	trace_tutti_on_card(object->kind, object->id);
}

/** tutti_object_off_card() - the card has let go of it: id and memory are free. May be called twice. */
void tutti_object_off_card(struct tutti_object *object)
{
	struct tutti_device *tdev = object->tdev;
	bool was;

	spin_lock(&tdev->objects_lock);
	was = object->on_card;
	if (was)
		tutti_object_count_user(object, -1);
	WRITE_ONCE(object->on_card, false);
	list_del_init(&object->link);
	spin_unlock(&tdev->objects_lock);
	if (!was)
		return;
	tutti_delay(TUTTI_DELAY_off_card);
	trace_tutti_off_card(object->kind, object->id);
	if (object->ops->off_card)
		object->ops->off_card(object);
	tutti_object_free_id(object);
	tutti_object_put(object);
}

/** tutti_object_destroy() - 0: the card does not know it any more. */
int tutti_object_destroy(struct tutti_object *object)
{
	int error = 0;

	mutex_lock(&object->lock);
	if (tutti_object_is_on_card(object)) {
		tutti_delay(TUTTI_DELAY_object_destroy);
		error = object->ops->destroy(object);
	}
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

static bool tutti_object_fits_any(struct tutti_object *object, const void *with)
{
	return true;
}

static bool tutti_object_fits_id(struct tutti_object *object, const void *with)
{
	return object->id == *(const u32 *)with;
}

static bool tutti_object_fits_parent(struct tutti_object *object, const void *with)
{
	return object->parent[0] == with;
}

/** tutti_object_lose_all() - after a reset, and for ever at removal: the card knows none of the kind. */
void tutti_object_lose_all(struct tutti_device *tdev, enum tutti_kind kind)
{
	struct tutti_object *object;

	while ((object = tutti_object_first(tdev, kind, tutti_object_fits_any, NULL))) {
		tutti_object_lose(object);
		tutti_object_put(object);
	}
}

/** tutti_object_find() - by its number on the card; with a reference, or NULL. */
struct tutti_object *tutti_object_find(struct tutti_device *tdev, enum tutti_kind kind, u32 id)
{
	return tutti_object_first(tdev, kind, tutti_object_fits_id, &id);
}

/** tutti_object_child() - any object of the kind that lives in @parent; with a reference, or NULL. */
struct tutti_object *tutti_object_child(struct tutti_object *parent, enum tutti_kind kind)
{
	return tutti_object_first(parent->tdev, kind, tutti_object_fits_parent, parent);
}

/** tutti_object_child_uses() - does the card use this memory of @parent for an object that lives in it? */
bool tutti_object_child_uses(struct tutti_object *parent, u64 address, u64 bytes)
{
	struct tutti_device *tdev = parent->tdev;
	struct tutti_object *object;
	bool uses = false;
	int kind;

	spin_lock(&tdev->objects_lock);
	for (kind = 0; kind < TUTTI_KINDS; kind++)
		list_for_each_entry(object, &tdev->objects[kind], link)
			uses |= object->parent[0] == parent && object->ops->uses &&
				object->ops->uses(object, address, bytes);
	spin_unlock(&tdev->objects_lock);
	return uses;
}

/** tutti_object_count() - how many of the kind the card knows. */
u32 tutti_object_count(struct tutti_device *tdev, enum tutti_kind kind)
{
	struct list_head *link;
	u32 count = 0;

	spin_lock(&tdev->objects_lock);
	list_for_each(link, &tdev->objects[kind])
		count++;
	spin_unlock(&tdev->objects_lock);
	return count;
}

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_OBJECT_H
#define TUTTI_KERNEL_OBJECT_H

#include "base/device.h"

struct tutti_object;
struct tutti_view;

/**
 * struct tutti_object_ops - what differs between the kinds.
 * @destroy: ask the firmware; only then the handle goes. @lock is held, the object is on the card
 * @lost: the card has lost it (reset, context killed): tell whoever waits
 * @off_card: the card does not know it any more; once, may sleep
 * @uses: does the card use memory at these addresses of its parent for it? With objects_lock held; NULL: no
 * @release: the last reference has gone
 */
struct tutti_object_ops {
	int (*destroy)(struct tutti_object *object);
	void (*lost)(struct tutti_object *object);
	void (*off_card)(struct tutti_object *object);
	bool (*uses)(struct tutti_object *object, u64 address, u64 bytes);
	void (*release)(struct tutti_object *object);
};

/** struct tutti_object - base of what a handle names and the card may know: context, queue, RSB. */
struct tutti_object {
	struct kref ref;
	struct tutti_device *tdev;
	const struct tutti_object_ops *ops;
	enum tutti_kind kind;
	/** @id: number on the card, ours until the card has let go of it */
	u32 id;
	/** @parent: what it lives in or uses; holds a reference, and @users while on the card */
	struct tutti_object *parent[2];
	/** @users: objects on the card that have it as a parent */
	atomic_t users;
	/** @lock: that the object stays on the card; a context's: its mappings too */
	struct mutex lock;
	/** @view: the page of the control window that shows it to user space, or NULL */
	struct tutti_view *view;
	/** @epoch: of the channel in which the card has learned of it */
	u32 epoch;
	/** @on_card: the card has a reference; @link: in tutti_device.objects. objects_lock */
	bool on_card, has_id;
	struct list_head link;
};

int tutti_object_init(struct tutti_object *object, struct tutti_device *tdev, enum tutti_kind kind,
		      const struct tutti_object_ops *ops);
void tutti_object_fini(struct tutti_object *object);
void tutti_object_put(struct tutti_object *object);
void tutti_object_on_card(struct tutti_object *object);
void tutti_object_off_card(struct tutti_object *object);
int tutti_object_destroy(struct tutti_object *object);
void tutti_object_lose(struct tutti_object *object);
void tutti_object_lose_all(struct tutti_device *tdev, enum tutti_kind kind);
/* with objects_lock held */
typedef bool (*tutti_object_fits)(struct tutti_object *object, const void *with);

struct tutti_object *tutti_object_first(struct tutti_device *tdev, enum tutti_kind kind, tutti_object_fits fits,
					const void *with);
struct tutti_object *tutti_object_find(struct tutti_device *tdev, enum tutti_kind kind, u32 id);
struct tutti_object *tutti_object_child(struct tutti_object *parent, enum tutti_kind kind);
bool tutti_object_child_uses(struct tutti_object *parent, u64 address, u64 bytes);
u32 tutti_object_count(struct tutti_device *tdev, enum tutti_kind kind);

/**
 * tutti_object_is_on_card() - for who does not hold objects_lock.
 * @object: object
 *
 * It stays so for who holds @lock and has passed the gate. For who holds @lock alone, as a file that is being closed, a
 * reset may change it at any time: what is asked of the firmware then fails, as the channel is closed or the epoch over.
 */
static inline bool tutti_object_is_on_card(const struct tutti_object *object)
{
	return READ_ONCE(object->on_card);
}

static inline void tutti_object_get(struct tutti_object *object)
{
	kref_get(&object->ref);
}

#endif

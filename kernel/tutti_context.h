/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_CONTEXT_H
#define TUTTI_KERNEL_CONTEXT_H

#include "tutti_bo.h"
#include "tutti_mmu.h"
#include "tutti_object.h"

/** struct tutti_mapping - part of a buffer at an address. */
struct tutti_mapping {
	struct drm_mm_node node;
	struct tutti_bo *bo;
	/** @offset: of its first byte in the buffer */
	u64 offset;
	u32 access;
	/** @dead: leaves are cleared, but the card has not said that it knows */
	bool dead;
};

/** struct tutti_context - an address space; base.id is its address space id. */
struct tutti_context {
	/** @base: its lock also protects @mmu and @space */
	struct tutti_object base;
	struct tutti_mmu mmu;
	/** @space: mappings by address, in pages' bytes */
	struct drm_mm space;
	/** @doomed: shall be killed; objects_lock */
	bool doomed;
	/** @lost: killed with all its queues: nothing new is made in it. base.lock */
	bool lost;
	/** @errors: of its queues since @errors_since (jiffies); objects_lock */
	u32 errors;
	unsigned long errors_since;
};

static inline struct tutti_context *to_context(struct tutti_object *object)
{
	return container_of(object, struct tutti_context, base);
}

/* With the lock held: may something be made in it? */
static inline bool tutti_context_works(const struct tutti_context *context)
{
	return context->base.on_card && !context->lost;
}

int tutti_context_kill(struct tutti_context *context);
struct tutti_mapping *tutti_context_find(struct tutti_context *context, u64 address, u64 bytes, u32 access);
int tutti_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_map(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_unmap(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_code_invalidate(struct drm_device *drm, void *data, struct drm_file *df);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_CONTEXT_H
#define TUTTI_KERNEL_CONTEXT_H

#include "memory/mapping.h"
#include "objects/object.h"

/** struct tutti_context - an address space and what lives in it; base.id is its address space id. */
struct tutti_context {
	/** @base: its lock also protects @space */
	struct tutti_object base;
	struct tutti_space space;
	/** @condemned: shall be killed; objects_lock */
	bool condemned;
	/** @killed: its queues have been lost, and nothing new is made in it; base.lock */
	bool killed;
	/** @errors: of its queues since @errors_since (jiffies); objects_lock */
	u32 errors;
	unsigned long errors_since;
};

static inline struct tutti_context *to_context(struct tutti_object *object)
{
	return container_of(object, struct tutti_context, base);
}

/** tutti_context_works() - may something be made in it? Its lock is held. */
static inline bool tutti_context_works(const struct tutti_context *context)
{
	return tutti_object_is_on_card(&context->base) && !context->killed;
}

void tutti_context_condemn_locked(struct tutti_context *context, const char *why);
void tutti_context_condemn(struct tutti_context *context, const char *why);
bool tutti_context_count_error(struct tutti_context *context);
int tutti_context_kill(struct tutti_context *context);
int tutti_context_create_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_context_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_context_map_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_context_unmap_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_context_code_invalidate_ioctl(struct drm_device *drm, void *data, struct drm_file *df);

#endif

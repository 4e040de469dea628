/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_RSB_H
#define TUTTI_KERNEL_RSB_H

#include "tutti_context.h"
#include "tutti_view.h"

/** struct tutti_rsb_object - a reference state buffer (spec PKT-10); its parent is the context. */
struct tutti_rsb_object {
	struct tutti_object base;
	/** @view: its mirror in the control window; NULL in card memory */
	struct tutti_view *view;
};

static inline struct tutti_rsb_object *to_rsb(struct tutti_object *object)
{
	return container_of(object, struct tutti_rsb_object, base);
}

int tutti_ioctl_rsb_create(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_rsb_destroy(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_rsb_invalidate(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_rsb_read(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_rsb_table(struct tutti_device *tdev, u32 id, void *table);

#endif

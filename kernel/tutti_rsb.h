/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_RSB_H
#define TUTTI_KERNEL_RSB_H

#include "tutti_context.h"
#include "tutti_view.h"

/** struct tutti_rsb_object - a reference state buffer (spec PKT-10). */
struct tutti_rsb_object {
	struct kref ref;
	struct tutti_device *tdev;
	struct tutti_context *context;
	u32 id;
	/** @users: queues attached */
	atomic_t users;
	/** @lock: that it stays on the card */
	struct mutex lock;
	/** @view: its mirror in the control window; NULL in card memory */
	struct tutti_view *view;
	/** @on_card, @link: objects_lock */
	bool on_card;
	struct list_head link;
};

struct tutti_rsb_object *tutti_rsb_get(struct tutti_file *file, u32 handle);
void tutti_rsb_put(struct tutti_rsb_object *rsb);
void tutti_rsb_post_reset(struct tutti_device *tdev);
void tutti_rsb_close(struct tutti_file *file);
int tutti_ioctl_rsb_create(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_rsb_destroy(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_rsb_invalidate(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_rsb_read(struct drm_device *drm, void *data, struct drm_file *df);

#endif

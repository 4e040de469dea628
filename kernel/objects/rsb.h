/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_RSB_H
#define TUTTI_KERNEL_RSB_H

#include "base/device.h"

int tutti_rsb_create_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_rsb_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_rsb_invalidate_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_rsb_read_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_rsb_table(struct tutti_device *tdev, u32 id, void *table);

#endif

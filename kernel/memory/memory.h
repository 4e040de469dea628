/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_MEMORY_H
#define TUTTI_KERNEL_MEMORY_H

#include "base/device.h"

int tutti_memory_create_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_memory_info_ioctl(struct drm_device *drm, void *data, struct drm_file *df);

#endif

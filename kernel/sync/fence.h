/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_FENCE_H
#define TUTTI_KERNEL_FENCE_H

#include "base/device.h"

void tutti_fence_init(struct tutti_device *tdev);
void tutti_fence_unplug(struct tutti_device *tdev);
int tutti_fence_ioctl(struct drm_device *drm, void *data, struct drm_file *df);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_CONTROL_H
#define TUTTI_KERNEL_CONTROL_H

#include "base/device.h"

int tutti_control_kick_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_control_ioctl(struct drm_device *drm, void *data, struct drm_file *df);

#endif

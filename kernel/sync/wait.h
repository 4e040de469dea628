/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_WAIT_H
#define TUTTI_KERNEL_WAIT_H

#include "base/device.h"

bool tutti_wait_at_once(struct drm_file *df, struct drm_tutti_wait __user *user);
int tutti_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *df);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_USER_BO_H
#define TUTTI_KERNEL_USER_BO_H

#include "memory/bo.h"

int tutti_user_bo_ioctl(struct drm_device *drm, void *data, struct drm_file *df);

#endif

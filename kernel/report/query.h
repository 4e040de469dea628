/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_QUERY_H
#define TUTTI_KERNEL_QUERY_H

#include "base/device.h"

int tutti_query_ioctl(struct drm_device *drm, void *data, struct drm_file *df);

#endif

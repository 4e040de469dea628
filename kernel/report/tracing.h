/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_TRACING_H
#define TUTTI_KERNEL_TRACING_H

#include "base/device.h"

int tutti_tracing_start_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_tracing_read_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
void tutti_tracing_close(struct tutti_file *file);

#endif

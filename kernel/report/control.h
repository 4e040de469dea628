/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_CONTROL_H
#define TUTTI_KERNEL_CONTROL_H

#include "base/device.h"

int tutti_control_kick_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_control_counters_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_control_task_cancel_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_control_sm_enable_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_control_policy_set_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_control_policy_get_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_control_reset_ioctl(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_control_occupancy_ioctl(struct drm_device *drm, void *data, struct drm_file *df);

#endif

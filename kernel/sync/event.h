/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_EVENT_H
#define TUTTI_KERNEL_EVENT_H

#include "base/device.h"

void tutti_event_message(struct tutti_device *tdev, const struct tutti_message *message);
void tutti_event_vector(struct tutti_device *tdev, u32 vector);
int tutti_event_ioctl(struct drm_device *drm, void *data, struct drm_file *df);

#endif

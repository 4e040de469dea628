/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_SYSFS_H
#define TUTTI_KERNEL_SYSFS_H

#include <linux/sysfs.h>

#include "base/device.h"

extern const struct attribute_group *tutti_sysfs_groups[];

int tutti_sysfs_init(struct tutti_device *tdev);
void tutti_sysfs_fini(struct tutti_device *tdev);

#endif

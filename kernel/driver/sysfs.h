/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_SYSFS_H
#define TUTTI_KERNEL_SYSFS_H

#include <linux/sysfs.h>

extern const struct attribute_group *tutti_sysfs_groups[];

#endif

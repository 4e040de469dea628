/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_DISCOVERY_H
#define TUTTI_KERNEL_DISCOVERY_H

#include "base/device.h"

int tutti_discovery_check(struct tutti_device *tdev);
bool tutti_discovery_range_holds(struct tutti_device *tdev, const char *who, u32 min, u32 max);

#endif

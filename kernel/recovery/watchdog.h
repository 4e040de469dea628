/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_WATCHDOG_H
#define TUTTI_KERNEL_WATCHDOG_H

#include "base/device.h"

void tutti_watchdog_init(struct tutti_device *tdev);
void tutti_watchdog_start(struct tutti_device *tdev);
void tutti_watchdog_stop(struct tutti_device *tdev);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_POWER_H
#define TUTTI_KERNEL_POWER_H

#include "base/device.h"

void tutti_power_start(struct tutti_device *tdev);
void tutti_power_stop(struct tutti_device *tdev);
int tutti_power_get(struct tutti_device *tdev);
void tutti_power_hold(struct tutti_device *tdev);
void tutti_power_put(struct tutti_device *tdev);
int tutti_power_wait(struct tutti_device *tdev);
bool tutti_power_get_if_on(struct tutti_device *tdev);
void tutti_power_put_unused(struct tutti_device *tdev);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_LIFE_H
#define TUTTI_KERNEL_LIFE_H

#include "base/device.h"

int tutti_life_init(struct tutti_device *tdev);
int tutti_life_start(struct tutti_device *tdev);
void tutti_life_unplug(struct tutti_device *tdev);
void tutti_life_fini(struct tutti_device *tdev);

#endif

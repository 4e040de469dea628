/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_RESET_H
#define TUTTI_KERNEL_RESET_H

#include "base/device.h"

void tutti_reset_begin(struct tutti_device *tdev);
void tutti_reset_lose_memory(struct tutti_device *tdev);
int tutti_reset_restart(struct tutti_device *tdev);
void tutti_reset_forget(struct tutti_device *tdev);
void tutti_reset_stop(struct tutti_device *tdev);

#endif

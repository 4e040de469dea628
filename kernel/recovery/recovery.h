/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_RECOVERY_H
#define TUTTI_KERNEL_RECOVERY_H

#include "base/device.h"

void tutti_recovery_init(struct tutti_device *tdev);
void tutti_recovery_flush_kills(struct tutti_device *tdev);
int tutti_recovery_before_sleep(struct tutti_device *tdev);
void tutti_recovery_stop(struct tutti_device *tdev);
int tutti_recovery_by_hand(struct tutti_device *tdev, enum tutti_rung rung);
void tutti_recovery_reset_prepare(struct tutti_device *tdev);
void tutti_recovery_reset_done(struct tutti_device *tdev);
void tutti_recovery_bus_frozen(struct tutti_device *tdev);
void tutti_recovery_bus_back(struct tutti_device *tdev, int error);
void tutti_recovery_unplug(struct tutti_device *tdev);

#endif

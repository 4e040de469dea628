/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_SETTINGS_H
#define TUTTI_KERNEL_SETTINGS_H

#include "base/device.h"

bool tutti_settings_possible(u32 policy, u32 which, u64 value);
int tutti_settings_policy(struct tutti_device *tdev, u32 policy, u32 which, u64 value);
int tutti_settings_sm_enable(struct tutti_device *tdev, u32 first, u32 sms, bool enable);
int tutti_settings_restore(struct tutti_device *tdev);
void tutti_settings_fini(struct tutti_device *tdev);

#endif

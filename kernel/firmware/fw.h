/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_FW_H
#define TUTTI_KERNEL_FW_H

#include "base/device.h"

int tutti_fw_read(struct tutti_device *tdev);
int tutti_fw_boot(struct tutti_device *tdev);
bool tutti_fw_stop(struct tutti_device *tdev);
void tutti_fw_fini(struct tutti_device *tdev);

#endif

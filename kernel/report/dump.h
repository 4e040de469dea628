/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_DUMP_H
#define TUTTI_KERNEL_DUMP_H

#include "base/device.h"

void tutti_dump(struct tutti_device *tdev);

#endif

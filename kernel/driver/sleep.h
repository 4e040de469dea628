/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_SLEEP_H
#define TUTTI_KERNEL_SLEEP_H

#include <linux/pm.h>

extern const struct dev_pm_ops tutti_sleep_ops;

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_DRV_H
#define TUTTI_KERNEL_DRV_H

#include <drm/drm_drv.h>

extern const struct drm_driver tutti_drm_driver;

#endif

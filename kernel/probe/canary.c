// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <linux/module.h>
#include <drm/drm_drv.h>
int canary(struct drm_device *drm);
int canary(struct drm_device *drm) { return !drm->dev; }

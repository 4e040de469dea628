/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_SYSTEM_BO_H
#define TUTTI_KERNEL_SYSTEM_BO_H

#include "memory/bo.h"

struct drm_gem_object *tutti_system_bo_import(struct drm_device *drm, struct dma_buf_attachment *attachment,
					      struct sg_table *sgt);
void tutti_system_bo_detach_all(struct tutti_device *tdev);
struct drm_gem_object *tutti_system_bo_alloc(struct drm_device *drm, size_t size);
struct tutti_bo *tutti_system_bo_create(struct tutti_device *tdev, u64 size);

#endif

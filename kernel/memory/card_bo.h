/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_CARD_BO_H
#define TUTTI_KERNEL_CARD_BO_H

#include "memory/bo.h"

struct tutti_bo *tutti_card_bo_create(struct tutti_file *file, u64 size);
struct drm_gem_object *tutti_card_bo_import(struct drm_device *drm, struct dma_buf *dma_buf);

#endif

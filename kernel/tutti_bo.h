/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_BO_H
#define TUTTI_KERNEL_BO_H

#include "tutti_device.h"

/** struct tutti_bo - a buffer object, in system memory (shmem) or in card memory. */
struct tutti_bo {
	/** @shmem: base; of a card buffer only its GEM object is used */
	struct drm_gem_shmem_object shmem;
	/** @placement: DRM_TUTTI_PLACE_* */
	u32 placement;
	/** @lock: @sgt */
	struct mutex lock;
	/** @sgt: DMA addresses, made by the first map and kept */
	struct sg_table *sgt;
	/** @link: in tutti_device.bos while @sgt is ours; a card buffer's: in tutti_device.exports */
	struct list_head link;
	/** @node: place in card memory */
	struct drm_mm_node node;
	/** @generation: card buffer: tutti_device.memory_generation when it was made */
	u64 generation;
	/** @exported: the dma-buf of a card buffer, no reference; memory_lock */
	struct dma_buf *exported;
	/** @user_pages, @pinned, @user: memory of a process, how many pages are pinned, whose it is */
	struct page **user_pages;
	unsigned long pinned;
	struct mm_struct *user;
	/** @dummy: what mappings of a lost card buffer show; view_sem */
	struct page *dummy;
};

#define to_tutti_bo(obj) container_of(obj, struct tutti_bo, shmem.base)

static inline struct tutti_device *tutti_bo_device(struct tutti_bo *bo)
{
	return to_tutti(bo->shmem.base.dev);
}

static inline struct page *tutti_bo_page(struct tutti_bo *bo, u64 offset)
{
	struct page **pages = bo->placement == DRM_TUTTI_PLACE_USER ? bo->user_pages : bo->shmem.pages;

	return pages[offset >> PAGE_SHIFT];
}

struct drm_gem_object *tutti_bo_create_object(struct drm_device *drm, size_t size);
struct tutti_bo *tutti_bo_create(struct tutti_device *tdev, u64 size, u32 placement);
struct tutti_bo *tutti_bo_lookup(struct drm_file *df, u32 handle);
struct tutti_bo *tutti_card_bo_create(struct tutti_device *tdev, u64 size);
struct drm_gem_object *tutti_bo_import(struct drm_device *drm, struct dma_buf *dma_buf);
void tutti_bo_revoke_exports(struct tutti_device *tdev);
void tutti_user_bo_unpin(struct tutti_bo *bo);
void tutti_bo_drop_dma(struct tutti_bo *bo);
bool tutti_bo_take_off_list(struct tutti_device *tdev, struct tutti_bo *bo);
int tutti_bo_pin(struct tutti_bo *bo);
u32 tutti_bo_peek(struct tutti_bo *bo, u64 offset);
void tutti_bo_unplug(struct tutti_device *tdev);
int tutti_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_bo_userptr(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_bo_info(struct drm_device *drm, void *data, struct drm_file *df);

static inline void tutti_bo_put(struct tutti_bo *bo)
{
	drm_gem_object_put(&bo->shmem.base);
}

#endif

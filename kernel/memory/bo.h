/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_BO_H
#define TUTTI_KERNEL_BO_H

#include "base/device.h"

struct tutti_bo;

/**
 * struct tutti_bo_ops - what differs between the kinds of memory.
 * @pin: the buffer gets its DMA addresses, and keeps its pages until it is freed; 0, -ENOMEM, -EIO (lost card memory)
 * @unpin: the pages may go, their DMA addresses are gone; with memory_lock held, may sleep. NULL: nothing to do
 */
struct tutti_bo_ops {
	int (*pin)(struct tutti_bo *bo);
	void (*unpin)(struct tutti_bo *bo);
};

/** struct tutti_bo - a buffer object: system memory (shmem or imported), card memory, or memory of a process. */
struct tutti_bo {
	/** @shmem: base; only of a buffer in system memory more than its GEM object is used */
	struct drm_gem_shmem_object shmem;
	const struct tutti_bo_ops *ops;
	/** @placement: DRM_TUTTI_PLACE_* */
	u32 placement;
	/** @lock: who makes @sgt */
	struct mutex lock;
	/** @imported: another driver's memory; until its attachment ends, by removal of the device */
	bool imported;
	/** @sgt: DMA addresses, made by the first map and kept */
	struct sg_table *sgt;
	/** @link: in tutti_device.bos while @sgt is ours, in .imports while there is an attachment; memory_lock */
	struct list_head link;
	/** @node: place in card memory, @account: to which it is charged */
	struct drm_mm_node node;
	struct tutti_account *account;
	/** @memory_losses: of a card buffer: tutti_device.memory_losses when it was made */
	u64 memory_losses;
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

static inline int tutti_bo_pin(struct tutti_bo *bo)
{
	return bo->ops->pin(bo);
}

static inline void tutti_bo_put(struct tutti_bo *bo)
{
	might_lock(&tutti_bo_device(bo)->memory_lock); /* it may be the last */
	drm_gem_object_put(&bo->shmem.base);
}

struct tutti_bo *tutti_bo_alloc(const struct tutti_bo_ops *ops, u32 placement);
struct tutti_bo *tutti_bo_lookup(struct drm_file *df, u32 handle);
int tutti_bo_map_dma(struct tutti_bo *bo, struct sg_table *sgt);
bool tutti_bo_unmap_dma(struct tutti_bo *bo);
u32 tutti_bo_peek(struct tutti_bo *bo, u64 offset);
void tutti_bo_unplug(struct tutti_device *tdev);

#endif

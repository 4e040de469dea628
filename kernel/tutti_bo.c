// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Buffer objects (spec SYS-22). */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/highmem.h>

#include "compat.h"
#include "tutti_bo.h"

static const struct drm_gem_object_funcs system_funcs;

/* The shmem helper's constructor hook. */
struct drm_gem_object *tutti_bo_create_object(struct drm_device *drm, size_t size)
{
	struct tutti_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL);

	if (!bo)
		return ERR_PTR(-ENOMEM);
	mutex_init(&bo->lock);
	INIT_LIST_HEAD(&bo->link);
	bo->placement = DRM_TUTTI_PLACE_SYSTEM;
	bo->shmem.base.funcs = &system_funcs;
	return &bo->shmem.base;
}

/* ---- system memory ---- */

/*
 * tutti_bo_pin() - give the buffer its DMA addresses, and keep its pages until it is freed.
 *
 * Pages of a buffer that the card may know are never given back earlier. -EIO: card memory
 * of before a function-level reset.
 */
int tutti_bo_pin(struct tutti_bo *bo)
{
	struct tutti_device *tdev = tutti_bo_device(bo);
	struct sg_table *sgt;
	int error = 0;

	if (bo->placement == DRM_TUTTI_PLACE_CARD)
		return bo->generation == (u64)atomic64_read(&tdev->memory_generation) ? 0 : -EIO;
	if (bo->placement == DRM_TUTTI_PLACE_USER)
		return 0;
	mutex_lock(&bo->lock);
	if (bo->sgt)
		goto unlock;
	if (bo->shmem.base.import_attach) {
		bo->sgt = bo->shmem.sgt;
		goto unlock;
	}
	error = drm_gem_shmem_pin(&bo->shmem);
	if (error)
		goto unlock;
	sgt = drm_gem_shmem_get_sg_table(&bo->shmem);
	error = PTR_ERR_OR_ZERO(sgt);
	if (error)
		goto unpin;
	error = dma_map_sgtable(tdev->drm.dev, sgt, DMA_BIDIRECTIONAL, 0);
	if (error)
		goto free_table;
	smp_store_release(&bo->sgt, sgt); /* who sees it may look at the pages: tutti_wait.c */
	mutex_lock(&tdev->memory_lock);
	list_add(&bo->link, &tdev->bos);
	mutex_unlock(&tdev->memory_lock);
	goto unlock;

free_table:
	sg_free_table(sgt);
	kfree(sgt);
unpin:
	drm_gem_shmem_unpin(&bo->shmem);
unlock:
	mutex_unlock(&bo->lock);
	return error;
}

/* Whoever took the buffer off the list does this, once. */
void tutti_bo_drop_dma(struct tutti_bo *bo)
{
	dma_unmap_sgtable(bo->shmem.base.dev->dev, bo->sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(bo->sgt);
	kfree(bo->sgt);
	bo->sgt = NULL;
}

bool tutti_bo_take_off_list(struct tutti_device *tdev, struct tutti_bo *bo)
{
	bool mine;

	mutex_lock(&tdev->memory_lock);
	mine = !list_empty(&bo->link);
	list_del_init(&bo->link);
	mutex_unlock(&tdev->memory_lock);
	return mine;
}

static void system_free(struct drm_gem_object *obj)
{
	struct tutti_bo *bo = to_tutti_bo(obj);

	if (tutti_bo_take_off_list(tutti_bo_device(bo), bo)) {
		tutti_bo_drop_dma(bo);
		drm_gem_shmem_unpin(&bo->shmem);
	}
	mutex_destroy(&bo->lock);
	drm_gem_shmem_free(&bo->shmem);
}

/** tutti_bo_unplug() - the device goes: its DMA mappings go before it. The card is stopped. */
void tutti_bo_unplug(struct tutti_device *tdev)
{
	struct tutti_bo *bo;

	synchronize_rcu(); /* who looks at pages without pinning them, in tutti_wait.c */
	mutex_lock(&tdev->memory_lock);
	while ((bo = list_first_entry_or_null(&tdev->bos, struct tutti_bo, link))) {
		/* a buffer that is just being freed waits in tutti_bo_take_off_list() */
		list_del_init(&bo->link);
		tutti_bo_drop_dma(bo);
		if (bo->placement == DRM_TUTTI_PLACE_USER) {
			tutti_user_bo_unpin(bo);
		} else {
			bo->shmem.pages_mark_dirty_on_put = true;
			drm_gem_shmem_unpin(&bo->shmem);
		}
	}
	mutex_unlock(&tdev->memory_lock);
}

static const struct drm_gem_object_funcs system_funcs = {
	.free = system_free,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = drm_gem_shmem_object_mmap,
	.vm_ops = &drm_gem_shmem_vm_ops,
};

/* ---- all ---- */

/* tutti_bo_peek() - a word of a buffer that is mapped on the card. In any context; all ones = cannot be seen. */
u32 tutti_bo_peek(struct tutti_bo *bo, u64 offset)
{
	struct tutti_device *tdev = tutti_bo_device(bo);
	u32 word = ~0u;
	u8 *page;

	if (bo->placement == DRM_TUTTI_PLACE_CARD)
		return readl(tdev->aperture + bo->node.start + offset);
	if (bo->shmem.base.import_attach)
		return word;
	page = kmap_local_page(tutti_bo_page(bo, offset));
	word = READ_ONCE(*(u32 *)(page + offset_in_page(offset)));
	kunmap_local(page);
	return word;
}

/** tutti_bo_create() - a zeroed buffer; @size in whole pages. Between tutti_enter() and _exit(). */
struct tutti_bo *tutti_bo_create(struct tutti_device *tdev, u64 size, u32 placement)
{
	struct drm_gem_shmem_object *shmem;

	if (placement == DRM_TUTTI_PLACE_CARD)
		return tutti_card_bo_create(tdev, size);
	shmem = drm_gem_shmem_create(&tdev->drm, size);
	if (IS_ERR(shmem)) /* shmem says -ENOSPC when it has no memory for an inode */
		return PTR_ERR(shmem) == -ENOSPC ? ERR_PTR(-ENOMEM) : ERR_CAST(shmem);
	return to_tutti_bo(&shmem->base);
}

struct tutti_bo *tutti_bo_lookup(struct drm_file *df, u32 handle)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(df, handle);

	return obj ? to_tutti_bo(obj) : NULL;
}

static int bo_publish(struct tutti_bo *bo, struct drm_file *df, struct drm_tutti_bo_create *args)
{
	int error = drm_gem_create_mmap_offset(&bo->shmem.base);

	args->size = bo->shmem.base.size;
	args->mmap_offset = drm_vma_node_offset_addr(&bo->shmem.base.vma_node);
	return error ? error : drm_gem_handle_create(df, &bo->shmem.base, &args->handle);
}

int tutti_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct tutti_device *tdev = to_tutti(drm);
	struct drm_tutti_bo_create *args = data;
	u64 most = (u64)totalram_pages() << PAGE_SHIFT;
	struct tutti_bo *bo;
	int error, index;

	if (args->flags || args->handle || args->pad || args->mmap_offset ||
	    args->placement > DRM_TUTTI_PLACE_CARD)
		return -EINVAL;
	if (args->placement == DRM_TUTTI_PLACE_CARD)
		most = tdev->known.memory_bytes;
	if (!args->size || args->size > most)
		return -EINVAL;
	error = tutti_enter(df->driver_priv, &index);
	if (error)
		return error;
	bo = tutti_bo_create(tdev, PAGE_ALIGN(args->size), args->placement);
	tutti_exit(df->driver_priv, index);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	error = bo_publish(bo, df, args);
	tutti_bo_put(bo);
	return error;
}

int tutti_ioctl_bo_info(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_bo_info *args = data;
	struct tutti_bo *bo;
	int error = tutti_file_check(df->driver_priv);

	if (error)
		return error;
	if (args->pad || args->pad1)
		return -EINVAL;
	bo = tutti_bo_lookup(df, args->handle);
	if (!bo)
		return -ENOENT;
	args->size = bo->shmem.base.size;
	args->placement = bo->placement;
	if (bo->placement != DRM_TUTTI_PLACE_USER) {
		error = drm_gem_create_mmap_offset(&bo->shmem.base);
		args->mmap_offset = drm_vma_node_offset_addr(&bo->shmem.base.vma_node);
	}
	tutti_bo_put(bo);
	return error;
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What buffers of all kinds have in common: their DMA addresses, and what removal of the device does to them. */
#include <linux/dma-mapping.h>
#include <linux/highmem.h>

#include "base/delay.h"
#include "memory/bo.h"

/** tutti_bo_alloc() - zeroed memory for a buffer; NULL if there is none. */
struct tutti_bo *tutti_bo_alloc(const struct tutti_bo_ops *ops, u32 placement)
{
	struct tutti_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL);

	if (!bo)
		return NULL;
	mutex_init(&bo->lock);
	INIT_LIST_HEAD(&bo->link);
	bo->ops = ops;
	bo->placement = placement;
	return bo;
}

struct tutti_bo *tutti_bo_lookup(struct drm_file *df, u32 handle)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(df, handle);

	return obj ? to_tutti_bo(obj) : NULL;
}

/*
 * A process may make several buffers of the same pages of its own. Only one mapping of a page may be synchronised, and
 * these are shared with the card all the time, so that there is no moment at which to do so.
 */
static unsigned long tutti_bo_dma_attributes(const struct tutti_bo *bo)
{
	return bo->placement == DRM_TUTTI_PLACE_USER ? DMA_ATTR_SKIP_CPU_SYNC : 0;
}

/**
 * tutti_bo_map_dma() - the buffer gets DMA addresses of our own making.
 * @bo: buffer whose pages are pinned
 * @sgt: its pages; the buffer owns it if the call succeeds
 *
 * Return: 0, or what dma_map_sgtable() said.
 */
int tutti_bo_map_dma(struct tutti_bo *bo, struct sg_table *sgt)
{
	struct tutti_device *tdev = tutti_bo_device(bo);
	int error = dma_map_sgtable(tdev->drm.dev, sgt, DMA_BIDIRECTIONAL, tutti_bo_dma_attributes(bo));

	if (error)
		return error;
	smp_store_release(&bo->sgt, sgt); /* who sees it may look at the pages: sync/wait.c */
	mutex_lock(&tdev->memory_lock);
	list_add(&bo->link, &tdev->bos);
	mutex_unlock(&tdev->memory_lock);
	return 0;
}

static void tutti_bo_drop_dma(struct tutti_bo *bo)
{
	dma_unmap_sgtable(bo->shmem.base.dev->dev, bo->sgt, DMA_BIDIRECTIONAL, tutti_bo_dma_attributes(bo));
	sg_free_table(bo->sgt);
	kfree(bo->sgt);
	WRITE_ONCE(bo->sgt, NULL);
}

/** tutti_bo_unmap_dma() - the buffer is being freed. False: it has none, or the device's removal has done it. */
bool tutti_bo_unmap_dma(struct tutti_bo *bo)
{
	struct tutti_device *tdev = tutti_bo_device(bo);
	bool mine;

	mutex_lock(&tdev->memory_lock);
	mine = !list_empty(&bo->link);
	list_del_init(&bo->link);
	mutex_unlock(&tdev->memory_lock);
	if (mine)
		tutti_bo_drop_dma(bo);
	return mine;
}

/** tutti_bo_peek() - a word of a buffer that is mapped on the card, in any context. All ones: it cannot be seen. */
u32 tutti_bo_peek(struct tutti_bo *bo, u64 offset)
{
	struct tutti_device *tdev = tutti_bo_device(bo);
	u32 word = ~0u;
	u8 *page;

	if (bo->placement == DRM_TUTTI_PLACE_CARD)
		return readl(tdev->aperture + bo->node.start + offset);
	if (bo->imported)
		return word;
	page = kmap_local_page(tutti_bo_page(bo, offset));
	word = READ_ONCE(*(u32 *)(page + offset_in_page(offset)));
	kunmap_local(page);
	return word;
}

/** tutti_bo_unplug() - the device goes, and DMA addresses with it. The card is stopped. */
void tutti_bo_unplug(struct tutti_device *tdev)
{
	struct tutti_bo *bo;

	synchronize_rcu(); /* who looks at pages without pinning them, in sync/wait.c */
	mutex_lock(&tdev->memory_lock);
	while ((bo = list_first_entry_or_null(&tdev->bos, struct tutti_bo, link))) {
		/* a buffer that is being freed just now waits for memory_lock in tutti_bo_unmap_dma() */
		list_del_init(&bo->link);
		tutti_bo_drop_dma(bo);
		tutti_delay(TUTTI_DELAY_unplug_unpin);
		bo->ops->unpin(bo);
	}
	mutex_unlock(&tdev->memory_lock);
}

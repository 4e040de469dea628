// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Buffers in system memory: shmem of our own, or a dma-buf of another driver (spec SYS-22). */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <drm/drm_prime.h>

#include "base/delay.h"
#include "memory/system_bo.h"

/* Shmem buffers of the card are kept from their first map on: pages that it may know are never given back earlier. */
static int tutti_system_bo_pin_pages(struct tutti_bo *bo)
{
	struct sg_table *sgt;
	int error;

	tutti_delay(TUTTI_DELAY_allocate);
	error = drm_gem_shmem_pin(&bo->shmem);
	if (error)
		return error;
	sgt = drm_gem_shmem_get_sg_table(&bo->shmem);
	error = PTR_ERR_OR_ZERO(sgt);
	if (error)
		goto unpin;
	error = tutti_bo_map_dma(bo, sgt);
	if (!error)
		return 0;
	sg_free_table(sgt);
	kfree(sgt);
unpin:
	drm_gem_shmem_unpin(&bo->shmem);
	return error;
}

static int tutti_system_bo_pin(struct tutti_bo *bo)
{
	int error = 0;

	mutex_lock(&bo->lock);
	if (!bo->sgt && bo->imported)
		WRITE_ONCE(bo->sgt, bo->shmem.sgt);
	else if (!bo->sgt)
		error = tutti_system_bo_pin_pages(bo);
	mutex_unlock(&bo->lock);
	return error;
}

static void tutti_system_bo_unpin(struct tutti_bo *bo)
{
	drm_gem_shmem_unpin(&bo->shmem);
}

/* ---- import ---- */

/* Another driver's memory has DMA addresses from now on, whether or not the card gets to know it. */
struct drm_gem_object *tutti_system_bo_import(struct drm_device *drm, struct dma_buf_attachment *attachment,
					      struct sg_table *sgt)
{
	struct drm_gem_object *obj = drm_gem_shmem_prime_import_sg_table(drm, attachment, sgt);
	struct tutti_device *tdev = to_tutti(drm);

	if (IS_ERR(obj))
		return obj;
	to_tutti_bo(obj)->imported = true;
	mutex_lock(&tdev->memory_lock);
	list_add(&to_tutti_bo(obj)->link, &tdev->imports);
	mutex_unlock(&tdev->memory_lock);
	return obj;
}

/*
 * Not under memory_lock: with the attachment the last reference to the other driver's buffer may go, and with that the
 * reservation lock, which freeing the buffer takes once more. From now on it has its own.
 */
static void tutti_system_bo_detach(struct tutti_bo *bo)
{
	bo->shmem.base.resv = &bo->shmem.base._resv;
	drm_prime_gem_destroy(&bo->shmem.base, bo->shmem.sgt);
	bo->shmem.base.import_attach = NULL;
	bo->shmem.sgt = NULL;
	WRITE_ONCE(bo->sgt, NULL);
}

/* It is being freed. It stays in the list until it is detached, so that removal of the device waits for that. */
static void tutti_system_bo_free_import(struct tutti_bo *bo)
{
	struct tutti_device *tdev = tutti_bo_device(bo);
	bool attached;

	mutex_lock(&tdev->memory_lock);
	attached = !list_empty(&bo->link);
	mutex_unlock(&tdev->memory_lock);
	if (!attached)
		return;
	tutti_delay(TUTTI_DELAY_import_free);
	tutti_system_bo_detach(bo);
	tutti_delay(TUTTI_DELAY_import_detached);
	mutex_lock(&tdev->memory_lock);
	list_del_init(&bo->link);
	mutex_unlock(&tdev->memory_lock);
}

/* The next buffer that has to be detached, with a reference; NULL: it is being freed just now. */
static struct tutti_bo *tutti_system_bo_take_import(struct tutti_device *tdev)
{
	struct tutti_bo *bo;

	lockdep_assert_held(&tdev->memory_lock);
	bo = list_first_entry(&tdev->imports, struct tutti_bo, link);
	if (!kref_get_unless_zero(&bo->shmem.base.refcount))
		return NULL;
	list_del_init(&bo->link);
	return bo;
}

/** tutti_system_bo_detach_all() - the device goes, and its attachments to dma-bufs of others. The card is stopped. */
void tutti_system_bo_detach_all(struct tutti_device *tdev)
{
	struct tutti_bo *bo;

	mutex_lock(&tdev->memory_lock);
	while (!list_empty(&tdev->imports)) {
		bo = tutti_system_bo_take_import(tdev);
		mutex_unlock(&tdev->memory_lock);
		if (bo) {
			tutti_system_bo_detach(bo);
			tutti_bo_put(bo);
		} else {
			msleep(1);
		}
		mutex_lock(&tdev->memory_lock);
	}
	mutex_unlock(&tdev->memory_lock);
}

/* ---- life ---- */

static void tutti_system_bo_free(struct drm_gem_object *obj)
{
	struct tutti_bo *bo = to_tutti_bo(obj);

	if (bo->imported)
		tutti_system_bo_free_import(bo);
	else if (tutti_bo_unmap_dma(bo))
		drm_gem_shmem_unpin(&bo->shmem);
	mutex_destroy(&bo->lock);
	drm_gem_shmem_free(&bo->shmem);
}

static const struct tutti_bo_ops system_ops = {
	.pin = tutti_system_bo_pin,
	.unpin = tutti_system_bo_unpin,
};

/* ---- mmap ---- */

/*
 * By the place in the buffer. The helper's own handler counts from the start of the area, which is another page once
 * the area has been split by munmap() or mprotect(). The area keeps the pages.
 */
static vm_fault_t tutti_system_bo_fault(struct vm_fault *vmf)
{
	struct drm_gem_object *obj = vmf->vma->vm_private_data;
	struct page **pages = READ_ONCE(to_tutti_bo(obj)->shmem.pages);
	pgoff_t page = vmf->pgoff - drm_vma_node_start(&obj->vma_node);

	if (!pages || page >= obj->size >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	return vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(pages[page]));
}

static void tutti_system_bo_vm_open(struct vm_area_struct *vma)
{
	drm_gem_shmem_vm_ops.open(vma);
}

static void tutti_system_bo_vm_close(struct vm_area_struct *vma)
{
	drm_gem_shmem_vm_ops.close(vma);
}

static const struct vm_operations_struct system_vm_ops = {
	.fault = tutti_system_bo_fault,
	.open = tutti_system_bo_vm_open,
	.close = tutti_system_bo_vm_close,
};

/*
 * An imported buffer is mapped by its exporter. Of others, older versions of the shmem helper allow private mappings, and run
 * into a BUG_ON() at the first fault.
 */
static int tutti_system_bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	bool imported = to_tutti_bo(obj)->imported;
	int error;

	if (!imported && is_cow_mapping(vma->vm_flags))
		return -EINVAL;
	error = drm_gem_shmem_object_mmap(obj, vma);
	if (!error && !imported)
		vma->vm_ops = &system_vm_ops;
	return error;
}

static const struct drm_gem_object_funcs system_funcs = {
	.free = tutti_system_bo_free,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = tutti_system_bo_mmap,
	.vm_ops = &system_vm_ops,
};

/** tutti_system_bo_alloc() - the constructor of shmem buffers, of imported ones too (drm_driver.gem_create_object). */
struct drm_gem_object *tutti_system_bo_alloc(struct drm_device *drm, size_t size)
{
	struct tutti_bo *bo = tutti_bo_alloc(&system_ops, DRM_TUTTI_PLACE_SYSTEM);

	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->shmem.base.funcs = &system_funcs;
	/* stores through a mapping, and the card's, leave no mark on a page: without this, reclaim would drop them */
	bo->shmem.pages_mark_dirty_on_put = true;
	return &bo->shmem.base;
}

/** tutti_system_bo_create() - zeroed; @size in whole pages. */
struct tutti_bo *tutti_system_bo_create(struct tutti_device *tdev, u64 size)
{
	struct drm_gem_shmem_object *shmem = drm_gem_shmem_create(&tdev->drm, size);

	if (IS_ERR(shmem)) /* shmem says -ENOSPC when it has no memory for an inode */
		return PTR_ERR(shmem) == -ENOSPC ? ERR_PTR(-ENOMEM) : ERR_CAST(shmem);
	return to_tutti_bo(&shmem->base);
}

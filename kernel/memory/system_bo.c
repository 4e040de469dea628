// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Buffers in system memory: shmem of our own, or a dma-buf of another driver (spec SYS-22). */
#include <linux/dma-mapping.h>

#include "memory/system_bo.h"

/* Shmem buffers of the card are kept from their first map on: pages that it may know are never given back earlier. */
static int tutti_system_bo_pin_pages(struct tutti_bo *bo)
{
	struct sg_table *sgt;
	int error = drm_gem_shmem_pin(&bo->shmem);

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
	if (!bo->sgt && bo->shmem.base.import_attach)
		bo->sgt = bo->shmem.sgt;
	else if (!bo->sgt)
		error = tutti_system_bo_pin_pages(bo);
	mutex_unlock(&bo->lock);
	return error;
}

static void tutti_system_bo_unpin(struct tutti_bo *bo)
{
	bo->shmem.pages_mark_dirty_on_put = true;
	drm_gem_shmem_unpin(&bo->shmem);
}

static void tutti_system_bo_free(struct drm_gem_object *obj)
{
	struct tutti_bo *bo = to_tutti_bo(obj);

	if (tutti_bo_unmap_dma(bo))
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

/* An imported buffer is mapped by who made it. */
static int tutti_system_bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	int error = drm_gem_shmem_object_mmap(obj, vma);

	if (!error && !obj->import_attach)
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

// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The calls that make buffers and ask about them, whatever kind of memory they are in (spec SYS-22). */
#include "card/gate.h"
#include "memory/card_bo.h"
#include "memory/memory.h"
#include "memory/system_bo.h"

/* A zeroed buffer in system memory; @size in whole pages. */
static struct tutti_bo *tutti_memory_create_system(struct tutti_file *file, u64 size)
{
	struct tutti_bo *bo;
	int index, error = tutti_gate_enter(file, &index);

	if (error)
		return ERR_PTR(error);
	bo = tutti_system_bo_create(file->tdev, size);
	tutti_gate_exit(file, index);
	return bo;
}

static int tutti_memory_publish(struct tutti_bo *bo, struct drm_file *df, struct drm_tutti_bo_create *args)
{
	int error = drm_gem_create_mmap_offset(&bo->shmem.base);

	args->size = bo->shmem.base.size;
	args->mmap_offset = drm_vma_node_offset_addr(&bo->shmem.base.vma_node);
	return error ? error : drm_gem_handle_create(df, &bo->shmem.base, &args->handle);
}

int tutti_memory_create_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct tutti_device *tdev = to_tutti(drm);
	struct drm_tutti_bo_create *args = data;
	u64 most = (u64)totalram_pages() << PAGE_SHIFT, size;
	struct tutti_bo *bo;
	int error;

	if (args->flags || args->handle || args->pad || args->mmap_offset || args->placement > DRM_TUTTI_PLACE_CARD)
		return -EINVAL;
	if (args->placement == DRM_TUTTI_PLACE_CARD)
		most = tdev->known.memory_bytes;
	if (!args->size || args->size > most)
		return -EINVAL;
	size = PAGE_ALIGN(args->size);
	bo = args->placement == DRM_TUTTI_PLACE_CARD ? tutti_card_bo_create(df->driver_priv, size) :
						       tutti_memory_create_system(df->driver_priv, size);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	error = tutti_memory_publish(bo, df, args);
	tutti_bo_put(bo);
	return error;
}

int tutti_memory_info_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_bo_info *args = data;
	struct tutti_bo *bo;
	int error = tutti_gate_check(df->driver_priv);

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

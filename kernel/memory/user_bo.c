// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Buffers that are memory of a process (spec SYS-41, tutti_memory_lock). Pages are pinned as
 * long as the card may reach them: a mapping holds its buffer until the firmware has
 * acknowledged its end.
 */
#include <linux/capability.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "card/gate.h"
#include "memory/user_bo.h"

/* At a time: a fatal signal is looked at in between. */
#define PIN_CHUNK 512ul

static void tutti_user_bo_unpin(struct tutti_bo *bo)
{
	unpin_user_pages_dirty_lock(bo->user_pages, bo->pinned, true);
	bo->pinned = 0;
}

static void tutti_user_bo_free(struct drm_gem_object *obj)
{
	struct tutti_bo *bo = to_tutti_bo(obj);

	tutti_bo_unmap_dma(bo); /* waits for removal of the device, which may be unpinning it */
	tutti_user_bo_unpin(bo);
	if (bo->user) {
		atomic64_sub(obj->size >> PAGE_SHIFT, &bo->user->pinned_vm);
		mmdrop(bo->user);
	}
	kvfree(bo->user_pages);
	drm_gem_object_release(obj);
	mutex_destroy(&bo->lock);
	kfree(bo);
}

/* Whoever has the memory can share it himself. */
static struct dma_buf *tutti_user_bo_export(struct drm_gem_object *obj, int flags)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static const struct drm_gem_object_funcs user_funcs = {
	.free = tutti_user_bo_free,
	.export = tutti_user_bo_export,
};

static int tutti_user_bo_pin_pages(struct tutti_bo *bo, u64 address)
{
	unsigned long pages = bo->shmem.base.size >> PAGE_SHIFT;

	while (bo->pinned < pages) {
		int got = pin_user_pages_fast(address + (bo->pinned << PAGE_SHIFT),
					      min(pages - bo->pinned, PIN_CHUNK), FOLL_WRITE | FOLL_LONGTERM,
					      bo->user_pages + bo->pinned);

		if (got <= 0)
			return got ? got : -EFAULT;
		bo->pinned += got;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int tutti_user_bo_map(struct tutti_bo *bo)
{
	struct sg_table *sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	int error;

	if (!sgt)
		return -ENOMEM;
	error = sg_alloc_table_from_pages(sgt, bo->user_pages, bo->pinned, 0, bo->shmem.base.size, GFP_KERNEL);
	if (!error)
		error = tutti_bo_map_dma(bo, sgt);
	if (!error)
		return 0;
	sg_free_table(sgt);
	kfree(sgt);
	return error;
}

/*
 * Pinned pages count for their process (VmPin), within RLIMIT_MEMLOCK. By a counter, not under mmap_lock: a buffer is
 * freed with a context's lock held, or by somebody else's thread, and a process can hold its mmap_lock for any time.
 */
static int tutti_user_bo_account(struct mm_struct *mm, unsigned long pages)
{
	u64 limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if ((u64)atomic64_add_return(pages, &mm->pinned_vm) <= limit || capable(CAP_IPC_LOCK))
		return 0;
	atomic64_sub(pages, &mm->pinned_vm);
	return -ENOMEM;
}

static int tutti_user_bo_fill(struct tutti_bo *bo, u64 address)
{
	unsigned long pages = bo->shmem.base.size >> PAGE_SHIFT;
	int error;

	error = tutti_user_bo_account(current->mm, pages);
	if (error)
		return error;
	mmgrab(current->mm);
	bo->user = current->mm;
	bo->user_pages = kvcalloc(pages, sizeof(*bo->user_pages), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return bo->user_pages ? tutti_user_bo_pin_pages(bo, address) : -ENOMEM;
}

/*
 * Pinned before tutti_gate_enter(): a fault may wait as long as a user likes (userfaultfd, FUSE),
 * and neither a reset nor removal shall wait for that.
 */
static int tutti_user_bo_prepare(struct tutti_bo *bo, struct tutti_file *file, u64 address)
{
	int error = tutti_user_bo_fill(bo, address), index;

	if (!error)
		error = tutti_gate_enter(file, &index);
	if (error)
		return error;
	error = tutti_user_bo_map(bo);
	tutti_gate_exit(file, index);
	return error;
}

/* Its DMA addresses are there from the beginning. */
static int tutti_user_bo_pin(struct tutti_bo *bo)
{
	return 0;
}

static const struct tutti_bo_ops user_ops = {
	.pin = tutti_user_bo_pin,
	.unpin = tutti_user_bo_unpin,
};

static struct tutti_bo *tutti_user_bo_create(struct tutti_file *file, u64 address, u64 bytes)
{
	struct drm_device *drm = &file->tdev->drm;
	struct tutti_bo *bo = tutti_bo_alloc(&user_ops, DRM_TUTTI_PLACE_USER);
	int error;

	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->shmem.base.funcs = &user_funcs;
	drm_gem_private_object_init(drm, &bo->shmem.base, bytes);
	error = tutti_user_bo_prepare(bo, file, address);
	if (!error)
		return bo;
	tutti_bo_put(bo);
	return ERR_PTR(error);
}

int tutti_user_bo_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_bo_userptr *args = data;
	u64 most = (u64)totalram_pages() << PAGE_SHIFT;
	struct tutti_bo *bo;
	int error = tutti_gate_check(df->driver_priv);

	if (error)
		return error;
	if (args->flags || args->handle || !args->bytes || !PAGE_ALIGNED(args->address | args->bytes) ||
	    args->bytes > most)
		return -EINVAL;
	if (!access_ok(u64_to_user_ptr(args->address), args->bytes))
		return -EFAULT;
	bo = tutti_user_bo_create(df->driver_priv, args->address, args->bytes);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	error = drm_gem_handle_create(df, &bo->shmem.base, &args->handle);
	tutti_bo_put(bo);
	return error;
}

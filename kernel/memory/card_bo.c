// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Buffers in card memory: mapped by fault, revocable, exported to other files (spec SYS-22). */
#include <linux/dma-buf.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <drm/drm_prime.h>

#include "base/compat.h"
#include "base/delay.h"
#include "card/card.h"
#include "card/gate.h"
#include "card/power.h"
#include "memory/account.h"
#include "memory/card_bo.h"
#include "memory/dummy.h"

#define ZERO_CHUNK SZ_1M
#define ZERO_PIECE SZ_16K

static void tutti_card_bo_free(struct drm_gem_object *obj)
{
	struct tutti_bo *bo = to_tutti_bo(obj);
	struct tutti_device *tdev = tutti_bo_device(bo);

	mutex_lock(&tdev->memory_lock);
	if (drm_mm_node_allocated(&bo->node)) {
		drm_mm_remove_node(&bo->node);
		tutti_account_uncharge(bo->account, obj->size);
	}
	mutex_unlock(&tdev->memory_lock);
	drm_gem_object_release(obj);
	if (bo->dummy)
		__free_page(bo->dummy);
	mutex_destroy(&bo->lock);
	kfree(bo);
}

static vm_fault_t tutti_card_bo_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct tutti_bo *bo = to_tutti_bo((struct drm_gem_object *)vma->vm_private_data);
	struct tutti_device *tdev = tutti_bo_device(bo);
	u64 at = (u64)(vmf->pgoff - drm_vma_node_start(&bo->shmem.base.vma_node)) << PAGE_SHIFT;
	vm_fault_t result;
	int index;

	if (at >= bo->shmem.base.size)
		return VM_FAULT_SIGBUS;
	if (!drm_dev_enter(&tdev->drm, &index))
		return tutti_dummy_fault(vmf, &bo->dummy);
	down_read(&tdev->view_sem);
	if (bo->memory_losses != (u64)atomic64_read(&tdev->memory_losses))
		result = tutti_dummy_fault(vmf, &bo->dummy);
	else
		result = vmf_insert_pfn(vma, vmf->address,
					(tdev->bar + tdev->known.aperture + bo->node.start + at) >> PAGE_SHIFT);
	up_read(&tdev->view_sem);
	drm_dev_exit(index);
	return result;
}

static const struct vm_operations_struct card_vm_ops = {
	.fault = tutti_card_bo_fault,
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

static int tutti_card_bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	tutti_vm_flags(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP, 0);
	vma->vm_page_prot = pgprot_writecombine(vm_get_page_prot(vma->vm_flags));
	return 0;
}

/* ---- export ---- */

/*
 * Other files of this driver import the very buffer. Other drivers may not: they would keep
 * addresses of card memory through a reset. CPU mappings of the dma-buf are revoked as all are.
 */
static int tutti_card_bo_attach(struct dma_buf *dma_buf, struct dma_buf_attachment *attachment)
{
	return -EOPNOTSUPP;
}

static struct sg_table *tutti_card_bo_map_dma_buf(struct dma_buf_attachment *attachment,
						  enum dma_data_direction direction)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static void tutti_card_bo_unmap_dma_buf(struct dma_buf_attachment *attachment, struct sg_table *sgt,
					enum dma_data_direction direction)
{
}

static int tutti_card_bo_dma_buf_mmap(struct dma_buf *dma_buf, struct vm_area_struct *vma)
{
	return is_cow_mapping(vma->vm_flags) ? -EINVAL : drm_gem_prime_mmap(dma_buf->priv, vma);
}

static void tutti_card_bo_dma_buf_release(struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj = dma_buf->priv;

	tutti_power_put(to_tutti(obj->dev));
	drm_gem_dmabuf_release(dma_buf);
}

static const struct dma_buf_ops card_dma_buf_ops = {
	.attach = tutti_card_bo_attach,
	.map_dma_buf = tutti_card_bo_map_dma_buf,
	.unmap_dma_buf = tutti_card_bo_unmap_dma_buf,
	.mmap = tutti_card_bo_dma_buf_mmap,
	.release = tutti_card_bo_dma_buf_release,
};

/* drm_gem_dmabuf_export() gives the file the address space of the node, so tutti_view_revoke_all() unmaps it as well. */
static struct dma_buf *tutti_card_bo_export(struct drm_gem_object *obj, int flags)
{
	struct tutti_device *tdev = to_tutti(obj->dev);
	struct dma_buf_export_info info = {
		.exp_name = "tutti",
		.owner = THIS_MODULE,
		.ops = &card_dma_buf_ops,
		.size = obj->size,
		.flags = flags,
		.priv = obj,
		.resv = obj->resv,
	};
	struct dma_buf *dma_buf;
	int error = drm_gem_create_mmap_offset(obj);

	if (!error)
		error = tutti_power_get(tdev); /* it may be touched while no file is open */
	if (error)
		return ERR_PTR(error);
	dma_buf = drm_gem_dmabuf_export(obj->dev, &info);
	if (IS_ERR(dma_buf))
		tutti_power_put(tdev);
	return dma_buf;
}

/* Removal of the device detaches what has been attached by then. */
static struct drm_gem_object *tutti_card_bo_import_foreign(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj;
	int index;

	if (!drm_dev_enter(drm, &index))
		return ERR_PTR(-ENODEV);
	obj = drm_gem_prime_import(drm, dma_buf);
	drm_dev_exit(index);
	return obj;
}

/* tutti_card_bo_import() - of a dma-buf; our own card memory is the same buffer again. */
struct drm_gem_object *tutti_card_bo_import(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj = dma_buf->priv;

	if (dma_buf->ops != &card_dma_buf_ops)
		return tutti_card_bo_import_foreign(drm, dma_buf);
	if (obj->dev != drm)
		return ERR_PTR(-EOPNOTSUPP);
	drm_gem_object_get(obj);
	return obj;
}

/* ---- life ---- */

static int tutti_card_bo_pin(struct tutti_bo *bo)
{
	return bo->memory_losses == (u64)atomic64_read(&tutti_bo_device(bo)->memory_losses) ? 0 : -EIO;
}

static const struct tutti_bo_ops card_ops = { .pin = tutti_card_bo_pin };

static const struct drm_gem_object_funcs card_funcs = {
	.free = tutti_card_bo_free,
	.mmap = tutti_card_bo_mmap,
	.export = tutti_card_bo_export,
	.vm_ops = &card_vm_ops,
};

/*
 * Stores that do not reach the card are lost without a word, and what they should have overwritten is somebody's memory.
 * So each piece has to be followed by a read that reaches it. A link that was lost has reset the card, which answers again
 * when the driver has been told, and so not before the gate is open. Only who switches a bridge above the card off and on
 * can do that without the driver; pieces are short, so that he is noticed, too.
 */
static int tutti_card_bo_zero_bytes(struct tutti_device *tdev, u64 at, u64 bytes)
{
	u64 end = at + bytes;

	for (; at < end; at += ZERO_PIECE) {
		tutti_delay(TUTTI_DELAY_card_zero_piece);
		memset_io(tdev->aperture + at, 0, min_t(u64, ZERO_PIECE, end - at));
		wmb(); /* the stores (write-combined) are on their way before the read */
		if (!tutti_card_is_there(tdev))
			return -EIO;
	}
	return 0;
}

/* In a chunk's time a reset can come in between. */
static int tutti_card_bo_zero_chunk(struct tutti_bo *bo, struct tutti_file *file, u64 at)
{
	struct tutti_device *tdev = tutti_bo_device(bo);
	u64 bytes = min_t(u64, ZERO_CHUNK, bo->shmem.base.size - at);
	int index, error = tutti_gate_enter(file, &index);

	if (error)
		return error;
	tutti_delay(TUTTI_DELAY_card_zero);
	error = tutti_card_bo_zero_bytes(tdev, bo->node.start + at, bytes);
	tutti_gate_exit(file, index);
	return !error && fatal_signal_pending(current) ? -EINTR : error;
}

static int tutti_card_bo_zero(struct tutti_bo *bo, struct tutti_file *file)
{
	int error = 0;
	u64 at;

	for (at = 0; !error && at < bo->shmem.base.size; at += ZERO_CHUNK) {
		error = tutti_card_bo_zero_chunk(bo, file, at);
		cond_resched();
	}
	return error;
}

static int tutti_card_bo_place(struct tutti_bo *bo, struct tutti_account *account, u64 size)
{
	struct tutti_device *tdev = tutti_bo_device(bo);
	int error = tutti_account_charge(tdev, account, size);

	if (error)
		return error;
	error = drm_mm_insert_node_generic(&tdev->memory, &bo->node, size, size >= SZ_2M ? SZ_2M : PAGE_SIZE, 0,
					   DRM_MM_INSERT_BEST);
	if (error)
		tutti_account_uncharge(account, size);
	else
		bo->account = account;
	return error;
}

/* Inside the gate: a file can be opened during a reset, which may lose the memory of the card only afterwards. */
static int tutti_card_bo_reserve(struct tutti_bo *bo, struct tutti_file *file, u64 size)
{
	struct tutti_device *tdev = file->tdev;
	int index, error = tutti_gate_enter(file, &index);

	if (error)
		return error;
	bo->memory_losses = atomic64_read(&tdev->memory_losses);
	mutex_lock(&tdev->memory_lock);
	error = tutti_card_bo_place(bo, file->account, size);
	mutex_unlock(&tdev->memory_lock);
	tutti_gate_exit(file, index);
	return error;
}

/**
 * tutti_card_bo_create() - a zeroed buffer in card memory.
 * @file: for whom; not between tutti_gate_enter() and tutti_gate_exit(), since zeroing takes its time
 * @size: in whole pages
 *
 * Return: the buffer, or an error: -ENOSPC card memory is full, -EDQUOT, -ENOMEM, or what tutti_gate_enter() says.
 */
struct tutti_bo *tutti_card_bo_create(struct tutti_file *file, u64 size)
{
	struct tutti_bo *bo = tutti_bo_alloc(&card_ops, DRM_TUTTI_PLACE_CARD);
	int error;

	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->shmem.base.funcs = &card_funcs;
	drm_gem_private_object_init(&file->tdev->drm, &bo->shmem.base, size);
	error = tutti_card_bo_reserve(bo, file, size);
	if (!error)
		error = tutti_card_bo_zero(bo, file);
	if (!error)
		return bo;
	tutti_bo_put(bo);
	return ERR_PTR(error);
}

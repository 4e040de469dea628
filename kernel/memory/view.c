// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Pages of the control window in user space: doorbells, status, counters, RSBs (spec SYS-24, 25). */
#include "base/compat.h"
#include "memory/dummy.h"
#include "memory/view.h"

/* A page of the kernel's must not show more than one of the card's: the next doorbell is somebody else's. */
static_assert(PAGE_SIZE == TUTTI_PAGE_SIZE, "the driver needs pages of 4 KiB");

struct tutti_view *tutti_view_create(struct tutti_device *tdev, u64 offset, u64 file_offset, bool writable)
{
	struct tutti_view *view = kzalloc(sizeof(*view), GFP_KERNEL_ACCOUNT);

	if (!view)
		return NULL;
	kref_init(&view->ref);
	drm_dev_get(&tdev->drm);
	view->tdev = tdev;
	view->offset = offset;
	view->file_offset = file_offset;
	view->writable = writable;
	view->generation = atomic64_read(&tdev->generation);
	return view;
}

static void tutti_view_release(struct kref *ref)
{
	struct tutti_view *view = container_of(ref, struct tutti_view, ref);

	if (view->dummy)
		__free_page(view->dummy);
	drm_dev_put(&view->tdev->drm);
	kfree(view);
}

void tutti_view_get(struct tutti_view *view)
{
	kref_get(&view->ref);
}

void tutti_view_put(struct tutti_view *view)
{
	if (view)
		kref_put(&view->ref, tutti_view_release);
}

/** tutti_view_revoke() - afterwards no store through any mapping of it reaches the card. */
void tutti_view_revoke(struct tutti_view *view)
{
	struct tutti_device *tdev = view->tdev;

	down_write(&tdev->view_sem);
	view->revoked = true;
	up_write(&tdev->view_sem);
	/* faults see @revoked from here on; what earlier ones have put in goes now */
	unmap_mapping_range(tdev->drm.anon_inode->i_mapping, view->file_offset, PAGE_SIZE, 1);
}

/** tutti_view_revoke_all() - and mappings of buffers, of all files and dma-bufs; the generation has gone up already. */
void tutti_view_revoke_all(struct tutti_device *tdev)
{
	down_write(&tdev->view_sem);
	up_write(&tdev->view_sem);
	unmap_mapping_range(tdev->drm.anon_inode->i_mapping, 0, 0, 1);
}

static vm_fault_t tutti_view_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct tutti_view *view = vma->vm_private_data;
	struct tutti_device *tdev = view->tdev;
	vm_fault_t result;
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return tutti_dummy_fault(vmf, &view->dummy);
	down_read(&tdev->view_sem);
	if (view->revoked || view->generation != (u64)atomic64_read(&tdev->generation))
		result = tutti_dummy_fault(vmf, &view->dummy);
	else
		result = vmf_insert_pfn(vma, vmf->address, (tdev->bar + view->offset) >> PAGE_SHIFT);
	up_read(&tdev->view_sem);
	drm_dev_exit(index);
	return result;
}

static void tutti_view_open(struct vm_area_struct *vma)
{
	tutti_view_get(vma->vm_private_data);
}

static void tutti_view_close(struct vm_area_struct *vma)
{
	tutti_view_put(vma->vm_private_data);
}

static const struct vm_operations_struct view_vm_ops = {
	.fault = tutti_view_fault,
	.open = tutti_view_open,
	.close = tutti_view_close,
};

/** tutti_view_attach() - the area shows the view; takes over the caller's reference. */
void tutti_view_attach(struct tutti_view *view, struct vm_area_struct *vma)
{
	/* not copied by fork: a child has no queue of its own in it */
	tutti_vm_flags(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY,
		       view->writable ? VM_MAYEXEC : VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_page_prot = pgprot_noncached(vm_get_page_prot(vma->vm_flags));
	vma->vm_private_data = view;
	vma->vm_ops = &view_vm_ops;
}

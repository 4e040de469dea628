// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Pages of the control window in user space: doorbells, status, counters, RSBs (spec SYS-24, 25). */
#include "compat.h"
#include "tutti_queue.h"
#include "tutti_rsb.h"
#include "tutti_view.h"

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

static void view_release(struct kref *ref)
{
	struct tutti_view *view = container_of(ref, struct tutti_view, ref);

	if (view->dummy)
		__free_page(view->dummy);
	drm_dev_put(&view->tdev->drm);
	kfree(view);
}

void tutti_view_put(struct tutti_view *view)
{
	if (view)
		kref_put(&view->ref, view_release);
}

/** tutti_view_revoke() - afterwards no store through any mapping of it reaches the card. */
void tutti_view_revoke(struct tutti_view *view)
{
	struct tutti_device *tdev = view->tdev;

	down_write(&tdev->view_sem);
	view->dead = true;
	up_write(&tdev->view_sem);
	/* faults see @dead from here on; what earlier ones have put in goes now */
	unmap_mapping_range(tdev->drm.anon_inode->i_mapping, view->file_offset, PAGE_SIZE, 1);
}

/** tutti_view_revoke_all() - of all files; the generation has gone up already. */
void tutti_view_revoke_all(struct tutti_device *tdev)
{
	down_write(&tdev->view_sem);
	up_write(&tdev->view_sem);
	unmap_mapping_range(tdev->drm.anon_inode->i_mapping, 0, 0, 1);
	tutti_bo_revoke_exports(tdev);
}

static vm_fault_t view_fault_dummy(struct vm_fault *vmf, struct tutti_view *view)
{
	struct vm_area_struct *vma = vmf->vma;
	struct page *page = READ_ONCE(view->dummy);

	if (!page) {
		page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!page)
			return VM_FAULT_OOM;
		if (cmpxchg(&view->dummy, NULL, page)) {
			__free_page(page);
			page = view->dummy;
		}
	}
	return vmf_insert_pfn_prot(vma, vmf->address, page_to_pfn(page), vm_get_page_prot(vma->vm_flags));
}

static vm_fault_t view_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct tutti_view *view = vma->vm_private_data;
	struct tutti_device *tdev = view->tdev;
	vm_fault_t result;
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return view_fault_dummy(vmf, view);
	down_read(&tdev->view_sem);
	if (view->dead || view->generation != (u64)atomic64_read(&tdev->generation))
		result = view_fault_dummy(vmf, view);
	else
		result = vmf_insert_pfn(vma, vmf->address, (tdev->bar + view->offset) >> PAGE_SHIFT);
	up_read(&tdev->view_sem);
	drm_dev_exit(index);
	return result;
}

static void view_open(struct vm_area_struct *vma)
{
	struct tutti_view *view = vma->vm_private_data;

	kref_get(&view->ref);
}

static void view_close(struct vm_area_struct *vma)
{
	tutti_view_put(vma->vm_private_data);
}

static const struct vm_operations_struct view_vm_ops = {
	.fault = view_fault,
	.open = view_open,
	.close = view_close,
};

/* Only pages that hold nothing of other processes. */
static struct tutti_view *view_of_window(struct tutti_device *tdev, u32 page, u64 file_offset)
{
	u64 offset = (u64)page << PAGE_SHIFT;

	if (offset != tdev->known.status.offset && offset != tdev->known.counters.offset)
		return NULL;
	return tutti_view_create(tdev, offset, file_offset, false);
}

static struct tutti_view *view_of_object(struct tutti_file *file, enum tutti_kind kind, u32 handle)
{
	struct tutti_object *object = tutti_handle_get(file, kind, handle);
	struct tutti_view *view;

	if (!object)
		return NULL;
	view = kind == TUTTI_QUEUE ? to_queue(object)->view : to_rsb(object)->view;
	if (view)
		kref_get(&view->ref);
	tutti_object_put(object);
	return view;
}

static struct tutti_view *view_find(struct tutti_file *file, u64 offset)
{
	u64 index = (offset - DRM_TUTTI_MMAP_BASE) >> PAGE_SHIFT;
	u32 kind = index >> 28, number = index & (BIT(28) - 1);

	switch (kind) {
	case DRM_TUTTI_MMAP_WINDOW:
		return view_of_window(file->tdev, number, offset);
	case DRM_TUTTI_MMAP_DOORBELL:
		return view_of_object(file, TUTTI_QUEUE, number);
	case DRM_TUTTI_MMAP_RSB:
		return view_of_object(file, TUTTI_RSB, number);
	}
	return NULL;
}

/** tutti_view_mmap() - mmap at an offset that is not a buffer's. */
int tutti_view_mmap(struct tutti_file *file, struct vm_area_struct *vma)
{
	struct tutti_view *view;
	int error = tutti_file_check(file);

	if (!error)
		error = tutti_pm_wait(file->tdev);
	if (error)
		return error;
	if (vma->vm_end - vma->vm_start != PAGE_SIZE || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	view = view_find(file, (u64)vma->vm_pgoff << PAGE_SHIFT);
	if (!view)
		return -EINVAL;
	if (!view->writable && (vma->vm_flags & VM_WRITE)) {
		tutti_view_put(view);
		return -EACCES;
	}
	/* not copied by fork: a child has no queue of its own in it */
	tutti_vm_flags(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY,
		       view->writable ? VM_MAYEXEC : VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_page_prot = pgprot_noncached(vm_get_page_prot(vma->vm_flags));
	vma->vm_private_data = view;
	vma->vm_ops = &view_vm_ops;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
/* mmap of the node: a buffer, or a page of the control window by the offset that tutti_drm.h describes. */
#include <linux/mm.h>
#include <drm/drm_gem.h>

#include "base/delay.h"
#include "card/gate.h"
#include "card/power.h"
#include "memory/view.h"
#include "objects/handle.h"
#include "objects/mmap.h"

/* Only pages that hold nothing of other processes. */
static struct tutti_view *tutti_mmap_window(struct tutti_device *tdev, u32 page, u64 file_offset)
{
	u64 offset = (u64)page << PAGE_SHIFT;

	if (offset != tdev->known.status.offset && offset != tdev->known.counters.offset)
		return NULL;
	return tutti_view_create(tdev, offset, file_offset, false);
}

static struct tutti_view *tutti_mmap_object(struct tutti_file *file, enum tutti_kind kind, u32 handle)
{
	struct tutti_object *object = tutti_handle_get(file, kind, handle);
	struct tutti_view *view;

	if (!object)
		return NULL;
	view = object->view;
	if (view)
		tutti_view_get(view);
	tutti_object_put(object);
	return view;
}

static struct tutti_view *tutti_mmap_find(struct tutti_file *file, u64 offset)
{
	u64 index = (offset - DRM_TUTTI_MMAP_BASE) >> PAGE_SHIFT;
	u32 kind = index >> 28, number = index & (BIT(28) - 1);

	switch (kind) {
	case DRM_TUTTI_MMAP_WINDOW:
		return tutti_mmap_window(file->tdev, number, offset);
	case DRM_TUTTI_MMAP_DOORBELL:
		return tutti_mmap_object(file, TUTTI_QUEUE, number);
	case DRM_TUTTI_MMAP_RSB:
		return tutti_mmap_object(file, TUTTI_RSB, number);
	}
	return NULL;
}

static int tutti_mmap_view(struct tutti_file *file, struct vm_area_struct *vma)
{
	struct tutti_view *view;
	int error = tutti_gate_check(file);

	if (!error)
		error = tutti_power_wait(file->tdev);
	if (error)
		return error;
	if (vma->vm_end - vma->vm_start != PAGE_SIZE || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	view = tutti_mmap_find(file, (u64)vma->vm_pgoff << PAGE_SHIFT);
	if (!view)
		return -EINVAL;
	if (!view->writable && (vma->vm_flags & VM_WRITE)) {
		tutti_view_put(view);
		return -EACCES;
	}
	tutti_view_attach(view, vma);
	return 0;
}

/* A private copy of memory that a card writes has no meaning. */
int tutti_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct drm_file *df = filp->private_data;
	int error, index;

	if (is_cow_mapping(vma->vm_flags))
		return -EINVAL;
	tutti_delay(TUTTI_DELAY_mmap);
	if (!drm_dev_enter(df->minor->dev, &index))
		return -ENODEV;
	if (vma->vm_pgoff >= DRM_TUTTI_MMAP_BASE >> PAGE_SHIFT)
		error = tutti_mmap_view(df->driver_priv, vma);
	else
		error = drm_gem_mmap(filp, vma);
	drm_dev_exit(index);
	return error;
}

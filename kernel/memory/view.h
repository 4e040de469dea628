/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_VIEW_H
#define TUTTI_KERNEL_VIEW_H

#include "base/device.h"

/**
 * struct tutti_view - one page of the control window that user space may map.
 *
 * Mapped by fault, so that it can be revoked at any time: by destruction of what it shows,
 * reset, removal. Then there is a page of plain memory in its place, of this view alone.
 */
struct tutti_view {
	struct kref ref;
	struct tutti_device *tdev;
	/** @offset: in the BAR */
	u64 offset;
	/** @file_offset: as user space names it */
	u64 file_offset;
	/** @writable: doorbells are */
	bool writable;
	/** @revoked: shows its dummy page for good; view_sem */
	bool revoked;
	/** @generation: of the device when it was made */
	u64 generation;
	/** @dummy: what it shows when it has been revoked */
	struct page *dummy;
};

struct tutti_view *tutti_view_create(struct tutti_device *tdev, u64 offset, u64 file_offset, bool writable);
void tutti_view_get(struct tutti_view *view);
void tutti_view_put(struct tutti_view *view);
void tutti_view_revoke(struct tutti_view *view);
void tutti_view_revoke_all(struct tutti_device *tdev);
void tutti_view_attach(struct tutti_view *view, struct vm_area_struct *vma);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_CONTEXT_H
#define TUTTI_KERNEL_CONTEXT_H

#include "tutti_bo.h"
#include "tutti_mmu.h"

/** struct tutti_mapping - part of a buffer at an address. */
struct tutti_mapping {
	struct drm_mm_node node;
	struct tutti_bo *bo;
	u32 access;
	/** @dead: leaves are cleared, but the card has not said that it knows */
	bool dead;
};

/** struct tutti_context - an address space. */
struct tutti_context {
	struct kref ref;
	struct tutti_device *tdev;
	u32 asid;
	/** @lock: @mmu, @space, and that the context stays on the card */
	struct mutex lock;
	struct tutti_mmu mmu;
	/** @space: mappings by address, in pages' bytes */
	struct drm_mm space;
	/** @users: queues and RSBs */
	atomic_t users;
	/** @on_card: the card has a reference; objects_lock */
	bool on_card;
	struct list_head link;
};

struct tutti_context *tutti_context_get(struct tutti_file *file, u32 handle);
void tutti_context_put(struct tutti_context *context);
void tutti_context_off_card(struct tutti_context *context);
void tutti_context_post_reset(struct tutti_device *tdev);
void tutti_context_close(struct tutti_file *file);
struct tutti_mapping *tutti_context_find(struct tutti_context *context, u64 address, u64 bytes, u32 access);
int tutti_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_map(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_unmap(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_code_invalidate(struct drm_device *drm, void *data, struct drm_file *df);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_MAPPING_H
#define TUTTI_KERNEL_MAPPING_H

#include "memory/bo.h"
#include "memory/mmu.h"

/** struct tutti_mapping - part of a buffer at an address. */
struct tutti_mapping {
	struct drm_mm_node node;
	struct tutti_bo *bo;
	/** @offset: of its first byte in the buffer */
	u64 offset;
	u32 access;
	/** @stale: its leaves are cleared, but the card has not said that it knows */
	bool stale;
};

/**
 * struct tutti_space - what is mapped at which addresses. Its context's lock protects it.
 * @asid: address space id, by which the firmware knows it
 */
struct tutti_space {
	struct tutti_device *tdev;
	u32 asid;
	struct tutti_mmu mmu;
	/** @mappings: by address, in bytes */
	struct drm_mm mappings;
};

/** tutti_mapping_range_ok() - whole pages that lie in the address space. */
static inline bool tutti_mapping_range_ok(u64 address, u64 bytes)
{
	return bytes && !((address | bytes) & (TUTTI_PAGE_SIZE - 1)) && address < TUTTI_VA_END &&
	       bytes <= TUTTI_VA_END - address;
}

int tutti_mapping_init(struct tutti_space *space, struct tutti_device *tdev, u32 asid);
void tutti_mapping_fini(struct tutti_space *space);
int tutti_mapping_create(struct tutti_space *space, struct tutti_bo *bo, const struct drm_tutti_map *args);
int tutti_mapping_destroy(struct tutti_space *space, u64 address, u64 bytes);
bool tutti_mapping_any(struct tutti_space *space, u64 address, u64 bytes);
struct tutti_mapping *tutti_mapping_find(struct tutti_space *space, u64 address, u64 bytes, u32 access);

#endif

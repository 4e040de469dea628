/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Sv48 page tables the card walks (include/tutti/mmu.h). Callers serialise. */
#ifndef TUTTI_KERNEL_MMU_H
#define TUTTI_KERNEL_MMU_H

#include <linux/types.h>

struct device;

/** struct tutti_pagetable - one page table; @child below it, NULL in the lowest level. */
struct tutti_pagetable {
	u64 *entry;
	dma_addr_t bus;
	struct tutti_pagetable **child;
};

/** struct tutti_mmu - an address space. */
struct tutti_mmu {
	struct device *dev;
	struct tutti_pagetable *root;
};

int tutti_mmu_init(struct tutti_mmu *mmu, struct device *dev);
void tutti_mmu_fini(struct tutti_mmu *mmu);
u64 tutti_mmu_root(const struct tutti_mmu *mmu);
int tutti_mmu_map(struct tutti_mmu *mmu, u64 va, u64 bus, u64 bytes, u64 flags);
int tutti_mmu_unmap(struct tutti_mmu *mmu, u64 va, u64 bytes);

#endif

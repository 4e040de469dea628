/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Sv48 page tables the card walks (include/tutti/mmu.h). Callers serialise. */
#ifndef TUTTI_KERNEL_MMU_H
#define TUTTI_KERNEL_MMU_H

#include <linux/types.h>

struct device;

/**
 * struct tutti_pagetable - one page table.
 * @child: the tables below it; NULL in the lowest level
 * @used: entries that are not zero
 * @next: in tutti_mmu.unlinked or .kept
 */
struct tutti_pagetable {
	u64 *entry;
	dma_addr_t bus;
	struct tutti_pagetable **child;
	u32 used;
	struct tutti_pagetable *next;
};

/**
 * struct tutti_mmu - an address space.
 * @unlinked: tables that were found empty, since the last tutti_mmu_reap() or tutti_mmu_keep()
 * @kept: tables that were unlinked, but the card has not said that it knows
 * @tables: how many there are, unlinked ones too
 */
struct tutti_mmu {
	struct device *dev;
	struct tutti_pagetable *root, *unlinked, *kept;
	u32 tables;
};

int tutti_mmu_init(struct tutti_mmu *mmu, struct device *dev);
void tutti_mmu_fini(struct tutti_mmu *mmu);
u64 tutti_mmu_root(const struct tutti_mmu *mmu);
int tutti_mmu_map(struct tutti_mmu *mmu, u64 va, u64 bus, u64 bytes, u64 flags);
int tutti_mmu_unmap(struct tutti_mmu *mmu, u64 va, u64 bytes);
void tutti_mmu_reap(struct tutti_mmu *mmu);
void tutti_mmu_keep(struct tutti_mmu *mmu);

#endif

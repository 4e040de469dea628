// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The card may walk while the driver changes tables, so an entry changes by one 64-bit store and a table is zero before
 * it is linked. A table that has become empty is unlinked at once, and freed when the card has said that it has forgotten
 * its translations: a walk in progress could still be in it, as it could still reach the memory that was mapped.
 */
#include <linux/dma-mapping.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "memory/mmu.h"
#include "tutti/mmu.h"

#define LEVEL_BYTES(level) (1ull << (12 + 9 * (level)))
#define LARGEST_LEAF 1u /* 2 MiB */

static void tutti_mmu_table_free(struct tutti_mmu *mmu, struct tutti_pagetable *table)
{
	unsigned int i;

	if (!table)
		return;
	for (i = 0; table->child && i < TUTTI_PTES; i++)
		tutti_mmu_table_free(mmu, table->child[i]);
	if (table->entry)
		dma_free_coherent(mmu->dev, TUTTI_PAGE_SIZE, table->entry, table->bus);
	kfree(table->child);
	kfree(table);
	WRITE_ONCE(mmu->tables, mmu->tables - 1); /* debugfs looks at any time */
}

static struct tutti_pagetable *tutti_mmu_table_alloc(struct tutti_mmu *mmu, unsigned int level)
{
	struct tutti_pagetable *table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);

	if (!table)
		return NULL;
	WRITE_ONCE(mmu->tables, mmu->tables + 1);
	table->entry = dma_alloc_coherent(mmu->dev, TUTTI_PAGE_SIZE, &table->bus, GFP_KERNEL_ACCOUNT);
	if (level)
		table->child = kcalloc(TUTTI_PTES, sizeof(*table->child), GFP_KERNEL_ACCOUNT);
	if (!table->entry || (level && !table->child)) {
		tutti_mmu_table_free(mmu, table);
		return NULL;
	}
	return table;
}

int tutti_mmu_init(struct tutti_mmu *mmu, struct device *dev)
{
	mmu->dev = dev;
	mmu->root = tutti_mmu_table_alloc(mmu, TUTTI_MMU_LEVELS - 1);
	return mmu->root ? 0 : -ENOMEM;
}

static void tutti_mmu_free_list(struct tutti_mmu *mmu, struct tutti_pagetable **list)
{
	struct tutti_pagetable *table;

	while ((table = *list)) {
		*list = table->next;
		tutti_mmu_table_free(mmu, table);
	}
}

void tutti_mmu_fini(struct tutti_mmu *mmu)
{
	tutti_mmu_free_list(mmu, &mmu->unlinked);
	tutti_mmu_free_list(mmu, &mmu->kept);
	tutti_mmu_table_free(mmu, mmu->root);
	mmu->root = NULL;
}

/** tutti_mmu_reap() - the card has forgotten what tutti_mmu_unmap() took away: empty tables are freed. */
void tutti_mmu_reap(struct tutti_mmu *mmu)
{
	tutti_mmu_free_list(mmu, &mmu->unlinked);
}

/** tutti_mmu_keep() - it has not said so: they stay as long as the address space. */
void tutti_mmu_keep(struct tutti_mmu *mmu)
{
	struct tutti_pagetable *table;

	while ((table = mmu->unlinked)) {
		mmu->unlinked = table->next;
		table->next = mmu->kept;
		mmu->kept = table;
	}
}

/* All changes of entries: counts those in use. */
static void tutti_mmu_set(struct tutti_pagetable *table, unsigned int i, u64 pte)
{
	table->used += !!pte - !!table->entry[i];
	WRITE_ONCE(table->entry[i], pte);
}

u64 tutti_mmu_root(const struct tutti_mmu *mmu)
{
	return TUTTI_BUS_HOST | mmu->root->bus;
}

/* Table of @va at @level, made on the way if @make. */
static struct tutti_pagetable *tutti_mmu_table_at(struct tutti_mmu *mmu, u64 va, unsigned int level, bool make)
{
	struct tutti_pagetable *table = mmu->root;
	unsigned int l;

	for (l = TUTTI_MMU_LEVELS - 1; l > level; l--) {
		unsigned int i = tutti_va_index(va, l);

		if (!table->child[i]) {
			struct tutti_pagetable *below = make ? tutti_mmu_table_alloc(mmu, l - 1) : NULL;

			if (!below)
				return NULL;
			table->child[i] = below;
			dma_wmb();
			tutti_mmu_set(table, i, tutti_pte(TUTTI_BUS_HOST | below->bus, TUTTI_PTE_V));
		}
		table = table->child[i];
	}
	return table;
}

/* The lowest table on the way to @va: below its entry there is no other, so that a step may be as long as the entry. */
static struct tutti_pagetable *tutti_mmu_lowest(struct tutti_mmu *mmu, u64 va, unsigned int *level)
{
	struct tutti_pagetable *table = mmu->root;

	for (*level = TUTTI_MMU_LEVELS - 1; *level && table->child[tutti_va_index(va, *level)]; (*level)--)
		table = table->child[tutti_va_index(va, *level)];
	return table;
}

/* A large leaf stands only where no table is. */
static unsigned int tutti_mmu_leaf_level(struct tutti_mmu *mmu, u64 va, u64 bus, u64 bytes)
{
	unsigned int level = LARGEST_LEAF;

	if (((va | bus) & (LEVEL_BYTES(level) - 1)) || bytes < LEVEL_BYTES(level))
		return 0;
	return tutti_mmu_table_at(mmu, va, 0, false) ? 0 : level;
}

/*
 * tutti_mmu_map() - enter leaves for a range that nothing is mapped in.
 * @flags: TUTTI_PTE_R, _W, _X
 *
 * Return: 0 or -ENOMEM; then the caller unmaps the range.
 */
int tutti_mmu_map(struct tutti_mmu *mmu, u64 va, u64 bus, u64 bytes, u64 flags)
{
	flags |= TUTTI_PTE_V | TUTTI_PTE_U | TUTTI_PTE_A;
	if (flags & TUTTI_PTE_W)
		flags |= TUTTI_PTE_D;
	while (bytes) {
		unsigned int level = tutti_mmu_leaf_level(mmu, va, bus, bytes);
		struct tutti_pagetable *table = tutti_mmu_table_at(mmu, va, level, true);

		if (!table)
			return -ENOMEM;
		tutti_mmu_set(table, tutti_va_index(va, level), tutti_pte(bus, flags));
		va += LEVEL_BYTES(level);
		bus += LEVEL_BYTES(level);
		bytes -= LEVEL_BYTES(level);
		cond_resched();
	}
	dma_wmb();
	return 0;
}

/* Smaller leaves in the place of a large one, by one store: a walk sees either. */
static int tutti_mmu_split_leaf(struct tutti_mmu *mmu, u64 va)
{
	struct tutti_pagetable *table = tutti_mmu_table_at(mmu, va, LARGEST_LEAF, false), *below;
	unsigned int i = tutti_va_index(va, LARGEST_LEAF), j;
	u64 pte;

	if (!table || table->child[i] || !table->entry[i])
		return 0;
	pte = table->entry[i];
	below = tutti_mmu_table_alloc(mmu, 0);
	if (!below)
		return -ENOMEM;
	for (j = 0; j < TUTTI_PTES; j++)
		tutti_mmu_set(below, j, pte + (tutti_pte((u64)j << 12, 0)));
	table->child[i] = below;
	dma_wmb();
	tutti_mmu_set(table, i, tutti_pte(TUTTI_BUS_HOST | below->bus, TUTTI_PTE_V));
	return 0;
}

/* The tables on the way to @va that are empty, from the lowest up; the root stays. */
static void tutti_mmu_unlink_empty(struct tutti_mmu *mmu, u64 va)
{
	unsigned int level;

	for (level = 0; level < TUTTI_MMU_LEVELS - 1; level++) {
		struct tutti_pagetable *table = tutti_mmu_table_at(mmu, va, level, false), *above;

		if (!table)
			continue;
		if (table->used)
			return;
		above = tutti_mmu_table_at(mmu, va, level + 1, false);
		tutti_mmu_set(above, tutti_va_index(va, level + 1), 0);
		above->child[tutti_va_index(va, level + 1)] = NULL;
		table->next = mmu->unlinked;
		mmu->unlinked = table;
	}
}

/**
 * tutti_mmu_unmap() - clear the leaves of a range, mapped or not.
 * @mmu: address space
 * @va: start, in whole pages
 * @bytes: size, in whole pages
 *
 * Return: 0, or -ENOMEM with nothing changed: a large leaf at an end could not be split.
 */
int tutti_mmu_unmap(struct tutti_mmu *mmu, u64 va, u64 bytes)
{
	u64 end = va + bytes, large = LEVEL_BYTES(LARGEST_LEAF) - 1;
	int error = 0;

	if (va & large)
		error = tutti_mmu_split_leaf(mmu, va);
	if (!error && (end & large))
		error = tutti_mmu_split_leaf(mmu, end);
	while (!error && va < end) {
		unsigned int level;
		struct tutti_pagetable *table = tutti_mmu_lowest(mmu, va, &level);

		if (level <= LARGEST_LEAF)
			tutti_mmu_set(table, tutti_va_index(va, level), 0);
		if (!table->used)
			tutti_mmu_unlink_empty(mmu, va);
		va = (va | (LEVEL_BYTES(level) - 1)) + 1;
		cond_resched();
	}
	dma_wmb();
	return error;
}

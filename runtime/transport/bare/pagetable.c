// SPDX-License-Identifier: MIT
/*
 * Sv48 page tables as the card reads them. The card may walk the tables while the
 * host changes them, so every entry is changed by one 64-bit store, and a table is
 * filled before it is linked. Tables are never freed, because a walk in progress
 * could still use them.
 */
#define _GNU_SOURCE
#include "transport/bare/pagetable.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "tutti/barrier.h"

#define LEVEL_BYTES(level) (1ull << (12 + 9 * (level)))
#define LARGEST_LEAF	   2u /* 1 GiB */

int pagetable_init(struct pagetable *pagetable, size_t tables)
{
	void *pool = mmap(NULL, tables * TUTTI_PAGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pool == MAP_FAILED)
		return -ENOMEM;
	pagetable_init_at(pagetable, pool, (uint64_t)(uintptr_t)pool, tables);
	pagetable->owned = true;
	return 0;
}

void pagetable_init_at(struct pagetable *pagetable, void *pool, uint64_t bus, size_t tables)
{
	*pagetable = (struct pagetable){.pool = pool, .bus = bus, .tables = tables, .used = 1};
}

void pagetable_fini(struct pagetable *pagetable)
{
	if (pagetable->pool && pagetable->owned)
		munmap(pagetable->pool, pagetable->tables * TUTTI_PAGE_SIZE);
	pagetable->pool = NULL;
}

static uint64_t table_bus(const struct pagetable *pagetable, const uint64_t *table)
{
	return TUTTI_BUS_HOST | (pagetable->bus + (uint64_t)((uintptr_t)table - (uintptr_t)pagetable->pool));
}

uint64_t pagetable_root(const struct pagetable *pagetable)
{
	return table_bus(pagetable, pagetable->pool[0]);
}

static bool is_leaf(uint64_t pte)
{
	return pte & TUTTI_PTE_LEAF;
}

static uint64_t *pte_table(const struct pagetable *pagetable, uint64_t pte)
{
	return (uint64_t *)((uint8_t *)pagetable->pool + ((tutti_pte_bus(pte) & ~TUTTI_BUS_HOST) - pagetable->bus));
}

/* The table below @pte. If there is none it is created; a leaf is split into smaller leaves. */
static uint64_t *table_below(struct pagetable *pagetable, uint64_t *pte, unsigned level)
{
	uint64_t old = *pte, *table;

	if ((old & TUTTI_PTE_V) && !is_leaf(old))
		return pte_table(pagetable, old);
	if (pagetable->used == pagetable->tables)
		return NULL;
	table = pagetable->pool[pagetable->used++];
	if (old & TUTTI_PTE_V) {
		uint64_t bus = tutti_pte_bus(old), flags = old & 0x3ff;

		for (unsigned i = 0; i < TUTTI_PTES; i++)
			table[i] = tutti_pte(bus + i * LEVEL_BYTES(level - 1), flags);
	}
	tutti_store_release(pte, tutti_pte(table_bus(pagetable, table), TUTTI_PTE_V));
	return table;
}

uint64_t pagetable_walk(const struct pagetable *pagetable, uint64_t va, unsigned *level)
{
	const uint64_t *table = pagetable->pool[0];

	for (unsigned l = TUTTI_MMU_LEVELS; l-- > 0;) {
		uint64_t pte = table[tutti_va_index(va, l)];

		if (level)
			*level = l;
		if (!(pte & TUTTI_PTE_V))
			return 0;
		if (is_leaf(pte))
			return pte;
		table = pte_table(pagetable, pte);
	}
	return 0;
}

/* The entry for @va at @level; creates the tables above it that are missing. */
static uint64_t *entry_at(struct pagetable *pagetable, uint64_t va, unsigned level)
{
	uint64_t *table = pagetable->pool[0];

	for (unsigned l = TUTTI_MMU_LEVELS - 1; l > level; l--) {
		table = table_below(pagetable, &table[tutti_va_index(va, l)], l);
		if (!table)
			return NULL;
	}
	return &table[tutti_va_index(va, level)];
}

static bool range_ok(uint64_t va, uint64_t bytes)
{
	return bytes && !((va | bytes) & (TUTTI_PAGE_SIZE - 1)) && va < TUTTI_VA_END &&
	       bytes <= TUTTI_VA_END - va;
}

static bool anything_mapped(const struct pagetable *pagetable, uint64_t va, uint64_t bytes)
{
	uint64_t end = va + bytes;

	while (va < end) {
		unsigned level;

		if (pagetable_walk(pagetable, va, &level))
			return true;
		va = (va | (LEVEL_BYTES(level) - 1)) + 1;
	}
	return false;
}

/* Level of the largest leaf possible at @va. A table that exists already is not replaced by a leaf. */
static unsigned leaf_level(struct pagetable *pagetable, uint64_t va, uint64_t bus, uint64_t bytes)
{
	unsigned hole, level = LARGEST_LEAF;

	pagetable_walk(pagetable, va, &hole);
	while (level &&
	       (level > hole || ((va | bus) & (LEVEL_BYTES(level) - 1)) || bytes < LEVEL_BYTES(level)))
		level--;
	return level;
}

int pagetable_map(struct pagetable *pagetable, uint64_t va, uint64_t bus, uint64_t bytes, uint64_t flags)
{
	uint64_t done = 0;

	if (!range_ok(va, bytes) || (bus & (TUTTI_PAGE_SIZE - 1)) || !(flags & TUTTI_PTE_R))
		return -EINVAL;
	if (anything_mapped(pagetable, va, bytes))
		return -EEXIST;
	flags = (flags & TUTTI_PTE_LEAF) | TUTTI_PTE_V | TUTTI_PTE_U | TUTTI_PTE_A;
	if (flags & TUTTI_PTE_W)
		flags |= TUTTI_PTE_D;
	while (done < bytes) {
		unsigned level = leaf_level(pagetable, va + done, bus + done, bytes - done);
		uint64_t *pte = entry_at(pagetable, va + done, level);

		if (!pte) {
			if (done)
				pagetable_unmap(pagetable, va, done);
			return -ENOMEM;
		}
		tutti_store_release(pte, tutti_pte(bus + done, flags));
		done += LEVEL_BYTES(level);
	}
	return 0;
}

int pagetable_unmap(struct pagetable *pagetable, uint64_t va, uint64_t bytes)
{
	uint64_t end = va + bytes;

	if (!range_ok(va, bytes))
		return -EINVAL;
	while (va < end) {
		unsigned level;
		uint64_t size, *pte;

		if (!pagetable_walk(pagetable, va, &level)) {
			va = (va | (LEVEL_BYTES(level) - 1)) + 1;
			continue;
		}
		size = LEVEL_BYTES(level);
		while ((va & (size - 1)) || end - va < size)
			size = LEVEL_BYTES(--level);
		pte = entry_at(pagetable, va, level);
		if (!pte)
			return -ENOMEM;
		tutti_store_release(pte, 0);
		va += size;
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_PAGETABLE_H
#define TUTTI_PAGETABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "tutti/mmu.h"

/**
 * struct pagetable - Sv48 tables in host memory.
 * @pool: all tables, one page each; table 0 is the root; the card may read all of it
 * @bus: bus address of the pool, without TUTTI_BUS_HOST
 * @owned: the pool was allocated by pagetable_init()
 * @tables: capacity of the pool
 * @used: number of tables in use; a table that has been linked is never freed
 */
struct pagetable {
	uint64_t (*pool)[TUTTI_PTES];
	uint64_t bus;
	bool owned;
	size_t tables;
	size_t used;
};

/** pagetable_init() - empty tables in memory of their own, whose bus address is its pointer. 0 or -ENOMEM. */
int pagetable_init(struct pagetable *pagetable, size_t tables);
/** pagetable_init_at() - empty tables in zeroed memory that the caller keeps, which the card sees at @bus. */
void pagetable_init_at(struct pagetable *pagetable, void *pool, uint64_t bus, size_t tables);
void pagetable_fini(struct pagetable *pagetable);
/** pagetable_root() - bus address of the root table. */
uint64_t pagetable_root(const struct pagetable *pagetable);
/**
 * pagetable_map() - map @bytes at @va to @bus, all multiples of a page, by the largest leaves that fit.
 * @flags: TUTTI_PTE_R, _W, _X
 * Return: 0, -EINVAL, -EEXIST if a page is mapped already, -ENOMEM; nothing is mapped on error.
 */
int pagetable_map(struct pagetable *pagetable, uint64_t va, uint64_t bus, uint64_t bytes, uint64_t flags);
/** pagetable_unmap() - unmap a range; unmapped pages are skipped, larger leaves split. 0, -EINVAL or -ENOMEM. */
int pagetable_unmap(struct pagetable *pagetable, uint64_t va, uint64_t bytes);
/** pagetable_walk() - the leaf that maps @va, or 0 if there is none; @level receives its level. */
uint64_t pagetable_walk(const struct pagetable *pagetable, uint64_t va, unsigned *level);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Address spaces: from virtual addresses to pointers
 *
 * All of it may be called by any thread.
 */
#ifndef TUTTI_EMULATOR_MEMORY_MMU_H
#define TUTTI_EMULATOR_MEMORY_MMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tutti_card;

/** struct mmu_fault - why a translation was refused. */
struct mmu_fault {
	uint8_t cause; /* TUTTI_CAUSE_* */
	uint64_t address;
};

/**
 * mmu_translate() - pointer to @va of address space @asid.
 * @access: TUTTI_ACCESS_*
 * @extent: if not NULL, gets how many bytes from @va on are contiguous in emulator memory
 *	with the same permissions (whole pages merged, up to a cap of 1 GiB)
 * Return: NULL and @fault filled if refused. Thread-safe.
 */
void *mmu_translate(struct tutti_card *card, uint32_t asid, uint64_t va, unsigned access, uint64_t *extent,
		    struct mmu_fault *fault);
/** mmu_leaf() - permissions (TUTTI_PTE_*) of the page that holds @va, 0 if none. */
uint64_t mmu_leaf(struct tutti_card *card, uint32_t asid, uint64_t va);
/** mmu_copy_in() / mmu_copy_out() - whole copy or fault; crosses pages. Return: 0 or -EFAULT. */
int mmu_copy_in(struct tutti_card *card, uint32_t asid, void *to, uint64_t va, size_t bytes,
		struct mmu_fault *fault);
int mmu_copy_out(struct tutti_card *card, uint32_t asid, uint64_t va, const void *from, size_t bytes,
		 struct mmu_fault *fault);
int mmu_create(struct tutti_card *card);
void mmu_destroy(struct tutti_card *card);
void mmu_reset(struct tutti_card *card);
void mmu_context(struct tutti_card *card, uint32_t asid, uint64_t root);
/** mmu_invalidate() - forget all cached translations. Any thread. */
void mmu_invalidate(struct tutti_card *card);
/** mmu_page() - like mmu_translate, for accesses inside one page; @host: it lies in host memory. */
void *mmu_page(struct tutti_card *card, uint32_t asid, uint64_t va, unsigned access, bool *host,
	       struct mmu_fault *fault);
/** mmu_generation() - changes with every mmu_invalidate(): what was translated before must be translated again. */
uint32_t mmu_generation(const struct tutti_card *card);
int mmu_host_add(struct tutti_card *card, void *start, size_t bytes);
void mmu_host_remove(struct tutti_card *card, void *start);
/** card_context_print() - print ring address of @asid, 0 = none. */
uint64_t card_context_print(struct tutti_card *card, uint32_t asid);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: The MMU of the card, which turns virtual addresses into pointers of the emulator
 *
 * Any thread may call these functions.
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
 * mmu_translate() - find the memory at @va of address space @asid.
 * @access: TUTTI_ACCESS_*
 * @extent: if not NULL, gets the number of bytes from @va on that are contiguous in emulator memory and have the
 *	same permissions; neighbouring pages are merged, up to 1 GiB
 * Return: a pointer, or NULL if the access is refused; @fault then says why.
 */
void *mmu_translate(struct tutti_card *card, uint32_t asid, uint64_t va, unsigned access, uint64_t *extent,
		    struct mmu_fault *fault);
/** struct mmu_span - pages that are contiguous in emulator memory and have the same @permissions (TUTTI_PTE_*). */
struct mmu_span {
	uint64_t first, bytes, permissions;
	uint8_t *host;
};

/**
 * mmu_span() - find the pages around @va that are alike.
 * They end with the 2 MiB block of addresses that holds @va, so that this takes a bounded time.
 * Return: false if the @access is refused; @fault then says why.
 */
bool mmu_span(struct tutti_card *card, uint32_t asid, uint64_t va, unsigned access, struct mmu_span *span,
	      struct mmu_fault *fault);
/** mmu_copy_in(), mmu_copy_out() - copy all @bytes, over page boundaries, or nothing. Return: 0 or -EFAULT. */
int mmu_copy_in(struct tutti_card *card, uint32_t asid, void *to, uint64_t va, size_t bytes,
		struct mmu_fault *fault);
int mmu_copy_out(struct tutti_card *card, uint32_t asid, uint64_t va, const void *from, size_t bytes,
		 struct mmu_fault *fault);
int mmu_create(struct tutti_card *card);
void mmu_destroy(struct tutti_card *card);
void mmu_reset(struct tutti_card *card);
void mmu_context(struct tutti_card *card, uint32_t asid, uint64_t root);
/** mmu_invalidate() - forget all cached translations. */
void mmu_invalidate(struct tutti_card *card);
/** mmu_page() - like mmu_translate(), for an access inside one page. @host tells if that lies in host memory. */
void *mmu_page(struct tutti_card *card, uint32_t asid, uint64_t va, unsigned access, bool *host,
	       struct mmu_fault *fault);
/** mmu_generation() - a number that mmu_invalidate() changes; older translations are no longer valid then. */
uint32_t mmu_generation(const struct tutti_card *card);
int mmu_host_add(struct tutti_card *card, void *start, size_t bytes);
void mmu_host_remove(struct tutti_card *card, void *start);
/** card_context_print() - address of the print ring of context @asid; 0 if it has none. */
uint64_t card_context_print(struct tutti_card *card, uint32_t asid);

#endif

// SPDX-License-Identifier: MIT
/* The service PRINT puts text into the context's print ring, as a whole or not at all; then it is counted as lost. */
#include <string.h>

#include "emulator/memory/mmu.h"
#include "emulator/waves/print.h"
#include "tutti/message.h"

#define PRINT_MAX 4096u

/* Reserve @bytes. Return: their position in the ring, or ~0 if it has no room. */
static uint64_t reserve(struct tutti_print_ring *ring, uint64_t bytes, uint64_t size)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);

	do {
		if (head + bytes - tutti_load_acquire(&ring->tail) > size) {
			__atomic_fetch_add(&ring->lost, bytes, __ATOMIC_RELAXED);
			return ~0ull;
		}
	} while (!__atomic_compare_exchange_n(&ring->head, &head, head + bytes, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	return head;
}

int64_t print_text(struct hart *hart, uint64_t text, uint64_t bytes)
{
	struct tutti_card *card = hart->array->card;
	uint64_t va = card_context_print(card, hart->asid), extent, size, at, first;
	struct tutti_print_ring *ring;
	struct mmu_fault fault;
	char copy[PRINT_MAX];

	if (bytes > PRINT_MAX || !hart_copy_in(hart, copy, text, bytes, &fault))
		return -TUTTI_EINVAL;
	if (!va || va & 63)
		return -TUTTI_ENOENT;
	ring = mmu_translate(card, hart->asid, va, TUTTI_ACCESS_WRITE, &extent, &fault);
	if (!ring || extent < sizeof(*ring))
		return -TUTTI_EINVAL;
	size = ring->bytes; /* the host can change it, so page tables check every access as well */
	if (!size || size & (size - 1) || size < bytes)
		return -TUTTI_EINVAL;
	at = reserve(ring, bytes, size);
	if (at == ~0ull)
		return -TUTTI_ENOSPC;
	first = size - (at & (size - 1));
	if (first > bytes)
		first = bytes;
	va += sizeof(*ring);
	mmu_copy_out(card, hart->asid, va + (at & (size - 1)), copy, first, &fault);
	mmu_copy_out(card, hart->asid, va, copy + first, bytes - first, &fault);
	__atomic_fetch_add(&ring->ready, bytes, __ATOMIC_RELEASE);
	return 0;
}

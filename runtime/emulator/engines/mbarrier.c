// SPDX-License-Identifier: MIT
/* How bytes that arrive count on an mbarrier (tensor.h of the contract, spec TMA-22). */
#include "emulator/engines/mover_parts.h"

#define COUNT_MASK TUTTI_MBARRIER_ARRIVALS_MAX
#define TX_MASK ((1ull << TUTTI_MBARRIER_TX_BITS) - 1)

/* Return: the word of the mbarrier after @bytes have arrived. */
static uint64_t completed(uint64_t word, uint64_t bytes)
{
	uint64_t tx = word >> TUTTI_MBARRIER_TX_SHIFT & TX_MASK;

	word &= ~(TX_MASK << TUTTI_MBARRIER_TX_SHIFT);
	tx = (tx - bytes) & TX_MASK;
	if (!tx && !(word & COUNT_MASK)) {
		word ^= 1ull << TUTTI_MBARRIER_PHASE_SHIFT;
		word |= word >> TUTTI_MBARRIER_EXPECTED_SHIFT & COUNT_MASK;
	}
	return word | tx << TUTTI_MBARRIER_TX_SHIFT;
}

void mbarrier_complete(uint64_t *barrier, uint64_t bytes)
{
	uint64_t word = __atomic_load_n(barrier, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(barrier, &word, completed(word, bytes), true, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		;
}

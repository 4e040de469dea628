// SPDX-License-Identifier: MIT
/* Hardware counters: the driving thread counts without atomics, other threads with them; the host sees the sum. */
#include "emulator/base/counters.h"

#include "emulator/base/state.h"

void card_count(struct tutti_card *card, enum tutti_counter counter, uint64_t n)
{
	__atomic_fetch_add(&card->shared_counts[counter], n, __ATOMIC_RELAXED);
}

void card_publish(struct tutti_card *card)
{
	unsigned i;

	card->counts[TUTTI_COUNTER_CORE_INSTRUCTIONS] = card->ops->instructions(card->core);
	for (i = TUTTI_COUNTER_CORE_INSTRUCTIONS; i < TUTTI_COUNTERS; i++)
		tutti_store_relaxed(&card->counters[i],
				    card->counts[i] + tutti_load_relaxed(&card->shared_counts[i]));
}

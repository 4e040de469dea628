// SPDX-License-Identifier: MIT
/*
 * The trace ring (trace.h of the contract). A full ring drops new records, so that those the host has not read stay.
 * When it is half full, the driving thread is told to return from time to time, so that a host thread that drives the
 * card itself gets to read the ring.
 */
#include <string.h>

#include "emulator/base/clock.h"
#include "emulator/base/state.h"
#include "emulator/base/trace.h"

const uint32_t *card_trace_kinds(const struct tutti_card *card)
{
	return &card->control->trace_enable;
}

static void put(struct tutti_card *card, const struct tutti_trace *record)
{
	uint64_t used = card->trace_tail - tutti_load_acquire(&card->control->trace_head);
	struct tutti_trace *to = &card->trace[card->trace_tail & (card->trace_records - 1)];

	if (used >= card->trace_records) {
		tutti_store_relaxed(&card->status->trace_lost, ++card->trace_lost);
		return;
	}
	*to = *record;
	to->time = card_time(card);
	tutti_store_release(&card->status->trace_tail, ++card->trace_tail);
	if (used + 1 >= card->trace_records / 2 && !(card->trace_tail & (card->trace_records / 16 - 1)))
		__atomic_store_n(&card->trace_half, true, __ATOMIC_RELAXED);
}

void card_trace_record(struct tutti_card *card, const struct tutti_trace *record)
{
	if (likely(!(tutti_load_relaxed(&card->control->trace_enable) >> (record->kind & 31) & 1)))
		return;
	pthread_mutex_lock(&card->trace_lock);
	put(card, record);
	pthread_mutex_unlock(&card->trace_lock);
}

void card_trace(struct tutti_card *card, unsigned kind, unsigned queue, unsigned sm, unsigned slot, uint64_t packet,
		uint32_t cta, uint32_t value)
{
	if (likely(!(tutti_load_relaxed(&card->control->trace_enable) >> (kind & 31) & 1)))
		return;
	card_trace_record(card, &(struct tutti_trace){.kind = (uint16_t)kind, .queue = (uint16_t)queue,
						      .sm = (uint16_t)sm, .slot = (uint16_t)slot,
						      .packet = packet, .cta = cta, .value = value});
}

bool trace_leave(struct tutti_card *card)
{
	return unlikely(__atomic_load_n(&card->trace_half, __ATOMIC_RELAXED)) &&
	       __atomic_exchange_n(&card->trace_half, false, __ATOMIC_RELAXED);
}

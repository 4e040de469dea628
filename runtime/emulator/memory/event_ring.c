// SPDX-License-Identifier: MIT
/* The event ring (softcore.h). The firmware says where it lies, which is checked whenever it changes. */
#include <string.h>

#include "emulator/base/local.h"
#include "emulator/base/state.h"
#include "emulator/memory/event_ring.h"

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* Return: the ring that the firmware has set up, or NULL if it is not sound. Checked only when the setting changes. */
static struct tutti_event *event_ring(struct tutti_card *card)
{
	const struct tutti_engines *page = card->page;
	struct engines *e = &card->engines;

	if (likely(page->event_base == e->event_base && page->event_slots == e->event_slots))
		return e->events;
	e->event_base = page->event_base;
	e->event_slots = page->event_slots;
	e->event_tail = e->event_head = 0;
	e->events = NULL;
	if (power_of_two(e->event_slots))
		e->events = card_local(card, e->event_base, (uint64_t)e->event_slots * sizeof(struct tutti_event), 4);
	return e->events;
}

/* Return: the slot for the next event, or NULL if the ring is full. */
static struct tutti_event *event_slot(struct tutti_card *card)
{
	struct tutti_event *ring = event_ring(card), *slot;

	if (unlikely(!ring))
		return NULL;
	slot = &ring[card->engines.event_tail & (card->engines.event_slots - 1)];
	return slot->word[0] ? NULL : slot;
}

bool engines_room(struct tutti_card *card)
{
	return event_slot(card);
}

bool engines_pending(struct tutti_card *card)
{
	struct tutti_event *ring = event_ring(card);

	return ring && ring[(card->engines.event_tail - 1) & (card->engines.event_slots - 1)].word[0];
}

bool engines_event(struct tutti_card *card, const struct tutti_event *event)
{
	struct tutti_event *slot = event_slot(card);

	if (unlikely(!slot))
		return false;
	memcpy(&slot->word[1], &event->word[1], sizeof(*event) - sizeof(event->word[0]));
	tutti_store_release(&slot->word[0], event->word[0]);
	card->engines.event_tail++;
	return true;
}

bool engines_freed(struct tutti_card *card)
{
	const struct tutti_event *ring = event_ring(card);
	struct engines *e = &card->engines;
	uint32_t head = e->event_head;

	if (!ring)
		return false;
	if (e->event_tail - e->event_head > e->event_slots)
		e->event_head = e->event_tail - e->event_slots; /* those before have been used again */
	while (e->event_head != e->event_tail && !ring[e->event_head & (e->event_slots - 1)].word[0])
		e->event_head++;
	return e->event_head != head;
}

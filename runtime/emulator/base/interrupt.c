// SPDX-License-Identifier: MIT
#include "emulator/base/interrupt.h"

#include "emulator/base/garbage.h"
#include "emulator/base/inject.h"
#include "emulator/base/state.h"

#define LATE_ROUNDS 6u /* most rounds by which an interrupt comes later than what it tells of */

static void deliver(struct tutti_card *card, unsigned vector)
{
	if (card->config.interrupt && !inject_is(card, TUTTI_INJECT_LINK_DOWN))
		card->config.interrupt(card->config.context, vector);
}

static struct late_interrupt *first_late(struct tutti_card *card)
{
	return &card->late[card->late_head % LATE_INTERRUPTS];
}

/* They keep their order. If too many are under way the first one arrives at once. */
static void late_add(struct tutti_card *card, unsigned vector)
{
	if (card->late_tail - card->late_head == LATE_INTERRUPTS)
		deliver(card, card->late[card->late_head++ % LATE_INTERRUPTS].vector);
	card->late[card->late_tail++ % LATE_INTERRUPTS] =
		(struct late_interrupt){ card->round + card_random(card, LATE_ROUNDS + 1), vector };
}

void card_interrupt(struct tutti_card *card, unsigned vector)
{
	if (inject_is(card, TUTTI_INJECT_LOST_INTERRUPT) && inject_take(card, TUTTI_INJECT_LOST_INTERRUPT))
		return;
	if (vector >= card->discovery.msix_vectors || inject_is(card, TUTTI_INJECT_LINK_DOWN))
		return;
	count(card, TUTTI_COUNTER_INTERRUPTS, 1);
	if (card->deterministic)
		late_add(card, vector);
	else
		deliver(card, vector);
}

bool interrupts_arrive(struct tutti_card *card)
{
	uint32_t tail = card->late_tail;

	while (card->late_head != tail && (int32_t)(card->round - first_late(card)->round) >= 0)
		deliver(card, card->late[card->late_head++ % LATE_INTERRUPTS].vector);
	return card->late_head != card->late_tail;
}

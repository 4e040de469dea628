// SPDX-License-Identifier: MIT
#include "emulator/base/interrupt.h"

#include "emulator/base/inject.h"
#include "emulator/base/state.h"

void card_interrupt(struct tutti_card *card, unsigned vector)
{
	if (inject_is(card, TUTTI_INJECT_LOST_INTERRUPT) && inject_take(card, TUTTI_INJECT_LOST_INTERRUPT))
		return;
	if (vector >= card->discovery.msix_vectors || inject_is(card, TUTTI_INJECT_LINK_DOWN))
		return;
	count(card, TUTTI_COUNTER_INTERRUPTS, 1);
	if (card->config.interrupt)
		card->config.interrupt(card->config.context, vector);
}

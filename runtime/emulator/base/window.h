/* SPDX-License-Identifier: MIT */
/** DOC: The layout of the control window, and the discovery data */
#ifndef TUTTI_EMULATOR_BASE_WINDOW_H
#define TUTTI_EMULATOR_BASE_WINDOW_H

#include "emulator/base/config.h"
#include "tutti/contract.h"

#define WINDOW_SHARED_BLOCKS 256u /* the most blocks of shared memory of an SM */

/** window_layout() - derive the discovery data of a card from its configuration. Return: 0 or -EINVAL. */
int window_layout(const struct tutti_card_config *config, struct tutti_discovery *discovery);
/** window_shared_most() - the most blocks of shared memory that one SM can be given, those of others among them (spec TSK-07). */
static inline uint32_t window_shared_most(const struct tutti_discovery *d)
{
	uint64_t all = (uint64_t)d->sms * d->shared_blocks;

	return (uint32_t)(all < WINDOW_SHARED_BLOCKS ? all : WINDOW_SHARED_BLOCKS);
}
/** window_fill() - put the control window into its state after power-on. */
void window_fill(struct tutti_card *card);
/** card_discovery() - the card's own copy of its discovery data, which the host cannot change. */
const struct tutti_discovery *card_discovery(const struct tutti_card *card);
/** card_sm_places() - fill @table, which has an entry for each SM, with the GPC, CPC and TPC it belongs to. */
void card_sm_places(const struct tutti_card *card, struct tutti_sm_place *table);

#endif

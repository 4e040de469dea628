/* SPDX-License-Identifier: MIT */
/** DOC: The control window: layout, discovery data */
#ifndef TUTTI_EMULATOR_BASE_WINDOW_H
#define TUTTI_EMULATOR_BASE_WINDOW_H

#include "emulator/base/config.h"
#include "tutti/contract.h"

/** window_layout() - discovery data of a card of this configuration. Return: 0 or -EINVAL. */
int window_layout(const struct tutti_card_config *config, struct tutti_discovery *discovery);
/** window_fill() - the window as after power-on. */
void window_fill(struct tutti_card *card);
/** card_discovery() - the card's own copy. */
const struct tutti_discovery *card_discovery(const struct tutti_card *card);
/** card_sm_places() - where each SM sits; @table of one entry per SM. */
void card_sm_places(const struct tutti_card *card, struct tutti_sm_place *table);

#endif

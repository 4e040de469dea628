/* SPDX-License-Identifier: MIT */
/** DOC: One round of the card, which gives every part of it a turn */
#ifndef TUTTI_EMULATOR_CARD_ROUND_H
#define TUTTI_EMULATOR_CARD_ROUND_H

#include "emulator/base/state.h"

/** card_round() - let each part of the card work once. Return: true if anything was done. The lock is held. */
bool card_round(struct tutti_card *card);
/** card_power_on() - put control window, local memory and engines into their state after power-on. */
void card_power_on(struct tutti_card *card);

#endif

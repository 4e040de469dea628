/* SPDX-License-Identifier: MIT */
/** DOC: One round of the card */
#ifndef TUTTI_EMULATOR_CARD_ROUND_H
#define TUTTI_EMULATOR_CARD_ROUND_H

#include "emulator/base/state.h"

/** card_round() - one turn of everything. Return: true if anything was done. Caller holds the lock. */
bool card_round(struct tutti_card *card);
/** card_power_on() - window, local memory and engines as after power-on. */
void card_power_on(struct tutti_card *card);

#endif

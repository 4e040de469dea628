/* SPDX-License-Identifier: MIT */
/** DOC: Movers, and the front that tells the firmware of tensor requests */
#ifndef TUTTI_EMULATOR_ENGINES_MOVER_H
#define TUTTI_EMULATOR_ENGINES_MOVER_H

#include "emulator/base/state.h"

int mover_create(struct tutti_card *card);
void mover_destroy(struct tutti_card *card);
void mover_reset(struct tutti_card *card);
/** mover_run() - execute a piece of the mover ring's work. Return: true if something was done. */
bool mover_run(struct tutti_card *card);
/** front_run() - tensor requests of waves into free slots of the request area. Return: true if an event was put. */
bool front_run(struct tutti_card *card);

#endif

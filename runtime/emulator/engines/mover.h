/* SPDX-License-Identifier: MIT */
/** DOC: Movers (copy engines), and the front of the TMAU, which reports tensor requests to the firmware */
#ifndef TUTTI_EMULATOR_ENGINES_MOVER_H
#define TUTTI_EMULATOR_ENGINES_MOVER_H

#include "emulator/base/state.h"

int mover_create(struct tutti_card *card);
void mover_destroy(struct tutti_card *card);
void mover_reset(struct tutti_card *card);
/** mover_run() - do a part of the work in the mover ring. Return: true if something was done. */
bool mover_run(struct tutti_card *card);
/** front_run() - put tensor requests of waves into the request area. Return: true if an event was put. */
bool front_run(struct tutti_card *card);

#endif

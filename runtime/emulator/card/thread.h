/* SPDX-License-Identifier: MIT */
/** DOC: The background thread of a card in fast mode */
#ifndef TUTTI_EMULATOR_CARD_THREAD_H
#define TUTTI_EMULATOR_CARD_THREAD_H

#include "emulator/base/state.h"

int thread_create(struct tutti_card *card);
void thread_destroy(struct tutti_card *card);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: The commands FETCH, WRITE, BLOCK, SCRUB and SIGNAL, which access memory */
#ifndef TUTTI_EMULATOR_ENGINES_FETCH_H
#define TUTTI_EMULATOR_ENGINES_FETCH_H

#include "emulator/base/state.h"

/* Each executes a command whose words are at @w. */
void fetch_fetch(struct tutti_card *card, const uint32_t *w);
void fetch_write(struct tutti_card *card, const uint32_t *w);
void fetch_block(struct tutti_card *card, const uint32_t *w, unsigned values);
void fetch_scrub(struct tutti_card *card, const uint32_t *w);
void fetch_signal(struct tutti_card *card, const uint32_t *w);

#endif

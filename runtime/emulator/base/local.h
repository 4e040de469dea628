/* SPDX-License-Identifier: MIT */
/** DOC: Local memory of the soft core */
#ifndef TUTTI_EMULATOR_BASE_LOCAL_H
#define TUTTI_EMULATOR_BASE_LOCAL_H

#include <stdint.h>

struct tutti_card;

/** card_local() - @bytes of local memory at @address, aligned to @align; NULL if not inside. */
void *card_local(struct tutti_card *card, uint32_t address, uint64_t bytes, uint32_t align);

#endif

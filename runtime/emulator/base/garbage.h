/* SPDX-License-Identifier: MIT */
/** DOC: What memory holds that nobody has written yet, so that software cannot rely on zeros (include/HARDWARE.md) */
#ifndef TUTTI_EMULATOR_BASE_GARBAGE_H
#define TUTTI_EMULATOR_BASE_GARBAGE_H

#include <stddef.h>

struct tutti_card;

/** garbage_fill() - fill @bytes (a multiple of 8) with numbers drawn from the card's seed, other ones each time. */
void garbage_fill(struct tutti_card *card, void *to, size_t bytes);

#endif

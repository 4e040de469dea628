/* SPDX-License-Identifier: MIT */
/** DOC: Chance: what memory holds that nobody has written yet, and how long things take (include/HARDWARE.md) */
#ifndef TUTTI_EMULATOR_BASE_GARBAGE_H
#define TUTTI_EMULATOR_BASE_GARBAGE_H

#include <stddef.h>
#include <stdint.h>

struct tutti_card;

/** card_random() - a number below @n, drawn from the card's seed. Only the driving thread may call it. */
uint32_t card_random(struct tutti_card *card, uint32_t n);
/** garbage_fill() - fill @bytes (a multiple of 8) with numbers drawn from the card's seed, other ones each time. */
void garbage_fill(struct tutti_card *card, void *to, size_t bytes);

#endif

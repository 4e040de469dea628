/* SPDX-License-Identifier: MIT */
/** DOC: Time */
#ifndef TUTTI_EMULATOR_BASE_CLOCK_H
#define TUTTI_EMULATOR_BASE_CLOCK_H

#include <stdint.h>

struct tutti_card;

/** card_clock() - the host's monotonic clock, ns. */
uint64_t card_clock(void);
/** card_time() - the card's timer now. */
uint64_t card_time(struct tutti_card *card);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: The host's clock and the card's timer */
#ifndef TUTTI_EMULATOR_BASE_CLOCK_H
#define TUTTI_EMULATOR_BASE_CLOCK_H

#include <stdint.h>

struct tutti_card;

/** card_clock() - the host's monotonic clock in ns. */
uint64_t card_clock(void);
/** card_time() - the present value of the card's timer, which is virtual in deterministic mode. */
uint64_t card_time(struct tutti_card *card);

#endif

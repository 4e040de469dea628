/* SPDX-License-Identifier: MIT */
/** DOC: How the soft core is stopped after a crash */
#ifndef TUTTI_EMULATOR_BASE_CRASH_H
#define TUTTI_EMULATOR_BASE_CRASH_H

#include <stdint.h>

struct tutti_card;

/**
 * card_die() - stop the soft core and leave a crash record.
 * @cause: TUTTI_CRASH_*; TUTTI_CRASH_NONE if the firmware has written the record itself
 *
 * This sets card->died, at which card/card.c empties the SMs and tells the host at the end of the round.
 */
void card_die(struct tutti_card *card, uint32_t cause, uint32_t code, uint32_t pc, uint32_t tval, const char *text);

#endif

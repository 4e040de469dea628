/* SPDX-License-Identifier: MIT */
/** DOC: The end of the soft core */
#ifndef TUTTI_EMULATOR_BASE_CRASH_H
#define TUTTI_EMULATOR_BASE_CRASH_H

#include <stdint.h>

struct tutti_card;

/**
 * card_die() - stop the soft core and leave a crash record.
 * @cause: TUTTI_CRASH_*; TUTTI_CRASH_NONE: the firmware has written the record itself
 *
 * SMs are emptied and the host is told as soon as the round comes back to the card (card->died).
 */
void card_die(struct tutti_card *card, uint32_t cause, uint32_t code, uint32_t pc, uint32_t tval, const char *text);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: Sleep until the card has work, and wake the sleepers */
#ifndef TUTTI_EMULATOR_BASE_WAKE_H
#define TUTTI_EMULATOR_BASE_WAKE_H

#include <stdint.h>

struct tutti_card;

/** card_wake() - tell the driving thread that a worker has something for it (completions, faults). */
void card_wake(struct tutti_card *card);
/** wake_wait() - sleep until woken or for @ns. @seq is card->wake_seq as it was before the caller looked for work. */
void wake_wait(struct tutti_card *card, uint32_t seq, uint64_t ns);
/** card_lock() - take card->lock; the background thread makes way for it even if the card never idles. */
void card_lock(struct tutti_card *card);

#endif

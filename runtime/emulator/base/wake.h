/* SPDX-License-Identifier: MIT */
/** DOC: Waiting for the card, and waking who waits */
#ifndef TUTTI_EMULATOR_BASE_WAKE_H
#define TUTTI_EMULATOR_BASE_WAKE_H

#include <stdint.h>

struct tutti_card;

/** card_wake() - a worker has something for the driving thread (completions, faults). */
void card_wake(struct tutti_card *card);
/** wake_wait() - until woken or @ns have passed. @seq: card->wake_seq seen before the caller looked for work */
void wake_wait(struct tutti_card *card, uint32_t seq, uint64_t ns);

#endif

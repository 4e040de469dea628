/* SPDX-License-Identifier: MIT */
/** DOC: Performance counters of the hardware */
#ifndef TUTTI_EMULATOR_BASE_COUNTERS_H
#define TUTTI_EMULATOR_BASE_COUNTERS_H

#include <stdint.h>

#include "tutti/counter.h"

struct tutti_card;

/** card_count() - add to a hardware counter. Thread-safe. */
void card_count(struct tutti_card *card, enum tutti_counter counter, uint64_t n);
/** card_publish() - copy the hardware's counters into the control window, where the host reads them. */
void card_publish(struct tutti_card *card);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: The trace ring */
#ifndef TUTTI_EMULATOR_BASE_TRACE_H
#define TUTTI_EMULATOR_BASE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "tutti/trace.h"

struct tutti_card;

/** card_trace_record() - append a record of 32 bytes, whose time is filled in, if its kind is enabled. Thread-safe. */
void card_trace_record(struct tutti_card *card, const struct tutti_trace *record);
/** card_trace_kinds() - the word that says which kinds are enabled. */
const uint32_t *card_trace_kinds(const struct tutti_card *card);
/** card_trace() - like card_trace_record(), with the record given by its fields. */
void card_trace(struct tutti_card *card, unsigned kind, unsigned queue, unsigned sm, unsigned slot,
		uint64_t packet, uint32_t cta, uint32_t value);
/** trace_leave() - true if the driving thread should return, so that the host can read a trace ring that fills up. */
bool trace_leave(struct tutti_card *card);

#endif

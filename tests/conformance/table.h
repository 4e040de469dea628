/* SPDX-License-Identifier: MIT */
/* The table of what has been tested: calls, what was wrong with them, and in which state the card was (spec SYS-31). */
#ifndef CONFORMANCE_TABLE_H
#define CONFORMANCE_TABLE_H

#include "calls.h"

/** table_note() - the subtest that has just been @outcome is about this call and this defect or state. */
void table_note(const struct call *call, const char *what, enum outcome outcome);
/** table_note_field() - there is a subtest with a wrong value in these bytes of the call's arguments. */
void table_note_field(const struct call *call, uint32_t at, uint32_t bytes, enum outcome outcome);
/** table_holes() - prints each call that some column for all calls lacks, and each field that no subtest spoils. */
unsigned table_holes(void);
void table_print(void);

#endif

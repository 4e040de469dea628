/* SPDX-License-Identifier: MIT */
/** DOC: Crash record: what is left when the firmware gives up */
#ifndef CRASH_H
#define CRASH_H

#include "core/base.h"

/** struct crash_note - what is being worked on, for the record. */
struct crash_note {
	uint32_t queue; /* ~0 = none */
	uint64_t packet;
};
extern struct crash_note crash_note;

/** crash_panic() - a check failed; @line says which. */
void crash_panic(const char *text, uint32_t line) __attribute__((noreturn));
/** crash_trap() - called by start.S with all registers saved. */
void crash_trap(const uint32_t *x, uint32_t cause, uint32_t pc, uint32_t value) __attribute__((noreturn));

#define CRASH_UNLESS(condition)                            \
	do {                                               \
		if (unlikely(!(condition)))                \
			crash_panic(#condition, __LINE__); \
	} while (0)

#endif

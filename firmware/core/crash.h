/* SPDX-License-Identifier: MIT */
/** DOC: Crash record: what the firmware leaves for the driver to read when it gives up */
#ifndef CRASH_H
#define CRASH_H

#include "core/base.h"

/** struct crash_note - the packet that is being worked on; it goes into the crash record. */
struct crash_note {
	uint32_t queue; /* ~0 if no queue is being worked on */
	uint64_t packet;
};
extern struct crash_note crash_note;

/** crash_init() - clear the crash record, which holds what the firmware that ran before has left, or anything. */
void crash_init(void);
/** crash_panic() - give up because a check failed, which @text and @line identify. */
void crash_panic(const char *text, uint32_t line) __attribute__((noreturn));
/** crash_trap() - give up because of a trap; start.S calls this with all registers saved in @x. */
void crash_trap(const uint32_t *x, uint32_t cause, uint32_t pc, uint32_t value) __attribute__((noreturn));

#define CRASH_UNLESS(condition)                            \
	do {                                               \
		if (unlikely(!(condition)))                \
			crash_panic(#condition, __LINE__); \
	} while (0)

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: The soft core, as everything else sees it */
#ifndef TUTTI_EMULATOR_BASE_CORE_H
#define TUTTI_EMULATOR_BASE_CORE_H

#include <stdbool.h>
#include <stdint.h>

struct tutti_card;
struct core;

/** enum core_stop - why a core came back from run(). */
enum core_stop {
	CORE_IDLE,      /* it waits for an event */
	CORE_PREEMPTED, /* it was interrupted or its slice is over; run() goes on */
	CORE_HALTED,    /* firmware gave up, its crash record is complete */
	CORE_DEAD,      /* it trapped inside its trap handler, or has none */
};

/** struct core_trap - the trap that killed a core, for the crash record. */
struct core_trap {
	uint32_t cause;
	uint32_t epc;
	uint32_t tval;
};

/**
 * struct core_ops - a soft core. The engines know nothing else of it, so that an
 * RTL model can stand in for the emulator.
 * @reset: registers 0, pc = entry; memory is the card's (card->local, ...)
 * @run: until one of enum core_stop; on CORE_DEAD @trap says why
 * @interrupt: make run() return CORE_PREEMPTED soon; any thread
 * @trap: the next instruction traps with this cause
 * @reg: integer register 0..31, or 32 = pc
 * @instructions: executed since reset, exact if counted
 * @count: switch counting on or off
 */
struct core_ops {
	int (*create)(struct tutti_card *card, struct core **core);
	void (*destroy)(struct core *core);
	int (*reset)(struct core *core, uint32_t entry);
	enum core_stop (*run)(struct core *core, struct core_trap *trap);
	void (*interrupt)(struct core *core);
	void (*trap)(struct core *core, uint32_t cause);
	uint32_t (*reg)(struct core *core, unsigned n);
	uint64_t (*instructions)(struct core *core);
	void (*count)(struct core *core, bool on);
};
extern const struct core_ops core_unicorn;

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: The interface of the soft core to the rest of the card */
#ifndef TUTTI_EMULATOR_BASE_CORE_H
#define TUTTI_EMULATOR_BASE_CORE_H

#include <stdbool.h>
#include <stdint.h>

struct tutti_card;
struct core;

/** enum core_stop - why core_ops.run() returned. */
enum core_stop {
	CORE_IDLE,      /* the firmware waits for an event */
	CORE_WAITS,     /* it has not run, because it waits (wfi) for an interrupt that its mie does not enable */
	CORE_PREEMPTED, /* its time slice is over; the next run() continues */
	CORE_HALTED,    /* the firmware gave up; its crash record is complete */
	CORE_DEAD,      /* it has no trap handler, or one that would trap for ever */
};

/** struct core_trap - the trap that killed a core, for the crash record. */
struct core_trap {
	uint32_t cause;
	uint32_t epc;
	uint32_t tval;
};

/**
 * struct core_ops - the operations of a soft core. The engines use nothing else of it, so that an
 * RTL model can take the place of the emulator.
 * @reset: clear all registers and set the pc to @entry; memory is the card's (card->local and so on)
 * @run: execute until one of the reasons of enum core_stop, for 2^20 instructions at most; on CORE_DEAD @trap says why.
 *	It is called only after @reset, and not again once it has returned CORE_HALTED or CORE_DEAD
 * @trap: make the next instruction trap with @cause
 * @reg: read integer register 0 to 31, or the pc as register 32
 * @instructions: number of instructions executed since reset, exact
 * @count: switch counting by function (profile.h) on or off
 * @kind: how it executes the firmware, in words for a person
 */
struct core_ops {
	int (*create)(struct tutti_card *card, struct core **core);
	void (*destroy)(struct core *core);
	int (*reset)(struct core *core, uint32_t entry);
	enum core_stop (*run)(struct core *core, struct core_trap *trap);
	void (*trap)(struct core *core, uint32_t cause);
	uint32_t (*reg)(struct core *core, unsigned n);
	uint64_t (*instructions)(struct core *core);
	void (*count)(struct core *core, bool on);
	const char *(*kind)(const struct core *core);
};
extern const struct core_ops core_cpu;

#endif

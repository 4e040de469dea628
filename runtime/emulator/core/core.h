/* SPDX-License-Identifier: MIT */
/** DOC: Inside of the soft core */
#ifndef TUTTI_EMULATOR_CORE_CORE_H
#define TUTTI_EMULATOR_CORE_CORE_H

#include "emulator/base/state.h"
#include "emulator/cpu/cpu.h"

/**
 * struct core - the soft core of a card.
 * @cpu: NULL until the first reset
 * @halted: the firmware has written TUTTI_REG_HALT in this run
 * @trapped: the handler that the newest trap went to, 0 = none yet; a second one that goes there kills the core
 * @waits: it has executed wfi
 * @injected: mcause + 1 of a trap to take at the beginning of the next run, 0 = none
 * @latched: the time at the newest read of TUTTI_REG_TIME_LO
 * @kind: how it executes the firmware, as tutti info shows it
 */
struct core {
	struct tutti_card *card;
	struct cpu *cpu;
	struct cpu_regs regs;
	bool halted;
	bool waits;
	uint32_t trapped;
	uint32_t injected;
	uint64_t latched;
	const char *kind;
};

/** core_bus - all that the soft core can access except local memory. Its functions get a struct core. */
extern const struct cpu_bus core_bus;
/** core_cost - cycles of instructions on a standard soft core, for profiles. */
extern const struct cpu_cost core_cost;

#endif

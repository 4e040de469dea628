/* SPDX-License-Identifier: MIT */
/** DOC: Atomic instructions */
#ifndef TUTTI_EMULATOR_UNICORN_ATOMIC_H
#define TUTTI_EMULATOR_UNICORN_ATOMIC_H

#include "emulator/unicorn/hart.h"

/** atomic_enter() - this thread is about to run @hart. atomic_ready() - unicorn's atomics are real ones. */
void atomic_enter(struct hart *hart);
/** hart_here() - the hart this thread runs. */
struct hart *hart_here(void);
bool atomic_ready(void);

/* amo.c */
enum {
	AMO_ADD = 0, AMO_SWAP = 1, AMO_LR = 2, AMO_SC = 3, AMO_XOR = 4, AMO_OR = 8, AMO_AND = 12,
	AMO_MIN = 16, AMO_MAX = 20, AMO_MINU = 24, AMO_MAXU = 28
};
uint32_t amo_min_max32(uint32_t *p, uint32_t operand, unsigned op);
uint64_t amo_min_max64(uint64_t *p, uint64_t operand, unsigned op);
/** amo_emulate() - do the atomic instruction @insn at @pc. Return: false = it is none. A fault is in hart->fault. */
bool amo_emulate(struct hart *hart, uint32_t insn, uint64_t pc);

#endif

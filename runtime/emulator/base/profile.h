/* SPDX-License-Identifier: MIT */
/** DOC: Instruction counts by function (spec SYS-13) */
#ifndef TUTTI_EMULATOR_BASE_PROFILE_H
#define TUTTI_EMULATOR_BASE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "emulator/cpu/cpu.h"
#include "tutti/contract.h"

struct tutti_card;

int profile_create(struct tutti_card *card, const struct tutti_image_symbol *symbols, uint32_t n);
void profile_destroy(struct tutti_card *card);
/** profile_count() - let @cpu count, or not any more. A processor that counts must not outlive the profile. */
void profile_count(struct tutti_card *card, struct cpu *cpu, bool on);
/** profile_mark() - note that the firmware has written @value to TUTTI_REG_MARK when it had executed @instructions. */
void profile_mark(struct tutti_card *card, uint32_t value, uint64_t instructions);

/**
 * struct tutti_card_function - instructions of one firmware function, without those of its callees.
 * @cycles: what they would cost on the core that core/cost.c describes
 * @multiplications, @divisions: those among @instructions
 */
struct tutti_card_function {
	const char *name;
	uint32_t address;
	uint64_t calls;
	uint64_t instructions;
	uint64_t cycles;
	uint64_t multiplications, divisions;
};
/**
 * tutti_card_profile() - instruction counts by function (SYS-13), from the image's symbols.
 * Returns the number of functions; fills at most @max of @functions.
 */
size_t tutti_card_profile(struct tutti_card *card, struct tutti_card_function *functions, size_t max);
/** tutti_card_marks() - instruction count at each write to TUTTI_REG_MARK since the last call; see softcore.h. */
size_t tutti_card_marks(struct tutti_card *card, uint64_t (*marks)[2], size_t max);
/** tutti_card_instructions() - all soft-core instructions since reset, exact. */
uint64_t tutti_card_instructions(struct tutti_card *card);

#endif

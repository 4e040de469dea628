// SPDX-License-Identifier: MIT
/* Running translated code: finding it, and going on with the interpreter where there is none. */
#include <errno.h>
#include <stdlib.h>

#include "hash.h"
#include "translation.h"

bool cpu_translation_fits(const struct cpu_translation *translation, const uint8_t *memory, uint64_t bytes)
{
	if (translation->loaded > bytes || translation->loaded_bytes > bytes - translation->loaded)
		return false;
	return cpu_hash(memory + translation->loaded, translation->loaded_bytes) == translation->hash;
}

int cpu_translate(struct cpu *cpu, const struct cpu_translation *translation)
{
	uint32_t *entry_at = NULL;

	if (translation) {
		if (translation->xlen != cpu->xlen)
			return -EINVAL;
		entry_at = calloc(translation->bytes / 2 + 1, sizeof(*entry_at));
		if (!entry_at)
			return -ENOMEM;
		for (uint32_t i = 0; i < translation->entries; i++)
			entry_at[translation->entry[i].offset / 2] = translation->entry[i].function + 1;
	}
	free(cpu->entry_at);
	cpu->entry_at = entry_at;
	cpu->translation = translation;
	return 0;
}

enum cpu_stop cpu_translated(struct cpu *cpu, struct cpu_regs *regs)
{
	const struct cpu_translation *translation = cpu->translation;
	uint64_t out, before = ~cpu->instructions;

	/* What is not translated leaves a function where it was entered, without having executed anything. */
	while (cpu->instructions != before && cpu_translated_room(cpu, regs->pc, cpu->instructions)) {
		before = cpu->instructions;
		out = translation->function[cpu_translated_at(cpu, regs->pc) - 1](cpu, regs->pc);
		if (cpu_unlikely(out & CPU_OUT_FAULT))
			return CPU_STOP_FAULT;
		regs->pc = out & ~CPU_OUT_ECALL;
		if (out & CPU_OUT_ECALL)
			return CPU_STOP_ECALL;
	}
	return cpu->xlen == 32 ? cpu_interpret32(cpu, regs) : cpu_interpret64(cpu, regs);
}

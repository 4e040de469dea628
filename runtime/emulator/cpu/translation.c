// SPDX-License-Identifier: MIT
/* Running translated code: finding it, and going on with the interpreter where there is none. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "hash.h"
#include "translation.h"

bool cpu_translation_fits(const struct cpu_translation *translation, const uint8_t *memory, uint64_t bytes)
{
	if (translation->loaded > bytes || translation->loaded_bytes > bytes - translation->loaded)
		return false;
	return cpu_hash(memory + translation->loaded, translation->loaded_bytes) == translation->hash;
}

/* ---- translated code at its place ---- */

static uint32_t *entries_of(const struct cpu_translation *translation)
{
	uint32_t *entry_at = calloc(translation->bytes / 2 + 1, sizeof(*entry_at));

	for (uint32_t i = 0; entry_at && i < translation->entries; i++)
		entry_at[translation->entry[i].offset / 2] = translation->entry[i].function + 1;
	return entry_at;
}

static int attach(struct cpu *cpu, uint64_t at, const struct cpu_translation *translation, bool vouched)
{
	struct cpu_attached *grown;
	uint32_t *entry_at;

	if (translation->xlen != cpu->xlen)
		return -EINVAL;
	entry_at = entries_of(translation);
	grown = realloc(cpu->attached, (cpu->attachments + 1) * sizeof(*grown));
	if (grown)
		cpu->present = cpu->attached = grown;
	if (!grown || !entry_at) {
		free(entry_at);
		cpu->present = cpu->attachments ? cpu->attached : NULL;
		return -ENOMEM;
	}
	cpu->attached[cpu->attachments++] = (struct cpu_attached){
		.at = at,
		.bytes = translation->bytes,
		.bias = at - translation->first,
		.translation = translation,
		.margin = translation->margin,
		.entry_at = entry_at,
		.vouched = vouched,
	};
	return 0;
}

int cpu_translate(struct cpu *cpu, const struct cpu_translation *translation)
{
	cpu_detach(cpu, 0, ~0ull, true);
	return translation ? attach(cpu, translation->first, translation, true) : 0;
}

int cpu_attach(struct cpu *cpu, uint64_t at, const struct cpu_translation *translation)
{
	int error;

	cpu_detach(cpu, at, at + translation->bytes, false);
	error = attach(cpu, at, translation, false);
	if (!error)
		cpu_attend(cpu, CPU_ATTEND_ATTACH);
	return error;
}

void cpu_detach(struct cpu *cpu, uint64_t first, uint64_t end, bool all)
{
	for (unsigned i = cpu->attachments; i-- > 0;) {
		struct cpu_attached *attached = &cpu->attached[i];

		if (attached->at >= end || attached->at + attached->bytes <= first || (attached->vouched && !all))
			continue;
		free(attached->entry_at);
		*attached = cpu->attached[--cpu->attachments];
	}
	cpu->present = cpu->attachments ? cpu->attached : NULL;
	if (cpu->attachments)
		return;
	free(cpu->attached);
	cpu->attached = NULL;
}

static struct cpu_attached *attached_at(const struct cpu *cpu, uint64_t va)
{
	for (unsigned i = 0; i < cpu->attachments; i++)
		if (va - cpu->attached[i].at < cpu->attached[i].bytes)
			return &cpu->attached[i];
	return NULL;
}

bool cpu_is_attached(const struct cpu *cpu, uint64_t va)
{
	return attached_at(cpu, va) != NULL;
}

const struct cpu_attached *cpu_select(struct cpu *cpu, uint64_t pc)
{
	struct cpu_attached *attached = attached_at(cpu, pc);

	if (attached)
		cpu->present = attached;
	return attached;
}

/* ---- running it ---- */

const struct cpu_help cpu_help = {cpu_load_far, cpu_store_far, cpu_atomic, cpu_float_value, fmaf, fma, cpu_remembered,
				   cpu_float_forget};

/* Execute the two instructions of the stub. Return: false if the run may end before. */
static bool run_stub(struct cpu *cpu, struct cpu_regs *regs)
{
	if (cpu_unlikely(cpu->instructions + 2 > __atomic_load_n(&cpu->limit, __ATOMIC_RELAXED)))
		return false;
	regs->x[17] = cpu->stub_service;
	regs->pc += CPU_STUB_BYTES;
	cpu->instructions += 2;
	return true;
}

enum cpu_stop cpu_translated(struct cpu *cpu, struct cpu_regs *regs)
{
	uint64_t out, before = ~cpu->instructions;
	const struct cpu_attached *code;
	uint32_t number;

	/* What is not translated leaves a function where it was entered, without having executed anything. */
	while (cpu->instructions != before && (code = cpu_translated_room(cpu, regs->pc, cpu->instructions, &number))) {
		before = cpu->instructions;
		cpu->bias = code->bias;
		out = code->translation->function[number](cpu, regs->pc);
		if (out & 1)
			return out == CPU_OUT_ECALL ? CPU_STOP_ECALL : CPU_STOP_FAULT;
		regs->pc = out;
		if (out == cpu->stub && run_stub(cpu, regs))
			return CPU_STOP_ECALL;
	}
	return cpu->xlen == 32 ? cpu_interpret32(cpu, regs) : cpu_interpret64(cpu, regs);
}

/* SPDX-License-Identifier: MIT */
/**
 * DOC: What translated code is made of
 *
 * The translator (translate/) makes one C function of each function of the guest. It is entered with the
 * whole state in struct cpu and leaves it so, with the address to go on at as its result; in between
 * registers are local variables. A function that is called returns the address that its guest returns to: if
 * that is what the caller expects, it goes on, else it returns the same to its own caller, down to
 * cpu_translated(), which finds the function for any address and lets the interpreter go on where there is
 * none.
 */
#ifndef CPU_TRANSLATION_H
#define CPU_TRANSLATION_H

#include "machine.h"

/* Results that are no address, since those are even: regs->pc says where to go on. */
#define CPU_OUT_FAULT 1u
#define CPU_OUT_ECALL 3u

typedef uint64_t (*cpu_translated_function)(struct cpu *cpu, uint64_t pc);

/** struct cpu_translated_entry - an address at which a function can be entered. @function: its number */
struct cpu_translated_entry {
	uint32_t offset; /* from the translation's first address */
	uint32_t function;
};

/**
 * struct cpu_translation - what the translator has made of an image.
 * @first, @bytes: its code
 * @loaded, @loaded_bytes: the segment of the image that holds it, as it is loaded; @hash: of those bytes
 * @margin: per function: most instructions from one look at the limit to the next
 */
struct cpu_translation {
	unsigned xlen;
	uint64_t first;
	uint64_t bytes;
	uint64_t loaded;
	uint64_t loaded_bytes;
	uint64_t hash;
	uint32_t entries;
	uint32_t functions;
	const struct cpu_translated_entry *entry;
	const cpu_translated_function *function;
	const uint32_t *margin;
};

/**
 * cpu_translation_fits() - @memory, which lies at address 0 of the guest and has just been loaded, holds the image that
 * the translation was made from. The hash protects from mistakes only: whoever makes an image that has the hash of
 * another one gets the other one's code executed, on memory of their own.
 */
bool cpu_translation_fits(const struct cpu_translation *translation, const uint8_t *memory, uint64_t bytes);

/** cpu_load_far(), cpu_store_far() - see struct cpu_help. */
uint64_t cpu_load_far(struct cpu *cpu, uint64_t va, uint64_t pc, uint64_t count, unsigned what);
uint64_t cpu_store_far(struct cpu *cpu, uint64_t va, uint64_t pc, uint64_t count, unsigned what, uint64_t value);
/** cpu_translated() - run as long as there is translated code to run. */
enum cpu_stop cpu_translated(struct cpu *cpu, struct cpu_regs *regs);

/** cpu_detach() - forget translated code that stands for an address of [first, end); @all: also what was vouched for. */
void cpu_detach(struct cpu *cpu, uint64_t first, uint64_t end, bool all);
/**
 * cpu_select() - find the translated code for @pc, and remember it in cpu->present. Return: the code; NULL if there is
 * none
 */
const struct cpu_attached *cpu_select(struct cpu *cpu, uint64_t pc);

/*
 * Return: the translated code whose function @number can be entered at @pc and can end before the run does; NULL if
 * none can.
 */
static inline const struct cpu_attached *cpu_translated_room(struct cpu *cpu, uint64_t pc, uint64_t count, uint32_t *number)
{
	const struct cpu_attached *code = cpu->present;
	uint32_t at;

	if (cpu_likely(code) && pc - code->at >= code->bytes)
		code = cpu->attachments > 1 ? cpu_select(cpu, pc) : NULL;
	if (!code || pc & 1)
		return NULL;
	at = code->entry_at[(pc - code->at) / 2];
	*number = at - 1;
	return at && count + code->margin[at - 1] <= __atomic_load_n(&cpu->limit, __ATOMIC_RELAXED) ? code : NULL;
}

#endif

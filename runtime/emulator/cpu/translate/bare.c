// SPDX-License-Identifier: MIT
/*
 * Functions of code that comes without symbols. They begin where calls go to, and behind instructions that never go on, if
 * nothing jumps across that place. It does not matter for what the code does: any partition is good, some make it fast.
 */
#include <stdlib.h>
#include <string.h>

#include "program.h"

#define MOST_BYTES (128u << 10) /* the compiler takes about ten seconds for that */

static bool decode_at(const struct program *program, uint64_t pc, struct cpu_insn *insn)
{
	uint32_t raw = 0;

	if (pc + 2 > program->bytes)
		return false;
	memcpy(&raw, program->code + pc, pc + 4 <= program->bytes ? 4 : 2);
	cpu_decode(raw, program->xlen, insn);
	return true;
}

/* Where the instruction at @pc jumps to, with @before just before it; ~0 = nowhere or anywhere. */
static uint64_t target_of(uint64_t pc, const struct cpu_insn *insn, const struct cpu_insn *before)
{
	uint64_t to = pc + (uint64_t)(int64_t)insn->imm;

	if (insn->op == CPU_JALR && before->op == CPU_AUIPC && before->rd == insn->rs1)
		return (to - before->bytes + (uint64_t)(int64_t)before->imm) & ~1ull;
	return insn->op == CPU_JAL || cpu_op_operands(insn->op) & CPU_IS_BRANCH ? to : ~0ull;
}

static bool never_goes_on(const struct cpu_insn *insn)
{
	return (cpu_op_operands(insn->op) & CPU_IS_JUMP && !insn->rd) || insn->op == CPU_ILLEGAL || insn->op == CPU_EBREAK;
}

/* @crossed: per halfword, jumps that begin to cross it less those that end to. */
static void note_jump(int32_t *crossed, uint64_t from, uint64_t to)
{
	uint64_t low = from < to ? from : to, high = from < to ? to : from;

	crossed[low / 2 + 1]++;
	crossed[high / 2 + 1]--;
}

static void find_calls(struct program *program, int32_t *crossed)
{
	struct cpu_insn insn, before = {0};

	for (uint64_t pc = 0; decode_at(program, pc, &insn); pc += insn.bytes) {
		uint64_t to = target_of(pc, &insn, &before);

		if (to < program->bytes && insn.rd && cpu_op_operands(insn.op) & CPU_IS_JUMP)
			program_add(program, to, "");
		else if (to < program->bytes && insn.op != CPU_JALR)
			note_jump(crossed, pc, to);
		before = insn;
	}
}

static void find_gaps(struct program *program, const int32_t *crossed)
{
	struct cpu_insn insn;
	int32_t open = 0;

	for (uint64_t pc = 0; decode_at(program, pc, &insn);) {
		for (unsigned half = 0; half < insn.bytes / 2u; half++)
			open += crossed[pc / 2 + half];
		pc += insn.bytes;
		if (pc < program->bytes && never_goes_on(&insn) && !(open + crossed[pc / 2]))
			program_add(program, pc, "");
	}
}

bool program_bare(struct program *program, const uint8_t *code, uint64_t bytes)
{
	const uint64_t all = bytes;
	bool good = false;
	int32_t *crossed;

	*program = (struct program){.xlen = 64, .bare = true};
	while (bytes > 2 && !code[bytes - 1] && !code[bytes - 2] && bytes % 2 == 0)
		bytes -= 2; /* the rest of the last page */
	if (bytes % 4 == 2 && bytes < all)
		bytes += 2; /* the upper half of an instruction such as ret */
	if (bytes < 2 || bytes % 2 || bytes > MOST_BYTES)
		return false;
	crossed = calloc(bytes / 2 + 8, sizeof(*crossed));
	program->code = malloc(bytes);
	if (crossed && program->code) {
		memcpy(program->code, code, bytes);
		program->bytes = program->loaded_bytes = bytes;
		program_add(program, 0, "");
		find_calls(program, crossed);
		find_gaps(program, crossed);
		good = program_order(program);
	}
	free(crossed);
	if (!good)
		program_fini(program);
	return good;
}

// SPDX-License-Identifier: MIT
/*
 * Counts by function, and what the instructions would cost on a pipelined in-order core: see struct cpu_cost. A branch
 * costs more when it is taken, which shows only at the next instruction.
 */
#include "emulator/cpu/insn.h"
#include "emulator/cpu/machine.h"

void cpu_count(struct cpu *cpu, uint64_t first, uint32_t halves, const uint16_t *owner,
	       const uint64_t *starts, struct cpu_function *functions)
{
	cpu->count_first = first;
	cpu->count_halves = halves;
	cpu->count_owner = owner;
	cpu->count_starts = starts;
	cpu->functions = functions;
	cpu->branched = NULL;
}

void cpu_cost(struct cpu *cpu, const struct cpu_cost *cost)
{
	cpu->cost = cost;
	cpu->branched = NULL;
}

static uint32_t access_cost(const struct cpu_cost *cost, uint64_t va, uint32_t usual)
{
	for (unsigned r = 0; r < CPU_COST_REGIONS; r++)
		if (va - cost->region[r].first < cost->region[r].bytes)
			return cost->region[r].cycles;
	return usual;
}

static bool multiplies(unsigned op)
{
	return op == CPU_MUL || op == CPU_MULH || op == CPU_MULHSU || op == CPU_MULHU || op == CPU_MULW;
}

static bool divides(unsigned op)
{
	return op == CPU_DIV || op == CPU_DIVU || op == CPU_REM || op == CPU_REMU || op == CPU_DIVW || op == CPU_DIVUW ||
	       op == CPU_REMW || op == CPU_REMUW;
}

static void branch(struct cpu *cpu, struct cpu_function *function, uint64_t next)
{
	cpu->branched = function;
	cpu->branch_next = next;
}

static void add_cost(struct cpu *cpu, struct cpu_function *function, const struct cpu_op *op, uint64_t pc)
{
	const struct cpu_cost *cost = cpu->cost;
	unsigned insn = op->code / 2, bytes = 2 + 2 * (op->code & 1);
	uint32_t kind = op->code < CPU_CODE_UNDECODED ? cpu_op_operands(insn) : 0;
	uint64_t va = cpu->regs->x[op->rs1] + (uint64_t)(int64_t)op->imm;

	if (cpu->xlen == 32)
		va = (uint32_t)va;
	if (op->code == CPU_CODE_JAL_FAR || kind & CPU_IS_JUMP) {
		function->cycles += cost->taken;
	} else if (op->code == CPU_CODE_BRANCH_FAR || kind & CPU_IS_BRANCH) {
		branch(cpu, function, pc + (op->code == CPU_CODE_BRANCH_FAR ? op->rm : bytes));
		function->cycles++;
	} else if (kind & (CPU_IS_LOAD | CPU_IS_STORE)) {
		function->cycles += access_cost(cost, va, kind & CPU_IS_LOAD ? cost->load : 1);
	} else if (multiplies(insn)) {
		function->multiplications++;
		function->cycles += cost->multiplication;
	} else if (divides(insn)) {
		function->divisions++;
		function->cycles += cost->division;
	} else {
		function->cycles++;
	}
}

void cpu_count_one(struct cpu *cpu, const struct cpu_op *op, uint64_t pc)
{
	uint64_t half = (pc - cpu->count_first) / 2;
	unsigned owner = half < cpu->count_halves ? cpu->count_owner[half] : 0;
	struct cpu_function *function;

	if (cpu->branched && pc != cpu->branch_next)
		cpu->branched->cycles += cpu->cost->taken - 1;
	cpu->branched = NULL;
	if (!owner)
		return;
	function = &cpu->functions[owner - 1];
	function->instructions++;
	function->calls += cpu->count_starts[owner - 1] == pc;
	if (cpu->cost)
		add_cost(cpu, function, op, pc);
}

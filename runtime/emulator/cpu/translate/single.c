// SPDX-License-Identifier: MIT
/*
 * Which floating-point registers hold single-precision numbers. Those are kept in variables of type float, all others in
 * variables of type double, so that the host need not convert between an operation and the next one. Where control comes
 * together, a register is single only if it is on all ways.
 */
#include "program.h"

uint32_t single_after(const struct step *step)
{
	uint32_t operands = cpu_op_operands(step->insn.op), bit = 1u << step->insn.rd;

	if (!(operands & CPU_FD))
		return step->single;
	if (step->insn.op == CPU_FLW || (step->insn.op >= CPU_FADD_S && !((step->insn.op - CPU_FADD_S) & 1)))
		return step->single | bit;
	return step->single & ~bit;
}

uint32_t single_behind(const struct program *program, const struct function *function, int i)
{
	const struct step *step = &function->step[i];

	if (step->flow == FLOW_CALL)
		return single_after(step) & ~(uint32_t)(flow_reload(program, function, i) >> 32);
	return single_after(step);
}

/* Return: true if that changed what is known of @to. */
static bool arrive(struct step *to, uint32_t single)
{
	if (to->reached && !(to->single & ~single))
		return false;
	to->single = to->reached ? to->single & single : single;
	to->reached = true;
	return true;
}

static bool pass_on(const struct program *program, struct function *function, int i)
{
	struct step *step = &function->step[i];
	uint32_t single = single_behind(program, function, i);
	bool changed = false;

	if (i + 1 < function->steps && (step->flow <= FLOW_BRANCH || (step->flow == FLOW_CALL && !step->far)))
		changed |= arrive(step + 1, single);
	if (step->target != NOWHERE && (step->flow == FLOW_BRANCH || step->flow == FLOW_GOTO))
		changed |= arrive(&function->step[step->target], single);
	return changed;
}

static void spread(const struct program *program, struct function *function)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (int i = 0; i < function->steps; i++)
			if (function->step[i].reached)
				changed |= pass_on(program, function, i);
	}
}

/*
 * Of an entry that only others jump to nothing is known. At one that is reached in the function as well, those who enter it
 * from outside look whether they bring what is expected, and leave it to the interpreter if not.
 */
void single_analyse(const struct program *program, struct function *function)
{
	if (program->xlen == 32)
		return;
	for (int i = 0; i < function->steps; i++) {
		if (function->step[i].reached || (i && !function->step[i].entry))
			continue;
		arrive(&function->step[i], 0);
		spread(program, function);
	}
}

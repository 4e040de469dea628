// SPDX-License-Identifier: MIT
/*
 * Flow analysis. Every way out of a function stores what is dirty, so that the state is exact wherever the
 * program may come to, also by an indirect jump that nobody foresaw; what has to be known of other functions
 * is only which registers a call may have changed, and that holds for calls that come back.
 */
#include <stdlib.h>

#include "program.h"

#define X0 1ull

static uint64_t bit(unsigned file, unsigned n)
{
	return 1ull << (file + n);
}

static void find_operands(struct step *step)
{
	const struct cpu_insn *insn = &step->insn;
	uint32_t operands = cpu_op_operands(insn->op);

	step->uses =
	    (operands & CPU_RS1 ? bit(0, insn->rs1) : 0) | (operands & CPU_RS2 ? bit(0, insn->rs2) : 0);
	step->sets = operands & CPU_RD ? bit(0, insn->rd) : 0;
	step->uses &= ~X0;
	step->sets &= ~X0;
}

/* ---- control ---- */

static void jump_to(const struct program *program, struct function *function, struct step *step, uint64_t to)
{
	step->to = program->xlen == 32 ? (uint32_t)to : to;
	step->target = step->to >= function->start && step->to < function->end
			   ? function_step(function, step->to)
			   : NOWHERE;
	step->callee = program_find(program, step->to);
	if (step->callee != NOWHERE && function_step(&program->function[step->callee], step->to) == NOWHERE)
		step->callee = NOWHERE; /* into the middle of an instruction */
}

static enum flow flow_of_jump(const struct step *step, const struct function *function)
{
	if (step->insn.op == CPU_JALR)
		return step->insn.rd				  ? FLOW_LEAVE
		       : function->pointed && step->insn.rs1 != 1 ? FLOW_SWITCH
								  : FLOW_RETURN;
	if (step->insn.rd)
		return step->callee == NOWHERE ? FLOW_LEAVE : FLOW_CALL;
	if (step->target != NOWHERE)
		return FLOW_GOTO;
	return step->callee == NOWHERE ? FLOW_LEAVE : FLOW_TAIL;
}

static enum flow flow_of(const struct step *step, const struct function *function)
{
	uint32_t operands = cpu_op_operands(step->insn.op);

	if (operands & CPU_IS_JUMP)
		return flow_of_jump(step, function);
	if (operands & CPU_IS_BRANCH)
		return FLOW_BRANCH;
	if (step->insn.op == CPU_ECALL)
		return FLOW_ECALL;
	if (operands & (CPU_IS_SYSTEM | CPU_IS_ATOMIC | CPU_F1 | CPU_F2 | CPU_FD))
		return FLOW_LEAVE;
	return operands & (CPU_IS_LOAD | CPU_IS_STORE) ? FLOW_MEMORY : FLOW_ON;
}

static void find_flow(const struct program *program, struct function *function)
{
	for (size_t i = 0; i < program->pointers; i++)
		function->pointed |= program->pointer[i] >= function->start &&
				     program->pointer[i] < function->end &&
				     function_step(function, program->pointer[i]) != NOWHERE;
	for (int i = 0; i < function->steps; i++) {
		struct step *step = &function->step[i];
		uint32_t operands = cpu_op_operands(step->insn.op);

		find_operands(step);
		step->target = step->callee = NOWHERE;
		if (step->insn.op == CPU_JAL || operands & CPU_IS_BRANCH)
			jump_to(program, function, step, step->pc + (uint64_t)(int64_t)step->insn.imm);
		step->flow = flow_of(step, function);
	}
}

static void enter(const struct program *program, uint64_t pc)
{
	int number = program_find(program, pc), step;

	if (number == NOWHERE)
		return;
	step = function_step(&program->function[number], pc);
	if (step != NOWHERE)
		program->function[number].step[step].entry = program->function[number].step[step].leader =
		    true;
}

static void find_labels(const struct program *program, struct function *function)
{
	enter(program, function->start);
	for (int i = 0; i < function->steps; i++) {
		struct step *step = &function->step[i];

		if (step->target != NOWHERE && (step->flow == FLOW_BRANCH || step->flow == FLOW_GOTO)) {
			function->step[step->target].leader = true;
			if (step->target <= i)
				enter(program, step->to);
		}
		if (step->flow == FLOW_CALL || step->flow == FLOW_TAIL)
			enter(program, step->to);
		if (step->flow == FLOW_CALL || step->flow == FLOW_ECALL)
			enter(program, step->pc + step->insn.bytes);
	}
	for (size_t i = 0; i < program->pointers; i++)
		enter(program, program->pointer[i]);
}

/* ---- calls ---- */

/* Calls that would close a circle are made by leaving, so that the depth of calls in C has a bound. */
static void find_recursion(struct program *program, int number)
{
	struct function *function = &program->function[number];

	function->mark = 1; /* being looked at */
	for (int i = 0; i < function->steps; i++) {
		struct step *step = &function->step[i];

		if (step->flow != FLOW_CALL && step->flow != FLOW_TAIL)
			continue;
		if (!program->function[step->callee].mark)
			find_recursion(program, step->callee);
		step->far = program->function[step->callee].mark == 1;
	}
	/* falling off the end is a way into the next function, and always leaves */
	function->mark = 2;
}

/* Registers that calls may change: until nothing changes any more, since the order of functions is any. */
static void find_sets(struct program *program)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (int n = 0; n < program->functions; n++) {
			struct function *function = &program->function[n];
			uint64_t sets = function->sets;

			for (int i = 0; i < function->steps; i++) {
				const struct step *step = &function->step[i];

				sets |= step->sets;
				if (step->flow == FLOW_CALL || step->flow == FLOW_TAIL)
					sets |= program->function[step->callee].sets;
			}
			changed |= sets != function->sets;
			function->sets = sets;
		}
	}
}

/* ---- local variables ---- */

/* What is dirty behind @step, for those that follow it in the function. */
static uint64_t dirty_after(const struct step *step)
{
	return step->flow == FLOW_CALL ? 0 : step->dirty | step->sets;
}

static bool goes_on(const struct step *step)
{
	return step->flow <= FLOW_BRANCH || (step->flow == FLOW_CALL && !step->far);
}

static bool add_dirty(struct step *to, uint64_t dirty)
{
	bool changed = dirty & ~to->dirty;

	to->dirty |= dirty;
	return changed;
}

static void find_dirty(const struct program *program, struct function *function)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (int i = 0; i < function->steps; i++) {
			const struct step *step = &function->step[i];
			uint64_t dirty = dirty_after(step);

			if (goes_on(step) && i + 1 < function->steps)
				changed |= add_dirty(&function->step[i + 1], dirty);
			if ((step->flow == FLOW_BRANCH || step->flow == FLOW_GOTO) && step->target != NOWHERE)
				changed |= add_dirty(&function->step[step->target], dirty);
			if (step->flow != FLOW_SWITCH)
				continue;
			for (size_t p = 0; p < program->pointers; p++) {
				int to = program_find(program, program->pointer[p]) ==
						 (int)(function - program->function)
					     ? function_step(function, program->pointer[p])
					     : NOWHERE;

				if (to != NOWHERE)
					changed |= add_dirty(&function->step[to], dirty);
			}
		}
	}
}

uint64_t flow_reload(const struct program *program, const struct function *function, int i)
{
	const struct step *step = &function->step[i];

	if (i + 1 >= function->steps)
		return 0;
	return function->step[i + 1].live & (program->function[step->callee].sets | step->sets);
}

static uint64_t live_behind(const struct program *program, const struct function *function, int i)
{
	const struct step *step = &function->step[i];
	uint64_t live = goes_on(step) && i + 1 < function->steps ? function->step[i + 1].live : 0;

	if (step->flow == FLOW_CALL && !step->far)
		live &= ~flow_reload(program, function, i);
	if ((step->flow == FLOW_BRANCH || step->flow == FLOW_GOTO) && step->target != NOWHERE)
		live |= function->step[step->target].live;
	for (size_t p = 0; step->flow == FLOW_SWITCH && p < program->pointers; p++) {
		uint64_t to = program->pointer[p];
		int target =
		    to >= function->start && to < function->end ? function_step(function, to) : NOWHERE;

		if (target != NOWHERE)
			live |= function->step[target].live;
	}
	return live;
}

/* Some way out of @step stores what is dirty. */
static bool may_leave(const struct function *function, int i)
{
	const struct step *step = &function->step[i];

	return step->flow != FLOW_ON || i + 1 == function->steps;
}

static void find_live(const struct program *program, struct function *function)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (int i = function->steps - 1; i >= 0; i--) {
			struct step *step = &function->step[i];
			uint64_t behind = live_behind(program, function, i), live;

			/* @dirty without @sets: those are stored behind it, from what it has set */
			live =
			    step->uses | (behind & ~step->sets) |
			    (may_leave(function, i) ? step->dirty & ~(step->flow == FLOW_ON ? step->sets : 0)
						    : 0);
			changed |= live != step->live;
			step->live = live;
		}
	}
}

void flow_analyse(struct program *program)
{
	for (int i = 0; i < program->functions; i++)
		find_flow(program, &program->function[i]);
	for (int i = 0; i < program->functions; i++)
		find_labels(program, &program->function[i]);
	for (int i = 0; i < program->functions; i++)
		if (!program->function[i].mark)
			find_recursion(program, i);
	find_sets(program);
	for (int i = 0; i < program->functions; i++) {
		find_dirty(program, &program->function[i]);
		find_live(program, &program->function[i]);
	}
}

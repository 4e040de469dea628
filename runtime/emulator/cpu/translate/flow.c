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

void flow_operands(struct step *step)
{
	const struct cpu_insn *insn = &step->insn;
	uint32_t operands = cpu_op_operands(insn->op);

	step->uses =
	    (operands & CPU_RS1 ? bit(0, insn->rs1) : 0) | (operands & CPU_RS2 ? bit(0, insn->rs2) : 0) |
	    (operands & CPU_F1 ? bit(32, insn->rs1) : 0) | (operands & CPU_F2 ? bit(32, insn->rs2) : 0) |
	    (operands & CPU_F3 ? bit(32, insn->rs3) : 0);
	step->sets = (operands & CPU_RD ? bit(0, insn->rd) : 0) | (operands & CPU_FD ? bit(32, insn->rd) : 0);
	step->uses &= ~X0;
	step->sets &= ~X0;
}

/* ---- control ---- */

/* Something jumps to @pc directly, or data points there. */
static bool is_hit(const struct program *program, uint64_t pc)
{
	uint64_t half = (pc - program->first) / 2;

	return pc - program->first < program->bytes && program->hit[half / 8] >> (half % 8) & 1;
}

static void hit(struct program *program, uint64_t pc)
{
	uint64_t half = (pc - program->first) / 2;

	if (pc - program->first < program->bytes)
		program->hit[half / 8] |= (uint8_t)(1u << (half % 8));
}

static bool is_direct(const struct step *step)
{
	return step->insn.op == CPU_JAL || cpu_op_operands(step->insn.op) & CPU_IS_BRANCH;
}

static void find_hits(struct program *program)
{
	for (int f = 0; f < program->functions; f++)
		for (int i = 0; i < program->function[f].steps; i++) {
			const struct step *step = &program->function[f].step[i];

			if (is_direct(step))
				hit(program, step->pc + (uint64_t)(int64_t)step->insn.imm);
		}
	for (size_t i = 0; i < program->pointers; i++)
		hit(program, program->pointer[i]);
}

/* A jalr whose register the auipc before it has made. */
static bool is_pair(const struct program *program, const struct function *function, int i)
{
	const struct step *step = &function->step[i], *before = step - 1;

	return i && step->insn.op == CPU_JALR && before->insn.op == CPU_AUIPC && before->insn.rd == step->insn.rs1 &&
	       before->insn.rd && !is_hit(program, step->pc);
}

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

static enum flow flow_of_jump(const struct step *step, const struct function *function, bool known)
{
	if (!known)
		return function->pointed && step->insn.rs1 != 1 && !step->insn.rd ? FLOW_SWITCH : FLOW_RETURN;
	if (step->insn.rd)
		return step->callee == NOWHERE ? FLOW_LEAVE : FLOW_CALL;
	if (step->target != NOWHERE)
		return FLOW_GOTO;
	return step->callee == NOWHERE ? FLOW_LEAVE : FLOW_TAIL;
}

static enum flow flow_of(const struct step *step, const struct function *function, bool known)
{
	uint32_t operands = cpu_op_operands(step->insn.op);

	if (operands & CPU_IS_JUMP)
		return flow_of_jump(step, function, known);
	if (operands & CPU_IS_BRANCH)
		return FLOW_BRANCH;
	if (step->insn.op == CPU_ECALL)
		return FLOW_ECALL;
	if (operands & CPU_IS_SYSTEM)
		return FLOW_LEAVE;
	return operands & (CPU_IS_LOAD | CPU_IS_STORE | CPU_IS_ATOMIC) ? FLOW_MEMORY : FLOW_ON;
}

static void find_flow(const struct program *program, struct function *function)
{
	/* Labels that data points to are not followed where the kinds of registers would have to be, too. */
	for (size_t i = 0; i < program->pointers && program->xlen == 32; i++)
		function->pointed |= program->pointer[i] >= function->start &&
				     program->pointer[i] < function->end &&
				     function_step(function, program->pointer[i]) != NOWHERE;
	for (int i = 0; i < function->steps; i++) {
		struct step *step = &function->step[i];
		bool pair = is_pair(program, function, i), known = pair || is_direct(step);
		uint64_t from = pair ? step[-1].pc + (uint64_t)(int64_t)step[-1].insn.imm : step->pc;

		flow_operands(step);
		step->target = step->callee = NOWHERE;
		if (known)
			jump_to(program, function, step, (from + (uint64_t)(int64_t)step->insn.imm) & ~1ull);
		step->flow = flow_of(step, function, known);
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

/*
 * Somebody may enter behind @step: what returns, and in programs whose data is not known, what follows an instruction that
 * never goes on, since that may be the label of a switch.
 */
static bool comes_back(const struct program *program, const struct step *step)
{
	if (step->flow == FLOW_CALL || step->flow == FLOW_ECALL || (step->flow == FLOW_RETURN && step->insn.rd))
		return true;
	return program->xlen == 64 && step->flow > FLOW_BRANCH;
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
		if (comes_back(program, step))
			enter(program, step->pc + step->insn.bytes);
		/* a branch out of the function */
		if (step->flow == FLOW_BRANCH && step->target == NOWHERE && program->xlen == 64)
			enter(program, step->to);
	}
	for (size_t i = 0; i < program->pointers; i++)
		enter(program, program->pointer[i]);
}

/* ---- calls ---- */

#define HEIGHT_MOST 50

/* Calls that would close a circle, or of what is too high, are made by leaving: the depth of calls in C has a bound. */
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
		step->far = program->function[step->callee].mark == 1 ||
			    program->function[step->callee].height >= HEIGHT_MOST;
		if (!step->far && program->function[step->callee].height >= function->height)
			function->height = program->function[step->callee].height + 1;
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

/* ---- how far it is to the next look at the limit ---- */

/* Looks are where a function is entered, behind calls, and where something jumps back. */
static void find_margin(struct function *function)
{
	for (int i = function->steps - 1; i >= 0; i--) {
		struct step *step = &function->step[i];
		bool forward = (step->flow == FLOW_BRANCH || step->flow == FLOW_GOTO) && step->target > i;

		step->ahead = 1;
		if (step->flow <= FLOW_BRANCH && i + 1 < function->steps)
			step->ahead += step[1].ahead;
		if (forward && function->step[step->target].ahead >= step->ahead)
			step->ahead = function->step[step->target].ahead + 1;
		if (step->ahead > function->margin)
			function->margin = step->ahead;
	}
}

bool flow_analyse(struct program *program)
{
	bool good = true;

	program->hit = calloc(program->bytes / 16 + 1, 1);
	if (!program->hit)
		return false;
	find_hits(program);
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
		single_analyse(program, &program->function[i]);
		good &= chunk_analyse(program, &program->function[i]);
		find_margin(&program->function[i]);
	}
	return good;
}

// SPDX-License-Identifier: MIT
/* Finding loops that can be done in chunks, and what is known of the values in them; see chunk.h. */
#include <stdlib.h>
#include <string.h>

#include "chunk.h"
#include "emit.h"

#define CHOICES 3 /* branches within a round, each of which is followed either way */
#define GUESS	(1u << CHOICES)

/* ---- one way round ---- */

static bool is_inside(const struct chunk *chunk, int index)
{
	return index != NOWHERE && index >= chunk->head && index <= chunk->number;
}

/* Return: the step that follows, NOWHERE if such a loop cannot be done. */
static int follow(const struct chunk *chunk, struct chunk_step *at, unsigned choices, int *met)
{
	const struct step *step = &at->step;

	switch (step->flow) {
	case FLOW_ON:
		return real_always_helped(&step->insn) ? NOWHERE : at->index + 1;
	case FLOW_MEMORY:
		return cpu_op_operands(step->insn.op) & CPU_IS_ATOMIC ? NOWHERE : at->index + 1;
	case FLOW_GOTO:
		return is_inside(chunk, step->target) && step->target > at->index ? step->target : NOWHERE;
	case FLOW_BRANCH:
		at->leaves = !is_inside(chunk, step->target);
		if (at->leaves)
			return at->index + 1;
		at->taken = choices >> (*met)++ & 1;
		if (!at->taken)
			return at->index + 1;
		return step->target <= at->index ? NOWHERE : step->target;
	default:
		return NOWHERE;
	}
}

/* The steps of a round. Return: how many branches there are to choose at, negative if it does not come round. */
static int walk(const struct function *function, struct chunk *chunk, unsigned choices)
{
	int index = chunk->head, met = 0;

	while (chunk->steps < CHUNK_STEPS && is_inside(chunk, index)) {
		struct chunk_step *at = &chunk->round[chunk->steps++];

		*at = (struct chunk_step){ .step = function->step[index], .index = index };
		if (index == chunk->number) {
			at->taken = true;
			return met;
		}
		index = follow(chunk, at, choices, &met);
	}
	return -1;
}

/* ---- values ---- */

int chunk_last(const struct chunk *chunk, unsigned n)
{
	int at = chunk->steps - 1;

	while (at >= 0 && !(chunk->round[at].step.sets & 1ull << n))
		at--;
	return n ? at : CHUNK_BEFORE;
}

int chunk_source(const struct chunk *chunk, int at, unsigned n)
{
	while (n && --at >= 0)
		if (chunk->round[at].step.sets & 1ull << n)
			return at;
	return chunk_last(chunk, n) == CHUNK_BEFORE ? CHUNK_BEFORE : CHUNK_ROUND;
}

enum chunk_kind chunk_kind(const struct chunk *chunk, int at, unsigned n, const struct chunk_step **value)
{
	int source = chunk_source(chunk, at, n);

	*value = NULL;
	if (source == CHUNK_BEFORE)
		return CHUNK_SAME;
	*value = &chunk->round[source == CHUNK_ROUND ? chunk_last(chunk, n) : source];
	if (((*value)->step.flow == FLOW_MEMORY && !(*value)->guessed) || (source == CHUNK_ROUND && !(*value)->counts))
		return CHUNK_VARIES;
	return (*value)->kind;
}

static bool set_once(const struct chunk *chunk, int at, unsigned n)
{
	for (int i = 0; i < chunk->steps; i++)
		if (i != at && chunk->round[i].step.sets & 1ull << n)
			return false;
	return true;
}

/* It adds to its register what stays the same, and nothing else sets that register. */
static bool counts(const struct chunk *chunk, int at)
{
	const struct cpu_insn *insn = &chunk->round[at].step.insn;
	bool first = insn->rs1 == insn->rd, second = insn->rs2 == insn->rd;

	if (!insn->rd || !set_once(chunk, at, insn->rd))
		return false;
	switch (insn->op) {
	case CPU_ADDI:
	case CPU_ADDIW:
		return first;
	case CPU_ADD:
	case CPU_ADDW:
		return first != second && chunk_last(chunk, first ? insn->rs2 : insn->rs1) == CHUNK_BEFORE;
	case CPU_SUB:
	case CPU_SUBW:
		return first && !second && chunk_last(chunk, insn->rs2) == CHUNK_BEFORE;
	}
	return false;
}

/* These first, since what they set moves before them as well. */
static void find_counts(struct chunk *chunk)
{
	for (int i = 0; i < chunk->steps; i++) {
		struct chunk_step *step = &chunk->round[i];
		const struct cpu_insn *insn = &step->step.insn;

		step->counts = counts(chunk, i);
		step->kind = step->counts ? CHUNK_MOVES : CHUNK_VARIES;
		step->fixed = insn->op == CPU_ADDI || insn->op == CPU_ADDIW;
		step->by = insn->imm;
	}
}

/* How far operand @n moves. Return: false: that is not known before the program runs. */
static bool distance(const struct chunk *chunk, int at, unsigned n, int64_t *by)
{
	const struct chunk_step *value;
	enum chunk_kind kind = chunk_kind(chunk, at, n, &value);

	*by = kind == CHUNK_MOVES ? value->by : 0;
	return kind == CHUNK_SAME || value->fixed;
}

/* @at computes something that moves, from operands that do not vary. Return: false: what it computes is not like that. */
static bool moves(struct chunk *chunk, int at)
{
	struct chunk_step *step = &chunk->round[at];
	const struct cpu_insn *insn = &step->step.insn;
	const struct chunk_step *value;
	int64_t a, b;
	bool fixed = distance(chunk, at, insn->rs1, &a);

	switch (insn->op) {
	case CPU_ADDI:
	case CPU_ADDIW:
		break;
	case CPU_ADD:
	case CPU_ADDW:
	case CPU_SUB:
	case CPU_SUBW:
		fixed &= distance(chunk, at, insn->rs2, &b);
		a = insn->op == CPU_SUB || insn->op == CPU_SUBW ? a - b : a + b;
		break;
	case CPU_SLLI:
	case CPU_SLLIW:
		a = (int64_t)((uint64_t)a << insn->imm);
		break;
	case CPU_SRLI:
		a >>= insn->imm;
		break;
	case CPU_MUL:
	case CPU_MULW:
		fixed = false;
		if (chunk_kind(chunk, at, insn->rs1, &value) == chunk_kind(chunk, at, insn->rs2, &value))
			return false;
		break;
	default:
		return false;
	}
	step->fixed = fixed;
	step->by = a;
	return true;
}

/* Of the operands in integer registers: the least that is known of any. */
static enum chunk_kind operands_kind(const struct chunk *chunk, int at)
{
	const struct step *step = &chunk->round[at].step;
	enum chunk_kind kind = CHUNK_SAME;

	for (uint32_t x = (uint32_t)step->uses; x; x &= x - 1) {
		const struct chunk_step *value;
		enum chunk_kind one = chunk_kind(chunk, at, (unsigned)__builtin_ctz(x), &value);

		if (one == CHUNK_VARIES)
			return one;
		if (one == CHUNK_MOVES)
			kind = one;
	}
	return kind;
}

static enum chunk_kind kind_of(struct chunk *chunk, int at)
{
	struct chunk_step *step = &chunk->round[at];
	const struct cpu_insn *insn = &step->step.insn;
	const struct chunk_step *value;
	enum chunk_kind kind;

	if (step->step.flow == FLOW_MEMORY)
		return chunk_kind(chunk, at, insn->rs1, &value);
	if (step->counts)
		return CHUNK_MOVES;
	if (!emit_value_of(insn->op))
		return CHUNK_VARIES;
	kind = operands_kind(chunk, at);
	return kind == CHUNK_MOVES && !moves(chunk, at) ? CHUNK_VARIES : kind;
}

/* ---- guesses ---- */

/* Does step @at need to know x[n] beforehand, for an address, for a value or for the way that a branch goes? */
static bool relies_on(const struct chunk *chunk, int at, unsigned n)
{
	const struct chunk_step *step = &chunk->round[at];
	const struct cpu_insn *insn = &step->step.insn;

	if (step->step.flow == FLOW_MEMORY)
		return step->kind != CHUNK_VARIES && insn->rs1 == n;
	if (step->step.flow == FLOW_BRANCH)
		return !step->leaves && step->step.uses & 1ull << n;
	return step->kind != CHUNK_VARIES && step->step.uses & 1ull << n;
}

/* A guess on which no step relies need not be checked. */
static void drop_guesses(struct chunk *chunk)
{
	for (int i = 0; i < chunk->steps; i++) {
		unsigned rd = chunk->round[i].step.insn.rd;
		bool used = false;

		for (int j = i + 1; j < chunk->steps && chunk->round[i].guessed; j++)
			used |= relies_on(chunk, j, rd) && chunk_source(chunk, j, rd) == i;
		chunk->round[i].guessed = used;
	}
}

/* Is no code written for this step of the round, apart from the check of a guess? */
static bool is_silent(const struct chunk_step *step)
{
	if (step->step.flow == FLOW_BRANCH || step->step.flow == FLOW_GOTO)
		return !step->leaves;
	return !step->kept && (step->guessed || (step->step.flow == FLOW_ON && step->kind != CHUNK_VARIES));
}

int chunk_retreat(const struct chunk *chunk, int at)
{
	int first = at;

	while (--at >= 0 && is_silent(&chunk->round[at]))
		if (chunk->round[at].guessed)
			first = at;
	return first;
}

static bool loads_integer(const struct step *step)
{
	return cpu_op_operands(step->insn.op) & CPU_IS_LOAD && (uint32_t)step->sets;
}

/* How many rounds there are can be computed from the last branch. */
static bool is_counted(const struct chunk *chunk)
{
	int at = chunk->steps - 1;
	const struct cpu_insn *insn = &chunk->round[at].step.insn;
	const struct chunk_step *value, *other;
	enum chunk_kind a = chunk_kind(chunk, at, insn->rs1, &value), b = chunk_kind(chunk, at, insn->rs2, &other);

	if (insn->op == CPU_BNE && a == CHUNK_SAME && b == CHUNK_MOVES)
		return other->fixed && other->by && other->by == (int32_t)other->by;
	if (a != CHUNK_MOVES || b != CHUNK_SAME || !value->fixed || !value->by || value->by != (int32_t)value->by)
		return false;
	return insn->op == CPU_BNE || ((insn->op == CPU_BLT || insn->op == CPU_BLTU) && value->by > 0);
}

/* ---- what the loop has to do ---- */

static void keep(struct chunk *chunk, int at, unsigned n)
{
	int source = chunk_source(chunk, at, n);

	if (source != CHUNK_BEFORE)
		chunk->round[source == CHUNK_ROUND ? chunk_last(chunk, n) : source].kept = true;
}

/* Memory that addresses are relative to is remembered once for each of them. */
static int place_of(const struct chunk *chunk, int at)
{
	unsigned base = chunk->round[at].step.insn.rs1;
	int source = chunk_source(chunk, at, base);

	for (int i = 0; i < at; i++) {
		const struct chunk_step *other = &chunk->round[i];

		if (other->step.flow == FLOW_MEMORY && other->kind != CHUNK_VARIES && other->step.insn.rs1 == base &&
		    chunk_source(chunk, i, base) == source)
			return other->place;
	}
	return chunk->places;
}

/* What step @at reads by the names of the registers is kept up to date. */
static void plan_step(struct chunk *chunk, int at)
{
	struct chunk_step *step = &chunk->round[at];
	bool memory = step->step.flow == FLOW_MEMORY, branch = step->step.flow == FLOW_BRANCH;
	uint32_t uses = (uint32_t)step->step.uses;

	step->lands = memory ? step->kind == CHUNK_VARIES : branch ? step->leaves :
		      real_may_miss(&step->step.insn) && !(chunk->later && real_propagates(&step->step.insn));
	if (memory && step->kind != CHUNK_VARIES) {
		step->place = place_of(chunk, at);
		chunk->places += step->place == chunk->places;
		uses = cpu_op_operands(step->step.insn.op) & CPU_RS2 ? 1u << step->step.insn.rs2 : 0;
	} else if ((branch && !step->leaves) || (!memory && !branch && step->kind != CHUNK_VARIES)) {
		uses = 0;
	}
	for (; uses; uses &= uses - 1)
		keep(chunk, at, (unsigned)__builtin_ctz(uses));
}

/* Kinds of floating-point registers that hold at the beginning of each round, and so before each step. */
static void find_single(struct chunk *chunk)
{
	uint32_t before = chunk->round[chunk->steps - 1].step.single, single;

	do {
		chunk->single = single = before;
		for (int i = 0; i < chunk->steps; i++) {
			chunk->round[i].step.single = single;
			single = single_after(&chunk->round[i].step);
		}
		before &= single;
	} while (before != chunk->single);
}

/*
 * @choices: a bit for each branch within the round, which says whether it is taken, and GUESS
 * Return: how much is gained by doing the loop that way; negative if it cannot be done
 */
static int plan(const struct function *function, struct chunk *chunk, unsigned choices, int *met)
{
	int good = 0;

	chunk->steps = chunk->places = 0;
	*met = walk(function, chunk, choices);
	if (*met < 0)
		return -1;
	find_counts(chunk);
	for (int i = 0; i < chunk->steps; i++) {
		struct chunk_step *step = &chunk->round[i];

		step->kind = kind_of(chunk, i);
		step->guessed = choices & GUESS && step->kind == CHUNK_SAME && loads_integer(&step->step);
		if (step->step.flow == FLOW_BRANCH && i + 1 < chunk->steps && !step->leaves) {
			if (operands_kind(chunk, i) != CHUNK_SAME)
				return -1;
			step->kind = CHUNK_SAME;
		}
		good += step->step.flow == FLOW_MEMORY && step->kind != CHUNK_VARIES ? CHUNK_STEPS : 0;
	}
	chunk->counted = chunk->round[chunk->steps - 1].step.flow == FLOW_BRANCH && is_counted(chunk);
	chunk->round[chunk->steps - 1].leaves = !chunk->counted;
	drop_guesses(chunk);
	return good ? good - chunk->steps : -1;
}

/* The best way round. */
static bool choose(const struct function *function, struct chunk *chunk)
{
	int best = -1, met = 0, most = 0;
	unsigned way = 0;

	for (unsigned choices = 0; choices < 2 * GUESS; choices++) {
		int good = plan(function, chunk, choices, &met);

		most = met > most ? met : most;
		if (good > best) {
			best = good;
			way = choices;
		}
	}
	return most <= CHOICES && best >= 0 && plan(function, chunk, way, &met) >= 0;
}

/* ---- what the host computes ---- */

bool chunk_sums(const struct chunk *chunk, int at)
{
	const struct step *step = &chunk->round[at].step;
	unsigned f = 32u + step->insn.rd;

	return real_propagates(&step->insn) && step->uses & 1ull << f && chunk_source(chunk, at, f) == CHUNK_ROUND &&
	       chunk_last(chunk, f) == at;
}

/* Is it certain that, if the result of step @at is a NaN, some sum is a NaN at the end of the round? */
static bool reaches_sum(const struct chunk *chunk, int at)
{
	unsigned f = 32u + chunk->round[at].step.insn.rd;

	if (chunk_sums(chunk, at))
		return true;
	for (int i = at + 1; i < chunk->steps; i++) {
		const struct step *step = &chunk->round[i].step;

		if (real_propagates(&step->insn) && step->uses & 1ull << f && chunk_source(chunk, i, f) == at &&
		    reaches_sum(chunk, i))
			return true;
	}
	return false;
}

#define COMPUTED 2 /* less of it is not worth reading the host's flags */

/*
 * The host's flags show every result that it may not compute except NaNs that come from NaNs, which raise no flag.
 * These have to show in what is left at the end of the rounds.
 */
static bool checked_later(struct chunk *chunk)
{
	int computed = 0;

	for (int i = 0; i < chunk->steps; i++) {
		const struct cpu_insn *insn = &chunk->round[i].step.insn;

		if (cpu_op_operands(insn->op) & CPU_IS_STORE)
			return false;
		if (!real_propagates(insn))
			continue;
		if (!reaches_sum(chunk, i))
			return false;
		chunk->fused |= real_is_fused(insn);
		computed++;
	}
	return computed >= COMPUTED;
}

static void finish(struct function *function, struct chunk *chunk)
{
	chunk->later = checked_later(chunk);
	for (int i = 0; i < chunk->steps; i++)
		plan_step(chunk, i);
	chunk->round[chunk->steps - 1].lands = true;
	find_single(chunk);
	for (int i = 0; i < chunk->steps; i++) {
		chunk->round[i].lands |= chunk->round[i].guessed && chunk_retreat(chunk, i) == i;
		function->step[chunk->round[i].index].landing |= chunk->round[i].lands;
	}
}

/* How many jumps of the function go back to @head. */
static int closings(const struct function *function, int head)
{
	int n = 0;

	for (int i = head; i < function->steps; i++)
		n += function->step[i].target == head &&
		     (function->step[i].flow == FLOW_BRANCH || function->step[i].flow == FLOW_GOTO);
	return n;
}

bool chunk_analyse(const struct program *program, struct function *function)
{
	/* Where all memory is one piece there is little to gain. */
	for (int i = 0; i < function->steps && program->xlen == 64; i++) {
		const struct step *step = &function->step[i];
		struct chunk *chunk;

		if (step->flow != FLOW_BRANCH || step->target == NOWHERE || step->target > i || i - step->target >= CHUNK_STEPS ||
		    closings(function, step->target) != 1)
			continue;
		chunk = calloc(1, sizeof(*chunk));
		if (!chunk)
			return false;
		chunk->number = i;
		chunk->head = step->target;
		if (!choose(function, chunk)) {
			free(chunk);
			continue;
		}
		finish(function, chunk);
		function->step[i].chunk = chunk;
	}
	return true;
}

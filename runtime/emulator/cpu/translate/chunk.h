/* SPDX-License-Identifier: MIT */
/**
 * DOC: Loops done in chunks
 *
 * Of an innermost loop that has one way round, the values of many registers are known before it runs: they stay the same, or
 * move by the same distance in each round. Then one look tells for many rounds that all accesses are to remembered memory, that
 * no 32-bit value overflows, and that the run does not end meanwhile. What is left of such a round is what the guest computes
 * with data. Pointers and sizes that the loop reads from memory in each round are guessed to stay as they are in the
 * first one, and each round checks that. An inner loop is expected to run once in each round. Whenever anything else
 * happens, the loop is left for the same instruction of the function's usual text, with all registers as they are
 * before it.
 */
#ifndef TRANSLATE_CHUNK_H
#define TRANSLATE_CHUNK_H

#include "program.h"

#define CHUNK_STEPS 160 /* longest round */

/* What is known of a value in all rounds of a chunk. */
enum chunk_kind {
	CHUNK_VARIES,
	CHUNK_SAME,
	CHUNK_MOVES, /* by the same distance from each round to the next */
};

/* Where the value of an operand comes from: a step of the round, or: */
#define CHUNK_BEFORE (-1) /* no step of the round sets it */
#define CHUNK_ROUND  (-2) /* the last step of the round before that sets it */

/**
 * struct chunk_step - one step of a round.
 * @step: copy, with the kinds of floating-point registers that hold here; @index: its place in the function
 * @kind: of the integer that it sets, of the address that it accesses, or of the condition
 * @counts: it adds to its own register, which nothing else sets: the register moves
 * @fixed, @by: the distance is known now
 * @kept: the loop keeps its register's variable up to date
 * @taken: the branch is; @leaves: the other way leaves the loop or the kind of round, so it is looked at in each round
 * @lands: there is a way out of the loop before it
 * @guessed: a load that is guessed to give the same value in each round; each round checks it
 * @place: number of the variable that remembers the memory of its accesses, by what they are relative to
 */
struct chunk_step {
	struct step step;
	int index;
	enum chunk_kind kind;
	bool counts, fixed, kept, taken, leaves, lands, guessed;
	int64_t by;
	int place;
};

/**
 * struct chunk - a loop.
 * @number: index of the branch that closes it; @head: index of its first step
 * @steps: of a round, the last one is that branch
 * @places: how many pieces of memory are remembered
 * @counted: how many rounds there are is known before
 * @single: kinds of floating-point registers at the beginning of each round
 * @later: results of floating-point steps are checked together, after the last round. That is possible because the loop
 * stores nothing, so it can be done again. @fused: it has fused multiply-adds
 */
struct chunk {
	int number, head;
	int steps, places;
	bool counted, later, fused;
	uint32_t single;
	struct chunk_step round[CHUNK_STEPS];
};

/** chunk_source() - where register @n of step @at comes from. */
int chunk_source(const struct chunk *chunk, int at, unsigned n);
/**
 * chunk_retreat() - at which step the usual text goes on if the guess of step @at is wrong: at @at, or at an earlier
 * guess if nothing was done between the two.
 */
int chunk_retreat(const struct chunk *chunk, int at);
/** chunk_sums() - whether floating-point step @at computes its register from itself, so that a NaN there stays one. */
bool chunk_sums(const struct chunk *chunk, int at);
/** chunk_last() - the last step of a round that sets x[n], or CHUNK_BEFORE. */
int chunk_last(const struct chunk *chunk, unsigned n);
/** chunk_kind() - what is known of x[n] before step @at. @step: as chunk_step of the value, or NULL if there is none */
enum chunk_kind chunk_kind(const struct chunk *chunk, int at, unsigned n, const struct chunk_step **step);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Inside of the movers
 *
 *   mover.c      ring, turns, completion, faults
 *   mover_walk.c order of the pieces of a box
 *   mover_data.c what happens to one piece: pages, swizzle, fill, rounding
 *   reduce.c     reductions
 *   mbarrier.c   the transaction side of a barrier
 *
 * All of it runs in the driving thread. Descriptor, shape and request are copied
 * when a descriptor is taken; where shared memory lies is asked anew in every turn.
 */
#ifndef TUTTI_EMULATOR_MOVER_PARTS_H
#define TUTTI_EMULATOR_MOVER_PARTS_H

#include "hardware.h"

#define WALK_DIMENSIONS TUTTI_MOVE_DIMENSIONS

/**
 * struct walk - where in the box we are.
 * @run: bytes that are contiguous on the walked side, with what is filled around them
 * @outer: the other dimensions, innermost first
 * @at: byte of the row (run with its fill)
 * @done: byte of the dense side
 */
struct walk {
	struct { uint64_t before, count, row; } run;
	struct { uint64_t before, count, total, stride, index; } outer[WALK_DIMENSIONS];
	unsigned dimensions;
	uint64_t global, at, done, total;
};

/**
 * struct piece - next bytes of a walk, all alike.
 * @filled: nothing of it is on the walked side
 * @fresh: first piece of its run
 */
struct piece {
	uint64_t va, bytes;
	bool filled, fresh;
};

/** reduce_row - combine @bytes of elements at @from into those at @to, each atomically. */
typedef void (*reduce_row)(void *to, const void *from, uint32_t bytes);

void walk_start(struct walk *walk, const struct tutti_mover *d, const struct tutti_mover_shape *shape);
/** walk_piece() - the next bytes; not behind the end (walk->done == walk->total). */
void walk_piece(const struct walk *walk, struct piece *piece);
void walk_advance(struct walk *walk, uint64_t bytes);

/** struct mover - the descriptor being executed, taken out of the ring. */
struct mover {
	bool active, refused;
	struct tutti_mover d;
	struct tutti_mover_shape shape;
	struct engines_call call; /* with CALL */
	struct walk walk;
	reduce_row reduce;
	uint64_t arrived;         /* bytes not yet told to the barriers */
	/* of this turn */
	struct sm_shared source, target[SM_CGA_CTAS];
	unsigned targets;
};

/** struct mover_fault - why a mover stops: TUTTI_CAUSE_*, TUTTI_ACCESS_*. */
struct mover_fault {
	uint8_t cause, access;
	uint64_t address;
};

/**
 * mover_move() - do the first bytes of @piece, as many as lie on one page everywhere.
 * Return: their number, 0 = refused (@fault).
 */
uint32_t mover_move(struct tutti_card *card, struct mover *m, const struct piece *piece, struct mover_fault *fault);
/** mover_account() - count what moving @bytes at @va touches. */
void mover_account(struct tutti_card *card, uint64_t va, uint64_t bytes);

/** reduce_find() - the function for operator @op (enum tutti_reduce_op) and @type, NULL if there is none. */
reduce_row reduce_find(unsigned op, unsigned type);

/** mbarrier_complete() - @bytes have arrived; the phase ends if they were the last. */
void mbarrier_complete(uint64_t *barrier, uint64_t bytes);

#endif

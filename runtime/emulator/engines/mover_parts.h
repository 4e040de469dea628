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

#include "emulator/base/state.h"
#include "emulator/memory/mmu.h"
#include "emulator/waves/tensor_port.h"

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
/** walk_rows() - rows from here on that are next to each other in the same way; 0 if inside a row or its fill. */
uint64_t walk_rows(const struct walk *walk);
/** walk_skip() - behind @rows whole rows of those. */
void walk_skip(struct walk *walk, uint64_t rows);

/** struct mover_extent - bytes that lie in one piece of the emulator's memory, for one kind of access. */
struct mover_extent {
	uint64_t va, bytes;
	uint8_t *at;
	uint32_t asid, generation;
	uint8_t access;
	bool bus;
};
#define MOVER_EXTENTS 4u

/** struct mover - the descriptor being executed, taken out of the ring. */
struct mover {
	bool active, refused;
	struct tutti_mover d;
	struct tutti_mover_shape shape;
	struct engines_call call; /* with CALL */
	struct walk walk;
	reduce_row reduce;
	uint64_t arrived;         /* bytes not yet told to the barriers */
	struct mover_extent extent[MOVER_EXTENTS]; /* newest translations, kept from one descriptor to the next */
	unsigned extent_next;
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
 * mover_move() - do the first bytes of @piece, as many as lie together everywhere.
 * Return: their number, 0 = refused (@fault).
 */
uint32_t mover_move(struct tutti_card *card, struct mover *m, const struct piece *piece, struct mover_fault *fault);
/**
 * mover_rows() - whole rows of a load or store, all alike and inside the tensor, up to @most bytes.
 * Return: bytes done; 0 = not such a case, or the next row is refused: see mover_move().
 */
uint32_t mover_rows(struct tutti_card *card, struct mover *m, uint32_t most);
/** mover_account() - count what moving @bytes at @va touches. */
void mover_account(struct tutti_card *card, uint64_t va, uint64_t bytes);

/** reduce_find() - the function for operator @op (enum tutti_reduce_op) and @type, NULL if there is none. */
reduce_row reduce_find(unsigned op, unsigned type);

/** mbarrier_complete() - @bytes have arrived; the phase ends if they were the last. */
void mbarrier_complete(uint64_t *barrier, uint64_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: What the files of the movers share
 *
 *   mover.c      the ring, turns, completion, faults
 *   mover_walk.c the order in which the pieces of a box are moved
 *   mover_data.c what happens to one piece: pages, swizzle, fill, rounding
 *   reduce.c     reductions
 *   mbarrier.c   how bytes that arrive count on an mbarrier
 *
 * All of it runs in the driving thread. Descriptor, shape and request are copied when a descriptor is taken. Shared
 * memory is looked up again in every turn, because CTAs may end in between.
 */
#ifndef TUTTI_EMULATOR_MOVER_PARTS_H
#define TUTTI_EMULATOR_MOVER_PARTS_H

#include "emulator/base/state.h"
#include "emulator/memory/mmu.h"
#include "emulator/waves/tensor_port.h"

#define WALK_DIMENSIONS TUTTI_MOVE_DIMENSIONS

/**
 * struct walk - a position in the box that a descriptor moves.
 * @run: a row, that is, bytes that are contiguous on the walked side and the fill around them
 * @outer: the other dimensions, innermost first
 * @at: position in the row, in bytes
 * @done: position on the dense side, in bytes; the walk ends at @total
 */
struct walk {
	struct { uint64_t before, count, row; } run;
	struct { uint64_t before, count, total, stride, index; } outer[WALK_DIMENSIONS];
	unsigned dimensions;
	uint64_t global, at, done, total;
};

/**
 * struct piece - the next bytes of a walk, either all moved or all filled.
 * @filled: they are fill, so that none of them is on the walked side
 * @fresh: it is the first piece of its run
 */
struct piece {
	uint64_t va, bytes;
	bool filled, fresh;
};

/** reduce_row - combine elements of @bytes at @from into those at @to, each element atomically. */
typedef void (*reduce_row)(void *to, const void *from, uint32_t bytes);

/** walk_start() - begin a walk. Return: false if the descriptor names a part that its box does not have */
bool walk_start(struct walk *walk, const struct tutti_mover *d, const struct tutti_mover_shape *shape);
/** walk_piece() - find the next bytes. Not to be called at the end (walk->done == walk->total). */
void walk_piece(const struct walk *walk, struct piece *piece);
void walk_advance(struct walk *walk, uint64_t bytes);
/** walk_rows() - number of whole rows from here on with the same stride; 0 inside a row or its fill. */
uint64_t walk_rows(const struct walk *walk);
/** walk_skip() - advance by @rows of the rows that walk_rows() has counted. */
void walk_skip(struct walk *walk, uint64_t rows);

/** struct mover_extent - a cached translation: contiguous memory of the emulator for one kind of access. */
struct mover_extent {
	uint64_t va, bytes;
	uint8_t *at;
	uint32_t asid, generation;
	uint8_t access;
	bool bus;
};
#define MOVER_EXTENTS 4u

/** struct mover - the descriptor that is being executed, a copy of the one in the ring. */
struct mover {
	bool active;
	uint8_t refused;          /* why the descriptor cannot be executed, TUTTI_CAUSE_*; 0 if it can */
	struct tutti_mover d;
	struct tutti_mover_shape shape;
	struct engines_call call; /* the tensor request, if the descriptor has CALL */
	struct walk walk;
	reduce_row reduce;
	uint64_t arrived;         /* bytes not yet counted on the mbarriers */
	struct mover_extent extent[MOVER_EXTENTS]; /* newest translations, kept from one descriptor to the next */
	unsigned extent_next;
	/* Shared memory, valid in this turn only. */
	struct sm_shared source, target[SM_CGA_CTAS];
	unsigned targets;
};

/** struct mover_fault - why an access of a mover was refused: TUTTI_CAUSE_* and TUTTI_ACCESS_*. */
struct mover_fault {
	uint8_t cause, access;
	uint64_t address;
};

/**
 * mover_move() - move the first bytes of @piece, as many as are contiguous on all sides.
 * Return: their number, or 0 if an access is refused; @fault then says why.
 */
uint32_t mover_move(struct tutti_card *card, struct mover *m, const struct piece *piece, struct mover_fault *fault);
/**
 * mover_rows() - move whole rows of a load or store, the quick way for rows inside the tensor, up to @most bytes.
 * Return: bytes moved; 0 if the next row needs mover_move(), which also reports refused accesses.
 */
uint32_t mover_rows(struct tutti_card *card, struct mover *m, uint32_t most);
/** mover_account() - count the memory traffic of moving @bytes at @va. */
void mover_account(struct tutti_card *card, uint64_t va, uint64_t bytes);

/**
 * reduce_find() - the function for operator @op (enum tutti_reduce_op) on elements of @type.
 * @block: they are those of blocks, not of a tensor
 *
 * Return: NULL if tensor_type.h has no such reduction.
 */
reduce_row reduce_find(unsigned op, unsigned type, bool block);

/** mbarrier_complete() - count @bytes that have arrived; the phase ends if they were the last ones. */
void mbarrier_complete(uint64_t *barrier, uint64_t bytes);

#endif

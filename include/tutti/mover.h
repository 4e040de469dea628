/* SPDX-License-Identifier: MIT */
/**
 * DOC: Mover descriptors
 *
 * A mover copies a box of up to four dimensions and knows nothing of tensors. One
 * side of the box is *walked* with strides in global memory, the other is *dense*:
 * dimension 0 innermost, no gaps. What the descriptors of one tensor have in common
 * is a shape, kept in local memory; a descriptor is 64 bytes in the mover ring and
 * names its shape, the two addresses and, at the edge of a tensor, what is clipped.
 * Firmware writes only the fields that the flags of a descriptor make valid; others
 * hold what an earlier lap left there. A mover copies descriptor and shape when it
 * takes the descriptor; with @mover_head they are the firmware's again.
 *
 * Boxes. Dimension 0 counts units of shape.unit bytes, the others steps. Element x
 * of the box lies at
 *     walked: global + sum (x[k] - before[k]) * stride[k], of x with
 *             before[k] <= x[k] < before[k] + count[k] in each k, nowhere else;
 *     dense:  its number in the box of before + count + after elements a dimension,
 *             times unit bytes, behind the start of the dense side.
 * Elements nowhere on the walked side are given the fill value on loads, and not
 * written on stores. @global is the address of the first element that is somewhere.
 * Without CLIPPED before = after = 0 and count is the shape's.
 *
 * Shared memory. Offsets count from the start of the shared memory of the CTA that
 * issued the request (or that multicast or @cta name), swizzled as they are:
 * a ^= (a >> 3) & 0x10, 0x30, 0x70 for swizzle 32, 64, 128. (spec TMA-15)
 *
 * Movers take descriptors in order and may execute several at once, in any order.
 * Bytes of a load count on the barrier as they arrive, filled ones too, in each
 * destination CTA. Accesses go in 128-byte lines with 32-byte sectors. An access
 * that is refused ends its descriptor: with CALL it is a fault of the wave that made
 * the request (TUTTI_EVENT_FAULT, engine MOVER), else event MOVER has the cause; a
 * prefetch is never refused.
 * (spec TMA-20, TMA-21)
 */
#ifndef TUTTI_MOVER_H
#define TUTTI_MOVER_H

#include "types.h"

/* struct tutti_mover.op: what is read, what is written */
#define TUTTI_MOVE_COPY 1u     /* walked; dense at @other in global memory */
#define TUTTI_MOVE_LOAD 2u     /* walked; dense at @shared, in all CTAs of the request's mask if it is multicast */
#define TUTTI_MOVE_STORE 3u    /* dense at @shared; walked, reduced */
#define TUTTI_MOVE_SHARED 4u   /* dense at @source; dense at @shared in CTA @cta, reduced. LINEAR only */
#define TUTTI_MOVE_FILL 5u     /* nothing; walked. LINEAR only: phase 0 of the fill value is at @global */
#define TUTTI_MOVE_PREFETCH 6u /* walked; nothing: lines come into the card's cache */
#define TUTTI_MOVE_SCATTER 7u  /* dense at @other in global memory; walked */
#define TUTTI_MOVE_END 8u      /* nothing: for requests that are refused or move nothing */
#define TUTTI_MOVE_DIMENSIONS 4u

/* struct tutti_mover.flags */
#define TUTTI_MOVER_EVENT 1u    /* event MOVER with @tag when done */
#define TUTTI_MOVER_CALL 2u     /* belongs to the request in slot @call: that names asid, CTA, mask, barrier */
#define TUTTI_MOVER_LAST 4u     /* the last one of its request */
#define TUTTI_MOVER_CLIPPED 8u  /* @before, @count, @after are valid */
#define TUTTI_MOVER_LINEAR 16u  /* both sides dense: @bytes; of the shape only swizzle, fill and type */
#define TUTTI_MOVER_OUTSIDE 32u /* LINEAR, loads: all @bytes are filled, @global is not valid */
#define TUTTI_MOVER_NO_SHAPE 64u /* LINEAR: no swizzle, type is @type */

/** struct tutti_mover_shape - what the descriptors of a tensor have in common, in local memory. */
struct tutti_mover_shape {
	uint64_t fill;        /* element repeated; byte i of the dense side that is filled is byte i % 8 of it */
	uint64_t stride[TUTTI_MOVE_DIMENSIONS]; /* walked side, bytes. [0]: equal to unit if dense */
	uint16_t count[TUTTI_MOVE_DIMENSIONS];  /* of the full box, 1.. */
	uint16_t unit;        /* bytes of a step of dimension 0, which are contiguous */
	uint8_t type;         /* enum tutti_tensor_type: reductions, rounding of TF32, flushing of FTZ on loads */
	uint8_t swizzle;      /* enum tutti_swizzle, of the shared sides */
	uint8_t promotion;    /* a hint: bytes to bring into the card's cache with a sector, as in the tensor */
	uint8_t pad0[11];
};
TUTTI_SIZE(struct tutti_mover_shape, 64);
TUTTI_AT(struct tutti_mover_shape, fill, 0);
TUTTI_AT(struct tutti_mover_shape, stride, 8);
TUTTI_AT(struct tutti_mover_shape, count, 40);
TUTTI_AT(struct tutti_mover_shape, unit, 48);
TUTTI_AT(struct tutti_mover_shape, type, 50);
TUTTI_AT(struct tutti_mover_shape, swizzle, 51);
TUTTI_AT(struct tutti_mover_shape, promotion, 52);
TUTTI_AT(struct tutti_mover_shape, pad0, 53);

/** struct tutti_mover - one mover descriptor. */
struct tutti_mover {
	uint8_t op;           /* TUTTI_MOVE_* */
	uint8_t flags;        /* TUTTI_MOVER_* */
	uint8_t reduce;       /* enum tutti_reduce_op: STORE, SHARED */
	uint8_t call;         /* CALL: slot of the request */
	uint32_t shape;       /* local address of the shape, 8-byte aligned; not with NO_SHAPE and END */
	uint64_t global;      /* walked side: address of its first element */
	uint64_t other;       /* COPY, SCATTER: dense side */
	uint32_t shared;      /* LOAD, STORE, SHARED: dense side, offset in the CTA's shared memory */
	uint32_t bytes;       /* LINEAR */
	uint16_t before[TUTTI_MOVE_DIMENSIONS]; /* CLIPPED */
	uint16_t count[TUTTI_MOVE_DIMENSIONS];  /* CLIPPED: elements that are there, may be 0 */
	uint16_t after[TUTTI_MOVE_DIMENSIONS];  /* CLIPPED */
	uint32_t source;      /* SHARED: offset in the requesting CTA's shared memory */
	uint16_t tag;         /* EVENT, without CALL: given back in TUTTI_EVENT_MOVER */
	uint8_t type;         /* NO_SHAPE: enum tutti_tensor_type for reductions */
	uint8_t asid;         /* without CALL: address space */
};
TUTTI_SIZE(struct tutti_mover, 64);
TUTTI_AT(struct tutti_mover, op, 0);
TUTTI_AT(struct tutti_mover, flags, 1);
TUTTI_AT(struct tutti_mover, reduce, 2);
TUTTI_AT(struct tutti_mover, call, 3);
TUTTI_AT(struct tutti_mover, shape, 4);
TUTTI_AT(struct tutti_mover, global, 8);
TUTTI_AT(struct tutti_mover, other, 16);
TUTTI_AT(struct tutti_mover, shared, 24);
TUTTI_AT(struct tutti_mover, bytes, 28);
TUTTI_AT(struct tutti_mover, before, 32);
TUTTI_AT(struct tutti_mover, count, 40);
TUTTI_AT(struct tutti_mover, after, 48);
TUTTI_AT(struct tutti_mover, source, 56);
TUTTI_AT(struct tutti_mover, tag, 60);
TUTTI_AT(struct tutti_mover, type, 62);
TUTTI_AT(struct tutti_mover, asid, 63);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Mover descriptors
 *
 * A mover is a copy engine. It copies a box of up to four dimensions and knows nothing of
 * tensors. On one side, the *walked* one, the elements of the box lie in global memory at
 * strides; on the other, the *dense* one, they follow each other, dimension 0 innermost. What
 * the descriptors of one tensor have in common is a *shape*, which is kept in local memory. A
 * descriptor is 64 bytes in the mover ring and names its shape, the two addresses and, at
 * the edge of a tensor, what is clipped. Only those fields are valid which the flags of a descriptor
 * say; the others hold what an earlier descriptor left there. A mover copies descriptor and
 * shape when it takes the descriptor; once mover_head is past it they are the firmware's again.
 *
 * Boxes. Dimension 0 counts steps of shape.unit contiguous bytes, the others count rows, planes
 * and so on. Element x of the box lies
 *     on the walked side at global + sum over k of (x[k] - before[k]) * stride[k], provided that
 *             before[k] <= x[k] < before[k] + count[k] in each dimension k; else it lies nowhere;
 *     on the dense side at start + n * unit, n being its number in a box of
 *             before[k] + count[k] + after[k] elements along each dimension k.
 * Elements that lie nowhere on the walked side are given the fill value by loads and are not
 * written by stores. @global is the address of the first element that lies somewhere. Without CLIPPED,
 * before and after are 0 and count is the shape's.
 *
 * Parts. With PART only some elements of the box are moved: @bytes of them, from element @start on, in the order in
 * which they are numbered. The dense side then starts with that element. For an engine that counts its way
 * through the box this is a first value for each counter and one count that ends it; for the firmware it
 * means that one descriptor moves any run of pixels (spec TMA-12), which may begin and end inside a row. The part must
 * not reach beyond the box; a descriptor whose part does so is refused like one that makes no sense.
 *
 * Shared memory. Offsets count from the start of the shared memory of the CTA that issued the
 * request (or of those named by the multicast mask or by @cta). They are swizzled as they are:
 * a ^= (a >> 3) & 0x10, 0x30 or 0x70 for swizzles of 32, 64 and 128 bytes. (spec TMA-15)
 *
 * Elements. tensor_type.h says what LOAD and COPY make of elements of each type, and how reductions
 * compute. A reduction that the type does not have is refused with the cause TUTTI_CAUSE_TENSOR +
 * TUTTI_TENSOR_ERROR_REDUCE; firmware that follows the same table never asks for one.
 *
 * Movers take descriptors in order and may execute several at once, in any order. Bytes of a
 * load, filled ones included, count on the mbarrier as they arrive, in each destination CTA.
 * Global memory is accessed in lines of 128 bytes with sectors of 32. An access that is refused
 * ends its descriptor: with CALL it is a fault of the wave that made the request (event FAULT, engine
 * MOVER), without it the event MOVER has the cause. A prefetch is never refused.
 * (spec TMA-20, TMA-21)
 */
#ifndef TUTTI_MOVER_H
#define TUTTI_MOVER_H

#include "types.h"

/* struct tutti_mover.op: from where to where */
#define TUTTI_MOVE_COPY 1u     /* walked side to global memory at @other, dense */
#define TUTTI_MOVE_LOAD 2u     /* walked side to @shared, dense, in all CTAs of the request's mask if it is multicast */
#define TUTTI_MOVE_STORE 3u    /* @shared, dense, to the walked side, combined by @reduce */
#define TUTTI_MOVE_SHARED 4u   /* @source to @shared of the request's CTA @cta, combined by @reduce. LINEAR only */
#define TUTTI_MOVE_FILL 5u     /* the fill value to the walked side. LINEAR only; its byte 0 goes to @global */
#define TUTTI_MOVE_PREFETCH 6u /* lines of the walked side into the card's cache */
#define TUTTI_MOVE_SCATTER 7u  /* global memory at @other, dense, to the walked side */
#define TUTTI_MOVE_END 8u      /* moves nothing: ends requests that are refused or empty */
#define TUTTI_MOVE_DIMENSIONS 4u

/* struct tutti_mover.flags */
#define TUTTI_MOVER_EVENT 1u     /* put an event MOVER with @tag when done */
/* it belongs to the request in slot @call, which names address space, CTA, mask and barrier */
#define TUTTI_MOVER_CALL 2u
#define TUTTI_MOVER_LAST 4u      /* it is the last one of its request */
#define TUTTI_MOVER_CLIPPED 8u   /* @before, @count and @after are valid */
#define TUTTI_MOVER_LINEAR 16u   /* both sides are dense, @bytes long; of the shape only swizzle, fill and type count */
#define TUTTI_MOVER_OUTSIDE 32u  /* LINEAR loads: all @bytes are filled; @global is not valid */
#define TUTTI_MOVER_NO_SHAPE 64u /* LINEAR: blocks; no shape, no swizzle, and @type is the type */
#define TUTTI_MOVER_PART 128u    /* with CALL and CLIPPED, without EVENT: @start and @bytes are valid, see above */

/** struct tutti_mover_shape - what the descriptors of a tensor have in common; in local memory. */
struct tutti_mover_shape {
	uint64_t fill;        /* the fill value, repeated; byte i of the dense side gets byte i % 8 of it */
	uint64_t stride[TUTTI_MOVE_DIMENSIONS]; /* walked side, bytes; [0] equals @unit if dimension 0 is contiguous */
	uint16_t count[TUTTI_MOVE_DIMENSIONS];  /* elements of a full box, at least 1 */
	uint16_t unit;        /* contiguous bytes of an element of dimension 0 */
	uint8_t type;         /* enum tutti_tensor_type, for reductions and for what LOAD and COPY do with elements */
	uint8_t swizzle;      /* enum tutti_swizzle, of shared memory */
	uint8_t promotion;    /* a hint for the card's cache, as in struct tutti_tensor */
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
	uint8_t reduce;       /* STORE, SHARED: enum tutti_reduce_op */
	uint8_t call;         /* CALL: slot of the request in the request area */
	uint32_t shape;       /* local address of its shape, 8-byte aligned; not with NO_SHAPE and END */
	uint64_t global;      /* walked side: address of its first element */
	uint64_t other;       /* COPY, SCATTER: dense side */
	uint32_t shared;      /* LOAD, STORE, SHARED: dense side, offset in the CTA's shared memory */
	uint32_t bytes;       /* LINEAR, PART: size */
	uint16_t before[TUTTI_MOVE_DIMENSIONS]; /* CLIPPED: elements before the tensor begins */
	uint16_t count[TUTTI_MOVE_DIMENSIONS];  /* CLIPPED: elements in the tensor, may be 0 */
	uint16_t after[TUTTI_MOVE_DIMENSIONS];  /* CLIPPED: elements behind its end */
	__extension__ union {
		__extension__ struct {
			uint32_t source;      /* SHARED: offset in the requesting CTA's shared memory */
			uint16_t tag;         /* EVENT, without CALL: given back in the event */
			uint8_t type;         /* NO_SHAPE: enum tutti_tensor_type for reductions of blocks */
			uint8_t asid;         /* without CALL: address space */
		};
		uint16_t start[TUTTI_MOVE_DIMENSIONS]; /* PART: the first element that is moved */
	};
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
TUTTI_AT(struct tutti_mover, start, 56);

#endif

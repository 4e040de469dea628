/* SPDX-License-Identifier: MIT */
/**
 * DOC: Tensor descriptors and requests to the tensor memory access unit (TMAU)
 *
 * A wave asks for a copy of a box of a tensor by one request and goes on; the firmware turns the
 * request into descriptors for the movers (mover.h), which copy the box. CUDA's names for the
 * same things are tensor map and cp.async.bulk.tensor. (spec TMA-01 .. TMA-29)
 *
 * Dimension 0 is the innermost one (c in NHWC). A descriptor takes 128 bytes, 64-byte aligned,
 * in global memory; the library or a kernel makes it (tensor_api.h). Fields of dimensions
 * beyond its rank are ignored.
 *
 * Interleave: the order in memory is N, C / slice, D, H, W, slice. Dimension 0 then counts slices
 * of 16 or 32 bytes in box, traversal stride, coordinates and channels per pixel; only size_less_1[0]
 * counts channels, and the owner pads the last slice. From one slice to the next it is
 * stride[rank - 3] * size[rank - 2] bytes. In shared memory the slices of a pixel follow each
 * other. (spec TMA-16)
 *
 * Traversal strides: that of dimension 0 counts in tile mode with interleave only; in im2col mode
 * those of W, H and D count.
 *
 * Changing a descriptor in memory: make the change visible by a fence, then issue a request
 * TUTTI_DESCRIPTOR_INVALIDATE. Later requests of the same SM see the change; those of other
 * SMs do when wait_all of the wave that asked has returned. A kernel that was launched with
 * an acquire fence sees what was in memory at the fence. (spec TMA-18)
 */
#ifndef TUTTI_TENSOR_H
#define TUTTI_TENSOR_H

#include "tensor_type.h"
#include "types.h"

#define TUTTI_TENSOR_VERSION 1u
#define TUTTI_TENSOR_RANK 5u

/** enum tutti_tensor_mode - a box of the tensor, or pixels of a bounding box for convolutions. */
enum tutti_tensor_mode { TUTTI_TILE, TUTTI_IM2COL };
/** enum tutti_interleave - channels lie in slices of so many bytes. */
enum tutti_interleave { TUTTI_INTERLEAVE_NONE, TUTTI_INTERLEAVE_16, TUTTI_INTERLEAVE_32 };
/** enum tutti_swizzle - 16-byte pieces of shared memory change places within so many bytes (spec TMA-15). */
enum tutti_swizzle { TUTTI_SWIZZLE_NONE, TUTTI_SWIZZLE_32, TUTTI_SWIZZLE_64, TUTTI_SWIZZLE_128 };
/** enum tutti_fill - what is loaded for elements outside the tensor. */
enum tutti_fill { TUTTI_FILL_ZERO, TUTTI_FILL_NAN, TUTTI_FILL_CONSTANT };

/** struct tutti_column - im2col mode: the bounding box, and what one request moves. */
struct tutti_column {
	int16_t lower[3];  /* lower corner along W, H, D, from the first element */
	int16_t upper[3];  /* upper corner along W, H, D, from the last element */
	uint16_t channels; /* channels of a pixel, 1 to 256 */
	uint16_t pixels;   /* pixels of a request, 1 to 1024 */
};
TUTTI_SIZE(struct tutti_column, 16);
TUTTI_AT(struct tutti_column, lower, 0);
TUTTI_AT(struct tutti_column, upper, 6);
TUTTI_AT(struct tutti_column, channels, 12);
TUTTI_AT(struct tutti_column, pixels, 14);

/** struct tutti_tensor - tensor descriptor. Reserved fields are 0. */
struct tutti_tensor {
	uint64_t base;                  /* address of element 0 */
	uint8_t version;                /* TUTTI_TENSOR_VERSION */
	uint8_t type;                   /* enum tutti_tensor_type */
	uint8_t rank;                   /* 1 to 5 */
	uint8_t mode;                   /* enum tutti_tensor_mode */
	uint8_t interleave;             /* enum tutti_interleave */
	uint8_t swizzle;                /* enum tutti_swizzle */
	uint8_t fill;                   /* enum tutti_fill */
	/* into the card's cache at once: 0 = as needed, 1 = 64, 2 = 128, 3 = 256 bytes */
	uint8_t promotion;
	uint64_t stride[TUTTI_TENSOR_RANK - 1]; /* bytes from element to element along dimensions 1 to 4 */
	uint32_t size_less_1[TUTTI_TENSOR_RANK]; /* elements - 1 */
	uint8_t traversal[TUTTI_TENSOR_RANK];    /* step along each dimension, 1 to 8 */
	uint8_t pad0[3];
	__extension__ union {
		uint16_t box[TUTTI_TENSOR_RANK];     /* tile mode: elements, 1 to 256 */
		struct tutti_column column;          /* im2col mode */
	};
	uint32_t pad3;
	uint64_t constant;              /* TUTTI_FILL_CONSTANT: the element, in its low bytes */
	uint64_t pad1[2];
	uint32_t pad2;
	uint32_t check;                 /* minus the sum of the other 31 words, modulo 2^32 */
};
TUTTI_SIZE(struct tutti_tensor, 128);
TUTTI_AT(struct tutti_tensor, base, 0);
TUTTI_AT(struct tutti_tensor, version, 8);
TUTTI_AT(struct tutti_tensor, type, 9);
TUTTI_AT(struct tutti_tensor, rank, 10);
TUTTI_AT(struct tutti_tensor, mode, 11);
TUTTI_AT(struct tutti_tensor, interleave, 12);
TUTTI_AT(struct tutti_tensor, swizzle, 13);
TUTTI_AT(struct tutti_tensor, fill, 14);
TUTTI_AT(struct tutti_tensor, promotion, 15);
TUTTI_AT(struct tutti_tensor, stride, 16);
TUTTI_AT(struct tutti_tensor, size_less_1, 48);
TUTTI_AT(struct tutti_tensor, traversal, 68);
TUTTI_AT(struct tutti_tensor, pad0, 73);
TUTTI_AT(struct tutti_tensor, box, 76);
TUTTI_AT(struct tutti_tensor, column, 76);
TUTTI_AT(struct tutti_tensor, pad3, 92);
TUTTI_AT(struct tutti_tensor, constant, 96);
TUTTI_AT(struct tutti_tensor, pad1, 104);
TUTTI_AT(struct tutti_tensor, pad2, 120);
TUTTI_AT(struct tutti_tensor, check, 124);

/** enum tutti_tensor_op - struct tutti_tensor_request.op, on tensors (TUTTI_REQUEST_TENSOR) or on blocks of bytes. */
enum tutti_tensor_op {
	TUTTI_COPY_LOAD,     /* from global memory at @descriptor to @shared; needs a barrier */
	TUTTI_COPY_STORE,    /* from @shared to global memory at @descriptor */
	TUTTI_COPY_REDUCE,   /* the same, combined with what is there by @reduce */
	TUTTI_COPY_GLOBAL,   /* from global memory at @descriptor to linear memory at @other */
	/* from own shared memory at @other to @shared of CTA @cta, combined by @reduce; barrier there, if any */
	TUTTI_COPY_SHARED,
	TUTTI_COPY_PREFETCH, /* global memory at @descriptor into the card's cache */
	TUTTI_COPY_SCATTER,  /* from linear memory at @other to global memory at @descriptor; tensors only */
	TUTTI_DESCRIPTOR_PREFETCH,   /* the descriptor itself into the firmware's cache of descriptors */
	TUTTI_DESCRIPTOR_INVALIDATE, /* the descriptor out of that cache; 0 = all of the context */
	TUTTI_TENSOR_OPS
};

/* struct tutti_tensor_request.flags */
#define TUTTI_REQUEST_TENSOR 1u    /* @descriptor names a tensor descriptor; else it is an address of blocks */
#define TUTTI_REQUEST_MULTICAST 2u /* @cta_mask is valid */
#define TUTTI_REQUEST_INLINE 4u    /* the descriptor was built from arguments and is taken with the request */
/* bits 15..12: n, 0 to 11: a block has 16 << n bytes */
#define TUTTI_REQUEST_BLOCK_SHIFT 12u
#define TUTTI_BLOCK_SHIFT_MAX 11u
#define TUTTI_BLOCK_BYTES 16u
#define TUTTI_BARRIER_NONE 0xffffffffu /* struct tutti_tensor_request.barrier */

/**
 * struct tutti_tensor_request - one request, of any size, which is one message (spec TMA-02).
 * @descriptor: address of the tensor descriptor; of blocks: address in global memory (the source of a copy from
 *	global to global memory)
 * @op: enum tutti_tensor_op
 * @mode: enum tutti_tensor_mode; must be the descriptor's
 * @rank: must be the descriptor's
 * @reduce: enum tutti_reduce_op; which of them a type has is in tensor_type.h
 * @flags: TUTTI_REQUEST_*
 * @cta_mask: multicast: ranks in the CGA of the CTAs that get the data
 * @coordinate: of the box's first element (tile) or of the base pixel (im2col), dimension 0 first
 * @offset: im2col: offsets of the filter's tap, packed: 16 / (rank - 2) bits for each of W, H, D
 * @type: reductions of blocks: enum tutti_tensor_type
 * @cta: TUTTI_COPY_SHARED: rank of the destination CTA
 * @shared: offset in the CTA's shared memory
 * @barrier: offset of the mbarrier in shared memory (of the destination CTA), or TUTTI_BARRIER_NONE
 * @other: second address: linear memory of TUTTI_COPY_GLOBAL and _SCATTER, offset in own shared memory of _SHARED
 * @blocks: number of blocks, without TUTTI_REQUEST_TENSOR
 */
struct tutti_tensor_request {
	uint64_t descriptor;
	uint8_t op;
	uint8_t mode;
	uint8_t rank;
	uint8_t reduce;
	uint16_t flags;
	uint16_t cta_mask;
	int32_t coordinate[TUTTI_TENSOR_RANK];
	uint16_t offset;
	uint8_t type;
	uint8_t cta;
	uint32_t shared;
	uint32_t barrier;
	uint64_t other;
	uint32_t blocks;
	uint32_t pad0;
};
TUTTI_SIZE(struct tutti_tensor_request, 64);
TUTTI_AT(struct tutti_tensor_request, descriptor, 0);
TUTTI_AT(struct tutti_tensor_request, op, 8);
TUTTI_AT(struct tutti_tensor_request, mode, 9);
TUTTI_AT(struct tutti_tensor_request, rank, 10);
TUTTI_AT(struct tutti_tensor_request, reduce, 11);
TUTTI_AT(struct tutti_tensor_request, flags, 12);
TUTTI_AT(struct tutti_tensor_request, cta_mask, 14);
TUTTI_AT(struct tutti_tensor_request, coordinate, 16);
TUTTI_AT(struct tutti_tensor_request, offset, 36);
TUTTI_AT(struct tutti_tensor_request, type, 38);
TUTTI_AT(struct tutti_tensor_request, cta, 39);
TUTTI_AT(struct tutti_tensor_request, shared, 40);
TUTTI_AT(struct tutti_tensor_request, barrier, 44);
TUTTI_AT(struct tutti_tensor_request, other, 48);
TUTTI_AT(struct tutti_tensor_request, blocks, 56);
TUTTI_AT(struct tutti_tensor_request, pad0, 60);

/**
 * struct tutti_tensor_call - a request in the request area of the engine page.
 * @request: the request as the wave made it
 * @sm: SM of the wave
 * @wave: the wave
 * @asid: its address space
 * @slot: its task slot
 * @rank: rank of its CTA in the CGA
 * @shared_bytes: shared memory of its CTA, and of every other CTA of the CGA
 * @present: ranks of the CGA that have not exited; 1 without a CGA
 * @pc: address of its ecall
 * @cta: of no meaning to the firmware
 * @descriptor: TUTTI_REQUEST_INLINE: the descriptor, read from @request.descriptor, which may be any address of the
 *	wave
 *
 * The front of the TMAU fills slots in the order 0, 1, 2, ..., and puts an event REQUEST for each. A slot is free
 * again when a mover has taken the request's LAST descriptor. Requests of one SM are taken in their order, SMs in
 * turns; a wave whose request finds no room waits.
 *
 * The hardware counts what is in flight for each CTA: 1 more when a request is issued, 1 less when its LAST descriptor
 * is taken, 1 more for each descriptor taken, 1 less when its bytes have arrived (in all CTAs of a multicast).
 * wait_all, the end of a CTA or CGA, and KILL wait until the count is 0. Descriptors of a CTA that is being killed are
 * taken and dropped unless they are already at work. (spec TMA-03, TMA-28)
 */
struct tutti_tensor_call {
	struct tutti_tensor_request request;
	uint16_t sm;
	uint16_t wave;
	uint16_t asid;
	uint8_t slot;
	uint8_t rank;
	uint32_t shared_bytes;
	uint16_t present;
	uint16_t pad0;
	uint64_t pc;
	uint32_t cta;
	uint32_t pad1;
	uint64_t pad2[4];
	struct tutti_tensor descriptor;
};
TUTTI_SIZE(struct tutti_tensor_call, 256);
TUTTI_AT(struct tutti_tensor_call, request, 0);
TUTTI_AT(struct tutti_tensor_call, sm, 64);
TUTTI_AT(struct tutti_tensor_call, wave, 66);
TUTTI_AT(struct tutti_tensor_call, asid, 68);
TUTTI_AT(struct tutti_tensor_call, slot, 70);
TUTTI_AT(struct tutti_tensor_call, rank, 71);
TUTTI_AT(struct tutti_tensor_call, shared_bytes, 72);
TUTTI_AT(struct tutti_tensor_call, present, 76);
TUTTI_AT(struct tutti_tensor_call, pad0, 78);
TUTTI_AT(struct tutti_tensor_call, pc, 80);
TUTTI_AT(struct tutti_tensor_call, cta, 88);
TUTTI_AT(struct tutti_tensor_call, pad1, 92);
TUTTI_AT(struct tutti_tensor_call, pad2, 96);
TUTTI_AT(struct tutti_tensor_call, descriptor, 128);

/**
 * TUTTI_TENSOR_ERROR_LIST() - why a descriptor or a request is refused, as X(NAME, "text").
 *
 * The functions that make descriptors return these. A request that the firmware refuses is a fault of its wave with
 * code TUTTI_ERROR_TENSOR and cause TUTTI_CAUSE_TENSOR + the error. (spec TMA-04)
 */
#define TUTTI_TENSOR_ERROR_LIST(X)                                                        \
	X(NONE, "descriptor is good")                                                     \
	X(PLACE, "descriptor is not 64-byte aligned")                                     \
	X(VERSION, "unknown descriptor version")                                          \
	X(CHECK, "check word does not fit: seal a descriptor after changing it")          \
	X(RESERVED, "a reserved field is not zero")                                       \
	X(TYPE, "unknown element type")                                                   \
	X(MODE, "unknown mode")                                                           \
	X(RANK, "rank is not 1..5")                                                       \
	X(RANK_IM2COL, "im2col needs rank 3, 4 or 5")                                     \
	X(RANK_INTERLEAVE, "interleave needs rank 3 or more")                             \
	X(INTERLEAVE, "unknown interleave")                                               \
	X(SWIZZLE, "unknown swizzle")                                                     \
	X(SWIZZLE_INTERLEAVE, "32-byte interleave needs the 32-byte swizzle")             \
	X(FILL, "unknown fill")                                                           \
	X(FILL_TYPE, "NaN fill is for floating-point types")                              \
	X(PROMOTION, "promotion is not 0..3")                                             \
	X(BASE, "base is not 16-byte aligned (32 with 32-byte interleave)")               \
	X(SIZE, "a size is not 1..2^32")                                                  \
	X(STRIDE, "a stride is no multiple of 16 bytes (32 with 32-byte interleave)")     \
	X(STRIDE_LARGE, "a stride is 2^40 bytes or more")                                 \
	X(EXTENT, "tensor does not lie below the end of addresses")                       \
	X(TRAVERSAL, "a traversal stride is not 1..8")                                    \
	X(BOX, "a box size is not 1..256")                                                \
	X(BOX_BYTES, "box bytes of dimension 0 are no multiple of 16")                    \
	X(BOX_SWIZZLE, "box bytes of dimension 0 are more than the swizzle's width")      \
	X(CORNER, "a corner is too far away for this rank")                               \
	X(BOUNDING_BOX, "upper corner lies before the lower one")                         \
	X(CHANNELS, "channels per pixel are not 1..256")                                  \
	X(CHANNEL_BYTES, "bytes of a pixel's channels are no multiple of 16")             \
	X(CHANNEL_SWIZZLE, "bytes of a pixel's channels are more than the swizzle's width") \
	X(PIXELS, "pixels per column are not 1..1024")                                    \
	/* of requests */                                                                 \
	X(REQUEST_OP, "unknown operation")                                                \
	X(REQUEST_FLAGS, "flags do not go together, or with the operation")               \
	X(REQUEST_MODE, "mode is not that of the descriptor")                             \
	X(REQUEST_RANK, "rank is not that of the descriptor")                             \
	X(ORIGIN, "address of the box's origin is not 16-byte aligned")                   \
	X(BASE_PIXEL, "base pixel lies outside the bounding box")                         \
	X(OFFSET, "an im2col offset is too large, or on a store")                         \
	X(STORE_CORNER, "im2col store with a lower corner below or an upper above 0")     \
	X(STORE_COORDINATE, "im2col store with a coordinate below 0")                     \
	X(SHARED_ALIGN, "shared address is no multiple of 16")                            \
	X(SHARED_RANGE, "shared range does not lie in the CTA's memory")                  \
	X(BARRIER_NEEDED, "load without a barrier")                                       \
	X(BARRIER_UNUSED, "barrier given to an operation that has none")                  \
	X(BARRIER_PLACE, "barrier is not 8-byte aligned inside the CTA's memory")         \
	X(MASK, "mask names no CTA, or one that is not there")                            \
	X(CTA, "destination CTA is not there")                                            \
	X(REDUCE, "no such reduction for this type, or none given, or given to a copy")   \
	X(ADDRESS, "global address is no multiple of 16, or beyond the end of addresses") \
	X(BLOCK, "block is larger than 32 KiB")

#define TUTTI_TENSOR_ERROR_ENUM(name, text) TUTTI_TENSOR_ERROR_##name,
enum tutti_tensor_error { TUTTI_TENSOR_ERROR_LIST(TUTTI_TENSOR_ERROR_ENUM) TUTTI_TENSOR_ERRORS };
#undef TUTTI_TENSOR_ERROR_ENUM

/** TUTTI_FILL_NAN_LANE - with TUTTI_FILL_NAN every 16 bits of an element are this special NaN (spec TMA-10). */
#ifndef TUTTI_FILL_NAN_LANE
#define TUTTI_FILL_NAN_LANE 0x7ff7u
#endif

/*
 * An mbarrier, 64 bits in shared memory (spec TMA-22): pending arrivals in bits 19..0, expected arrivals in bits
 * 39..20, the transaction count (bytes still to come, signed) in bits 60..40, the phase in bit 63. The phase flips
 * when pending arrivals and transaction count are 0; the expected arrivals are pending again then.
 */
#define TUTTI_MBARRIER_ARRIVALS_MAX ((1u << 20) - 1)
#define TUTTI_MBARRIER_EXPECTED_SHIFT 20u
#define TUTTI_MBARRIER_TX_SHIFT 40u
#define TUTTI_MBARRIER_TX_BITS 21u
#define TUTTI_MBARRIER_PHASE_SHIFT 63u

#endif

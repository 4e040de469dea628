/* SPDX-License-Identifier: MIT */
/**
 * DOC: Tensor descriptors and TMAU requests (spec TMA-01 .. TMA-29)
 *
 * Dimension 0 is the innermost (c). A descriptor is 128 bytes, 64-byte aligned,
 * in global memory; made by the runtime or by a kernel.
 *
 * Interleave: memory order N, C / slice, D, H, W, slice. Dimension 0 then counts
 * slices of 16 or 32 bytes in box, traversal, coordinates and channels per pixel;
 * only size_less_1[0] counts channels, the last slice being padded by its owner.
 * From slice to slice it is stride[rank - 3] * size[rank - 2] bytes. Shared memory
 * holds the slices of a pixel one behind the other. (spec TMA-16)
 *
 * Traversal: dimension 0's counts in tile mode with interleave only, in im2col mode
 * those of W, H, D. Fields of dimensions beyond the rank are ignored.
 *
 * Changing a descriptor in memory: make it visible (fence), then a request
 * TUTTI_DESCRIPTOR_INVALIDATE; requests of the same SM behind it see the change, those
 * of others after wait_all of the wave that asked. A kernel launched with an acquire fence
 * sees what was there at the fence. (spec TMA-18)
 */
#ifndef TUTTI_TENSOR_H
#define TUTTI_TENSOR_H

#include "types.h"

#define TUTTI_TENSOR_VERSION 1u
#define TUTTI_TENSOR_RANK 5u

enum tutti_tensor_type {
	TUTTI_U8, TUTTI_U16, TUTTI_U32, TUTTI_I32, TUTTI_U64, TUTTI_I64, TUTTI_F16,
	TUTTI_F32, TUTTI_F64, TUTTI_BF16, TUTTI_F32_FTZ, TUTTI_TF32, TUTTI_TF32_FTZ,
	TUTTI_TENSOR_TYPES
};
enum tutti_tensor_mode { TUTTI_TILE, TUTTI_IM2COL };
enum tutti_interleave { TUTTI_INTERLEAVE_NONE, TUTTI_INTERLEAVE_16, TUTTI_INTERLEAVE_32 };
enum tutti_swizzle { TUTTI_SWIZZLE_NONE, TUTTI_SWIZZLE_32, TUTTI_SWIZZLE_64, TUTTI_SWIZZLE_128 };
enum tutti_fill { TUTTI_FILL_ZERO, TUTTI_FILL_NAN, TUTTI_FILL_CONSTANT };

/** struct tutti_column - im2col: the bounding box and what one column covers. */
struct tutti_column {
	int16_t lower[3];  /* corners, W H D */
	int16_t upper[3];
	uint16_t channels; /* per pixel, 1..256 */
	uint16_t pixels;   /* per column, 1..1024 */
};
TUTTI_SIZE(struct tutti_column, 16);
TUTTI_AT(struct tutti_column, lower, 0);
TUTTI_AT(struct tutti_column, upper, 6);
TUTTI_AT(struct tutti_column, channels, 12);
TUTTI_AT(struct tutti_column, pixels, 14);

/** struct tutti_tensor - tensor descriptor. */
struct tutti_tensor {
	uint64_t base;                  /* address of element 0 */
	uint8_t version;                /* TUTTI_TENSOR_VERSION */
	uint8_t type;                   /* enum tutti_tensor_type */
	uint8_t rank;                   /* 1..5 */
	uint8_t mode;                   /* enum tutti_tensor_mode */
	uint8_t interleave;
	uint8_t swizzle;
	uint8_t fill;
	uint8_t promotion;              /* L2 promotion: 0, 1 = 64, 2 = 128, 3 = 256 bytes */
	uint64_t stride[TUTTI_TENSOR_RANK - 1]; /* bytes, of dimensions 1.. */
	uint32_t size_less_1[TUTTI_TENSOR_RANK]; /* elements - 1 */
	uint8_t traversal[TUTTI_TENSOR_RANK];    /* 1..8 */
	uint8_t pad0[3];
	__extension__ union {
		uint16_t box[TUTTI_TENSOR_RANK];     /* tile: elements, 1..256 */
		struct tutti_column column;          /* im2col */
	};
	uint32_t pad3;
	uint64_t constant;              /* fill value, low bytes */
	uint64_t pad1[2];
	uint32_t pad2;
	uint32_t check;                 /* sum of the other 31 words, negated */
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

/* TMAU request operations: struct tutti_tensor_request.op. With TUTTI_REQUEST_TENSOR, else of linear blocks. */
enum tutti_tensor_op {
	TUTTI_COPY_LOAD,     /* global @descriptor to @shared; needs a barrier */
	TUTTI_COPY_STORE,    /* @shared to global @descriptor */
	TUTTI_COPY_REDUCE,   /* the same, reduced */
	TUTTI_COPY_GLOBAL,   /* global @descriptor to linear memory at @other */
	TUTTI_COPY_SHARED,   /* shared @other to @shared of CTA @cta, reduced if @reduce; barrier there, if any */
	TUTTI_COPY_PREFETCH, /* global @descriptor into the card's cache */
	TUTTI_COPY_SCATTER,  /* linear memory at @other to global @descriptor (tensors; blocks need no second form) */
	TUTTI_DESCRIPTOR_PREFETCH,   /* @descriptor into the descriptor cache */
	TUTTI_DESCRIPTOR_INVALIDATE, /* @descriptor out of it; 0 = all of the context */
	TUTTI_TENSOR_OPS
};
enum tutti_reduce_op {
	TUTTI_REDUCE_NONE, TUTTI_REDUCE_ADD, TUTTI_REDUCE_MIN, TUTTI_REDUCE_MAX,
	TUTTI_REDUCE_INC, TUTTI_REDUCE_DEC, TUTTI_REDUCE_AND, TUTTI_REDUCE_OR, TUTTI_REDUCE_XOR,
	TUTTI_REDUCE_OPS
};

#define TUTTI_REQUEST_TENSOR 1u    /* flags: descriptor is valid (else block copy) */
#define TUTTI_REQUEST_MULTICAST 2u /* flags: cta_mask is valid */
#define TUTTI_REQUEST_INLINE 4u    /* flags: descriptor was built from arguments: it is taken with the request */
/* flags, bits 15..12: block copies: a block is 16 << n bytes, n = 0 .. 11 */
#define TUTTI_REQUEST_BLOCK_SHIFT 12u
#define TUTTI_BLOCK_SHIFT_MAX 11u
#define TUTTI_BLOCK_BYTES 16u
#define TUTTI_BARRIER_NONE 0xffffffffu

/** struct tutti_tensor_request - one request, one message (spec TMA-02). */
struct tutti_tensor_request {
	uint64_t descriptor;    /* address; block copies: global address (source of global to global) */
	uint8_t op;
	uint8_t mode;
	uint8_t rank;
	uint8_t reduce;
	uint16_t flags;
	uint16_t cta_mask;
	int32_t coordinate[TUTTI_TENSOR_RANK];
	uint16_t offset;        /* im2col offsets, packed */
	uint8_t type;           /* block reductions: element type */
	uint8_t cta;            /* shared to shared: rank of the destination CTA */
	uint32_t shared;        /* offset in the CTA's shared memory */
	uint32_t barrier;       /* offset of the mbarrier in (the destination's) shared memory, TUTTI_BARRIER_NONE */
	uint64_t other;         /* second address: global to global (destination of blocks), or shared source offset */
	uint32_t blocks;        /* block copies: number of blocks */
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
 * struct tutti_tensor_call - a request in the engine page's request area.
 *
 * The front fills a slot, in the order 0, 1, ..., and tells it by EVENT_REQUEST;
 * the slot is free again when a mover has taken the request's LAST descriptor. It
 * takes requests of one SM in order, SMs in turns; a wave whose request finds no
 * room waits. Each CTA has a count in the hardware: + 1 when a request is issued,
 * - 1 when its LAST descriptor is taken, + 1 for each descriptor taken, - 1 when
 * its bytes have arrived (in all CTAs of a multicast). WAIT_ALL, the end of a CTA or
 * CGA, and KILL wait for 0; descriptors of a CTA that is being killed are taken and
 * dropped, unless already at work. (spec TMA-03, TMA-28)
 */
struct tutti_tensor_call {
	struct tutti_tensor_request request; /* the wave's, as it was */
	uint16_t sm;
	uint16_t wave;
	uint16_t asid;
	uint8_t slot;           /* task slot */
	uint8_t rank;           /* of the CTA in its CGA */
	uint32_t shared_bytes;  /* of the CTA, and of every other of its CGA */
	uint16_t present;       /* ranks of the CGA that have not exited; 1 without a CGA */
	uint16_t pad0;
	uint64_t pc;            /* of the ecall */
	uint32_t cta;           /* the front's own */
	uint32_t pad1;
	uint64_t pad2[4];
	struct tutti_tensor descriptor; /* INLINE: read from @request.descriptor, any address of the wave */
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
 * TUTTI_TENSOR_ERROR_LIST() - X(NAME, "text"): why a descriptor or a request is refused.
 *
 * Encoders return them; a request refused by the firmware is a fault of its wave
 * with code TUTTI_ERROR_TENSOR and cause TUTTI_CAUSE_TENSOR + the error. (spec TMA-04)
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

/* Special NaN: in every 16-bit lane of filled elements (spec TMA-10) */
#ifndef TUTTI_FILL_NAN_LANE
#define TUTTI_FILL_NAN_LANE 0x7ff7u
#endif

/**
 * TMAU barrier, 64 bits in shared memory: bits 19..0 pending arrivals, 39..20
 * expected arrivals, 60..40 transaction count (signed, 21 bits), 63 phase.
 */
#define TUTTI_MBARRIER_ARRIVALS_MAX ((1u << 20) - 1)
#define TUTTI_MBARRIER_EXPECTED_SHIFT 20u
#define TUTTI_MBARRIER_TX_SHIFT 40u
#define TUTTI_MBARRIER_TX_BITS 21u
#define TUTTI_MBARRIER_PHASE_SHIFT 63u

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Tensor descriptors and TMAU requests (spec TMA-01 .. TMA-29)
 *
 * Dimension 0 is the innermost (c). A descriptor is 128 bytes, 64-byte aligned,
 * in global memory; made by the runtime or by a kernel.
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
	union {
		uint16_t box[TUTTI_TENSOR_RANK];     /* tile: elements, 1..256 */
		struct {
			int16_t lower[3];            /* im2col: corners, W H D */
			int16_t upper[3];
			uint16_t channels;           /* per pixel, 1..256 */
			uint16_t pixels;             /* per column, 1..1024 */
		} column;
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
TUTTI_AT(struct tutti_tensor, column.lower, 76);
TUTTI_AT(struct tutti_tensor, column.upper, 82);
TUTTI_AT(struct tutti_tensor, column.channels, 88);
TUTTI_AT(struct tutti_tensor, column.pixels, 90);
TUTTI_AT(struct tutti_tensor, pad3, 92);
TUTTI_AT(struct tutti_tensor, constant, 96);
TUTTI_AT(struct tutti_tensor, pad1, 104);
TUTTI_AT(struct tutti_tensor, pad2, 120);
TUTTI_AT(struct tutti_tensor, check, 124);

/* TMAU request operations: struct tutti_tensor_request.op */
enum tutti_tensor_op {
	TUTTI_COPY_LOAD, TUTTI_COPY_STORE, TUTTI_COPY_REDUCE, TUTTI_COPY_GLOBAL,
	TUTTI_COPY_SHARED, TUTTI_COPY_PREFETCH
};
enum tutti_reduce_op {
	TUTTI_REDUCE_NONE, TUTTI_REDUCE_ADD, TUTTI_REDUCE_MIN, TUTTI_REDUCE_MAX,
	TUTTI_REDUCE_INC, TUTTI_REDUCE_DEC, TUTTI_REDUCE_AND, TUTTI_REDUCE_OR, TUTTI_REDUCE_XOR
};

#define TUTTI_REQUEST_TENSOR 1u    /* flags: descriptor is valid (else block copy) */
#define TUTTI_REQUEST_MULTICAST 2u /* flags: cta_mask is valid */
#define TUTTI_REQUEST_INLINE 4u    /* flags: descriptor was built from arguments */

/** struct tutti_tensor_request - one request, one message (spec TMA-02). */
struct tutti_tensor_request {
	uint64_t descriptor;    /* address; block copies: global address */
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
	uint32_t barrier;       /* offset of the mbarrier in shared memory, ~0 = none */
	uint64_t other;         /* second address: global to global, or shared source offset */
	uint32_t blocks;        /* block copies: number of 16-byte blocks */
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
 * TMAU barrier, 64 bits in shared memory: bits 19..0 pending arrivals, 39..20
 * expected arrivals, 60..40 transaction count (signed, 21 bits), 63 phase.
 */
#define TUTTI_MBARRIER_ARRIVALS_MAX ((1u << 20) - 1)

#endif

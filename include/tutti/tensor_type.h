/* SPDX-License-Identifier: MIT */
/**
 * DOC: Types of tensor elements, and what tensor requests compute with them
 *
 * TUTTI_TENSOR_TYPE_LIST() is the only place that says which type has how many bytes, which reductions
 * exist and how they compute. Encoders of descriptors, the firmware's rules, the movers and the tests are
 * generated from it, so that they cannot differ. (spec TMA-06, TMA-10, TMA-25)
 */
#ifndef TUTTI_TENSOR_TYPE_H
#define TUTTI_TENSOR_TYPE_H

#include "types.h"

/**
 * TUTTI_TENSOR_TYPE_LIST() - the types, as X(NAME, shift, kind, load, add, block_add, min_max, wrap, bits).
 *
 * @NAME: TUTTI_NAME is the type's number in enum tutti_tensor_type
 * @shift: an element has 1 << shift bytes
 * @kind: INTEGER or FLOAT; only elements of FLOAT types can be filled with NaN
 * @load: TUTTI_LOAD_*: what loads and copies out of a tensor do with its elements
 *
 * The others are TUTTI_ARITHMETIC_*: how a reduction computes, or NONE where there is no such reduction.
 *
 * @add: TUTTI_REDUCE_ADD of a tensor
 * @block_add: TUTTI_REDUCE_ADD of blocks, which have no tensor descriptor; the other reductions are the same for both
 * @min_max: TUTTI_REDUCE_MIN and _MAX
 * @wrap: TUTTI_REDUCE_INC and _DEC
 * @bits: TUTTI_REDUCE_AND, _OR and _XOR
 */
#define TUTTI_TENSOR_TYPE_LIST(X)                                                     \
	/* NAME   shift kind     load  add      block_add min_max wrap  bits */       \
	X(U8,       0,  INTEGER, SAME, NONE,    NONE,     NONE,   NONE, NONE)         \
	X(U16,      1,  INTEGER, SAME, NONE,    NONE,     NONE,   NONE, NONE)         \
	X(U32,      2,  INTEGER, SAME, U32,     U32,      U32,    U32,  U32)          \
	X(I32,      2,  INTEGER, SAME, U32,     U32,      I32,    NONE, U32)          \
	X(U64,      3,  INTEGER, SAME, U64,     U64,      U64,    NONE, U64)          \
	X(I64,      3,  INTEGER, SAME, NONE,    NONE,     I64,    NONE, U64)          \
	X(F16,      1,  FLOAT,   SAME, F16,     F16,      F16,    NONE, NONE)         \
	X(F32,      2,  FLOAT,   SAME, F32,     F32_FTZ,  NONE,   NONE, NONE)         \
	X(F64,      3,  FLOAT,   SAME, NONE,    F64,      NONE,   NONE, NONE)         \
	X(BF16,     1,  FLOAT,   SAME, BF16,    BF16,     BF16,   NONE, NONE)         \
	X(F32_FTZ,  2,  FLOAT,   SAME, F32_FTZ, F32_FTZ,  NONE,   NONE, NONE)         \
	X(TF32,     2,  FLOAT,   TF32, NONE,    NONE,     NONE,   NONE, NONE)         \
	X(TF32_FTZ, 2,  FLOAT,   TF32, NONE,    NONE,     NONE,   NONE, NONE)

#define TUTTI_TENSOR_TYPE_ENUM(name, ...) TUTTI_##name,
/** enum tutti_tensor_type - type of the elements. */
enum tutti_tensor_type { TUTTI_TENSOR_TYPE_LIST(TUTTI_TENSOR_TYPE_ENUM) TUTTI_TENSOR_TYPES };
#undef TUTTI_TENSOR_TYPE_ENUM

/** enum tutti_reduce_op - how stores combine with what is in memory; INC and DEC wrap as CUDA's atomicInc(). */
enum tutti_reduce_op {
	TUTTI_REDUCE_NONE, TUTTI_REDUCE_ADD, TUTTI_REDUCE_MIN, TUTTI_REDUCE_MAX,
	TUTTI_REDUCE_INC, TUTTI_REDUCE_DEC, TUTTI_REDUCE_AND, TUTTI_REDUCE_OR, TUTTI_REDUCE_XOR,
	TUTTI_REDUCE_OPS
};

/**
 * enum tutti_arithmetic - how a reduction computes.
 *
 * Unsigned and signed integers: modulo 2^32 or 2^64. Floating point: sums are rounded to nearest, ties to even, and
 * subnormal numbers are numbers like others; F32_FTZ takes subnormal operands for zeros of their sign, and turns
 * subnormal sums into such zeros. A sum that is NaN, and the minimum or maximum of two NaNs, has all bits set but the
 * sign. Minima and maxima prefer a number to a NaN, and -0 is less than +0.
 */
enum tutti_arithmetic {
	TUTTI_ARITHMETIC_NONE, /* there is no such reduction */
	TUTTI_ARITHMETIC_U32, TUTTI_ARITHMETIC_I32, TUTTI_ARITHMETIC_U64, TUTTI_ARITHMETIC_I64,
	TUTTI_ARITHMETIC_F16, TUTTI_ARITHMETIC_BF16, TUTTI_ARITHMETIC_F32, TUTTI_ARITHMETIC_F32_FTZ,
	TUTTI_ARITHMETIC_F64
};

/**
 * enum tutti_load - what becomes of elements that are copied out of a tensor; filled ones are never changed.
 * @TUTTI_LOAD_SAME: nothing, subnormal numbers included
 * @TUTTI_LOAD_TF32: rounded to the 10 bits of TF32, to nearest, ties to even: (x + 0xfff + bit 13 of x) & 0xffffe000;
 *	NaN becomes 0x7fffe000
 */
enum tutti_load { TUTTI_LOAD_SAME, TUTTI_LOAD_TF32 };

/** TUTTI_REDUCTIONS() - the reductions of a line of the table, bit n standing for number n in enum tutti_reduce_op. */
#define TUTTI_REDUCTIONS(add, min_max, wrap, bits)                                                       \
	(TUTTI_REDUCES(add, ADD) | TUTTI_REDUCES(min_max, MIN) | TUTTI_REDUCES(min_max, MAX) |           \
	 TUTTI_REDUCES(wrap, INC) | TUTTI_REDUCES(wrap, DEC) | TUTTI_REDUCES(bits, AND) |                \
	 TUTTI_REDUCES(bits, OR) | TUTTI_REDUCES(bits, XOR))
#define TUTTI_REDUCES(arithmetic, op) \
	((TUTTI_ARITHMETIC_##arithmetic != TUTTI_ARITHMETIC_NONE ? 1 : 0) << TUTTI_REDUCE_##op)

/** tutti_tensor_reductions() - bit n: elements of a tensor of @type have reduction n of enum tutti_reduce_op. */
static inline uint32_t tutti_tensor_reductions(unsigned type)
{
#define TUTTI_LINE(name, shift, kind, load, add, block_add, min_max, wrap, bits) \
	TUTTI_REDUCTIONS(add, min_max, wrap, bits),
	static const uint16_t reductions[] = { TUTTI_TENSOR_TYPE_LIST(TUTTI_LINE) };
#undef TUTTI_LINE

	return type < TUTTI_TENSOR_TYPES ? reductions[type] : 0;
}

/** tutti_block_reductions() - the same for blocks of @type. */
static inline uint32_t tutti_block_reductions(unsigned type)
{
#define TUTTI_LINE(name, shift, kind, load, add, block_add, min_max, wrap, bits) \
	TUTTI_REDUCTIONS(block_add, min_max, wrap, bits),
	static const uint16_t reductions[] = { TUTTI_TENSOR_TYPE_LIST(TUTTI_LINE) };
#undef TUTTI_LINE

	return type < TUTTI_TENSOR_TYPES ? reductions[type] : 0;
}

/** tutti_type_shift() - an element of @type, which is a known one, has 1 << this bytes. */
static inline unsigned tutti_type_shift(unsigned type)
{
#define TUTTI_LINE(name, shift, ...) shift,
	static const uint8_t shifts[] = { TUTTI_TENSOR_TYPE_LIST(TUTTI_LINE) };
#undef TUTTI_LINE

	return shifts[type];
}

/** tutti_type_is_float() - 1 if @type is a floating-point type, else 0. */
static inline unsigned tutti_type_is_float(unsigned type)
{
#define TUTTI_KIND_INTEGER 0u
#define TUTTI_KIND_FLOAT 1u
#define TUTTI_LINE(name, shift, kind, ...) | TUTTI_KIND_##kind << TUTTI_##name
	return type < TUTTI_TENSOR_TYPES ? (0u TUTTI_TENSOR_TYPE_LIST(TUTTI_LINE)) >> type & 1 : 0;
#undef TUTTI_LINE
#undef TUTTI_KIND_FLOAT
#undef TUTTI_KIND_INTEGER
}

/** tutti_type_load() - enum tutti_load of @type; TUTTI_LOAD_SAME for an unknown type. */
static inline unsigned tutti_type_load(unsigned type)
{
#define TUTTI_LINE(name, shift, kind, load, ...) | TUTTI_LOAD_##load << TUTTI_##name
	return type < TUTTI_TENSOR_TYPES ? (0u TUTTI_TENSOR_TYPE_LIST(TUTTI_LINE)) >> type & 1 : 0u + TUTTI_LOAD_SAME;
#undef TUTTI_LINE
}

#endif

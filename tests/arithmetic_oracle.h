/* SPDX-License-Identifier: MIT */
/**
 * DOC: What tensor requests compute, from the definitions
 *
 * Which reductions there are is written down from TMA-25, what they give from the definition of the formats: a number
 * is a sign, an exponent and a fraction; a sum is the number of the format that is nearest to the exact one, found by
 * search. Nothing is shared with library, firmware or card, and no host arithmetic of the same format is used. Slow.
 */
#ifndef TUTTI_ARITHMETIC_ORACLE_H
#define TUTTI_ARITHMETIC_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "tutti/tensor_type.h"

/** oracle_reduces() - is there such a reduction of a tensor, or of blocks? (TMA-25) */
static inline bool oracle_reduces(unsigned op, unsigned type, bool block)
{
#define SET(name) (1u << TUTTI_##name)
	uint32_t words = SET(U32) | SET(I32) | SET(U64) | SET(I64), types = 0;

	if (op == TUTTI_REDUCE_ADD)
		types = SET(U32) | SET(I32) | SET(U64) | SET(F32) | SET(F32_FTZ) | SET(F16) | SET(BF16) |
			(block ? SET(F64) : 0);
	if (op == TUTTI_REDUCE_MIN || op == TUTTI_REDUCE_MAX)
		types = words | SET(F16) | SET(BF16);
	if (op == TUTTI_REDUCE_INC || op == TUTTI_REDUCE_DEC)
		types = SET(U32);
	if (op == TUTTI_REDUCE_AND || op == TUTTI_REDUCE_OR || op == TUTTI_REDUCE_XOR)
		types = words;
	return type < 32 && types >> type & 1;
#undef SET
}

/* ---- floating point --------------------------------------------------------- */

/* Numbers with a fraction of 113 bits, by the name that each compiler has for them. */
#ifndef __clang__
typedef _Float128 oracle_real;
#elif defined(__x86_64__)
typedef __float128 oracle_real;
#else
typedef long double oracle_real;
#endif

/** struct oracle_format - @bits of an element, @fraction of them for the fraction; @bias of the exponent. */
struct oracle_format {
	unsigned bits, fraction;
	int bias;
};

static inline const struct oracle_format *oracle_format(unsigned type)
{
	static const struct oracle_format f16 = { 16, 10, 15 }, bf16 = { 16, 7, 127 }, f32 = { 32, 23, 127 },
					  f64 = { 64, 52, 1023 };

	return type == TUTTI_F16 ? &f16 : type == TUTTI_BF16 ? &bf16 : type == TUTTI_F64 ? &f64 :
	       type == TUTTI_F32 || type == TUTTI_F32_FTZ ? &f32 : (const struct oracle_format *)0;
}

static inline uint64_t oracle_infinity(const struct oracle_format *f)
{
	return (1ull << (f->bits - 1)) - (1ull << f->fraction);
}

static inline uint64_t oracle_sign(const struct oracle_format *f)
{
	return 1ull << (f->bits - 1);
}

static inline bool oracle_is_nan(const struct oracle_format *f, uint64_t bits)
{
	return (bits & (oracle_sign(f) - 1)) > oracle_infinity(f);
}

static inline oracle_real oracle_power(int n)
{
	static oracle_real power[4096];

	if (power[2048] != 1) {
		power[2048] = 1;
		for (int i = 1; i < 2048; i++) {
			power[2048 + i] = power[2047 + i] * 2;
			power[2048 - i] = power[2049 - i] / 2;
		}
	}
	return power[2048 + n];
}

/** oracle_value() - the number that @bits stand for, without its sign; infinity is the power of two that follows. */
static inline oracle_real oracle_value(const struct oracle_format *f, uint64_t bits)
{
	int exponent = (int)((bits & (oracle_sign(f) - 1)) >> f->fraction);
	uint64_t fraction = bits & ((1ull << f->fraction) - 1);

	if (!exponent)
		return (oracle_real)fraction * oracle_power(1 - f->bias - (int)f->fraction);
	return (oracle_real)(fraction | 1ull << f->fraction) * oracle_power(exponent - f->bias - (int)f->fraction);
}

/** oracle_nearest() - bits of the number nearest to @x, which is not below 0; the even ones on ties. */
static inline uint64_t oracle_nearest(const struct oracle_format *f, oracle_real x)
{
	uint64_t low = 0, high = oracle_infinity(f);
	oracle_real below, above;

	if (x >= oracle_value(f, high))
		return high;
	while (high - low > 1) { /* bits grow with the number */
		uint64_t middle = low + (high - low) / 2;

		if (oracle_value(f, middle) <= x)
			low = middle;
		else
			high = middle;
	}
	below = x - oracle_value(f, low);
	above = oracle_value(f, high) - x;
	return below < above || (below == above && !(low & 1)) ? low : high;
}

static inline uint64_t oracle_flushed(const struct oracle_format *f, uint64_t bits)
{
	return (bits & oracle_infinity(f)) ? bits : bits & oracle_sign(f);
}

/* 113 bits hold a sum of two numbers of 53 so well that rounding it again gives what rounding the exact sum does. */
static inline uint64_t oracle_sum(const struct oracle_format *f, uint64_t a, uint64_t b)
{
	uint64_t sign = oracle_sign(f), infinity = oracle_infinity(f);
	oracle_real x = oracle_value(f, a), y = oracle_value(f, b), sum;

	if (oracle_is_nan(f, a) || oracle_is_nan(f, b) || ((a ^ b) == sign && (a & ~sign) == infinity))
		return sign - 1;
	if ((a & ~sign) == infinity)
		return a;
	if ((b & ~sign) == infinity)
		return b;
	if (!((a | b) & ~sign))
		return a & b; /* zeros: negative if both are */
	sum = (a & sign ? -x : x) + (b & sign ? -y : y);
	return sum < 0 ? sign | oracle_nearest(f, -sum) : oracle_nearest(f, sum);
}

static inline uint64_t oracle_add(unsigned type, bool block, uint64_t a, uint64_t b)
{
	const struct oracle_format *f = oracle_format(type);

	if (!f)
		return a + b;
	if (type == TUTTI_F32_FTZ || (type == TUTTI_F32 && block))
		return oracle_flushed(f, oracle_sum(f, oracle_flushed(f, a), oracle_flushed(f, b)));
	return oracle_sum(f, a, b);
}

/* ---- minima and maxima ------------------------------------------------------- */

/* Is @a less than @b? Negative numbers are the less the larger their bits are. */
static inline bool oracle_less(unsigned type, uint64_t a, uint64_t b)
{
	const struct oracle_format *f = oracle_format(type);

	if (type == TUTTI_I32)
		return (int32_t)a < (int32_t)b;
	if (type == TUTTI_I64)
		return (int64_t)a < (int64_t)b;
	if (!f || !((a | b) & oracle_sign(f)))
		return a < b;
	return (a & oracle_sign(f)) && ((b & oracle_sign(f)) ? a > b : true);
}

static inline uint64_t oracle_pick(unsigned type, bool least, uint64_t a, uint64_t b)
{
	const struct oracle_format *f = oracle_format(type);

	if (f && oracle_is_nan(f, a) && oracle_is_nan(f, b))
		return oracle_sign(f) - 1;
	if (f && oracle_is_nan(f, a))
		return b;
	if (f && oracle_is_nan(f, b))
		return a;
	return oracle_less(type, a, b) == least ? a : b;
}

/** oracle_reduce() - what reduction @op makes of @a in memory and @b. */
static inline uint64_t oracle_reduce(unsigned op, unsigned type, bool block, uint64_t a, uint64_t b)
{
	switch (op) {
	case TUTTI_REDUCE_ADD:
		return oracle_add(type, block, a, b);
	case TUTTI_REDUCE_MIN:
	case TUTTI_REDUCE_MAX:
		return oracle_pick(type, op == TUTTI_REDUCE_MIN, a, b);
	case TUTTI_REDUCE_INC:
		return a >= b ? 0 : a + 1;
	case TUTTI_REDUCE_DEC:
		return a == 0 || a > b ? b : a - 1;
	case TUTTI_REDUCE_AND:
		return a & b;
	case TUTTI_REDUCE_OR:
		return a | b;
	case TUTTI_REDUCE_XOR:
		return a ^ b;
	}
	return a;
}

/* ---- loads -------------------------------------------------------------------- */

/** oracle_tf32() - the nearest number with ten bits of fraction, the even one on ties; NaN is 0x7fffe000. (TMA-10) */
static inline uint32_t oracle_tf32(uint32_t bits)
{
	static const struct oracle_format f32 = { 32, 23, 127 };
	uint32_t low = bits & 0x7fffe000, high = low + 0x2000;
	oracle_real x = oracle_value(&f32, bits), below = x - oracle_value(&f32, low), above = oracle_value(&f32, high) - x;

	if (oracle_is_nan(&f32, bits))
		return 0x7fffe000;
	return (bits & 0x80000000) | (below < above || (below == above && !(low & 0x2000)) ? low : high);
}

/** oracle_load() - what a load makes of the 4 bytes of an element of @type. No type loses its subnormals. */
static inline uint32_t oracle_load(unsigned type, uint32_t bits)
{
	return type == TUTTI_TF32 || type == TUTTI_TF32_FTZ ? oracle_tf32(bits) : bits;
}

/* ---- operands ------------------------------------------------------------------ */

/**
 * oracle_operand() - an element of @type for tests, from 64 random bits: often a special one, or one near to others.
 */
static inline uint64_t oracle_operand(unsigned type, uint64_t random)
{
	const struct oracle_format *f = oracle_format(type);
	unsigned choice = random >> 60;
	uint64_t bits = random << 4 ^ random >> 30, one;

	if (!f)
		return choice < 2 ? bits & 3 : choice < 4 ? ~(bits & 3) : bits;
	one = (uint64_t)f->bias << f->fraction;
	switch (choice) {
	case 0: /* a zero, an infinity, a NaN, the largest number, the least normal one ... */
		bits = (bits & 1 ? 0 : oracle_infinity(f)) + (bits >> 1 & 3) - (bits >> 3 & 1) + (bits & 16 ? oracle_sign(f) : 0);
		break;
	case 1: /* ... and the largest subnormal one */
		bits = (1ull << f->fraction) - 1 + (bits & 1) + (bits & 2 ? oracle_sign(f) : 0);
		break;
	case 2:
	case 3: /* subnormal or a little more */
		bits &= oracle_sign(f) | ((4ull << f->fraction) - 1);
		break;
	case 4:
	case 5:
	case 6: /* around 1, so that sums are rounded and cancel */
		bits = one + (bits & ((4ull << f->fraction) - 1)) + (bits >> 63 ? oracle_sign(f) : 0);
		break;
	case 7: /* few bits, so that there are ties */
		bits = one + (bits & (7ull << f->fraction)) + (bits >> 40 & 3) + (bits >> 63 ? oracle_sign(f) : 0);
		break;
	}
	return f->bits == 64 ? bits : bits & ((1ull << f->bits) - 1);
}

#endif

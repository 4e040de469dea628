// SPDX-License-Identifier: MIT
/*
 * Reductions of movers (spec TMA-25) go element by element. Each is atomic with respect to other reductions and to
 * atomics of kernels, which the emulator executes as atomics of the host.
 */
#include <string.h>

#include "emulator/engines/mover_parts.h"

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* ---- 16-bit floating point --------------------------------------------- */

static float from_f16(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;

	if (exponent == 31)
		return float_of(sign | 0x7f800000 | fraction << 13);
	if (exponent)
		return float_of(sign | (exponent + 112) << 23 | fraction << 13);
	return float_of(sign | bits_of((float)fraction * 0x1p-24f));
}

/* Round the low @n bits away, to nearest with ties to even. */
static uint32_t round_off(uint32_t bits, unsigned n)
{
	uint32_t half = 1u << (n - 1);

	return (bits + half - 1 + (bits >> n & 1)) >> n;
}

static uint16_t to_f16(float value)
{
	uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;

	if (magnitude > 0x7f800000)
		return (uint16_t)(0x7fff); /* the canonical NaN */
	if (magnitude >= 0x477ff000)
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x38800000) /* the result is subnormal; the addition rounds it at 2^-24 */
		return (uint16_t)(sign | (bits_of(float_of(magnitude) + 0.5f) - 0x3f000000));
	return (uint16_t)(sign | round_off(magnitude - 0x38000000, 13));
}

static float from_bf16(uint16_t h)
{
	return float_of((uint32_t)h << 16);
}

static uint16_t to_bf16(float value)
{
	uint32_t bits = bits_of(value);

	return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : (uint16_t)round_off(bits, 16);
}

/* ---- one element -------------------------------------------------------- */

static float flush(float value)
{
	uint32_t bits = bits_of(value);

	return bits & 0x7f800000 ? value : float_of(bits & 0x80000000);
}

static uint32_t add_f32(uint32_t a, uint32_t b)
{
	float sum = flush(flush(float_of(a)) + flush(float_of(b)));

	return sum != sum ? 0x7fffffff : bits_of(sum);
}

/* A number is preferred to a NaN, and -0 is less than +0. */
static bool less(float a, float b)
{
	return a < b || b != b || (a == b && bits_of(a) >> 31 > bits_of(b) >> 31);
}

#define FLOAT16(kind)                                                           \
	static uint16_t add_##kind(uint16_t a, uint16_t b)                      \
	{                                                                       \
		return to_##kind(from_##kind(a) + from_##kind(b));              \
	}                                                                       \
	static uint16_t min_##kind(uint16_t a, uint16_t b)                      \
	{                                                                       \
		float x = from_##kind(a), y = from_##kind(b);                   \
										\
		return x != x && y != y ? 0x7fff : less(x, y) && x == x ? a : b; \
	}                                                                       \
	static uint16_t max_##kind(uint16_t a, uint16_t b)                      \
	{                                                                       \
		float x = from_##kind(a), y = from_##kind(b);                   \
										\
		return x != x && y != y ? 0x7fff : x != x || (y == y && less(x, y)) ? b : a; \
	}

FLOAT16(f16)
FLOAT16(bf16)

static uint32_t inc_u32(uint32_t a, uint32_t b)
{
	return a >= b ? 0 : a + 1;
}

static uint32_t dec_u32(uint32_t a, uint32_t b)
{
	return !a || a > b ? b : a - 1;
}

/* ---- rows of elements --------------------------------------------------- */

/* @a is the element in memory, @b the one that is combined with it. */
#define ROW(name, type, expression)                                                                 \
	static void row_##name(void *to, const void *from, uint32_t bytes)                          \
	{                                                                                           \
		type *p = to, b;                                                                    \
												    \
		for (uint32_t i = 0; i < bytes / sizeof(type); i++) {                               \
			type a = __atomic_load_n(&p[i], __ATOMIC_RELAXED);                          \
												    \
			memcpy(&b, (const uint8_t *)from + i * sizeof(type), sizeof(type));         \
			while (!__atomic_compare_exchange_n(&p[i], &a, (type)(expression), true,    \
							    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))    \
				;                                                                   \
		}                                                                                   \
	}

ROW(add_32, uint32_t, a + b)
ROW(add_64, uint64_t, a + b)
ROW(add_f32, uint32_t, add_f32(a, b))
ROW(add_f16, uint16_t, add_f16(a, b))
ROW(add_bf16, uint16_t, add_bf16(a, b))
ROW(min_u32, uint32_t, a < b ? a : b)
ROW(max_u32, uint32_t, a > b ? a : b)
ROW(min_i32, int32_t, a < b ? a : b)
ROW(max_i32, int32_t, a > b ? a : b)
ROW(min_u64, uint64_t, a < b ? a : b)
ROW(max_u64, uint64_t, a > b ? a : b)
ROW(min_i64, int64_t, a < b ? a : b)
ROW(max_i64, int64_t, a > b ? a : b)
ROW(min_f16, uint16_t, min_f16(a, b))
ROW(max_f16, uint16_t, max_f16(a, b))
ROW(min_bf16, uint16_t, min_bf16(a, b))
ROW(max_bf16, uint16_t, max_bf16(a, b))
ROW(inc_u32, uint32_t, inc_u32(a, b))
ROW(dec_u32, uint32_t, dec_u32(a, b))
ROW(and_32, uint32_t, a & b)
ROW(and_64, uint64_t, a & b)
ROW(or_32, uint32_t, a | b)
ROW(or_64, uint64_t, a | b)
ROW(xor_32, uint32_t, a ^ b)
ROW(xor_64, uint64_t, a ^ b)

static const reduce_row rows[][TUTTI_TENSOR_TYPES] = {
	[TUTTI_REDUCE_ADD] = { [TUTTI_U32] = row_add_32, [TUTTI_I32] = row_add_32, [TUTTI_U64] = row_add_64,
			       [TUTTI_F32] = row_add_f32, [TUTTI_F16] = row_add_f16, [TUTTI_BF16] = row_add_bf16 },
	[TUTTI_REDUCE_MIN] = { [TUTTI_U32] = row_min_u32, [TUTTI_I32] = row_min_i32, [TUTTI_U64] = row_min_u64,
			       [TUTTI_I64] = row_min_i64, [TUTTI_F16] = row_min_f16, [TUTTI_BF16] = row_min_bf16 },
	[TUTTI_REDUCE_MAX] = { [TUTTI_U32] = row_max_u32, [TUTTI_I32] = row_max_i32, [TUTTI_U64] = row_max_u64,
			       [TUTTI_I64] = row_max_i64, [TUTTI_F16] = row_max_f16, [TUTTI_BF16] = row_max_bf16 },
	[TUTTI_REDUCE_INC] = { [TUTTI_U32] = row_inc_u32 },
	[TUTTI_REDUCE_DEC] = { [TUTTI_U32] = row_dec_u32 },
	[TUTTI_REDUCE_AND] = { [TUTTI_U32] = row_and_32, [TUTTI_I32] = row_and_32, [TUTTI_U64] = row_and_64,
			       [TUTTI_I64] = row_and_64 },
	[TUTTI_REDUCE_OR] = { [TUTTI_U32] = row_or_32, [TUTTI_I32] = row_or_32, [TUTTI_U64] = row_or_64,
			      [TUTTI_I64] = row_or_64 },
	[TUTTI_REDUCE_XOR] = { [TUTTI_U32] = row_xor_32, [TUTTI_I32] = row_xor_32, [TUTTI_U64] = row_xor_64,
			       [TUTTI_I64] = row_xor_64 },
};

reduce_row reduce_find(unsigned op, unsigned type)
{
	return op < sizeof(rows) / sizeof(rows[0]) && type < TUTTI_TENSOR_TYPES ? rows[op][type] : NULL;
}

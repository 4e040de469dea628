// SPDX-License-Identifier: MIT
/*
 * Reductions of movers (spec TMA-25), as enum tutti_arithmetic defines them, go element by element. Each is atomic with
 * respect to other reductions and to atomics of kernels, which the emulator executes as atomics of the host.
 */
#include <fenv.h>
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

static uint32_t add_f32(uint32_t a, uint32_t b)
{
	float sum = float_of(a) + float_of(b);

	return sum != sum ? 0x7fffffff : bits_of(sum);
}

/* A subnormal number becomes a zero of its sign. */
static uint32_t flush(uint32_t bits)
{
	return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

static uint32_t add_f32_ftz(uint32_t a, uint32_t b)
{
	return flush(add_f32(flush(a), flush(b)));
}

static uint64_t add_f64(uint64_t a, uint64_t b)
{
	double x, y, sum;

	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	sum = x + y;
	memcpy(&a, &sum, sizeof(a));
	return sum != sum ? 0x7fffffffffffffff : a;
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
#define EACH(type, expression)                                                                      \
	type *p = to, b;                                                                            \
												    \
	for (uint32_t i = 0; i < bytes / sizeof(type); i++) {                                       \
		type a = __atomic_load_n(&p[i], __ATOMIC_RELAXED);                                  \
												    \
		memcpy(&b, (const uint8_t *)from + i * sizeof(type), sizeof(type));                 \
		while (!__atomic_compare_exchange_n(&p[i], &a, (type)(expression), true,            \
						    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))            \
			;                                                                           \
	}

#define ROW(name, type, expression)                                                                 \
	static void name(void *to, const void *from, uint32_t bytes)                                \
	{                                                                                           \
		EACH(type, expression)                                                              \
	}

/* The application, whose thread this may be, can have changed how the host rounds and that it keeps subnormals. */
#define FLOAT_ROW(name, type, expression)                                                           \
	static void name(void *to, const void *from, uint32_t bytes)                                \
	{                                                                                           \
		fenv_t kept;                                                                        \
												    \
		fegetenv(&kept);                                                                    \
		fesetenv(FE_DFL_ENV);                                                               \
		EACH(type, expression)                                                              \
		fesetenv(&kept);                                                                    \
	}

ROW(add_U32, uint32_t, a + b)
ROW(add_U64, uint64_t, a + b)
FLOAT_ROW(add_F32, uint32_t, add_f32(a, b))
FLOAT_ROW(add_F32_FTZ, uint32_t, add_f32_ftz(a, b))
FLOAT_ROW(add_F64, uint64_t, add_f64(a, b))
FLOAT_ROW(add_F16, uint16_t, add_f16(a, b))
FLOAT_ROW(add_BF16, uint16_t, add_bf16(a, b))
ROW(min_U32, uint32_t, a < b ? a : b)
ROW(max_U32, uint32_t, a > b ? a : b)
ROW(min_I32, int32_t, a < b ? a : b)
ROW(max_I32, int32_t, a > b ? a : b)
ROW(min_U64, uint64_t, a < b ? a : b)
ROW(max_U64, uint64_t, a > b ? a : b)
ROW(min_I64, int64_t, a < b ? a : b)
ROW(max_I64, int64_t, a > b ? a : b)
FLOAT_ROW(min_F16, uint16_t, min_f16(a, b))
FLOAT_ROW(max_F16, uint16_t, max_f16(a, b))
FLOAT_ROW(min_BF16, uint16_t, min_bf16(a, b))
FLOAT_ROW(max_BF16, uint16_t, max_bf16(a, b))
ROW(inc_U32, uint32_t, inc_u32(a, b))
ROW(dec_U32, uint32_t, dec_u32(a, b))
ROW(and_U32, uint32_t, a & b)
ROW(and_U64, uint64_t, a & b)
ROW(or_U32, uint32_t, a | b)
ROW(or_U64, uint64_t, a | b)
ROW(xor_U32, uint32_t, a ^ b)
ROW(xor_U64, uint64_t, a ^ b)

/* The functions that the table of tensor_type.h names; a name that is not above would not compile. */
#define add_NONE NULL
#define min_NONE NULL
#define max_NONE NULL
#define inc_NONE NULL
#define dec_NONE NULL
#define and_NONE NULL
#define or_NONE NULL
#define xor_NONE NULL

#define LINE(name, shift, kind, load, add, block_add, min_max, wrap, bits) [TUTTI_##name] = {               \
	[TUTTI_REDUCE_ADD] = add_##add, [TUTTI_REDUCE_MIN] = min_##min_max, [TUTTI_REDUCE_MAX] = max_##min_max, \
	[TUTTI_REDUCE_INC] = inc_##wrap, [TUTTI_REDUCE_DEC] = dec_##wrap, [TUTTI_REDUCE_AND] = and_##bits,   \
	[TUTTI_REDUCE_OR] = or_##bits, [TUTTI_REDUCE_XOR] = xor_##bits },
static const reduce_row tensor_rows[TUTTI_TENSOR_TYPES][TUTTI_REDUCE_OPS] = { TUTTI_TENSOR_TYPE_LIST(LINE) };
#undef LINE

#define LINE(name, shift, kind, load, add, block_add, ...) [TUTTI_##name] = add_##block_add,
static const reduce_row block_adds[TUTTI_TENSOR_TYPES] = { TUTTI_TENSOR_TYPE_LIST(LINE) };
#undef LINE

reduce_row reduce_find(unsigned op, unsigned type, bool block)
{
	if (op >= TUTTI_REDUCE_OPS || type >= TUTTI_TENSOR_TYPES)
		return NULL;
	return block && op == TUTTI_REDUCE_ADD ? block_adds[type] : tensor_rows[type][op];
}

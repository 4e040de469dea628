/* SPDX-License-Identifier: MIT */
/* Reductions of movers against arithmetic of the compiler (spec TMA-25). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emulator/engines/mover_parts.h"

static unsigned seed = 1;

static uint32_t any(uint32_t n)
{
	return (uint32_t)((rand_r(&seed) ^ (uint32_t)rand_r(&seed) << 15) % n);
}

static double value_of(unsigned type, uint64_t bits)
{
	_Float16 half;
	uint32_t wide = (uint32_t)bits << 16;
	float f;

	switch (type) {
	case TUTTI_F16:
		memcpy(&half, &bits, 2);
		return (double)half;
	case TUTTI_BF16:
		memcpy(&f, &wide, 4);
		return (double)f;
	case TUTTI_F32:
		memcpy(&f, &bits, 4);
		return (double)f;
	}
	return 0;
}

/* The representable number nearest to @x, even bits on ties, by search: monotonic in the bits for x >= 0. */
static uint64_t nearest(unsigned type, double x)
{
	uint64_t sign = x < 0 || (x == 0 && 1 / x < 0), low = 0, high = type == TUTTI_F16 ? 0x7c00 : 0x7f80;
	double a = x < 0 ? -x : x, below, above, limit = type == TUTTI_F16 ? 65520.0 : 0x1.ffp127;

	if (a >= limit)
		return sign << 15 | high;
	while (high - low > 1) {
		uint64_t middle = (low + high) / 2;

		if (value_of(type, middle) <= a)
			low = middle;
		else
			high = middle;
	}
	below = a - value_of(type, low);
	above = value_of(type, high) - a;
	if (high == (type == TUTTI_F16 ? 0x7c00u : 0x7f80u))
		return sign << 15 | low; /* beyond it the limit decides */
	return sign << 15 | (below < above || (below == above && !(low & 1)) ? low : high);
}

static uint32_t flushed(uint32_t bits)
{
	return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

static uint64_t expected_add(unsigned type, uint64_t a, uint64_t b)
{
	float x, y;
	uint32_t bits;

	if (type == TUTTI_F16 || type == TUTTI_BF16)
		return nearest(type, value_of(type, a) + value_of(type, b));
	if (type != TUTTI_F32)
		return a + b;
	bits = flushed((uint32_t)a);
	memcpy(&x, &bits, 4);
	bits = flushed((uint32_t)b);
	memcpy(&y, &bits, 4);
	x += y;
	memcpy(&bits, &x, 4);
	return flushed(bits);
}

#define PICK(kind, cast) ((kind) == TUTTI_REDUCE_MIN ? ((cast)a < (cast)b ? a : b) : ((cast)a > (cast)b ? a : b))

static uint64_t expected(unsigned op, unsigned type, uint64_t a, uint64_t b)
{
	double x = value_of(type, a), y = value_of(type, b);

	switch (op) {
	case TUTTI_REDUCE_ADD:
		return expected_add(type, a, b);
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
	switch (type) {
	case TUTTI_U32:
	case TUTTI_U64:
		return PICK(op, uint64_t);
	case TUTTI_I32:
		return PICK(op, int32_t);
	case TUTTI_I64:
		return PICK(op, int64_t);
	}
	if (x == y) /* zeros: the negative one is the smaller */
		return op == TUTTI_REDUCE_MIN ? a | b : a & b;
	return (x < y) == (op == TUTTI_REDUCE_MIN) ? a : b;
}

/* Numbers, no NaN; for 16 bits floating point close enough to each other for sums exact in double. */
static uint64_t random_element(unsigned type)
{
	uint64_t bits = (uint64_t)any(1u << 31) << 33 ^ (uint64_t)any(1u << 31) << 11 ^ any(1u << 31);

	switch (type) {
	case TUTTI_F16:
		return (bits & 0x7fff) >= 0x7c00 ? bits & 0x83ff : bits & 0xffff;
	case TUTTI_BF16:
		return any(2) ? (bits & 0x81ff) : (bits & 0x83ff) | 0x3e00;
	case TUTTI_F32:
		return any(4) ? ((bits & 0x87ffffff) | 0x38000000) : bits & 0x81ffffff;
	case TUTTI_U32:
	case TUTTI_I32:
		return any(8) ? bits & 0xffffffff : bits & 3;
	}
	return any(8) ? bits : bits & 3;
}

static const struct { uint8_t op, types[7]; } offered[] = {
	{ TUTTI_REDUCE_ADD, { TUTTI_U32, TUTTI_I32, TUTTI_U64, TUTTI_F32, TUTTI_F16, TUTTI_BF16 } },
	{ TUTTI_REDUCE_MIN, { TUTTI_U32, TUTTI_I32, TUTTI_U64, TUTTI_I64, TUTTI_F16, TUTTI_BF16 } },
	{ TUTTI_REDUCE_MAX, { TUTTI_U32, TUTTI_I32, TUTTI_U64, TUTTI_I64, TUTTI_F16, TUTTI_BF16 } },
	{ TUTTI_REDUCE_INC, { TUTTI_U32 } }, { TUTTI_REDUCE_DEC, { TUTTI_U32 } },
	{ TUTTI_REDUCE_AND, { TUTTI_U32, TUTTI_I32, TUTTI_U64, TUTTI_I64 } },
	{ TUTTI_REDUCE_OR, { TUTTI_U32, TUTTI_I32, TUTTI_U64, TUTTI_I64 } },
	{ TUTTI_REDUCE_XOR, { TUTTI_U32, TUTTI_I32, TUTTI_U64, TUTTI_I64 } },
};

static const uint8_t sizes[TUTTI_TENSOR_TYPES] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };

static void check_reduction(unsigned op, unsigned type)
{
	static uint64_t to[1024], from[1024], before[1024];

	for (uint32_t i = 0; i < sizeof(to); i += sizes[type]) {
		uint64_t a = random_element(type), b = random_element(type);

		memcpy((uint8_t *)to + i, &a, sizes[type]);
		memcpy((uint8_t *)from + i, &b, sizes[type]);
	}
	memcpy(before, to, sizeof(before));
	reduce_find(op, type)(to, from, sizeof(to));
	for (uint32_t i = 0; i < sizeof(to); i += sizes[type]) {
		uint64_t a = 0, b = 0, got = 0, want;

		memcpy(&a, (uint8_t *)before + i, sizes[type]);
		memcpy(&b, (uint8_t *)from + i, sizes[type]);
		memcpy(&got, (uint8_t *)to + i, sizes[type]);
		want = expected(op, type, a, b);
		if (memcmp(&got, &want, sizes[type]))
			fail_msg("op %u type %u: %#llx, %#llx: got %#llx, not %#llx", op, type, (unsigned long long)a,
				 (unsigned long long)b, (unsigned long long)got, (unsigned long long)want);
	}
}

static void test_reductions(void **state)
{
	for (unsigned o = 0; o < sizeof(offered) / sizeof(offered[0]); o++)
		for (unsigned t = 0; offered[o].types[t]; t++)
			for (unsigned round = 0; round < 8; round++)
				check_reduction(offered[o].op, offered[o].types[t]);
	/* and no others: refused, nothing written */
	for (unsigned op = 1; op < 12; op++)
		for (unsigned type = 0; type < TUTTI_TENSOR_TYPES; type++) {
			bool known = false;

			for (unsigned o = 0; o < sizeof(offered) / sizeof(offered[0]); o++)
				known |= offered[o].op == op && type && memchr(offered[o].types, (int)type, 7);
			assert_int_equal(reduce_find(op, type) != NULL, known);
		}
}

static void test_nan(void **state)
{
	uint16_t to[] = { 0x7c01, 0x3c00, 0x7e00, 0x8000 }, from[] = { 0x3c00, 0xfe00, 0x7d00, 0x0000 };

	reduce_find(TUTTI_REDUCE_MIN, TUTTI_F16)(to, from, 8);
	assert_int_equal(to[0], 0x3c00);
	assert_int_equal(to[1], 0x3c00);
	assert_int_equal(to[2], 0x7fff);
	assert_int_equal(to[3], 0x8000);
	to[0] = from[0] = 0x7c00;
	from[0] |= 0x8000;
	reduce_find(TUTTI_REDUCE_ADD, TUTTI_F16)(to, from, 2);
	assert_int_equal(to[0], 0x7fff); /* infinity - infinity */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "TMA-25: every reduction of every type, and no others", test_reductions, NULL, NULL, NULL },
		{ "TMA-25: NaN in reductions", test_nan, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("TMAU reductions", tests, NULL, NULL);
}

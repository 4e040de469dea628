/* SPDX-License-Identifier: MIT */
/* Reductions of movers against the definitions (spec TMA-25). */
#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "arithmetic_oracle.h"
#include "emulator/engines/mover_parts.h"

#define OPS 12u /* more than there are */
#define TYPES 32u

static uint64_t random_state = 0x7465;

static uint64_t random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dull;
}

/* ---- which there are ---- */

static void test_table(void **state)
{
	static const uint8_t sizes[TUTTI_TENSOR_TYPES] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };

	for (unsigned type = 0; type < TYPES; type++)
		for (unsigned op = 0; op < OPS; op++)
			for (unsigned block = 0; block < 2; block++) {
				uint32_t set = block ? tutti_block_reductions(type) : tutti_tensor_reductions(type);
				bool there = oracle_reduces(op, type, block);

				assert_int_equal(reduce_find(op, type, block) != NULL, there);
				assert_int_equal(set >> op & 1, there);
			}
	for (unsigned type = 0; type < TUTTI_TENSOR_TYPES; type++) {
		assert_int_equal(1u << tutti_type_shift(type), sizes[type]);
		assert_int_equal(tutti_type_is_float(type), type >= TUTTI_F16);
		assert_int_equal(tutti_type_load(type), type >= TUTTI_TF32 ? TUTTI_LOAD_TF32 : TUTTI_LOAD_SAME);
	}
	assert_int_equal(tutti_type_is_float(TUTTI_TENSOR_TYPES), 0);
	assert_int_equal(tutti_type_load(TUTTI_TENSOR_TYPES), TUTTI_LOAD_SAME);
	/* the numbers of the contract */
	assert_int_equal(TUTTI_F64, 8);
	assert_int_equal(TUTTI_TF32_FTZ, 12);
	assert_int_equal(TUTTI_REDUCE_XOR, 8);
}

/* ---- what they give ---- */

#define ELEMENTS 1024u

struct operands {
	uint64_t to[ELEMENTS], from[ELEMENTS];
};

static uint64_t element(const void *from, unsigned i, unsigned bytes)
{
	uint64_t bits = 0;

	memcpy(&bits, (const uint8_t *)from + i * bytes, bytes);
	return bits;
}

static void choose(struct operands *x, unsigned type)
{
	unsigned bytes = 1u << tutti_type_shift(type);

	for (unsigned i = 0; i < ELEMENTS; i++) {
		uint64_t a = oracle_operand(type, random_bits()), b = oracle_operand(type, random_bits());

		memcpy((uint8_t *)x->to + i * bytes, &a, bytes);
		memcpy((uint8_t *)x->from + i * bytes, &b, bytes);
	}
}

static void check(unsigned op, unsigned type, bool block, struct operands *x)
{
	unsigned bytes = 1u << tutti_type_shift(type);
	struct operands before = *x;

	reduce_find(op, type, block)(x->to, x->from, ELEMENTS * bytes);
	assert_memory_equal(x->from, before.from, sizeof(before.from));
	for (unsigned i = 0; i < ELEMENTS; i++) {
		uint64_t a = element(before.to, i, bytes), b = element(before.from, i, bytes), got = element(x->to, i, bytes);
		uint64_t want = oracle_reduce(op, type, block, a, b), mask = bytes == 8 ? ~0ull : (1ull << 8 * bytes) - 1;

		if (got != (want & mask))
			fail_msg("op %u type %u block %u: %#llx, %#llx: got %#llx, not %#llx", op, type, block,
				 (unsigned long long)a, (unsigned long long)b, (unsigned long long)got,
				 (unsigned long long)(want & mask));
	}
	for (unsigned i = ELEMENTS * bytes / 8; i < ELEMENTS; i++)
		assert_true(x->to[i] == before.to[i]);
}

static void check_all(unsigned rounds)
{
	static struct operands x;

	for (unsigned type = 0; type < TUTTI_TENSOR_TYPES; type++)
		for (unsigned op = 0; op < TUTTI_REDUCE_OPS; op++)
			for (unsigned block = 0; block < 2; block++)
				for (unsigned round = 0; round < rounds && oracle_reduces(op, type, block); round++) {
					choose(&x, type);
					check(op, type, block, &x);
				}
}

static void test_reductions(void **state)
{
	check_all(16);
}

/* Every number of 16 bits on either side, with some others. */
static void test_16_bits(void **state)
{
	static const uint8_t types[] = { TUTTI_F16, TUTTI_BF16 }, ops[] = { TUTTI_REDUCE_ADD, TUTTI_REDUCE_MIN, TUTTI_REDUCE_MAX };
	static struct operands x;
	uint16_t *to = (uint16_t *)x.to, *from = (uint16_t *)x.from;

	for (unsigned k = 0; k < 12; k++) {
		unsigned type = types[k & 1], op = ops[k / 4];
		uint16_t other = (uint16_t)oracle_operand(type, random_bits());

		for (unsigned a = 0; a < 0x10000; a += ELEMENTS) {
			for (unsigned i = 0; i < ELEMENTS; i++) {
				to[i] = k & 2 ? other : (uint16_t)(a + i);
				from[i] = k & 2 ? (uint16_t)(a + i) : other;
			}
			check(op, type, false, &x);
		}
	}
}

/* Subnormals, ties and NaN, one by one. */
static void test_marked(void **state)
{
	static const struct { uint8_t op, type, block; uint64_t a, b, want; } marked[] = {
#define ADD TUTTI_REDUCE_ADD
		{ ADD, TUTTI_F32, 0, 1, 1, 2 },                                /* tensors of F32 keep subnormals, ... */
		{ ADD, TUTTI_F32, 0, 0x00800000, 0x80000001, 0x007fffff },
		{ ADD, TUTTI_F32, 1, 1, 1, 0 },                                /* ... blocks do not, ... */
		{ ADD, TUTTI_F32, 1, 0x00800000, 0x80000001, 0x00800000 },     /* neither as operands ... */
		{ ADD, TUTTI_F32, 1, 0x00800001, 0x80800000, 0 },              /* ... nor as sums, ... */
		{ ADD, TUTTI_F32, 1, 0x80000001, 0x80000001, 0x80000000 },
		{ ADD, TUTTI_F32_FTZ, 0, 1, 1, 0 },                            /* ... and FTZ never does */
		{ ADD, TUTTI_F32_FTZ, 0, 0x80800001, 0x00800000, 0x80000000 },
		{ ADD, TUTTI_F32_FTZ, 1, 0x007fffff, 1, 0 },
		{ ADD, TUTTI_F32_FTZ, 0, 0x3f800000, 0x33800000, 0x3f800000 }, /* 1 + 2^-24: a tie, to even */
		{ ADD, TUTTI_F32, 0, 0x3f800001, 0x33800000, 0x3f800002 },
		{ ADD, TUTTI_F32, 0, 0x7f800000, 0xff800000, 0x7fffffff },
		{ ADD, TUTTI_F32, 0, 0x7f7fffff, 0x73800000, 0x7f800000 },     /* rounded to infinity */
		{ ADD, TUTTI_F16, 0, 1, 1, 2 },
		{ ADD, TUTTI_F16, 0, 0x7bff, 0x4c00, 0x7c00 },                 /* 65504 + 16 */
		{ ADD, TUTTI_F16, 0, 0x7c00, 0xfc00, 0x7fff },
		{ ADD, TUTTI_BF16, 0, 1, 1, 2 },
		{ ADD, TUTTI_BF16, 0, 0x3f80, 0x3b80, 0x3f80 },
		{ ADD, TUTTI_F64, 1, 1, 1, 2 },
		{ ADD, TUTTI_F64, 1, 0x3ff0000000000000, 0x3ca0000000000000, 0x3ff0000000000000 },
		{ ADD, TUTTI_F64, 1, 0x7ff0000000000000, 0xfff0000000000000, 0x7fffffffffffffff },
		{ TUTTI_REDUCE_MIN, TUTTI_F16, 0, 0x7c01, 0x3c00, 0x3c00 },    /* rather a number than NaN */
		{ TUTTI_REDUCE_MAX, TUTTI_F16, 0, 0x3c00, 0xfe00, 0x3c00 },
		{ TUTTI_REDUCE_MIN, TUTTI_F16, 0, 0x7e00, 0x7d00, 0x7fff },
		{ TUTTI_REDUCE_MIN, TUTTI_F16, 0, 0x0000, 0x8000, 0x8000 },
		{ TUTTI_REDUCE_MAX, TUTTI_BF16, 0, 0x8000, 0x0000, 0x0000 },
		{ TUTTI_REDUCE_INC, TUTTI_U32, 0, 5, 5, 0 },
		{ TUTTI_REDUCE_INC, TUTTI_U32, 0, 4, 5, 5 },
		{ TUTTI_REDUCE_DEC, TUTTI_U32, 0, 0, 5, 5 },
		{ TUTTI_REDUCE_DEC, TUTTI_U32, 0, 6, 5, 5 },
		{ TUTTI_REDUCE_DEC, TUTTI_U32, 0, 5, 5, 4 },
#undef ADD
	};

	for (unsigned i = 0; i < sizeof(marked) / sizeof(marked[0]); i++) {
		uint64_t to = marked[i].a, from = marked[i].b;

		reduce_find(marked[i].op, marked[i].type, marked[i].block)(&to, &from, 1u << tutti_type_shift(marked[i].type));
		if (to != marked[i].want)
			fail_msg("%u: got %#llx, not %#llx", i, (unsigned long long)to, (unsigned long long)marked[i].want);
		assert_true(oracle_reduce(marked[i].op, marked[i].type, marked[i].block, marked[i].a, marked[i].b) ==
			    marked[i].want);
	}
}

/* An application may round in its own way and flush subnormals; the card is in its process, but is another machine. */
static void test_host_modes(void **state)
{
	static struct operands x;

	for (unsigned type = 0; type < TUTTI_TENSOR_TYPES; type++)
		for (unsigned op = 0; op < TUTTI_REDUCE_OPS; op++) {
			struct operands plain, odd;
			reduce_row row = reduce_find(op, type, true);

			if (!row)
				continue;
			choose(&x, type);
			plain = odd = x;
			row(plain.to, plain.from, ELEMENTS * 2);
			fesetround(FE_UPWARD);
#ifdef __SSE2__
			__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); /* subnormals are zeros */
#endif
			row(odd.to, odd.from, ELEMENTS * 2);
			assert_int_equal(fegetround(), FE_UPWARD);
#ifdef __SSE2__
			assert_int_equal(__builtin_ia32_stmxcsr() & 0x8040, 0x8040);
#endif
			fesetenv(FE_DFL_ENV);
			assert_memory_equal(plain.to, odd.to, sizeof(odd.to));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "TMA-25: the table has every reduction of every type, and no others", test_table, NULL, NULL, NULL },
		{ "TMA-25: reductions equal the definition", test_reductions, NULL, NULL, NULL },
		{ "TMA-25: every F16 and BF16 number", test_16_bits, NULL, NULL, NULL },
		{ "TMA-25: subnormals, ties, NaN, wrapping", test_marked, NULL, NULL, NULL },
		{ "TMA-25: whatever the host's floating-point modes are", test_host_modes, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("TMAU reductions", tests, NULL, NULL);
}

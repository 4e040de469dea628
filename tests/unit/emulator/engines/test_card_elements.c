/* SPDX-License-Identifier: MIT */
/* link: -Wl,-z,muldefs */
/*
 * What movers do with elements: rounding, reductions, and what they refuse. Against arithmetic_oracle.h, which
 * test_card_reduce compares with the reductions alone.
 */
#include "arithmetic_oracle.h"
#include "card_mover_rig.h"

#define AT 0x100000u /* in global memory */

static struct tutti_mover linear(unsigned op, uint32_t bytes)
{
	return (struct tutti_mover){ .op = (uint8_t)op, .flags = TUTTI_MOVER_CALL | TUTTI_MOVER_LINEAR | TUTTI_MOVER_LAST,
				     .global = AT, .bytes = bytes };
}

/* ---- loads ---- */

static void check_load(unsigned type, const uint32_t *in, uint32_t n)
{
	struct tutti_mover d = linear(TUTTI_MOVE_LOAD, 4 * n);
	struct tutti_mover_shape s = { .type = (uint8_t)type };
	const uint32_t *out = (const uint32_t *)sms.shared[0];

	memcpy(card->memory + AT, in, 4 * n);
	call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE });
	assert_int_equal(run(&d, &s).word[0], 0);
	for (uint32_t i = 0; i < n; i++)
		if (out[i] != oracle_load(type, in[i]))
			fail_msg("type %u: %#x is loaded as %#x, not %#x", type, in[i], out[i], oracle_load(type, in[i]));
}

/* Each sign, exponent and upper fraction with the lower bits where something changes; each lower part with some of them. */
static void test_tf32(void **state)
{
	static const uint32_t low[] = { 0, 1, 0xfff, 0x1000, 0x1001, 0x1ffe, 0x1fff, 0x0800 };
	static const uint32_t high[] = { 0, 1, 0x3ff, 0x400, 0x401, 0x7f, 0x1fc00, 0x1fc01, 0x3f7ff, 0x3fbfe, 0x3fbff, 0x3fc00,
					 0x3fc01, 0x40000, 0x40001, 0x5fc00, 0x5fc01, 0x7fbff, 0x7fc00, 0x7ffff };
	static uint32_t in[SHARED_BYTES / 4];
	uint32_t n = 0;

	for (uint32_t i = 0; i < (1u << 19) * 8; i++) {
		in[n++] = i >> 3 << 13 | low[i & 7];
		if (n == SHARED_BYTES / 4)
			check_load(i & 1 << 16 ? TUTTI_TF32 : TUTTI_TF32_FTZ, in, n), n = 0;
	}
	for (uint32_t i = 0; i < sizeof(high) / 4 << 13; i++) {
		in[n++] = high[i >> 13] << 13 | (i & 0x1fff);
		if (n == SHARED_BYTES / 4)
			check_load(i & 1 << 14 ? TUTTI_TF32 : TUTTI_TF32_FTZ, in, n), n = 0;
	}
	check_load(TUTTI_TF32, in, n);
}

/* By hand, so that definition and oracle are compared with something. */
static void test_tf32_marked(void **state)
{
	static const uint32_t in[] = { 0, 0x80000000, 1, 0x00000fff, 0x00001000, 0x00001001, 0x807fffff, 0x00800000,
				       0x3f800fff, 0x3f801000, 0x3f801001, 0x3f802fff, 0x3f803000, 0xbf803000, 0x3f805000,
				       0x7f7fefff, 0x7f7ff000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc12345,
				       0xffffffff };
	static const uint32_t out[] = { 0, 0x80000000, 0, 0, 0, 0x00002000, 0x80800000, 0x00800000,
					0x3f800000, 0x3f800000, 0x3f802000, 0x3f802000, 0x3f804000, 0xbf804000, 0x3f804000,
					0x7f7fe000, 0x7f800000, 0x7f800000, 0x7f800000, 0xff800000, 0x7fffe000, 0x7fffe000,
					0x7fffe000 };

	for (unsigned i = 0; i < sizeof(in) / 4; i++)
		assert_int_equal(oracle_tf32(in[i]), out[i]);
	check_load(TUTTI_TF32, in, sizeof(in) / 4);
	check_load(TUTTI_TF32_FTZ, in, sizeof(in) / 4);
}

/* All other types are loaded as they are, above all with their subnormals (TMA-10). */
static void test_unchanged(void **state)
{
	static uint32_t in[4096];

	for (unsigned type = 0; type < TUTTI_TF32; type++) {
		for (uint32_t i = 0; i < 4096; i++)
			in[i] = any(2) ? any(1u << 24) ^ (any(2) ? 0x80000000 : 0) : any(1u << 31) << 1 ^ any(1u << 31);
		for (uint32_t i = 0; i < 4096; i++)
			assert_int_equal(oracle_load(type, in[i]), in[i]);
		check_load(type, in, 4096);
	}
}

/* Copies out of a tensor are loads; what goes into a tensor, and what is filled, stays as it is. */
static void test_directions(void **state)
{
	const uint32_t x = 0x3f803fff, rounded = 0x3f804000;
	struct tutti_mover_shape s = { .type = TUTTI_TF32, .fill = x };
	struct tutti_mover d = linear(TUTTI_MOVE_COPY, 16);
	uint32_t *global = (uint32_t *)(card->memory + AT), *other = global + 64, *shared = (uint32_t *)sms.shared[0];

	d.other = AT + 256;
	for (unsigned op = TUTTI_MOVE_COPY; op <= TUTTI_MOVE_SCATTER; op += TUTTI_MOVE_SCATTER - TUTTI_MOVE_COPY) {
		d.op = (uint8_t)op;
		global[1] = other[1] = x;
		call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE });
		assert_int_equal(run(&d, &s).word[0], 0);
		assert_int_equal(global[1], x);
		assert_int_equal(other[1], op == TUTTI_MOVE_COPY ? rounded : x);
	}
	d.op = TUTTI_MOVE_STORE;
	global[1] = 0;
	shared[1] = x;
	call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE });
	assert_int_equal(run(&d, &s).word[0], 0);
	assert_int_equal(global[1], x);
	d.op = TUTTI_MOVE_LOAD;
	d.flags |= TUTTI_MOVER_OUTSIDE;
	shared[0] = 0;
	call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE });
	assert_int_equal(run(&d, &s).word[0], 0);
	assert_int_equal(shared[0], x);
}

/* Blocks are bytes: what stands in the field of the type, a kernel's own value, means nothing without a reduction. */
static void test_blocks(void **state)
{
	static const uint8_t ops[] = { TUTTI_MOVE_LOAD, TUTTI_MOVE_STORE, TUTTI_MOVE_SHARED, TUTTI_MOVE_COPY };
	const uint32_t x = 0x3f803fff;

	for (unsigned type = 0; type < 256; type++)
		for (unsigned i = 0; i < sizeof(ops); i++) {
			struct tutti_mover d = linear(ops[i], 16);
			struct tutti_mover_shape none = { .type = 0xff };
			uint32_t *global = (uint32_t *)(card->memory + AT), *shared = (uint32_t *)sms.shared[0];
			uint32_t *to[] = { shared, global, shared + 64, global + 64 };

			d.flags |= TUTTI_MOVER_NO_SHAPE;
			d.type = (uint8_t)type;
			d.shared = ops[i] == TUTTI_MOVE_SHARED ? 256 : 0;
			d.other = AT + 256;
			global[0] = shared[0] = x;
			*to[i] = ops[i] == TUTTI_MOVE_LOAD || ops[i] == TUTTI_MOVE_STORE ? 0 : 1;
			if (ops[i] == TUTTI_MOVE_STORE)
				shared[0] = x;
			call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE });
			assert_int_equal(run(&d, &none).word[0], 0);
			assert_int_equal(*to[i], x);
		}
}

/* ---- reductions ---- */

/* Swizzled, over lines and pages. */
static void test_swizzled(void **state)
{
	struct tutti_mover d = linear(TUTTI_MOVE_STORE, 8192);
	uint32_t *to, before[2048];

	d.reduce = TUTTI_REDUCE_ADD;
	d.global = 0x1ff000 - 64;
	to = (uint32_t *)(card->memory + d.global);
	for (unsigned swizzle = 0; swizzle < 4; swizzle++) {
		struct tutti_mover_shape s = { .type = TUTTI_U32, .swizzle = (uint8_t)swizzle };

		scramble((uint8_t *)to, sizeof(before));
		scramble(sms.shared[0], sizeof(before));
		memcpy(before, to, sizeof(before));
		call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE });
		assert_int_equal(run(&d, &s).word[0], 0);
		for (uint32_t i = 0; i < 2048; i++)
			assert_int_equal(to[i], before[i] + *(uint32_t *)(sms.shared[0] + place(s.swizzle, 4 * i)));
	}
}

#define BYTES 512u

/* Reduce in the way of @d: does memory hold what the oracle says, and nothing else? */
static void check_reduced(const struct tutti_mover *d, unsigned type, uint8_t *to, const uint8_t *from)
{
	unsigned size = 1u << tutti_type_shift(type);
	struct tutti_mover_shape s = { .type = (uint8_t)(d->flags & TUTTI_MOVER_NO_SHAPE ? TUTTI_U8 : type) };
	uint8_t before[BYTES];

	memcpy(before, to, BYTES);
	call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE, .cta_rank = 1 });
	assert_int_equal(run(d, &s).word[0], 0);
	for (uint32_t i = 0; i < BYTES; i += size) {
		uint64_t a = 0, b = 0, got = 0, want;

		memcpy(&a, before + i, size);
		memcpy(&b, from + i, size);
		memcpy(&got, to + i, size);
		want = oracle_reduce(d->reduce, type, d->flags & TUTTI_MOVER_NO_SHAPE, a, b);
		if (memcmp(&got, &want, size))
			fail_msg("move %u reduce %u type %u flags %#x: %#llx, %#llx: got %#llx, not %#llx", d->op, d->reduce, type,
				 d->flags, (unsigned long long)a, (unsigned long long)b, (unsigned long long)got,
				 (unsigned long long)want);
	}
}

/* A reduction that does not exist says so, in the words of tensor requests, and moves nothing. */
static void check_refused(const struct tutti_mover *d, unsigned type, const uint8_t *to)
{
	struct tutti_mover_shape s = { .type = (uint8_t)(d->flags & TUTTI_MOVER_NO_SHAPE ? TUTTI_U32 : type) };
	bool known = type < TUTTI_TENSOR_TYPES;
	unsigned done = sms.done, failed = sms.failed;
	uint8_t before[BYTES];
	struct tutti_event e;

	memcpy(before, to, BYTES);
	call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE, .cta_rank = 1, .slot = 9 });
	e = run(d, &s);
	assert_int_equal(e.word[0] & 0xffff, TUTTI_EVENT_FAULT | 9 << 8);
	assert_int_equal(e.word[0] >> 16 & 0xff,
			 known ? TUTTI_CAUSE_TENSOR + TUTTI_TENSOR_ERROR_REDUCE : TUTTI_CAUSE_SERVICE);
	assert_int_equal(e.word[6], TUTTI_ENGINE_MOVER);
	assert_memory_equal(to, before, BYTES);
	assert_int_equal(sms.done, done + 1);
	assert_int_equal(sms.failed, failed + 1);
}

static void check_combination(unsigned op, unsigned type, bool block, bool shared)
{
	struct tutti_mover d = linear(shared ? TUTTI_MOVE_SHARED : TUTTI_MOVE_STORE, BYTES);
	uint8_t *to = shared ? sms.shared[1] + 1024 : card->memory + AT, *from = sms.shared[0] + 4096;
	unsigned size = type < TUTTI_TENSOR_TYPES ? 1u << tutti_type_shift(type) : 4;

	d.reduce = (uint8_t)op;
	d.type = (uint8_t)(block ? type : TUTTI_U32);
	d.flags |= block ? TUTTI_MOVER_NO_SHAPE : 0;
	d.shared = shared ? 1024 : 4096;
	d.source = 4096;
	for (uint32_t i = 0; i < BYTES; i += size) {
		uint64_t a = oracle_operand(type, (uint64_t)any(1u << 31) << 33 ^ (uint64_t)any(1u << 31) << 12 ^ any(1u << 31));
		uint64_t b = oracle_operand(type, (uint64_t)any(1u << 31) << 33 ^ (uint64_t)any(1u << 31) << 12 ^ any(1u << 31));

		memcpy(to + i, &a, size);
		memcpy(from + i, &b, size);
	}
	if (oracle_reduces(op, type, block))
		check_reduced(&d, type, to, from);
	else
		check_refused(&d, type, to);
}

static void test_combinations(void **state)
{
	for (unsigned type = 0; type < 2 * TUTTI_TENSOR_TYPES; type++)
		for (unsigned op = 1; op < 2 * TUTTI_REDUCE_OPS; op++)
			for (unsigned way = 0; way < 4; way++)
				check_combination(op, type, way & 1, way & 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("TMA-10: TF32 is rounded to nearest, ties to even, for every number", test_tf32),
		TEST("TMA-10: TF32: ties, carries, infinities, NaN, subnormals", test_tf32_marked),
		TEST("TMA-10: no other type changes in loads", test_unchanged),
		TEST("TMA-10: copies round, stores and fills do not", test_directions),
		TEST("TMA-26: blocks are bytes", test_blocks),
		TEST("TMA-25: reductions store element by element", test_swizzled),
		TEST("TMA-04 TMA-25: every operation on every type, of tensors and blocks, or refused by name",
		     test_combinations),
	};

	return cmocka_run_group_tests_name("TMAU elements", tests, NULL, NULL);
}

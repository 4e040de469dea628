// SPDX-License-Identifier: MIT
/* Comparisons, minimum, maximum, signs and classes of all pairs of special numbers, against their definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cpu_rig.h"
#include "encode.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define BOX	      0xffffffff00000000ull

/* Magnitudes in the order of numbers, then the NaNs. */
static const uint64_t doubles[] = {0,
				   1,
				   2,
				   0xfffffffffffff,
				   1ull << 52,
				   (1ull << 52) + 1,
				   0x3ff0000000000000,
				   0x3ff0000000000001,
				   0x7fefffffffffffff,
				   0x7ff0000000000000,
				   0x7ff0000000000001,
				   0x7ff7ffffffffffff,
				   0x7ff8000000000000,
				   0x7fffffffffffffff};
static const uint64_t singles[] = {0,	       1,	   2,	       0x7fffff,   1u << 23,   (1u << 23) + 1,
				   0x3f800000, 0x3f800001, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fbfffff,
				   0x7fc00000, 0x7fffffff};
#define NUMBERS	  10 /* of them are no NaNs; the next two are signaling ones */
#define SIGNALING 12

struct number {
	uint64_t bits;
	int order; /* among numbers; those of both zeros are equal */
	bool negative, nan, signaling;
	unsigned class;
};

static struct number number(unsigned wide, unsigned i)
{
	static const unsigned classes[] = {4, 5, 5, 5, 6, 6, 6, 6, 6, 7, 8, 8, 9, 9};
	unsigned m = i / 2;
	bool negative = i & 1;
	struct number n = {.bits = wide ? doubles[m] | (uint64_t)negative << 63
					: singles[m] | (uint64_t)negative << 31 | BOX,
			   .order = negative ? -(int)m : (int)m,
			   .negative = negative,
			   .nan = m >= NUMBERS,
			   .signaling = m >= NUMBERS && m < SIGNALING};

	n.class = 1u << (negative && !n.nan ? 7 - classes[m] : classes[m]);
	return n;
}

static struct rig rig;

/* x5 or f5 after one instruction on f6 and f7; @flags gets what it has raised. */
static uint64_t result(uint32_t insn, uint64_t a, uint64_t b, bool integer, unsigned before, unsigned *flags)
{
	const uint32_t code[] = {insn, E_ECALL};

	if (memcmp(rig.memory, code, 8)) {
		rig_code(&rig, RIG_BASE, code, 2);
		cpu_invalidate(rig.cpu, 0, 0, true);
	}
	rig.regs.pc = RIG_BASE;
	rig.regs.f[6] = a;
	rig.regs.f[7] = b;
	rig.regs.fflags = (uint8_t)before;
	assert_int_equal(cpu_run(rig.cpu, &rig.regs, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(rig.regs.fflags & before, before);
	*flags = rig.regs.fflags & ~before;
	return integer ? rig.regs.x[5] : rig.regs.f[5];
}

static void pair(unsigned wide, const struct number *a, const struct number *b, unsigned before)
{
	const uint64_t nan = wide ? 0x7ff8000000000000ull : 0x7fc00000ull | BOX, sign = wide ? 1ull << 63 : 1ull << 31;
	bool nans = a->nan || b->nan, signaling = a->signaling || b->signaling;
	bool a_first = a->order < b->order || (a->order == b->order && a->negative);
	unsigned flags, nv = before & CPU_NV ? 0 : CPU_NV;

	assert_int_equal(result(E_FP(5, 2, 6, 7, 0x50 + wide), a->bits, b->bits, true, before, &flags),
			 !nans && a->order == b->order);
	assert_int_equal(flags, signaling ? nv : 0);
	assert_int_equal(result(E_FP(5, 1, 6, 7, 0x50 + wide), a->bits, b->bits, true, before, &flags),
			 !nans && a->order < b->order);
	assert_int_equal(flags, nans ? nv : 0);
	assert_int_equal(result(E_FP(5, 0, 6, 7, 0x50 + wide), a->bits, b->bits, true, before, &flags),
			 !nans && a->order <= b->order);
	assert_int_equal(flags, nans ? nv : 0);
	for (unsigned max = 0; max < 2; max++) {
		uint64_t want = a->nan && b->nan ? nan
				: a->nan	 ? b->bits
				: b->nan	 ? a->bits
				: a_first != max ? a->bits
						 : b->bits;

		assert_true(result(E_FP(5, max, 6, 7, 0x14 + wide), a->bits, b->bits, false, before, &flags) == want);
		assert_int_equal(flags, signaling ? nv : 0);
	}
	for (unsigned kind = 0; kind < 3; kind++) {
		uint64_t other = kind == 0 ? b->bits : kind == 1 ? ~b->bits : a->bits ^ b->bits;

		assert_true(result(E_FP(5, kind, 6, 7, 0x10 + wide), a->bits, b->bits, false, before, &flags) ==
			    ((a->bits & ~sign) | (other & sign)));
		assert_int_equal(flags, 0);
	}
}

/* With no flag set, with "inexact" set, which is the fast path, and with the flag that these raise. */
static void pairs(void **state)
{
	static const unsigned before[] = {0, CPU_NX, CPU_NX | CPU_NV};

	rig_init(&rig, 64);
	for (unsigned wide = 0; wide < 2; wide++)
		for (unsigned i = 0; i < 2 * LENGTH(doubles); i++)
			for (unsigned k = 0; k < 2 * LENGTH(doubles); k++)
				for (unsigned f = 0; f < LENGTH(before); f++) {
					const struct number a = number(wide, i), b = number(wide, k);

					pair(wide, &a, &b, before[f]);
				}
	rig_fini(&rig);
}

static void classes(void **state)
{
	unsigned flags;

	rig_init(&rig, 64);
	for (unsigned wide = 0; wide < 2; wide++)
		for (unsigned i = 0; i < 2 * LENGTH(doubles); i++) {
			const struct number n = number(wide, i);

			assert_int_equal(result(E_FP(5, 1, 6, 0, 0x70 + wide), n.bits, 0, true, 0, &flags), n.class);
			assert_int_equal(flags, 0);
		}
	rig_fini(&rig);
}

/* A single that does not fill its register in the way singles do counts as the NaN. */
static void unboxed(void **state)
{
	const uint64_t one = 0x3f800000, nan = 0x7fc00000 | BOX;
	unsigned flags;

	rig_init(&rig, 64);
	for (unsigned bit = 32; bit < 64; bit++) {
		uint64_t broken = (one | BOX) & ~(1ull << bit);

		assert_int_equal(result(E_FP(5, 2, 6, 7, 0x50), broken, broken, true, 0, &flags), 0);
		assert_int_equal(result(E_FP(5, 0, 6, 7, 0x50), one | BOX, broken, true, 0, &flags), 0);
		assert_int_equal(flags, CPU_NV);
		assert_int_equal(result(E_FP(5, 1, 6, 0, 0x70), broken, 0, true, 0, &flags), 1u << 9);
		assert_true(result(E_FP(5, 0, 6, 7, 0x14), broken, one | BOX, false, 0, &flags) == (one | BOX));
		assert_true(result(E_FP(5, 0, 6, 7, 0x14), broken, broken, false, 0, &flags) == nan);
		assert_true(result(E_FP(5, 0, 6, 7, 0x10), broken, one | BOX, false, 0, &flags) == nan);
	}
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-51: comparisons, minimum, maximum and signs", pairs, NULL, NULL, NULL},
	    {"SYS-51: classes of numbers", classes, NULL, NULL, NULL},
	    {"SYS-51: singles that are not boxed", unboxed, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("cpu: comparisons", tests, NULL, NULL);
}

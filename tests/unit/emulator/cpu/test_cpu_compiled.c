// SPDX-License-Identifier: MIT
/* Compiled C gives what it gives on this machine; atomics of two processors and of the host do not lose anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>

#include "cpu_rig.h"
#include "encode.h"
#include "guest/loops.c"
#define next mixed_next
#include "guest/mixed.c"
#undef next

static uint64_t call(struct rig *rig, const char *image, uint64_t a, uint64_t b, uint8_t fflags)
{
	rig_image(rig, image);
	cpu_invalidate(rig->cpu, 0, 0, true);
	rig->regs.pc = RIG_BASE;
	rig->regs.x[2] = RIG_TOP;
	rig->regs.x[10] = a;
	rig->regs.x[11] = b;
	rig->regs.fflags = fflags;
	assert_int_equal(cpu_run(rig->cpu, &rig->regs, ~0ull), CPU_STOP_ECALL);
	return rig->regs.x[10];
}

static void compiled(void **state)
{
	static const uint64_t n[] = { 1000, 1000, 500, 12, 1, 2 };
	struct rig rig;

	rig_init(&rig, 64);
	for (unsigned which = 0; which < 6; which++)
		assert_true(call(&rig, CPU_GUESTS "/loops.bin", which, n[which], which & 1) == loops(which, n[which]));
	for (unsigned which = 0; which < 5; which++)
		for (uint64_t seed = 1; seed < 8; seed++) {
			/* the image's data are as in a fresh start; so have to be those here */
			uint64_t ours = call(&rig, CPU_GUESTS "/mixed.bin", which, seed, seed & 1), theirs = mixed(which, seed);

			if (which != 2 || seed == 1) /* counts go on from one call to the next */
				assert_true(ours == theirs);
		}
	rig_fini(&rig);
}

/* ---- atomics ---- */

#define ROUNDS 200000u

struct shared {
	uint64_t sum, swapped, most, reserved;
	uint32_t sum32, reserved32;
};

static struct shared shared __attribute__((aligned(64)));

static int shared_span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	if (va - 0x800000 >= sizeof(shared))
		return rig_span(user, va, access, span);
	*span = (struct cpu_span){ 0x800000, sizeof(shared), (uint8_t *)&shared, CPU_MAY_LOAD | CPU_MAY_STORE, false };
	return 0;
}

static void *hart(void *data)
{
	static const struct cpu_bus bus = { shared_span, NULL, NULL };
	const uint32_t code[] = {
		E_LUI(6, 0x800000), E_LI(7, 1), E_ADDI(11, 6, 24), E_ADDI(12, 6, 32), E_ADDI(13, 6, 36), E_ADDI(14, 6, 16),
		E_AMO(0, 6, 7, 0, 3),		      /* amoadd.d */
		E_AMO(0, 12, 7, 0, 2),		      /* amoadd.w */
		E_AMO(5, 11, 0, 2, 3), E_ADDI(5, 5, 1), E_AMO(9, 11, 5, 3, 3), E_B(1, 9, 0, -12), /* lr.d, sc.d */
		E_AMO(5, 13, 0, 2, 2), E_ADDI(5, 5, 1), E_AMO(9, 13, 5, 3, 2), E_B(1, 9, 0, -12), /* lr.w, sc.w */
		E_AMO(0, 14, 10, 28, 3),	      /* amomaxu.d */
		E_ADDI(10, 10, -1), E_B(1, 10, 0, -48), E_ECALL,
	};
	struct cpu_config config = { .xlen = 64, .bus = &bus };
	struct rig rig;

	rig_init(&rig, 64);
	cpu_destroy(rig.cpu);
	config.user = &rig;
	if (cpu_create(&config, &rig.cpu))
		abort();
	rig_code(&rig, RIG_BASE, code, sizeof(code) / 4);
	rig.regs.x[10] = ROUNDS;
	if (cpu_run(rig.cpu, &rig.regs, ~0ull) != CPU_STOP_ECALL)
		abort();
	rig_fini(&rig);
	return data;
}

static void atomics(void **state)
{
	pthread_t thread[2];

	memset(&shared, 0, sizeof(shared));
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, hart, NULL);
	for (unsigned i = 0; i < ROUNDS; i++) {
		__atomic_fetch_add(&shared.sum, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&shared.sum32, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&shared.reserved, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&shared.reserved32, 1, __ATOMIC_RELAXED);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(shared.sum, 3 * ROUNDS);
	assert_int_equal(shared.sum32, 3 * ROUNDS);
	assert_int_equal(shared.reserved, 3 * ROUNDS);
	assert_int_equal(shared.reserved32, 3 * ROUNDS);
	assert_int_equal(shared.most, ROUNDS);
}

/* What each atomic leaves in memory and in its register, and when SC fails. */
static void atomic_results(void **state)
{
	static const struct {
		unsigned f5, width;
		uint64_t memory, operand, old, after;
	} atomic[] = {
		{ 1, 3, 5, 7, 5, 7 }, { 1, 2, 0x80000000, 1, 0xffffffff80000000ull, 1 }, { 0, 2, 0x1ffffffffull, 1, ~0ull, 0x100000000ull },
		{ 0, 3, ~0ull, 2, ~0ull, 1 }, { 4, 3, 6, 3, 6, 5 }, { 12, 3, 6, 3, 6, 2 }, { 8, 3, 6, 3, 6, 7 },
		{ 16, 2, 5, 0xffffffff, 5, 0xffffffff }, { 16, 3, 5, ~0ull, 5, ~0ull }, { 20, 2, 5, 0xffffffff, 5, 5 },
		{ 20, 3, ~0ull, 3, ~0ull, 3 }, { 24, 2, 5, 0x1ffffffffull, 5, 5 }, { 24, 3, ~0ull, 3, ~0ull, 3 },
		{ 28, 2, 5, 0x80000000, 5, 0x80000000 }, { 28, 3, 5, ~0ull, 5, ~0ull }, { 4, 2, 1, 3, 1, 2 }, { 12, 2, 7, 12, 7, 4 }, { 8, 2, 1, 2, 1, 3 },
	};
	struct rig rig;
	uint64_t *cell;

	rig_init(&rig, 64);
	cell = (uint64_t *)(rig.memory + 0x1000);
	for (unsigned i = 0; i < sizeof(atomic) / sizeof(*atomic); i++) {
		const uint32_t code[] = { E_AMO(5, 6, 7, atomic[i].f5, atomic[i].width), E_ECALL };

		rig_code(&rig, RIG_BASE, code, 2);
		cpu_invalidate(rig.cpu, 0, 0, true);
		*cell = atomic[i].memory;
		rig.regs.pc = RIG_BASE;
		rig.regs.x[6] = RIG_BASE + 0x1000;
		rig.regs.x[7] = atomic[i].operand;
		assert_int_equal(cpu_run(rig.cpu, &rig.regs, 10), CPU_STOP_ECALL);
		assert_true(rig.regs.x[5] == atomic[i].old);
		assert_true(*cell == atomic[i].after);
	}
	for (unsigned i = 0; i < 4; i++) { /* all is well; another address; the value has changed; a second sc */
		const uint32_t code[] = { E_AMO(5, 6, 0, 2, 3), i == 2 ? E_SD(7, 6, 0) : E_NOP, E_AMO(8, 9, 7, 3, 3),
					  E_AMO(10, 9, 7, 3, 3), E_ECALL };

		rig_code(&rig, RIG_BASE, code, 5);
		cpu_invalidate(rig.cpu, 0, 0, true);
		cell[0] = cell[1] = 11;
		rig.regs.pc = RIG_BASE;
		rig.regs.x[7] = 22;
		rig.regs.x[9] = RIG_BASE + 0x1000 + (i == 1) * 8;
		assert_int_equal(cpu_run(rig.cpu, &rig.regs, 10), CPU_STOP_ECALL);
		assert_int_equal(rig.regs.x[5], 11);
		assert_int_equal(rig.regs.x[8], i == 1 || i == 2);
		assert_int_equal(rig.regs.x[10], 1);
		assert_int_equal(cell[0], i == 1 ? 11 : 22);
		assert_int_equal(cell[1], 11);
	}
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "SYS-51: compiled C as on this machine", compiled, NULL, NULL, NULL },
		{ "SYS-51: atomics of processors and host together", atomics, NULL, NULL, NULL },
		{ "SYS-51: results of atomics", atomic_results, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("cpu, compiled C", tests, NULL, NULL);
}

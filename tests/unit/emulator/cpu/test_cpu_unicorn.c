// SPDX-License-Identifier: MIT
/* link: -lunicorn */
/*
 * Random instruction streams by our processor and by libunicorn. What libunicorn 2.0.1 does differently is left out here and
 * compared with QEMU's user emulation (test_cpu_qemu.c): floating point, because it neither makes nor looks at
 * NaN boxes, and its 32-bit atomic minimum and maximum, which compare 64 bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unicorn/unicorn.h>

#include "cpu_rig.h"
#include "stream.h"

#define DATA  (RIG_BASE + 0x80000)
#define CASES 3000

struct oracle {
	uc_engine *uc;
	uint8_t *memory;
};

static void on_interrupt(uc_engine *uc, uint32_t number, void *data)
{
	*(uint32_t *)data = number;
	uc_emu_stop(uc);
}

static uint32_t interrupted;

static void oracle_init(struct oracle *oracle, unsigned xlen)
{
	uint64_t status = 0x6000;
	uc_hook hook;

	oracle->memory = calloc(1, RIG_BYTES);
	assert_int_equal(uc_open(UC_ARCH_RISCV, xlen == 64 ? UC_MODE_RISCV64 : UC_MODE_RISCV32, &oracle->uc), 0);
	assert_int_equal(uc_mem_map_ptr(oracle->uc, RIG_BASE, RIG_BYTES, UC_PROT_ALL, oracle->memory), 0);
	assert_int_equal(uc_hook_add(oracle->uc, &hook, UC_HOOK_INTR, (void *)on_interrupt, &interrupted, 1ull, 0ull), 0);
	if (xlen == 64)
		uc_reg_write(oracle->uc, UC_RISCV_REG_MSTATUS, &status);
}

static void oracle_load(struct oracle *oracle, const struct rig *rig, unsigned xlen)
{
	uint64_t flags = 0;

	memcpy(oracle->memory, rig->memory, RIG_BYTES);
	for (int i = 1; i < 32; i++)
		uc_reg_write(oracle->uc, UC_RISCV_REG_X0 + i, &rig->regs.x[i]);
	for (int i = 0; xlen == 64 && i < 32; i++)
		uc_reg_write(oracle->uc, UC_RISCV_REG_F0 + i, &rig->regs.f[i]);
	if (xlen == 64)
		uc_reg_write(oracle->uc, UC_RISCV_REG_FCSR, &flags);
	uc_ctl_remove_cache(oracle->uc, RIG_BASE, RIG_TOP);
}

static void show(const struct stream *s, uint64_t seed, int reg, uint64_t ours, uint64_t theirs)
{
	FILE *file = fopen("/tmp/cpu_stream.bin", "wb");

	print_message("seed %llx: register %d is %llx, should be %llx; stream in /tmp/cpu_stream.bin\n",
		      (unsigned long long)seed, reg, (unsigned long long)ours, (unsigned long long)theirs);
	if (file) {
		fwrite(s->half, 2, s->n, file);
		fclose(file);
	}
}

static void compare(const struct stream *s, uint64_t seed, const struct rig *rig, struct oracle *oracle)
{
	for (int i = 0; i < (s->floats ? 64 : 32); i++) {
		uint64_t theirs = 0, ours = i < 32 ? rig->regs.x[i] : rig->regs.f[i - 32];

		uc_reg_read(oracle->uc, i < 32 ? UC_RISCV_REG_X0 + i : UC_RISCV_REG_F0 + i - 32, &theirs);
		if (s->xlen == 32)
			theirs = (uint32_t)theirs;
		if (ours != theirs)
			show(s, seed, i, ours, theirs);
		assert_true(ours == theirs);
	}
	if (memcmp(rig->memory + 0x7f000, oracle->memory + 0x7f000, 0x2000))
		show(s, seed, -1, 0, 0);
	assert_memory_equal(rig->memory + 0x7f000, oracle->memory + 0x7f000, 0x2000);
}

static void run_streams(struct stream *s, unsigned cases)
{
	struct oracle oracle;
	struct rig rig;

	rig_init(&rig, s->xlen);
	oracle_init(&oracle, s->xlen);
	for (unsigned i = 0; i < cases; i++) {
		uint64_t seed = s->seed, pc = 0;

		stream_make(s, 1 + stream_below(s, 60));
		stream_put(s, E_ECALL);
		memcpy(rig.memory, s->half, s->n * 2u);
		for (unsigned n = 0; n < 0x2000; n += 8) {
			uint64_t value = s->floats ? stream_double(s) : stream_random(s);

			memcpy(rig.memory + 0x7f000 + n, &value, 8);
		}
		for (unsigned n = 1; n < 32; n++)
			rig.regs.x[n] = s->xlen == 32 ? (uint32_t)stream_value(s) : stream_value(s);
		for (unsigned n = 0; n < 32; n++)
			rig.regs.f[n] = s->boxed ? stream_single(s) : stream_float_value(s);
		rig.regs.x[2] = rig.regs.x[8] = rig.regs.x[9] = DATA;
		rig.regs.x[8] += stream_below(s, 16);
		rig.regs.fflags = rig.regs.frm = rig.regs.reserved_bytes = 0;
		rig.regs.pc = RIG_BASE;
		oracle_load(&oracle, &rig, s->xlen);
		cpu_invalidate(rig.cpu, 0, 0, true);
		assert_int_equal(cpu_run(rig.cpu, &rig.regs, ~0ull), CPU_STOP_ECALL);
		assert_int_equal(uc_emu_start(oracle.uc, RIG_BASE, ~0ull, 0, 0), 0);
		assert_int_equal(interrupted, 8); /* an ecall */
		uc_reg_read(oracle.uc, UC_RISCV_REG_PC, &pc);
		assert_int_equal(rig.regs.pc, RIG_BASE + s->n * 2u);
		compare(s, seed, &rig, &oracle);
	}
	uc_close(oracle.uc);
	free(oracle.memory);
	rig_fini(&rig);
}

static void rv32(void **state)
{
	struct stream s = { .seed = 0x1234567, .xlen = 32 };

	run_streams(&s, CASES);
}

static void rv64(void **state)
{
	struct stream s = { .seed = 0x7654321, .xlen = 64, .atomics = true, .no_minmax = true };

	run_streams(&s, CASES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "SYS-51: random RV32IMC as libunicorn", rv32, NULL, NULL, NULL },
		{ "SYS-51: random RV64IMAC as libunicorn", rv64, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("cpu against libunicorn", tests, NULL, NULL);
}

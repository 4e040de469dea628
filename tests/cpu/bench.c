// SPDX-License-Identifier: MIT
/* ns an instruction of the interpreter and of libunicorn, and the same loops compiled for this machine. */
#include <time.h>
#include <unicorn/unicorn.h>

#include "cpu_rig.h"
#include "guest/loops.c"

static const struct {
	const char *name;
	uint64_t n;
} loop[] = {
	{ "integer", 5000000 }, { "memory", 5000000 }, { "branches", 400000 },
	{ "calls", 27 },	{ "fma, double", 20 }, { "saxpy, float", 400 },
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double interpret(struct rig *rig, uint64_t which, uint64_t n, uint64_t *result, uint64_t *instructions)
{
	double start = now();

	*instructions = cpu_instructions(rig->cpu);
	rig->regs.pc = RIG_BASE;
	rig->regs.x[2] = RIG_TOP;
	rig->regs.x[10] = which;
	rig->regs.x[11] = n;
	rig->regs.fflags = CPU_NX;
	if (cpu_run(rig->cpu, &rig->regs, ~0ull) != CPU_STOP_ECALL)
		abort();
	*instructions = cpu_instructions(rig->cpu) - *instructions;
	*result = rig->regs.x[10];
	return now() - start;
}

static void on_interrupt(uc_engine *uc, uint32_t number, void *data)
{
	uc_emu_stop(uc);
}

static double unicorn(struct rig *rig, uint64_t which, uint64_t n, uint64_t *result)
{
	uint64_t sp = RIG_TOP, status = 0x6000;
	double start;
	uc_engine *uc;
	uc_hook hook;

	if (uc_open(UC_ARCH_RISCV, UC_MODE_RISCV64, &uc) ||
	    uc_mem_map_ptr(uc, RIG_BASE, RIG_BYTES, UC_PROT_ALL, rig->memory) ||
	    uc_hook_add(uc, &hook, UC_HOOK_INTR, (void *)on_interrupt, NULL, 1ull, 0ull))
		abort();
	uc_reg_write(uc, UC_RISCV_REG_SP, &sp);
	uc_reg_write(uc, UC_RISCV_REG_MSTATUS, &status);
	uc_reg_write(uc, UC_RISCV_REG_A0, &which);
	uc_reg_write(uc, UC_RISCV_REG_A1, &n);
	start = now();
	if (uc_emu_start(uc, RIG_BASE, ~0ull, 0, 0))
		abort();
	start = now() - start;
	uc_reg_read(uc, UC_RISCV_REG_A0, result);
	uc_close(uc);
	return start;
}

int main(int argc, char **argv)
{
	printf("%-14s %12s %10s %10s %10s  ns an instruction\n", "loop", "instructions", "ours", "libunicorn", "this cpu");
	for (unsigned i = 0; i < sizeof(loop) / sizeof(*loop); i++) {
		uint64_t results[3], instructions;
		double ours, theirs, host;
		struct rig rig;

		rig_init(&rig, 64);
		rig_image(&rig, CPU_GUESTS "/loops.bin");
		ours = interpret(&rig, i, loop[i].n, &results[0], &instructions);
		rig_image(&rig, CPU_GUESTS "/loops.bin");
		theirs = argc > 1 ? 0 : unicorn(&rig, i, loop[i].n, &results[1]);
		host = now();
		results[2] = loops(i, loop[i].n);
		host = now() - host;
		printf("%-14s %12llu %10.2f %10.2f %10.2f%s\n", loop[i].name, (unsigned long long)instructions,
		       ours / (double)instructions, theirs / (double)instructions, host / (double)instructions,
		       results[0] == results[2] ? "" : "  WRONG");
		rig_fini(&rig);
	}
	return 0;
}

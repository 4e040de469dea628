// SPDX-License-Identifier: MIT
/* ns an instruction interpreted, translated and by libunicorn, and the same loops compiled for this machine. */
#include <time.h>
#include <unicorn/unicorn.h>

#include "cpu_rig.h"
#include "translation.h"
#include "guest/loops.c"

extern const struct cpu_translation loops32_translation, loops_translation;

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
	rig->regs.x[11] = rig->xlen == 64 ? n : 0; /* pairs of registers in RV32 */
	rig->regs.x[12] = n;
	rig->regs.x[13] = 0;
	rig->regs.fflags = CPU_NX;
	if (cpu_run(rig->cpu, &rig->regs, ~0ull) != CPU_STOP_ECALL)
		abort();
	*instructions = cpu_instructions(rig->cpu) - *instructions;
	*result = rig->xlen == 64 ? rig->regs.x[10] : rig->regs.x[11] << 32 | rig->regs.x[10];
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

	if (uc_open(UC_ARCH_RISCV, rig->xlen == 64 ? UC_MODE_RISCV64 : UC_MODE_RISCV32, &uc) ||
	    uc_mem_map_ptr(uc, RIG_BASE, RIG_BYTES, UC_PROT_ALL, rig->memory) ||
	    uc_hook_add(uc, &hook, UC_HOOK_INTR, (void *)on_interrupt, NULL, 1ull, 0ull))
		abort();
	uc_reg_write(uc, UC_RISCV_REG_SP, &sp);
	if (rig->xlen == 64)
		uc_reg_write(uc, UC_RISCV_REG_MSTATUS, &status);
	uc_reg_write(uc, UC_RISCV_REG_A0, &which);
	uc_reg_write(uc, rig->xlen == 64 ? UC_RISCV_REG_A1 : UC_RISCV_REG_A2, &n);
	start = now();
	if (uc_emu_start(uc, RIG_BASE, ~0ull, 0, 0))
		abort();
	start = now() - start;
	uc_reg_read(uc, UC_RISCV_REG_A0, result);
	uc_close(uc);
	return start;
}

static double on_host(uint64_t which, uint64_t n, uint64_t *result)
{
	double start = now();

	*result = loops(which, n);
	return now() - start;
}

/* RV32 programs lie in flat memory from 0 on, as the firmware does. */
static void make_flat(struct rig *rig, bool translated)
{
	struct cpu_config config = { .xlen = 32, .bus = &rig_bus, .user = rig, .flat_bytes = RIG_TOP };

	cpu_destroy(rig->cpu);
	config.flat = rig->memory - RIG_BASE;
	if (cpu_create(&config, &rig->cpu) || (translated && cpu_translate(rig->cpu, &loops32_translation)))
		abort();
}

static void bench(unsigned xlen, unsigned i)
{
	const char *image = xlen == 64 ? CPU_GUESTS "/loops.bin" : CPU_GUESTS "/loops32.bin";
	uint64_t results[4] = { 0 }, instructions;
	double ours, translated = 0, theirs, host = on_host(i, loop[i].n, &results[0]);
	uint8_t *space = calloc(1, RIG_TOP);
	struct rig rig;

	rig_init(&rig, xlen);
	rig.xlen = xlen;
	free(rig.memory);
	rig.memory = space + RIG_BASE;
	if (xlen == 32)
		make_flat(&rig, false);
	rig_image(&rig, image);
	ours = interpret(&rig, i, loop[i].n, &results[1], &instructions);
	rig_image(&rig, image);
	theirs = unicorn(&rig, i, loop[i].n, &results[2]);
	if (xlen == 32) {
		rig_image(&rig, image);
		make_flat(&rig, true);
		translated = interpret(&rig, i, loop[i].n, &results[3], &instructions);
	}
	char figure[16] = "-";

	if (xlen == 64) {
		rig_image(&rig, image);
		if (cpu_attach(rig.cpu, RIG_BASE, &loops_translation))
			abort();
		translated = interpret(&rig, i, loop[i].n, &results[3], &instructions);
	}
	if (translated > 0)
		snprintf(figure, sizeof(figure), "%.2f", translated / (double)instructions);
	printf("RV%u %-14s %12llu %12.2f %12s %12.2f %10.2f%s\n", xlen, loop[i].name, (unsigned long long)instructions,
	       ours / (double)instructions, figure, theirs / (double)instructions,
	       host / (double)instructions,
	       results[0] == results[1] && results[0] == results[3] ? "" : "  WRONG");
	cpu_destroy(rig.cpu);
	free(space);
}

int main(void)
{
	printf("ns of processor time an instruction of the guest\n%-19s %12s %12s %12s %12s %10s\n", "loop", "instructions",
	       "interpreted", "translated", "libunicorn", "this cpu");
	for (unsigned i = 0; i < 4; i++)
		bench(32, i);
	for (unsigned i = 0; i < sizeof(loop) / sizeof(*loop); i++)
		bench(64, i);
	return 0;
}

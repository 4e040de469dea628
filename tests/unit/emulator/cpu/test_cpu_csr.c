// SPDX-License-Identifier: MIT
/* All 4096 control and status registers: which can be read, which can be written, and which of their bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cpu_rig.h"
#include "emulator/cpu/machine.h"
#include "encode.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define BEFORE	      0x5a5a5a5aull

struct csr {
	unsigned name;
	bool readable, writes;	  /* writing is allowed, whatever it changes */
	uint32_t writable, fixed; /* bits that can be changed, bits that are always set */
};

/* The RISC-V manuals' registers of machine mode; RV32IMC has no others, and no interrupts of its own. */
static const struct csr machine[] = {
    {0x300, true, true, 0x0088, 0x1800}, {0x301, true, true, 0, 0x40001104}, {0x304, true, true, ~0u, 0},
    {0x305, true, true, ~3u, 0},	 {0x340, true, true, ~0u, 0},	     {0x341, true, true, ~1u, 0},
    {0x342, true, true, ~0u, 0},	 {0x343, true, true, ~0u, 0},	     {0x344, true, true, 0, 0},
    {0xf11, true, false, 0, 0},		 {0xf12, true, false, 0, 0},	     {0xf13, true, false, 0, 0},
    {0xf14, true, false, 0, 3},
};
/* Counters count on, so that their values are looked at elsewhere. */
static const struct csr counters_32[] = {
    {0xb00, true, true, 0, 0},	{0xb02, true, true, 0, 0},  {0xb80, true, true, 0, 0},	{0xb82, true, true, 0, 0},
    {0xc00, true, false, 0, 0}, {0xc02, true, false, 0, 0}, {0xc80, true, false, 0, 0}, {0xc82, true, false, 0, 0},
};
/* A user's program on RV64 has the flags of floating point and the counters. */
static const struct csr user[] = {{1, true, true, 0x1f, 0}, {2, true, true, 7, 0}, {3, true, true, 0xff, 0}};
static const struct csr counters_64[] = {{0xc00, true, false, 0, 0}, {0xc02, true, false, 0, 0}};

static const struct csr *find(const struct csr *rows, size_t n, unsigned name)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].name == name)
			return &rows[i];
	return NULL;
}

/* Execute one instruction on @name with @operand in x6. Return: true if it is legal; x5 is left alone if it is not. */
static bool execute(struct rig *rig, uint32_t insn, uint64_t operand)
{
	const uint32_t code[] = {insn, E_ECALL};
	enum cpu_stop why;

	rig_code(rig, RIG_BASE, code, 2);
	cpu_invalidate(rig->cpu, 0, 0, true);
	rig->regs.pc = RIG_BASE;
	rig->regs.x[5] = BEFORE;
	rig->regs.x[6] = operand;
	why = cpu_run(rig->cpu, &rig->regs, ~0ull);
	if (why == CPU_STOP_ECALL)
		return true;
	assert_int_equal(why, CPU_STOP_FAULT);
	assert_int_equal(cpu_fault(rig->cpu)->kind, CPU_FAULT_ILLEGAL);
	assert_int_equal(cpu_fault(rig->cpu)->value, insn);
	assert_int_equal(rig->regs.pc, RIG_BASE);
	assert_int_equal(rig->regs.x[5], BEFORE);
	return false;
}

static void bits(struct rig *rig, const struct csr *row)
{
	static const uint32_t values[] = {0, ~0u, 0x5555aaaa, 0xaaaa5555};
	uint32_t expected = row->fixed;

	for (unsigned i = 0; i < LENGTH(values); i++) {
		assert_true(execute(rig, E_CSRRW(5, row->name, 6), values[i]));
		if (i)
			assert_int_equal((uint32_t)rig->regs.x[5], expected);
		expected = (values[i] & row->writable) | row->fixed;
		assert_true(execute(rig, E_CSRRS(5, row->name, 0), ~0ull)); /* of x0: reads only */
		assert_int_equal((uint32_t)rig->regs.x[5], expected);
	}
	/* set and clear bits, by register and by number */
	assert_true(execute(rig, E_CSRRW(0, row->name, 6), 0));
	assert_true(execute(rig, E_CSRRS(5, row->name, 6), 0x12));
	assert_true(execute(rig, E_I(0x73, 5, 6, 0x1f, row->name), 0));
	assert_int_equal((uint32_t)rig->regs.x[5], (0x12 & row->writable) | row->fixed);
	assert_true(execute(rig, E_CSRRC(5, row->name, 6), 0x0a));
	assert_int_equal((uint32_t)rig->regs.x[5], (0x1f & row->writable) | row->fixed);
	assert_true(execute(rig, E_I(0x73, 5, 7, 5, row->name), 0));
	assert_int_equal((uint32_t)rig->regs.x[5], (0x15 & row->writable) | row->fixed);
	assert_true(execute(rig, E_CSRRS(5, row->name, 0), 0));
	assert_int_equal((uint32_t)rig->regs.x[5], (0x10 & row->writable) | row->fixed);
	assert_true(execute(rig, E_I(0x73, 5, 5, 0, row->name), 0)); /* a zero is written, too */
	assert_true(execute(rig, E_CSRRS(5, row->name, 0), 0));
	assert_int_equal((uint32_t)rig->regs.x[5], row->fixed);
}

static void all_registers(unsigned xlen, const struct csr *rows, size_t n, const struct csr *counters,
			  size_t n_counters)
{
	struct rig rig;

	rig_init(&rig, xlen);
	if (xlen == 32)
		cpu_machine(rig.cpu)->mhartid = 3;
	for (unsigned name = 0; name < 4096; name++) {
		const struct csr *row = find(rows, n, name), *counter = find(counters, n_counters, name);
		bool readable = row || counter, writes = row ? row->writes : counter && counter->writes;

		assert_int_equal(execute(&rig, E_CSRRS(5, name, 0), 0), readable);
		assert_int_equal(execute(&rig, E_I(0x73, 5, 7, 0, name), 0), readable);
		assert_int_equal(execute(&rig, E_CSRRW(5, name, 6), 0), writes);
		assert_int_equal(execute(&rig, E_CSRRS(5, name, 6), 0),
				 writes); /* a register other than x0 writes, even a zero */
		if (row && row->writes)
			bits(&rig, row);
		else if (row && execute(&rig, E_CSRRS(5, name, 0), 0))
			assert_int_equal(rig.regs.x[5], row->fixed);
	}
	rig_fini(&rig);
}

static void registers_32(void **state)
{
	all_registers(32, machine, LENGTH(machine), counters_32, LENGTH(counters_32));
}

static void registers_64(void **state)
{
	all_registers(64, user, LENGTH(user), counters_64, LENGTH(counters_64));
}

/* The two halves of fcsr are registers of their own. */
static void float_flags(void **state)
{
	struct rig rig;

	rig_init(&rig, 64);
	for (unsigned frm = 0; frm < 8; frm++)
		for (unsigned flags = 0; flags < 32; flags += 3) {
			assert_true(execute(&rig, E_CSRRW(0, 2, 6), frm | 0xff00));
			assert_true(execute(&rig, E_CSRRW(0, 1, 6), flags | 0xff00));
			assert_true(execute(&rig, E_CSRRS(5, 3, 0), 0));
			assert_int_equal(rig.regs.x[5], frm << 5 | flags);
			assert_int_equal(rig.regs.frm, frm);
			assert_int_equal(rig.regs.fflags, flags);
			assert_true(execute(&rig, E_CSRRW(0, 3, 6), (frm ^ 7) << 5 | (flags ^ 31) | 0xff00));
			assert_true(execute(&rig, E_CSRRS(5, 2, 0), 0));
			assert_int_equal(rig.regs.x[5], frm ^ 7);
			assert_true(execute(&rig, E_CSRRS(5, 1, 0), 0));
			assert_int_equal(rig.regs.x[5], flags ^ 31);
		}
	rig_fini(&rig);
}

/* Cycles and retired instructions are the same number, that of the instructions before; each half by its name. */
static void counting(void **state)
{
	for (unsigned xlen = 32; xlen <= 64; xlen += 32) {
		const struct csr *rows = xlen == 32 ? counters_32 : counters_64;
		struct rig rig;

		rig_init(&rig, xlen);
		for (unsigned i = 0; i < (xlen == 32 ? LENGTH(counters_32) : LENGTH(counters_64)); i++) {
			uint64_t before = cpu_instructions(rig.cpu);

			assert_true(execute(&rig, E_CSRRS(5, rows[i].name, 0), 0));
			assert_int_equal(rig.regs.x[5], rows[i].name & 0x80 ? before >> 32 : before);
		}
		rig_fini(&rig);
	}
}

/*
 * A counter that has more than 32 bits: all of them where registers have 64, one half by each name where they have 32. The
 * processor's own count is set, since to count so far takes too long.
 */
static void counting_far(void **state)
{
	static const uint64_t counts[] = {0x1fffffff0, 0x123456789abcdef0};

	for (unsigned xlen = 32; xlen <= 64; xlen += 32)
		for (unsigned c = 0; c < LENGTH(counts); c++) {
			const struct csr *rows = xlen == 32 ? counters_32 : counters_64;
			struct rig rig;

			rig_init(&rig, xlen);
			rig.cpu->instructions = counts[c];
			for (unsigned i = 0; i < (xlen == 32 ? LENGTH(counters_32) : LENGTH(counters_64)); i++) {
				uint64_t before = cpu_instructions(rig.cpu), low = xlen == 32 ? (uint32_t)before : before;

				assert_true(execute(&rig, E_CSRRS(5, rows[i].name, 0), 0));
				assert_true((xlen == 32 ? (uint32_t)rig.regs.x[5] : rig.regs.x[5]) ==
					    (rows[i].name & 0x80 ? before >> 32 : low));
				if (xlen == 32) /* as a register it is a word, whatever is in it */
					assert_true(rig.regs.x[5] >> 32 == 0 || rig.regs.x[5] >> 32 == 0xffffffff);
			}
			rig_fini(&rig);
		}
}

/* A trap keeps whether interrupts were on, and mret brings that back. */
static void trap_and_return(void **state)
{
	struct rig rig;

	rig_init(&rig, 32);
	for (unsigned on = 0; on < 2; on++) {
		const uint32_t code[] = {E_MRET, E_ECALL};

		cpu_machine(rig.cpu)->mstatus = on ? 0x8 : 0;
		cpu_machine(rig.cpu)->mtvec = RIG_BASE;
		rig_code(&rig, RIG_BASE, code, 2);
		cpu_invalidate(rig.cpu, 0, 0, true);
		rig.regs.pc = RIG_BASE + 4;
		cpu_trap(rig.cpu, &rig.regs, 5, 0x77);
		assert_int_equal(rig.regs.pc, RIG_BASE);
		assert_int_equal(cpu_machine(rig.cpu)->mstatus, on ? 0x80 : 0);
		assert_int_equal(cpu_machine(rig.cpu)->mcause, 5);
		assert_int_equal(cpu_machine(rig.cpu)->mtval, 0x77);
		assert_int_equal(cpu_machine(rig.cpu)->mepc, RIG_BASE + 4);
		assert_int_equal(cpu_run(rig.cpu, &rig.regs, ~0ull), CPU_STOP_ECALL);
		assert_int_equal(cpu_machine(rig.cpu)->mstatus, on ? 0x88 : 0x80);
	}
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-51: every CSR number, RV32 in machine mode", registers_32, NULL, NULL, NULL},
	    {"SYS-51: every CSR number, RV64 in user mode", registers_64, NULL, NULL, NULL},
	    {"SYS-51: rounding mode and flags", float_flags, NULL, NULL, NULL},
	    {"SYS-51: counters", counting, NULL, NULL, NULL},
	    {"SYS-51: counters beyond 32 bits", counting_far, NULL, NULL, NULL},
	    {"SYS-51: what a trap and its end do to mstatus", trap_and_return, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("cpu: CSRs", tests, NULL, NULL);
}

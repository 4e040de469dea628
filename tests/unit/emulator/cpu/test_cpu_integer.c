// SPDX-License-Identifier: MIT
/* Each integer instruction with operands at the edges; what must not be decoded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cpu_rig.h"
#include "encode.h"
#include "insn.h"

#define MIN32 0xffffffff80000000ull
#define MIN64 0x8000000000000000ull
#define ALL   0xffffffffffffffffull

struct operation {
	const char *name;
	uint32_t insn; /* rd x5, rs1 x6, rs2 x7 */
	uint64_t a, b, result;
};

#define RR(f3, f7)   E_R(0x33, 5, f3, 6, 7, f7)
#define RW(f3, f7)   E_R(0x3b, 5, f3, 6, 7, f7)
#define RI(f3, imm)  E_I(0x13, 5, f3, 6, (uint32_t)(imm) & 0xfff)
#define RIW(f3, imm) E_I(0x1b, 5, f3, 6, (uint32_t)(imm) & 0xfff)

static const struct operation operations64[] = {
	{ "add", RR(0, 0), ALL, 1, 0 },
	{ "sub", RR(0, 0x20), 0, 1, ALL },
	{ "sll by 63", RR(1, 0), 1, 63, MIN64 },
	{ "sll takes six bits", RR(1, 0), 1, 64 + 3, 8 },
	{ "slt", RR(2, 0), MIN64, 0, 1 },
	{ "slt of equals", RR(2, 0), 5, 5, 0 },
	{ "sltu", RR(3, 0), MIN64, 0, 0 },
	{ "sltu", RR(3, 0), 0, ALL, 1 },
	{ "xor", RR(4, 0), 0xff00ff00ff00ff00ull, 0x0ff00ff00ff00ff0ull, 0xf0f0f0f0f0f0f0f0ull },
	{ "srl", RR(5, 0), MIN64, 63, 1 },
	{ "sra", RR(5, 0x20), MIN64, 63, ALL },
	{ "or", RR(6, 0), 0xf0, 0x0f, 0xff },
	{ "and", RR(7, 0), 0xf0, 0x3c, 0x30 },
	{ "addi", RI(0, -2048), 2047, 0, ALL },
	{ "slti", RI(2, -1), MIN64, 0, 1 },
	{ "sltiu extends the sign", RI(3, -1), 5, 0, 1 },
	{ "xori", RI(4, -1), 0x55, 0, ~0x55ull },
	{ "ori", RI(6, -2048), 1, 0, 0xfffffffffffff801ull },
	{ "andi", RI(7, 0x7ff), ALL, 0, 0x7ff },
	{ "slli", RI(1, 63), 3, 0, MIN64 },
	{ "srli", RI(5, 63), MIN64, 0, 1 },
	{ "srai", RI(5, 0x400 | 63), MIN64, 0, ALL },
	{ "addiw", RIW(0, 1), 0x7fffffff, 0, MIN32 },
	{ "slliw", RIW(1, 31), 1, 0, MIN32 },
	{ "srliw", RIW(5, 31), 0xf80000000ull, 0, 1 },
	{ "srliw by 0 extends the sign", RIW(5, 0), 0x80000000ull, 0, MIN32 },
	{ "sraiw", RIW(5, 0x400 | 31), 0x80000000ull, 0, ALL },
	{ "addw", RW(0, 0), 0x7fffffff, 1, MIN32 },
	{ "subw", RW(0, 0x20), 0x100000000ull, 1, ALL },
	{ "sllw takes five bits", RW(1, 0), 1, 32 + 4, 16 },
	{ "srlw", RW(5, 0), ALL, 4, 0x0fffffff },
	{ "sraw", RW(5, 0x20), 0x80000000ull, 4, 0xfffffffff8000000ull },
	{ "mul", RR(0, 1), 0x123456789abcdefull, 0xfedcba987654321ull, 0x22236d88fe5618cfull },
	{ "mulh", RR(1, 1), MIN64, MIN64, 0x4000000000000000ull },
	{ "mulh", RR(1, 1), ALL, 1, ALL },
	{ "mulhsu", RR(2, 1), ALL, ALL, ALL },
	{ "mulhsu", RR(2, 1), MIN64, ALL, MIN64 },
	{ "mulhu", RR(3, 1), ALL, ALL, 0xfffffffffffffffeull },
	{ "div", RR(4, 1), (uint64_t)-7, 2, (uint64_t)-3 },
	{ "div by zero", RR(4, 1), 7, 0, ALL },
	{ "div overflow", RR(4, 1), MIN64, ALL, MIN64 },
	{ "divu by zero", RR(5, 1), 7, 0, ALL },
	{ "divu", RR(5, 1), ALL, 2, 0x7fffffffffffffffull },
	{ "rem", RR(6, 1), (uint64_t)-7, 2, ALL },
	{ "rem by zero", RR(6, 1), (uint64_t)-7, 0, (uint64_t)-7 },
	{ "rem overflow", RR(6, 1), MIN64, ALL, 0 },
	{ "remu by zero", RR(7, 1), 9, 0, 9 },
	{ "remu", RR(7, 1), ALL, 10, 5 },
	{ "mulw", RW(0, 1), 0x10000, 0x8000, MIN32 },
	{ "divw overflow", RW(4, 1), 0x80000000ull, 0xffffffffull, MIN32 },
	{ "divw by zero", RW(4, 1), 5, 0x100000000ull, ALL },
	{ "divw", RW(4, 1), (uint64_t)-9, 2, (uint64_t)-4 },
	{ "divuw by zero", RW(5, 1), 5, 0, ALL },
	{ "divuw extends the sign", RW(5, 1), 0xffffffffull, 1, ALL },
	{ "remw overflow", RW(6, 1), 0x80000000ull, 0xffffffffull, 0 },
	{ "remw by zero", RW(6, 1), 0x80000000ull, 0, MIN32 },
	{ "remuw by zero", RW(7, 1), 0xffffffffull, 0, ALL },
	{ "remuw", RW(7, 1), 0xffffffffull, 16, 15 },
	{ "lui", E_U(0x37, 5, 0x80000000u), 0, 0, MIN32 },
	{ "auipc", E_U(0x17, 5, 0xfffff000u), 0, 0, RIG_BASE - 0x1000 },
};

static const struct operation operations32[] = {
	{ "add", RR(0, 0), 0xffffffff, 1, 0 },
	{ "sll takes five bits", RR(1, 0), 1, 33, 2 },
	{ "sra", RR(5, 0x20), 0x80000000, 31, 0xffffffff },
	{ "slt", RR(2, 0), 0x80000000, 0, 1 },
	{ "sltu", RR(3, 0), 0, 0xffffffff, 1 },
	{ "slti", RI(2, -1), 0x80000000, 0, 1 },
	{ "mul", RR(0, 1), 0x12345678, 0x9abcdef0, 0x242d2080 },
	{ "mulh", RR(1, 1), 0x80000000, 0x80000000, 0x40000000 },
	{ "mulhsu", RR(2, 1), 0xffffffff, 0xffffffff, 0xffffffff },
	{ "mulhsu", RR(2, 1), 0x80000000, 0xffffffff, 0x80000000 },
	{ "mulhu", RR(3, 1), 0xffffffff, 0xffffffff, 0xfffffffe },
	{ "div overflow", RR(4, 1), 0x80000000, 0xffffffff, 0x80000000 },
	{ "div by zero", RR(4, 1), 1, 0, 0xffffffff },
	{ "divu by zero", RR(5, 1), 1, 0, 0xffffffff },
	{ "rem overflow", RR(6, 1), 0x80000000, 0xffffffff, 0 },
	{ "rem by zero", RR(6, 1), 0x80000001, 0, 0x80000001 },
	{ "remu by zero", RR(7, 1), 3, 0, 3 },
	{ "srai", RI(5, 0x400 | 31), 0x80000000, 0, 0xffffffff },
	{ "lui", E_U(0x37, 5, 0x80000000u), 0, 0, 0x80000000 },
};

static uint64_t execute(struct rig *rig, uint32_t insn, uint64_t a, uint64_t b)
{
	const uint32_t code[] = { insn, E_ECALL };

	rig_code(rig, RIG_BASE, code, 2);
	cpu_invalidate(rig->cpu, 0, 0, true);
	rig->regs.pc = RIG_BASE;
	rig->regs.x[5] = 0xdead;
	rig->regs.x[6] = a;
	rig->regs.x[7] = b;
	assert_int_equal(cpu_run(rig->cpu, &rig->regs, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(rig->regs.pc, RIG_BASE + 8);
	assert_true(rig->regs.x[0] == 0);
	return rig->regs.x[5];
}

static void check_operations(unsigned xlen, const struct operation *operation, size_t n)
{
	struct rig rig;

	rig_init(&rig, xlen);
	for (; n--; operation++) {
		uint64_t result = execute(&rig, operation->insn, operation->a, operation->b);

		if (result != operation->result)
			fail_msg("%s: %llx, should be %llx", operation->name, (unsigned long long)result,
				 (unsigned long long)operation->result);
	}
	rig_fini(&rig);
}

static void edges64(void **state)
{
	check_operations(64, operations64, sizeof(operations64) / sizeof(*operations64));
}

static void edges32(void **state)
{
	check_operations(32, operations32, sizeof(operations32) / sizeof(*operations32));
}

/* Each kind of branch, taken and not, near and to another page, forwards and back. */
static void check_branch(struct rig *rig, unsigned f3, int distance, uint64_t a, uint64_t b, bool taken)
{
	const uint64_t from = RIG_BASE + 0x4000;
	const uint32_t branch = E_B(f3, 6, 7, distance), stop[] = { E_LI(5, 1), E_ECALL }, other[] = { E_LI(5, 2), E_ECALL };
	uint64_t before = cpu_instructions(rig->cpu);

	rig_code(rig, from, &branch, 1);
	rig_code(rig, from + 4, stop, 2);
	rig_code(rig, from + (uint64_t)(int64_t)distance, other, 2);
	cpu_invalidate(rig->cpu, 0, 0, true);
	rig->regs.pc = from;
	rig->regs.x[6] = a;
	rig->regs.x[7] = b;
	assert_int_equal(cpu_run(rig->cpu, &rig->regs, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(rig->regs.x[5], taken ? 2 : 1);
	assert_int_equal(cpu_instructions(rig->cpu) - before, 3);
}

static void branches(void **state)
{
	static const struct {
		unsigned f3;
		bool below, equal, above, wrapped; /* 1 ? 2, 2 ? 2, 3 ? 2, -1 ? 2 */
	} branch[] = {
		{ 0, false, true, false, false }, { 1, true, false, true, true },  { 4, true, false, false, true },
		{ 5, false, true, true, false },  { 6, true, false, false, false }, { 7, false, true, true, true },
	};
	static const int distances[] = { 12, -64, 4094, -4096, 4000, -2 * 1024 };

	for (unsigned xlen = 32; xlen <= 64; xlen += 32) {
		uint64_t minus = xlen == 32 ? 0xffffffffu : ALL;
		struct rig rig;

		rig_init(&rig, xlen);
		for (unsigned d = 0; d < 6; d++)
			for (unsigned i = 0; i < 6; i++) {
				check_branch(&rig, branch[i].f3, distances[d], 1, 2, branch[i].below);
				check_branch(&rig, branch[i].f3, distances[d], 2, 2, branch[i].equal);
				check_branch(&rig, branch[i].f3, distances[d], 3, 2, branch[i].above);
				check_branch(&rig, branch[i].f3, distances[d], minus, 2, branch[i].wrapped);
			}
		rig_fini(&rig);
	}
}

static void jumps(void **state)
{
	static const int distances[] = { 8, 0x2000, -0x2000, 0x800, -0x40 };
	struct rig rig;

	rig_init(&rig, 64);
	for (unsigned i = 0; i < 5; i++) {
		const uint64_t from = RIG_BASE + 0x8000, to = from + (uint64_t)(int64_t)distances[i];
		const uint32_t jal = E_J(5, distances[i]), back[] = { E_JALR(1, 5, 1), E_NOP }, end = E_ECALL;

		rig_code(&rig, from, &jal, 1);
		rig_code(&rig, from + 4, &end, 1);
		rig_code(&rig, to, back, 2);
		cpu_invalidate(rig.cpu, 0, 0, true);
		rig.regs.pc = from;
		assert_int_equal(cpu_run(rig.cpu, &rig.regs, ~0ull), CPU_STOP_ECALL);
		assert_int_equal(rig.regs.x[5], from + 4);
		assert_int_equal(rig.regs.x[1], to + 4); /* bit 0 of a target is ignored */
		assert_int_equal(rig.regs.pc, from + 8);
	}
	/* the target comes from the register before the link is written to it */
	{
		const uint32_t same[] = { E_JALR(6, 6, 0), E_EBREAK, E_ECALL };

		rig_code(&rig, RIG_BASE, same, 3);
		cpu_invalidate(rig.cpu, 0, 0, true);
		rig.regs.pc = RIG_BASE;
		rig.regs.x[6] = RIG_BASE + 8;
		assert_int_equal(cpu_run(rig.cpu, &rig.regs, ~0ull), CPU_STOP_ECALL);
		assert_int_equal(rig.regs.x[6], RIG_BASE + 4);
	}
	rig_fini(&rig);
}

static void loads_and_stores(void **state)
{
	static const struct {
		unsigned width, xlen;
		uint64_t value;
	} load[] = {
		{ 0, 64, 0xffffffffffffff88ull }, { 1, 64, 0xffffffffffff9988ull }, { 2, 64, 0xffffffffbbaa9988ull },
		{ 3, 64, 0xffeeddccbbaa9988ull }, { 4, 64, 0x88 },		     { 5, 64, 0x9988 },
		{ 6, 64, 0xbbaa9988ull },	  { 0, 32, 0xffffff88u },	     { 1, 32, 0xffff9988u },
		{ 2, 32, 0xbbaa9988u },		  { 4, 32, 0x88 },		     { 5, 32, 0x9988 },
	};
	const uint64_t data = 0xffeeddccbbaa9988ull;

	for (unsigned i = 0; i < sizeof(load) / sizeof(*load); i++)
		for (unsigned shift = 0; shift < 8; shift++) { /* misaligned ones too */
			uint64_t at = RIG_BASE + 0x1000 - shift, got = 0, size = 1ull << (load[i].width & 3);
			struct rig rig;

			rig_init(&rig, load[i].xlen);
			memcpy(rig.memory + (at - RIG_BASE), &data, 8);
			assert_true(execute(&rig, E_I(0x03, 5, load[i].width, 6, 0x800), at + 0x800, 0) == load[i].value);
			if (load[i].width < 4) {
				memset(rig.memory + (at - RIG_BASE), 0, 8);
				execute(&rig, E_S(0x23, load[i].width, 6, 7, -3), at + 3, data);
				memcpy(&got, rig.memory + (at - RIG_BASE), 8);
				assert_true(got == (size == 8 ? data : data & ((1ull << 8 * size) - 1)));
			}
			rig_fini(&rig);
		}
}

static void reserved(void **state)
{
	static const struct {
		uint32_t insn;
		unsigned xlens; /* 1: illegal in RV32, 2: in RV64 */
	} bad[] = {
		{ 0, 3 }, { 0xffffffffu, 3 }, { 0xffff, 3 },
		{ 0x0000, 3 },                                     /* c.addi4spn 0 */
		{ 0x2001 | 0 << 7, 2 },                            /* c.addiw x0; RV32: c.jal */
		{ 0x6081 & ~0x1000u & ~0x7cu, 3 },                 /* c.lui 0 */
		{ 0x6101, 3 },                                     /* c.addi16sp 0 */
		{ 0x8002, 3 },                                     /* c.jr x0 */
		{ 0x4002, 3 },                                     /* c.lwsp x0 */
		{ 0x6002, 3 },                                     /* c.ldsp x0; RV32: c.flwsp */
		{ 0x9c41, 3 },                                     /* c.subw's row, unused */
		{ 0x9c01, 1 },                                     /* c.subw */
		{ 0x1002 | 5 << 7, 1 },                            /* c.slli with a sixth bit */
		{ 0x9001, 1 },                                     /* c.srli with a sixth bit */
		{ 0x2000, 1 }, { 0x6000, 1 }, { 0xa000, 1 }, { 0xe000, 1 }, { 0x2002, 1 }, { 0xa002, 1 }, { 0xe002, 1 },
		{ 0x8000, 3 },                                     /* the empty row of quadrant 0 */
		{ RR(0, 2), 3 }, { RR(1, 0x20), 3 }, { RW(0, 0), 1 }, { RIW(0, 1), 1 }, { RIW(2, 1), 3 }, { RW(1, 1), 3 },
		{ RI(1, 32), 1 }, { RI(1, 0x400), 3 }, { RI(5, 0x800), 3 }, { RIW(1, 32), 3 }, { RIW(5, 0x420), 3 },
		{ E_I(0x03, 5, 7, 6, 0), 3 }, { E_LD(5, 6, 0), 1 }, { E_I(0x03, 5, 6, 6, 0), 1 }, { E_SD(5, 6, 0), 1 },
		{ E_S(0x23, 4, 6, 5, 0), 3 }, { E_B(2, 6, 7, 8), 3 }, { E_B(3, 6, 7, 8), 3 }, { E_I(0x67, 5, 1, 6, 0), 3 },
		{ E_AMO(5, 6, 7, 0, 2), 1 }, { E_AMO(5, 6, 7, 0, 1), 3 }, { E_AMO(5, 6, 7, 2, 2), 3 }, { E_AMO(5, 6, 7, 5, 2), 3 },
		{ E_AMO(5, 6, 7, 0, 4), 3 }, { E_FLD(5, 6, 0), 1 }, { E_I(0x07, 5, 1, 6, 0), 3 }, { E_S(0x27, 4, 6, 5, 0), 3 },
		{ E_FP(5, 5, 6, 7, 0), 3 }, { E_FP(5, 6, 6, 7, 1), 3 }, { E_FP(5, 0, 6, 7, 2), 3 }, { E_FP(5, 0, 6, 1, 0x2c), 3 },
		{ E_FP(5, 3, 6, 7, 0x10), 3 }, { E_FP(5, 2, 6, 7, 0x14), 3 }, { E_FP(5, 3, 6, 7, 0x50), 3 },
		{ E_FP(5, 0, 6, 0, 0x20), 3 }, { E_FP(5, 0, 6, 1, 0x21), 3 }, { E_FP(5, 0, 6, 4, 0x60), 3 },
		{ E_FP(5, 2, 6, 0, 0x70), 3 }, { E_FP(5, 0, 6, 1, 0x70), 3 }, { E_FP(5, 1, 6, 0, 0x78), 3 },
		{ E_FMA(0x43, 5, 0, 6, 7, 8, 2), 3 }, { E_FMA(0x43, 5, 5, 6, 7, 8, 0), 3 },
		{ E_MRET, 2 }, { E_WFI, 2 }, { 0x00200073, 3 }, { 0x10200073, 3 }, { 0x12000073, 3 }, { E_I(0x73, 5, 4, 6, 0x300), 3 },
		{ E_I(0x0f, 0, 2, 0, 0), 3 }, { E_CSRRS(5, 0x300, 0), 2 }, { E_CSRRS(5, 0x003, 0), 1 }, { E_CSRRW(0, 0xc00, 6), 3 },
		{ E_CSRRS(5, 0x7c0, 0), 3 }, { E_CSRRS(5, 0xf12, 6), 3 }, { 0x0000006bu | 0x0b, 3 },
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		for (unsigned xlen = 32; xlen <= 64; xlen += 32) {
			bool illegal = bad[i].xlens >> (xlen / 32 - 1) & 1;
			const uint32_t code[] = { bad[i].insn, E_NOP };
			struct rig rig;

			rig_init(&rig, xlen);
			rig_code(&rig, RIG_BASE, code, 2);
			for (unsigned n = 1; n < 32; n++)
				rig.regs.x[n] = RIG_BASE + 0x1000;
			if (!illegal) {
				assert_int_equal(cpu_run(rig.cpu, &rig.regs, 1) == CPU_STOP_FAULT &&
							 cpu_fault(rig.cpu)->kind == CPU_FAULT_ILLEGAL, 0);
			} else {
				if (cpu_run(rig.cpu, &rig.regs, 1) != CPU_STOP_FAULT)
					fail_msg("%08x is not illegal in RV%u", bad[i].insn, xlen);
				assert_int_equal(cpu_fault(rig.cpu)->kind, CPU_FAULT_ILLEGAL);
				assert_int_equal(cpu_fault(rig.cpu)->pc, RIG_BASE);
				assert_int_equal(rig.regs.pc, RIG_BASE);
				assert_int_equal(cpu_fault(rig.cpu)->value,
						 (bad[i].insn & 3) == 3 ? bad[i].insn : bad[i].insn & 0xffff);
				assert_int_equal(cpu_instructions(rig.cpu), 0);
			}
			rig_fini(&rig);
		}
}

/* No pattern of 16 bits, and no random one of 32, may do anything but decode to a known instruction. */
static void any_pattern(void **state)
{
	uint64_t seed = 88172645463325252ull;
	struct cpu_insn insn;

	for (uint32_t i = 0; i < 3000000; i++) {
		uint32_t raw = i;

		if (i >= 65536) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			raw = (uint32_t)(seed >> 16) | 3;
		}
		cpu_decode(raw, i & 1 ? 32 : 64, &insn);
		assert_true(insn.op < CPU_OPS && insn.rd < 32 && insn.rs1 < 32 && insn.rs2 < 32 && insn.rs3 < 32);
		assert_true(insn.bytes == cpu_insn_bytes(raw));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "SYS-51: RV64IM: results at the edges", edges64, NULL, NULL, NULL },
		{ "SYS-51: RV32IM: results at the edges", edges32, NULL, NULL, NULL },
		{ "SYS-51: branches near and far, taken and not", branches, NULL, NULL, NULL },
		{ "SYS-51: jal and jalr link and land", jumps, NULL, NULL, NULL },
		{ "SYS-51: loads and stores of each size, aligned or not", loads_and_stores, NULL, NULL, NULL },
		{ "SYS-51: reserved and foreign encodings are illegal, precisely", reserved, NULL, NULL, NULL },
		{ "SYS-51: every bit pattern decodes to something", any_pattern, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("cpu, integer", tests, NULL, NULL);
}

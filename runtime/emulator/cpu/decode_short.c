// SPDX-License-Identifier: MIT
/* Decoding of the 16-bit instructions of RV32C (without floating point) and RV64DC. */
#include "insn.h"

#define BITS(raw, high, low) ((raw) >> (low) & ((1u << ((high) - (low) + 1)) - 1))
#define SP		     2

/* Registers 8 to 15 in a field of three bits */
static uint8_t near_register(uint32_t field)
{
	return (uint8_t)(8 + (field & 7));
}

static int32_t sign(uint32_t value, unsigned bits)
{
	return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

/* The immediate of six bits that most instructions have. */
static int32_t immediate6(uint32_t raw)
{
	return sign(BITS(raw, 12, 12) << 5 | BITS(raw, 6, 2), 6);
}

static uint32_t offset_word(uint32_t raw)
{
	return BITS(raw, 12, 10) << 3 | BITS(raw, 6, 6) << 2 | BITS(raw, 5, 5) << 6;
}

static uint32_t offset_double(uint32_t raw)
{
	return BITS(raw, 12, 10) << 3 | BITS(raw, 6, 5) << 6;
}

static int32_t offset_jump(uint32_t raw)
{
	return sign(BITS(raw, 12, 12) << 11 | BITS(raw, 11, 11) << 4 | BITS(raw, 10, 9) << 8 |
			BITS(raw, 8, 8) << 10 | BITS(raw, 7, 7) << 6 | BITS(raw, 6, 6) << 7 |
			BITS(raw, 5, 3) << 1 | BITS(raw, 2, 2) << 5,
		    12);
}

static int32_t offset_branch(uint32_t raw)
{
	return sign(BITS(raw, 12, 12) << 8 | BITS(raw, 11, 10) << 3 | BITS(raw, 6, 5) << 6 |
			BITS(raw, 4, 3) << 1 | BITS(raw, 2, 2) << 5,
		    9);
}

static void set(struct cpu_insn *insn, unsigned op, unsigned rd, unsigned rs1, unsigned rs2, int32_t imm)
{
	insn->op = (uint16_t)op;
	insn->rd = (uint8_t)rd;
	insn->rs1 = (uint8_t)rs1;
	insn->rs2 = (uint8_t)rs2;
	insn->imm = imm;
}

/* Quadrant 0: loads and stores by registers 8 to 15, and addresses in the stack frame */
static void quadrant0(uint32_t raw, bool wide, struct cpu_insn *insn)
{
	unsigned base = near_register(raw >> 7), other = near_register(raw >> 2);
	int32_t word = (int32_t)offset_word(raw), dword = (int32_t)offset_double(raw), imm;

	switch (raw >> 13) {
	case 0:
		imm = (int32_t)(BITS(raw, 12, 11) << 4 | BITS(raw, 10, 7) << 6 | BITS(raw, 6, 6) << 2 |
				BITS(raw, 5, 5) << 3);
		if (imm)
			set(insn, CPU_ADDI, other, SP, 0, imm);
		break;
	case 1:
		if (wide)
			set(insn, CPU_FLD, other, base, 0, dword);
		break;
	case 2:
		set(insn, CPU_LW, other, base, 0, word);
		break;
	case 3:
		if (wide)
			set(insn, CPU_LD, other, base, 0, dword);
		break;
	case 5:
		if (wide)
			set(insn, CPU_FSD, 0, base, other, dword);
		break;
	case 6:
		set(insn, CPU_SW, 0, base, other, word);
		break;
	case 7:
		if (wide)
			set(insn, CPU_SD, 0, base, other, dword);
		break;
	}
}

/* c.srli, c.srai, c.andi and the operations on two registers */
static void arithmetic(uint32_t raw, bool wide, struct cpu_insn *insn)
{
	static const uint16_t ops[8] = {CPU_SUB,  CPU_XOR,  CPU_OR,	 CPU_AND,
					CPU_SUBW, CPU_ADDW, CPU_ILLEGAL, CPU_ILLEGAL};
	unsigned rd = near_register(raw >> 7), kind = BITS(raw, 11, 10);
	unsigned which = BITS(raw, 12, 12) << 2 | BITS(raw, 6, 5);

	if (kind == 3) {
		if (which < 4 || wide)
			set(insn, ops[which], rd, rd, near_register(raw >> 2), 0);
	} else if (kind == 2) {
		set(insn, CPU_ANDI, rd, rd, 0, immediate6(raw));
	} else if (wide || !BITS(raw, 12, 12)) {
		set(insn, kind ? CPU_SRAI : CPU_SRLI, rd, rd, 0, immediate6(raw) & 63);
	}
}

/* c.addi16sp and c.lui, whose immediates must not be zero */
static void upper(uint32_t raw, struct cpu_insn *insn)
{
	unsigned rd = BITS(raw, 11, 7);
	int32_t imm = immediate6(raw);

	if (rd == SP) {
		imm = sign(BITS(raw, 12, 12) << 9 | BITS(raw, 6, 6) << 4 | BITS(raw, 5, 5) << 6 |
			       BITS(raw, 4, 3) << 7 | BITS(raw, 2, 2) << 5,
			   10);
		if (imm)
			set(insn, CPU_ADDI, SP, SP, 0, imm);
	} else if (imm) {
		set(insn, CPU_LUI, rd, 0, 0, (int32_t)((uint32_t)imm << 12));
	}
}

/* Quadrant 1: immediates, arithmetic, jumps and branches */
static void quadrant1(uint32_t raw, bool wide, struct cpu_insn *insn)
{
	unsigned rd = BITS(raw, 11, 7);

	switch (raw >> 13) {
	case 0:
		set(insn, CPU_ADDI, rd, rd, 0, immediate6(raw));
		break;
	case 1:
		if (!wide)
			set(insn, CPU_JAL, 1, 0, 0, offset_jump(raw));
		else if (rd)
			set(insn, CPU_ADDIW, rd, rd, 0, immediate6(raw));
		break;
	case 2:
		set(insn, CPU_ADDI, rd, 0, 0, immediate6(raw));
		break;
	case 3:
		upper(raw, insn);
		break;
	case 4:
		arithmetic(raw, wide, insn);
		break;
	case 5:
		set(insn, CPU_JAL, 0, 0, 0, offset_jump(raw));
		break;
	case 6:
		set(insn, CPU_BEQ, 0, near_register(raw >> 7), 0, offset_branch(raw));
		break;
	case 7:
		set(insn, CPU_BNE, 0, near_register(raw >> 7), 0, offset_branch(raw));
		break;
	}
}

/* c.jr, c.mv, c.ebreak, c.jalr, c.add */
static void jump_or_move(uint32_t raw, struct cpu_insn *insn)
{
	unsigned rd = BITS(raw, 11, 7), rs2 = BITS(raw, 6, 2), high = BITS(raw, 12, 12);

	if (rs2)
		set(insn, CPU_ADD, rd, high ? rd : 0, rs2, 0);
	else if (rd)
		set(insn, CPU_JALR, high, rd, 0, 0);
	else if (high)
		set(insn, CPU_EBREAK, 0, 0, 0, 0);
}

/* Quadrant 2: loads and stores in the stack frame, shifts, moves */
static void quadrant2(uint32_t raw, bool wide, struct cpu_insn *insn)
{
	unsigned rd = BITS(raw, 11, 7), rs2 = BITS(raw, 6, 2);
	int32_t load4 = (int32_t)(BITS(raw, 12, 12) << 5 | BITS(raw, 6, 4) << 2 | BITS(raw, 3, 2) << 6);
	int32_t load8 = (int32_t)(BITS(raw, 12, 12) << 5 | BITS(raw, 6, 5) << 3 | BITS(raw, 4, 2) << 6);
	int32_t store4 = (int32_t)(BITS(raw, 12, 9) << 2 | BITS(raw, 8, 7) << 6);
	int32_t store8 = (int32_t)(BITS(raw, 12, 10) << 3 | BITS(raw, 9, 7) << 6);

	switch (raw >> 13) {
	case 0:
		if (wide || !BITS(raw, 12, 12))
			set(insn, CPU_SLLI, rd, rd, 0, immediate6(raw) & 63);
		break;
	case 1:
		if (wide)
			set(insn, CPU_FLD, rd, SP, 0, load8);
		break;
	case 2:
		if (rd)
			set(insn, CPU_LW, rd, SP, 0, load4);
		break;
	case 3:
		if (wide && rd)
			set(insn, CPU_LD, rd, SP, 0, load8);
		break;
	case 4:
		jump_or_move(raw, insn);
		break;
	case 5:
		if (wide)
			set(insn, CPU_FSD, 0, SP, rs2, store8);
		break;
	case 6:
		set(insn, CPU_SW, 0, SP, rs2, store4);
		break;
	case 7:
		if (wide)
			set(insn, CPU_SD, 0, SP, rs2, store8);
		break;
	}
}

void cpu_decode_short(uint32_t raw, unsigned xlen, struct cpu_insn *insn)
{
	bool wide = xlen == 64;

	*insn = (struct cpu_insn){.op = CPU_ILLEGAL, .bytes = 2, .raw = raw & 0xffff};
	switch (raw & 3) {
	case 0:
		quadrant0(raw & 0xffff, wide, insn);
		break;
	case 1:
		quadrant1(raw & 0xffff, wide, insn);
		break;
	case 2:
		quadrant2(raw & 0xffff, wide, insn);
		break;
	}
}

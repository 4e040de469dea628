// SPDX-License-Identifier: MIT
/* Decoding of the 32-bit instructions, and the table of all instructions. */
#include "insn.h"

static const uint32_t operands[CPU_OPS] = {
#define OPERANDS(name, operands) [CPU_##name] = (operands),
    CPU_INSNS(OPERANDS)};

static const char *const texts[CPU_OPS] = {
#define TEXT(name, operands) [CPU_##name] = #name,
    CPU_INSNS(TEXT)};

uint32_t cpu_op_operands(unsigned op)
{
	return operands[op];
}

const char *cpu_op_text(unsigned op)
{
	return texts[op];
}

static unsigned decode_load(unsigned width, bool wide)
{
	static const uint16_t ops[8] = {CPU_LB,	 CPU_LH,  CPU_LW,  CPU_LD,
					CPU_LBU, CPU_LHU, CPU_LWU, CPU_ILLEGAL};

	return !wide && (width == 3 || width == 6) ? CPU_ILLEGAL : ops[width];
}

static unsigned decode_store(unsigned width, bool wide)
{
	static const uint16_t ops[4] = {CPU_SB, CPU_SH, CPU_SW, CPU_SD};

	return width > (wide ? 3u : 2u) ? CPU_ILLEGAL : ops[width];
}

static unsigned decode_branch(unsigned kind)
{
	static const uint16_t ops[8] = {CPU_BEQ, CPU_BNE, CPU_ILLEGAL, CPU_ILLEGAL,
					CPU_BLT, CPU_BGE, CPU_BLTU,    CPU_BGEU};

	return ops[kind];
}

/* OP-IMM; shifts have their amount and kind in the immediate, @bits is the largest amount's width. */
static unsigned decode_immediate(struct cpu_insn *insn, unsigned kind, unsigned bits)
{
	static const uint16_t ops[8] = {CPU_ADDI, CPU_SLLI, CPU_SLTI, CPU_SLTIU,
					CPU_XORI, CPU_SRLI, CPU_ORI,  CPU_ANDI};
	unsigned high = (unsigned)insn->imm >> bits & (0xfffu >> bits);

	if (kind != 1 && kind != 5)
		return ops[kind];
	insn->imm &= (1 << bits) - 1;
	if (kind == 5 && high == 0x400u >> bits)
		return CPU_SRAI;
	return high ? CPU_ILLEGAL : ops[kind];
}

static unsigned decode_immediate_word(struct cpu_insn *insn, unsigned kind)
{
	unsigned high = (unsigned)insn->imm >> 5 & 0x7f;

	if (kind == 0)
		return CPU_ADDIW;
	insn->imm &= 31;
	if (kind == 5 && high == 0x20)
		return CPU_SRAIW;
	if (high)
		return CPU_ILLEGAL;
	return kind == 1 ? CPU_SLLIW : kind == 5 ? CPU_SRLIW : CPU_ILLEGAL;
}

static unsigned decode_register(unsigned kind, unsigned high)
{
	static const uint16_t base[8] = {CPU_ADD, CPU_SLL, CPU_SLT, CPU_SLTU,
					 CPU_XOR, CPU_SRL, CPU_OR,  CPU_AND};
	static const uint16_t multiply[8] = {CPU_MUL, CPU_MULH, CPU_MULHSU, CPU_MULHU,
					     CPU_DIV, CPU_DIVU, CPU_REM,    CPU_REMU};

	switch (high) {
	case 0:
		return base[kind];
	case 1:
		return multiply[kind];
	case 0x20:
		return kind == 0 ? CPU_SUB : kind == 5 ? CPU_SRA : CPU_ILLEGAL;
	}
	return CPU_ILLEGAL;
}

static unsigned decode_register_word(unsigned kind, unsigned high)
{
	static const uint16_t base[8] = {CPU_ADDW,    CPU_SLLW, CPU_ILLEGAL, CPU_ILLEGAL,
					 CPU_ILLEGAL, CPU_SRLW, CPU_ILLEGAL, CPU_ILLEGAL};
	static const uint16_t multiply[8] = {CPU_MULW, CPU_ILLEGAL, CPU_ILLEGAL, CPU_ILLEGAL,
					     CPU_DIVW, CPU_DIVUW,   CPU_REMW,	 CPU_REMUW};

	switch (high) {
	case 0:
		return base[kind];
	case 1:
		return multiply[kind];
	case 0x20:
		return kind == 0 ? CPU_SUBW : kind == 5 ? CPU_SRAW : CPU_ILLEGAL;
	}
	return CPU_ILLEGAL;
}

static unsigned decode_atomic(const struct cpu_insn *insn, unsigned width)
{
	static const uint16_t ops[32] = {
	    [0] = CPU_AMOADD_W,	 [1] = CPU_AMOSWAP_W,  [2] = CPU_LR_W,	     [3] = CPU_SC_W,
	    [4] = CPU_AMOXOR_W,	 [8] = CPU_AMOOR_W,    [12] = CPU_AMOAND_W,  [16] = CPU_AMOMIN_W,
	    [20] = CPU_AMOMAX_W, [24] = CPU_AMOMINU_W, [28] = CPU_AMOMAXU_W,
	};
	unsigned op = ops[insn->raw >> 27];

	/* ops[] is 0 where nothing is; the instruction with that number is no atomic */
	if (!op || width < 2 || width > 3 || (op == CPU_LR_W && insn->rs2))
		return CPU_ILLEGAL;
	return op + (width - 2);
}

static unsigned decode_system(struct cpu_insn *insn, unsigned kind, bool wide)
{
	static const uint16_t csr[8] = {CPU_ILLEGAL, CPU_CSRRW,	 CPU_CSRRS,  CPU_CSRRC,
					CPU_ILLEGAL, CPU_CSRRWI, CPU_CSRRSI, CPU_CSRRCI};

	if (kind) {
		insn->imm &= 0xfff;
		return csr[kind];
	}
	switch (insn->raw) {
	case 0x00000073:
		return CPU_ECALL;
	case 0x00100073:
		return CPU_EBREAK;
	case 0x30200073:
		return wide ? CPU_ILLEGAL : CPU_MRET;
	case 0x10500073:
		return wide ? CPU_ILLEGAL : CPU_WFI;
	}
	return CPU_ILLEGAL;
}

static unsigned decode_fence(struct cpu_insn *insn, unsigned kind)
{
	bool tso = insn->raw >> 28 == 8;

	if (kind == 1)
		return CPU_FENCE_I;
	/* predecessors in bits 7..4, successors in bits 3..0; fence.tso asks for less than a full fence */
	insn->imm = tso ? 0x21 : (int32_t)(insn->raw >> 20 & 0xff);
	return kind ? CPU_ILLEGAL : CPU_FENCE;
}

/* Single and double precision differ by one in the list of names; bit 25 of the instruction says which. */
static unsigned decode_convert(const struct cpu_insn *insn, unsigned high)
{
	static const uint16_t to[4] = {CPU_FCVT_W_S, CPU_FCVT_WU_S, CPU_FCVT_L_S, CPU_FCVT_LU_S};
	static const uint16_t from[4] = {CPU_FCVT_S_W, CPU_FCVT_S_WU, CPU_FCVT_S_L, CPU_FCVT_S_LU};

	if (high == 0x20)
		return insn->rs2 == 1 ? CPU_FCVT_S_D : CPU_ILLEGAL;
	if (high == 0x21)
		return insn->rs2 == 0 ? CPU_FCVT_D_S : CPU_ILLEGAL;
	if (insn->rs2 > 3)
		return CPU_ILLEGAL;
	return (high < 0x68 ? to : from)[insn->rs2] + (high & 1);
}

static unsigned decode_float_kind(const struct cpu_insn *insn, unsigned high)
{
	unsigned kind = insn->rm, d = high & 1;

	switch (high & ~1u) {
	case 0x10:
		return kind > 2 ? CPU_ILLEGAL : CPU_FSGNJ_S + 2 * kind + d;
	case 0x14:
		return kind > 1 ? CPU_ILLEGAL : CPU_FMIN_S + 2 * kind + d;
	case 0x50:
		return kind > 2 ? CPU_ILLEGAL
				: (kind == 0   ? CPU_FLE_S
				   : kind == 1 ? CPU_FLT_S
					       : CPU_FEQ_S) +
				      d;
	case 0x70:
		return insn->rs2 || kind > 1 ? CPU_ILLEGAL : (kind ? CPU_FCLASS_S : CPU_FMV_X_W) + d;
	case 0x78:
		return insn->rs2 || kind ? CPU_ILLEGAL : CPU_FMV_W_X + d;
	}
	return CPU_ILLEGAL;
}

static unsigned decode_float(const struct cpu_insn *insn)
{
	unsigned high = insn->raw >> 25, d = high & 1;

	switch (high & ~1u) {
	case 0x00:
		return CPU_FADD_S + d;
	case 0x04:
		return CPU_FSUB_S + d;
	case 0x08:
		return CPU_FMUL_S + d;
	case 0x0c:
		return CPU_FDIV_S + d;
	case 0x2c:
		return insn->rs2 ? CPU_ILLEGAL : CPU_FSQRT_S + d;
	case 0x20:
	case 0x60:
	case 0x68:
		return decode_convert(insn, high);
	}
	return decode_float_kind(insn, high);
}

static unsigned decode_fused(const struct cpu_insn *insn, unsigned opcode)
{
	static const uint16_t ops[4] = {CPU_FMADD_S, CPU_FMSUB_S, CPU_FNMSUB_S, CPU_FNMADD_S};
	unsigned format = insn->raw >> 25 & 3;

	return format > 1 ? CPU_ILLEGAL : ops[opcode >> 2 & 3] + format;
}

/* Extensions of the 64-bit harts only */
static unsigned decode_wide(struct cpu_insn *insn, unsigned opcode, unsigned kind)
{
	switch (opcode) {
	case 0x1b:
		return decode_immediate_word(insn, kind);
	case 0x3b:
		return decode_register_word(kind, insn->raw >> 25);
	case 0x2f:
		return decode_atomic(insn, kind);
	case 0x07:
		return kind == 2 ? CPU_FLW : kind == 3 ? CPU_FLD : CPU_ILLEGAL;
	case 0x27:
		return kind == 2 ? CPU_FSW : kind == 3 ? CPU_FSD : CPU_ILLEGAL;
	case 0x43:
	case 0x47:
	case 0x4b:
	case 0x4f:
		return decode_fused(insn, opcode);
	case 0x53:
		return decode_float(insn);
	}
	return CPU_ILLEGAL;
}

static int32_t offset_branch(uint32_t raw)
{
	return (int32_t)((raw >> 31 ? 0xfffff000u : 0) | (raw << 4 & 0x800) | (raw >> 20 & 0x7e0) |
			 (raw >> 7 & 0x1e));
}

static int32_t offset_jump(uint32_t raw)
{
	return (int32_t)((raw >> 31 ? 0xfff00000u : 0) | (raw & 0xff000) | (raw >> 9 & 0x800) |
			 (raw >> 20 & 0x7fe));
}

static int32_t offset_store(uint32_t raw)
{
	return (int32_t)((raw >> 31 ? 0xfffff000u : 0) | (raw >> 20 & 0xfe0) | (raw >> 7 & 0x1f));
}

static unsigned decode_long(struct cpu_insn *insn, unsigned xlen)
{
	unsigned opcode = insn->raw & 0x7f, kind = insn->raw >> 12 & 7;

	switch (opcode) {
	case 0x37:
	case 0x17:
		insn->imm = (int32_t)(insn->raw & 0xfffff000u);
		return opcode == 0x37 ? CPU_LUI : CPU_AUIPC;
	case 0x6f:
		insn->imm = offset_jump(insn->raw);
		return CPU_JAL;
	case 0x67:
		return kind ? CPU_ILLEGAL : CPU_JALR;
	case 0x63:
		insn->imm = offset_branch(insn->raw);
		return decode_branch(kind);
	case 0x03:
		return decode_load(kind, xlen == 64);
	case 0x23:
		insn->imm = offset_store(insn->raw);
		return decode_store(kind, xlen == 64);
	case 0x13:
		return decode_immediate(insn, kind, xlen == 64 ? 6 : 5);
	case 0x33:
		return decode_register(kind, insn->raw >> 25);
	case 0x0f:
		return decode_fence(insn, kind);
	case 0x73:
		return decode_system(insn, kind, xlen == 64);
	case 0x27:
		insn->imm = offset_store(insn->raw);
		break;
	}
	return xlen == 64 ? decode_wide(insn, opcode, kind) : CPU_ILLEGAL;
}

void cpu_decode(uint32_t raw, unsigned xlen, struct cpu_insn *insn)
{
	if (cpu_insn_bytes(raw) == 2) {
		cpu_decode_short(raw & 0xffff, xlen, insn);
		return;
	}
	*insn = (struct cpu_insn){
	    .rd = raw >> 7 & 31,
	    .rs1 = raw >> 15 & 31,
	    .rs2 = raw >> 20 & 31,
	    .rs3 = raw >> 27,
	    .rm = raw >> 12 & 7,
	    .bytes = 4,
	    .imm = (int32_t)raw >> 20,
	    .raw = raw,
	};
	insn->op = (uint16_t)decode_long(insn, xlen);
	if ((operands[insn->op] & CPU_RM) && (insn->rm == 5 || insn->rm == 6))
		insn->op = CPU_ILLEGAL;
}

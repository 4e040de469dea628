/* SPDX-License-Identifier: MIT */
/**
 * DOC: Decoded RISC-V instructions
 *
 * One list names every instruction and what it reads and writes. The decoder, the interpreter and the
 * translator all go by it. Compressed instructions decode to the instruction that they abbreviate.
 */
#ifndef CPU_INSN_H
#define CPU_INSN_H

#include <stdbool.h>
#include <stdint.h>

/* Operands: which register fields an instruction uses, and in which register file. */
#define CPU_RD  0x001u /* writes x[rd] */
#define CPU_RS1 0x002u /* reads x[rs1] */
#define CPU_RS2 0x004u
#define CPU_FD  0x008u /* writes f[rd] */
#define CPU_F1  0x010u /* reads f[rs1] */
#define CPU_F2  0x020u
#define CPU_F3  0x040u
#define CPU_RM  0x080u /* has a rounding mode */
/* Kinds: what is special about it; none of them is a plain computation on registers. */
#define CPU_IS_LOAD   0x0100u
#define CPU_IS_STORE  0x0200u
#define CPU_IS_ATOMIC 0x0400u
#define CPU_IS_BRANCH 0x0800u
#define CPU_IS_JUMP   0x1000u /* jal and jalr */
#define CPU_IS_SYSTEM 0x2000u /* CSRs, traps and returns from them */

#define CPU_R_  (CPU_RD | CPU_RS1)
#define CPU_RR_ (CPU_RD | CPU_RS1 | CPU_RS2)
#define CPU_LD_ (CPU_RD | CPU_RS1 | CPU_IS_LOAD)
#define CPU_ST_ (CPU_RS1 | CPU_RS2 | CPU_IS_STORE)
#define CPU_BR_ (CPU_RS1 | CPU_RS2 | CPU_IS_BRANCH)
#define CPU_AM_ (CPU_RR_ | CPU_IS_ATOMIC)
#define CPU_FF_ (CPU_FD | CPU_F1 | CPU_F2)
#define CPU_FR_ (CPU_FF_ | CPU_RM)
#define CPU_FM_ (CPU_FR_ | CPU_F3)
#define CPU_FC_ (CPU_RD | CPU_F1 | CPU_F2)
#define CPU_FX_ (CPU_RD | CPU_F1 | CPU_RM)
#define CPU_XF_ (CPU_FD | CPU_RS1 | CPU_RM)

/* X(name, operands and kind) of instructions that have a compressed form */
#define CPU_INSNS_SHORT(X)                                                                                     \
	X(LUI, CPU_RD)                                                                                         \
	X(ADDI, CPU_R_)                                                                                        \
	X(ADDIW, CPU_R_)                                                                                       \
	X(ANDI, CPU_R_)                                                                                        \
	X(SLLI, CPU_R_)                                                                                        \
	X(SRLI, CPU_R_)                                                                                        \
	X(SRAI, CPU_R_)                                                                                        \
	X(ADD, CPU_RR_)                                                                                        \
	X(SUB, CPU_RR_)                                                                                        \
	X(XOR, CPU_RR_)                                                                                        \
	X(OR, CPU_RR_)                                                                                         \
	X(AND, CPU_RR_)                                                                                        \
	X(ADDW, CPU_RR_)                                                                                       \
	X(SUBW, CPU_RR_)                                                                                       \
	X(LW, CPU_LD_)                                                                                         \
	X(LD, CPU_LD_)                                                                                         \
	X(SW, CPU_ST_)                                                                                         \
	X(SD, CPU_ST_)                                                                                         \
	X(FLD, CPU_FD | CPU_RS1 | CPU_IS_LOAD)                                                                 \
	X(FSD, CPU_F2 | CPU_RS1 | CPU_IS_STORE)                                                                \
	X(BEQ, CPU_BR_)                                                                                        \
	X(BNE, CPU_BR_)                                                                                        \
	X(JAL, CPU_RD | CPU_IS_JUMP)                                                                           \
	X(JALR, CPU_R_ | CPU_IS_JUMP)                                                                          \
	X(EBREAK, CPU_IS_SYSTEM)                                                                               \
	X(ILLEGAL, CPU_IS_SYSTEM)

#define CPU_INSNS_INTEGER(X)                                                                                   \
	X(AUIPC, CPU_RD)                                                                                       \
	X(SLTI, CPU_R_)                                                                                        \
	X(SLTIU, CPU_R_)                                                                                       \
	X(XORI, CPU_R_)                                                                                        \
	X(ORI, CPU_R_)                                                                                         \
	X(SLL, CPU_RR_)                                                                                        \
	X(SLT, CPU_RR_)                                                                                        \
	X(SLTU, CPU_RR_)                                                                                       \
	X(SRL, CPU_RR_)                                                                                        \
	X(SRA, CPU_RR_)                                                                                        \
	X(SLLIW, CPU_R_)                                                                                       \
	X(SRLIW, CPU_R_)                                                                                       \
	X(SRAIW, CPU_R_)                                                                                       \
	X(SLLW, CPU_RR_)                                                                                       \
	X(SRLW, CPU_RR_)                                                                                       \
	X(SRAW, CPU_RR_)                                                                                       \
	X(MUL, CPU_RR_)                                                                                        \
	X(MULH, CPU_RR_)                                                                                       \
	X(MULHSU, CPU_RR_)                                                                                     \
	X(MULHU, CPU_RR_)                                                                                      \
	X(DIV, CPU_RR_)                                                                                        \
	X(DIVU, CPU_RR_)                                                                                       \
	X(REM, CPU_RR_)                                                                                        \
	X(REMU, CPU_RR_)                                                                                       \
	X(MULW, CPU_RR_)                                                                                       \
	X(DIVW, CPU_RR_)                                                                                       \
	X(DIVUW, CPU_RR_)                                                                                      \
	X(REMW, CPU_RR_)                                                                                       \
	X(REMUW, CPU_RR_)                                                                                      \
	X(BLT, CPU_BR_)                                                                                        \
	X(BGE, CPU_BR_)                                                                                        \
	X(BLTU, CPU_BR_)                                                                                       \
	X(BGEU, CPU_BR_)                                                                                       \
	X(LB, CPU_LD_)                                                                                         \
	X(LH, CPU_LD_)                                                                                         \
	X(LBU, CPU_LD_)                                                                                        \
	X(LHU, CPU_LD_)                                                                                        \
	X(LWU, CPU_LD_)                                                                                        \
	X(SB, CPU_ST_)                                                                                         \
	X(SH, CPU_ST_)                                                                                         \
	X(FENCE, 0)                                                                                            \
	X(FENCE_I, CPU_IS_SYSTEM)                                                                              \
	X(ECALL, CPU_IS_SYSTEM)                                                                                \
	X(MRET, CPU_IS_SYSTEM)                                                                                 \
	X(WFI, CPU_IS_SYSTEM)                                                                                  \
	X(CSRRW, CPU_R_ | CPU_IS_SYSTEM)                                                                       \
	X(CSRRS, CPU_R_ | CPU_IS_SYSTEM)                                                                       \
	X(CSRRC, CPU_R_ | CPU_IS_SYSTEM)                                                                       \
	X(CSRRWI, CPU_RD | CPU_IS_SYSTEM)                                                                      \
	X(CSRRSI, CPU_RD | CPU_IS_SYSTEM)                                                                      \
	X(CSRRCI, CPU_RD | CPU_IS_SYSTEM)

#define CPU_INSNS_ATOMIC(X)                                                                                    \
	X(LR_W, CPU_R_ | CPU_IS_ATOMIC)                                                                        \
	X(LR_D, CPU_R_ | CPU_IS_ATOMIC)                                                                        \
	X(SC_W, CPU_AM_)                                                                                       \
	X(SC_D, CPU_AM_)                                                                                       \
	X(AMOSWAP_W, CPU_AM_)                                                                                  \
	X(AMOSWAP_D, CPU_AM_)                                                                                  \
	X(AMOADD_W, CPU_AM_)                                                                                   \
	X(AMOADD_D, CPU_AM_)                                                                                   \
	X(AMOXOR_W, CPU_AM_)                                                                                   \
	X(AMOXOR_D, CPU_AM_)                                                                                   \
	X(AMOAND_W, CPU_AM_)                                                                                   \
	X(AMOAND_D, CPU_AM_)                                                                                   \
	X(AMOOR_W, CPU_AM_)                                                                                    \
	X(AMOOR_D, CPU_AM_)                                                                                    \
	X(AMOMIN_W, CPU_AM_)                                                                                   \
	X(AMOMIN_D, CPU_AM_)                                                                                   \
	X(AMOMAX_W, CPU_AM_)                                                                                   \
	X(AMOMAX_D, CPU_AM_)                                                                                   \
	X(AMOMINU_W, CPU_AM_)                                                                                  \
	X(AMOMINU_D, CPU_AM_)                                                                                  \
	X(AMOMAXU_W, CPU_AM_)                                                                                  \
	X(AMOMAXU_D, CPU_AM_)

/* Always the single-precision one and then the double-precision one. */
#define CPU_INSNS_FLOAT(X)                                                                                     \
	X(FLW, CPU_FD | CPU_RS1 | CPU_IS_LOAD)                                                                 \
	X(FSW, CPU_F2 | CPU_RS1 | CPU_IS_STORE)                                                                \
	X(FADD_S, CPU_FR_)                                                                                     \
	X(FADD_D, CPU_FR_)                                                                                     \
	X(FSUB_S, CPU_FR_)                                                                                     \
	X(FSUB_D, CPU_FR_)                                                                                     \
	X(FMUL_S, CPU_FR_)                                                                                     \
	X(FMUL_D, CPU_FR_)                                                                                     \
	X(FDIV_S, CPU_FR_)                                                                                     \
	X(FDIV_D, CPU_FR_)                                                                                     \
	X(FSQRT_S, CPU_FD | CPU_F1 | CPU_RM)                                                                   \
	X(FSQRT_D, CPU_FD | CPU_F1 | CPU_RM)                                                                   \
	X(FMADD_S, CPU_FM_)                                                                                    \
	X(FMADD_D, CPU_FM_)                                                                                    \
	X(FMSUB_S, CPU_FM_)                                                                                    \
	X(FMSUB_D, CPU_FM_)                                                                                    \
	X(FNMSUB_S, CPU_FM_)                                                                                   \
	X(FNMSUB_D, CPU_FM_)                                                                                   \
	X(FNMADD_S, CPU_FM_)                                                                                   \
	X(FNMADD_D, CPU_FM_)                                                                                   \
	X(FSGNJ_S, CPU_FF_)                                                                                    \
	X(FSGNJ_D, CPU_FF_)                                                                                    \
	X(FSGNJN_S, CPU_FF_)                                                                                   \
	X(FSGNJN_D, CPU_FF_)                                                                                   \
	X(FSGNJX_S, CPU_FF_)                                                                                   \
	X(FSGNJX_D, CPU_FF_)                                                                                   \
	X(FMIN_S, CPU_FF_)                                                                                     \
	X(FMIN_D, CPU_FF_)                                                                                     \
	X(FMAX_S, CPU_FF_)                                                                                     \
	X(FMAX_D, CPU_FF_)                                                                                     \
	X(FEQ_S, CPU_FC_)                                                                                      \
	X(FEQ_D, CPU_FC_)                                                                                      \
	X(FLT_S, CPU_FC_)                                                                                      \
	X(FLT_D, CPU_FC_)                                                                                      \
	X(FLE_S, CPU_FC_)                                                                                      \
	X(FLE_D, CPU_FC_)                                                                                      \
	X(FCLASS_S, CPU_RD | CPU_F1)                                                                           \
	X(FCLASS_D, CPU_RD | CPU_F1)                                                                           \
	X(FMV_X_W, CPU_RD | CPU_F1)                                                                            \
	X(FMV_X_D, CPU_RD | CPU_F1)                                                                            \
	X(FMV_W_X, CPU_FD | CPU_RS1)                                                                           \
	X(FMV_D_X, CPU_FD | CPU_RS1)                                                                           \
	X(FCVT_W_S, CPU_FX_)                                                                                   \
	X(FCVT_W_D, CPU_FX_)                                                                                   \
	X(FCVT_WU_S, CPU_FX_)                                                                                  \
	X(FCVT_WU_D, CPU_FX_)                                                                                  \
	X(FCVT_L_S, CPU_FX_)                                                                                   \
	X(FCVT_L_D, CPU_FX_)                                                                                   \
	X(FCVT_LU_S, CPU_FX_)                                                                                  \
	X(FCVT_LU_D, CPU_FX_)                                                                                  \
	X(FCVT_S_W, CPU_XF_)                                                                                   \
	X(FCVT_D_W, CPU_XF_)                                                                                   \
	X(FCVT_S_WU, CPU_XF_)                                                                                  \
	X(FCVT_D_WU, CPU_XF_)                                                                                  \
	X(FCVT_S_L, CPU_XF_)                                                                                   \
	X(FCVT_D_L, CPU_XF_)                                                                                   \
	X(FCVT_S_LU, CPU_XF_)                                                                                  \
	X(FCVT_D_LU, CPU_XF_)                                                                                  \
	X(FCVT_S_D, CPU_FD | CPU_F1 | CPU_RM)                                                                  \
	X(FCVT_D_S, CPU_FD | CPU_F1 | CPU_RM)

#define CPU_INSNS(X)         \
	CPU_INSNS_SHORT(X)   \
	CPU_INSNS_INTEGER(X) \
	CPU_INSNS_ATOMIC(X)  \
	CPU_INSNS_FLOAT(X)

enum cpu_op_name {
#define CPU_NAME(name, operands) CPU_##name,
	CPU_INSNS(CPU_NAME)
#undef CPU_NAME
	CPU_OPS
};

/**
 * struct cpu_insn - one decoded instruction.
 * @op: enum cpu_op_name
 * @rd, @rs1, @rs2, @rs3: register numbers; @rs1 is the immediate of CSRRWI and its like
 * @rm: rounding mode, 7 = that of frm
 * @bytes: 2 or 4
 * @imm: immediate with its sign: offset, shift, number of a CSR, predecessor and successor sets of a fence
 * @raw: the instruction itself (the lower half only if it has two bytes)
 */
struct cpu_insn {
	uint16_t op;
	uint8_t rd, rs1, rs2, rs3;
	uint8_t rm;
	uint8_t bytes;
	int32_t imm;
	uint32_t raw;
};

/** cpu_insn_bytes() - length of the instruction whose lower half is @half. */
static inline unsigned cpu_insn_bytes(uint32_t half)
{
	return (half & 3) == 3 ? 4 : 2;
}

/**
 * cpu_decode() - decode @raw.
 * @xlen: 32 (RV32IMC with the machine's CSRs) or 64 (RV64IMAFDC, user mode)
 * What is reserved or not of these sets becomes CPU_ILLEGAL.
 */
void cpu_decode(uint32_t raw, unsigned xlen, struct cpu_insn *insn);
/** cpu_decode_short() - the same for an instruction of two bytes. */
void cpu_decode_short(uint32_t raw, unsigned xlen, struct cpu_insn *insn);

/** cpu_op_operands() - CPU_RD ... CPU_IS_SYSTEM of instruction @op. cpu_op_text() - its name, for messages. */
uint32_t cpu_op_operands(unsigned op);
const char *cpu_op_text(unsigned op);

#endif

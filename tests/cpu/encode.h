/* SPDX-License-Identifier: MIT */
/* Encoders of RISC-V instructions by format, for tests. */
#ifndef TESTS_CPU_ENCODE_H
#define TESTS_CPU_ENCODE_H

#include <stdint.h>

#define E_R(opcode, rd, f3, rs1, rs2, f7)                                                                       \
	((uint32_t)(opcode) | (uint32_t)(rd) << 7 | (uint32_t)(f3) << 12 | (uint32_t)(rs1) << 15 |              \
	 (uint32_t)(rs2) << 20 | (uint32_t)(f7) << 25)
#define E_I(opcode, rd, f3, rs1, imm)                                                                           \
	((uint32_t)(opcode) | (uint32_t)(rd) << 7 | (uint32_t)(f3) << 12 | (uint32_t)(rs1) << 15 |              \
	 (uint32_t)(imm) << 20)
#define E_S(opcode, f3, rs1, rs2, imm)                                                                          \
	((uint32_t)(opcode) | ((uint32_t)(imm) & 31) << 7 | (uint32_t)(f3) << 12 | (uint32_t)(rs1) << 15 |      \
	 (uint32_t)(rs2) << 20 | ((uint32_t)(imm) >> 5 & 127) << 25)
#define E_B(f3, rs1, rs2, imm)                                                                                  \
	(0x63u | ((uint32_t)(imm) >> 11 & 1) << 7 | ((uint32_t)(imm) >> 1 & 15) << 8 | (uint32_t)(f3) << 12 |   \
	 (uint32_t)(rs1) << 15 | (uint32_t)(rs2) << 20 | ((uint32_t)(imm) >> 5 & 63) << 25 |                    \
	 ((uint32_t)(imm) >> 12 & 1) << 31)
#define E_U(opcode, rd, imm) ((uint32_t)(opcode) | (uint32_t)(rd) << 7 | ((uint32_t)(imm) & 0xfffff000u))
#define E_J(rd, imm)                                                                                            \
	(0x6fu | (uint32_t)(rd) << 7 | ((uint32_t)(imm) & 0xff000) | ((uint32_t)(imm) >> 11 & 1) << 20 |        \
	 ((uint32_t)(imm) >> 1 & 0x3ff) << 21 | ((uint32_t)(imm) >> 20 & 1) << 31)

#define E_ADDI(rd, rs1, imm)  E_I(0x13, rd, 0, rs1, (uint32_t)(imm) & 0xfff)
#define E_LI(rd, imm)         E_ADDI(rd, 0, imm)
#define E_ADD(rd, rs1, rs2)   E_R(0x33, rd, 0, rs1, rs2, 0)
#define E_LUI(rd, imm)        E_U(0x37, rd, imm)
#define E_LD(rd, rs1, imm)    E_I(0x03, rd, 3, rs1, (uint32_t)(imm) & 0xfff)
#define E_LW(rd, rs1, imm)    E_I(0x03, rd, 2, rs1, (uint32_t)(imm) & 0xfff)
#define E_LB(rd, rs1, imm)    E_I(0x03, rd, 0, rs1, (uint32_t)(imm) & 0xfff)
#define E_SD(rs2, rs1, imm)   E_S(0x23, 3, rs1, rs2, imm)
#define E_SW(rs2, rs1, imm)   E_S(0x23, 2, rs1, rs2, imm)
#define E_FLD(rd, rs1, imm)   E_I(0x07, rd, 3, rs1, (uint32_t)(imm) & 0xfff)
#define E_FSD(rs2, rs1, imm)  E_S(0x27, 3, rs1, rs2, imm)
#define E_JALR(rd, rs1, imm)  E_I(0x67, rd, 0, rs1, (uint32_t)(imm) & 0xfff)
#define E_AMO(rd, rs1, rs2, f5, width) E_R(0x2f, rd, width, rs1, rs2, (f5) << 2)
#define E_CSRRW(rd, csr, rs1) E_I(0x73, rd, 1, rs1, csr)
#define E_CSRRS(rd, csr, rs1) E_I(0x73, rd, 2, rs1, csr)
#define E_CSRRC(rd, csr, rs1) E_I(0x73, rd, 3, rs1, csr)
#define E_FP(rd, rm, rs1, rs2, f7) E_R(0x53, rd, rm, rs1, rs2, f7)
#define E_FMA(opcode, rd, rm, rs1, rs2, rs3, format) E_R(opcode, rd, rm, rs1, rs2, (rs3) << 2 | (format))
#define E_ECALL   0x00000073u
#define E_EBREAK  0x00100073u
#define E_WFI     0x10500073u
#define E_MRET    0x30200073u
#define E_FENCE   0x0ff0000fu
#define E_FENCE_I 0x0000100fu
#define E_NOP     0x00000013u

#endif

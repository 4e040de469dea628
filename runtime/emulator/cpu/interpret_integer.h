/* SPDX-License-Identifier: MIT */
/* Integer instructions that are always four bytes long. See interpret.h. */

CASE(AUIPC)
	SET(PC + IMM);
	NEXT;
CASE(SLTI)
	SET((sx)X(op->rs1) < (sx)IMM);
	NEXT;
CASE(SLTIU)
	SET(X(op->rs1) < IMM);
	NEXT;
CASE(XORI)
	SET(X(op->rs1) ^ IMM);
	NEXT;
CASE(ORI)
	SET(X(op->rs1) | IMM);
	NEXT;
CASE(SLL)
	SET(X(op->rs1) << (X(op->rs2) & SHIFT));
	NEXT;
CASE(SLT)
	SET((sx)X(op->rs1) < (sx)X(op->rs2));
	NEXT;
CASE(SLTU)
	SET(X(op->rs1) < X(op->rs2));
	NEXT;
CASE(SRL)
	SET(X(op->rs1) >> (X(op->rs2) & SHIFT));
	NEXT;
CASE(SRA)
	SET((sx)X(op->rs1) >> (X(op->rs2) & SHIFT));
	NEXT;
CASE(SLLIW)
	SET(WORD((uint32_t)X(op->rs1) << op->imm));
	NEXT;
CASE(SRLIW)
	SET(WORD((uint32_t)X(op->rs1) >> op->imm));
	NEXT;
CASE(SRAIW)
	SET(WORD((int32_t)X(op->rs1) >> op->imm));
	NEXT;
CASE(SLLW)
	SET(WORD((uint32_t)X(op->rs1) << (X(op->rs2) & 31)));
	NEXT;
CASE(SRLW)
	SET(WORD((uint32_t)X(op->rs1) >> (X(op->rs2) & 31)));
	NEXT;
CASE(SRAW)
	SET(WORD((int32_t)X(op->rs1) >> (X(op->rs2) & 31)));
	NEXT;
CASE(MUL)
	SET(X(op->rs1) * X(op->rs2));
	NEXT;
CASE(MULH)
	SET((ux)((sx2)(sx)X(op->rs1) * (sx)X(op->rs2) >> XLEN));
	NEXT;
CASE(MULHSU)
	SET(mulhsu(X(op->rs1), X(op->rs2)));
	NEXT;
CASE(MULHU)
	SET((ux)((ux2)X(op->rs1) * X(op->rs2) >> XLEN));
	NEXT;
CASE(DIV)
	SET(divide(X(op->rs1), X(op->rs2)));
	NEXT;
CASE(DIVU)
	SET(X(op->rs2) ? X(op->rs1) / X(op->rs2) : ~(ux)0);
	NEXT;
CASE(REM)
	SET(remainder_of(X(op->rs1), X(op->rs2)));
	NEXT;
CASE(REMU)
	SET(X(op->rs2) ? X(op->rs1) % X(op->rs2) : X(op->rs1));
	NEXT;
CASE(MULW)
	SET(WORD((uint32_t)X(op->rs1) * (uint32_t)X(op->rs2)));
	NEXT;
/* Of two numbers of 32 bits the quotient in 64 cannot overflow. */
CASE(DIVW)
	SET(WORD((int32_t)X(op->rs2) ? (int64_t)(int32_t)X(op->rs1) / (int32_t)X(op->rs2) : -1));
	NEXT;
CASE(DIVUW)
	SET(WORD((uint32_t)X(op->rs2) ? (uint32_t)X(op->rs1) / (uint32_t)X(op->rs2) : ~0u));
	NEXT;
CASE(REMW)
	SET(WORD((int32_t)X(op->rs2) ? (int64_t)(int32_t)X(op->rs1) % (int32_t)X(op->rs2) : (int32_t)X(op->rs1)));
	NEXT;
CASE(REMUW)
	SET(WORD((uint32_t)X(op->rs2) ? (uint32_t)X(op->rs1) % (uint32_t)X(op->rs2) : (uint32_t)X(op->rs1)));
	NEXT;
CASE(BLT)
	TAKE_IF((sx)X(op->rs1) < (sx)X(op->rs2));
CASE(BGE)
	TAKE_IF((sx)X(op->rs1) >= (sx)X(op->rs2));
CASE(BLTU)
	TAKE_IF(X(op->rs1) < X(op->rs2));
CASE(BGEU)
	TAKE_IF(X(op->rs1) >= X(op->rs2));
CASE(LB)
	LOAD(u8, (ux)(sx)(int8_t), SET);
CASE(LH)
	LOAD(u16, (ux)(sx)(int16_t), SET);
CASE(LBU)
	LOAD(u8, (ux), SET);
CASE(LHU)
	LOAD(u16, (ux), SET);
CASE(LWU)
	LOAD(u32, (ux), SET);
CASE(SB)
	STORE(u8, X(op->rs2));
CASE(SH)
	STORE(u16, X(op->rs2));
CASE(FENCE)
	cpu_fence((unsigned)op->imm);
	NEXT;
CASE(FENCE_I)
	cpu_invalidate(cpu, 0, 0, true);
	LEAVE(CPU_STOP_INTERRUPT);
CASE(ECALL)
	LEAVE(CPU_STOP_ECALL);
CASE(WFI)
	LEAVE(CPU_STOP_WFI);
CASE(MRET)
	cpu_mret(cpu);
	pc = (ux)regs->pc;
	n = COUNT + 1;
	goto jump;
CASE(CSRRW)
CASE(CSRRS)
CASE(CSRRC)
	value = X(op->rs1);
	goto csr;
CASE(CSRRWI)
CASE(CSRRSI)
CASE(CSRRCI)
	value = op->rs1;
csr:
	SYNC;
	if (!cpu_csr(cpu, op, op->code / 2, value))
		goto illegal;
	NEXT;

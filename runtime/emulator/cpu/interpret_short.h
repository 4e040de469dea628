/* SPDX-License-Identifier: MIT */
/* Instructions that have a compressed form; included once for each LENGTH (in halfwords). See interpret.h. */

CASE(LUI)
	SET(IMM);
	NEXT;
CASE(ADDI)
	SET(X(op->rs1) + IMM);
	NEXT;
CASE(ADDIW)
	SET(WORD(X(op->rs1) + IMM));
	NEXT;
CASE(ANDI)
	SET(X(op->rs1) & IMM);
	NEXT;
CASE(SLLI)
	SET(X(op->rs1) << op->imm);
	NEXT;
CASE(SRLI)
	SET(X(op->rs1) >> op->imm);
	NEXT;
CASE(SRAI)
	SET((sx)X(op->rs1) >> op->imm);
	NEXT;
CASE(ADD)
	SET(X(op->rs1) + X(op->rs2));
	NEXT;
CASE(SUB)
	SET(X(op->rs1) - X(op->rs2));
	NEXT;
CASE(XOR)
	SET(X(op->rs1) ^ X(op->rs2));
	NEXT;
CASE(OR)
	SET(X(op->rs1) | X(op->rs2));
	NEXT;
CASE(AND)
	SET(X(op->rs1) & X(op->rs2));
	NEXT;
CASE(ADDW)
	SET(WORD(X(op->rs1) + X(op->rs2)));
	NEXT;
CASE(SUBW)
	SET(WORD(X(op->rs1) - X(op->rs2)));
	NEXT;
CASE(LW)
	LOAD(u32, (ux)(sx)(int32_t), SET);
CASE(LD)
	LOAD(u64, (ux), SET);
CASE(SW)
	STORE(u32, X(op->rs2));
CASE(SD)
	STORE(u64, X(op->rs2));
CASE(FLD)
	LOAD(u64, (uint64_t), SET_F);
CASE(FSD)
	STORE(u64, regs->f[op->rs2]);
CASE(BEQ)
	TAKE_IF(X(op->rs1) == X(op->rs2));
CASE(BNE)
	TAKE_IF(X(op->rs1) != X(op->rs2));
CASE(JAL)
	SET(PC + 2 * LENGTH);
	TAKE_IF(true);
CASE(JALR)
	pc = (X(op->rs1) + IMM) & ~(ux)1;
	SET(PC + 2 * LENGTH);
	n = COUNT + 1;
	goto jump;
CASE(EBREAK)
	SYNC;
	cpu_refuse(cpu, CPU_FAULT_EBREAK, CPU_FETCH, PC, 0);
	return CPU_STOP_FAULT;
CASE(ILLEGAL)
	goto illegal;

/* SPDX-License-Identifier: MIT */
/*
 * Floating point and atomics. The host's unit computes where float.c says that it may; all else, and what
 * is rare, is done by cpu_float(). See interpret.h.
 */

#define ATOMIC(name)        \
	CASE(name##_W)      \
	CASE(name##_D)
ATOMIC(LR)
ATOMIC(SC)
ATOMIC(AMOSWAP)
ATOMIC(AMOADD)
ATOMIC(AMOXOR)
ATOMIC(AMOAND)
ATOMIC(AMOOR)
ATOMIC(AMOMIN)
ATOMIC(AMOMAX)
ATOMIC(AMOMINU)
ATOMIC(AMOMAXU)
	SYNC;
	if (!cpu_atomic(cpu, op->code / 2, op->rd, X(op->rs1), X(op->rs2)))
		return CPU_STOP_FAULT;
	NEXT;

CASE(FLW)
	LOAD(u32, 0xffffffff00000000ull |, SET_F);
CASE(FSW)
	STORE(u32, regs->f[op->rs2]);

/* Good if the result is finite: sums that are tiny are exact. */
#define SUM(name, expression)                                           \
	CASE(name##_S) {                                                \
		float a = get_s(regs, op->rs1), b = get_s(regs, op->rs2), r = (expression); \
		if (cpu_likely(cpu->fast[op->rm] && finite_s(r))) {     \
			set_s(regs, op->rd, r);                         \
			NEXT;                                           \
		}                                                       \
		goto exactly;                                           \
	}                                                               \
	CASE(name##_D) {                                                \
		double a = get_d(regs, op->rs1), b = get_d(regs, op->rs2), r = (expression); \
		if (cpu_likely(cpu->fast[op->rm] && finite_d(r))) {     \
			set_d(regs, op->rd, r);                         \
			NEXT;                                           \
		}                                                       \
		goto exactly;                                           \
	}
SUM(FADD, a + b)
SUM(FSUB, a - b)

/* Good if the result is far from underflow, or zero because @zero. */
#define PRODUCT(name, expression, zero)                                 \
	CASE(name##_S) {                                                \
		float a = get_s(regs, op->rs1), b = get_s(regs, op->rs2), r = (expression); \
		if (cpu_likely(cpu->fast[op->rm] && (normal_s(r) || (r == 0 && (zero))))) { \
			set_s(regs, op->rd, r);                         \
			NEXT;                                           \
		}                                                       \
		goto exactly;                                           \
	}                                                               \
	CASE(name##_D) {                                                \
		double a = get_d(regs, op->rs1), b = get_d(regs, op->rs2), r = (expression); \
		if (cpu_likely(cpu->fast[op->rm] && (normal_d(r) || (r == 0 && (zero))))) { \
			set_d(regs, op->rd, r);                         \
			NEXT;                                           \
		}                                                       \
		goto exactly;                                           \
	}
PRODUCT(FMUL, a * b, a == 0 || b == 0)
PRODUCT(FDIV, a / b, a == 0)

#define FUSED(name, s1, s3)                                             \
	CASE(name##_S) {                                                \
		float a = get_s(regs, op->rs1), b = get_s(regs, op->rs2), c = get_s(regs, op->rs3); \
		float r = fmaf(s1 a, b, s3 c);                \
		if (cpu_likely(cpu->fast[op->rm] && (normal_s(r) || (r == 0 && (a == 0 || b == 0))))) { \
			set_s(regs, op->rd, r);                         \
			NEXT;                                           \
		}                                                       \
		goto exactly;                                           \
	}                                                               \
	CASE(name##_D) {                                                \
		double a = get_d(regs, op->rs1), b = get_d(regs, op->rs2), c = get_d(regs, op->rs3); \
		double r = fma(s1 a, b, s3 c);                \
		if (cpu_likely(cpu->fast[op->rm] && (normal_d(r) || (r == 0 && (a == 0 || b == 0))))) { \
			set_d(regs, op->rd, r);                         \
			NEXT;                                           \
		}                                                       \
		goto exactly;                                           \
	}
FUSED(FMADD, , )
FUSED(FMSUB, , -)
FUSED(FNMSUB, -, )
FUSED(FNMADD, -, -)

CASE(FSQRT_S) {
	float a = get_s(regs, op->rs1);

	if (cpu_likely(cpu->fast[op->rm] && a >= 0 && finite_s(a))) {
		set_s(regs, op->rd, sqrtf(a));
		NEXT;
	}
	goto exactly;
}
CASE(FSQRT_D) {
	double a = get_d(regs, op->rs1);

	if (cpu_likely(cpu->fast[op->rm] && a >= 0 && finite_d(a))) {
		set_d(regs, op->rd, sqrt(a));
		NEXT;
	}
	goto exactly;
}

CASE(FSGNJ_S)
	value = bits_s(regs, op->rs1) & ~SIGN_S;
	regs->f[op->rd] = BOX | value | (bits_s(regs, op->rs2) & SIGN_S);
	NEXT;
CASE(FSGNJN_S)
	value = bits_s(regs, op->rs1) & ~SIGN_S;
	regs->f[op->rd] = BOX | value | (~bits_s(regs, op->rs2) & SIGN_S);
	NEXT;
CASE(FSGNJX_S)
	regs->f[op->rd] = BOX | (bits_s(regs, op->rs1) ^ (bits_s(regs, op->rs2) & SIGN_S));
	NEXT;
CASE(FSGNJ_D)
	regs->f[op->rd] = (regs->f[op->rs1] & ~SIGN_D) | (regs->f[op->rs2] & SIGN_D);
	NEXT;
CASE(FSGNJN_D)
	regs->f[op->rd] = (regs->f[op->rs1] & ~SIGN_D) | (~regs->f[op->rs2] & SIGN_D);
	NEXT;
CASE(FSGNJX_D)
	regs->f[op->rd] = regs->f[op->rs1] ^ (regs->f[op->rs2] & SIGN_D);
	NEXT;

#define COMPARE(name, symbol)                                                   \
	CASE(name##_S) {                                                        \
		float a = get_s(regs, op->rs1), b = get_s(regs, op->rs2);       \
		if (cpu_unlikely(isunordered(a, b)))                  \
			goto exactly;                                           \
		SET(a symbol b);                                                \
		NEXT;                                                           \
	}                                                                       \
	CASE(name##_D) {                                                        \
		double a = get_d(regs, op->rs1), b = get_d(regs, op->rs2);      \
		if (cpu_unlikely(isunordered(a, b)))                  \
			goto exactly;                                           \
		SET(a symbol b);                                                \
		NEXT;                                                           \
	}
COMPARE(FEQ, ==)
COMPARE(FLT, <)
COMPARE(FLE, <=)

/* Equal ones may be zeros of different sign. */
#define SELECT(name, symbol)                                                    \
	CASE(name##_S) {                                                        \
		float a = get_s(regs, op->rs1), b = get_s(regs, op->rs2);       \
		if (cpu_unlikely(!(a < b || a > b)))                            \
			goto exactly;                                           \
		set_s(regs, op->rd, a symbol b ? a : b);                        \
		NEXT;                                                           \
	}                                                                       \
	CASE(name##_D) {                                                        \
		double a = get_d(regs, op->rs1), b = get_d(regs, op->rs2);      \
		if (cpu_unlikely(!(a < b || a > b)))                            \
			goto exactly;                                           \
		set_d(regs, op->rd, a symbol b ? a : b);                        \
		NEXT;                                                           \
	}
SELECT(FMIN, <)
SELECT(FMAX, >)

CASE(FMV_X_W)
	SET(WORD(regs->f[op->rs1]));
	NEXT;
CASE(FMV_X_D)
	SET(regs->f[op->rs1]);
	NEXT;
CASE(FMV_W_X)
	regs->f[op->rd] = BOX | (uint32_t)X(op->rs1);
	NEXT;
CASE(FMV_D_X)
	regs->f[op->rd] = X(op->rs1);
	NEXT;

/* To integers: C rounds towards zero, which is what compilers ask for; most results are not near the ends. */
#define TRUNCATE(name, type, limit, convert)                                            \
	CASE(name##_S) {                                                                \
		float a = get_s(regs, op->rs1);                                         \
		if (cpu_likely(op->rm == 1 && (regs->fflags & CPU_NX) && a > -1 && a < limit##f)) { \
			SET(convert((type)a));                                          \
			NEXT;                                                           \
		}                                                                       \
		goto exactly;                                                           \
	}                                                                               \
	CASE(name##_D) {                                                                \
		double a = get_d(regs, op->rs1);                                        \
		if (cpu_likely(op->rm == 1 && (regs->fflags & CPU_NX) && a > -1 && a < limit)) { \
			SET(convert((type)a));                                          \
			NEXT;                                                           \
		}                                                                       \
		goto exactly;                                                           \
	}
TRUNCATE(FCVT_WU, uint32_t, 4294967296.0, WORD)
TRUNCATE(FCVT_LU, uint64_t, 18446744073709551616.0, (uint64_t))
#define TRUNCATE_SIGNED(name, type, limit)                                              \
	CASE(name##_S) {                                                                \
		float a = get_s(regs, op->rs1);                                         \
		if (cpu_likely(op->rm == 1 && (regs->fflags & CPU_NX) && a > -limit##f && a < limit##f)) { \
			SET((int64_t)(type)a);                                          \
			NEXT;                                                           \
		}                                                                       \
		goto exactly;                                                           \
	}                                                                               \
	CASE(name##_D) {                                                                \
		double a = get_d(regs, op->rs1);                                        \
		if (cpu_likely(op->rm == 1 && (regs->fflags & CPU_NX) && a > -limit && a < limit)) { \
			SET((int64_t)(type)a);                                          \
			NEXT;                                                           \
		}                                                                       \
		goto exactly;                                                           \
	}
TRUNCATE_SIGNED(FCVT_W, int32_t, 2147483648.0)
TRUNCATE_SIGNED(FCVT_L, int64_t, 9223372036854775808.0)

#define FROM_INTEGER(name, format, type)                                \
	CASE(name)                                                      \
		if (cpu_unlikely(!cpu->fast[op->rm]))                   \
			goto exactly;                                   \
		set_##format(regs, op->rd, type X(op->rs1));             \
		NEXT;
FROM_INTEGER(FCVT_S_W, s, (float)(int32_t))
FROM_INTEGER(FCVT_S_WU, s, (float)(uint32_t))
FROM_INTEGER(FCVT_S_L, s, (float)(int64_t))
FROM_INTEGER(FCVT_S_LU, s, (float)(uint64_t))
FROM_INTEGER(FCVT_D_W, d, (double)(int32_t))
FROM_INTEGER(FCVT_D_WU, d, (double)(uint32_t))
FROM_INTEGER(FCVT_D_L, d, (double)(int64_t))
FROM_INTEGER(FCVT_D_LU, d, (double)(uint64_t))

CASE(FCVT_S_D) {
	double a = get_d(regs, op->rs1);
	float r = (float)a;

	if (cpu_likely(cpu->fast[op->rm] && (normal_s(r) || a == 0))) {
		set_s(regs, op->rd, r);
		NEXT;
	}
	goto exactly;
}
CASE(FCVT_D_S) {
	float a = get_s(regs, op->rs1);

	/* exact, but a dynamic rounding mode has to be a good one */
	if (cpu_likely(cpu->fast[op->rm] && finite_s(a))) {
		set_d(regs, op->rd, a);
		NEXT;
	}
	goto exactly;
}

CASE(FCLASS_S)
CASE(FCLASS_D)
exactly:
	if (!cpu_float(cpu, op, op->code / 2))
		goto illegal;
	NEXT;

// SPDX-License-Identifier: MIT
/*
 * Floating point. The interpreter computes on the host's unit where that must give the same: rounding is to
 * nearest even, the flag "inexact" is set already, and the result is finite and, where it may have
 * underflowed, far from that. Then no flag can change, so that none has to be read from the host, and hosts
 * that detect tininess before rounding (arm64) do not differ. Everything else comes here and is done in
 * integers.
 */
#include "machine.h"
#include "softfloat.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#define HOST_DEFAULT 0x1f80u
#define HOST_CONTROL 0xffc0u
#else
#include <fenv.h>
#endif

#if defined(__x86_64__)
uint32_t cpu_float_enter(void)
{
	uint32_t kept = _mm_getcsr();

	if (cpu_unlikely((kept & (HOST_CONTROL | CPU_HOST_FLAGS)) != HOST_DEFAULT))
		_mm_setcsr(HOST_DEFAULT);
	return kept;
}

void cpu_float_leave(uint32_t kept)
{
	if (cpu_unlikely((kept & (HOST_CONTROL | CPU_HOST_FLAGS)) != HOST_DEFAULT))
		_mm_setcsr(kept);
}

static uint32_t flags(void)
{
	return _mm_getcsr() & CPU_HOST_FLAGS;
}

static void set_flags(uint32_t flags)
{
	_mm_setcsr((_mm_getcsr() & ~CPU_HOST_FLAGS) | flags);
}
#elif defined(__aarch64__)
static uint32_t flags(void)
{
	uint64_t status;

	__asm__ volatile("mrs %0, fpsr" : "=r"(status));
	return (uint32_t)status & CPU_HOST_FLAGS;
}

static void set_flags(uint32_t flags)
{
	uint64_t status;

	__asm__ volatile("mrs %0, fpsr" : "=r"(status));
	status = (status & ~(uint64_t)CPU_HOST_FLAGS) | flags;
	__asm__ volatile("msr fpsr, %0" : : "r"(status));
}

/* Rounding mode, flush to zero and traps are all in FPCR, whose upper bits are unused. C programs start with 0. */
#define FLAGS_AT 28

uint32_t cpu_float_enter(void)
{
	uint64_t kept;

	__asm__ volatile("mrs %0, fpcr" : "=r"(kept));
	kept = (uint32_t)kept | flags() << FLAGS_AT;
	if (cpu_unlikely(kept != 0)) {
		__asm__ volatile("msr fpcr, %0" : : "r"(0ul));
		set_flags(0);
	}
	return (uint32_t)kept;
}

void cpu_float_leave(uint32_t kept)
{
	if (cpu_likely(!kept))
		return;
	__asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)(kept & ~(CPU_HOST_FLAGS << FLAGS_AT))));
	set_flags(kept >> FLAGS_AT);
}
#else
uint32_t cpu_float_enter(void)
{
	int kept = fegetround();

	if (kept != FE_TONEAREST)
		fesetround(FE_TONEAREST);
	return (uint32_t)kept;
}

void cpu_float_leave(uint32_t kept)
{
	if (kept != FE_TONEAREST)
		fesetround((int)kept);
}

static uint32_t flags(void)
{
	return 0;
}

static void set_flags(uint32_t flags)
{
	(void)flags;
}
#endif

bool cpu_float_flags(void)
{
	volatile double one = 1, three = 3, zero = 0, large = 1e300, small = 1e-300, result;
	uint32_t kept = cpu_float_enter(), overflow, underflow, quotient, invalid, none;

	set_flags(0);
	result = one / three;
	result = zero * small;
	none = flags();
	result = large * large;
	overflow = flags();
	set_flags(0);
	result = small * small;
	underflow = flags();
	set_flags(0);
	result = one / zero;
	quotient = flags();
	set_flags(0);
	result = zero / zero;
	invalid = flags();
	(void)result;
	set_flags(0);
	cpu_float_leave(kept);
	return !none && overflow && underflow && quotient && invalid;
}

void cpu_float_forget(void)
{
	set_flags(0);
}

void cpu_float_mode(struct cpu *cpu)
{
	bool inexact = cpu->regs->fflags & CPU_NX;

	for (unsigned rm = 0; rm < 8; rm++)
		cpu->fast[rm] = 0;
	cpu->fast[SOFT_RNE] = inexact;
	cpu->fast[7] = inexact && cpu->regs->frm == SOFT_RNE;
	cpu->mode = cpu_mode_of(cpu->regs);
}

/* ---- operands ---- */

static uint64_t unboxed(uint64_t f)
{
	return f >> 32 == 0xffffffffu ? (uint32_t)f : SOFT_NAN_SINGLE;
}

static uint64_t boxed(uint64_t value)
{
	return value | 0xffffffff00000000ull;
}

/* Double precision follows single precision in the list of names. */
static unsigned first_of(unsigned name)
{
	return name - ((name - CPU_FADD_S) & 1);
}

static uint64_t operand(const struct cpu_regs *regs, enum soft_format format, unsigned n)
{
	return format == SOFT_SINGLE ? unboxed(regs->f[n]) : regs->f[n];
}

static void result(struct cpu_regs *regs, enum soft_format format, unsigned rd, uint64_t value)
{
	regs->f[rd] = format == SOFT_SINGLE ? boxed(value) : value;
}

/* ---- groups of instructions; each returns false if @name is none of them ---- */

static bool arithmetic(struct cpu_regs *regs, const struct cpu_op *op, unsigned name, enum soft_format format,
		       unsigned rm)
{
	uint64_t a = operand(regs, format, op->rs1), b = operand(regs, format, op->rs2), value;
	uint8_t *flags = &regs->fflags;

	switch (name) {
	case CPU_FADD_S:
		value = soft_add(format, a, b, rm, flags);
		break;
	case CPU_FSUB_S:
		value = soft_add(format, a, soft_negate(format, b), rm, flags);
		break;
	case CPU_FMUL_S:
		value = soft_mul(format, a, b, rm, flags);
		break;
	case CPU_FDIV_S:
		value = soft_div(format, a, b, rm, flags);
		break;
	case CPU_FSQRT_S:
		value = soft_sqrt(format, a, rm, flags);
		break;
	default:
		return false;
	}
	result(regs, format, op->rd, value);
	return true;
}

static bool fused(struct cpu_regs *regs, const struct cpu_op *op, unsigned name, enum soft_format format,
		  unsigned rm)
{
	uint64_t a = operand(regs, format, op->rs1), b = operand(regs, format, op->rs2);
	uint64_t c = operand(regs, format, op->rs3);

	if (name != CPU_FMADD_S && name != CPU_FMSUB_S && name != CPU_FNMSUB_S && name != CPU_FNMADD_S)
		return false;
	if (name == CPU_FNMSUB_S || name == CPU_FNMADD_S)
		a = soft_negate(format, a);
	if (name == CPU_FMSUB_S || name == CPU_FNMADD_S)
		c = soft_negate(format, c);
	result(regs, format, op->rd, soft_fma(format, a, b, c, rm, &regs->fflags));
	return true;
}

static bool select_or_compare(struct cpu_regs *regs, const struct cpu_op *op, unsigned name,
			      enum soft_format format)
{
	uint64_t a = operand(regs, format, op->rs1), b = operand(regs, format, op->rs2);
	uint8_t *flags = &regs->fflags;

	switch (name) {
	case CPU_FMIN_S:
	case CPU_FMAX_S:
		result(regs, format, op->rd, soft_min_max(format, a, b, name == CPU_FMAX_S, flags));
		return true;
	case CPU_FEQ_S:
		regs->x[op->rd] = soft_equal(format, a, b, flags);
		return true;
	case CPU_FLT_S:
	case CPU_FLE_S:
		regs->x[op->rd] = soft_less(format, a, b, name == CPU_FLE_S, flags);
		return true;
	case CPU_FCLASS_S:
		regs->x[op->rd] = soft_class(format, a);
		return true;
	}
	return false;
}

static bool convert(struct cpu_regs *regs, const struct cpu_op *op, unsigned name, enum soft_format format,
		    unsigned rm)
{
	uint8_t *flags = &regs->fflags;

	if (name >= CPU_FCVT_W_S && name <= CPU_FCVT_LU_S) {
		regs->x[op->rd] = soft_to_integer(format, (enum soft_integer)((name - CPU_FCVT_W_S) / 2),
						  operand(regs, format, op->rs1), rm, flags);
		return true;
	}
	if (name >= CPU_FCVT_S_W && name <= CPU_FCVT_S_LU) {
		result(regs, format, op->rd,
		       soft_from_integer(format, (enum soft_integer)((name - CPU_FCVT_S_W) / 2),
					 regs->x[op->rs1], rm, flags));
		return true;
	}
	if (name != CPU_FCVT_S_D)
		return false;
	/* FCVT.S.D and FCVT.D.S: @format is that of the result here */
	result(regs, format, op->rd,
	       soft_convert((enum soft_format) !format, format,
			    operand(regs, (enum soft_format) !format, op->rs1), rm, flags));
	return true;
}

bool cpu_float(struct cpu *cpu, const struct cpu_op *op, unsigned name)
{
	struct cpu_regs *regs = cpu->regs;
	enum soft_format format = (name - CPU_FADD_S) & 1 ? SOFT_DOUBLE : SOFT_SINGLE;
	unsigned first = first_of(name), rm = op->rm == 7 ? regs->frm : op->rm;
	uint8_t before = regs->fflags;

	if ((cpu_op_operands(name) & CPU_RM) && rm > SOFT_RMM)
		return false;
	if (!arithmetic(regs, op, first, format, rm) && !fused(regs, op, first, format, rm) &&
	    !select_or_compare(regs, op, first, format))
		convert(regs, op, first, format, rm);
	if (regs->fflags != before)
		cpu_float_mode(cpu);
	return true;
}

uint64_t cpu_float_value(struct cpu *cpu, unsigned code, uint64_t a, uint64_t b, uint64_t d)
{
	const struct cpu_op op = {.rd = 4, .rs1 = 1, .rs2 = 2, .rs3 = 3, .rm = (uint8_t)(code >> 16)};
	unsigned name = code & 0xffff;
	uint32_t operands = cpu_op_operands(name);
	struct cpu_regs *regs = cpu->regs, own;

	own.x[1] = own.f[1] = a;
	own.f[2] = b;
	own.f[3] = d;
	own.fflags = regs->fflags;
	own.frm = regs->frm;
	cpu->regs = &own;
	cpu_float(cpu, &op, name);
	cpu->regs = regs;
	regs->fflags = own.fflags;
	return operands & CPU_RD ? own.x[4] : own.f[4];
}

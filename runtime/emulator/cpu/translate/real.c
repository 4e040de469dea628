// SPDX-License-Identifier: MIT
/*
 * Floating-point instructions as C text. The host's arithmetic gives the result where float.c says that it may, which the
 * macros of generated.h check; helpers compute the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "emit.h"

/*
 * $A, $B, $C are the operands as numbers of the instruction's format, $P, $Q the first two as bits, $x is x[rs1],
 * $c what to do if the host may not compute it: EXACT with the instruction and its rounding mode, or what emit_real() was told.
 */
static const struct {
	uint16_t op; /* of single precision; the double-precision one follows */
	const char *text;
} reals[] = {
    {CPU_FADD_S, "SUM($f, $A, $B, +, $c)"},
    {CPU_FSUB_S, "SUM($f, $A, $B, -, $c)"},
    {CPU_FMUL_S, "PRODUCT($f, $A, $B, *, ZERO(a) || ZERO(b), $c)"},
    {CPU_FDIV_S, "PRODUCT($f, $A, $B, /, ZERO(a), $c)"},
    {CPU_FSQRT_S, "ROOT($f, $A, $c)"},
    {CPU_FMADD_S, "FUSED($f, $A, $B, $C, , , $c)"},
    {CPU_FMSUB_S, "FUSED($f, $A, $B, $C, , -, $c)"},
    {CPU_FNMSUB_S, "FUSED($f, $A, $B, $C, -, , $c)"},
    {CPU_FNMADD_S, "FUSED($f, $A, $B, $C, -, -, $c)"},
    {CPU_FSGNJ_S, "SIGN($f, $A, $B, )"},
    {CPU_FSGNJN_S, "SIGN($f, $A, $B, ~)"},
    {CPU_FSGNJX_S, "SIGN_XOR($f, $A, $B)"},
    {CPU_FMIN_S, "SELECT($f, $A, $B, <, $c)"},
    {CPU_FMAX_S, "SELECT($f, $A, $B, >, $c)"},
    {CPU_FEQ_S, "COMPARE($f, $A, $B, ==, $c)"},
    {CPU_FLT_S, "COMPARE($f, $A, $B, <, $c)"},
    {CPU_FLE_S, "COMPARE($f, $A, $B, <=, $c)"},
    {CPU_FCLASS_S, "EXACT_X($f, $A, $c)"},
    {CPU_FMV_X_W, "BITS_X($f, $P)"},
    {CPU_FMV_W_X, "FROM_BITS($f, $x)"},
    {CPU_FCVT_W_S, "TO_SIGNED($f, $A, int32_t, 2147483648.0, $c)"},
    {CPU_FCVT_WU_S, "TO_UNSIGNED($f, $A, uint32_t, WORD, 4294967296.0, $c)"},
    {CPU_FCVT_L_S, "TO_SIGNED($f, $A, int64_t, 9223372036854775808.0, $c)"},
    {CPU_FCVT_LU_S, "TO_UNSIGNED($f, $A, uint64_t, (uint64_t), 18446744073709551616.0, $c)"},
    {CPU_FCVT_S_W, "FROM_INTEGER($f, (int32_t)$x)"},
    {CPU_FCVT_S_WU, "FROM_INTEGER($f, (uint32_t)$x)"},
    {CPU_FCVT_S_L, "FROM_INTEGER($f, (int64_t)$x)"},
    {CPU_FCVT_S_LU, "FROM_INTEGER($f, (uint64_t)$x)"},
    {CPU_FCVT_S_D, "CONVERT($f, $O, $c)"},
};

#define RNE 0
#define RTZ 1
#define DYNAMIC 7

static bool is_double(unsigned op)
{
	return (op - CPU_FADD_S) & 1;
}

bool real_computes(const struct cpu_insn *insn)
{
	return insn->op >= CPU_FADD_S && insn->op < CPU_OPS &&
	       (cpu_op_operands(insn->op) & CPU_RM);
}

static bool is_single(const struct step *step, unsigned n)
{
	return step->single >> n & 1;
}

void emit_real_bits(FILE *out, const struct step *step, unsigned n)
{
	fprintf(out, is_single(step, n) ? "BOXED(s%u)" : "BITS_D(d%u)", n);
}

/* The lower half of a register that is not single is stored as it is. */
void emit_real_data(FILE *out, const struct step *step, unsigned n, bool wide)
{
	if (is_single(step, n))
		fprintf(out, wide ? "DOUBLE_OF(BOXED(s%u))" : "s%u", n);
	else
		fprintf(out, wide ? "d%u" : "SINGLE_LOW(bits_d(d%u))", n);
}

static void put_operand(FILE *out, const struct step *step, unsigned n, bool wants_double)
{
	if (is_single(step, n))
		fprintf(out, wants_double ? "DOUBLE_OF(BOXED(s%u))" : "s%u", n);
	else
		fprintf(out, wants_double ? "d%u" : "UNBOXED(d%u)", n);
}

static void put_field(FILE *out, const struct step *step, char field, const void *miss)
{
	const struct cpu_insn *insn = &step->insn;
	bool wide = is_double(insn->op);

	switch (field) {
	case 'A':
		put_operand(out, step, insn->rs1, wide);
		break;
	case 'B':
		put_operand(out, step, insn->rs2, wide);
		break;
	case 'C':
		put_operand(out, step, insn->rs3, wide);
		break;
	case 'O': /* of a conversion: the other format */
		put_operand(out, step, insn->rs1, !wide);
		break;
	case 'P':
		emit_real_bits(out, step, insn->rs1);
		break;
	case 'x':
		if (insn->rs1)
			fprintf(out, "x%u", insn->rs1);
		else
			fputs("(ux)0", out);
		break;
	case 'c':
		if (miss)
			fputs(miss, out);
		else
			fprintf(out, "EXACT, %u", insn->op | (unsigned)insn->rm << 16);
		break;
	}
}

/* Writes @text; "$f" at its beginning becomes the result's variable, with the format as the macro's suffix. */
static void put_text(FILE *out, const struct step *step, const char *text, const char *miss)
{
	bool wide = is_double(step->insn.op);
	const char *open = strchr(text, '(');

	fprintf(out, "\t%.*s_%c(", (int)(open - text), text, wide ? 'D' : 'S');
	if (!(cpu_op_operands(step->insn.op) & CPU_RD))
		fprintf(out, "%c%u", wide ? 'd' : 's', step->insn.rd);
	else if (step->insn.rd)
		fprintf(out, "x%u", step->insn.rd);
	else
		fputs("none", out);
	emit_template(out, step, open + 3, put_field, miss);
	fputs(";\n", out);
}

/* The host rounds to nearest even, and casts to integers towards zero. */
static bool is_plain(const struct cpu_insn *insn)
{
	uint32_t operands = cpu_op_operands(insn->op);

	if (!(operands & CPU_RM))
		return true;
	return operands & CPU_RD ? insn->rm == RTZ : insn->rm == RNE || insn->rm == DYNAMIC;
}

static void put_exact(FILE *out, const struct step *step)
{
	const struct cpu_insn *insn = &step->insn;
	uint32_t operands = cpu_op_operands(insn->op);
	char where[16];

	snprintf(where, sizeof(where), operands & CPU_RD ? (insn->rd ? "x%u" : "none") : is_double(insn->op) ? "d%u" : "s%u",
		 insn->rd);
	fprintf(out, "\t%s = %s(c->help->real(c, %u, ", where,
		operands & CPU_RD ? "" : is_double(insn->op) ? "DOUBLE_OF" : "SINGLE_LOW", insn->op | (unsigned)insn->rm << 16);
	if (operands & CPU_RS1)
		put_field(out, step, 'x', NULL);
	else
		emit_real_bits(out, step, insn->rs1);
	for (unsigned i = 0; i < 2; i++) {
		fputs(", ", out);
		if (operands & (i ? CPU_F3 : CPU_F2))
			emit_real_bits(out, step, i ? insn->rs3 : insn->rs2);
		else
			fputc('0', out);
	}
	fputs("));\n", out);
}

bool real_always_helped(const struct cpu_insn *insn)
{
	return insn->op >= CPU_FADD_S && insn->op < CPU_OPS &&
	       (!is_plain(insn) || insn->op - is_double(insn->op) == CPU_FCLASS_S);
}

static const char *text_of(const struct cpu_insn *insn)
{
	unsigned op = insn->op - is_double(insn->op);

	if (insn->op < CPU_FADD_S || insn->op >= CPU_OPS)
		return NULL;
	if (op == CPU_FSGNJX_S && insn->rs1 == insn->rs2)
		return "ABSOLUTE($f, $A)";
	for (size_t i = 0; i < sizeof(reals) / sizeof(*reals); i++)
		if (reals[i].op == op)
			return reals[i].text;
	return NULL;
}

bool real_may_miss(const struct cpu_insn *insn)
{
	const char *text = text_of(insn);

	return text && strstr(text, "$c");
}

bool real_propagates(const struct cpu_insn *insn)
{
	unsigned op = insn->op - is_double(insn->op);

	return (op >= CPU_FADD_S && op <= CPU_FDIV_S) || real_is_fused(insn);
}

bool real_is_fused(const struct cpu_insn *insn)
{
	return cpu_op_operands(insn->op) & CPU_F3;
}

bool emit_real(FILE *out, const struct step *step, const char *miss)
{
	const char *text = text_of(&step->insn);

	if (text && is_plain(&step->insn))
		put_text(out, step, text, miss);
	else if (text)
		put_exact(out, step);
	return text;
}

// SPDX-License-Identifier: MIT
/* The C text of one function; generated.h explains what it is made of. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* Values of plain instructions: $a and $b are x[rs1] and x[rs2], $i the immediate, $p the pc. */
static const char *const values[CPU_OPS] = {
    [CPU_LUI] = "$i",
    [CPU_AUIPC] = "(ux)($p + $i)",
    [CPU_ADDI] = "$a + $i",
    [CPU_SLTI] = "(sx)$a < (sx)$i",
    [CPU_SLTIU] = "$a < $i",
    [CPU_XORI] = "$a ^ $i",
    [CPU_ORI] = "$a | $i",
    [CPU_ANDI] = "$a & $i",
    [CPU_SLLI] = "$a << $i",
    [CPU_SRLI] = "$a >> $i",
    [CPU_SRAI] = "(ux)((sx)$a >> $i)",
    [CPU_ADD] = "$a + $b",
    [CPU_SUB] = "$a - $b",
    [CPU_SLL] = "$a << ($b & (XLEN - 1))",
    [CPU_SLT] = "(sx)$a < (sx)$b",
    [CPU_SLTU] = "$a < $b",
    [CPU_XOR] = "$a ^ $b",
    [CPU_SRL] = "$a >> ($b & (XLEN - 1))",
    [CPU_SRA] = "(ux)((sx)$a >> ($b & (XLEN - 1)))",
    [CPU_OR] = "$a | $b",
    [CPU_AND] = "$a & $b",
    [CPU_ADDIW] = "WORD($a + $i)",
    [CPU_SLLIW] = "WORD((uint32_t)$a << $i)",
    [CPU_SRLIW] = "WORD((uint32_t)$a >> $i)",
    [CPU_SRAIW] = "WORD((int32_t)$a >> $i)",
    [CPU_ADDW] = "WORD($a + $b)",
    [CPU_SUBW] = "WORD($a - $b)",
    [CPU_SLLW] = "WORD((uint32_t)$a << ($b & 31))",
    [CPU_SRLW] = "WORD((uint32_t)$a >> ($b & 31))",
    [CPU_SRAW] = "WORD((int32_t)$a >> ($b & 31))",
    [CPU_MUL] = "$a * $b",
    [CPU_MULH] = "MULH($a, $b)",
    [CPU_MULHSU] = "MULHSU($a, $b)",
    [CPU_MULHU] = "MULHU($a, $b)",
    [CPU_DIV] = "DIV($a, $b)",
    [CPU_DIVU] = "DIVU($a, $b)",
    [CPU_REM] = "REM($a, $b)",
    [CPU_REMU] = "REMU($a, $b)",
    [CPU_MULW] = "WORD($a * $b)",
    [CPU_DIVW] = "DIVW($a, $b)",
    [CPU_DIVUW] = "DIVUW($a, $b)",
    [CPU_REMW] = "REMW($a, $b)",
    [CPU_REMUW] = "REMUW($a, $b)",
    /* conditions */
    [CPU_BEQ] = "$a == $b",
    [CPU_BNE] = "$a != $b",
    [CPU_BLT] = "(sx)$a < (sx)$b",
    [CPU_BGE] = "(sx)$a >= (sx)$b",
    [CPU_BLTU] = "$a < $b",
    [CPU_BGEU] = "$a >= $b",
    /* addresses of loads, stores and jumps are all of one form */
    [CPU_JALR] = "(ux)($a + $i) & ~(ux)1",
};

static const struct {
	uint16_t op;
	const char *type;
	const char *convert;
} accesses[] = {
    {CPU_LB, "u8", "(ux)(sx)(int8_t)"},
    {CPU_LH, "u16", "(ux)(sx)(int16_t)"},
    {CPU_LW, "u32", "(ux)(sx)(int32_t)"},
    {CPU_LD, "u64", "(ux)"},
    {CPU_LBU, "u8", "(ux)"},
    {CPU_LHU, "u16", "(ux)"},
    {CPU_LWU, "u32", "(ux)"},
    {CPU_SB, "u8", NULL},
    {CPU_SH, "u16", NULL},
    {CPU_SW, "u32", NULL},
    {CPU_SD, "u64", NULL},
};

/*
 * What is known while a function is written.
 * @block: instructions since n was brought up to date
 * @mask: sets of registers that some way out stores
 */
struct emit {
	FILE *out;
	const struct program *program;
	const struct function *function;
	int number;
	int block;
	uint64_t *mask;
	size_t masks;
};

static void put_register(FILE *out, unsigned n)
{
	if (n)
		fprintf(out, "x%u", n);
	else
		fputs("(ux)0", out);
}

static void put_value(FILE *out, const struct step *step, const char *template)
{
	for (; *template; template ++) {
		if (*template != '$') {
			fputc(*template, out);
			continue;
		}
		switch (*++template) {
		case 'a':
			put_register(out, step->insn.rs1);
			break;
		case 'b':
			put_register(out, step->insn.rs2);
			break;
		case 'i':
			fprintf(out, "(ux)%" PRId32 "ll", step->insn.imm);
			break;
		case 'p':
			fprintf(out, "0x%" PRIx64 "u", step->pc);
			break;
		}
	}
}

/* The label that stores @mask: remembered, so that it is written at the end. */
static uint64_t store_of(struct emit *emit, uint64_t mask)
{
	size_t i = 0;

	while (i < emit->masks && emit->mask[i] != mask)
		i++;
	if (i == emit->masks) {
		emit->mask = realloc(emit->mask, (emit->masks + 1) * sizeof(*emit->mask));
		if (!emit->mask)
			abort();
		emit->mask[emit->masks++] = mask;
	}
	return mask;
}

static void put_registers(FILE *out, const char *how, uint64_t mask)
{
	for (; mask; mask &= mask - 1)
		fprintf(out, " %s(%d);", how, __builtin_ctzll(mask));
}

static uint64_t next_of(const struct emit *emit, const struct step *step)
{
	uint64_t next = step->pc + step->insn.bytes;

	return emit->program->xlen == 32 ? (uint32_t)next : next;
}

/* n counts all instructions before the next one. */
static void count_block(struct emit *emit, int more)
{
	if (emit->block + more)
		fprintf(emit->out, "\tn += %d;\n", emit->block + more);
	emit->block = 0;
}

static void check(struct emit *emit, uint64_t to, uint64_t dirty)
{
	fprintf(emit->out, "if (FULL(%d)) GO(0x%" PRIx64 "u, S_%" PRIx64 "); ", emit->function->steps, to,
		store_of(emit, dirty));
}

/* ---- instructions by what they do to control ---- */

static void emit_memory(struct emit *emit, const struct step *step)
{
	const struct cpu_insn *insn = &step->insn;
	unsigned i = 0;

	while (accesses[i].op != insn->op)
		i++;
	fprintf(emit->out, "\t%s(", accesses[i].convert ? "LOAD" : "STORE");
	if (!accesses[i].convert)
		put_register(emit->out, insn->rs2);
	else if (insn->rd)
		put_register(emit->out, insn->rd);
	else
		fputs("none", emit->out);
	fprintf(emit->out, ", %s, ", accesses[i].type);
	if (accesses[i].convert)
		fprintf(emit->out, "%s, ", accesses[i].convert);
	put_value(emit->out, step, "$a + $i");
	fprintf(emit->out, ", %u, 0x%" PRIx64 "u, 0x%" PRIx64 "u, %d, S_%" PRIx64, insn->rs1, step->pc,
		next_of(emit, step), emit->block, store_of(emit, step->dirty));
	if (accesses[i].convert)
		fprintf(emit->out, ", S_%" PRIx64, store_of(emit, step->dirty | step->sets));
	fputs(");\n", emit->out);
	emit->block++;
}

static void emit_goto(struct emit *emit, const struct step *step, const struct step *from)
{
	if (step->target == NOWHERE) {
		fprintf(emit->out, "GO(0x%" PRIx64 "u, S_%" PRIx64 ");", step->to,
			store_of(emit, step->dirty));
		return;
	}
	if (emit->function->step[step->target].pc <= from->pc)
		check(emit, step->to, step->dirty);
	fprintf(emit->out, "goto L_%" PRIx64 ";", step->to);
}

static void emit_branch(struct emit *emit, const struct step *step)
{
	count_block(emit, 1);
	fputs("\tif (", emit->out);
	put_value(emit->out, step, values[step->insn.op]);
	fputs(") { ", emit->out);
	emit_goto(emit, step, step);
	fputs(" }\n", emit->out);
}

/* Everything is stored before a call: what is called may leave for good, and the state is exact then. */
static void emit_call(struct emit *emit, int index)
{
	const struct step *step = &emit->function->step[index];
	uint64_t next = next_of(emit, step);

	count_block(emit, 1);
	fputc('\t', emit->out);
	put_registers(emit->out, "PUT", step->dirty & ~step->sets);
	if (step->insn.rd)
		fprintf(emit->out, " r->x[%u] = 0x%" PRIx64 "u;", step->insn.rd, next);
	fputs(" c->instructions = n;\n", emit->out);
	if (step->far) {
		fprintf(emit->out, "\treturn 0x%" PRIx64 "u;\n", step->to);
		return;
	}
	if (step->flow == FLOW_TAIL) {
		fprintf(emit->out, "\treturn FN(%" PRIx64 ")(c, 0x%" PRIx64 "u);\n",
			emit->program->function[step->callee].start, step->to);
		return;
	}
	fprintf(emit->out,
		"\tout = FN(%" PRIx64 ")(c, 0x%" PRIx64 "u); if (cpu_unlikely(out != 0x%" PRIx64
		"u)) return out;\n",
		emit->program->function[step->callee].start, step->to, next);
	fprintf(emit->out, "\tn = c->instructions; if (FULL(%d)) return out;", emit->function->steps);
	put_registers(emit->out, "GET", flow_reload(emit->program, emit->function, index));
	fputc('\n', emit->out);
}

static void emit_switch(struct emit *emit, const struct step *step)
{
	const struct program *program = emit->program;
	uint64_t store = store_of(emit, step->dirty);

	count_block(emit, 1);
	fputs("\tout = ", emit->out);
	put_value(emit->out, step, values[CPU_JALR]);
	fputs(";\n", emit->out);
	if (step->flow == FLOW_SWITCH) {
		fprintf(emit->out, "\tif (!FULL(%d)) switch (out) {\n", emit->function->steps);
		for (size_t p = 0; p < program->pointers; p++) {
			uint64_t to = program->pointer[p];
			bool again = false;

			for (size_t q = 0; q < p; q++)
				again |= program->pointer[q] == to;
			if (!again && program_find(program, to) == emit->number &&
			    function_step(emit->function, to) != NOWHERE)
				fprintf(emit->out, "\tcase 0x%" PRIx64 "u: goto L_%" PRIx64 ";\n", to, to);
		}
		fputs("\t}\n", emit->out);
	}
	fprintf(emit->out, "\tc->instructions = n; goto S_%" PRIx64 ";\n", store);
}

static void emit_leave(struct emit *emit, const struct step *step, uint64_t to, bool done, const char *flag)
{
	count_block(emit, done);
	fprintf(emit->out, "\tGO(0x%" PRIx64 "u%s, S_%" PRIx64 ");\n", to, flag, store_of(emit, step->dirty));
}

static void emit_plain(struct emit *emit, const struct step *step)
{
	if (step->insn.op == CPU_FENCE)
		fprintf(emit->out, "\tcpu_fence(0x%x);\n", (unsigned)step->insn.imm);
	else if (step->insn.rd) {
		fprintf(emit->out, "\tx%u = ", step->insn.rd);
		put_value(emit->out, step, values[step->insn.op]);
		fputs(";\n", emit->out);
	}
	emit->block++;
}

static void emit_step(struct emit *emit, int index)
{
	const struct step *step = &emit->function->step[index];

	if (step->leader) {
		count_block(emit, 0);
		fprintf(emit->out, "L_%" PRIx64 ":;\n", step->pc);
	}
	switch (step->flow) {
	case FLOW_ON:
		emit_plain(emit, step);
		break;
	case FLOW_MEMORY:
		emit_memory(emit, step);
		break;
	case FLOW_BRANCH:
		emit_branch(emit, step);
		break;
	case FLOW_GOTO:
		count_block(emit, 1);
		fputc('\t', emit->out);
		emit_goto(emit, step, step);
		fputc('\n', emit->out);
		break;
	case FLOW_CALL:
	case FLOW_TAIL:
		emit_call(emit, index);
		break;
	case FLOW_SWITCH:
	case FLOW_RETURN:
		emit_switch(emit, step);
		break;
	case FLOW_ECALL:
		emit_leave(emit, step, next_of(emit, step), true, " | CPU_OUT_ECALL");
		break;
	case FLOW_LEAVE:
		emit_leave(emit, step, step->pc, false, "");
		break;
	}
}

/* ---- functions ---- */

static void emit_entries(struct emit *emit)
{
	const struct function *function = emit->function;

	fprintf(emit->out, "\tif (FULL(%d)) return pc;\n\tif (cpu_likely(pc == 0x%" PRIx64 "u)) {",
		function->steps, function->start);
	put_registers(emit->out, "GET", function->step[0].live);
	fprintf(emit->out, " goto L_%" PRIx64 "; }\n\tswitch (pc) {\n", function->start);
	for (int i = 1; i < function->steps; i++) {
		const struct step *step = &function->step[i];

		if (!step->entry)
			continue;
		fprintf(emit->out, "\tcase 0x%" PRIx64 "u:", step->pc);
		put_registers(emit->out, "GET", step->live);
		fprintf(emit->out, " goto L_%" PRIx64 ";\n", step->pc);
	}
	fputs("\tdefault: return pc;\n\t}\n", emit->out);
}

static void emit_stores(struct emit *emit)
{
	for (size_t i = 0; i < emit->masks; i++) {
		fprintf(emit->out, "S_%" PRIx64 ":;", emit->mask[i]);
		put_registers(emit->out, "PUT", emit->mask[i]);
		fputs(" return out;\n", emit->out);
	}
}

static uint64_t locals_of(const struct function *function)
{
	uint64_t mask = 0;

	for (int i = 0; i < function->steps; i++)
		mask |= function->step[i].uses | function->step[i].sets | function->step[i].live;
	return mask;
}

void emit_function(FILE *out, const struct program *program, int number)
{
	struct emit emit = {
	    .out = out, .program = program, .function = &program->function[number], .number = number};
	const struct function *function = emit.function;
	const struct step *last = &function->step[function->steps - 1];

	fprintf(out, "\n/* %s */\nuint64_t FN(%" PRIx64 ")(struct cpu *c, uint64_t pc)\n{\n", function->name,
		function->start);
	fputs("\tstruct cpu_regs *const r = c->regs; uint8_t *const m = c->flat; uint64_t n = "
	      "c->instructions, out, value; ux none",
	      out);
	for (uint64_t mask = locals_of(function); mask; mask &= mask - 1)
		fprintf(out, ", x%d", __builtin_ctzll(mask));
	fputs(";\n\t(void)m; (void)value; (void)none; (void)out;\n", out);
	emit_entries(&emit);
	for (int i = 0; i < function->steps; i++)
		emit_step(&emit, i);
	if (last->flow <= FLOW_BRANCH || last->flow == FLOW_CALL) {
		struct step end = *last;

		end.dirty = last->flow == FLOW_CALL ? 0 : last->dirty | last->sets;
		emit_leave(&emit, &end, next_of(&emit, last), false, "");
	}
	emit_stores(&emit);
	fputs("}\n", out);
	free(emit.mask);
}

// SPDX-License-Identifier: MIT
/* The C text of one function; generated.h explains what it is made of. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../cpu.h"
#include "chunk.h"
#include "emit.h"

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
    {CPU_FLW, "f32", ""},
    {CPU_FLD, "f64", ""},
    {CPU_FSW, "f32", NULL},
    {CPU_FSD, "f64", NULL},
};

const char *emit_value_of(unsigned op)
{
	return values[op];
}

const char *emit_access_of(unsigned op, const char **convert)
{
	unsigned i = 0;

	while (accesses[i].op != op)
		i++;
	*convert = accesses[i].convert;
	return accesses[i].type;
}

static void put_register(FILE *out, unsigned n)
{
	if (n)
		fprintf(out, "x%u", n);
	else
		fputs("(ux)0", out);
}

void emit_template(FILE *out, const struct step *step, const char *template, emit_field *put, const void *of)
{
	for (; *template; template++) {
		if (*template != '$')
			fputc(*template, out);
		else if (*++template == 'i')
			fprintf(out, "(ux)%" PRId32 "ll", step->insn.imm);
		else if (*template == 'p')
			fprintf(out, "AT(0x%" PRIx64 "u)", step->pc);
		else
			put(out, step, *template, of);
	}
}

static void put_operand(FILE *out, const struct step *step, char field, const void *of)
{
	put_register(out, field == 'a' ? step->insn.rs1 : step->insn.rs2);
}

void emit_value(FILE *out, const struct step *step, const char *template)
{
	emit_template(out, step, template, put_operand, NULL);
}

/* A way out that stores @mask: remembered, so that it is written at the end. Writes the label's name. */
static void put_store(struct emit *emit, uint64_t mask, uint32_t single)
{
	struct store *grown;
	size_t i = 0;

	single &= (uint32_t)(mask >> 32);
	while (i < emit->stores && (emit->store[i].mask != mask || emit->store[i].single != single))
		i++;
	if (i == emit->stores) {
		grown = realloc(emit->store, (emit->stores + 1) * sizeof(*emit->store));
		if (!grown) {
			emit->lacking = true;
			return;
		}
		emit->store = grown;
		emit->store[emit->stores++] = (struct store){mask, single};
	}
	fprintf(emit->out, "S_%" PRIx64 "_%" PRIx32, mask, single);
}

/* Ways out before @step and behind it */
static void put_store_before(struct emit *emit, const struct step *step)
{
	put_store(emit, step->dirty, step->single);
}

static void put_store_behind(struct emit *emit, const struct step *step)
{
	put_store(emit, step->dirty | step->sets,
		  single_behind(emit->program, emit->function, (int)(step - emit->function->step)));
}

/* @how: PUT or GET */
static void put_registers(FILE *out, const char *how, uint64_t mask, uint32_t single)
{
	for (; mask; mask &= mask - 1) {
		int n = __builtin_ctzll(mask);

		if (n < 32)
			fprintf(out, " %s(%d);", how, n);
		else
			fprintf(out, " %s_%c(%d);", how, single >> (n - 32) & 1 ? 'S' : 'D', n - 32);
	}
}

void emit_change(FILE *out, const struct step *to, uint32_t single)
{
	uint32_t change = single & ~to->single & (uint32_t)(to->live >> 32);

	for (; change; change &= change - 1)
		fprintf(out, " CHANGE(%d);", __builtin_ctz(change));
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

/* Out to @to, with what is dirty before @step. */
static void put_go(struct emit *emit, const struct step *step, uint64_t to)
{
	fprintf(emit->out, "GO(AT(0x%" PRIx64 "u), ", to);
	put_store_before(emit, step);
	fputs(");", emit->out);
}

/* ---- instructions by what they do to control ---- */

static void put_access(struct emit *emit, const struct step *step, const char *type)
{
	emit_value(emit->out, step, "$a + $i");
	fprintf(emit->out, ", %u, AT(0x%" PRIx64 "u), %d, CPU_WHAT(%d, %u, %u), ", step->insn.rs1, step->pc, emit->block,
		atoi(type + 1) / 8, step->insn.rs1, step->insn.bytes);
	put_store_before(emit, step);
}

void emit_target(FILE *out, const struct step *step, uint32_t single)
{
	unsigned rd = step->insn.rd;

	if (step->sets >> 32)
		fprintf(out, "%c%u", single >> rd & 1 ? 's' : 'd', rd);
	else if (rd)
		put_register(out, rd);
	else
		fputs("none", out);
}

void emit_data(FILE *out, const struct step *step)
{
	if (step->uses >> 32)
		emit_real_data(out, step, step->insn.rs2, step->insn.op == CPU_FSD);
	else
		put_register(out, step->insn.rs2);
}

/*
 * What is stored behind a load is what is stored before it, and its result; but if that is a floating-point register that
 * is in another kind of variable now, the label for what was there before would not do.
 */
static void emit_load(struct emit *emit, const struct step *step, const char *type, const char *convert)
{
	unsigned rd = step->insn.rd;
	uint32_t single = single_behind(emit->program, emit->function, (int)(step - emit->function->step));

	fputs("\tLOAD(", emit->out);
	emit_target(emit->out, step, single);
	fprintf(emit->out, ", %s, %s, ", type, convert);
	put_access(emit, step, type);
	fputs(", ", emit->out);
	put_registers(emit->out, "PUT", step->sets, single);
	fputs(", ", emit->out);
	if (single != step->single && step->dirty >> 32 >> rd & 1)
		put_store_behind(emit, step);
	else
		put_store_before(emit, step);
	fputs(");\n", emit->out);
}

static void emit_store(struct emit *emit, const struct step *step, const char *type)
{
	fputs("\tSTORE(", emit->out);
	emit_data(emit->out, step);
	fprintf(emit->out, ", %s, ", type);
	put_access(emit, step, type);
	fputs(");\n", emit->out);
}

static void emit_atomic(struct emit *emit, const struct step *step)
{
	fprintf(emit->out, "\tATOMIC(%u, %u, ", step->insn.op, step->insn.rd ? step->insn.rd : CPU_SINK);
	emit_value(emit->out, step, "$a, $b, ");
	fprintf(emit->out, "AT(0x%" PRIx64 "u), %d, ", step->pc, emit->block);
	put_store_before(emit, step);
	fputs(");", emit->out);
	put_registers(emit->out, "GET", step->sets, 0);
	fputc('\n', emit->out);
}

static void emit_memory(struct emit *emit, const struct step *step)
{
	const char *convert, *type;

	if (cpu_op_operands(step->insn.op) & CPU_IS_ATOMIC) {
		emit_atomic(emit, step);
	} else {
		type = emit_access_of(step->insn.op, &convert);
		if (convert)
			emit_load(emit, step, type, convert);
		else
			emit_store(emit, step, type);
	}
	emit->block++;
}

static void emit_goto(struct emit *emit, const struct step *step)
{
	const struct step *to = &emit->function->step[step->target];

	if (step->target == NOWHERE) {
		put_go(emit, step, step->to);
		return;
	}
	if (to->pc <= step->pc) {
		fprintf(emit->out, "if (FULL(%d)) ", emit->function->margin);
		put_go(emit, step, step->to);
	}
	if (step->chunk) {
		fprintf(emit->out, " goto H_%" PRIx64 ";", step->pc);
		return;
	}
	emit_change(emit->out, to, step->single);
	fprintf(emit->out, " goto L_%" PRIx64 ";", step->to);
}

static void emit_branch(struct emit *emit, const struct step *step)
{
	count_block(emit, 1);
	fputs("\tif (", emit->out);
	emit_value(emit->out, step, values[step->insn.op]);
	fputs(") { ", emit->out);
	emit_goto(emit, step);
	fputs(" }\n", emit->out);
}

/* Everything is stored before a call: what is called may leave for good, and the state is exact then. */
static void emit_call(struct emit *emit, int index)
{
	const struct step *step = &emit->function->step[index];
	uint64_t next = next_of(emit, step);

	count_block(emit, 1);
	fputc('\t', emit->out);
	put_registers(emit->out, "PUT", step->dirty & ~step->sets, step->single);
	if (step->insn.rd)
		fprintf(emit->out, " r->x[%u] = AT(0x%" PRIx64 "u);", step->insn.rd, next);
	fputs(" c->instructions = n;\n", emit->out);
	if (step->far) {
		fprintf(emit->out, "\treturn AT(0x%" PRIx64 "u);\n", step->to);
		return;
	}
	if (step->flow == FLOW_TAIL) {
		fprintf(emit->out, "\treturn FN(%" PRIx64 ")(c, AT(0x%" PRIx64 "u));\n",
			emit->program->function[step->callee].start, step->to);
		return;
	}
	fprintf(emit->out,
		"\tout = FN(%" PRIx64 ")(c, AT(0x%" PRIx64 "u)); if (cpu_unlikely(out != AT(0x%" PRIx64
		"u))) return out;\n",
		emit->program->function[step->callee].start, step->to, next);
	fprintf(emit->out, "\tn = c->instructions; if (FULL(%d)) return out;", emit->function->margin);
	put_registers(emit->out, "GET", flow_reload(emit->program, emit->function, index), 0);
	fputc('\n', emit->out);
}

static void emit_switch(struct emit *emit, const struct step *step)
{
	const struct program *program = emit->program;

	count_block(emit, 1);
	fputs("\tout = ", emit->out);
	emit_value(emit->out, step, values[CPU_JALR]);
	fputs(";\n", emit->out);
	if (step->insn.rd)
		fprintf(emit->out, "\tx%u = AT(0x%" PRIx64 "u);\n", step->insn.rd, next_of(emit, step));
	if (step->flow == FLOW_SWITCH) {
		fprintf(emit->out, "\tif (!FULL(%d)) switch (out) {\n", emit->function->margin);
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
	fputs("\tc->instructions = n; goto ", emit->out);
	put_store_behind(emit, step);
	fputs(";\n", emit->out);
}

static void emit_ecall(struct emit *emit, const struct step *step)
{
	count_block(emit, 1);
	fprintf(emit->out, "\tr->pc = AT(0x%" PRIx64 "u); GO(CPU_OUT_ECALL, ", next_of(emit, step));
	put_store_before(emit, step);
	fputs(");\n", emit->out);
}

/* To @to without executing @step. */
static void emit_leave(struct emit *emit, const struct step *step, uint64_t to)
{
	count_block(emit, 0);
	fputc('\t', emit->out);
	put_go(emit, step, to);
	fputc('\n', emit->out);
}

static void emit_plain(struct emit *emit, const struct step *step)
{
	if (step->insn.op == CPU_FENCE) {
		fprintf(emit->out, "\tcpu_fence(0x%x);\n", (unsigned)step->insn.imm);
	} else if (!emit_real(emit->out, step, NULL) && step->insn.rd) {
		fprintf(emit->out, "\tx%u = ", step->insn.rd);
		emit_value(emit->out, step, values[step->insn.op]);
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
	emit->block_at[index] = emit->block;
	if (step->landing)
		fprintf(emit->out, "C_%" PRIx64 ":;\n", step->pc);
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
		emit_goto(emit, step);
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
		emit_ecall(emit, step);
		break;
	case FLOW_LEAVE:
		emit_leave(emit, step, step->pc);
		break;
	}
	if (index + 1 < emit->function->steps && (step->flow <= FLOW_BRANCH || (step->flow == FLOW_CALL && !step->far)))
		emit_change(emit->out, step + 1, single_behind(emit->program, emit->function, index));
}

/* ---- functions ---- */

/* Those of @registers that a label expects; what is expected to be single may turn out not to be. */
static void emit_entry(struct emit *emit, const struct step *step, uint64_t registers)
{
	put_registers(emit->out, "GET", step->live & registers, step->single);
	fprintf(emit->out, " goto L_%" PRIx64 ";", step->pc);
}

/*
 * Integer registers that any label but the first expects. All are loaded in one place, which the compiler takes less
 * time for.
 */
static uint64_t expected_anywhere(const struct function *function)
{
	uint64_t live = 0;

	for (int i = 1; i < function->steps; i++)
		live |= function->step[i].entry ? function->step[i].live : 0;
	return live & 0xffffffff;
}

static bool computes(const struct function *function)
{
	for (int i = 0; i < function->steps; i++)
		if (real_computes(&function->step[i].insn))
			return true;
	return false;
}

static void emit_entries(struct emit *emit)
{
	const struct function *function = emit->function;
	uint64_t anywhere = expected_anywhere(function);

	fprintf(emit->out, "\tif (FULL(%d)%s) return pc;\n\tif (cpu_likely(pc == AT(0x%" PRIx64 "u))) {",
		function->margin, computes(function) ? " || SLOW" : "", function->start);
	emit_entry(emit, &function->step[0], ~0ull);
	fputs(" }\n\t", emit->out);
	put_registers(emit->out, "GET", anywhere, 0);
	fputs("\n\tswitch (FROM(pc)) {\n", emit->out);
	for (int i = 1; i < function->steps; i++) {
		const struct step *step = &function->step[i];

		if (!step->entry)
			continue;
		fprintf(emit->out, "\tcase 0x%" PRIx64 "u:", step->pc);
		emit_entry(emit, step, ~anywhere);
		fputc('\n', emit->out);
	}
	fputs("\tdefault: return pc;\n\t}\n", emit->out);
}

static void emit_stores(struct emit *emit)
{
	for (size_t i = 0; i < emit->stores; i++) {
		fprintf(emit->out, "S_%" PRIx64 "_%" PRIx32 ":;", emit->store[i].mask, emit->store[i].single);
		put_registers(emit->out, "PUT", emit->store[i].mask, emit->store[i].single);
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

/* Registers that accesses are relative to: what is remembered of their memory is in variables. */
static uint32_t bases_of(const struct function *function)
{
	uint32_t bases = 0;

	for (int i = 0; i < function->steps; i++)
		if (cpu_op_operands(function->step[i].insn.op) & (CPU_IS_LOAD | CPU_IS_STORE))
			bases |= 1u << function->step[i].insn.rs1;
	return bases;
}

static void emit_locals(struct emit *emit)
{
	uint64_t mask = locals_of(emit->function);

	fputs("\tLOCALS; ux none", emit->out);
	for (uint64_t x = mask & 0xffffffff; x; x &= x - 1)
		fprintf(emit->out, ", x%d", __builtin_ctzll(x));
	fputs(";\n", emit->out);
	for (uint64_t f = mask >> 32; f; f &= f - 1)
		fprintf(emit->out, "\tREAL(%d);\n", __builtin_ctzll(f));
	for (uint32_t b = emit->program->xlen == 64 ? bases_of(emit->function) : 0; b; b &= b - 1)
		fprintf(emit->out, "\tNEAR(%d);\n", __builtin_ctz(b));
	emit_chunk_locals(emit->out, emit->function);
	fputs("\t(void)none; (void)out;\n", emit->out);
}

bool emit_function(FILE *out, const struct program *program, int number)
{
	struct emit emit = {
	    .out = out, .program = program, .function = &program->function[number], .number = number};
	const struct function *function = emit.function;
	const struct step *last = &function->step[function->steps - 1];

	emit.block_at = calloc((size_t)function->steps, sizeof(*emit.block_at));
	if (!emit.block_at)
		return false;
	fprintf(out, "\nuint64_t FN(%" PRIx64 ")(struct cpu *c, uint64_t pc)\n{\n", function->start);
	emit_locals(&emit);
	emit_entries(&emit);
	for (int i = 0; i < function->steps; i++)
		emit_step(&emit, i);
	if (last->flow <= FLOW_BRANCH || last->flow == FLOW_CALL) {
		struct step end = *last;

		end.dirty = last->flow == FLOW_CALL ? 0 : last->dirty | last->sets;
		end.single = single_behind(program, function, function->steps - 1);
		emit_leave(&emit, &end, next_of(&emit, last));
	}
	emit_chunks(&emit);
	emit_stores(&emit);
	fputs("}\n", out);
	free(emit.block_at);
	free(emit.store);
	return !emit.lacking;
}

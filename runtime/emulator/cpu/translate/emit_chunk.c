// SPDX-License-Identifier: MIT
/*
 * The C text of a loop that is done in chunks. Step i of a round that sets what stays or moves has two variables: vi, its
 * value in the first round, and wi, by how much it moves from each round to the next; of accesses that is the address, and li
 * what a load is expected to give. "last" is the number of the last round,
 * which is what all is looked at for; "round" is the number of the present one.
 */
#include <inttypes.h>

#include "chunk.h"
#include "emit.h"

/* ---- names ---- */

static bool has_value(const struct chunk_step *step)
{
	return step->guessed || (step->step.flow == FLOW_ON && step->kind != CHUNK_VARIES && step->step.insn.rd);
}

static bool is_placed(const struct chunk_step *step)
{
	return step->step.flow == FLOW_MEMORY && step->kind != CHUNK_VARIES;
}

static bool is_store(const struct chunk_step *step)
{
	return cpu_op_operands(step->step.insn.op) & CPU_IS_STORE;
}

static void put_value(FILE *out, const struct chunk *chunk, int at, unsigned n)
{
	int source = chunk_source(chunk, at, n);

	if (source >= 0)
		fprintf(out, "%c%d", chunk->round[source].guessed ? 'l' : 'v', source);
	else if (n)
		fprintf(out, "x%u", n);
	else
		fputs("(ux)0", out);
}

static void put_distance(FILE *out, const struct chunk *chunk, int at, unsigned n)
{
	const struct chunk_step *value;

	if (chunk_kind(chunk, at, n, &value) == CHUNK_MOVES)
		fprintf(out, "w%d", (int)(value - chunk->round));
	else
		fputs("(ux)0", out);
}

static void put_pc(FILE *out, const char *what, const struct chunk_step *step)
{
	fprintf(out, "%s_%" PRIx64, what, step->step.pc);
}

static const struct chunk_step *closing(const struct chunk *chunk)
{
	return &chunk->round[chunk->steps - 1];
}

/* Ways out of the loop are of this loop alone; those that they lead to are of the function. */
static void put_miss(FILE *out, const struct chunk *chunk, const struct chunk_step *step)
{
	put_pc(out, "M", closing(chunk));
	fprintf(out, "_%" PRIx64, step->step.pc);
}

/* ---- before the rounds ---- */

/* What it adds to its register is known first, since steps before it use that. */
static void put_count(FILE *out, const struct chunk *chunk, int at)
{
	const struct cpu_insn *insn = &chunk->round[at].step.insn;
	unsigned other = insn->rs1 == insn->rd ? insn->rs2 : insn->rs1;

	fprintf(out, "\tconst ux w%d = ", at);
	if (chunk->round[at].fixed)
		fprintf(out, "(ux)%" PRId32 "ll;\n", insn->imm);
	else
		fprintf(out, "%s%s%u;\n", insn->op == CPU_SUB || insn->op == CPU_SUBW ? "-" : "", other ? "x" : "(ux)", other);
}

/* $a, $b: values in the first round; $A, $B: by how much they move */
static void put_field(FILE *out, const struct step *step, char field, const void *of)
{
	const struct chunk *chunk = of;
	int at = (int)((const struct chunk_step *)step - chunk->round); /* each of them begins with its step */
	unsigned n = field == 'a' || field == 'A' ? step->insn.rs1 : step->insn.rs2;

	if (field == 'a' || field == 'b')
		put_value(out, chunk, at, n);
	else
		put_distance(out, chunk, at, n);
}

static void put_text(FILE *out, const struct chunk *chunk, int at, const char *text)
{
	emit_template(out, &chunk->round[at].step, text, put_field, chunk);
}

/* How instructions treat what moves: value, distance, and what must hold. 32-bit values must not overflow. */
static const struct {
	uint16_t op;
	const char *value, *distance, *holds;
} movers[] = {
	{ CPU_ADDI, "$a + $i", "$A", NULL },
	{ CPU_ADD, "$a + $b", "$A + $B", NULL },
	{ CPU_SUB, "$a - $b", "$A - $B", NULL },
	{ CPU_SLLI, "$a << $i", "$A << $i", NULL },
	{ CPU_MUL, "$a * $b", "$a * $B + $b * $A", NULL },
	{ CPU_SRLI, "$a >> $i", "(ux)((sx)$A >> $i)", "STEADY($a, $A, $i)" },
	{ CPU_ADDIW, "$a + $i", "$A", "WORDS" },
	{ CPU_ADDW, "$a + $b", "$A + $B", "WORDS" },
	{ CPU_SUBW, "$a - $b", "$A - $B", "WORDS" },
	{ CPU_SLLIW, "$a << $i", "$A << $i", "WORDS" },
	{ CPU_MULW, "$a * $b", "$a * $B + $b * $A", "WORDS" },
};

static unsigned mover_of(unsigned op)
{
	unsigned i = 0;

	while (movers[i].op != op)
		i++;
	return i;
}

static void put_step_values(FILE *out, const struct chunk *chunk, int at)
{
	const struct chunk_step *step = &chunk->round[at];
	bool moves = step->kind == CHUNK_MOVES;
	unsigned op = step->step.insn.op;

	fprintf(out, "\tconst ux v%d = ", at);
	put_text(out, chunk, at, moves ? movers[mover_of(op)].value : emit_value_of(op));
	fputs(";", out);
	if (!step->counts) {
		fprintf(out, " const ux w%d = ", at);
		put_text(out, chunk, at, moves ? movers[mover_of(op)].distance : "0");
		fputs(";", out);
	}
	fputc('\n', out);
}

static void put_address(FILE *out, const struct chunk *chunk, int at)
{
	fprintf(out, "\tconst ux v%d = ", at);
	put_text(out, chunk, at, "$a + $i");
	fprintf(out, ", w%d = ", at);
	put_text(out, chunk, at, "$A");
	fputs(";\n", out);
}

static void put_guess(FILE *out, const struct chunk *chunk, int at)
{
	const struct chunk_step *step = &chunk->round[at];
	const char *convert, *type = emit_access_of(step->step.insn.op, &convert);

	put_pc(out, "\tMUST(reach(c, &near", closing(chunk));
	fprintf(out, "_%d, %u, v%d, 0, 0, false));\n\tconst ux l%d = %s(*(const volatile cpu_%s *)(v%d + ", step->place,
		step->step.insn.rs1, at, at, convert, type, at);
	put_pc(out, "near", closing(chunk));
	fprintf(out, "_%d.delta));\n", step->place);
}

static void put_values(FILE *out, const struct chunk *chunk)
{
	for (int i = 0; i < chunk->steps; i++)
		if (chunk->round[i].counts)
			put_count(out, chunk, i);
	for (int i = 0; i < chunk->steps; i++) {
		const struct chunk_step *step = &chunk->round[i];

		if (is_placed(step))
			put_address(out, chunk, i);
		else if (has_value(step))
			put_step_values(out, chunk, i);
		if (step->guessed)
			put_guess(out, chunk, i);
	}
}

/* How often the last branch is taken before it is not. */
static void put_rounds(FILE *out, const struct chunk *chunk)
{
	int at = chunk->steps - 1;
	const struct cpu_insn *insn = &chunk->round[at].step.insn;
	const struct chunk_step *value;

	if (!chunk->counted) {
		fputs("UNCOUNTED", out);
		return;
	}
	if (chunk_kind(chunk, at, insn->rs1, &value) == CHUNK_MOVES) {
		put_text(out, chunk, at, insn->op == CPU_BNE ? "rounds_to($b - $a, " :
					 insn->op == CPU_BLT ? "rounds_below((sx)$a < (sx)$b, $b - $a, " :
							       "rounds_below($a < $b, $b - $a, ");
	} else {
		chunk_kind(chunk, at, insn->rs2, &value);
		put_text(out, chunk, at, "rounds_to($a - $b, ");
	}
	fprintf(out, "%" PRId64 "ll)", value->by);
}

/* There are accesses of the same sort to the same place whose addresses are below that of step @at, and others above. */
static bool is_between(const struct chunk *chunk, int at)
{
	const struct chunk_step *step = &chunk->round[at];
	bool below = false, above = false;

	for (int i = 0; i < chunk->steps; i++) {
		const struct chunk_step *other = &chunk->round[i];
		int32_t away = other->step.insn.imm - step->step.insn.imm;

		if (!is_placed(other) || other->place != step->place || is_store(other) != is_store(step))
			continue;
		below |= away < 0 || (!away && i < at);
		above |= away > 0 || (!away && i < at);
	}
	return below && above;
}

/* The first access to a place finds its memory, and all others must be to the same piece. */
static void put_reach(FILE *out, const struct chunk *chunk, int at)
{
	const struct chunk_step *step = &chunk->round[at];
	bool first = true;

	for (int i = 0; i < at; i++)
		first &= !is_placed(&chunk->round[i]) || chunk->round[i].place != step->place || is_between(chunk, i);
	fprintf(out, first ? "\tMUST(reach(c, &near" : "\tMUST(is_near(&near");
	put_pc(out, "", closing(chunk));
	if (first)
		fprintf(out, "_%d, %u, v%d, w%d, last, %d));\n", step->place, step->step.insn.rs1, at, at, is_store(step));
	else
		fprintf(out, "_%d, v%d, v%d + w%d * last, %d));\n", step->place, at, at, at, is_store(step));
}

/* What must hold of step @at in all rounds. */
static void put_condition(FILE *out, const struct chunk *chunk, int at)
{
	const struct chunk_step *step = &chunk->round[at];
	const char *holds;

	if (is_placed(step)) {
		if (!is_between(chunk, at))
			put_reach(out, chunk, at);
	} else if (has_value(step) && step->kind == CHUNK_MOVES) {
		holds = movers[mover_of(step->step.insn.op)].holds;
		if (holds && *holds == 'W') {
			fprintf(out, "\tMUST(WORDS(v%d, w%d));\n", at, at);
		} else if (holds) {
			fputs("\tMUST(", out);
			put_text(out, chunk, at, holds);
			fputs(");\n", out);
		}
	}
}

static void put_ways(FILE *out, const struct chunk *chunk)
{
	for (int i = 0; i + 1 < chunk->steps; i++) {
		const struct chunk_step *step = &chunk->round[i];

		if (step->step.flow != FLOW_BRANCH || step->leaves)
			continue;
		fprintf(out, "\tMUST(%s(", step->taken ? "" : "!");
		put_text(out, chunk, i, emit_value_of(step->step.insn.op));
		fputs("));\n", out);
	}
}

/* ---- a round ---- */

static void put_moved(FILE *out, const struct chunk *chunk, int at, const char *round)
{
	if (chunk->round[at].guessed)
		fprintf(out, "l%d", at);
	else if (chunk->round[at].kind == CHUNK_MOVES)
		fprintf(out, "v%d + w%d * %s", at, at, round);
	else
		fprintf(out, "v%d", at);
}

/* The memory of an access whose place is known for all rounds. */
static void put_placed(FILE *out, const struct chunk *chunk, int at)
{
	const struct chunk_step *step = &chunk->round[at];
	const char *convert, *type = emit_access_of(step->step.insn.op, &convert);

	fprintf(out, "*(%svolatile cpu_%s *)(host%d + w%d * round + %" PRId32 ")", is_store(step) ? "" : "const ", type, step->place, at,
		step->step.insn.imm);
}

static void put_guessed(FILE *out, const struct chunk *chunk, int at)
{
	const struct chunk_step *step = &chunk->round[at];
	const char *convert;

	emit_access_of(step->step.insn.op, &convert);
	fprintf(out, "\tif (cpu_unlikely(%s(", convert);
	put_placed(out, chunk, at);
	fprintf(out, ") != l%d)) goto ", at);
	put_miss(out, chunk, &chunk->round[chunk_retreat(chunk, at)]);
	fputs(";\n", out);
	if (step->kept)
		fprintf(out, "\tx%u = l%d;\n", step->step.insn.rd, at);
}

static void put_load(FILE *out, const struct chunk *chunk, int at)
{
	const struct chunk_step *step = &chunk->round[at];
	const char *convert, *type = emit_access_of(step->step.insn.op, &convert);
	bool known = step->kind != CHUNK_VARIES;

	fputs(known ? "\t" : "\tLOAD_KNOWN(", out);
	emit_target(out, &step->step, single_after(&step->step));
	if (known) {
		fprintf(out, " = %s(", convert);
		put_placed(out, chunk, at);
	} else {
		fprintf(out, ", %s, %s, ", type, convert);
		emit_value(out, &step->step, "$a + $i");
		fprintf(out, ", %u, ", step->step.insn.rs1);
		put_miss(out, chunk, step);
	}
	fputs(");\n", out);
}

static void put_store(FILE *out, const struct chunk *chunk, int at)
{
	const struct chunk_step *step = &chunk->round[at];
	const char *convert, *type = emit_access_of(step->step.insn.op, &convert);
	bool known = step->kind != CHUNK_VARIES;

	fputs(known ? "\t" : "\tSTORE_KNOWN(", out);
	if (known) {
		put_placed(out, chunk, at);
		fprintf(out, " = (cpu_%s)(", type);
	}
	emit_data(out, &step->step);
	if (!known) {
		fprintf(out, ", %s, ", type);
		emit_value(out, &step->step, "$a + $i");
		fprintf(out, ", %u, ", step->step.insn.rs1);
		put_miss(out, chunk, step);
	}
	fputs(");\n", out);
}

static void put_access(FILE *out, const struct chunk *chunk, int at)
{
	if (chunk->round[at].guessed)
		put_guessed(out, chunk, at);
	else if (is_store(&chunk->round[at]))
		put_store(out, chunk, at);
	else
		put_load(out, chunk, at);
}

static void put_branch(FILE *out, const struct chunk *chunk, const struct chunk_step *step)
{
	if (!step->leaves)
		return;
	fprintf(out, "\tif (cpu_unlikely(%s(", step->taken ? "!" : "");
	emit_value(out, &step->step, emit_value_of(step->step.insn.op));
	fputs("))) goto ", out);
	put_miss(out, chunk, step);
	fputs(";\n", out);
}

static void put_plain(FILE *out, const struct chunk *chunk, int at)
{
	const struct chunk_step *step = &chunk->round[at];
	const struct cpu_insn *insn = &step->step.insn;
	char miss[64];

	if (has_value(step)) {
		if (!step->kept)
			return;
		fprintf(out, "\tx%u = ", insn->rd);
		put_moved(out, chunk, at, "round");
		fputs(";\n", out);
	} else if (insn->op == CPU_FENCE) {
		fprintf(out, "\tcpu_fence(0x%x);\n", (unsigned)insn->imm);
	} else if (emit_value_of(insn->op)) {
		if (!insn->rd)
			return;
		fprintf(out, "\tx%u = ", insn->rd);
		emit_value(out, &step->step, emit_value_of(insn->op));
		fputs(";\n", out);
	} else {
		snprintf(miss, sizeof(miss), "MISS, M_%" PRIx64 "_%" PRIx64, closing(chunk)->step.pc, step->step.pc);
		emit_real(out, &step->step, chunk->later && real_propagates(insn) ? "LATER, 0" : miss);
	}
}

static void put_round(FILE *out, const struct chunk *chunk)
{
	for (int i = 0; i < chunk->steps; i++) {
		const struct chunk_step *step = &chunk->round[i];

		if (step->step.flow == FLOW_MEMORY)
			put_access(out, chunk, i);
		else if (step->step.flow == FLOW_BRANCH)
			put_branch(out, chunk, step);
		else if (step->step.flow == FLOW_ON)
			put_plain(out, chunk, i);
	}
}

/* ---- results that are checked after the rounds ---- */

/* Registers whose variables are changed by the rounds. */
static uint64_t changed_by(const struct chunk *chunk)
{
	uint64_t changed = 0;

	for (int i = 0; i < chunk->steps; i++)
		if (!has_value(&chunk->round[i]) || chunk->round[i].kept)
			changed |= chunk->round[i].step.sets;
	return changed;
}

/* Copy those registers or, if @back, copy them back. */
static void put_copies(const struct emit *emit, const struct chunk *chunk, bool back)
{
	const struct step *branch = &emit->function->step[chunk->number];

	for (uint64_t n = changed_by(chunk) & emit->function->step[chunk->head].live; n; n &= n - 1) {
		int i = __builtin_ctzll(n), f = i - 32;
		bool single = f >= 0 && branch->single >> f & 1;
		char kind = f < 0 ? 'x' : single ? 's' : 'd';

		if (back)
			fprintf(emit->out, "\t%c%d = e%d;\n", kind, f < 0 ? i : f, i);
		else
			fprintf(emit->out, "\tconst %s e%d = %c%d;\n", f < 0 ? "ux" : single ? "float" : "double", i, kind,
				f < 0 ? i : f);
	}
}

/* The check before the usual text goes on with step @at. After a whole round every NaN has reached a sum. */
static void put_check(FILE *out, const struct chunk *chunk, int at)
{
	uint32_t computed = 0, kinds = chunk->round[at].step.single;

	for (int i = 0; i < chunk->steps; i++)
		if (at + 1 < chunk->steps ? real_propagates(&chunk->round[i].step.insn) : chunk_sums(chunk, i))
			computed |= 1u << chunk->round[i].step.insn.rd;
	for (uint32_t f = computed; f; f &= f - 1)
		fprintf(out, "\tSETTLE(%c%d);\n", kinds >> __builtin_ctz(f) & 1 ? 's' : 'd', __builtin_ctz(f));
	fputs("\tif (cpu_unlikely(host_flags()", out);
	for (uint32_t f = computed; f; f &= f - 1)
		fprintf(out, " || __builtin_isnan(%c%d)", kinds >> __builtin_ctz(f) & 1 ? 's' : 'd', __builtin_ctz(f));
	put_pc(out, ")) goto U", closing(chunk));
	fputs(";\n", out);
}

/* All rounds are done again by the usual text, and many more, so that a wrong attempt costs little in the long run. */
static void put_undo(const struct emit *emit, const struct chunk *chunk)
{
	put_pc(emit->out, "U", closing(chunk));
	fputs(":;\n", emit->out);
	put_copies(emit, chunk, true);
	put_pc(emit->out, "\tc->help->forget_flags(); wait", closing(chunk));
	fputs(" = 8 * WAIT + 4 * (unsigned)round;", emit->out);
	put_pc(emit->out, " goto N", closing(chunk));
	fputs(";\n", emit->out);
}

/* ---- ways out ---- */

/* The variable of x[n] as it is before step @at, if the loop does not keep it. */
static void put_register(FILE *out, const struct chunk *chunk, int at, unsigned n)
{
	int source = chunk_source(chunk, at, n), set = source == CHUNK_ROUND ? chunk_last(chunk, n) : source;

	if (source == CHUNK_BEFORE || !has_value(&chunk->round[set]) || chunk->round[set].kept)
		return;
	fprintf(out, source == CHUNK_ROUND ? "\tif (round) x%u = " : "\tx%u = ", n);
	put_moved(out, chunk, set, source == CHUNK_ROUND ? "(round - 1)" : "round");
	fputs(";\n", out);
}

static void put_landing(const struct emit *emit, const struct chunk *chunk, int at)
{
	const struct chunk_step *step = &chunk->round[at];
	const struct step *to = &emit->function->step[step->index];

	put_miss(emit->out, chunk, step);
	fputs(":;\n", emit->out);
	if (chunk->later)
		put_check(emit->out, chunk, at);
	for (uint32_t live = (uint32_t)to->live; live; live &= live - 1)
		put_register(emit->out, chunk, at, (unsigned)__builtin_ctz(live));
	if (step->guessed) {
		put_pc(emit->out, "\twait", closing(chunk));
		fputs(" = WAIT;\n", emit->out);
	}
	fprintf(emit->out, "\tn += %d * round + %d;", chunk->steps, at - emit->block_at[step->index]);
	emit_change(emit->out, to, step->step.single);
	put_pc(emit->out, " goto C", step);
	fputs(";\n", emit->out);
}

/* ---- all of it ---- */

/* Where the places are in the first round; accesses differ from that by their offsets alone. */
static void put_hosts(FILE *out, const struct chunk *chunk)
{
	for (int i = 0, place = 0; i < chunk->steps; i++) {
		if (!is_placed(&chunk->round[i]) || chunk->round[i].place != place)
			continue;
		fprintf(out, "\tuint8_t *const host%d = (uint8_t *)(", place);
		put_text(out, chunk, i, "$a");
		fprintf(out, " + near_%" PRIx64 "_%d.delta);\n", closing(chunk)->step.pc, place++);
	}
}

static void put_chunk(const struct emit *emit, const struct chunk *chunk)
{
	const struct step *branch = &emit->function->step[chunk->number], *head = &emit->function->step[chunk->head];
	uint32_t change = branch->single & ~chunk->single;
	FILE *out = emit->out;

	fprintf(out, "H_%" PRIx64 ": {\n\tCHUNK(%" PRIx64 ", %d, %d);\n", branch->pc, branch->pc, emit->function->margin,
		chunk->steps);
	if (chunk->later)
		fprintf(out, "\tLATER_IF(%d, %" PRIx64 ");\n", chunk->fused, branch->pc);
	put_values(out, chunk);
	put_ways(out, chunk);
	fputs("\tROUNDS(", out);
	put_rounds(out, chunk);
	fprintf(out, ", %" PRIx64 ", %d);\n", branch->pc, chunk->steps);
	for (int i = 0; i < chunk->steps; i++)
		put_condition(out, chunk, i);
	put_hosts(out, chunk);
	if (chunk->later)
		put_copies(emit, chunk, false);
	for (; change; change &= change - 1)
		fprintf(out, "\tCHANGE(%d);", __builtin_ctz(change));
	fputs("\tfor (;; round++) {\n", out);
	put_round(out, chunk);
	fputs("\tif (round == last) goto ", out);
	put_miss(out, chunk, closing(chunk));
	fputs(";\n\t}\n", out);
	for (int i = 0; i < chunk->steps; i++)
		if (chunk->round[i].lands)
			put_landing(emit, chunk, i);
	if (chunk->later)
		put_undo(emit, chunk);
	fputs("not:\n\twait", out);
	put_pc(out, "", closing(chunk));
	fputs(" = WAIT;\n", out);
	put_pc(out, "N", closing(chunk));
	fputs(":;\n\t", out);
	emit_change(out, head, branch->single);
	fprintf(out, " goto L_%" PRIx64 ";\n}\n", head->pc);
}

void emit_chunk_locals(FILE *out, const struct function *function)
{
	for (int i = 0; i < function->steps; i++) {
		const struct chunk *chunk = function->step[i].chunk;

		if (!chunk)
			continue;
		fprintf(out, "\tunsigned wait_%" PRIx64 " = 0;", function->step[i].pc);
		for (int at = 0, place = 0; at < chunk->steps; at++)
			if (is_placed(&chunk->round[at]) && chunk->round[at].place == place)
				fprintf(out, " PLACE(%" PRIx64 "_%d, %u);", function->step[i].pc, place++,
					chunk->round[at].step.insn.rs1);
		fputc('\n', out);
	}
}

void emit_chunks(const struct emit *emit)
{
	for (int i = 0; i < emit->function->steps; i++)
		if (emit->function->step[i].chunk)
			put_chunk(emit, emit->function->step[i].chunk);
}

// SPDX-License-Identifier: MIT
/* The files of a translation: functions spread over them by size, tables in the first one. */
#include <inttypes.h>
#include <stdlib.h>

#include "program.h"

void output_head(FILE *out, const struct program *program, const char *symbol)
{
	fprintf(out, "/* Made by rv2c from a RISC-V program. */\n#define XLEN %u\n#include \"generated.h\"\n",
		program->xlen);
	fprintf(out,
		"#define FN_(symbol, at) symbol##_##at\n#define FN__(symbol, at) FN_(symbol, at)\n"
		"#define FN(at) FN__(%s, at)\n",
		symbol);
	fputs("#pragma GCC visibility push(hidden)\n", out);
	for (int i = 0; i < program->functions; i++)
		fprintf(out, "uint64_t FN(%" PRIx64 ")(struct cpu *c, uint64_t pc);\n",
			program->function[i].start);
	fputs("#pragma GCC visibility pop\n", out);
}

static uint32_t put_entries(FILE *out, const struct program *program)
{
	uint32_t n = 0;

	fputs("\nstatic const struct cpu_translated_entry entries[] = {\n", out);
	for (int f = 0; f < program->functions; f++)
		for (int i = 0; i < program->function[f].steps; i++) {
			const struct step *step = &program->function[f].step[i];

			if (!step->entry)
				continue;
			fprintf(out, "\t{ 0x%" PRIx64 ", %d },\n", step->pc - program->first, f);
			n++;
		}
	fputs("};\n", out);
	return n;
}

void output_tables(FILE *out, const struct program *program, const char *symbol)
{
	uint32_t entries = put_entries(out, program);

	fputs("static const cpu_translated_function functions[] = {\n", out);
	for (int i = 0; i < program->functions; i++)
		fprintf(out, "\tFN(%" PRIx64 "),\n", program->function[i].start);
	fputs("};\nstatic const uint32_t margins[] = {\n", out);
	for (int i = 0; i < program->functions; i++)
		fprintf(out, "\t%d,\n", program->function[i].margin);
	fprintf(out,
		"};\n\nextern const struct cpu_translation %s;\nconst struct cpu_translation %s = {\n\t.xlen "
		"= XLEN,\n"
		"\t.first = 0x%" PRIx64 ",\n\t.bytes = 0x%" PRIx64 ",\n\t.loaded = 0x%" PRIx64 ",\n"
		"\t.loaded_bytes = 0x%" PRIx64 ",\n\t.hash = 0x%" PRIx64 "ull,\n"
		"\t.entries = %u,\n\t.functions = %d,\n\t.entry = entries,\n\t.function = functions,\n"
		"\t.margin = margins,\n};\n",
		symbol, symbol, program->first, program->bytes, program->loaded, program->loaded_bytes, program->hash,
		entries, program->functions);
}

bool output_write(const struct program *program, const char *prefix, const char *symbol, int files)
{
	int64_t all = 0, done = 0;
	bool good = true;
	int next = 0;

	for (int i = 0; i < program->functions; i++)
		all += program->function[i].steps;
	for (int i = 0; i < files; i++) {
		char path[512];
		FILE *out;

		snprintf(path, sizeof(path), "%s_%d.c", prefix, i);
		out = fopen(path, "w");
		if (!out) {
			perror(path);
			return false;
		}
		output_head(out, program, symbol);
		for (; next < program->functions && (done * files < all * (i + 1) || i + 1 == files);
		     next++) {
			good &= emit_function(out, program, next);
			done += program->function[next].steps;
		}
		if (!i)
			output_tables(out, program, symbol);
		if (fclose(out)) {
			perror(path);
			return false;
		}
	}
	if (!good)
		fprintf(stderr, "%s: not enough memory\n", prefix);
	return good;
}

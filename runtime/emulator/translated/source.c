// SPDX-License-Identifier: MIT
/* What the compiler gets: the translated code, and one header with all that it includes, which is part of this library. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emulator/cpu/translate/program.h"
#include "emulator/translated/parts.h"
#include "translated_version.h"

__asm__(".pushsection .rodata\n"
	".globl translated_header\n"
	".hidden translated_header\n"
	"translated_header: .incbin \"" TRANSLATED_HEADER "\"\n"
	".byte 0\n"
	".popsection\n");
extern const char translated_header[] __attribute__((visibility("hidden")));

const char *source_version(void)
{
	return TRANSLATED_VERSION;
}

static FILE *create(int folder, const char *name)
{
	int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *stream = file < 0 ? NULL : fdopen(file, "w");

	if (file >= 0 && !stream)
		close(file);
	return stream;
}

static bool finish(FILE *stream)
{
	bool good = !ferror(stream);

	return !fclose(stream) && good;
}

static bool write_header(int folder)
{
	FILE *stream = create(folder, "generated.h");

	if (!stream)
		return false;
	fputs(translated_header, stream);
	return finish(stream);
}

/* Write the code itself and the version of the translator, which library_open() compares. */
static void write_origin(FILE *stream, const uint8_t *code, uint64_t bytes)
{
	fprintf(stream, "const char %s_version[] = \"%s\";\nconst unsigned char %s_code[] = \"", SYMBOL, source_version(), SYMBOL);
	for (uint64_t i = 0; i < bytes; i++)
		fprintf(stream, "\\%03o%s", code[i], i % 64 == 63 ? "\"\n\"" : "");
	fprintf(stream, "\";\nconst unsigned long long %s_bytes = %lluu;\n", SYMBOL, (unsigned long long)bytes);
}

static bool write_unit(int folder, const struct program *program, const uint8_t *code, uint64_t bytes)
{
	FILE *stream = create(folder, "unit.c");
	bool good = true;

	if (!stream)
		return false;
	output_head(stream, program, SYMBOL);
	for (int i = 0; i < program->functions; i++)
		good &= emit_function(stream, program, i);
	output_tables(stream, program, SYMBOL);
	write_origin(stream, code, bytes);
	return finish(stream) && good;
}

bool source_write(int folder, const uint8_t *code, uint64_t bytes)
{
	struct program program;
	bool good;

	if (!program_bare(&program, code, bytes))
		return false;
	good = flow_analyse(&program) && write_header(folder) && write_unit(folder, &program, code, bytes);
	program_fini(&program);
	return good;
}

// SPDX-License-Identifier: MIT
/* rv2c: translate a RISC-V program to C. */
#include <stdlib.h>
#include <string.h>

#include "program.h"

static int usage(FILE *out)
{
	fputs("usage: rv2c [--files N] PROGRAM.elf PREFIX SYMBOL\n"
	      "       rv2c [--files N] --bare CODE.bin PREFIX SYMBOL\n"
	      "Translates the code of PROGRAM to the C files PREFIX_0.c ... PREFIX_<N-1>.c (N is 1 unless "
	      "given),\n"
	      "to be compiled with -fno-strict-aliasing; SYMBOL becomes their struct cpu_translation.\n"
	      "CODE is RV64 code that may be anywhere in memory.\n",
	      out);
	return out == stdout ? 0 : 2;
}

static bool load_bare(struct program *program, const char *path)
{
	static uint8_t code[1u << 20];
	FILE *file = fopen(path, "rb");
	size_t bytes;

	if (!file) {
		perror(path);
		return false;
	}
	bytes = fread(code, 1, sizeof(code), file);
	fclose(file);
	if (!program_bare(program, code, bytes)) {
		fprintf(stderr, "%s: no code, or too much of it for the translator or its memory\n", path);
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct program program;
	bool good, bare = false;
	int files = 1;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return usage(stdout);
	if (argc > 2 && !strcmp(argv[1], "--files")) {
		files = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc > 1 && !strcmp(argv[1], "--bare")) {
		bare = true;
		argc--;
		argv++;
	}
	if (argc != 4 || files < 1 || files > 64)
		return usage(stderr);
	if (!(bare ? load_bare : program_load)(&program, argv[1]))
		return 1;
	good = flow_analyse(&program) && output_write(&program, argv[2], argv[3], files);
	program_fini(&program);
	return good ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/* tutti translate: fills the cache of translated kernels, so that the first launch on an emulated card is fast. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/elf_check.h"
#include "tool.h"
#include "transport/emulator.h"

static void usage(void)
{
	puts("usage: tutti translate KERNELS.tco ...\n\n"
	     "The emulated card has kernels translated to C and compiled, and keeps the result in the user's cache folder;\n"
	     "until that is done it interprets them. This command does it beforehand, for this user and this machine's C\n"
	     "compiler. `tutti info` names the folder.\n\n"
	     "environment: TUTTI_HOST_CC names the compiler; default: the first of cc, gcc and clang");
}

static const char *reason(int error)
{
	switch (error) {
	case -ENOENT:
		return "there is no C compiler (cc, gcc or clang)";
	case -EACCES:
		return "there is no cache folder that belongs to this user alone";
	case -ENOEXEC:
		return "it cannot be translated, or the compiler has failed";
	case -ENODEV:
		return "the emulated card is not installed";
	}
	return strerror(-error);
}

static int translate_object(const char *path, const uint8_t *file, size_t bytes)
{
	struct elf_object elf;
	const char *message = "no memory";
	int error = elf_open(&elf, file, bytes, TUTTI_CONTRACT_VERSION, &message);

	if (error) {
		fprintf(stderr, "tutti translate: %s: %s\n", path, message);
		return error;
	}
	for (unsigned s = 0; s < elf.segments && !error; s++)
		if (elf.segment[s].flags & PF_X)
			error = emulator_translate(file + elf.segment[s].offset, elf.segment[s].file_bytes);
	elf_close(&elf);
	if (error)
		fprintf(stderr, "tutti translate: %s: %s\n", path, reason(error));
	return error;
}

static int translate_file(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), error;
	struct stat status;
	void *data = MAP_FAILED;

	if (file >= 0 && !fstat(file, &status) && status.st_size > 0)
		data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (file >= 0)
		close(file);
	if (data == MAP_FAILED) {
		fprintf(stderr, "tutti translate: %s: cannot be read\n", path);
		return -EIO;
	}
	error = translate_object(path, data, (size_t)status.st_size);
	munmap(data, (size_t)status.st_size);
	return error;
}

int command_translate(int argc, char **argv)
{
	int failed = 0;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		usage();
		return EXIT_WORKS;
	}
	if (argc < 2)
		return tool_usage_error("translate", "no code object is given");
	if (argv[1][0] == '-')
		return tool_usage_error("translate", "unknown option %s", argv[1]);
	for (int i = 1; i < argc; i++)
		failed |= translate_file(argv[i]);
	return failed ? EXIT_FAILS : EXIT_WORKS;
}

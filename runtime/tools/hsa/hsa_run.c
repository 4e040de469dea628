/* SPDX-License-Identifier: MIT */
/* tutti hsa-run: a program that was written for HSA, with Tutti's HSA runtime in place of any other. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#define LIBRARY "libhsa-runtime64.so.1"

static void usage(void)
{
	puts("usage: tutti hsa-run PROGRAM [ARGUMENT...]\n\n"
	     "Runs a program that uses the HSA runtime (" LIBRARY ") on a Tutti card. It puts the folder\n"
	     "of Tutti's library in front of LD_LIBRARY_PATH.");
}

/* The folder of the library: beside this program in the build tree, or where it is installed. NULL if it is nowhere. */
static const char *library_folder(void)
{
	static const char *const places[] = {"hsa", "../lib/tutti/hsa", TUTTI_LIBDIR "/tutti/hsa"};
	static char folder[4096];

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const char *place = *places[i] == '/' ? places[i] : tool_sibling(places[i]);
		char library[sizeof(folder) + sizeof(LIBRARY) + 1];

		snprintf(folder, sizeof(folder), "%s", place);
		snprintf(library, sizeof(library), "%s/" LIBRARY, folder);
		if (!access(library, R_OK))
			return folder;
	}
	return NULL;
}

static int set_path(const char *folder)
{
	const char *old = getenv("LD_LIBRARY_PATH");
	char *path;
	int result;

	if (asprintf(&path, "%s%s%s", folder, old && *old ? ":" : "", old ? old : "") < 0)
		return -1;
	result = setenv("LD_LIBRARY_PATH", path, 1);
	free(path);
	return result;
}

int command_hsa_run(int argc, char **argv)
{
	const char *folder;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		usage();
		return EXIT_WORKS;
	}
	if (argc < 2)
		return tool_usage_error("hsa-run", "no program");
	folder = library_folder();
	if (!folder) {
		fprintf(stderr, "tutti hsa-run: " LIBRARY " is not installed\n");
		return EXIT_FAILS;
	}
	if (!set_path(folder))
		execvp(argv[1], argv + 1);
	fprintf(stderr, "tutti hsa-run: %s: %s\n", argv[1], strerror(errno));
	return EXIT_FAILS;
}

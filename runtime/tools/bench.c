/* SPDX-License-Identifier: MIT */
/* tutti bench: a program of its own, tutti-bench, because it reads the insides of the emulated card. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "live/choice.h"
#include "tool.h"

static char name[] = "tutti bench"; /* as getopt's messages are to call it */

int command_bench(int argc, char **argv)
{
	char beside[PATH_MAX];

	int status = device_option(&argc, argv, 1, argc);

	if (status)
		return status;
	argv[0] = name;
	snprintf(beside, sizeof(beside), "%s", tool_sibling("tutti-bench"));
	execv(beside, argv);
	execv(TUTTI_LIBEXECDIR "/tutti/tutti-bench", argv);
	fprintf(stderr,
		"tutti bench: the benchmarks are not installed: tutti-bench is neither beside this program "
		"nor in %s\n",
		TUTTI_LIBEXECDIR "/tutti");
	return EXIT_FAILS;
}

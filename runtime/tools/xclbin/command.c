// SPDX-License-Identifier: MIT
/* tutti xclbin: files that tell Xilinx XRT about the card. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "tool.h"
#include "xclbin.h"

#define MEMORY_MIB_DEFAULT 16384u
#define MEMORY_MIB_MAX	   (1u << 20)

static int report(const char *path, int error)
{
	if (!error)
		return EXIT_WORKS;
	fprintf(stderr, "tutti xclbin: %s: %s\n", path, error == -EINVAL ? "not an xclbin of version 2" : strerror(-error));
	return EXIT_FAILS;
}

struct wanted {
	const char *what, *file;
	uint64_t mib;
};

static const struct argp_option options[] = {
    {"memory", 'm', "MIB", 0, "write: size of the card's bank (16384)", 0},
    {0},
};

static int take(int key, char *value, void *to)
{
	struct wanted *wanted = to;

	if (key == 'm')
		return number_read(value, MEMORY_MIB_MAX, &wanted->mib) && wanted->mib ? 0 : -EINVAL;
	if (wanted->file || (!wanted->what && strcmp(value, "show") && strcmp(value, "write")))
		return -EINVAL;
	*(wanted->what ? &wanted->file : &wanted->what) = value;
	return 0;
}

int command_xclbin(int argc, char **argv)
{
	static const struct tool_command command = {
	    .name = "xclbin",
	    .arguments = "show FILE\nwrite FILE",
	    .about = "show: prints the kernels and memory banks of an xclbin, and whether it holds a Tutti card.\n"
		     "write: makes an xclbin without a bitstream, which XRT's emulations (XCL_EMULATION_MODE) load.",
	    .options = options,
	    .take = take,
	};
	struct wanted wanted = {.mib = MEMORY_MIB_DEFAULT};

	tool_options(&command, argc, argv, &wanted);
	if (!wanted.file)
		return tool_usage_error("xclbin", "one of show and write, and a file");
	return report(wanted.file, !strcmp(wanted.what, "show") ? xclbin_show(wanted.file)
								 : xclbin_write(wanted.file, wanted.mib << 20));
}

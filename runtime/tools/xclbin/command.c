// SPDX-License-Identifier: MIT
/* tutti xclbin: files that tell Xilinx XRT about the card. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"
#include "xclbin.h"

#define MEMORY_MIB_DEFAULT 16384u
#define MEMORY_MIB_MAX	   (1u << 20)

static const char usage[] =
    "usage: tutti xclbin show FILE\n"
    "       tutti xclbin write [--memory MIB] FILE\n\n"
    "show   prints the kernels and memory banks of an xclbin, and whether it holds a Tutti card\n"
    "write  makes an xclbin without a bitstream, which XRT's emulations (XCL_EMULATION_MODE) load\n\n"
    "  --memory MIB  size of the card's bank, default 16384\n";

static int report(const char *path, int error)
{
	if (!error)
		return EXIT_WORKS;
	fprintf(stderr, "tutti xclbin: %s: %s\n", path, error == -EINVAL ? "not an xclbin of version 2" : tutti_strerror(error));
	return EXIT_FAILS;
}

int command_xclbin(int argc, char **argv)
{
	static const struct option options[] = {{"memory", required_argument, NULL, 'm'}, {"help", no_argument, NULL, 'h'}, {0}};
	uint64_t mib = MEMORY_MIB_DEFAULT;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return EXIT_WORKS;
		}
		if (option != 'm')
			return tool_usage_error("xclbin", "wrong option");
		if (!number_read(optarg, MEMORY_MIB_MAX, &mib) || !mib)
			return tool_usage_error("xclbin", "--memory %s is not a number of MiB from 1 to %u", optarg, MEMORY_MIB_MAX);
	}
	if (argc - optind != 2)
		return tool_usage_error("xclbin", "one of show and write, and a file");
	if (!strcmp(argv[optind], "show"))
		return report(argv[optind + 1], xclbin_show(argv[optind + 1]));
	if (!strcmp(argv[optind], "write"))
		return report(argv[optind + 1], xclbin_write(argv[optind + 1], mib << 20));
	return tool_usage_error("xclbin", "no command \"%s\"", argv[optind]);
}

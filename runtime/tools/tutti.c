/* SPDX-License-Identifier: MIT */
/* The command `tutti SUBCOMMAND`. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "live/choice.h"
#include "tool.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *text;
} commands[] = {
	{ "info", command_info, "what the card is: versions, topology, memory, counters" },
	{ "run", command_run, "run a kernel of a code object, or an example" },
	{ "validate", command_validate, "check that everything works on this machine, one line per check" },
	{ "dump", command_dump, "read a device core dump" },
	{ "calibrate", command_calibrate, "measure the weights of policies that save energy" },
	{ "trace", command_trace, "where CTAs were placed and when they ran, as pictures" },
	{ "top", command_top, "what the card does now: kernels a second, SMs, processes" },
	{ "reset", command_reset, "reset a card that hangs" },
	{ "hsa-run", command_hsa_run, "run a program written for HSA on the card" },
	{ "translate", command_translate, "translate kernels now, so that the emulated card need not" },
	{ "bench", command_bench, "run the benchmarks; table and JSON" },
	{ "xclbin", command_xclbin, "files that tell Xilinx XRT about the card" },
};

static void usage(FILE *file)
{
	fprintf(file, "usage: tutti [-d DEVICE] COMMAND [options]\n\n");
	for (size_t c = 0; c < sizeof(commands) / sizeof(*commands); c++)
		fprintf(file, "  %-10s %s\n", commands[c].name, commands[c].text);
	fprintf(file, "\n`tutti COMMAND --help` lists the options of a command; all take this one:\n\n"
		"  -d DEVICE  the card: its number, its PCI address (0000:03:00.0), its device file, or emulator, drm, xrt;\n"
		"             default: TUTTI_DEVICE, else the first card, else the emulated one\n\n"
		"exit status: 0 success, 1 failure, 2 wrong usage\n"
		"environment: TUTTI_DEVICE (emulator, drm), TUTTI_FIRMWARE, TUTTI_TOPOLOGY, TUTTI_INJECT\n");
}

static int run_command(int argc, char **argv)
{
	for (size_t c = 0; c < sizeof(commands) / sizeof(*commands); c++)
		if (!strcmp(argv[1], commands[c].name))
			return commands[c].run(argc - 1, argv + 1);
	fprintf(stderr, "tutti: no command \"%s\"; try --help\n", argv[1]);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	while (argc > 2 && (!strncmp(argv[1], "-d", 2) || !strncmp(argv[1], "--device", 8))) {
		int before = argc, status = device_option(&argc, argv, 1, 2);

		if (status)
			return status;
		if (argc == before)
			break; /* it only begins like that option */
	}
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(argc < 2 ? stderr : stdout);
		return argc < 2 ? EXIT_USAGE : EXIT_WORKS;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("tutti %u.%u\n", TUTTI_VERSION_MAJOR(tutti_version()), TUTTI_VERSION_MINOR(tutti_version()));
		return EXIT_WORKS;
	}
	return run_command(argc, argv);
}

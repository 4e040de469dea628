/* SPDX-License-Identifier: MIT */
/* tutti calibrate: weights of the policies that go by energy. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "tutti/policy.h"

static void usage(void)
{
	puts("usage: tutti calibrate [--input FILE | --jobs N] [--output FILE]\n\n"
	     "Measures the energy of instructions and resources, on one SM with the others off, and\n"
	     "sets the weights of the policies that choose SMs by energy. The card has to be idle.\n\n"
	     "  --jobs N       jobs of each kind (16)\n"
	     "  --input FILE   read the weights from a file, on cards without energy counters\n"
	     "  --output FILE  write the weights to a file instead of the screen");
}

static int read_file(const char *name, struct tutti_weights *weights)
{
	FILE *file = fopen(name, "r");
	int error = file ? tutti_weights_read(weights, file) : -errno;

	if (file)
		fclose(file);
	if (error)
		fprintf(stderr, "tutti calibrate: %s: %s\n", name, error == -EINVAL ? "no file of weights" : tutti_strerror(error));
	return error;
}

static int write_file(const char *name, const struct tutti_weights *weights)
{
	FILE *file = name ? fopen(name, "w") : stdout;
	int error = file ? tutti_weights_write(weights, file) : -errno;

	if (file && name && fclose(file) && !error)
		error = -errno;
	if (error)
		fprintf(stderr, "tutti calibrate: %s: %s\n", name, tutti_strerror(error));
	return error;
}

static int measure(struct tutti_device *device, unsigned jobs, struct tutti_weights *weights)
{
	struct tutti_executable *executable = tool_load(device);
	int error = executable ? tutti_calibrate(device, executable, jobs, weights) : -ENOEXEC;

	if (executable)
		tutti_executable_destroy(executable);
	if (error == -ENOTSUP)
		fprintf(stderr, "tutti calibrate: this card has no energy counters; --input takes weights from a file\n");
	else if (error)
		fprintf(stderr, "tutti calibrate: %s\n", tutti_strerror(error));
	return error;
}

int command_calibrate(int argc, char **argv)
{
	static const struct option options[] = {
		{ "input", required_argument, NULL, 'i' }, { "output", required_argument, NULL, 'o' },
		{ "jobs", required_argument, NULL, 'j' },  { "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	const char *input = NULL, *output = NULL;
	struct tutti_weights weights;
	struct tutti_device *device;
	uint64_t jobs = 16;
	int option, error;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'i')
			input = optarg;
		if (option == 'o')
			output = optarg;
		if (option == 'j')
			jobs = number_read(optarg, 100000, &jobs) ? jobs : 0;
		if (option == 'h') {
			usage();
			return EXIT_WORKS;
		}
		if (option == '?')
			return EXIT_USAGE;
	}
	if (optind < argc || !jobs || jobs > 100000)
		return tool_usage_error("calibrate", optind < argc ? "what is \"%s\"?" : "1 .. 100000 jobs", argv[optind]);
	device = tool_open(NULL);
	if (!device)
		return EXIT_FAILS;
	error = input ? read_file(input, &weights) : measure(device, (unsigned)jobs, &weights);
	if (!error)
		error = tutti_weights_apply(device, &weights);
	if (!error)
		error = write_file(output, &weights);
	tutti_device_close(device);
	return error ? EXIT_FAILS : EXIT_WORKS;
}

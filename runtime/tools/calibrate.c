/* SPDX-License-Identifier: MIT */
/* tutti calibrate: weights of the policies that go by energy. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "tool.h"
#include "tutti/policy.h"

static int read_file(const char *name, struct tutti_weights *weights)
{
	FILE *file = fopen(name, "r");
	int error = file ? tutti_weights_read(weights, file) : -errno;

	if (file)
		fclose(file);
	if (error)
		fprintf(stderr, "tutti calibrate: %s: %s\n", name, error == -EINVAL ? "no file of weights" : strerror(-error));
	return error;
}

static int write_file(const char *name, const struct tutti_weights *weights)
{
	FILE *file = name ? fopen(name, "w") : stdout;
	int error = file ? tutti_weights_write(weights, file) : -errno;

	if (file && name && fclose(file) && !error)
		error = -errno;
	if (error)
		fprintf(stderr, "tutti calibrate: %s: %s\n", name, strerror(-error));
	return error;
}

/* Behind the driver SMs that are off stay so when the program ends, so it does not end before they are on again. */
static int calibrate(struct tutti_device *device, struct tutti_executable *executable, unsigned jobs,
		     struct tutti_weights *weights)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	sigset_t late, before;
	int error;

	sigemptyset(&late);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&late, signals[i]);
	sigprocmask(SIG_BLOCK, &late, &before);
	error = tutti_calibrate(device, executable, jobs, weights);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return error;
}

static int measure(struct tutti_device *device, unsigned jobs, struct tutti_weights *weights)
{
	struct tutti_executable *executable = tool_load(device);
	int error = executable ? calibrate(device, executable, jobs, weights) : -ENOEXEC;

	if (executable)
		tutti_executable_destroy(executable);
	if (error == -ENOTSUP)
		fprintf(stderr, "tutti calibrate: this card has no energy counters; --input takes weights from a file\n");
	else if (error)
		fprintf(stderr, "tutti calibrate: %s\n", tutti_strerror(error));
	return error;
}

struct wanted {
	const char *input, *output;
	uint64_t jobs;
};

static const struct argp_option options[] = {
	{ "jobs", 'j', "N", 0, "jobs of each kind, 1 to 100000 (16)", 0 },
	{ "input", 'i', "FILE", 0, "read the weights from a file, on cards without energy counters", 0 },
	{ "output", 'o', "FILE", 0, "write the weights to a file instead of the screen", 0 },
	{ 0 },
};

static int take(int key, char *value, void *to)
{
	struct wanted *wanted = to;

	if (key == 'i')
		wanted->input = value;
	if (key == 'o')
		wanted->output = value;
	if (key == 'j' && (!number_read(value, 100000, &wanted->jobs) || !wanted->jobs))
		return -EINVAL;
	return key == ARGP_KEY_ARG ? -EINVAL : 0;
}

int command_calibrate(int argc, char **argv)
{
	static const struct tool_command command = { .name = "calibrate", .options = options, .take = take, .about =
		"Measures the energy of instructions and resources, on one SM with the others off, and sets the weights of the "
		"policies that choose SMs by energy. The card has to be idle." };
	struct wanted wanted = { .jobs = 16 };
	struct tutti_weights weights;
	struct tutti_device *device;
	int error;

	tool_options(&command, argc, argv, &wanted);
	device = tool_open(NULL);
	if (!device)
		return EXIT_FAILS;
	error = wanted.input ? read_file(wanted.input, &weights) : measure(device, (unsigned)wanted.jobs, &weights);
	if (!error)
		error = tutti_weights_apply(device, &weights);
	if (!error)
		error = write_file(wanted.output, &weights);
	tutti_device_close(device);
	return error ? EXIT_FAILS : EXIT_WORKS;
}

/* SPDX-License-Identifier: MIT */
/* tutti run: one kernel of a code object with simple arguments, or an example. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argument.h"
#include "options.h"
#include "tool.h"

struct settings {
	uint32_t grid[3];
	uint16_t workgroup[3];
	uint32_t dynamic_bytes;
	unsigned repeat;
	unsigned print;
	double timeout;
	bool list;
	const char *file, *kernel;
	struct arguments arguments;
};

static bool parse_sizes(const char *text, uint32_t sizes[3])
{
	for (unsigned d = 0; d < 3; d++) {
		size_t length = strcspn(text, ",");
		uint64_t size;
		char one[24];

		if (length >= sizeof(one))
			return false;
		memcpy(one, text, length);
		one[length] = 0;
		if (!number_read(one, UINT32_MAX, &size) || !size)
			return false;
		sizes[d] = (uint32_t)size;
		text += length;
		if (!*text++)
			return true;
	}
	return false;
}

static bool parse_workgroup(const char *text, uint16_t workgroup[3])
{
	uint32_t sizes[3] = { 1, 1, 1 };

	if (!parse_sizes(text, sizes) || sizes[0] > UINT16_MAX || sizes[1] > UINT16_MAX || sizes[2] > UINT16_MAX)
		return false;
	for (unsigned d = 0; d < 3; d++)
		workgroup[d] = (uint16_t)sizes[d];
	return true;
}

static int list_one(const char *name, const struct tutti_kernel *kernel, void *context)
{
	const struct tutti_kernel_descriptor *kd = kernel->descriptor;

	printf("%-24s arguments %u bytes, shared %u bytes, private %u bytes, barriers %u", name, kernel->kernarg_bytes,
	       kernel->group_bytes, kernel->private_bytes, kd->barriers);
	if (kd->workgroup[0])
		printf(", workgroup %u x %u x %u", kd->workgroup[0], kd->workgroup[1], kd->workgroup[2]);
	printf("\n");
	return 0;
}

static void print_buffers(const struct arguments *arguments, unsigned count)
{
	for (unsigned a = 0; a < arguments->count; a++)
		if (arguments->item[a].buffer)
			argument_print(&arguments->item[a], a, count);
}

static int launch(struct tutti_queue *queue, const struct settings *settings, const struct tutti_kernel *kernel,
		  const struct arguments *arguments)
{
	struct tutti_device *device = tutti_queue_device(queue);
	struct tutti_launch launch = {
		.kernel = kernel,
		.dynamic_group_bytes = settings->dynamic_bytes,
		.kernarg = arguments->kernarg,
		.barrier = true,
		.acquire = TUTTI_SCOPE_SYSTEM,
		.release = TUTTI_SCOPE_SYSTEM,
	};
	struct tutti_fault fault = { 0 };
	int refused, error = tutti_signal_create(device, settings->repeat, &launch.signal);

	if (error)
		return error;
	memcpy(launch.grid, settings->grid, sizeof(launch.grid));
	memcpy(launch.workgroup, settings->workgroup, sizeof(launch.workgroup));
	if (!launch.workgroup[0])
		memcpy(launch.workgroup, kernel->descriptor->workgroup, sizeof(launch.workgroup));
	if (!launch.workgroup[0])
		launch.workgroup[0] = 64;
	refused = tutti_launch_check(device, &launch);
	for (unsigned r = 0; r < settings->repeat && !error; r++)
		error = tutti_dispatch(queue, &launch);
	if (!error)
		error = tool_wait(queue, launch.signal, settings->timeout, &fault);
	else
		tutti_queue_error(queue, &fault); /* which may have stopped before the last launch */
	if (fault.code)
		tool_fault_print(queue, &fault);
	else if (error)
		fprintf(stderr, "tutti run: %s\n",
			error == -ETIMEDOUT ? "not done in time (--timeout)" : tutti_strerror(refused > 0 ? refused : error));
	tutti_signal_destroy(device, launch.signal);
	return error;
}

static int run_kernel(struct tutti_device *device, const struct settings *settings, const struct tutti_kernel *kernel,
		      struct arguments *arguments)
{
	struct tutti_queue *queue;
	int error = arguments_place(arguments, device, kernel->kernarg_bytes);

	if (error) {
		fprintf(stderr, "tutti run: arguments: %s\n", tutti_strerror(error));
		return error;
	}
	if (arguments->bytes != kernel->kernarg_bytes)
		fprintf(stderr, "tutti run: warning: %u bytes of arguments given, the kernel takes %u\n",
			arguments->bytes, kernel->kernarg_bytes);
	error = tutti_queue_create(device, NULL, &queue);
	if (error) {
		fprintf(stderr, "tutti run: queue: %s\n", tutti_strerror(error));
		return error;
	}
	error = launch(queue, settings, kernel, arguments);
	tutti_device_flush_print(device);
	if (!error)
		print_buffers(arguments, settings->print);
	tutti_queue_destroy(queue);
	return error;
}

static int run_file(const char *file, const char *name, const struct settings *settings, struct arguments *arguments)
{
	struct tutti_device *device = tool_open(NULL);
	struct tutti_executable *executable;
	struct tutti_kernel kernel;
	const char *message = NULL;
	int error;

	if (!device)
		return EXIT_FAILS;
	error = tutti_executable_load_file(device, file, &executable, &message);
	if (error) {
		fprintf(stderr, "tutti run: %s: %s\n", file, message ? message : tutti_strerror(error));
		tutti_device_close(device);
		return EXIT_FAILS;
	}
	if (settings->list)
		error = tutti_executable_iterate(executable, list_one, NULL);
	else if ((error = tutti_executable_kernel(executable, name, &kernel)))
		fprintf(stderr, "tutti run: %s has no kernel %s; see --list\n", file, name);
	else
		error = run_kernel(device, settings, &kernel, arguments);
	arguments_fini(arguments, device);
	tutti_executable_destroy(executable);
	tutti_device_close(device);
	return error ? EXIT_FAILS : EXIT_WORKS;
}

static int parse_number(const char *text, uint32_t least, uint32_t *number)
{
	uint64_t wide;

	if (!number_read(text, UINT32_MAX, &wide) || wide < least)
		return -EINVAL;
	*number = (uint32_t)wide;
	return 0;
}

static const struct argp_option options[] = {
	{ "grid", 'g', "X[,Y[,Z]]", 0, "work-items of the grid (1)", 0 },
	{ "workgroup", 'w', "X[,Y[,Z]]", 0, "work-items of a workgroup (what the kernel requires, else 64)", 0 },
	{ "arg", 'a', "ARGUMENT", 0, "the next argument of the kernel: see below", 0 },
	{ "shared", 's', "BYTES", 0, "shared memory beyond what the kernel declares", 0 },
	{ "repeat", 'r', "N", 0, "launch N times", 0 },
	{ "print", 'p', "N", 0, "values shown of each buffer afterwards (8)", 0 },
	{ "timeout", 't', "SECONDS", 0, "give up after this long (60)", 0 },
	{ "list", 'l', NULL, 0, "kernels of the file, and what they need", 0 },
	{ 0 },
};

static int take_word(char *word, struct settings *settings)
{
	if (settings->kernel)
		return -EINVAL;
	*(settings->file ? &settings->kernel : &settings->file) = word;
	return 0;
}

static int take(int key, char *value, void *to)
{
	struct settings *settings = to;

	switch (key) {
	case ARGP_KEY_ARG:
		return take_word(value, settings);
	case 'g':
		return parse_sizes(value, settings->grid) ? 0 : -EINVAL;
	case 'w':
		return parse_workgroup(value, settings->workgroup) ? 0 : -EINVAL;
	case 'a':
		return arguments_add(&settings->arguments, value);
	case 's':
		return parse_number(value, 0, &settings->dynamic_bytes);
	case 'r':
		return parse_number(value, 1, &settings->repeat);
	case 'p':
		return parse_number(value, 0, &settings->print);
	case 't':
		return number_read_real(value, 1e-3, 1e9, &settings->timeout) ? 0 : -EINVAL;
	case 'l':
		settings->list = true;
		return 0;
	}
	return -EINVAL;
}

int command_run(int argc, char **argv)
{
	static const struct tool_command command = {
		.name = "run", .options = options, .take = take,
		.arguments = "FILE.tco KERNEL\nFILE.tco --list\nEXAMPLE [its options]",
		.about = "Runs a kernel of a code object, or an example.\v"
			 "An ARGUMENT is TYPE=VALUE, a number; TYPE[COUNT], the address of COUNT zeroes; or TYPE[COUNT]=HOW, the same, filled: "
			 "with a number, iota (0, 1, 2 ...), random or @FILE. TYPE is i8 u8 i16 u16 i32 u32 i64 u64 f32 f64. Arguments follow "
			 "each other as in a C struct.\n\n"
			 "examples: hello, vector_add, matmul, gemm, conv, stencil, gradient, reduce, pipeline, priorities, kripke\n"
			 "example: tutti run scale.tco scale --grid 1000 --arg f32[1000]=iota --arg f32=2.5",
	};
	struct settings settings = { .grid = { 1, 1, 1 }, .repeat = 1, .print = 8, .timeout = 60 };

	/* Examples have options of their own, so they are tried before any option is read. */
	if (argc > 1 && argv[1][0] != '-' && access(argv[1], R_OK))
		tool_run_example(argv[1], argv + 1);
	tool_options(&command, argc, argv, &settings);
	if (!settings.file)
		return tool_usage_error("run", "which file or example?");
	if (access(settings.file, R_OK))
		return tool_usage_error("run", "%s: no such code object or example", settings.file);
	if (settings.list == (settings.kernel != NULL))
		return tool_usage_error("run", "name one kernel (--list shows them)");
	return run_file(settings.file, settings.kernel, &settings, &settings.arguments);
}

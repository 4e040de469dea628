/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tool.h"

/* kernels.tco, embedded in the program so that the tool needs no file beside it. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"tool_kernels:\n"
	".incbin \"" TOOL_KERNELS "\"\n"
	"tool_kernels_end:\n"
	".popsection\n");
extern const unsigned char tool_kernels[] __attribute__((visibility("hidden")));
extern const unsigned char tool_kernels_end[] __attribute__((visibility("hidden")));

struct tutti_device *tool_open(const struct tutti_device_options *options)
{
	struct tutti_device *device;
	int error = tutti_device_open(options, &device);

	if (!error)
		return device;
	fprintf(stderr, "tutti: cannot open the card: %s\n", tutti_strerror(error));
	return NULL;
}

struct tutti_executable *tool_load(struct tutti_device *device)
{
	struct tutti_executable *executable;
	const char *message = NULL;
	int error = tutti_executable_load(device, tool_kernels, (size_t)(tool_kernels_end - tool_kernels), &executable,
					  &message);

	if (!error)
		return executable;
	fprintf(stderr, "tutti: cannot load the tool's kernels: %s\n", message ? message : tutti_strerror(error));
	return NULL;
}

int tool_wait(struct tutti_queue *queue, tutti_signal_t signal, double seconds, struct tutti_fault *fault)
{
	const double end = tool_seconds() + seconds;
	int error;

	do {
		error = tutti_signal_wait(tutti_queue_device(queue), signal, TUTTI_EQ, 0, 20000000, NULL);
	} while (error == -ETIMEDOUT && tool_seconds() < end);
	return error && tutti_queue_error(queue, fault) > 0 ? -EIO : error;
}

void tool_fault_print(struct tutti_queue *queue, const struct tutti_fault *fault)
{
	char text[1024];

	if (tutti_fault_text(queue, fault, text, sizeof(text)) > 0)
		fprintf(stderr, "tutti: queue stopped: %s\n", text);
}

double tool_seconds(void)
{
	return 1e-9 * (double)time_ns();
}

const char *tool_sibling(const char *name)
{
	static char path[PATH_MAX];
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	path[bytes < 0 ? 0 : bytes] = 0;
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash - path) + strlen(name) + 2 > sizeof(path))
		return name;
	strcpy(slash + 1, name);
	return path;
}

void tool_run_example(const char *name, char **argv)
{
	static const char *const folders[] = { "examples/", "../lib/tutti/examples/" };
	char relative[256];

	if (strchr(name, '/') || strlen(name) > 200)
		return;
	for (size_t f = 0; f < sizeof(folders) / sizeof(*folders); f++) {
		snprintf(relative, sizeof(relative), "%s%s", folders[f], name);
		execv(tool_sibling(relative), argv);
	}
}

int tool_usage_error(const char *what, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "tutti %s: ", what);
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "; try --help\n");
	va_end(arguments);
	return EXIT_USAGE;
}

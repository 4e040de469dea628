/* SPDX-License-Identifier: MIT */
/** DOC: What all examples need: find the code object, stop with a clear message */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tutti.h"

/** example_check() - end the program unless @result is 0 or positive. */
static inline void example_check(int result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, tutti_strerror(result));
	exit(1);
}
#define CHECK(call) example_check(call, #call)

/** example_no_arguments() - end the program if there are any: a mistyped option is not to go unnoticed. */
static inline void example_no_arguments(int argc, char **argv)
{
	if (argc < 2)
		return;
	fprintf(strcmp(argv[1], "--help") ? stderr : stdout, "usage: %s (it takes no arguments)\n", argv[0]);
	exit(strcmp(argv[1], "--help") ? 2 : 0);
}

/** example_path() - path of file @name beside the running program. */
static inline const char *example_path(const char *name)
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

/** example_load() - load the code object beside the program. */
static inline struct tutti_executable *example_load(struct tutti_device *device, const char *name)
{
	struct tutti_executable *executable;
	const char *message = NULL;
	int error = tutti_executable_load_file(device, example_path(name), &executable, &message);

	if (!error)
		return executable;
	fprintf(stderr, "%s: %s\n", example_path(name), message ? message : tutti_strerror(error));
	exit(1);
}

/**
 * example_wait() - wait until @signal is 0, or until @queue has stopped.
 * Return: 0, -EIO after a message on stderr, or another negative errno.
 */
static inline int example_wait(struct tutti_queue *queue, tutti_signal_t signal)
{
	struct tutti_fault fault;
	char text[1024];
	int error = tutti_signal_wait(tutti_queue_device(queue), signal, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL);

	if (error && tutti_queue_error(queue, &fault) > 0 && tutti_fault_text(queue, &fault, text, sizeof(text)) > 0)
		fprintf(stderr, "queue stopped: %s\n", text);
	return error;
}

#endif

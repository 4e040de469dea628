/* SPDX-License-Identifier: MIT */
/** DOC: What the subcommands of `tutti` share */
#ifndef TUTTI_TOOL_H
#define TUTTI_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/number.h"
#include "tutti.h"

/* Exit codes, as --help says. */
#define EXIT_WORKS 0
#define EXIT_FAILS 1
#define EXIT_USAGE 2

int command_info(int argc, char **argv);
int command_run(int argc, char **argv);
int command_validate(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_calibrate(int argc, char **argv);
int command_trace(int argc, char **argv);
int command_top(int argc, char **argv);
int command_reset(int argc, char **argv);
int command_xclbin(int argc, char **argv);
int command_translate(int argc, char **argv);
int command_hsa_run(int argc, char **argv);

/** tool_open() - open the default device, or say why not (on stderr) and return NULL. */
struct tutti_device *tool_open(const struct tutti_device_options *options);
/** tool_load() - the kernels of kernels.c, which are part of the tool. NULL after a message. */
struct tutti_executable *tool_load(struct tutti_device *device);
/**
 * tool_wait() - wait until @signal is 0 or @queue has stopped.
 * @fault: if not NULL, gets the fault record when the queue has stopped
 * Return: 0, -EIO (stopped or card dead), -ETIMEDOUT after @seconds.
 */
int tool_wait(struct tutti_queue *queue, tutti_signal_t signal, double seconds, struct tutti_fault *fault);
/** tool_fault_print() - one line on stderr about a fault of @queue. */
void tool_fault_print(struct tutti_queue *queue, const struct tutti_fault *fault);
/** tool_seconds() - monotonic clock. */
double tool_seconds(void);
/** tool_run_example() - become the example @name; returns if there is none. */
void tool_run_example(const char *name, char **argv);
/** tool_sibling() - path of @name relative to the running program's folder; static buffer. */
const char *tool_sibling(const char *name);
/** tool_usage_error() - "tutti WHAT: TEXT; try --help" on stderr; returns EXIT_USAGE. */
int tool_usage_error(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

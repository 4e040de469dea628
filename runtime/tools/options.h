/* SPDX-License-Identifier: MIT */
/** DOC: Options of a command: one table for the parser and for --help, read by glibc's argp */
#ifndef TUTTI_TOOL_OPTIONS_H
#define TUTTI_TOOL_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

/**
 * struct tool_command - what a command takes.
 * @name: as it is typed behind "tutti"
 * @arguments: what stands behind the options, for the help; several forms are separated by newlines; NULL: nothing
 * @about: what it does, behind that; text behind '\v' stands below the options
 * @options: ends with an empty one; --device and --help are added
 * @take: takes option @key with its value, or an argument (ARGP_KEY_ARG). Return: 0; -EINVAL: a bad value, or an argument
 *	too many
 * @address: -d is taken by @take
 * @program: the first argument is a program, and what follows are its arguments: @take gets it with the key
 *	ARGP_KEY_ARGS, and a pointer to the rest of argv in place of its value
 */
struct tool_command {
	const char *name, *arguments, *about;
	const struct argp_option *options;
	int (*take)(int key, char *value, void *to);
	bool address, program;
};

/** tool_options() - read argv[1] and up. It ends the program after --help, and with EXIT_USAGE after a mistake. */
void tool_options(const struct tool_command *command, int argc, char **argv, void *to);

#endif

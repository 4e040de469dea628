/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "live/choice.h"
#include "options.h"
#include "tool.h"

struct parse {
	const struct tool_command *command;
	void *to;
};

#define KEY_USAGE 1

/* The first is left out of the table for commands with an option of that name. */
static const struct argp_option common[] = {
	{ "device", 'd', "DEVICE", 0, "the card: see tutti --help", -1 },
	{ "help", 'h', NULL, 0, "this text", -1 },
	{ "usage", KEY_USAGE, NULL, OPTION_HIDDEN, "", -1 },
	{ 0 },
};

/* The name of option @key as it is typed, for messages. */
static const char *name_of(const struct tool_command *command, int key)
{
	for (const struct argp_option *option = command->options; option->name; option++)
		if (option->key == key)
			return option->name;
	return "?";
}

static error_t take(int key, char *value, struct argp_state *state)
{
	const struct parse *parse = state->input;
	const struct tool_command *command = parse->command;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->input;
		return 0;
	case ARGP_KEY_ARG:
		if (command->program) {
			command->take(ARGP_KEY_ARGS, (char *)(state->argv + state->next - 1), parse->to);
			state->next = state->argc;
		} else if (command->take(ARGP_KEY_ARG, value, parse->to)) {
			argp_error(state, "unexpected argument \"%s\"", value);
		}
		return 0;
	case ARGP_KEY_END: case ARGP_KEY_NO_ARGS: case ARGP_KEY_ARGS: case ARGP_KEY_SUCCESS: case ARGP_KEY_ERROR:
	case ARGP_KEY_FINI:
		return 0;
	}
	if (command->take(key, value, parse->to))
		argp_error(state, "bad value for --%s: %s", name_of(command, key), value);
	return 0;
}

static error_t take_common(int key, char *value, struct argp_state *state)
{
	if (key == 'h')
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	else if (key == KEY_USAGE)
		argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
	else if (key == 'd' && !*value)
		argp_error(state, "a device is wanted");
	else if (key == 'd' && !device_choose(value))
		exit(EXIT_FAILS);
	return key == 'h' || key == KEY_USAGE || key == 'd' ? 0 : ARGP_ERR_UNKNOWN;
}

void tool_options(const struct tool_command *command, int argc, char **argv, void *to)
{
	const struct argp shared = { .options = common + command->address, .parser = take_common };
	const struct argp_child children[] = { { .argp = &shared }, { 0 } };
	const struct argp argp = { command->options, take, command->arguments, command->about, children, NULL, NULL };
	struct parse parse = { command, to };
	char name[64];

	snprintf(name, sizeof(name), "tutti %s", command->name);
	argv[0] = name;
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_NO_HELP | (command->program ? ARGP_IN_ORDER : 0), NULL, &parse);
}

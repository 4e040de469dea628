/* SPDX-License-Identifier: MIT */
/* tutti validate: does everything work here? */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "options.h"
#include "tool.h"

static void report_json(const struct check *check, const char *word, const char *text, double seconds)
{
	json_t *line = json_pack("{ss ss sf ss}", "check", check->name, "result", word, "seconds", seconds, "text", text);

	json_dumpf(line, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(line);
}

static void report(const struct check *check, int result, const struct checker *checker, double seconds, bool json)
{
	const char *word = result > 0 ? "skip" : result ? "FAIL" : "ok";

	if (json)
		report_json(check, word, checker->text, seconds);
	else
		printf("%-4s  %-22s %s%s%s\n", word, check->name, check->text, *checker->text ? ": " : "",
		       checker->text);
	fflush(stdout);
}

/* Number of checks that failed. */
static unsigned run_checks(struct checker *checker, const char *only, bool json)
{
	unsigned failed = 0, run = 0;

	for (const struct check *check = checks; check->name; check++) {
		double start = tool_seconds();
		int result;

		if (only && strcmp(only, check->name))
			continue;
		checker->text[0] = 0;
		result = check->run(checker);
		if (result < 0 && !*checker->text)
			snprintf(checker->text, sizeof(checker->text), "%s", tutti_strerror(result));
		report(check, result, checker, tool_seconds() - start, json);
		failed += result < 0;
		run++;
	}
	if (!json)
		printf("%s: %u of %u checks failed\n", failed ? "does NOT work" : "everything works", failed, run);
	return failed;
}

static bool known(const char *name)
{
	for (const struct check *check = checks; check->name; check++)
		if (!strcmp(name, check->name))
			return true;
	return false;
}

static void list_checks(void)
{
	for (const struct check *check = checks; check->name; check++)
		printf("%-22s %s\n", check->name, check->text);
}

struct wanted {
	bool json, list;
	const char *only;
};

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "one JSON object a line", 0 },
	{ "only", 'o', "NAME", 0, "run this check alone", 0 },
	{ "list", 'l', NULL, 0, "names of the checks", 0 },
	{ 0 },
};

static int take(int key, char *value, void *to)
{
	struct wanted *wanted = to;

	wanted->json |= key == 'j';
	wanted->list |= key == 'l';
	if (key == 'o')
		wanted->only = value;
	return key == ARGP_KEY_ARG || (key == 'o' && !known(value)) ? -EINVAL : 0;
}

int command_validate(int argc, char **argv)
{
	static const struct tool_command command = { .name = "validate", .options = options, .take = take, .about =
		"Runs every check and prints one line for each; exit status 1 if one fails." };
	struct checker checker = { 0 };
	struct wanted wanted = { 0 };
	unsigned failed;
	double start;

	tool_options(&command, argc, argv, &wanted);
	if (wanted.list) {
		list_checks();
		return EXIT_WORKS;
	}
	start = tool_seconds();
	checker.device = tool_open(NULL);
	if (!checker.device)
		return EXIT_FAILS;
	checker.boot_seconds = tool_seconds() - start;
	checker.executable = tool_load(checker.device);
	failed = checker.executable ? run_checks(&checker, wanted.only, wanted.json) : 1;
	if (checker.executable)
		tutti_executable_destroy(checker.executable);
	tutti_device_close(checker.device);
	return failed ? EXIT_FAILS : EXIT_WORKS;
}

/* SPDX-License-Identifier: MIT */
/* tutti validate: does everything work here? */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tool.h"

static void usage(void)
{
	puts("usage: tutti validate [--json] [--only NAME] [--list]\n\n"
	     "Runs every check and prints one line for each; exit status 1 if one fails.\n\n"
	     "  --json       one JSON object a line\n"
	     "  --only NAME  run this check alone\n"
	     "  --list       names of the checks");
}

static void report(const struct check *check, int result, const struct checker *checker, double seconds, bool json)
{
	const char *word = result > 0 ? "skip" : result ? "FAIL" : "ok";

	if (json)
		printf("{\"check\":\"%s\",\"result\":\"%s\",\"seconds\":%.6f,\"text\":\"%s\"}\n", check->name, word,
		       seconds, checker->text);
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

int command_validate(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' }, { "only", required_argument, NULL, 'o' },
		{ "list", no_argument, NULL, 'l' }, { "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	struct checker checker = { 0 };
	const char *only = NULL;
	bool json = false;
	unsigned failed;
	double start;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		json |= option == 'j';
		if (option == 'o')
			only = optarg;
		if (option == 'h') {
			usage();
			return EXIT_WORKS;
		}
		if (option == '?')
			return EXIT_USAGE;
		for (const struct check *check = checks; option == 'l' && check->name; check++)
			printf("%-22s %s\n", check->name, check->text);
		if (option == 'l')
			return EXIT_WORKS;
	}
	if (optind < argc || (only && !known(only)))
		return tool_usage_error("validate", "no check \"%s\" (--list shows them)", only ? only : argv[optind]);
	start = tool_seconds();
	checker.device = tool_open(NULL);
	if (!checker.device)
		return EXIT_FAILS;
	checker.boot_seconds = tool_seconds() - start;
	checker.executable = tool_load(checker.device);
	failed = checker.executable ? run_checks(&checker, only, json) : 1;
	if (checker.executable)
		tutti_executable_destroy(checker.executable);
	tutti_device_close(checker.device);
	return failed ? EXIT_FAILS : EXIT_WORKS;
}

/* SPDX-License-Identifier: MIT */
/** DOC: Tables of errors: what each call should return, and a list of what has been tried, for hsa.sh */
#ifndef HSA_TEST_ERRORS_H
#define HSA_TEST_ERRORS_H

#include "hsa_test.h"

static FILE *list;
static unsigned wrong;

static void compare(const char *function, const char *status, const char *arguments, uint32_t expected, uint32_t got)
{
	if (list)
		fprintf(list, "%s HSA_STATUS_%s\n", function, status);
	if (got == expected)
		return;
	print_error("%s%s: 0x%x instead of HSA_STATUS_%s\n", function, arguments, got, status);
	wrong++;
}

/* One line for each case: the function, its status, and the arguments in parentheses. */
#define E(function, status, arguments) \
	compare(#function, #status, #arguments, HSA_STATUS_##status, (uint32_t)(function arguments))
/* The same for each number that is no handle of the type; @bad stands for it. */
#define EACH(type, function, status, arguments)                 \
	for (unsigned i_ = 0; i_ < BAD_HANDLES; i_++) {         \
		type bad = BAD(type, i_);                       \
		E(function, status, arguments);                 \
	}

static int end(void)
{
	unsigned count = wrong;

	wrong = 0;
	return (int)count;
}

/* errors_run() - run the tests of a program; HSA_ERRORS_LIST names the file to which it adds what it has tried. */
#define errors_run(tests)                                                                           \
	(list = getenv("HSA_ERRORS_LIST") ? fopen(getenv("HSA_ERRORS_LIST"), "a") : NULL,           \
	 cmocka_run_group_tests(tests, found_all, found_done))

#endif

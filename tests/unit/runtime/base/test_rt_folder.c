/* SPDX-License-Identifier: MIT */
/* The folder of a program that contains the library: firmware and plug-in are looked for there (SYS-59). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/folder.h"

/* The folder does not depend on the working directory and does not end with a slash. */
static void own(void **state)
{
	char program[PATH_MAX], folder[PATH_MAX], start[PATH_MAX], whole[2 * PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	assert_true(n > 0);
	program[n] = 0;
	assert_non_null(getcwd(start, sizeof(start)));
	for (unsigned i = 0; i < 2; i++) {
		memset(folder, '~', sizeof(folder));
		assert_true(own_folder(folder));
		snprintf(whole, sizeof(whole), "%s/test_rt_folder", folder);
		assert_string_equal(whole, program);
		assert_int_equal(chdir(i ? start : "/"), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(own)};

	return cmocka_run_group_tests_name("SYS-59 the folder of a program", tests, NULL, NULL);
}

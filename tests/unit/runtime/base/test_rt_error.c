/* SPDX-License-Identifier: MIT */
/* What the errors of functions and queues are called (SYS-58). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tutti.h"

/* The words that the operating system has for these are about files, disks, networks and programs. */
static void words_of_our_own(void **state)
{
	static const int errors[] = {ENOENT, EIO, E2BIG, ENOEXEC, ENOLINK, ENOSPC, EPIPE, EPROTO, ETIMEDOUT};
	static const char *const wrong[] = {"file", "directory", "device", "output",   "list",
					    "Exec", "Link",	 "pipe",   "Protocol", "onnection"};

	for (unsigned i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		const char *text = tutti_strerror(-errors[i]);

		assert_string_not_equal(text, strerror(errors[i]));
		for (unsigned w = 0; w < sizeof(wrong) / sizeof(*wrong); w++)
			assert_null(strstr(text, wrong[w]));
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(text, tutti_strerror(-errors[k]));
	}
	assert_non_null(strstr(tutti_strerror(-ENOSPC), "card"));
}

static void words_of_the_system(void **state)
{
	static const int errors[] = {EINVAL, ENOMEM, EBUSY, EACCES, EAGAIN, EBADF, ENODEV, ENOTSUP};

	for (unsigned i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		assert_string_equal(tutti_strerror(-errors[i]), strerror(errors[i]));
	assert_string_equal(tutti_strerror(0), "success");
}

/* Each code of a queue has a text of its own, and what is no code has one, too. */
static void codes_of_queues(void **state)
{
	for (int i = 1; i <= (int)TUTTI_ERROR_MEMORY; i++) {
		assert_string_not_equal(tutti_strerror(i), tutti_strerror(12345));
		for (int k = 1; k < i; k++)
			assert_string_not_equal(tutti_strerror(i), tutti_strerror(k));
	}
	assert_string_equal(tutti_strerror(TUTTI_ERROR_MEMORY + 1), tutti_strerror(12345));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(words_of_our_own), cmocka_unit_test(words_of_the_system),
					   cmocka_unit_test(codes_of_queues)};

	return cmocka_run_group_tests_name("SYS-58 texts of errors", tests, NULL, NULL);
}

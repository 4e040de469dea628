/* SPDX-License-Identifier: MIT */
/* What the errors of functions and queues are called (SYS-58). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
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

static char heard[600];
static unsigned times;

static void hear(const char *line)
{
	snprintf(heard, sizeof(heard), "%s", line);
	times++;
}

/* Messages go to the program while it wants them, and otherwise to stderr. */
static void messages(void **state)
{
	struct tutti_device_options options = {.name = "teapot"};
	struct tutti_device *device;
	char printed[200] = "";
	int keep = dup(2), out[2];

	assert_int_equal(pipe(out), 0);
	dup2(out[1], 2);
	tutti_message_handler(hear);
	assert_int_equal(tutti_device_open(&options, &device), -ENODEV);
	tutti_message_handler(NULL);
	assert_int_equal(tutti_device_open(&options, &device), -ENODEV);
	dup2(keep, 2);
	close(out[1]);
	assert_true(read(out[0], printed, sizeof(printed) - 1) > 0);
	assert_int_equal(times, 1);
	assert_non_null(strstr(heard, "teapot"));
	assert_null(strchr(heard, '\n'));
	/* the second time, and nothing else */
	assert_int_equal(strncmp(printed, "tutti: ", 7), 0);
	assert_int_equal(strlen(printed), 7 + strlen(heard) + 1);
	assert_int_equal(strncmp(printed + 7, heard, strlen(heard)), 0);
	close(out[0]);
	close(keep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(words_of_our_own), cmocka_unit_test(words_of_the_system),
					   cmocka_unit_test(codes_of_queues), cmocka_unit_test(messages)};

	return cmocka_run_group_tests_name("SYS-58 texts of errors", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Numbers in texts of users. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/number.h"

static void numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t number;
	} good[] = { { "0", 0 }, { "7", 7 }, { "010", 10 }, { "0x10", 16 }, { "0XfF", 255 }, { "18446744073709551615", UINT64_MAX } };
	static const char *const bad[] = { "", " 1", "1 ", "+1", "-1", "-0", "0x", "0x-1", "0x 1", "0x0x1", "1x", "x", "1.0", "1e3", "1K",
					   "18446744073709551616", "0x10000000000000000", "nan" };
	uint64_t number;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		number = 99;
		assert_true(number_read(good[i].text, UINT64_MAX, &number));
		assert_true(number == good[i].number);
	}
	number = 99;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (number_read(bad[i], UINT64_MAX, &number) || number != 99)
			fail_msg("\"%s\" is taken", bad[i]);
	assert_true(number_read("255", 255, &number));
	assert_false(number_read("256", 255, &number));
	assert_int_equal(number, 255);
}

static void reals(void **state)
{
	static const char *const bad[] = { "", " 1", "inf", "nan", "0x1", "1x", "1e999", "-1", "101", "e", "1,5" };
	double number = 99;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (number_read_real(bad[i], 0, 100, &number) || number != 99)
			fail_msg("\"%s\" is taken", bad[i]);
	assert_true(number_read_real("1.5e1", 0, 100, &number));
	assert_true(number == 15);
	assert_true(number_read_real("0", 0, 100, &number));
	assert_true(number_read_real("100", 0, 100, &number));
}

static void environment(void **state)
{
	uint64_t number = 99;

	unsetenv("TUTTI_TEST_NUMBER");
	assert_int_equal(number_from_environment("TUTTI_TEST_NUMBER", 1, 5, &number), 0);
	setenv("TUTTI_TEST_NUMBER", "", 1);
	assert_int_equal(number_from_environment("TUTTI_TEST_NUMBER", 1, 5, &number), 0);
	assert_int_equal(number, 99);
	setenv("TUTTI_TEST_NUMBER", "0", 1);
	assert_int_equal(number_from_environment("TUTTI_TEST_NUMBER", 1, 5, &number), -EINVAL);
	setenv("TUTTI_TEST_NUMBER", "6", 1);
	assert_int_equal(number_from_environment("TUTTI_TEST_NUMBER", 1, 5, &number), -EINVAL);
	assert_int_equal(number, 99);
	setenv("TUTTI_TEST_NUMBER", "5", 1);
	assert_int_equal(number_from_environment("TUTTI_TEST_NUMBER", 1, 5, &number), 0);
	assert_int_equal(number, 5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{ "SYS-42: whole numbers", numbers, NULL, NULL, NULL },
		{ "SYS-42: real numbers", reals, NULL, NULL, NULL },
		{ "SYS-58: numbers in the environment", environment, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("numbers", tests, NULL, NULL);
}

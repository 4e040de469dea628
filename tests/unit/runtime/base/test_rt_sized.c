/* SPDX-License-Identifier: MIT */
/* Structures of applications that were built for another version (SYS-55). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/sized.h"
#include "tutti.h"

struct first {
	uint32_t value, bytes;
};

struct next {
	uint32_t value, bytes;
	uint64_t added;
};

/* A library of the next version reads what an application of the first one has, and nothing behind it. */
static void test_earlier_application(void **state)
{
	struct { struct first first; uint64_t foreign; } app = { { 7, 0 }, ~0ull };
	struct next own = { 1, 2, 3 };

	assert_int_equal(sized_copy(&own, sizeof(own), &app.first, app.first.bytes, sizeof(struct first)), 0);
	assert_int_equal(own.value, 7);
	assert_int_equal(own.added, 0);
	app.first.bytes = sizeof(app.first);
	own.added = 3;
	assert_int_equal(sized_copy(&own, sizeof(own), &app.first, app.first.bytes, sizeof(struct first)), 0);
	assert_int_equal(own.added, 0);
	app.first.bytes = sizeof(app.first) - 1;
	assert_int_equal(sized_copy(&own, sizeof(own), &app.first, app.first.bytes, sizeof(struct first)), -EINVAL);
}

static void test_later_application(void **state)
{
	struct next app = { 7, sizeof(app), 0 };
	struct first own;

	assert_int_equal(sized_copy(&own, sizeof(own), &app, app.bytes, sizeof(struct first)), 0);
	assert_int_equal(own.value, 7);
	app.added = 1ull << 63;
	assert_int_equal(sized_copy(&own, sizeof(own), &app, app.bytes, sizeof(struct first)), -E2BIG);
	assert_int_equal(sized_check(&app, app.bytes, sizeof(own), sizeof(struct first)), -E2BIG);
}

/* The calls that take such structures look at their sizes. */
static void test_calls(void **state)
{
	struct { struct tutti_device_options options; uint64_t later; } open = { .options.bytes = sizeof(open), .later = 1 };
	struct { struct tutti_launch launch; uint64_t later; } next = { .launch.bytes = sizeof(next), .later = 1 };
	struct tutti_dispatch_packet packet;
	struct tutti_device *device;

	assert_int_equal(tutti_device_open(&open.options, &device), -E2BIG);
	assert_int_equal(tutti_launch_packet(&next.launch, &packet), -E2BIG);
	next.later = 0;
	assert_int_equal(tutti_launch_packet(&next.launch, &packet), -EINVAL); /* no kernel */
	next.launch.bytes = 8;
	assert_int_equal(tutti_launch_packet(&next.launch, &packet), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_earlier_application),
		cmocka_unit_test(test_later_application),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests_name("SYS-55", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* PERF-12: multiplying, as frequent paths do instead of dividing, gives the same quotients for all sizes. */
#include "core/divisor.h"
#include "fw_rig.h"
#include "packets/dispatch_packet.h"

static uint32_t random_word(void)
{
	static uint32_t state = 1;

	state = state * 1664525u + 1013904223u;
	return state ^ state >> 15;
}

static uint32_t parts(uint32_t n, uint32_t by)
{
	return (n - 1) / by + 1;
}

/* Wrong rounding shows next to multiples of the size, and most of all next to the largest ones. */
static void all_sizes(void **state)
{
	struct divisor divisor;

	for (uint32_t by = 1; by < 1u << 16; by++) {
		uint32_t most = (1u << 31) / by;

		divisor_set(&divisor, by);
		assert_int_equal(divisor.by, by);
		for (unsigned i = 0; i < 20; i++) {
			uint32_t multiple = by * (i < 4 ? most - i : i < 8 ? i - 3 : random_word() % most + 1);

			for (uint32_t n = multiple - 1; n != multiple + 2; n++)
				if (n && n <= 1u << 31 && divisor_parts(&divisor, n) != parts(n, by))
					fail_msg("%u parts of %u hold %u", divisor_parts(&divisor, n), by, n);
		}
		assert_int_equal(divisor_parts(&divisor, 1u << 31), parts(1u << 31, by));
		assert_int_equal(divisor_parts(&divisor, 1), 1);
	}
}

/* One divisor can be set to any size after another. Grids of more than 2^31 items are divided. */
static void any_grid(void **state)
{
	struct divisor divisor;

	for (unsigned i = 0; i < 200000; i++) {
		uint32_t n = random_word(), by = random_word() % (i & 1 ? 65535 : 8) + 1;

		divisor_set(&divisor, by);
		assert_int_equal(packet_groups(&divisor, n), n ? parts(n, by) : 0);
	}
	assert_int_equal(packet_groups(&divisor, 0), 0);
	divisor_set(&divisor, 1);
	assert_int_equal(packet_groups(&divisor, ~0u), ~0u);
	divisor_set(&divisor, 0);
	assert_int_equal(divisor.by, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sizes),
		cmocka_unit_test(any_grid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

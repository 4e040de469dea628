/* SPDX-License-Identifier: MIT */
/* Which tensor descriptors stay in the firmware's cache. */
#include "tensor_oracle.h"

#include "tensor/descriptor_cache.h"

/* An array of as many descriptors as the cache has entries: each of them is fetched only once. */
static void an_array_of_them(void **state)
{
	struct tutti_tensor d = { .base = 0x1000000, .type = TUTTI_U32, .rank = 2, .size_less_1 = { 63, 63 },
				  .stride = { 256 }, .traversal = { 1, 1 }, .box = { 4, 4 } };

	card_boot();
	for (unsigned i = 0; i < DESCRIPTORS; i++)
		card_descriptor(i, &d);
	for (unsigned i = 0; i < 3 * DESCRIPTORS; i++) {
		struct tutti_tensor_request r = { .descriptor = RIG_DESCRIPTORS + 128 * (i % DESCRIPTORS), .op = TUTTI_COPY_LOAD,
						  .rank = 2, .flags = TUTTI_REQUEST_TENSOR };

		card_do(&r);
		assert_int_equal(card_fault(), 0);
		assert_int_equal(card.fetches, i < DESCRIPTORS ? i + 1 : DESCRIPTORS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TMA-18", an_array_of_them),
	};

	return cmocka_run_group_tests_name("firmware: cache of tensor descriptors", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/*
 * Copies that nobody waits for one by one: each piece goes to the card, from there to another place on the card, and
 * back. A copy starts when the signal of the one before it is 0, and a handler counts the pieces that have come back.
 */
#include "example.h"

#define PIECES 16u
#define BYTES  100000u

struct count {
	uint32_t pieces;
	hsa_signal_t all;
};

static bool piece_is_back(hsa_signal_value_t value, void *data)
{
	struct count *count = data;

	(void)value;
	count->pieces++; /* handlers are called one after another */
	hsa_signal_subtract_screlease(count->all, 1);
	return false;
}

static void *allocate(hsa_amd_memory_pool_t pool)
{
	void *memory;

	CHECK(hsa_amd_memory_pool_allocate(pool, PIECES * BYTES, 0, &memory));
	return memory;
}

int main(int argc, char **argv)
{
	struct example example;
	struct count count = {0};
	uint8_t *from, *there, *other, *back;
	uint32_t wrong;

	(void)argc;
	example_begin(&example, argv[0]);
	count.all = example_signal(PIECES);
	from = allocate(example.system);
	there = allocate(example.local);
	other = allocate(example.local);
	back = allocate(example.system);
	CHECK(hsa_amd_agents_allow_access(1, &example.card, NULL, from));
	CHECK(hsa_amd_agents_allow_access(1, &example.card, NULL, back));
	for (uint32_t i = 0; i < PIECES * BYTES; i++)
		from[i] = (uint8_t)(i * 31 + i / 997);
	for (uint32_t i = 0; i < PIECES; i++) {
		const hsa_signal_t first = example_signal(1), second = example_signal(1), last = example_signal(1);
		const size_t at = (size_t)i * BYTES;

		CHECK(hsa_amd_signal_async_handler(last, HSA_SIGNAL_CONDITION_LT, 1, piece_is_back, &count));
		CHECK(hsa_amd_memory_async_copy(back + at, example.host, other + at, example.card, BYTES, 1, &second, last));
		CHECK(hsa_amd_memory_async_copy(other + at, example.card, there + at, example.card, BYTES, 1, &first,
						second));
		CHECK(hsa_amd_memory_async_copy(there + at, example.card, from + at, example.host, BYTES, 0, NULL, first));
	}
	example_wait(count.all);
	wrong = memcmp(from, back, PIECES * BYTES) != 0 || count.pieces != PIECES;
	printf("async_copy: %u pieces of %u bytes, %s\n", count.pieces, BYTES, wrong ? "wrong" : "right");
	CHECK(hsa_shut_down());
	return (int)wrong;
}

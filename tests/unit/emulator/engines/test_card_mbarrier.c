/* SPDX-License-Identifier: MIT */
/* link: -Wl,-z,muldefs */
/* What becomes of the word of an mbarrier when bytes arrive. */
#include "card_mover_rig.h"
#include "tutti/tensor.h"

#define TX_ALL ((1u << TUTTI_MBARRIER_TX_BITS) - 1)

struct fields {
	uint32_t pending, expected, tx, spare, phase; /* spare: the two bits that mean nothing */
};

static uint64_t word_of(struct fields f)
{
	return f.pending | (uint64_t)f.expected << TUTTI_MBARRIER_EXPECTED_SHIFT |
	       (uint64_t)f.tx << TUTTI_MBARRIER_TX_SHIFT | (uint64_t)f.spare << 61 |
	       (uint64_t)f.phase << TUTTI_MBARRIER_PHASE_SHIFT;
}

/* The phase ends when nobody is pending and no byte is to come, and then as many are pending as are expected. */
static void test_bytes(void **state)
{
	const uint32_t counts[] = {0, 1, 5, TUTTI_MBARRIER_ARRIVALS_MAX}, bytes[] = {1, 64, 4096, TX_ALL};
	unsigned ended = 0;

	for (unsigned i = 0; i < 4 * 4 * 4 * 3 * 4 * 2; i++) {
		uint32_t n = bytes[i % 4], left = (uint32_t[]){0, 1, TX_ALL}[i / 4 % 3];
		struct fields f = {.pending = counts[i / 12 % 4],
				   .expected = counts[i / 48 % 4],
				   .tx = (n + left) & TX_ALL,
				   .spare = i / 192 % 4,
				   .phase = i / 768};
		uint64_t word = word_of(f);

		mbarrier_complete(&word, n);
		f.tx = left;
		if (!f.tx && !f.pending) {
			f.pending = f.expected;
			f.phase ^= 1;
			ended++;
		}
		assert_true(word == word_of(f));
	}
	assert_int_equal(ended, 4 * 4 * 4 * 2);
}

/* Bytes may arrive before they are announced: the count is below 0 meanwhile, and the phase does not end. */
static void test_early(void **state)
{
	uint64_t word = word_of((struct fields){.expected = 2});

	mbarrier_complete(&word, 100);
	assert_true(word == word_of((struct fields){.expected = 2, .tx = TX_ALL - 99}));
	word += 300ull << TUTTI_MBARRIER_TX_SHIFT; /* announced; the carry leaves the field */
	word &= ~(1ull << (TUTTI_MBARRIER_TX_SHIFT + TUTTI_MBARRIER_TX_BITS));
	mbarrier_complete(&word, 150);
	assert_true(word == word_of((struct fields){.expected = 2, .tx = 50}));
	mbarrier_complete(&word, 50);
	assert_true(word == word_of((struct fields){.pending = 2, .expected = 2, .phase = 1}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST("TMA-22: the word of an mbarrier after bytes have arrived", test_bytes),
	    TEST("TMA-22: bytes that arrive early", test_early),
	};

	return cmocka_run_group_tests_name("card: mbarriers", tests, NULL, NULL);
}

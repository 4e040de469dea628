// SPDX-License-Identifier: MIT
/* link: -lm */
/* Searches for runs of free blocks against walking along the map block by block (RES-08 .. RES-11, RES-16). */
#include "fw_rig.h"

#include <math.h>

#include "place/free_runs.h"

#define MOST 256u

/* Blocks in their natural order, and the same as the contract's map. */
static uint8_t block[MOST];
static uint32_t map[TUTTI_BLOCK_WORDS];
static unsigned words;

static void make_map(unsigned n)
{
	words = tutti_map_words(n);
	memset(map, 0, sizeof(map));
	for (unsigned b = 0; b < n; b++)
		if (block[b])
			map[b % words] |= 1u << (b / words);
}

static void fill(unsigned n, unsigned percent)
{
	/* runs, not noise: real maps look like that */
	for (unsigned b = 0; b < n;) {
		unsigned length = 1 + roll(1 + roll(n)), free = roll(100) < percent;

		while (length-- && b < n)
			block[b++] = (uint8_t)free;
	}
	make_map(n);
}

static unsigned brute_longest(unsigned n)
{
	unsigned best = 0, length = 0;

	for (unsigned b = 0; b < n; b++) {
		length = block[b] ? length + 1 : 0;
		best = length > best ? length : best;
	}
	return best;
}

static unsigned brute_grouped(unsigned n, unsigned group)
{
	unsigned best = 0, length = 0;

	for (unsigned b = 0; b < n; b += group) {
		unsigned all = 1;

		for (unsigned i = b; i < b + group; i++)
			all &= block[i];
		length = all ? length + group : 0;
		best = length > best ? length : best;
	}
	return best;
}

static unsigned brute_count(unsigned n, unsigned need)
{
	unsigned length = 0, count = 0;

	for (unsigned b = 0; b < n; b++) {
		length = block[b] ? length + 1 : 0;
		if (length == need) {
			count++;
			length = 0;
		}
	}
	return count;
}

static const unsigned sampled[] = { 1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256 };

static unsigned lower_sample(unsigned n)
{
	unsigned best = 0;

	for (unsigned i = 0; i < sizeof(sampled) / sizeof(*sampled); i++)
		if (sampled[i] <= n)
			best = sampled[i];
	return best;
}

static void every_map_of_16_blocks(void **state)
{
	for (unsigned bits = 0; bits < 65536; bits++) {
		struct free_run_part part = { map, 16 };
		uint32_t inverse[1], longest, shared;

		for (unsigned b = 0; b < 16; b++)
			block[b] = bits >> b & 1;
		make_map(16);
		inverse[0] = ~map[0];
		longest = brute_longest(16);
		assert_int_equal(free_run_full(map, 1, 0), longest);
		assert_int_equal(free_run_full(inverse, 1, ~0u), longest);
		for (unsigned group = 1; group <= 16; group *= 2)
			assert_int_equal(free_run_grouped(map, 1, group), brute_grouped(16, group));
		assert_int_equal(free_run_sampled(map, 1), lower_sample(longest));
		free_run_shared(&part, 1, &shared);
		assert_int_equal(shared, longest);
		for (unsigned need = 1; need <= 17; need++)
			assert_int_equal(free_run_count(map, 1, need, 99), brute_count(16, need));
	}
}

static void random_maps(void **state)
{
	static const unsigned sizes[] = { 128, 128, 32, 64, 256, 20, 48, 100, 200 };

	seed(1);
	for (unsigned round = 0; round < 40000; round++) {
		unsigned n = sizes[round % 9], need = 1 + roll(n + 3), longest;
		uint32_t inverse[TUTTI_BLOCK_WORDS];

		fill(n, roll(101));
		for (unsigned w = 0; w < words; w++)
			inverse[w] = ~map[w];
		longest = brute_longest(n);
		assert_int_equal(free_run_full(map, words, 0), longest);
		assert_int_equal(free_run_full(inverse, words, ~0u), longest);
		assert_int_equal(free_run_grouped(map, words, 4), brute_grouped(n, 4));
		assert_int_equal(free_run_sampled(map, words), lower_sample(longest));
		assert_int_equal(free_run_count(map, words, need, ~0u), brute_count(n, need));
		assert_int_equal(free_run_count(map, words, need, 2), brute_count(n, need) < 2 ? brute_count(n, need) : 2);
	}
}

/* Every length at every place: the search has no blind spot, and a block more is never found, not even beyond the map. */
static void one_run_anywhere(void **state)
{
	for (unsigned n = 32; n <= 256; n *= 2)
		for (unsigned length = 0; length <= n; length++)
			for (unsigned first = 0; first + length <= n; first += 1 + first / 7) {
				memset(block, 0, sizeof(block));
				memset(block + first, 1, length);
				make_map(n);
				assert_int_equal(free_run_full(map, words, 0), length);
				assert_int_equal(free_run_count(map, words, length + 1, ~0u), 0);
				assert_int_equal(free_run_count(map, words, 2 * length + 2 * n, ~0u), 0);
				assert_int_equal(free_run_count(map, words, 0xffff, ~0u), 0);
				if (length)
					assert_int_equal(free_run_count(map, words, length, ~0u), 1);
			}
}

/* Steps of the chosen lengths never shrink and are powers of two; odd primes are left out. */
static void samples_are_well_chosen(void **state)
{
	unsigned step = 1;

	for (unsigned i = 1; i < sizeof(sampled) / sizeof(*sampled); i++) {
		unsigned now = sampled[i] - sampled[i - 1];

		assert_true(now >= step && !(now & (now - 1)));
		step = now;
		for (unsigned d = 2; sampled[i] > 2 && d <= sampled[i]; d++)
			if (sampled[i] % d == 0) {
				assert_true(d < sampled[i]);
				break;
			}
	}
	/* and they are the firmware's: a run of exactly that length is found whole, one block less is not */
	for (unsigned i = 1; i < sizeof(sampled) / sizeof(*sampled); i++)
		for (unsigned less = 0; less < 2; less++) {
			memset(block, 0, sizeof(block));
			memset(block, 1, sampled[i] - less);
			make_map(256);
			assert_int_equal(free_run_sampled(map, words), less ? sampled[i - 1] : sampled[i]);
		}
}

/* The source's example: 128 blocks in the first pass, 64 and 48 in the second; and other mixtures. */
static void side_by_side(void **state)
{
	static const struct { unsigned n, blocks[FREE_RUN_MAPS]; } pass[] = {
		{ 1, { 128 } }, { 2, { 64, 48 } }, { 2, { 48, 64 } }, { 3, { 32, 32, 64 } }, { 4, { 32, 16, 48, 32 } },
		{ 2, { 100, 28 } }, { 4, { 7, 30, 5, 61 } },
	};

	seed(2);
	for (unsigned round = 0; round < 20000; round++) {
		unsigned which = round % (sizeof(pass) / sizeof(*pass)), density = roll(101);
		uint32_t copies[FREE_RUN_MAPS][TUTTI_BLOCK_WORDS], length[FREE_RUN_MAPS], want[FREE_RUN_MAPS];
		struct free_run_part part[FREE_RUN_MAPS];

		for (unsigned i = 0; i < pass[which].n; i++) {
			fill(pass[which].blocks[i], i ? density : 100 - density / 8);
			memcpy(copies[i], map, sizeof(map));
			want[i] = brute_longest(pass[which].blocks[i]);
			part[i] = (struct free_run_part){ copies[i], pass[which].blocks[i] };
		}
		free_run_shared(part, pass[which].n, length);
		for (unsigned i = 0; i < pass[which].n; i++)
			assert_int_equal(length[i], want[i]);
	}
}

/*
 * 128 blocks half used at random: a need of 4 is not met by groups of 4 on one PEU, on one
 * of four PEUs, on all of 16 SMs.
 */
static void grouping_rarely_fails(void **state)
{
	const unsigned rounds = 400000;
	unsigned failed = 0, sm_failed = 0;
	double p, sm;

	seed(3);
	for (unsigned round = 0; round < rounds; round += 4) {
		unsigned any = 0;

		for (unsigned peu = 0; peu < 4; peu++) {
			uint32_t random[4] = { roll32(), roll32(), roll32(), roll32() };
			unsigned no = free_run_grouped(random, 4, 4) < 4;

			failed += no;
			any |= no;
		}
		sm_failed += any;
	}
	p = (double)failed / rounds;
	sm = (double)sm_failed / (rounds / 4);
	assert_true(fabs(p - 0.1268) < 0.003);
	assert_true(fabs(sm - 0.4186) < 0.009);
	/* 16 SMs that fail each for itself: too rare to be seen, so from what one of them does */
	assert_true(fabs(log10(pow(sm, 16)) - log10(8.9e-7)) < 0.16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("RES-08, RES-09, RES-10, RES-11", every_map_of_16_blocks),
		RIG_TEST("RES-08, RES-09, RES-10", random_maps),
		RIG_TEST("RES-08", one_run_anywhere),
		RIG_TEST("RES-10", samples_are_well_chosen),
		RIG_TEST("RES-11", side_by_side),
		RIG_TEST("RES-16", grouping_rarely_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

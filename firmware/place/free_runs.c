// SPDX-License-Identifier: MIT
#include "place/free_runs.h"

#define WORDS TUTTI_BLOCK_WORDS

/* @to = @map AND (@map shifted by @s blocks). Return: not 0 if something is left. */
static inline __attribute__((always_inline)) uint32_t erode(uint32_t *to, const uint32_t *map, uint32_t words,
							    uint32_t s)
{
	uint32_t any = 0, k;

#pragma GCC unroll 8
	for (k = 0; k < words; k++) {
		to[k] = map[k] & map[(k + s) & (words - 1)] >> (k + s) / words;
		any |= to[k];
	}
	return any;
}

static inline __attribute__((always_inline)) void copy(uint32_t *to, const uint32_t *from, uint32_t words)
{
#pragma GCC unroll 8
	for (uint32_t k = 0; k < words; k++)
		to[k] = from[k];
}

/* One step of halving. It is a macro so that with constant words it becomes straight code in registers. */
#define HALVE(s)                             \
	do {                                 \
		if (erode(t, m, words, s)) { \
			copy(m, t, words);   \
			n += s;              \
		}                            \
	} while (0)

/*
 * The longest chain of groups in a map of one word, in blocks. @m: the blocks at which a group of @group free blocks
 * starts
 */
static __attribute__((noinline)) uint32_t longest_of_word(uint32_t m, uint32_t group)
{
	uint32_t n = group, s, t;

	if (!m)
		return 0;
	for (; n <= 16 && (t = m & m >> n); n *= 2)
		m = t;
	for (s = n / 2; s >= group && n < 32; s /= 2)
		if ((t = m & m >> s)) {
			m = t;
			n += s;
		}
	return n;
}

/* The number of ones in four words, of which the first has at most 17 bits and the others at most 16. */
static inline uint32_t ones(const uint32_t *m)
{
	return (m[0] >> 16) + popcount32((m[0] & 0xffff) | m[3] << 16) + popcount32(m[1] | m[2] << 16);
}

/* The longest run of a map that has no run of 4. */
static __attribute__((noinline)) uint32_t longest_short(const uint32_t *map)
{
	const uint32_t words = 4;
	uint32_t m[4], t[4], k, any = 0;

#pragma GCC unroll 4
	for (k = 0; k < words; k++)
		any |= m[k] = map[k];
	if (!any)
		return 0;
	if (!erode(t, m, words, 1))
		return 1;
	return erode(m, t, words, 1) ? 3 : 2;
}

/*
 * Maps of 65 to 128 blocks, for which the worst case has to be fast. The first steps of doubling do
 * not test what is left: if they went too far, the runs are short and there is time to start again. If
 * a run has 64 blocks or more, the starts that are left are its own, and their number gives its length.
 */
static uint32_t longest_of_four(const uint32_t *map)
{
	const uint32_t words = 4;
	uint32_t m[4], t[4], eight[4], sixteen[4], k, n;

#pragma GCC unroll 4
	for (k = 0; k < words; k++)
		m[k] = map[k];
	erode(t, m, words, 1);
	if (!erode(m, t, words, 2))
		return longest_short(map);
	erode(eight, m, words, 4);
	if (!erode(sixteen, eight, words, 8)) {
		if (!(eight[0] | eight[1] | eight[2] | eight[3])) {
			n = 4;
			goto halve_4;
		}
		copy(m, eight, words);
		n = 8;
		goto halve_8;
	}
	if (!erode(t, sixteen, words, 16)) {
		copy(m, sixteen, words);
		n = 16;
		goto halve_16;
	}
	if (erode(m, t, words, 32))
		return 63 + ones(m);
	copy(m, t, words);
	n = 32;
	HALVE(16);
halve_16:
	HALVE(8);
halve_8:
	HALVE(4);
halve_4:
	HALVE(2);
	return n + !!erode(t, m, words, 1);
}

static inline uint32_t log_words(uint32_t words)
{
	return words == 8 ? 3 : words >> 1;
}

/* Like erode(), for any number of words: the code is smaller but slower. @to must not be @map. */
static uint32_t erode_any(uint32_t *to, const uint32_t *map, uint32_t words, uint32_t s)
{
	uint32_t any = 0, k, log = log_words(words);

#pragma GCC unroll 1
	for (k = 0; k < words; k++) {
		to[k] = map[k] & map[(k + s) & (words - 1)] >> ((k + s) >> log);
		any |= to[k];
	}
	return any;
}

static uint32_t load(uint32_t *to, const uint32_t *map, uint32_t words, uint32_t occupied)
{
	uint32_t any = 0, k;

#pragma GCC unroll 1
	for (k = 0; k < words; k++)
		any |= to[k] = map[k] ^ occupied;
	return any;
}

/* The length in blocks of the longest chain of groups. @m: the blocks at which @group free blocks start */
static uint32_t longest_any(uint32_t *m, uint32_t words, uint32_t group)
{
	uint32_t t[WORDS], n = group, s;

	for (; n <= 16 * words && erode_any(t, m, words, n); n *= 2)
		load(m, t, words, 0);
	for (s = n / 2; s >= group && n < 32 * words; s /= 2)
		if (erode_any(t, m, words, s)) {
			load(m, t, words, 0);
			n += s;
		}
	return n;
}

static COLD uint32_t full_any(const uint32_t *map, uint32_t words, uint32_t occupied)
{
	uint32_t m[WORDS];

	return load(m, map, words, occupied) ? longest_any(m, words, 1) : 0;
}

uint32_t free_run_full(const uint32_t *map, uint32_t words, uint32_t occupied)
{
	if (words == 4 && likely(!occupied))
		return longest_of_four(map);
	if (words == 1)
		return longest_of_word(map[0] ^ occupied, 1);
	return full_any(map, words, occupied);
}

/* Find all blocks at which @need free blocks start; @m gets them. Return: 0 if there are none */
static COLD uint32_t starts(uint32_t *m, const uint32_t *map, uint32_t words, uint32_t need)
{
	uint32_t t[WORDS], have = 1, any = load(m, map, words, 0), step;

	if (need > 32 * words)
		return 0;
	for (; have < need && any; have += step) {
		step = need - have < have ? need - have : have;
		any = erode_any(t, m, words, step);
		load(m, t, words, 0);
	}
	return any;
}

/* The blocks of a map of one word at which @need free blocks start. */
static __attribute__((noinline)) uint32_t starts_in_word(uint32_t x, uint32_t need)
{
	uint32_t have = 1, step;

	if (need > 31)
		return need == 32 && x == ~0u;
	for (; have < need && x; have += step) {
		step = need - have < have ? need - have : have;
		x &= x >> step;
	}
	return x;
}

COLD uint32_t free_run_grouped(const uint32_t *map, uint32_t words, uint32_t group)
{
	uint32_t m[WORDS], any = 0, border = 0, k;

	if (words == 1) {
		for (k = 0; k < 32; k += group)
			border |= 1u << k;
		return longest_of_word(starts_in_word(map[0], group) & border, group);
	}
	if (!starts(m, map, words, group))
		return 0;
	for (k = 0; k < 32; k += group > words ? group / words : 1)
		border |= 1u << k;
	for (k = 0; k < words; k++)
		any |= m[k] &= k & (group - 1) ? 0 : border;
	return any ? longest_any(m, words, group) : 0;
}

/*
 * The lengths that are tested (k + 1 in the spec). The differences are powers of two that never
 * shrink; lengths that kernels hardly ever need, such as odd primes, are left out.
 */
static const uint16_t samples[] = { 1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256 };

COLD uint32_t free_run_sampled(const uint32_t *map, uint32_t words)
{
	uint32_t m[WORDS], t[WORDS], x = map[0], i;

	if (words == 1) {
		for (i = 0; x && samples[i] <= 32; i++)
			x &= x >> (samples[i + 1] - samples[i]);
		return i ? samples[i - 1] : 0;
	}
	if (!load(m, map, words, 0))
		return 0;
	for (i = 1; i < sizeof(samples) / sizeof(*samples) && samples[i] <= 32 * words; i++) {
		if (!erode_any(t, m, words, samples[i] - samples[i - 1]))
			break;
		load(m, t, words, 0);
	}
	return samples[i - 1];
}

/* ---- counts ---- */

/* The lowest block that is set in @m, which must not be empty. */
static uint32_t lowest(const uint32_t *m, uint32_t words)
{
	uint32_t any = 0, k, bit;

	for (k = 0; k < words; k++)
		any |= m[k];
	bit = lowest_bit(any);
	for (k = 0; !(m[k] >> bit & 1); k++)
		;
	return (bit << log_words(words)) + k;
}

/* Clear all blocks below @end. Return: not 0 if something is left */
static uint32_t clear_below(uint32_t *m, uint32_t words, uint32_t end)
{
	uint32_t any = 0, k, bit, log = log_words(words);

	for (k = 0; k < words; k++) {
		bit = (end - k + words - 1) >> log;
		any |= m[k] &= bit < 32 ? ~0u << bit : 0;
	}
	return any;
}

/* For maps of one word: most cards have no more than 32 blocks of a kind in a PEU. */
static uint32_t count_in_word(uint32_t x, uint32_t need, uint32_t most)
{
	uint32_t n = 0;

	x = starts_in_word(x, need);
	if (need > 31)
		return x;
	/* Below the lowest start all is clear already, so this clears everything up to the end of its run. */
	for (; x && n < most; n++)
		x &= -((x & -x) << need);
	return n;
}

uint32_t free_run_count(const uint32_t *map, uint32_t words, uint32_t need, uint32_t most)
{
	uint32_t m[WORDS], n = 0;

	if (words == 1)
		return count_in_word(map[0], need, most);
	if (!starts(m, map, words, need))
		return 0;
	do
		n++;
	while (n < most && clear_below(m, words, lowest(m, words) + need));
	return n;
}

/* ---- several maps by one engine ---- */

/*
 * The card's engine may search several maps at once, side by side. Since a search finds the exact length, the result
 * does not depend on that, and a processor is fastest when it takes one map after the other.
 */
COLD void free_run_shared(const struct free_run_part *part, uint32_t n, uint32_t *length)
{
	for (; n--; part++)
		*length++ = free_run_full(part->map, tutti_map_words(part->blocks), 0);
}

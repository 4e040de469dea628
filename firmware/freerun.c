// SPDX-License-Identifier: MIT
#include "freerun.h"

#define WORDS TUTTI_BLOCK_WORDS
#define UNROLLED __attribute__((always_inline, optimize("unroll-loops")))

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

/* For constant @words everything below is straight code in registers. */
#define DOUBLE(s)                                  \
	do {                                       \
		if ((s) > 16 * words)              \
			return s;                  \
		if (!erode(t, m, words, s)) {      \
			n = s;                     \
			goto halve_##s;            \
		}                                  \
		copy(m, t, words);                 \
	} while (0)
#define HALVE(s)                                   \
	do {                                       \
		if (erode(t, m, words, s)) {       \
			copy(m, t, words);         \
			n += s;                    \
		}                                  \
	} while (0)

static inline __attribute__((always_inline)) uint32_t longest(const uint32_t *map, uint32_t words, uint32_t occupied)
{
	uint32_t m[WORDS], t[WORDS], n, any = 0;

#pragma GCC unroll 8
	for (n = 0; n < words; n++) {
		m[n] = map[n] ^ occupied;
		any |= m[n];
	}
	if (!any)
		return 0;
	DOUBLE(1);
	DOUBLE(2);
	DOUBLE(4);
	DOUBLE(8);
	DOUBLE(16);
	DOUBLE(32);
	DOUBLE(64);
	DOUBLE(128);
	return 256;
halve_128:
	HALVE(64);
halve_64:
	HALVE(32);
halve_32:
	HALVE(16);
halve_16:
	HALVE(8);
halve_8:
	HALVE(4);
halve_4:
	HALVE(2);
halve_2:
	HALVE(1);
halve_1:
	return n;
}

static __attribute__((noinline)) uint32_t longest_any(const uint32_t *map, uint32_t words, uint32_t occupied)
{
	uint32_t m[WORDS], t[WORDS], n = 1, s, any = 0;

	for (s = 0; s < words; s++) {
		m[s] = map[s] ^ occupied;
		any |= m[s];
	}
	if (!any)
		return 0;
	for (; n <= 16 * words && erode(t, m, words, n); n *= 2)
		copy(m, t, words);
	for (s = n / 2; s && n < 32 * words; s /= 2)
		if (erode(t, m, words, s)) {
			copy(m, t, words);
			n += s;
		}
	return n;
}

uint32_t freerun_full(const uint32_t *map, uint32_t words, uint32_t occupied)
{
	if (words == 1)
		return longest(map, 1, occupied);
	if (words == 4)
		return longest(map, 4, occupied);
	return longest_any(map, words, occupied);
}

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Water filling (spec CGA-06 .. CGA-08, PERF-04)
 *
 * A lake says how many more CTAs of one shape each SM takes. Row k is the set of SMs with at least k free slots,
 * so rows are nested, and rows of equal counts are equal sets. Placing cuts rows off the top, as if water filled a
 * lake from its deepest points; what lies above @top is stale. Bit b of word w is the SM at position 32 w + b of
 * the SM priority order.
 */
#ifndef WATER_FILL_H
#define WATER_FILL_H

#include "core/base.h"

#define LAKE_LEVELS 32u
#define LAKE_WORDS (FW_MAX_SMS / 32)
/* Words of launch segments one placement can need: every row its own segment. */
#define LAKE_MESSAGE(words) ((LAKE_LEVELS + 2) * ((words) + 1))

struct lake_row {
	uint32_t count;
	uint32_t mask[LAKE_WORDS];
};

struct lake {
	struct lake_row *top;  /* highest row that is not empty; row[0] = lake is dry */
	uint32_t words;        /* mask words in use */
	struct lake_row row[LAKE_LEVELS + 2]; /* row[0]: sentinel, has more CTAs than anyone asks for */
};

/** enum lake_search - how to find the last level (policy TUTTI_POLICY_LEVEL_SEARCH). */
enum lake_search { LAKE_AUTO, LAKE_SCAN, LAKE_BINARY };

/** lake_init() - @levels free slots on every SM of @mask. */
void lake_init(struct lake *lake, unsigned words, const uint32_t *mask, unsigned levels);
/**
 * lake_pour() - place @n CTAs, most free SMs first, ties by position.
 * @out: gets launch segments (softcore.h, LAUNCH); @end: end of them
 * Return: CTAs for which there was no slot.
 */
uint32_t lake_pour(struct lake *lake, uint32_t n, uint32_t *out, uint32_t **end);
/** lake_pour_round() - the same in round-robin order, from position @first on; moves @first. */
uint32_t lake_pour_round(struct lake *lake, uint32_t n, uint32_t *first, uint32_t *out, uint32_t **end);
/** lake_raise() - one CTA ended on each SM of @mask in word @word. */
void lake_raise(struct lake *lake, unsigned word, uint32_t mask);
/** lake_raise_top() - SMs @add of the highest level make a new one. */
void lake_raise_top(struct lake *lake, unsigned word, uint32_t add);
/** lake_lower() - one CTA was placed on each SM of @mask in word @word, by other means. */
void lake_lower(struct lake *lake, unsigned word, uint32_t mask);
/** lake_level() - free slots of the SM at @position. */
unsigned lake_level(const struct lake *lake, unsigned position);
/** lake_exact() - SMs of word @word with exactly @level free slots. */
uint32_t lake_exact(const struct lake *lake, unsigned level, unsigned word);
/** lake_set() - SMs of @mask have @levels free slots, whatever they had. */
void lake_set(struct lake *lake, unsigned word, uint32_t mask, unsigned levels);
/** lake_add() - SMs of @mask (not in the lake now) have @levels free slots. */
void lake_add(struct lake *lake, unsigned word, uint32_t mask, unsigned levels);

/** lake_sums() - bits of @x in its lowest byte, its lowest two, three and four bytes; a byte each. */
static inline __attribute__((always_inline)) uint32_t lake_sums(uint32_t x)
{
	uint32_t m5 = 0x55555555u, m3 = 0x33333333u, mf = 0x0f0f0f0fu, m1 = 0x01010101u;

	__asm__("" : "+r"(m1));
	x -= (x >> 1) & m5;
	x = (x & m3) + ((x >> 2) & m3);
	return ((x + (x >> 4)) & mf) * m1;
}

/** lake_prefix_of() - the @n lowest set bits of @x, of which there are more; @sums: lake_sums(x). */
static inline __attribute__((always_inline)) uint32_t lake_prefix_of(uint32_t x, uint32_t n, uint32_t sums)
{
	uint32_t rest, at = 0;

	if (n >= (sums >> 8 & 0xff))
		at = n >= (sums >> 16 & 0xff) ? 24 : 16;
	else if (n >= (sums & 0xff))
		at = 8;
	if (at)
		n -= sums >> (at - 8) & 0xff;
	rest = x >> at << at;
	while (n--)
		rest &= rest - 1;
	return x ^ rest;
}

/** lake_prefix() - the @n lowest set bits of @x; n is below the population of x. */
static inline __attribute__((always_inline)) uint32_t lake_prefix(uint32_t x, uint32_t n)
{
	return lake_prefix_of(x, n, lake_sums(x));
}

/* Room for the segment of lake_pour_flat(); masks are copied by fives or more. */
#define LAKE_FLAT_WORDS (LAKE_WORDS > 8 ? LAKE_WORDS + 4 : 9u)

/**
 * lake_pour_flat() - lake_pour() for CTAs that empty whole rows of a lake whose rows are all one set.
 * @out: gets one segment; LAKE_FLAT_WORDS are written at most
 * Return: words of the segment, 0 (nothing done) if it is not as simple as that.
 */
static inline __attribute__((always_inline)) uint32_t lake_pour_flat(struct lake *lake, uint32_t n, uint32_t *out)
{
	struct lake_row *top = lake->top, *row;
	uint32_t count = top->count, words = lake->words, rows = n / count, w;

	/* a dry lake has the count of the sentinel: no row at all */
	if (unlikely(count != lake->row[1].count) || unlikely(rows * count != n) || unlikely(rows - 1 >= LAKE_LEVELS))
		return 0;
	row = (struct lake_row *)((char *)top - rows * sizeof(*row));
	if (unlikely(row < lake->row))
		return 0;
	lake->top = row;
	out[0] = rows | words << 24;
#pragma GCC unroll 5
	for (w = 0; w < 5; w++)
		out[1 + w] = top->mask[w];
	if (unlikely(words > 5))
		for (w = 5; w < words; w++)
			out[1 + w] = top->mask[w];
	return 1 + words;
}

/**
 * lake_pour_few() - lake_pour() for a few CTAs that the first word of the top row has SMs for.
 * @out: two words. Return: false (nothing done) if it is not as simple as that.
 */
static inline bool lake_pour_few(struct lake *lake, uint32_t n, uint32_t *out)
{
	struct lake_row *row = lake->top;
	uint32_t *m = row->mask, mask = *m, rest, left = row->count - n, i = n;

	if (unlikely((int32_t)left < 0)) /* also of a dry lake: the sentinel's count */
		return false;
	while (unlikely(!mask))
		mask = *++m;
	rest = mask & (mask - 1);
	while (--i) {
		if (unlikely(!rest))
			return false;
		rest &= rest - 1;
	}
	out[0] = 1 | (uint32_t)(m - row->mask) << 16 | 1u << 24;
	out[1] = mask ^ rest;
	*m = rest;
	row->count = left;
	if (unlikely(!left))
		lake->top = row - 1;
	return true;
}

#endif

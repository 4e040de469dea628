/* SPDX-License-Identifier: MIT */
/**
 * DOC: Water filling (spec CGA-06 .. CGA-08, PERF-04)
 *
 * A lake says how many CTAs of one shape each SM can still take. Row k is the set
 * of SMs with at least k free slots, so rows are nested and equal counts mean equal
 * sets. Placing cuts rows off the top; what lies above @top is stale.
 * Bit b of word w is the SM at position 32 w + b of the SM priority order.
 */
#ifndef LAKE_H
#define LAKE_H

#include "fw.h"

#define LAKE_LEVELS 32u
#define LAKE_WORDS (TUTTI_MAX_SMS / 32)
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
extern uint32_t lake_search;

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
/** lake_add() - SMs of @mask (not in the lake now) have @levels free slots. */
void lake_add(struct lake *lake, unsigned word, uint32_t mask, unsigned levels);

/**
 * lake_prefix() - the @n lowest set bits of @x; n is below the population of x.
 *
 * Counts of the bytes as they add up from below, in one multiplication; then bit by bit.
 */
static inline __attribute__((always_inline)) uint32_t lake_prefix(uint32_t x, uint32_t n)
{
	uint32_t m5 = 0x55555555u, m3 = 0x33333333u, mf = 0x0f0f0f0fu, m1 = 0x01010101u, sums, rest, at = 0;

	__asm__("" : "+r"(m1));
	sums = x - ((x >> 1) & m5);
	sums = (sums & m3) + ((sums >> 2) & m3);
	sums = ((sums + (sums >> 4)) & mf) * m1;
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

/* One CTA more on each SM of @mask in word @word, from the top down. */
static inline __attribute__((always_inline)) void lake_lower_word(struct lake *lake, unsigned word, uint32_t mask)
{
	struct lake_row *row = lake->top;
	uint32_t take;

	for (; mask && row != lake->row; row--) {
		take = mask & row->mask[word];
		if (!take)
			continue;
		row->mask[word] ^= take;
		row->count -= popcount32(take);
		mask ^= take;
	}
	for (row = lake->top; row != lake->row && !row->count; row--)
		;
	lake->top = row;
}

/*
 * Each SM of @mask moves up one level. From the top down: those in row k - 1 that
 * are not in row k yet (they would have been taken out of @mask before) join row k.
 * Row 0 has them all.
 */
static inline __attribute__((always_inline)) void lake_raise_word(struct lake *lake, unsigned word, uint32_t mask)
{
	struct lake_row *row = lake->top;
	uint32_t *m = &row->mask[word], add = mask & *m, below;

	if (unlikely(add)) {
		lake_raise_top(lake, word, add);
		mask ^= add;
		if (!mask)
			return;
	}
	do {
		below = ((struct lake_row *)((char *)row - sizeof(*row)))->mask[word];
		add = mask & below;
		if (add) {
			row->mask[word] |= add;
			row->count += likely(!(add & (add - 1))) ? 1 : popcount32(add);
			mask ^= add;
			if (!mask)
				return;
		}
		row--;
	} while (row > lake->row);
}

/**
 * lake_pour_few() - lake_pour() for a few CTAs that the first word of the top row has SMs for.
 * @out: two words. Return: false (nothing done) if it is not as simple as that.
 */
static inline bool lake_pour_few(struct lake *lake, uint32_t n, uint32_t *out)
{
	struct lake_row *row = lake->top;
	uint32_t *m = row->mask, mask = *m, rest, left = row->count - n, i = n;

	if (unlikely((int32_t)left < 0 || row == lake->row))
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

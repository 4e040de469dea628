/* SPDX-License-Identifier: MIT */
/**
 * DOC: Water filling (spec CGA-06 .. CGA-08, PERF-04)
 *
 * A lake tells how many more CTAs of one shape fit each SM. Row k is the set of SMs with at least k free slots, so
 * each row is a subset of the one below, and rows with equal counts are equal sets. A placement removes rows from the
 * top, as water fills a lake from its deepest points; rows above @top are stale. Bit b of word w stands for the SM at
 * position 32 w + b of the SM priority order.
 */
#ifndef WATER_FILL_H
#define WATER_FILL_H

#include "core/divisor.h"

#define LAKE_LEVELS 32u
#define LAKE_WORDS (FW_MAX_SMS / 32)
/* Words that the launch segments of one placement can need, if every row becomes a segment of its own. */
#define LAKE_MESSAGE(words) ((LAKE_LEVELS + 2) * ((words) + 1))

struct lake_row {
	uint32_t count;
	uint32_t mask[LAKE_WORDS];
};

struct lake {
	struct lake_row *top;  /* highest row that is not empty; row[0] if the lake is dry (no SM has a free slot) */
	uint32_t words;        /* mask words in use */
	struct divisor sms;    /* the number of its SMs, with free slots and without */
	struct lake_row row[LAKE_LEVELS + 2]; /* row[0] is a sentinel with a larger count than anybody asks for */
};

/** enum lake_search - how to find the row at which the CTAs run out (policy TUTTI_POLICY_LEVEL_SEARCH). */
enum lake_search { LAKE_AUTO, LAKE_SCAN, LAKE_BINARY };

/** lake_init() - give every SM of @mask @levels free slots. */
void lake_init(struct lake *lake, unsigned words, const uint32_t *mask, unsigned levels);
/**
 * lake_pour() - place @n CTAs on the SMs with most free slots first, ties by position.
 * @out: gets launch segments (LAUNCH in softcore.h); @end: gets their end
 * Return: CTAs for which there was no slot.
 */
uint32_t lake_pour(struct lake *lake, uint32_t n, uint32_t *out, uint32_t **end);
/** lake_pour_round() - place in round-robin order instead, from position @first on, which moves along. */
uint32_t lake_pour_round(struct lake *lake, uint32_t n, uint32_t *first, uint32_t *out, uint32_t **end);
/** lake_raise() - one CTA ended on each SM of @mask in word @word. */
void lake_raise(struct lake *lake, unsigned word, uint32_t mask);
/** lake_raise_by() - @repeat CTAs ended on each SM of @mask in word @word. */
void lake_raise_by(struct lake *lake, unsigned word, uint32_t mask, uint32_t repeat);
/** lake_lower() - @repeat CTAs were placed on each SM of @mask in word @word, but not by this unit. */
void lake_lower(struct lake *lake, unsigned word, uint32_t mask, uint32_t repeat);
/** lake_level() - the number of free slots of the SM at @position. */
unsigned lake_level(const struct lake *lake, unsigned position);
/** lake_exact() - the SMs of word @word that have exactly @level free slots. */
uint32_t lake_exact(const struct lake *lake, unsigned level, unsigned word);
/** lake_set() - give the SMs of @mask @levels free slots, whatever they had before. */
void lake_set(struct lake *lake, unsigned word, uint32_t mask, unsigned levels);
/** lake_add() - give the SMs of @mask, none of which is in the lake now, @levels free slots. */
void lake_add(struct lake *lake, unsigned word, uint32_t mask, unsigned levels);

/** lake_sums() - the number of bits set in the lowest one, two, three and four bytes of @x, in a byte each. */
static inline __attribute__((always_inline)) uint32_t lake_sums(uint32_t x)
{
	uint32_t m5 = 0x55555555u, m3 = 0x33333333u, mf = 0x0f0f0f0fu, m1 = 0x01010101u;

	__asm__("" : "+r"(m1));
	x -= (x >> 1) & m5;
	x = (x & m3) + ((x >> 2) & m3);
	return ((x + (x >> 4)) & mf) * m1;
}

/** lake_prefix_of() - the @n lowest set bits of @x, which has more than @n; @sums is lake_sums(x). */
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

/** lake_prefix() - the @n lowest set bits of @x, which has more than @n. */
static inline __attribute__((always_inline)) uint32_t lake_prefix(uint32_t x, uint32_t n)
{
	return lake_prefix_of(x, n, lake_sums(x));
}

/** lake_at() - the mask word of @row with byte offset @offset. */
static inline uint32_t *lake_at(struct lake_row *row, uint32_t offset)
{
	return (uint32_t *)((char *)row->mask + offset);
}

/*
 * One CTA has ended on each SM of @mask, which belongs to word @at of the top row. The next three functions are for the
 * usual case, which lake_raises() finds: all of these SMs join the top row.
 */
static inline __attribute__((always_inline)) bool lake_raises(const uint32_t *at, uint32_t mask)
{
	return !((*at | ~at[-(int)(sizeof(struct lake_row) / 4)]) & mask);
}

/** lake_raise_top() - lake_raise() in that case; @n CTAs have ended. */
static inline __attribute__((always_inline)) void lake_raise_top(struct lake_row *row, uint32_t *at, uint32_t mask, uint32_t n)
{
	*at |= mask;
	row->count += n;
}

/** lake_same() - in that case, would lake_pour() place as many CTAs as have ended on the very same SMs? */
static inline __attribute__((always_inline)) bool lake_same(const struct lake_row *row, const uint32_t *at, uint32_t mask)
{
	if (unlikely((*at & -*at) - 1 < mask))
		return false;
	while (unlikely(at != row->mask))
		if (*--at)
			return false;
	return true;
}

/* Room for the segment of lake_pour_flat(), which always copies at least five words of the mask. */
#define LAKE_FLAT_WORDS (LAKE_WORDS > 8 ? LAKE_WORDS + 4 : 9u)

/**
 * lake_pour_flat() - lake_pour() for the simple case that the rows are all one set and the CTAs empty whole rows.
 * @out: gets one segment, at most LAKE_FLAT_WORDS words
 * Return: words of the segment; 0, with nothing done, in any other case
 */
static inline __attribute__((always_inline)) uint32_t lake_pour_flat(struct lake *lake, uint32_t n, uint32_t *out)
{
	struct lake_row *top = lake->top, *row;
	uint32_t count = top->count, words = lake->words, rows = divisor_parts(&lake->sms, n), w;

	/*
	 * If the top row has all SMs, the rows below have them, too. A dry lake is refused as well: its sentinel has
	 * more than that.
	 */
	if (unlikely(count != lake->sms.by) || unlikely(rows * count != n) || unlikely(rows - 1 >= LAKE_LEVELS))
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
 * lake_pour_few() - lake_pour() for the simple case that one mask word of the top row has SMs for all CTAs.
 * @out: gets two words. Return: false, with nothing done, in any other case
 */
static inline bool lake_pour_few(struct lake *lake, uint32_t n, uint32_t *out)
{
	struct lake_row *row = lake->top;
	uint32_t *m = row->mask, mask = *m, rest, left = row->count - n, i = n;

	if (unlikely((int32_t)left < 0)) /* also if the lake is dry, because of the sentinel's count */
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

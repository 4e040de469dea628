// SPDX-License-Identifier: MIT
#include "lake.h"

uint32_t lake_search;

const uint8_t lowest_bit_table[32] = {
	0, 1, 28, 2, 29, 14, 24, 3, 30, 22, 20, 15, 25, 17, 4, 8,
	31, 27, 13, 23, 21, 19, 16, 7, 26, 12, 18, 6, 11, 5, 10, 9,
};

void lake_init(struct lake *lake, unsigned words, const uint32_t *mask, unsigned levels)
{
	unsigned k, w, count = 0;

	lake->words = words;
	for (w = 0; w < words; w++)
		count += popcount32(mask[w]);
	for (k = 0; k <= levels; k++) {
		lake->row[k].count = k ? count : ~0u;
		words_copy(lake->row[k].mask, mask, words);
	}
	for (w = 0; w < LAKE_WORDS; w++)
		lake->row[0].mask[w] = ~0u;
	lake->top = count ? &lake->row[levels] : lake->row;
}

/* Take the first @n SMs (fewer than the row has) out of @row as one segment. */
static inline uint32_t *take_prefix(struct lake_row *row, uint32_t n, uint32_t *out)
{
	uint32_t w = 0, first, c, *head = out++, taken;

	row->count -= n;
	while (!row->mask[w])
		w++;
	first = w;
	for (; n; w++) {
		taken = row->mask[w];
		if (n > 1) {
			c = popcount32(taken);
			if (n < c)
				c = 0;
		} else {
			c = taken && !(taken & (taken - 1));
		}
		if (c || !taken) {
			n -= c;
			row->mask[w] = 0;
		} else {
			taken = lake_prefix(taken, n);
			row->mask[w] ^= taken;
			n = 0;
		}
		*out++ = taken;
	}
	*head = 1 | first << 16 | (w - first) << 24;
	return out;
}

/*
 * The row at which @n CTAs run out, by halves: a probe adds up the rows between
 * the highest row still in question and the middle. Worth it with many levels.
 */
static struct lake_row *last_row_binary(struct lake *lake, uint32_t *n)
{
	struct lake_row *high = lake->top, *low = lake->row, *mid, *row;
	uint32_t left = *n, sum;

	while (high > low) {
		/* rows high .. mid + 1 must be emptied to reach level mid */
		mid = low + (high - low) / 2;
		for (sum = 0, row = high; row > mid; row--)
			sum += row->count;
		if (sum > left) {
			low = mid + 1;
			if (low == high)
				break;
		} else {
			left -= sum;
			high = mid;
		}
	}
	*n = left;
	return high;
}

static inline uint32_t *put_rows(const struct lake_row *row, unsigned repeat, unsigned words, uint32_t *out)
{
	const uint32_t *mask = row->mask, *end = mask + words;

	*out++ = repeat | words << 24;
	do
		*out++ = *mask++;
	while (mask != end);
	return out;
}

/* Segments of the full rows @from .. @last + 1: rows with equal counts are equal. */
static inline uint32_t *put_full_rows(const struct lake_row *from, const struct lake_row *last, unsigned words,
				      uint32_t *out)
{
	const struct lake_row *row = from;

	while (row != last) {
		unsigned repeat = 0;
		uint32_t count = row->count;
		const struct lake_row *first = row;

		do {
			repeat++;
			row--;
		} while (row != last && row->count == count);
		out = put_rows(first, repeat, words, out);
	}
	return out;
}

HOT uint32_t lake_pour(struct lake *lake, uint32_t n, uint32_t *out, uint32_t **end)
{
	struct lake_row *top = lake->top, *row = top, *dry = lake->row;

	/* Only here can n be as large as the count of the sentinel. */
	if (unlikely(top == dry)) {
		*end = out;
		return n;
	}
	/* With the 32 levels there are, a scan costs less whenever it is not asked for otherwise. */
	if (unlikely(lake_search == LAKE_BINARY))
		row = last_row_binary(lake, &n);
	else
		while (n >= row->count) {
			n -= row->count;
			row--;
		}
	lake->top = row;
	if (row != top)
		out = put_full_rows(top, row, lake->words, out);
	if (row != dry && n) {
		out = take_prefix(row, n, out);
		n = 0;
	}
	*end = out;
	return n;
}

/* SMs that were on the highest level make a new one. */
COLD void lake_raise_top(struct lake *lake, unsigned word, uint32_t add)
{
	struct lake_row *above = lake->top + 1;
	unsigned w;

	if (above > &lake->row[LAKE_LEVELS])
		return;
	for (w = 0; w < lake->words; w++)
		above->mask[w] = 0;
	above->mask[word] = add;
	above->count = popcount32(add);
	lake->top = above;
}

HOT void lake_raise(struct lake *lake, unsigned word, uint32_t mask)
{
	lake_raise_word(lake, word, mask);
}

void lake_lower(struct lake *lake, unsigned word, uint32_t mask)
{
	lake_lower_word(lake, word, mask);
}

uint32_t lake_exact(const struct lake *lake, unsigned level, unsigned word)
{
	const struct lake_row *row = &lake->row[level];

	if (row > lake->top)
		return 0;
	return row->mask[word] & ~(row == lake->top ? 0 : row[1].mask[word]);
}

unsigned lake_level(const struct lake *lake, unsigned position)
{
	const struct lake_row *row = lake->top;

	while (row != lake->row && !(row->mask[position / 32] >> (position % 32) & 1))
		row--;
	return (unsigned)(row - lake->row);
}

void lake_add(struct lake *lake, unsigned word, uint32_t mask, unsigned levels)
{
	struct lake_row *row;
	unsigned w, k;

	while (lake->top < &lake->row[levels]) {
		row = ++lake->top;
		row->count = 0;
		for (w = 0; w < lake->words; w++)
			row->mask[w] = 0;
	}
	for (k = 1; k <= levels; k++) {
		lake->row[k].mask[word] |= mask;
		lake->row[k].count += popcount32(mask);
	}
}

/* One lap: a CTA for each SM of row 1 from position *first on, then those before it. */
static uint32_t lap(struct lake *lake, uint32_t n, uint32_t *first, uint32_t **out)
{
	uint32_t w, from = *first / 32, mask, last = lake->words;

	for (w = from; n && w < last; w++) {
		mask = lake->row[1].mask[w];
		if (w == from)
			mask &= ~0u << (*first % 32);
		if (!mask)
			continue;
		if (popcount32(mask) > n)
			mask = lake_prefix(mask, n);
		*(*out)++ = 1 | w << 16 | 1u << 24;
		*(*out)++ = mask;
		n -= popcount32(mask);
		lake_lower(lake, w, mask);
		*first = 32 * w + 32;
		if (!n)
			while (!(mask >> (*first - 1) % 32 & 1))
				--*first;
	}
	if (n || *first >= 32 * last)
		*first = 0;
	return n;
}

uint32_t lake_pour_round(struct lake *lake, uint32_t n, uint32_t *first, uint32_t *out, uint32_t **end)
{
	/* A message has an end; what is left is placed by the next one. */
	const uint32_t *full = out + LAKE_MESSAGE(lake->words) - 2 * lake->words;

	while (n && lake->top != lake->row && out < full)
		n = lap(lake, n, first, &out);
	*end = out;
	return n;
}

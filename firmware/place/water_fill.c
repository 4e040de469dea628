// SPDX-License-Identifier: MIT
#include "place/water_fill.h"

#include "core/state.h"


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
	uint32_t *mask = row->mask, *first, *head = out++, taken, sums;

	row->count -= n;
	while (!*mask)
		mask++;
	first = mask;
	for (;;) {
		taken = *mask;
		if (n == 1) {
			taken &= -taken;
			if (taken)
				break;
		} else {
			sums = lake_sums(taken);
			if (n <= sums >> 24) {
				if (n < sums >> 24)
					taken = lake_prefix_of(taken, n, sums);
				break;
			}
			n -= sums >> 24;
			*mask = 0;
		}
		mask++;
		*out++ = taken;
	}
	*mask ^= taken;
	*out++ = taken;
	*head = 1 | (uint32_t)(first - row->mask) << 16 | (uint32_t)(out - head - 1) << 24;
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

/* @words is a constant for the cards there are, else four at a time: the next segment goes over what is too much. */
static inline __attribute__((always_inline)) uint32_t *put_rows(const struct lake_row *row, unsigned repeat, unsigned words,
								uint32_t *out)
{
	const uint32_t *mask = row->mask, *end;
	unsigned w;

	*out++ = repeat | words << 24;
	end = out + words;
	if (__builtin_constant_p(words)) {
#pragma GCC unroll 8
		for (w = 0; w < words; w++)
			out[w] = mask[w];
		return out + words;
	}
	for (;; mask += 4) {
		out[0] = mask[0];
		out[1] = mask[1];
		out[2] = mask[2];
		out[3] = mask[3];
		out += 4;
		if (out >= end)
			return (uint32_t *)end;
	}
}

/* Segments of the full rows @from .. @last + 1: rows with equal counts are equal. */
static uint32_t *put_full_rows(const struct lake_row *from, const struct lake_row *last, unsigned words, uint32_t *out)
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

/* A segment for one row, or one more repeat of the segment before if the row is the same. */
static inline __attribute__((always_inline)) uint32_t *put_row(const struct lake_row *row, bool same, unsigned words, uint32_t *out)
{
	if (likely(!same))
		return put_rows(row, 1, words, out);
	out[-(int)words - 1]++;
	return out;
}

/* Empty rows from the top down while *@n lasts, and say so at once. Two at a time: their counts change places. */
static inline __attribute__((always_inline)) struct lake_row *take_rows(struct lake *lake, uint32_t *n, uint32_t **out,
									uint32_t words)
{
	struct lake_row *row = lake->top;
	uint32_t left = *n, count = row->count, same = 0, *p = *out;

	while (left >= count) {
		left -= count;
		p = put_row(row, count == same, words, p);
		same = (--row)->count;
		if (left < same)
			break;
		left -= same;
		p = put_row(row, count == same, words, p);
		count = (--row)->count;
	}
	*n = left;
	*out = p;
	return row;
}

/* Water up to @row, which keeps what is above @n. Return: what found no room. */
static inline __attribute__((always_inline)) uint32_t pour_last(struct lake *lake, struct lake_row *row, uint32_t n,
								uint32_t *out, uint32_t **end)
{
	lake->top = row;
	if (row != lake->row && n) {
		out = take_prefix(row, n, out);
		n = 0;
	}
	*end = out;
	return n;
}

static COLD uint32_t pour_binary(struct lake *lake, uint32_t n, uint32_t *out, uint32_t **end)
{
	struct lake_row *row = last_row_binary(lake, &n);

	out = put_full_rows(lake->top, row, lake->words, out);
	return pour_last(lake, row, n, out, end);
}

/* All rows are one set. */
static inline __attribute__((always_inline)) struct lake_row *take_flat(struct lake *lake, uint32_t *n, uint32_t **out)
{
	struct lake_row *top = lake->top;
	uint32_t full = *n / top->count, rows = (uint32_t)(top - lake->row);

	if (full > rows)
		full = rows;
	if (full)
		*out = put_rows(top, full, lake->words, *out);
	*n -= full * top->count;
	return top - full;
}

/* A card, or a part of one, of at most 32 SMs that are not all alike. */
static inline __attribute__((always_inline)) uint32_t pour_word(struct lake *lake, uint32_t n, uint32_t *out, uint32_t **end)
{
	struct lake_row *row = take_rows(lake, &n, &out, 1);
	uint32_t mask = row->mask[0], taken;

	lake->top = row;
	if (row != lake->row && n) {
		taken = n == 1 ? mask & -mask : lake_prefix(mask, n);
		row->count -= n;
		row->mask[0] = mask ^ taken;
		out[0] = 1 | 1u << 24;
		out[1] = taken;
		out += 2;
		n = 0;
	}
	*end = out;
	return n;
}

HOT uint32_t lake_pour(struct lake *lake, uint32_t n, uint32_t *out, uint32_t **end)
{
	struct lake_row *row = lake->top, *dry = lake->row;

	/* Only here can n be as large as the count of the sentinel. */
	if (unlikely(row == dry)) {
		*end = out;
		return n;
	}
	if (row->count == dry[1].count)
		row = take_flat(lake, &n, &out);
	/* With the 32 levels there are, a scan costs less whenever it is not asked for otherwise. */
	else if (unlikely(place_state.level_search == LAKE_BINARY))
		return pour_binary(lake, n, out, end);
	else if (lake->words == 1)
		return pour_word(lake, n, out, end);
	else if (lake->words == 5)
		row = take_rows(lake, &n, &out, 5);
	else
		row = take_rows(lake, &n, &out, lake->words);
	return pour_last(lake, row, n, out, end);
}

/* SMs that were on the highest level make a new one. */
void lake_raise_top(struct lake *lake, unsigned word, uint32_t add)
{
	struct lake_row *above = lake->top + 1;
	unsigned w;

	if (above > &lake->row[LAKE_LEVELS])
		return;
	for (w = 0; w < lake->words; w += 4)
		above->mask[w] = above->mask[w + 1] = above->mask[w + 2] = above->mask[w + 3] = 0;
	above->mask[word] = add;
	above->count = !(add & (add - 1)) ? 1 : popcount32(add);
	lake->top = above;
}

/* @at: a row, plus the offset of the word within its mask. */
#define word_at(at) (*(uint32_t *)((at) + offsetof(struct lake_row, mask)))

/*
 * Each SM of @mask moves up one level. From the top down: those in row k - 1 that
 * are not in row k yet (they would have been taken out of @mask before) join row k.
 * Row 0 has them all, so it ends there at the latest.
 */
static inline __attribute__((always_inline)) void raise_below(char *at, uint32_t offset, uint32_t mask)
{
	const int step = sizeof(struct lake_row);
	uint32_t add;

	for (;; at -= step) {
		add = mask & word_at(at - step);
		if (!add) {
			at -= step;
			add = mask & word_at(at - step);
			if (!add)
				continue;
		}
		word_at(at) |= add;
		((struct lake_row *)(at - offset))->count += likely(!(add & (add - 1))) ? 1 : popcount32(add);
		if (likely(!(mask ^= add)))
			return;
	}
}

static __attribute__((noinline)) void raise_top(struct lake *lake, unsigned word, uint32_t mask)
{
	uint32_t offset = word * 4, add;
	char *at = (char *)lake->top + offset;

	add = mask & word_at(at);
	if (mask != add)
		raise_below(at, offset, mask ^ add);
	lake_raise_top(lake, word, add);
}

HOT void lake_raise(struct lake *lake, unsigned word, uint32_t mask)
{
	uint32_t offset = word * 4;
	char *at = (char *)lake->top + offset;

	if (unlikely(mask & word_at(at)))
		raise_top(lake, word, mask);
	else if (likely(mask))
		raise_below(at, offset, mask);
}

void lake_lower(struct lake *lake, unsigned word, uint32_t mask)
{
	struct lake_row *row = lake->top;
	uint32_t take;

	for (; mask && row != lake->row; row--) {
		take = mask & row->mask[word];
		row->mask[word] ^= take;
		row->count -= popcount32(take);
		mask ^= take;
	}
	while (lake->top != lake->row && !lake->top->count)
		lake->top--;
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

void lake_set(struct lake *lake, unsigned word, uint32_t mask, unsigned levels)
{
	struct lake_row *row;
	uint32_t change;

	if (lake->top < &lake->row[levels])
		lake_add(lake, word, 0, levels);
	for (row = lake->top; row > &lake->row[levels]; row--) {
		change = row->mask[word] & mask;
		if (!change)
			continue;
		row->mask[word] ^= change;
		row->count -= popcount32(change);
	}
	for (; row != lake->row; row--) {
		change = mask & ~row->mask[word];
		/* rows are nested: those below have them as well */
		if (!change)
			break;
		row->mask[word] |= change;
		row->count += popcount32(change);
	}
	while (lake->top != lake->row && !lake->top->count)
		lake->top--;
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

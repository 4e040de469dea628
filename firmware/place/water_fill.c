// SPDX-License-Identifier: MIT
#include "place/water_fill.h"

#include "core/state.h"
#include "core/visit.h"

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
	divisor_set(&lake->sms, count);
}

/* Take the first @n SMs out of @row, which has more, and write them as one segment. */
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
 * Find the row at which @n CTAs run out by binary search: a probe adds up the rows from the highest
 * one still in question down to the middle. This pays only if there are many levels.
 */
static struct lake_row *last_row_binary(struct lake *lake, uint32_t *n)
{
	struct lake_row *high = lake->top, *low = lake->row, *mid, *row;
	uint32_t left = *n, sum;

	while (high > low) {
		/* Rows high .. mid + 1 have to be emptied before row mid is reached. */
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

/*
 * @words is a constant in the usual cases. Otherwise four words are copied at a time, and the next segment overwrites
 * those that are too many.
 */
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

/* Write segments for rows @from down to @last + 1. Rows with equal counts are equal, so they share one segment. */
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

/* Write a segment for one row, or repeat the segment before once more if the row is the same. */
static inline __attribute__((always_inline)) uint32_t *put_row(const struct lake_row *row, bool same, unsigned words, uint32_t *out)
{
	if (likely(!same))
		return put_rows(row, 1, words, out);
	out[-(int)words - 1]++;
	return out;
}

/* Empty rows from the top while *@n lasts, and write their segments. Two rows a turn save a copy of the count. */
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

/* Place the last @n CTAs on the first SMs of @row, the new top. Return: CTAs for which there was no slot */
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

/* Take full rows of a lake whose rows are all one set. */
static inline __attribute__((always_inline)) struct lake_row *take_flat(struct lake *lake, uint32_t *n, uint32_t **out)
{
	struct lake_row *top = lake->top;
	uint32_t full, rows = (uint32_t)(top - lake->row);

	full = likely(top->count == lake->sms.by && *n < 1u << 31) ? divisor_parts(&lake->sms, *n + 1) - 1 : *n / top->count;

	if (full > rows)
		full = rows;
	if (full)
		*out = put_rows(top, full, lake->words, *out);
	*n -= full * top->count;
	return top - full;
}

/* For a lake of at most 32 SMs that do not all have the same number of free slots. */
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

	/* Past this check a row of at least one SM lowers @n before it is compared with the sentinel's count. */
	if (unlikely(row == dry)) {
		*end = out;
		return n;
	}
	if (row->count == dry[1].count)
		row = take_flat(lake, &n, &out);
	/* With only 32 levels a scan is cheaper than a binary search, which runs only if a policy asks for it. */
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

/* @at: the address of a row, plus the offset of the word within its mask. */
#define word_at(at) (*(uint32_t *)((at) + offsetof(struct lake_row, mask)))

/*
 * Each SM of @mask gets one more free slot. From the top down, SMs that are in row k - 1 but not in row k
 * (otherwise they would have left @mask already) join row k. Row 0 contains all SMs, so the loop ends there
 * at the latest.
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

/* SMs of the highest row get one more free slot as well, which makes a new row. */
static __attribute__((noinline)) void raise_top(struct lake *lake, unsigned word, uint32_t mask)
{
	struct lake_row *above = lake->top + 1;
	uint32_t offset = word * 4, add, w;
	char *at = (char *)lake->top + offset;

	add = mask & word_at(at);
	if (mask != add)
		raise_below(at, offset, mask ^ add);
	if (above > &lake->row[LAKE_LEVELS])
		return;
	for (w = 0; w < lake->words; w += 4)
		above->mask[w] = above->mask[w + 1] = above->mask[w + 2] = above->mask[w + 3] = 0;
	above->mask[word] = add;
	above->count = !(add & (add - 1)) ? 1 : popcount32(add);
	lake->top = above;
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

/* Make @row the top one if it is above it. What lies between has no SMs yet. */
static COLD void open_rows(struct lake *lake, const struct lake_row *row)
{
	unsigned w;

	while (lake->top < row) {
		lake->top++;
		lake->top->count = 0;
		for (w = 0; w < lake->words; w++)
			lake->top->mask[w] = 0;
	}
}

/* Leave out rows at the top that have no SMs. */
static inline void close_rows(struct lake *lake)
{
	while (lake->top != lake->row && !lake->top->count)
		lake->top--;
}

/* The number of SMs in @mask, which is @n if it is the mask of the last row: usually many rows change by the same SMs. */
static inline uint32_t count_again(uint32_t mask, uint32_t *last, uint32_t n)
{
	if (mask == *last)
		return n;
	*last = mask;
	return popcount32(mask);
}

/* An SM joins a row if it is in the one that is @repeat lower. Those below have not changed yet. */
static COLD void raise_all(struct lake *lake, unsigned word, uint32_t mask, uint32_t repeat)
{
	struct lake_row *row = lake->top + repeat;
	uint32_t join, last = 0, n = 0;

	if (row > &lake->row[LAKE_LEVELS])
		row = &lake->row[LAKE_LEVELS];
	open_rows(lake, row);
	/* Each row is a subset of the one below, so those below the first that has all SMs need no change. */
	for (; (join = mask & ~row->mask[word]); row--) {
		if (row > lake->row + repeat)
			join &= row[-(int)repeat].mask[word];
		n = count_again(join, &last, n);
		row->mask[word] |= join;
		row->count += n;
	}
	close_rows(lake);
}

#define RAISE_SINGLY 4u /* so many calls of lake_raise() take fewer instructions than a look at all rows */

COLD void lake_raise_by(struct lake *lake, unsigned word, uint32_t mask, uint32_t repeat)
{
	if (repeat > RAISE_SINGLY)
		raise_all(lake, word, mask, repeat);
	else
		while (repeat--)
			lake_raise(lake, word, mask);
}

static void leave_row(struct lake_row *row, unsigned word, uint32_t mask)
{
	row->mask[word] ^= mask;
	row->count -= mask & (mask - 1) ? popcount32(mask) : 1;
}

/* Each SM of @mask leaves the highest row it is in. */
static void lower_once(struct lake *lake, unsigned word, uint32_t mask)
{
	struct lake_row *row = lake->top;
	uint32_t take;

	for (; mask && row != lake->row; row--) {
		take = mask & row->mask[word];
		if (!take)
			continue;
		leave_row(row, word, take);
		mask ^= take;
	}
}

/* An SM stays in a row if it is in the one that is @repeat higher. Those above have not changed yet. */
static void lower_all(struct lake *lake, unsigned word, uint32_t mask, uint32_t repeat)
{
	struct lake_row *row = lake->row + 1;
	uint32_t leave;

	for (; row <= lake->top && row->mask[word] & mask; row++) {
		leave = row->mask[word] & mask;
		if (row + repeat <= lake->top)
			leave &= ~row[repeat].mask[word];
		if (leave)
			leave_row(row, word, leave);
	}
}

void lake_lower(struct lake *lake, unsigned word, uint32_t mask, uint32_t repeat)
{
	if (likely(repeat == 1))
		lower_once(lake, word, mask);
	else
		lower_all(lake, word, mask, repeat);
	close_rows(lake);
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

void lake_set(struct lake *lake, unsigned word, uint32_t mask, unsigned levels)
{
	struct lake_row *row;
	uint32_t change, last = 0, n = 0;

	open_rows(lake, &lake->row[levels]);
	for (row = lake->top; row > &lake->row[levels]; row--) {
		change = row->mask[word] & mask;
		if (!change)
			continue;
		n = count_again(change, &last, n);
		row->mask[word] ^= change;
		row->count -= n;
	}
	for (; row != lake->row; row--) {
		change = mask & ~row->mask[word];
		/* Each row is a subset of the one below, so those below need no change. */
		if (!change)
			break;
		n = count_again(change, &last, n);
		row->mask[word] |= change;
		row->count += n;
	}
	close_rows(lake);
}

void lake_add(struct lake *lake, unsigned word, uint32_t mask, unsigned levels)
{
	lake_set(lake, word, mask, levels);
	divisor_set(&lake->sms, lake->sms.by + popcount32(mask));
}

#define LAP_STEPS 150u /* visit.h: for each word of masks, in this lake and in that of the task's shape */

/* One lap: place a CTA on each SM of row 1 from position *first on; the next lap starts at position 0. */
static COLD uint32_t lap(struct lake *lake, uint32_t n, uint32_t *first, uint32_t **out)
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
		lake_lower(lake, w, mask, 1);
		*first = 32 * w + 32;
		if (!n)
			while (!(mask >> (*first - 1) % 32 & 1))
				--*first;
	}
	if (n || *first >= 32 * last)
		*first = 0;
	return n;
}

COLD uint32_t lake_pour_round(struct lake *lake, uint32_t n, uint32_t *first, uint32_t *out, uint32_t **end)
{
	/* A LAUNCH has a limited length, and a visit too; the CTAs that are left are placed by the next one. */
	const uint32_t *begin = out, *full = out + LAKE_MESSAGE(lake->words) - 2 * lake->words;

	while (n && lake->top != lake->row && out < full && (out == begin || visit_goes_on(LAP_STEPS * lake->words)))
		n = lap(lake, n, first, &out);
	*end = out;
	return n;
}

/* SPDX-License-Identifier: MIT */
/* Water filling against placing CTAs one at a time (CGA-06, 07, 08, 13). */
#include "fw_rig.h"

#define MOST (TUTTI_MAX_SMS * LAKE_LEVELS)

static const unsigned cards[] = { 1, 7, 32, 132, 144, 1024 };
#define CARDS (sizeof(cards) / sizeof(cards[0]))

static unsigned sms, words;
static uint8_t level[TUTTI_MAX_SMS];
static uint16_t want[MOST], got[MOST];
static uint32_t out[2 * LAKE_MESSAGE(LAKE_WORDS)];
static struct lake lake, fresh;

/* Highest level by far is 32; most states have few levels, some have all. */
static void random_levels(void)
{
	unsigned top = roll(4) ? 1 + roll(8) : 1 + roll(LAKE_LEVELS), i, kind = roll(4);

	for (i = 0; i < sms; i++)
		level[i] = (uint8_t)(kind == 0 ? top : kind == 1 ? (roll(5) ? 0 : top) : roll(top + 1));
}

static void build(struct lake *to)
{
	uint32_t all[LAKE_WORDS] = { 0 };
	unsigned i;

	for (i = 0; i < sms; i++)
		all[i / 32] |= 1u << (i % 32);
	lake_init(to, words, all, 0);
	to->top = to->row;
	for (i = 0; i < sms; i++)
		if (level[i])
			lake_add(to, i / 32, 1u << (i % 32), level[i]);
}

/* One at a time, on the SM with the most free slots, ties by position. Changes level[]. */
static uint32_t one_at_a_time(uint32_t n, uint32_t *placed)
{
	unsigned i, best;

	for (*placed = 0; n; n--) {
		for (best = 0, i = 1; i < sms; i++)
			if (level[i] > level[best])
				best = i;
		if (!level[best])
			break;
		level[best]--;
		want[(*placed)++] = (uint16_t)best;
	}
	return n;
}

/* CTAs of launch segments in the order of their numbers (softcore.h, LAUNCH). */
static uint32_t decode(const uint32_t *p, const uint32_t *end, unsigned *segments)
{
	uint32_t n = 0;

	for (*segments = 0; p < end; ++*segments) {
		unsigned repeat = *p & 0xffff, first = *p >> 16 & 0xff, count = *p >> 24, before = n, r, w, b;

		p++;
		assert_true(repeat && count && first + count <= words && p + count <= end);
		for (r = 0; r < repeat; r++)
			for (w = 0; w < count; w++)
				for (b = 0; b < 32; b++)
					if (p[w] >> b & 1) {
						assert_true(32 * (first + w) + b < sms && n < MOST);
						got[n++] = (uint16_t)(32 * (first + w) + b);
					}
		assert_true(n > before);
		p += count;
	}
	return n;
}

static void same_levels(const struct lake *a)
{
	unsigned i, k;

	for (i = 0; i < sms; i++)
		assert_int_equal(lake_level(a, i), level[i]);
	for (k = 0; k <= LAKE_LEVELS; k++)
		for (i = 0; i < words; i++) {
			uint32_t mask = 0, b;

			for (b = 0; b < 32 && 32 * i + b < sms; b++)
				mask |= (level[32 * i + b] == k ? 1u : 0u) << b;
			if (k)
				assert_int_equal(lake_exact(a, k, i), mask);
		}
}

/* Counts of rows are no public matter, but pouring shows them: both must pour the same. */
static void same_as_fresh(struct lake *a)
{
	struct lake copy = *a;
	uint32_t *end, *end2, second[LAKE_MESSAGE(LAKE_WORDS)], n = 1 + roll(2 * sms);

	copy.top = copy.row + (a->top - a->row);
	build(&fresh);
	assert_int_equal(lake_pour(&copy, n, out, &end), lake_pour(&fresh, n, second, &end2));
	assert_int_equal(end - out, end2 - second);
	assert_memory_equal(out, second, (size_t)(end - out) * 4);
}

static uint32_t pour_and_compare(uint32_t n)
{
	uint32_t *end, placed, left = one_at_a_time(n, &placed);
	unsigned segments;

	assert_int_equal(lake_pour(&lake, n, out, &end), left);
	assert_true(end - out <= (long)LAKE_MESSAGE(words));
	assert_int_equal(decode(out, end, &segments), placed);
	assert_memory_equal(got, want, placed * 2);
	same_levels(&lake);
	return left;
}

static unsigned free_slots(void)
{
	unsigned i, n = 0;

	for (i = 0; i < sms; i++)
		n += level[i];
	return n;
}

static void choose(unsigned card)
{
	sms = cards[card];
	words = (sms + 31) / 32;
}

static void pours(unsigned search)
{
	unsigned card, round, rounds, free, n;

	place_state.level_search = (uint8_t)search;
	for (card = 0; card < CARDS; card++) {
		choose(card);
		rounds = sms > 200 ? 40 : sms > 100 ? 700 : 4000;
		for (round = 0; round < rounds; round++) {
			seed(1000 * card + round);
			random_levels();
			build(&lake);
			same_levels(&lake);
			while ((free = free_slots())) {
				n = roll(8) ? 1 + roll(free) : roll(2) ? free : free + 1 + roll(100000);
				assert_int_equal(pour_and_compare(n), n > free ? n - free : 0);
				if (sms > 200 && !roll(3))
					break;
			}
		}
	}
	place_state.level_search = LAKE_AUTO;
}

static void pours_scan(void **unused) { pours(LAKE_SCAN); }
static void pours_binary(void **unused) { pours(LAKE_BINARY); }
static void pours_automatic(void **unused) { pours(LAKE_AUTO); }

/* No two segments that could have been one: full rows that are equal travel together. */
static void messages_are_merged(void **unused)
{
	unsigned card, k, segments;
	uint32_t *end;

	for (card = 0; card < CARDS; card++)
		for (choose(card), k = 1; k <= LAKE_LEVELS; k++) {
			memset(level, (int)k, sms);
			build(&lake);
			assert_int_equal(lake_pour(&lake, sms * k, out, &end), 0);
			assert_int_equal(decode(out, end, &segments), sms * k);
			assert_int_equal(segments, 1);
			assert_int_equal(out[0], k | words << 24);
			assert_int_equal(end - out, 1 + words);
		}
	choose(3); /* two kinds of SMs: two rows that differ, whatever their depth */
	for (k = 0; k < sms; k++)
		level[k] = k % 3 ? 20 : 9;
	build(&lake);
	assert_int_equal(lake_pour(&lake, free_slots(), out, &end), 0);
	decode(out, end, &segments);
	assert_int_equal(segments, 2);
	/* every row its own: as many segments as levels, and still inside the room a message may need */
	choose(5);
	for (k = 0; k < sms; k++)
		level[k] = (uint8_t)(1 + k % LAKE_LEVELS);
	build(&lake);
	assert_int_equal(lake_pour(&lake, free_slots() - 1, out, &end), 0);
	decode(out, end, &segments);
	assert_int_equal(segments, LAKE_LEVELS);
	assert_true(end - out <= (long)LAKE_MESSAGE(words));
}

static void overflow(void **unused)
{
	static const uint32_t sizes[] = { 1, 2, 0x7fffffffu, 0xfffffffeu, 0xffffffffu };
	unsigned search, card, i, segments;
	uint32_t *end;

	for (search = 0; search < 3; search++)
		for (card = 0; card < CARDS; card++)
			for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
				place_state.level_search = (uint8_t)search;
				choose(card);
				/* a dry lake gives nothing and asks for nothing */
				memset(level, 0, sms);
				build(&lake);
				assert_int_equal(lake_pour(&lake, sizes[i], out, &end), sizes[i]);
				assert_ptr_equal(end, out);
				same_levels(&lake);
				/* a full one gives all it has */
				memset(level, 3, sms);
				build(&lake);
				if (sizes[i] <= 3 * sms)
					continue;
				assert_int_equal(lake_pour(&lake, sizes[i], out, &end), sizes[i] - 3 * sms);
				assert_int_equal(decode(out, end, &segments), 3 * sms);
				memset(level, 0, sms);
				same_levels(&lake);
				/* and goes on when a CTA ends (CGA-13) */
				lake_raise(&lake, (sms - 1) / 32, 1u << ((sms - 1) % 32));
				assert_int_equal(lake_pour(&lake, sizes[i], out, &end), sizes[i] - 1);
				assert_int_equal(decode(out, end, &segments), 1);
				assert_int_equal(got[0], sms - 1);
			}
	place_state.level_search = LAKE_AUTO;
}

/* Completions in random order, by words, between pours: nothing lost, nothing twice. */
static void raises(void **unused)
{
	static uint8_t busy[TUTTI_MAX_SMS];
	unsigned card, round, step, i, w;
	uint32_t mask, b;

	for (card = 0; card < CARDS; card++)
		for (round = 0; round < (card == 5 ? 15u : 200u); round++) {
			unsigned top;

			choose(card);
			seed(77777 + 1000 * card + round);
			top = 1 + roll(LAKE_LEVELS);
			memset(level, (int)top, sms);
			memset(busy, 0, sizeof(busy));
			build(&lake);
			for (step = 0; step < 60; step++) {
				if (roll(2)) {
					uint32_t n = 1 + roll(sms * 2);

					for (i = 0; i < sms; i++)
						busy[i] = (uint8_t)(busy[i] + level[i]);
					pour_and_compare(n);
					for (i = 0; i < sms; i++)
						busy[i] = (uint8_t)(busy[i] - level[i]);
					continue;
				}
				w = roll(words);
				mask = roll(3) ? roll32() & roll32() : roll32();
				for (b = 0; b < 32; b++)
					if (32 * w + b >= sms || !busy[32 * w + b])
						mask &= ~(1u << b);
				for (b = 0; b < 32; b++)
					if (mask >> b & 1)
						busy[32 * w + b]--, level[32 * w + b]++;
				lake_raise(&lake, w, mask);
				if (!roll(4))
					same_levels(&lake);
				if (!roll(4))
					same_as_fresh(&lake);
			}
			/* all of them come back */
			while (1) {
				unsigned left = 0;

				for (w = 0; w < words; w++) {
					for (mask = b = 0; b < 32 && 32 * w + b < sms; b++)
						if (busy[32 * w + b]) {
							busy[32 * w + b]--, level[32 * w + b]++;
							mask |= 1u << b;
						}
					left += mask != 0;
					lake_raise(&lake, w, mask);
				}
				if (!left)
					break;
			}
			for (i = 0; i < sms; i++)
				assert_int_equal(level[i], top);
			same_levels(&lake);
			same_as_fresh(&lake);
		}
}

/* Give @repeat more free slots to some SMs of word @w, or take as many from them, in the lake and in level[]. */
static void change(unsigned w, uint32_t repeat, bool more)
{
	uint32_t mask = roll32(), b;

	for (b = 0; b < 32; b++) {
		uint8_t *l = &level[32 * w + b];

		if (32 * w + b >= sms || (more ? *l + repeat > LAKE_LEVELS : *l < repeat))
			mask &= ~(1u << b);
		else if (mask >> b & 1)
			*l = (uint8_t)(more ? *l + repeat : *l - repeat);
	}
	(more ? lake_raise_by : lake_lower)(&lake, w, mask, repeat);
}

/* Several CTAs end, or are placed, on each SM at once. What lies above the top row is garbage at first. */
static void several_at_once(void **unused)
{
	unsigned card, round, step;

	for (card = 0; card < CARDS; card++)
		for (round = 0; round < 100; round++) {
			choose(card);
			seed(333 + 1000 * card + round);
			random_levels();
			memset(lake.row, 0xa5, sizeof(lake.row));
			build(&lake);
			for (step = 0; step < 40; step++)
				change(roll(words), 1 + roll(roll(2) ? 8 : LAKE_LEVELS), round & 1 && roll(2));
			same_levels(&lake);
			same_as_fresh(&lake);
		}
}

/* Round robin: the next SM with room behind the last one. */
static void round_robin(void **unused)
{
	unsigned card, round, segments;
	uint32_t first, model, n, placed, left, *end, i, tried;

	for (card = 0; card < CARDS; card++)
		for (round = 0; round < (card == 5 ? 20u : 400u); round++) {
			choose(card);
			seed(4242 + 1000 * card + round);
			random_levels();
			build(&lake);
			first = model = roll(sms);
			for (left = 1 + roll(3 * sms); left && free_slots();) {
				n = lake_pour_round(&lake, left, &first, out, &end);
				assert_true(end - out <= (long)LAKE_MESSAGE(words));
				assert_true(n < left);
				placed = decode(out, end, &segments);
				assert_int_equal(placed, left - n);
				for (i = 0; i < placed; i++) {
					for (tried = 0; tried < sms && !level[model % sms]; tried++)
						model++;
					assert_int_equal(got[i], model % sms);
					level[model % sms]--;
					model++;
				}
				same_levels(&lake);
				left = n;
			}
		}
}

/* A visit has time for some laps, for each word of the masks; it makes one of them in any case (REL-11). */
static void laps_of_a_visit(void **unused)
{
	static const unsigned laps[CARDS] = { 14, 14, 14, 3, 3, 4 }; /* 1, 5 and 32 words */
	unsigned card, segments;
	uint32_t first, *end;

	for (card = 0; card < CARDS; card++) {
		choose(card);
		rig_load(sms); /* visits are longer for large cards */
		memset(level, 20, sms);
		build(&lake);
		counters.events++;
		first = 0;
		assert_int_equal(lake_pour_round(&lake, 20 * sms, &first, out, &end), (20 - laps[card]) * sms);
		assert_int_equal(decode(out, end, &segments), laps[card] * sms);
		assert_int_equal(segments, laps[card] * words);
		/* the same visit */
		assert_int_equal(lake_pour_round(&lake, 3 * sms, &first, out, &end), 2 * sms);
		assert_int_equal(first, 0);
	}
}

/* Figures 21 to 23: 137 CTAs over 32 SMs. SM3, 4, 6, 8, 31 full; 10, 11, 12, 17, 18 partly loaded; 2, 5, 7 empty. */
static void worked_figure(void **unused)
{
	static const uint8_t slots[32] = {
		6, 5, 8, 0, 0, 8, 0, 8, 0, 6, 3, 4, 2, 6, 5, 7, 5, 3, 4, 6, 5, 7, 6, 6, 5, 7, 6, 5, 6, 7, 5, 0,
	};
	uint32_t *end, placed, sum[32] = { 0 }, i, highest = 0;
	unsigned search, segments;

	for (search = 0; search < 3; search++) {
		place_state.level_search = (uint8_t)search;
		sms = 32;
		words = 1;
		memcpy(level, slots, 32);
		assert_true(free_slots() >= 137);
		build(&lake);
		one_at_a_time(137, &placed);
		assert_int_equal(lake_pour(&lake, 137, out, &end), 0);
		assert_int_equal(decode(out, end, &segments), 137);
		assert_memory_equal(got, want, 137 * 2);
		assert_true(segments <= 8);
		same_levels(&lake);
	}
	place_state.level_search = LAKE_AUTO;
	for (i = 0; i < 137; i++)
		sum[got[i]]++;
	for (i = 0; i < 32; i++) {
		assert_true(sum[i] <= slots[i]);
		if (slots[i] - sum[i] > highest)
			highest = slots[i] - sum[i];
	}
	/* even water: no SM that got a CTA lies more than one below the highest */
	for (i = 0; i < 32; i++)
		assert_true(!sum[i] || slots[i] - sum[i] + 1 >= highest);
	assert_int_equal(sum[3] + sum[4] + sum[6] + sum[8] + sum[31], 0);
}

/* ---- quick ways for simple cases ---- */

/* A lake as firmware makes it: all SMs have the same, then CTAs are placed, by rows or one by one. */
static void lake_in_use(void)
{
	uint32_t all[LAKE_WORDS] = { 0 }, *end;
	unsigned top = 1 + roll(LAKE_LEVELS), i;

	for (i = 0; i < sms; i++)
		all[i / 32] |= 1u << (i % 32);
	lake_init(&lake, words, all, top);
	lake_pour(&lake, roll(3) ? sms * roll(top + 1) : roll(sms * top + 1), out, &end);
	for (i = roll(3) ? 0 : roll(6); i; i--)
		if (lake_level(&lake, all[0] = roll(sms)))
			lake_lower(&lake, all[0] / 32, 1u << (all[0] % 32), 1);
	for (i = 0; i < sms; i++)
		level[i] = (uint8_t)lake_level(&lake, i);
}

static unsigned highest(unsigned *count)
{
	unsigned i, top = 0;

	for (*count = i = 0; i < sms; i++) {
		*count = level[i] > top ? 1 : *count + (level[i] == top);
		top = level[i] > top ? level[i] : top;
	}
	return top;
}

/* SMs with the most free slots in the first mask word that has any. */
static unsigned in_first_word(unsigned top)
{
	unsigned i, n = 0, word = 0;

	for (i = 0; i < sms; i++)
		if (level[i] == top && (!n || i / 32 == word)) {
			word = i / 32;
			n++;
		}
	return n;
}

/* It does what lake_pour() does, or nothing. */
static void same_or_nothing(bool done, bool simple, uint32_t n, const uint32_t *end, const struct lake *before)
{
	uint32_t placed;
	unsigned segments;

	assert_int_equal(done, simple);
	if (!done) {
		assert_memory_equal(&lake, before, sizeof(lake));
		return;
	}
	assert_int_equal(one_at_a_time(n, &placed), 0);
	assert_int_equal(decode(out, end, &segments), n);
	assert_int_equal(segments, 1);
	assert_memory_equal(got, want, n * 2);
	same_levels(&lake);
	same_as_fresh(&lake);
}

static void quick_pours(void **unused)
{
	static struct lake before;
	unsigned card, round, top, count, n, length;

	for (card = 0; card < CARDS; card++)
		for (round = 0; round < (card == 5 ? 60u : 400u); round++) {
			choose(card);
			seed(8000 + 1000 * card + round);
			lake_in_use();
			top = highest(&count);
			before = lake;
			if (round & 1) {
				n = 1 + roll(roll(2) ? 34 : sms * 2);
				same_or_nothing(lake_pour_few(&lake, n, out), top && n <= in_first_word(top), n, out + 2, &before);
				continue;
			}
			n = roll(2) ? sms * (1 + roll(top + 2)) : 1 + roll(sms * (top + 1));
			length = lake_pour_flat(&lake, n, out);
			assert_true(!length || length == 1 + words);
			same_or_nothing(length, top && count == sms && n % sms == 0 && n / sms <= top, n, out + 1 + words, &before);
		}
}

/* CTAs end on SMs that all join the top row, as usual: that is seen, and whether as many would go there again. */
static void quick_raises(void **unused)
{
	static struct lake again;
	unsigned card, round, top, count, w, i;
	uint32_t mask, *at, *end, segments;
	bool joins, same, said;

	for (card = 0; card < CARDS; card++)
		for (round = 0; round < (card == 5 ? 60u : 400u); round++) {
			choose(card);
			seed(9000 + 1000 * card + round);
			do {
				lake_in_use();
				top = highest(&count);
			} while (!top);
			w = roll(words);
			at = lake_at(lake.top, w * 4);
			mask = roll(2) ? 1u << roll(32) : roll(2) ? roll32() : ~*at;
			for (joins = true, i = 0; i < 32; i++) {
				if (32 * w + i >= sms)
					mask &= ~(1u << i);
				else if (mask >> i & 1)
					joins &= level[32 * w + i] == top - 1;
			}
			assert_int_equal(lake_raises(at, mask), joins);
			if (!joins || !mask)
				continue;
			said = lake_same(lake.top, at, mask);
			lake_raise_top(lake.top, at, mask, (uint32_t)__builtin_popcount(mask));
			for (i = 0; i < 32; i++)
				level[32 * w + i] = (uint8_t)(level[32 * w + i] + (mask >> i & 1));
			same_levels(&lake);
			same_as_fresh(&lake);
			again = lake;
			again.top = again.row + (lake.top - lake.row);
			lake_pour(&again, (uint32_t)__builtin_popcount(mask), out, &end);
			for (same = true, i = 0, segments = decode(out, end, &count); i < segments; i++)
				same &= got[i] / 32 == w && mask >> (got[i] % 32) & 1;
			assert_int_equal(said, same);
		}
}

/* ---- shapes: capacity, cap, enable table ---- */

static uint32_t model_capacity(uint32_t scalar, uint32_t vector, uint32_t shared, uint32_t barriers, uint32_t waves,
			       uint32_t cap)
{
	uint32_t peu = 8, n;

	if (scalar && 32 / scalar < peu)
		peu = 32 / scalar;
	if (vector && 32 / vector < peu)
		peu = 32 / vector;
	n = 4 * peu / waves;
	if (shared && 64 / shared < n)
		n = 64 / shared;
	if (barriers && 16 / barriers < n)
		n = 16 / barriers;
	if (n > 32)
		n = 32;
	return cap && cap < n ? cap : n;
}

static void shape_lakes(void **unused)
{
	unsigned card, round, i;
	bool off[TUTTI_MAX_SMS];

	for (card = 0; card < CARDS; card++)
		for (round = 0; round < (card == 5 ? 6u : 60u); round++) {
			uint32_t scalar, vector, shared, barriers, waves, cap, capacity, *end;
			struct shape *shape;
			unsigned segments;

			choose(card);
			seed(999 + 1000 * card + round);
			rig_load(sms);
			scalar = roll(2) ? 0 : roll(33), vector = roll(2) ? 0 : roll(33);
			shared = roll(2) ? 0 : roll(65), barriers = roll(3), waves = 1 + roll(12), cap = roll(2) ? 0 : 1 + roll(40);
			assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CTA_CAP, cap, 0), 0);
			for (i = 0; i < sms; i++) {
				off[i] = !roll(4);
				if (off[i])
					assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, i, 1, 0), 0);
			}
			capacity = model_capacity(scalar, vector, shared, barriers, waves, cap);
			shape = shape_find(scalar | vector << 16, shared | barriers << 16, waves);
			assert_non_null(shape);
			assert_int_equal(shape->capacity, capacity);
			assert_true(shape_alone(shape));
			for (i = 0; i < sms; i++)
				level[i] = (uint8_t)(off[i] ? 0 : capacity);
			same_levels(&shape->lake);
			if (free_slots()) {
				lake_pour(&shape->lake, 1 + roll(free_slots()), out, &end);
				for (i = decode(out, end, &segments); i--;)
					assert_false(off[got[i]]);
			}
			/* same key, same shape; all six in use by tasks: a seventh has to wait */
			assert_ptr_equal(shape_find(scalar | vector << 16, shared | barriers << 16, waves), shape);
			for (i = 0; i < FW_SHAPES; i++) {
				struct shape *s = shape_find(1, 1 + i, 40);

				assert_non_null(s);
				assert_int_equal(s->capacity, 0);
				s->tasks = 1;
			}
			assert_null(shape_find(2, 2, 2));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-06 CGA-07 CGA-08", pours_scan),
		RIG_TEST("CGA-06 CGA-07 CGA-08", pours_binary),
		RIG_TEST("CGA-06 CGA-07 CGA-08", pours_automatic),
		RIG_TEST("CGA-16 CGA-19", messages_are_merged),
		RIG_TEST("CGA-13", overflow),
		RIG_TEST("CGA-06 CGA-14", raises),
		RIG_TEST("CGA-06 REL-11", several_at_once),
		RIG_TEST("CGA-06 TSK-06", round_robin),
		RIG_TEST("TSK-06 REL-11", laps_of_a_visit),
		RIG_TEST("CGA-06", worked_figure),
		RIG_TEST("CGA-06 CGA-08", quick_pours),
		RIG_TEST("CGA-06 CGA-14", quick_raises),
		RIG_TEST("CGA-04", shape_lakes),
	};

	return cmocka_run_group_tests_name("firmware: lake", tests, NULL, NULL);
}

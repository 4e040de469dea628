// SPDX-License-Identifier: MIT
#include "core/visit.h"
#include "place/sm_score.h"

#include "core/hal.h"
#include "core/counters.h"
#include "core/state.h"
#include "place/free_runs.h"
#include "place/sm_match.h"
#include "place/sm_order.h"

#define SCORE_BITS 30u
#define PART_BITS 22u  /* of each of the two parts of a combined score */
#define SHARE_BITS 8u  /* of the weights of these parts */
#define FEW 16u        /* up to so many CTAs get their numbers in the order in which SMs are chosen */
#define WINDOW_LEAST 3u
#define WINDOW_DEFAULT 10u

/* The policies as they were set, and the weights that are computed from them. */
static struct score_state {
	uint32_t window;     /* log2, timer ticks */
	uint32_t remaining[TUTTI_RESOURCES];
	uint32_t power[TUTTI_CLASSES];
	uint32_t combine[2]; /* weights of RES-13, RES-14 */
	/* scaled so that every score fits in 30 bits */
	uint32_t weight[TUTTI_RESOURCES];
	uint32_t power_shift, power_most;
	uint32_t share[2];
} scoring;

/*
 * struct pool - the SMs among which placements choose. It may take several visits to work out their scores, and to place
 * what fits.
 */
static struct pool {
	bool cut;        /* a placement goes on in another visit, and the scores count what it has placed */
	uint32_t issued; /* counters.ctas_issued when it was cut; if it differs, other CTAs were placed since */
	uint32_t event;  /* counters.events when the first of the scores was worked out */
	uint32_t known[LAKE_WORDS]; /* SMs whose scores have been worked out */
	int32_t score[FW_MAX_SMS];
} pool;

#define POOL_AGE 512u /* visits after which scores are worked out again */
/* The steps (visit.h) for a score, and for one by the largest runs of free blocks. */
#define SCORE_STEPS 60u
#define LARGEST_STEPS 400u
#define TIER_STEPS 9u /* for each SM, to give it a CTA */
#define LEAST_STEPS 5u /* for each SM, to compare its score */

static void pool_forget(void)
{
	words_clear(pool.known, fw.words);
	pool.cut = false;
	pool.event = counters.events;
}

static uint32_t mode(void)
{
	return place_state.choice & ~TUTTI_CHOICE_LARGEST;
}

uint32_t score_window(void)
{
	return scoring.window;
}

/* ---- weights ---- */

static uint32_t bits_of(uint64_t x)
{
	uint32_t n = 0;

	for (; x; x >>= 1)
		n++;
	return n;
}

/* Scale the weights so that the score of an idle SM and the greatest power fit in their bits. */
static void scale(void)
{
	const uint32_t most[TUTTI_RESOURCES] = {
		fw.peus * fw.peu_waves, fw.peus * fw.scalar_blocks, fw.peus * fw.vector_blocks, shapes.shared_blocks,
		fw.barriers, fw.cta_slots,
	};
	uint32_t i, bits = mode() == TUTTI_CHOICE_COMBINED ? PART_BITS : SCORE_BITS, sum, shift, highest = 0;
	uint64_t all = 0;

	for (i = 0; i < TUTTI_RESOURCES; i++)
		all += (uint64_t)scoring.remaining[i] * most[i];
	sum = bits_of(all);
	shift = sum > bits ? sum - bits : 0;
	for (i = 0; i < TUTTI_RESOURCES; i++)
		scoring.weight[i] = scoring.remaining[i] >> shift;
	for (i = 0; i < TUTTI_CLASSES; i++)
		highest = scoring.power[i] > highest ? scoring.power[i] : highest;
	/* The greatest power is one instruction of the most expensive class per tick; anything above it is clipped. */
	sum = bits_of(highest) + scoring.window;
	scoring.power_shift = sum > bits ? sum - bits : 0;
	scoring.power_most = (1u << bits) - 1;
	sum = bits_of(scoring.combine[0] | scoring.combine[1]);
	shift = sum > SHARE_BITS ? sum - SHARE_BITS : 0;
	scoring.share[0] = scoring.combine[0] >> shift;
	scoring.share[1] = scoring.combine[1] >> shift;
}

void score_init(void)
{
	uint32_t i;

	place_state.choice = 0;
	scoring = (struct score_state){ .window = WINDOW_DEFAULT, .combine = { 1, 1 } };
	for (i = 0; i < TUTTI_RESOURCES; i++)
		scoring.remaining[i] = 1;
	for (i = 0; i < TUTTI_CLASSES; i++)
		scoring.power[i] = 1;
	score_limit();
}

COLD void score_limit(void)
{
	scale();
	pool_forget();
}

static int set_choice(uint32_t value)
{
	const struct tutti_discovery *discovery = (const void *)HAL_WINDOW;
	uint32_t rest = value & ~TUTTI_CHOICE_LARGEST;

	if (rest > TUTTI_CHOICE_COMBINED ||
	    (value != rest && rest != TUTTI_CHOICE_REMAINING && rest != TUTTI_CHOICE_COMBINED))
		return -TUTTI_EINVAL;
	if (rest >= TUTTI_CHOICE_POWER && !(discovery->features & TUTTI_FEATURE_ENERGY))
		return -TUTTI_ENOTSUP;
	place_state.choice = (uint8_t)value;
	shape_exact(shape_is_exact());
	return 0;
}

static int set_window(uint32_t value)
{
	uint32_t log = value ? bits_of(value) - 1 : WINDOW_DEFAULT;

	if (log < WINDOW_LEAST || (value && value != 1u << log))
		return -TUTTI_EINVAL;
	scoring.window = log;
	match_mode(match.on);
	return 0;
}

static int set_weight(uint32_t *weights, uint32_t n, uint32_t value)
{
	if (value >> 24 >= n)
		return -TUTTI_EINVAL;
	weights[value >> 24] = value & 0xffffff;
	return 0;
}

int score_policy(uint32_t policy, uint32_t value)
{
	int code = -TUTTI_EINVAL;

	switch (policy) {
	case TUTTI_POLICY_CHOICE:
		code = set_choice(value);
		break;
	case TUTTI_POLICY_REMAINING_WEIGHT:
		code = set_weight(scoring.remaining, TUTTI_RESOURCES, value);
		break;
	case TUTTI_POLICY_POWER_WEIGHT:
		code = set_weight(scoring.power, TUTTI_CLASSES, value);
		break;
	case TUTTI_POLICY_POWER_WINDOW:
		code = set_window(value);
		break;
	case TUTTI_POLICY_COMBINE:
		if (!value)
			break;
		scoring.combine[0] = value >> 16;
		scoring.combine[1] = value & 0xffff;
		code = 0;
		break;
	}
	score_limit();
	return code;
}

bool score_ask(uint32_t policy, uint32_t which, uint32_t *value)
{
	switch (policy) {
	case TUTTI_POLICY_CHOICE:
		*value = place_state.choice;
		return true;
	case TUTTI_POLICY_REMAINING_WEIGHT:
		*value = which < TUTTI_RESOURCES ? scoring.remaining[which] : 0;
		return which < TUTTI_RESOURCES;
	case TUTTI_POLICY_POWER_WEIGHT:
		*value = which < TUTTI_CLASSES ? scoring.power[which] : 0;
		return which < TUTTI_CLASSES;
	case TUTTI_POLICY_POWER_WINDOW:
		*value = 1u << scoring.window;
		return true;
	case TUTTI_POLICY_COMBINE:
		*value = scoring.combine[0] << 16 | scoring.combine[1];
		return true;
	}
	return false;
}

/* ---- scores ---- */

static uint32_t largest(const volatile uint32_t *map, uint32_t blocks)
{
	uint32_t copy[TUTTI_BLOCK_WORDS], words = tutti_map_words(blocks), k;

	for (k = 0; k < words; k++)
		copy[k] = map[k];
	return free_run_full(copy, words, 0);
}

static uint32_t remaining(const volatile struct tutti_sm_state *sm)
{
	bool runs = place_state.choice & TUTTI_CHOICE_LARGEST;
	const uint32_t *w = scoring.weight;
	uint32_t p, waves = 0, scalar = 0, vector = 0, shared;

	for (p = 0; p < fw.peus; p++) {
		const volatile struct tutti_peu_state *peu = &sm->peu[p];

		waves += peu->free_waves;
		scalar += runs ? largest(peu->scalar, fw.scalar_blocks) : peu->scalar_free;
		vector += runs ? largest(peu->vector, fw.vector_blocks) : peu->vector_free;
	}
	shared = runs ? largest(sm->shared, sm->shared_blocks) : sm->shared_free;
	return w[TUTTI_RESOURCE_WAVES] * waves + w[TUTTI_RESOURCE_SCALAR] * scalar + w[TUTTI_RESOURCE_VECTOR] * vector +
	       w[TUTTI_RESOURCE_SHARED] * shared + w[TUTTI_RESOURCE_BARRIERS] * sm->barriers +
	       w[TUTTI_RESOURCE_CTAS] * sm->cta_slots;
}

static uint32_t power(const volatile struct tutti_sm_state *sm)
{
	uint64_t sum = 0;
	uint32_t c;

	for (c = 0; c < TUTTI_CLASSES; c++)
		sum += (uint64_t)scoring.power[c] * sm->recent[c];
	sum >>= scoring.power_shift;
	return sum > scoring.power_most ? scoring.power_most : (uint32_t)sum;
}

static int32_t score(const volatile struct tutti_sm_state *sm)
{
	switch (mode()) {
	case TUTTI_CHOICE_REMAINING:
		return (int32_t)remaining(sm);
	case TUTTI_CHOICE_POWER:
		return -(int32_t)power(sm);
	}
	return (int32_t)(scoring.share[0] * remaining(sm)) - (int32_t)(scoring.share[1] * power(sm));
}

static uint32_t cost(const struct shape *shape)
{
	const uint32_t *w = scoring.weight;
	uint32_t sum;

	if (mode() == TUTTI_CHOICE_POWER)
		return 0;
	sum = shape->waves * (w[TUTTI_RESOURCE_WAVES] + w[TUTTI_RESOURCE_SCALAR] * (shape->registers & 0xffff) +
			      w[TUTTI_RESOURCE_VECTOR] * (shape->registers >> 16)) +
	      w[TUTTI_RESOURCE_SHARED] * (shape->shared & 0xffff) + w[TUTTI_RESOURCE_BARRIERS] * (shape->shared >> 16) +
	      w[TUTTI_RESOURCE_CTAS];
	return mode() == TUTTI_CHOICE_COMBINED ? scoring.share[0] * sum : sum;
}

/* Work out the scores of the SMs that have room, of one at least. Return: false if another visit has to go on with that */
static bool work_out(const struct lake *lake)
{
	uint32_t steps = place_state.choice & TUTTI_CHOICE_LARGEST ? LARGEST_STEPS : SCORE_STEPS, w, todo, i;

	for (w = 0; w < fw.words && lake->top != lake->row; w++)
		for (todo = lake->row[1].mask[w] & ~pool.known[w]; todo; todo &= todo - 1) {
			i = 32 * w + lowest_bit(todo);
			pool.score[i] = score(&HAL_SMS[sm_order_at(i)]);
			pool.known[w] |= todo & -todo;
			if (!visit_goes_on(steps))
				return false;
		}
	return true;
}

/* ---- decisions ---- */

/* A range of scores. */
struct span {
	int32_t low, high;
};

/*
 * The SMs of @mask that are at least @least, in @out. Return: their number, and in @gap the highest score below @least and
 * the lowest one that is not: whoever halves a set again and again need not ask for the range of each half
 */
static uint32_t at_least(const uint32_t *mask, int32_t least, uint32_t *out, struct span *gap)
{
	struct span edge = { INT32_MIN, INT32_MAX };
	uint32_t w, rest, bit, n = 0;
	const int32_t *score;

	visit_goes_on(LEAST_STEPS * fw.sms);
	for (w = 0; w < fw.words; w++) {
		score = pool.score + 32 * w;
		for (out[w] = 0, rest = mask[w], bit = 1; rest; rest >>= 1, bit <<= 1, score++) {
			if (!(rest & 1))
				continue;
			if (*score < least) {
				edge.low = *score > edge.low ? *score : edge.low;
				continue;
			}
			edge.high = *score < edge.high ? *score : edge.high;
			out[w] |= bit;
			n++;
		}
	}
	*gap = edge;
	return n;
}

/* The highest score of @mask, of which some SM must be part. */
static int32_t highest_score(const uint32_t *mask)
{
	int32_t high = INT32_MIN;
	uint32_t w, rest;
	const int32_t *score;

	for (w = 0; w < fw.words; w++)
		for (rest = mask[w], score = pool.score + 32 * w; rest; rest >>= 1, score++)
			if (rest & 1 && *score > high)
				high = *score;
	return high;
}

/* Keep the first @n SMs of @mask. */
static void first_of(uint32_t *mask, uint32_t n)
{
	uint32_t w, have;

	for (w = 0; w < fw.words; w++) {
		have = popcount32(mask[w]);
		if (have > n)
			mask[w] = n ? lake_prefix(mask[w], n) : 0;
		n -= min32(n, have);
	}
}

/*
 * Keep the @n SMs of @mask with the highest scores, of equal ones the first; there are more than @n, and @span is the range
 * of their scores.
 */
static void highest_of(uint32_t *mask, uint32_t n, struct span span)
{
	uint32_t sure[LAKE_WORDS] = { 0 }, upper[LAKE_WORDS], w, have;
	struct span gap;

	while (span.low != span.high) {
		have = at_least(mask, span.low + (int32_t)(((uint32_t)span.high - (uint32_t)span.low + 1) / 2), upper, &gap);
		if (have > n) {
			words_copy(mask, upper, fw.words);
			span.low = gap.high;
			continue;
		}
		for (w = 0; w < fw.words; w++) {
			sure[w] |= upper[w];
			mask[w] ^= upper[w];
		}
		n -= have;
		span.high = gap.low;
		if (!n)
			break;
	}
	first_of(mask, n);
	for (w = 0; w < fw.words; w++)
		mask[w] |= sure[w];
}

/*
 * The SMs of @open that get a CTA before any SM gets a second one: each CTA lowers the score of its SM by @delta, so
 * these are all that are less than that below the highest. Return: their number, at most @n
 */
static uint32_t tier_of(const uint32_t *open, int32_t delta, uint32_t n, uint32_t *tier)
{
	int32_t high = highest_score(open);
	struct span gap;
	uint32_t have = at_least(open, high - delta + 1, tier, &gap);

	if (have <= n)
		return have;
	highest_of(tier, n, (struct span){ gap.high, high });
	return n;
}

/* Give a CTA to each SM of @tier, and take those that are full then out of @open. */
static void give(const struct lake *lake, const uint32_t *tier, int32_t delta, uint32_t *open)
{
	uint32_t w, rest, i;

	for (w = 0; w < fw.words; w++)
		for (rest = tier[w]; rest; rest &= rest - 1) {
			i = 32 * w + lowest_bit(rest);
			pool.score[i] -= delta;
			placed.ctas[i]++;
			if (lake->row + placed.ctas[i] >= lake->top || !(lake->row[placed.ctas[i] + 1].mask[w] & rest & -rest))
				open[w] &= ~(rest & -rest);
		}
}

/* The SM of @tier with the highest score, of equal ones the first. */
static uint32_t best_of(const uint32_t *tier)
{
	uint32_t w, rest, i, best = ~0u;

	for (w = 0; w < fw.words; w++)
		for (rest = tier[w]; rest; rest &= rest - 1) {
			i = 32 * w + lowest_bit(rest);
			if (best == ~0u || pool.score[i] > pool.score[best])
				best = i;
		}
	return best;
}

/* Write a segment for each SM of @tier, by score. */
static uint32_t *put_each(const uint32_t *tier, uint32_t n, uint32_t *out)
{
	uint32_t rest[LAKE_WORDS], best;

	for (words_copy(rest, tier, fw.words); n; n--) {
		best = best_of(rest);
		rest[best / 32] ^= 1u << (best % 32);
		*out++ = 1 | best / 32 << 16 | 1u << 24;
		*out++ = 1u << (best % 32);
	}
	return out;
}

/* Write a segment for SMs @tier, or count the last one once more if it is for the same SMs. */
static uint32_t *put_tier(const uint32_t *tier, uint32_t *last, uint32_t *out)
{
	uint32_t w, change = last == out;

	for (w = 0; w < fw.words && !change; w++)
		change = last[1 + w] ^ tier[w];
	if (!change) {
		++*last;
		return out;
	}
	*out = 1 | fw.words << 24;
	words_copy(out + 1, tier, fw.words);
	return out + 1 + fw.words;
}

/* CTAs do not lower the scores: the best SM gets all that it has room for. Return: their number */
static uint32_t fill_best(const struct lake *lake, uint32_t n, uint32_t *open, uint32_t *out)
{
	uint32_t i = best_of(open), bit = 1u << (i % 32);

	n = min32(n, lake_level(lake, i));
	open[i / 32] ^= bit;
	out[0] = n | i / 32 << 16 | 1u << 24;
	out[1] = bit;
	return n;
}

static bool any_of(const uint32_t *mask)
{
	uint32_t w, any = 0;

	for (w = 0; w < fw.words; w++)
		any |= mask[w];
	return any;
}

/* Whether at most FEW CTAs fit. */
static bool few_fit(const struct lake *lake)
{
	const struct lake_row *row;
	uint32_t n = 0;

	for (row = lake->top; row != lake->row && n <= FEW; row--)
		n += row->count;
	return n <= FEW;
}

/* Place while CTAs, room in the message and the visit last. Return: CTAs without an SM */
static uint32_t place_tiers(const struct lake *lake, int32_t delta, uint32_t n, uint32_t *out, uint32_t **end)
{
	const uint32_t *full = out + LAKE_MESSAGE(fw.words) - (fw.words + 1);
	uint32_t open[LAKE_WORDS] = { 0 }, tier[LAKE_WORDS], *last = out, *next, have;
	bool few = n <= FEW || few_fit(lake), more = true;

	if (lake->top != lake->row)
		words_copy(open, lake->row[1].mask, fw.words);
	words_clear(placed.ctas, (fw.sms + 3) / 4);
	while (more && n && out <= full && any_of(open)) {
		if (!delta) {
			n -= fill_best(lake, n, open, out);
			out += 2;
		} else {
			have = tier_of(open, delta, n, tier);
			n -= have;
			next = few ? put_each(tier, have, out) : put_tier(tier, last, out);
			last = next == out ? last : out;
			out = next;
			give(lake, tier, delta, open);
		}
		more = visit_goes_on(TIER_STEPS * fw.sms);
	}
	pool.cut = n && any_of(open);
	if (!pool.cut && out != *end)
		pool_forget(); /* the scores change when these CTAs are resident */
	*end = out;
	return n;
}

/* Whether the scores that are known are still right, or can be read. */
static bool may_score(void)
{
	if (counters.events - pool.event > POOL_AGE || (pool.cut && pool.issued != counters.ctas_issued))
		pool_forget();
	return pool.cut || match_ask();
}

COLD uint32_t score_pour(const struct shape *shape, const struct lake *lake, uint32_t n, uint32_t *out, uint32_t **end)
{
	uint32_t most = n, left;

	*end = out;
	if (!may_score()) {
		match_wait();
		return n;
	}
	if (!work_out(lake) || visit_late()) {
		visit_cut();
		return n;
	}
	/* How much a CTA takes from the largest runs is known only when it is resident: place one, then look again. */
	if (place_state.choice & TUTTI_CHOICE_LARGEST)
		most = min32(n, 1);
	left = place_tiers(lake, (int32_t)cost(shape), most, out, end);
	pool.issued = counters.ctas_issued + most - left;
	/* match_wait() and visit_cut() would write a command where the caller's LAUNCH is being made. */
	if (left < most && (pool.cut || most < n))
		state_retry();
	return n - most + left;
}

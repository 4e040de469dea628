// SPDX-License-Identifier: MIT
#include "place/sm_score.h"
#include "place/visit.h"

#include "core/hal.h"
#include "core/counters.h"
#include "core/state.h"
#include "place/free_runs.h"
#include "place/sm_match.h"
#include "place/sm_order.h"

#define SCORE_BITS 30u
#define PART_BITS 22u  /* of each of the two parts of a combined score */
#define SHARE_BITS 8u  /* of the weights of these parts */
#define FEW 16u        /* up to so many CTAs are placed one at a time */
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
 * struct pool - the SMs among which one placement chooses. It may take several visits to work out their scores.
 */
static struct pool {
	uint32_t delta; /* by how much a CTA lowers the score of its SM */
	int32_t low, high;
	uint32_t rooms;
	uint32_t event; /* counters.events when the first of the scores was worked out */
	uint32_t known[LAKE_WORDS]; /* SMs whose scores have been worked out */
	int32_t score[FW_MAX_SMS];
	uint8_t room[FW_MAX_SMS];
} pool;

#define POOL_AGE 256u /* visits after which scores are worked out again */
/* The steps (visit.h) for a score, and for one by the largest runs of free blocks. */
#define SCORE_STEPS 60u
#define LARGEST_STEPS 400u

static void pool_forget(void)
{
	words_clear(pool.known, fw.words);
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
		fw.peus * fw.peu_waves, fw.peus * fw.scalar_blocks, fw.peus * fw.vector_blocks, fw.shared_blocks, fw.barriers,
		fw.cta_slots,
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
	scale();
	pool_forget();
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

/* Work out the scores of the SMs that have room. Return: false if that has to go on in another visit */
static bool work_out(const struct lake *lake)
{
	uint32_t steps = place_state.choice & TUTTI_CHOICE_LARGEST ? LARGEST_STEPS : SCORE_STEPS, w, todo, i;

	if (counters.events - pool.event > POOL_AGE)
		pool_forget();
	for (w = 0; w < fw.words && lake->top != lake->row; w++)
		for (todo = lake->row[1].mask[w] & ~pool.known[w]; todo; todo &= todo - 1) {
			if (!visit_goes_on(steps))
				return false;
			i = 32 * w + lowest_bit(todo);
			pool.score[i] = score(&HAL_SMS[sm_order_at(i)]);
			pool.known[w] |= todo & -todo;
		}
	return true;
}

/* Collect the SMs that have room. */
static void gather(struct pool *pool, const struct shape *shape, const struct lake *lake)
{
	uint32_t i, room;
	int32_t s, last;

	pool->delta = cost(shape);
	pool->rooms = 0;
	pool->high = INT32_MIN;
	pool->low = INT32_MAX;
	for (i = 0; i < fw.sms; i++) {
		pool->room[i] = 0;
		if (lake->top == lake->row || !(lake->row[1].mask[i / 32] >> (i % 32) & 1))
			continue;
		pool->room[i] = (uint8_t)(room = lake_level(lake, i));
		s = pool->score[i];
		last = s - (int32_t)(pool->delta * (room - 1));
		pool->rooms += room;
		pool->high = s > pool->high ? s : pool->high;
		pool->low = last < pool->low ? last : pool->low;
	}
}

/* ---- decisions ---- */

static uint32_t *one_at_a_time(struct pool *pool, uint32_t n, uint32_t *out)
{
	uint32_t i, best;

	while (n--) {
		for (best = 0; !pool->room[best]; best++)
			;
		for (i = best + 1; i < fw.sms; i++)
			if (pool->room[i] && pool->score[i] > pool->score[best])
				best = i;
		pool->room[best]--;
		pool->score[best] -= (int32_t)pool->delta;
		*out++ = 1 | best / 32 << 16 | 1u << 24;
		*out++ = 1u << (best % 32);
	}
	return out;
}

/* How many CTAs SM @i gets before its score falls below @height. */
static uint32_t above(const struct pool *pool, uint32_t i, int32_t height)
{
	uint32_t n;

	if (!pool->room[i] || pool->score[i] < height)
		return 0;
	if (!pool->delta)
		return pool->room[i];
	n = (uint32_t)(pool->score[i] - height) / pool->delta + 1;
	return n < pool->room[i] ? n : pool->room[i];
}

/* The lowest score at which one of @n CTAs is placed, if more than @n would fit. */
static int32_t waterline(const struct pool *pool, uint32_t n)
{
	int32_t low = pool->low, high = pool->high, middle;
	uint32_t i, sum;

	/* Above @low all CTAs fit; the highest line above which @n fit is in [low, high]. */
	while (low < high) {
		middle = low + (int32_t)(((uint32_t)high - (uint32_t)low + 1) / 2);
		for (sum = 0, i = 0; i < fw.sms; i++)
			sum += above(pool, i, middle);
		if (sum >= n)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Change room to what each SM gets: all that is above the line, and at the line itself in order of position. */
static void share_out(struct pool *pool, uint32_t n, int32_t line)
{
	uint32_t i, sure, at;

	for (i = 0; i < fw.sms; i++)
		n -= above(pool, i, line + 1);
	for (i = 0; i < fw.sms; i++) {
		sure = above(pool, i, line + 1);
		at = above(pool, i, line) - sure;
		at = at < n ? at : n;
		n -= at;
		pool->room[i] = (uint8_t)(sure + at);
	}
}

/* Write segments for pool->room, now the CTAs that each SM gets. SMs share a segment for what all of them get. */
static uint32_t *segments(struct pool *pool, uint32_t words, uint32_t *out)
{
	uint32_t least, i, k;

	for (;;) {
		for (least = ~0u, i = 0; i < fw.sms; i++)
			if (pool->room[i] && pool->room[i] < least)
				least = pool->room[i];
		if (least == ~0u)
			return out;
		*out++ = least | words << 24;
		for (k = 0; k < words; k++)
			out[k] = 0;
		for (i = 0; i < fw.sms; i++)
			if (pool->room[i]) {
				out[i / 32] |= 1u << (i % 32);
				pool->room[i] = (uint8_t)(pool->room[i] - least);
			}
		out += words;
	}
}

COLD uint32_t score_pour(const struct shape *shape, const struct lake *lake, uint32_t n, uint32_t *out, uint32_t **end)
{
	uint32_t placed;

	*end = out;
	if (!match_ask()) {
		match_wait();
		return n;
	}
	if (!work_out(lake)) {
		visit_cut();
		return n;
	}
	gather(&pool, shape, lake);
	pool_forget(); /* what is placed changes the scores */
	placed = n < pool.rooms ? n : pool.rooms;
	/* How much a CTA takes from the largest runs is known only when it is resident: place one, then look again. */
	if (place_state.choice & TUTTI_CHOICE_LARGEST && placed > 1) {
		state_retry(); /* match_wait() would write its command where the caller's LAUNCH is being made */
		placed = 1;
	}
	if (placed <= FEW) {
		*end = one_at_a_time(&pool, placed, out);
		return n - placed;
	}
	if (placed < pool.rooms)
		share_out(&pool, placed, waterline(&pool, placed));
	*end = segments(&pool, fw.words, out);
	return n - placed;
}

// SPDX-License-Identifier: MIT
/* Scores of SMs (RES-13 .. RES-15) against choosing for one CTA at a time. */
#include "fw_rig.h"

#include "core/counters.h"
#include "place/sm_score.h"
#include "place/sm_match.h"

static unsigned sms;
static struct shape shape;
static struct lake lake;
static uint8_t room[TUTTI_MAX_SMS];
static uint32_t weight[TUTTI_RESOURCES], power[TUTTI_CLASSES], combine[2];
static uint32_t out[LAKE_MESSAGE(LAKE_WORDS)];
static unsigned visits; /* that the last pour() took */

static int set(unsigned policy, uint32_t value)
{
	struct tutti_message m = { .type = TUTTI_MSG_POLICY, .arg = { policy, value } };

	return rig_message(&m);
}

static int ask(unsigned policy, unsigned which, uint32_t *value)
{
	struct tutti_message m = { .type = TUTTI_MSG_POLICY, .arg = { policy, which, 1 } };
	int status = rig_message(&m);

	*value = (uint32_t)m.value;
	return status;
}

static void begin(unsigned n)
{
	struct tutti_discovery *d;

	sms = n;
	rig_boot(n, 1);
	d = (void *)hal_host.window;
	d->features |= TUTTI_FEATURE_ENERGY;
	match_ask();
	rig_event(TUTTI_EVENT_NONE, 0, 0);
	rig_drain();
	assert_true(match_ask());
}

/* What the table says, free blocks anywhere, and how many CTAs each SM takes. */
static void some_card(bool similar)
{
	uint32_t mask[LAKE_WORDS] = { 0 };
	unsigned i, p, c;

	lake_init(&lake, (sms + 31) / 32, mask, 0);
	lake.top = lake.row;
	for (i = 0; i < sms; i++) {
		struct tutti_sm_state *sm = &hal_host.sms[i];

		*sm = (struct tutti_sm_state){ .cta_slots = 1 + roll(32), .barriers = roll(17), .shared_blocks = 64 };
		sm->shared[0] = roll32();
		sm->shared[1] = roll32();
		sm->shared_free = (uint32_t)(__builtin_popcount(sm->shared[0]) + __builtin_popcount(sm->shared[1]));
		for (p = 0; p < 4; p++) {
			sm->peu[p].free_waves = (uint16_t)roll(9);
			sm->peu[p].scalar[0] = roll32();
			sm->peu[p].vector[0] = roll32();
			sm->peu[p].scalar_free = (uint16_t)__builtin_popcount(sm->peu[p].scalar[0]);
			sm->peu[p].vector_free = (uint16_t)__builtin_popcount(sm->peu[p].vector[0]);
		}
		for (c = 0; c < TUTTI_CLASSES; c++)
			sm->recent[c] = roll(3) ? roll(100) : 0;
		if (similar && i)
			*sm = hal_host.sms[roll(2) ? 0 : i - 1];
		room[i] = (uint8_t)(roll(4) ? roll(9) : 0);
		if (room[i])
			lake_add(&lake, i / 32, 1u << (i % 32), room[i]);
	}
}

static unsigned longest(const uint32_t *map, unsigned words, unsigned blocks)
{
	unsigned best = 0, length = 0;

	for (unsigned b = 0; b < blocks; b++) {
		length = map[b % words] >> (b / words) & 1 ? length + 1 : 0;
		best = length > best ? length : best;
	}
	return best;
}

/* Sums of the spec, of @sm with @ctas more CTAs of the shape. */
static int64_t remaining(const struct tutti_sm_state *sm, unsigned ctas, bool runs)
{
	int64_t r[TUTTI_RESOURCES] = { 0 }, sum = 0;
	unsigned p, i;

	for (p = 0; p < 4; p++) {
		r[TUTTI_RESOURCE_WAVES] += sm->peu[p].free_waves;
		r[TUTTI_RESOURCE_SCALAR] += runs ? longest(sm->peu[p].scalar, 1, 32) : sm->peu[p].scalar_free;
		r[TUTTI_RESOURCE_VECTOR] += runs ? longest(sm->peu[p].vector, 1, 32) : sm->peu[p].vector_free;
	}
	r[TUTTI_RESOURCE_SHARED] = runs ? longest(sm->shared, 2, 64) : sm->shared_free;
	r[TUTTI_RESOURCE_BARRIERS] = sm->barriers;
	r[TUTTI_RESOURCE_CTAS] = sm->cta_slots;
	r[TUTTI_RESOURCE_WAVES] -= ctas * shape.waves;
	r[TUTTI_RESOURCE_SCALAR] -= ctas * shape.waves * (shape.registers & 0xffff);
	r[TUTTI_RESOURCE_VECTOR] -= ctas * shape.waves * (shape.registers >> 16);
	r[TUTTI_RESOURCE_SHARED] -= ctas * (shape.shared & 0xffff);
	r[TUTTI_RESOURCE_BARRIERS] -= ctas * (shape.shared >> 16);
	r[TUTTI_RESOURCE_CTAS] -= ctas;
	for (i = 0; i < TUTTI_RESOURCES; i++)
		sum += weight[i] * r[i];
	return sum;
}

static int64_t spent(const struct tutti_sm_state *sm)
{
	int64_t sum = 0;

	for (unsigned c = 0; c < TUTTI_CLASSES; c++)
		sum += (int64_t)power[c] * sm->recent[c];
	return sum;
}

static int64_t score(unsigned policy, unsigned i, unsigned ctas)
{
	const struct tutti_sm_state *sm = &hal_host.sms[i];
	bool runs = policy & TUTTI_CHOICE_LARGEST;

	switch (policy & 3) {
	case TUTTI_CHOICE_REMAINING:
		return remaining(sm, ctas, runs);
	case TUTTI_CHOICE_POWER:
		return -spent(sm);
	}
	return combine[0] * remaining(sm, ctas, runs) - combine[1] * spent(sm);
}

/* Best SM for each CTA in turn, into @order. Return: CTAs placed. */
static unsigned oracle(unsigned policy, unsigned n, uint16_t *order)
{
	unsigned got[TUTTI_MAX_SMS] = { 0 }, placed = 0, i, best;

	for (; placed < n; placed++) {
		for (best = sms, i = 0; i < sms; i++)
			if (got[i] < room[i] && (best == sms || score(policy, i, got[i]) > score(policy, best, got[best])))
				best = i;
		if (best == sms)
			break;
		got[best]++;
		order[placed] = (uint16_t)best;
	}
	return placed;
}

static unsigned read_segments(const uint32_t *p, const uint32_t *end, uint16_t *order)
{
	unsigned n = 0;

	while (p < end) {
		unsigned repeat = *p & 0xffff, first = *p >> 16 & 0xff, words = *p >> 24, r, b;

		for (p++, r = 0; r < repeat; r++)
			for (b = 0; b < 32 * words; b++)
				if (p[b / 32] >> (b % 32) & 1)
					order[n++] = (uint16_t)(32 * first + b);
		p += words;
	}
	return n;
}

/* What one visit places counts in the next one, but not in the table yet. Return: CTAs placed */
static unsigned took(const uint32_t *end, uint16_t *order)
{
	unsigned n = read_segments(out, end, order), i;

	assert_true(end - out <= (long)LAKE_MESSAGE((sms + 31) / 32));
	for (i = 0; i < n; i++) {
		assert_int_not_equal(lake_level(&lake, order[i]), 0);
		lake_lower(&lake, order[i] / 32, 1u << (order[i] % 32), 1);
	}
	counters.ctas_issued += n;
	return n;
}

/* Place @n CTAs, in as many visits as that takes. Return: CTAs placed */
static unsigned pour(unsigned n, uint16_t *order)
{
	const struct lake before = lake;
	unsigned placed = 0, left, now;
	uint32_t *end;
	bool more;

	visits = 0;
	do {
		visits++;
		rig_event(TUTTI_EVENT_NONE, 0, 0);
		rig_drain();
		place_state.blocked = false;
		left = score_pour(&shape, &lake, n - placed, out, &end);
		now = took(end, order + placed);
		placed += now;
		assert_int_equal(left, n - placed);
		/* it is tried again at once only if something is left that could go */
		assert_true(!place_state.blocked || (now && placed < n));
		more = now ? place_state.blocked : place_state.detours & DETOUR_CUT;
	} while (more);
	lake = before;
	return placed;
}

static void compare(unsigned policy, unsigned n)
{
	static uint16_t want[TUTTI_MAX_SMS * 9], got[TUTTI_MAX_SMS * 9];
	uint16_t counts[2][TUTTI_MAX_SMS] = { { 0 } };
	unsigned placed, i;

	if (policy & TUTTI_CHOICE_LARGEST)
		n = n ? 1 : 0;
	placed = oracle(policy, n, want);
	assert_int_equal(pour(n, got), placed);
	for (i = 0; i < placed; i++) {
		counts[0][want[i]]++;
		counts[1][got[i]]++;
	}
	for (i = 0; i < sms; i++)
		assert_int_equal(counts[0][i], counts[1][i]);
	if (placed <= 16)
		assert_memory_equal(want, got, placed * 2);
}

static void some_weights(void)
{
	unsigned i;

	for (i = 0; i < TUTTI_RESOURCES; i++)
		assert_int_equal(set(TUTTI_POLICY_REMAINING_WEIGHT, i << 24 | (weight[i] = roll(4) ? roll(200) : 0)), 0);
	for (i = 0; i < TUTTI_CLASSES; i++)
		assert_int_equal(set(TUTTI_POLICY_POWER_WEIGHT, i << 24 | (power[i] = roll(200))), 0);
	combine[0] = roll(200);
	combine[1] = 1 + roll(200);
	assert_int_equal(set(TUTTI_POLICY_COMBINE, combine[0] << 16 | combine[1]), 0);
}

static void one_cta_at_a_time(void **unused)
{
	static const unsigned sizes[] = { 1, 7, 32, 40, 132, 144, 1024 };
	static const unsigned policies[] = { TUTTI_CHOICE_REMAINING, TUTTI_CHOICE_POWER, TUTTI_CHOICE_COMBINED,
					     TUTTI_CHOICE_REMAINING | TUTTI_CHOICE_LARGEST,
					     TUTTI_CHOICE_COMBINED | TUTTI_CHOICE_LARGEST };
	unsigned round, p;

	for (round = 0; round < 210; round++) {
		seed(round);
		begin(sizes[round % 7]);
		some_weights();
		for (p = 0; p < 5; p++) {
			assert_int_equal(set(TUTTI_POLICY_CHOICE, policies[p]), 0);
			shape = (struct shape){ .registers = roll(6) | roll(6) << 16, .shared = roll(5) | roll(2) << 16,
						.waves = 1 + roll(4) };
			some_card(round & 1);
			compare(policies[p], roll(8));
			compare(policies[p], roll(sms < 200 ? sms * 6 : 300));
			compare(policies[p], sms < 200 ? sms * 10 : 20);
		}
	}
}

/* However large the weights are, the order of two SMs that differ clearly stays. */
static void large_weights(void **unused)
{
	uint16_t order[4];
	uint32_t *end;
	unsigned i;

	begin(2);
	for (i = 0; i < TUTTI_RESOURCES; i++)
		assert_int_equal(set(TUTTI_POLICY_REMAINING_WEIGHT, i << 24 | 0xffffff), 0);
	for (i = 0; i < TUTTI_CLASSES; i++)
		assert_int_equal(set(TUTTI_POLICY_POWER_WEIGHT, i << 24 | 0xffffff), 0);
	assert_int_equal(set(TUTTI_POLICY_COMBINE, 0xffffffff), 0);
	for (i = 1; i <= 3; i++) {
		assert_int_equal(set(TUTTI_POLICY_CHOICE, i), 0);
		seed(i);
		some_card(false);
		lake_init(&lake, 1, (uint32_t[]){ 3 }, 4);
		for (unsigned p = 0; p < 4; p++) {
			hal_host.sms[0].peu[p].vector_free = 3;
			hal_host.sms[1].peu[p].vector_free = 32;
		}
		memset(hal_host.sms[0].recent, 0xff, sizeof(hal_host.sms[0].recent));
		memset(hal_host.sms[1].recent, 0, sizeof(hal_host.sms[1].recent));
		hal_host.sms[0].cta_slots = hal_host.sms[0].barriers = hal_host.sms[0].shared_free = 0;
		assert_int_equal(score_pour(&shape, &lake, 1, out, &end), 0);
		assert_int_equal(read_segments(out, end, order), 1);
		assert_int_equal(order[0], 1);
	}
}

static void values_are_checked(void **unused)
{
	uint32_t value;

	begin(3);
	assert_int_equal(set(TUTTI_POLICY_CHOICE, 4), -TUTTI_EINVAL);
	assert_int_equal(set(TUTTI_POLICY_CHOICE, 6), -TUTTI_EINVAL);
	assert_int_equal(set(TUTTI_POLICY_CHOICE, 8), -TUTTI_EINVAL);
	assert_int_equal(set(TUTTI_POLICY_REMAINING_WEIGHT, TUTTI_RESOURCES << 24), -TUTTI_EINVAL);
	assert_int_equal(set(TUTTI_POLICY_POWER_WEIGHT, TUTTI_CLASSES << 24), -TUTTI_EINVAL);
	assert_int_equal(set(TUTTI_POLICY_POWER_WINDOW, 1000), -TUTTI_EINVAL);
	assert_int_equal(set(TUTTI_POLICY_POWER_WINDOW, 4), -TUTTI_EINVAL);
	assert_int_equal(set(TUTTI_POLICY_COMBINE, 0), -TUTTI_EINVAL);
	assert_int_equal(set(TUTTI_POLICIES, 0), -TUTTI_EINVAL);
	/* all of it can be asked for */
	assert_int_equal(set(TUTTI_POLICY_CHOICE, 7), 0);
	assert_int_equal(ask(TUTTI_POLICY_CHOICE, 0, &value), 0);
	assert_int_equal(value, 7);
	assert_int_equal(set(TUTTI_POLICY_REMAINING_WEIGHT, 3u << 24 | 1234), 0);
	assert_int_equal(ask(TUTTI_POLICY_REMAINING_WEIGHT, 3, &value), 0);
	assert_int_equal(value, 1234);
	assert_int_equal(ask(TUTTI_POLICY_REMAINING_WEIGHT, 6, &value), -TUTTI_EINVAL);
	assert_int_equal(set(TUTTI_POLICY_POWER_WEIGHT, 7u << 24 | 99), 0);
	assert_int_equal(ask(TUTTI_POLICY_POWER_WEIGHT, 7, &value), 0);
	assert_int_equal(value, 99);
	assert_int_equal(set(TUTTI_POLICY_POWER_WINDOW, 1u << 20), 0);
	assert_int_equal(ask(TUTTI_POLICY_POWER_WINDOW, 0, &value), 0);
	assert_int_equal(value, 1u << 20);
	assert_int_equal(shapes.sm_mode >> 8, 20); /* the SMs were told */
	assert_int_equal(set(TUTTI_POLICY_POWER_WINDOW, 0), 0);
	assert_int_equal(ask(TUTTI_POLICY_POWER_WINDOW, 0, &value), 0);
	assert_int_equal(value, 1024);
	assert_int_equal(set(TUTTI_POLICY_SEARCH, TUTTI_SEARCH_SAMPLED), 0);
	assert_int_equal(ask(TUTTI_POLICY_SEARCH, 0, &value), 0);
	assert_int_equal(value, TUTTI_SEARCH_SAMPLED);
	assert_int_equal(ask(TUTTI_POLICY_SM_ORDER, 2, &value), 0);
	assert_int_equal(value, 2);
	assert_int_equal(ask(TUTTI_POLICY_SM_ORDER, 3, &value), -TUTTI_EINVAL);
	assert_int_equal(ask(TUTTI_POLICIES, 0, &value), -TUTTI_EINVAL);
	/* a card without instruction counters */
	((struct tutti_discovery *)hal_host.window)->features &= ~TUTTI_FEATURE_ENERGY;
	assert_int_equal(set(TUTTI_POLICY_CHOICE, TUTTI_CHOICE_POWER), -TUTTI_ENOTSUP);
	assert_int_equal(set(TUTTI_POLICY_CHOICE, TUTTI_CHOICE_COMBINED), -TUTTI_ENOTSUP);
	assert_int_equal(set(TUTTI_POLICY_CHOICE, TUTTI_CHOICE_REMAINING), 0);
}

/* While commands are on their way the table lies: nothing is placed, and it is asked again. */
static void only_the_truth(void **unused)
{
	uint32_t *end;

	begin(4);
	assert_int_equal(set(TUTTI_POLICY_CHOICE, TUTTI_CHOICE_REMAINING), 0);
	seed(5);
	some_card(false);
	lake_init(&lake, 1, (uint32_t[]){ 15 }, 2);
	match_mode(true); /* a command that has not been taken */
	assert_int_equal(score_pour(&shape, &lake, 3, out, &end), 3);
	assert_ptr_equal(end, out);
	assert_true(match.waiting);
	rig_event(TUTTI_EVENT_NONE, 0, 0);
	rig_drain();
	assert_int_equal(score_pour(&shape, &lake, 3, out, &end), 0);
}

/* Every policy there is can be asked for, and says what was set; @which: of those with several values. */
static void all_can_be_asked(void **unused)
{
	static const struct { unsigned policy; uint32_t value, which, answer; } some[] = {
		{ TUTTI_POLICY_ISSUE, 1, 0, 1 },
		{ TUTTI_POLICY_CTA_CAP, 7, 0, 7 },
		{ TUTTI_POLICY_LEVEL_SEARCH, 2, 0, 2 },
		{ TUTTI_POLICY_SM_ORDER, 2u << 16 | 3, 2, 3 },
		{ TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST, 0, TUTTI_CGA_MULTICAST },
		{ TUTTI_POLICY_CGA_PATIENCE, 9, 0, 9 },
		{ TUTTI_POLICY_CGA_PATIENCE, 0, 0, 256 },
		{ TUTTI_POLICY_CHOICE, TUTTI_CHOICE_POWER, 0, TUTTI_CHOICE_POWER },
		{ TUTTI_POLICY_SEARCH, TUTTI_SEARCH_SAMPLED, 0, TUTTI_SEARCH_SAMPLED },
		{ TUTTI_POLICY_SPLIT, 1, 0, 1 },
		{ TUTTI_POLICY_SPLIT_ROUNDS, 33, 0, 33 },
		{ TUTTI_POLICY_SPLIT_ROUNDS, 0, 0, 256 },
		{ TUTTI_POLICY_WINDOW, 3u << 24 | 5000, 3, 5000 },
		{ TUTTI_POLICY_WINDOW, 255u << 24 | 6, 255, 6 },
		{ TUTTI_POLICY_CLASS, 8u << 8 | 5, 8, 5 },
		{ TUTTI_POLICY_SEED, 4711, 0, 4711 },
		{ TUTTI_POLICY_REMAINING_WEIGHT, 4u << 24 | 77, 4, 77 },
		{ TUTTI_POLICY_POWER_WEIGHT, 2u << 24 | 78, 2, 78 },
		{ TUTTI_POLICY_POWER_WINDOW, 64, 0, 64 },
		{ TUTTI_POLICY_COMBINE, 3u << 16 | 4, 0, 3u << 16 | 4 },
	};
	uint32_t value, all = 0;
	unsigned i;

	begin(5);
	for (i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		assert_int_equal(set(some[i].policy, some[i].value), 0);
		assert_int_equal(ask(some[i].policy, some[i].which, &value), 0);
		if (value != some[i].answer)
			fail_msg("policy %u: %u", some[i].policy, value);
		all |= 1u << some[i].policy;
	}
	assert_int_equal(all, (1u << TUTTI_POLICIES) - 1);
	assert_int_equal(ask(TUTTI_POLICIES, 0, &value), -TUTTI_EINVAL);
	assert_int_equal(ask(TUTTI_POLICY_WINDOW, 8, &value), -TUTTI_EINVAL);
	assert_int_equal(ask(TUTTI_POLICY_CLASS, 0, &value), -TUTTI_EINVAL);
	assert_int_equal(ask(TUTTI_POLICY_CLASS, 11, &value), -TUTTI_EINVAL);
	assert_int_equal(ask(TUTTI_POLICY_SM_ORDER, 5, &value), -TUTTI_EINVAL);
}

/* The last value that each policy takes, and the first one that it does not, which changes nothing. */
static void values_at_limits(void **unused)
{
	static const struct { unsigned policy; uint32_t good, bad; } limits[] = {
		{ TUTTI_POLICY_ISSUE, 1, 2 },
		{ TUTTI_POLICY_LEVEL_SEARCH, 2, 3 },
		{ TUTTI_POLICY_SM_ORDER, 4u << 16 | 4, 5u << 16 | 4 },
		{ TUTTI_POLICY_SM_ORDER, 4u << 16 | 4, 4u << 16 | 5 },
		{ TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST, TUTTI_CGA_MULTICAST + 1 },
		{ TUTTI_POLICY_CHOICE, TUTTI_CHOICE_COMBINED | TUTTI_CHOICE_LARGEST, 8 },
		{ TUTTI_POLICY_CHOICE, TUTTI_CHOICE_REMAINING | TUTTI_CHOICE_LARGEST, TUTTI_CHOICE_POWER | TUTTI_CHOICE_LARGEST },
		{ TUTTI_POLICY_CHOICE, TUTTI_CHOICE_MOST_FREE, TUTTI_CHOICE_MOST_FREE | TUTTI_CHOICE_LARGEST },
		{ TUTTI_POLICY_SEARCH, TUTTI_SEARCH_SHARED, TUTTI_SEARCH_SHARED + 1 },
		{ TUTTI_POLICY_SPLIT, 1, 2 },
		{ TUTTI_POLICY_WINDOW, 7u << 24 | 1, 8u << 24 | 1 },
		{ TUTTI_POLICY_WINDOW, 7u << 24 | 0xffffff, 7u << 24 },
		{ TUTTI_POLICY_WINDOW, 255u << 24 | 8, 255u << 24 | 9 },
		{ TUTTI_POLICY_WINDOW, 255u << 24 | 2, 255u << 24 | 1 },
		{ TUTTI_POLICY_CLASS, 10u << 8 | 7, 10u << 8 | 8 },
		{ TUTTI_POLICY_CLASS, 10u << 8 | 7, 11u << 8 | 7 },
		{ TUTTI_POLICY_CLASS, 1u << 8, 0 },
		{ TUTTI_POLICY_REMAINING_WEIGHT, (TUTTI_RESOURCES - 1) << 24 | 0xffffff, TUTTI_RESOURCES << 24 },
		{ TUTTI_POLICY_POWER_WEIGHT, (TUTTI_CLASSES - 1) << 24 | 0xffffff, (uint32_t)TUTTI_CLASSES << 24 },
		{ TUTTI_POLICY_POWER_WINDOW, 8, 4 },
		{ TUTTI_POLICY_POWER_WINDOW, 16, 12 },
		{ TUTTI_POLICY_COMBINE, 1, 0 },
		{ TUTTI_POLICY_SEED, ~0u, ~0u },
	};
	uint32_t before, after, which, shift;
	unsigned i;

	begin(5);
	for (i = 0; limits[i].good != limits[i].bad; i++) {
		shift = tutti_policy_shift(limits[i].policy);
		which = shift < 32 ? limits[i].good >> shift : 0;
		if (set(limits[i].policy, limits[i].good))
			fail_msg("policy %u, %x: refused", limits[i].policy, limits[i].good);
		assert_int_equal(ask(limits[i].policy, which, &before), 0);
		assert_int_equal(before, shift < 32 ? limits[i].good & ((1u << shift) - 1) : limits[i].good);
		if (set(limits[i].policy, limits[i].bad) != -TUTTI_EINVAL)
			fail_msg("policy %u, %x: taken", limits[i].policy, limits[i].bad);
		assert_int_equal(ask(limits[i].policy, which, &after), 0);
		assert_int_equal(after, before);
	}
	assert_int_equal(set(TUTTI_POLICIES, 0), -TUTTI_EINVAL);
}

/* Until weights are set, all resources and all instructions weigh the same. */
static void default_weights(void **unused)
{
	static const unsigned policies[] = { TUTTI_CHOICE_REMAINING, TUTTI_CHOICE_POWER, TUTTI_CHOICE_COMBINED };
	uint32_t value;
	unsigned i, round;

	begin(40);
	for (i = 0; i < TUTTI_RESOURCES; i++) {
		weight[i] = 1;
		assert_int_equal(ask(TUTTI_POLICY_REMAINING_WEIGHT, i, &value), 0);
		assert_int_equal(value, 1);
	}
	for (i = 0; i < TUTTI_CLASSES; i++) {
		power[i] = 1;
		assert_int_equal(ask(TUTTI_POLICY_POWER_WEIGHT, i, &value), 0);
		assert_int_equal(value, 1);
	}
	combine[0] = combine[1] = 1;
	assert_int_equal(ask(TUTTI_POLICY_COMBINE, 0, &value), 0);
	assert_int_equal(value, 1u << 16 | 1);
	assert_int_equal(ask(TUTTI_POLICY_POWER_WINDOW, 0, &value), 0);
	assert_int_equal(value, 1024);
	for (round = 0; round < 30; round++) {
		seed(300 + round);
		assert_int_equal(set(TUTTI_POLICY_CHOICE, policies[round % 3]), 0);
		shape = (struct shape){ .registers = roll(6) | roll(6) << 16, .shared = roll(5) | roll(2) << 16,
					.waves = 1 + roll(4) };
		some_card(round & 1);
		compare(policies[round % 3], roll(100));
	}
}

/* Of two SMs the second one has a higher score by the least that these weights can tell: it is chosen. */
static void chosen_is_second(unsigned policy)
{
	uint16_t order[4];
	uint32_t *end;

	assert_int_equal(set(TUTTI_POLICY_CHOICE, policy), 0);
	lake_init(&lake, 1, (uint32_t[]){ 3 }, 4);
	assert_int_equal(score_pour(&shape, &lake, 1, out, &end), 0);
	assert_int_equal(read_segments(out, end, order), 1);
	assert_int_equal(order[0], 1);
}

static void set_all(uint32_t resources, uint32_t classes)
{
	for (unsigned i = 0; i < TUTTI_RESOURCES; i++)
		assert_int_equal(set(TUTTI_POLICY_REMAINING_WEIGHT, i << 24 | resources), 0);
	for (unsigned i = 0; i < TUTTI_CLASSES; i++)
		assert_int_equal(set(TUTTI_POLICY_POWER_WEIGHT, i << 24 | classes), 0);
}

/* Weights are made smaller only as far as scores need it, so small differences still count. */
static void small_differences(void **unused)
{
	struct tutti_sm_state *sm = hal_host.sms;
	unsigned x;

	begin(2);
	shape = (struct shape){ .waves = 1 };
	memset(sm, 0, 2 * sizeof(*sm));
	/* the most expensive instruction in about half of a window */
	set_all(0, 0xffffff);
	for (x = 0; x < TUTTI_CLASSES; x++) {
		sm[0].recent[x] = 501;
		sm[1].recent[x] = 500;
		chosen_is_second(TUTTI_CHOICE_POWER);
		sm[0].recent[x] = sm[1].recent[x] = 0;
	}
	/* each resource, where all of them weigh as much as they can */
	set_all(0xffffff, 0);
	for (x = 0; x < 31; x++) {
		sm[0].cta_slots = sm[0].shared_free = x;
		sm[1].cta_slots = sm[1].shared_free = x + 1;
		chosen_is_second(TUTTI_CHOICE_REMAINING);
		assert_int_equal(set(TUTTI_POLICY_COMBINE, 0xffff0001), 0);
		chosen_is_second(TUTTI_CHOICE_COMBINED);
	}
	/* a weight of 1 beside the largest one that leaves it its bits */
	set_all(0, 0);
	assert_int_equal(set(TUTTI_POLICY_REMAINING_WEIGHT, TUTTI_RESOURCE_WAVES << 24 | 0xffffff), 0);
	assert_int_equal(set(TUTTI_POLICY_REMAINING_WEIGHT, TUTTI_RESOURCE_CTAS << 24 | 1), 0);
	chosen_is_second(TUTTI_CHOICE_REMAINING);
	/* and of the two parts of a combination the one that weighs more decides */
	set_all(1, 1);
	memset(sm, 0, 2 * sizeof(*sm));
	sm[0].cta_slots = sm[0].recent[0] = 20;
	assert_int_equal(set(TUTTI_POLICY_COMBINE, 0x00fe00ff), 0);
	chosen_is_second(TUTTI_CHOICE_COMBINED);
	sm[1] = sm[0];
	sm[0].cta_slots = sm[0].recent[0] = 0;
	assert_int_equal(set(TUTTI_POLICY_COMBINE, 0x00ff00fe), 0);
	chosen_is_second(TUTTI_CHOICE_COMBINED);
}

/* SMs that are all alike take turns: one segment says so, however many CTAs there are. */
static void turns_in_one_segment(void **unused)
{
	static const unsigned sizes[] = { 5, 33, 144, 1024 };
	uint32_t all[LAKE_WORDS] = { 0 }, *end;
	unsigned i, k, n;

	for (k = 0; k < 4; k++) {
		begin(sizes[k]);
		set_all(1, 1);
		assert_int_equal(set(TUTTI_POLICY_CHOICE, TUTTI_CHOICE_REMAINING), 0);
		shape = (struct shape){ .waves = 1 };
		memset(hal_host.sms, 0, sms * sizeof(hal_host.sms[0]));
		for (i = 0; i < sms; i++)
			all[i / 32] |= 1u << (i % 32);
		lake_init(&lake, (sms + 31) / 32, all, 5);
		n = k ? sms : 5 * sms;
		for (i = 0; i < 60 && score_pour(&shape, &lake, n, out, &end) == n; i++) /* visits for the scores */
			counters.events++;
		assert_int_equal(end - out, 1 + (sms + 31) / 32);
		assert_int_equal(out[0], (k ? 1 : 5) | ((sms + 31) / 32) << 24);
		assert_memory_equal(out + 1, all, (sms + 31) / 32 * 4);
	}
}

/* Scores take steps: a visit works out as many as it has time for, and no more (REL-11). */
static void scores_in_several_visits(void **unused)
{
	uint16_t order[4];

	begin(144);
	set_all(1, 1);
	assert_int_equal(set(TUTTI_POLICY_CHOICE, TUTTI_CHOICE_REMAINING), 0);
	shape = (struct shape){ .waves = 1 };
	some_card(false);
	for (unsigned i = 0; i < sms; i++)
		lake_set(&lake, i / 32, 1u << (i % 32), 2);
	compare(TUTTI_CHOICE_REMAINING, 1);
	assert_int_equal(visits, 5); /* 34 scores in each of the first four */
	pour(1, order);
	assert_int_equal(visits, 5); /* none is kept after a placement, which changes them */
	assert_int_equal(set(TUTTI_POLICY_CHOICE, TUTTI_CHOICE_REMAINING | TUTTI_CHOICE_LARGEST), 0);
	pour(1, order);
	assert_int_equal(visits, 29); /* 5 in each of the first 28 */
}

/* Scores that wait for others to be worked out are kept for 512 visits, then they are read again. */
static void scores_grow_old(void **unused)
{
	uint32_t *end, event;
	uint16_t order[4];

	for (unsigned old = 0; old < 2; old++) {
		begin(30);
		set_all(1, 1);
		event = counters.events + 1;
		assert_int_equal(set(TUTTI_POLICY_CHOICE, TUTTI_CHOICE_REMAINING), 0); /* from now on they count */
		shape = (struct shape){ .waves = 1 };
		memset(hal_host.sms, 0, sms * sizeof(hal_host.sms[0]));
		lake_init(&lake, 1, (uint32_t[]){ 0x3fffffff }, 4);
		rig_shorten_visit(60 * 5);
		counters.events++;
		assert_int_equal(score_pour(&shape, &lake, 1, out, &end), 1);
		rig_drain();
		hal_host.sms[2].cta_slots = 3;
		counters.events = event + 512 + old;
		assert_int_equal(score_pour(&shape, &lake, 1, out, &end), 0);
		assert_int_equal(read_segments(out, end, order), 1);
		assert_int_equal(order[0], old ? 2 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("RES-13, RES-14, RES-15", one_cta_at_a_time),
		RIG_TEST("RES-13, RES-14, RES-15", large_weights),
		RIG_TEST("RES-15, SYS-08", values_are_checked),
		RIG_TEST("RES-13", only_the_truth),
		RIG_TEST("RES-06, RES-08, RES-15, SYS-08, SYS-41", all_can_be_asked),
		RIG_TEST("SYS-08 RES-06 RES-13", values_at_limits),
		RIG_TEST("RES-13, RES-14, RES-15", default_weights),
		RIG_TEST("RES-13, RES-14, RES-15", small_differences),
		RIG_TEST("RES-13, CGA-16", turns_in_one_segment),
		RIG_TEST("RES-13, REL-11", scores_in_several_visits),
		RIG_TEST("RES-13, REL-11", scores_grow_old),
	};

	return cmocka_run_group_tests_name("firmware: choice of SMs", tests, NULL, NULL);
}

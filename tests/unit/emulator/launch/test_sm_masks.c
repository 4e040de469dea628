// SPDX-License-Identifier: MIT
/* Bits of the masks in commands are positions in the order that ORDER sets; here on a card whose masks have many words. */
#include "roll.h"
#include "sm_cga_rig.h"

#define MANY 144u
#define WORDS ((MANY + 31) / 32)
#define SLOT 31u /* the last one */
#define TURNS 3u /* until SMs acknowledge a state */

static int setup_many(void **unused)
{
	card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, MANY);
	memcpy(rig_map(card, 1, CODE, 4096, RX), sm_cga_kernels, sizeof(sm_cga_kernels));
	data = rig_map(card, 1, DATA, 65536, RW);
	data[61440 / 8] = DATA;
	return 0;
}

static void state_of(unsigned slot, uint32_t ctas)
{
	struct tutti_task_state state = rig_state(1, C_IDS, ctas, 1);

	sm_array_state(card->array, slot, 0, &state, NULL, NULL, 0);
}

/* Set a random order of all SMs, by one or two commands. */
static void random_order(uint16_t order[MANY])
{
	uint32_t words[MANY / 2], split = roll(MANY / 2);

	for (unsigned i = 0; i < MANY; i++)
		order[i] = (uint16_t)i;
	for (unsigned i = MANY - 1; i; i--) {
		unsigned k = roll(i + 1);
		uint16_t other = order[k];

		order[k] = order[i];
		order[i] = other;
	}
	for (unsigned i = 0; i < MANY / 2; i++)
		words[i] = order[2 * i] | (uint32_t)order[2 * i + 1] << 16;
	sm_array_order(card->array, 2 * split, words + split, MANY / 2 - split);
	sm_array_order(card->array, 0, words, split);
}

/* Segments for some 100 CTAs. Return: how many words there are; @sm gets where each CTA must run. */
static unsigned segments(const uint16_t order[MANY], uint32_t *words, uint16_t *sm, unsigned *ctas)
{
	unsigned n = 0;

	for (*ctas = 0; *ctas < 60;) {
		unsigned repeat = 1 + roll(2), first = roll(WORDS), count = 1 + roll(WORDS - first);
		uint32_t *mask = words + n + 1;

		words[n] = repeat | first << 16 | count << 24;
		for (unsigned w = 0; w < count; w++)
			mask[w] = 1u << roll(32) | 1u << roll(32) | (roll(2) ? 0x80000001u : 0);
		if (first + count == WORDS)
			mask[count - 1] &= (1u << MANY % 32) - 1;
		for (unsigned r = 0; r < repeat; r++)
			for (unsigned p = 32 * first; p < 32 * (first + count) && p < MANY; p++)
				if (mask[p / 32 - first] >> p % 32 & 1)
					sm[(*ctas)++] = order[p];
		n += 1 + count;
	}
	return n;
}

/* The end of each CTA is reported at the position of its SM in the order, and at no other. */
static void expect_places(const uint16_t order[MANY], const uint16_t *sm, unsigned ctas)
{
	for (unsigned p = 0; p < MANY; p++) {
		unsigned n = 0;

		for (unsigned i = 0; i < ctas; i++)
			n += sm[i] == order[p];
		assert_int_equal(card->done_at[SLOT][p], n);
	}
}

static void launches(void **unused)
{
	static const unsigned flags[] = {0, TUTTI_LAUNCH_WORK, TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA,
					 TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA | TUTTI_LAUNCH_WORK};
	unsigned done = 0;

	for (unsigned round = 0; round < 200; round++) {
		unsigned head = 0, ctas, n, flag = flags[round % 4];
		uint16_t order[MANY], sm[128];
		uint32_t words[256];

		random_order(order);
		if (flag & TUTTI_LAUNCH_CGA) {
			words[head++] = round | (uint32_t)TUTTI_GPC_NONE << 24;
			words[head++] = ~0u;
		}
		if (flag & TUTTI_LAUNCH_WORK) {
			words[head++] = 1000;
			words[head++] = 0;
			words[head++] = 3;
		}
		n = head + segments(order, words + head, sm, &ctas);
		assert_true(ctas <= 128 && n <= 256);
		state_of(SLOT, ctas);
		assert_int_equal(sm_array_launch(card->array, SLOT, flag, words, n), 0);
		done += ctas;
		memset(card->done_at, 0, sizeof(card->done_at));
		rig_until(card, SLOT, done);
		expect_places(order, sm, ctas);
		for (unsigned i = 0; i < ctas; i++)
			assert_int_equal(data[8 * i + 7], sm[i]);
		for (unsigned i = 0; i < ctas && flag & TUTTI_LAUNCH_WORK; i++)
			assert_int_equal(data[8 * i + 5], 1000 + 3 * i);
	}
}

/* A mask that names an SM or a word that does not exist is refused, with and without flags. */
static void beyond(void **unused)
{
	static const struct {
		uint32_t head, mask[2];
		int error;
	} rows[] = {
		{1 | 4u << 16 | 1u << 24, {1u << 15}, 0},
		{1 | 4u << 16 | 1u << 24, {1u << 16}, -EINVAL},
		{1 | 4u << 16 | 2u << 24, {1, 0}, 0},
		{1 | 31u << 16 | 1u << 24, {0}, 0},
		{1 | 31u << 16 | 2u << 24, {0, 0}, -EINVAL},
		{1 | 32u << 16 | 1u << 24, {0}, -EINVAL},
		{1 | 3u << 24, {1, 0}, -EINVAL},
		{1, {1}, -EINVAL},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (unsigned special = 0; special < 2; special++) {
			uint32_t words[6] = {0, 0, 1}, *segment = words + 3 * special, count = rows[i].head >> 24;

			segment[0] = rows[i].head;
			memcpy(segment + 1, rows[i].mask, 8);
			state_of(SLOT, 100);
			if (sm_array_launch(card->array, SLOT, special ? TUTTI_LAUNCH_WORK : 0, words,
					    3 * special + 1 + (count < 2 ? 1 : 2)) != rows[i].error)
				fail_msg("row %u, special %u", i, special);
			sm_array_reset(card->array);
		}
	state_of(SLOT, 1);
	assert_int_equal(rig_launch(card, SLOT + 1, 1, 1), -EINVAL);
}

/* TSK-05: exactly the SMs that a state is for take it. */
static void states(void **unused)
{
	for (unsigned round = 0; round < 50; round++) {
		struct tutti_task_state state = rig_state(1, C_IDS, 100, 1);
		uint32_t mask[WORDS] = {0}, words[1 + WORDS];
		uint16_t order[MANY];

		sm_array_reset(card->array);
		random_order(order);
		for (unsigned i = 0; i < 70; i++)
			mask[roll(MANY) / 32] |= 1u << roll(32);
		mask[WORDS - 1] &= (1u << MANY % 32) - 1;
		sm_array_state(card->array, 0, 0, &state, NULL, mask, WORDS);
		for (unsigned i = 0; i < 30; i++) {
			unsigned p = i ? roll(MANY) : MANY - 1;
			bool told = mask[p / 32] >> p % 32 & 1;

			words[0] = 1 | (p / 32) << 16 | 1u << 24;
			words[1] = 1u << p % 32;
			assert_int_equal(sm_array_launch(card->array, 0, 0, words, 2), told ? 0 : -EINVAL);
		}
	}
}

static int setup_acknowledge(void **state)
{
	rig_acknowledge = TURNS;
	setup_many(state);
	rig_acknowledge = 0;
	return 0;
}

/* Return: how many states of the slot the events so far have acknowledged */
static unsigned acknowledged(void)
{
	unsigned n = 0;

	for (unsigned e = 0; e < card->events; e++)
		if (card->event[e].word[0] == (TUTTI_EVENT_STATE | SLOT << 8))
			n += card->event[e].word[1];
	return n;
}

/*
 * TSK-05: if an SM does not acknowledge states, only a state that was sent to this SM stays unacknowledged. A fault that
 * names an SM which does not exist has no effect.
 */
static void silent(void **unused)
{
	for (unsigned round = 0; round < 400; round++) {
		struct tutti_task_state state = rig_state(1, C_IDS, 100, 1);
		uint32_t mask[WORDS], words = 1 + roll(WORDS);
		bool masked = round % 8, meant = !masked;
		uint16_t order[MANY];
		unsigned sm, p;

		random_order(order);
		p = 32 * roll(WORDS) + 31 * roll(2); /* the first or last bit of a word */
		sm = !roll(8) ? MANY + roll(3) : order[p < MANY && roll(2) ? p : roll(MANY)];
		for (unsigned w = 0; w < WORDS; w++)
			mask[w] = roll(2) ? ~0u << roll(32) : roll(~0u) & roll(~0u); /* bits past the last SM are ignored */
		for (p = 0; p < MANY; p++)
			meant |= order[p] == sm && p / 32 < words && mask[p / 32] >> p % 32 & 1;
		card->silent = 1ull + sm;
		card->events = 0;
		sm_array_state(card->array, SLOT, 0, &state, NULL, masked ? mask : NULL, words);
		for (unsigned i = 0; i < TURNS + 1; i++)
			rig_step(card);
		meant &= sm < MANY;
		if (acknowledged() == meant)
			fail_msg("round %u: SM %u, meant: %u", round, sm, meant);
		card->silent = 0;
		rig_step(card);
		assert_int_equal(acknowledged(), 1);
	}
}

/* TSK-07: so it is with the throttle state; if one of the SMs may not take it, none does. */
static void throttles(void **unused)
{
	uint32_t mask[WORDS] = {1u << 7, 0, 1u << 31, 0, 1u << 15};
	const struct sm *sm = card->array->sm;
	uint16_t order[MANY];

	random_order(order);
	assert_int_equal(sm_array_throttle(card->array, 100, mask, WORDS), 0);
	for (unsigned p = 0; p < MANY; p++)
		assert_int_equal(sm[order[p]].shared_blocks, mask[p / 32] >> p % 32 & 1 ? 100 : 64);
	assert_int_equal(sm_array_throttle(card->array, 0, mask, WORDS), 0);
	for (unsigned p = 0; p < MANY; p++)
		assert_int_equal(sm[order[p]].shared_blocks, 64);
	mask[4] |= 1u << 16;
	assert_int_equal(sm_array_throttle(card->array, 100, mask, WORDS), -EINVAL);
	mask[4] = 1;
	state_of(0, 1);
	assert_int_equal(sm_array_launch(card->array, 0, 0, (uint32_t[]){1 | 4u << 16 | 1u << 24, 1}, 2), 0);
	assert_int_equal(sm_array_throttle(card->array, 100, mask, WORDS), -EINVAL); /* a CTA is there */
	rig_until(card, 0, 1);
	for (unsigned p = 0; p < MANY; p++)
		assert_int_equal(sm[order[p]].shared_blocks, 64);
	assert_int_equal(sm_array_throttle(card->array, 256, mask, WORDS), 0);
	assert_int_equal(sm_array_throttle(card->array, 257, mask, WORDS), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"RES-01, CGA-19: launches of every kind, and their completions, name SMs by their place in the order",
		 launches, setup_many, teardown, NULL},
		{"SYS-10: masks beyond the last SM, and the last word", beyond, setup_many, teardown, NULL},
		{"TSK-05: states for some SMs", states, setup_many, teardown, NULL},
		{"TSK-05, SYS-15: a state waits for a silent SM only if it was sent to it", silent, setup_acknowledge,
		 teardown, NULL},
		{"TSK-07: throttle states of some SMs", throttles, setup_many, teardown, NULL},
	};

	return cmocka_run_group_tests_name("SM: masks", tests, NULL, NULL);
}

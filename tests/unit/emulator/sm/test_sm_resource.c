// SPDX-License-Identifier: MIT
/*
 * Resources that CTAs take of an SM (RES-05): runs of blocks as start and length. Random operations are compared with
 * an oracle that remembers the owner of every single block: nothing overlaps, leaks or is freed twice, freed runs
 * merge, and a CTA gets all that it needs or nothing.
 */
#include "sm_rig.h"

#define BLOCKS (SM_BLOCK_WORDS * 64)
#define MOST_CTAS 64u
#define NOBODY 0u

static uint32_t seed;

static uint32_t roll(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)seed * n) >> 32);
}

/* ---- one map ---- */

static unsigned owner[BLOCKS];

/* Lowest start of @need blocks of nobody among the first @n, or -1. */
static int lowest_run(unsigned n, unsigned need)
{
	for (unsigned first = 0; first + need <= n; first++) {
		unsigned i = 0;

		while (i < need && owner[first + i] == NOBODY)
			i++;
		if (i == need)
			return (int)first;
	}
	return -1;
}

static void same_as_oracle(const struct blocks *blocks, unsigned n)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		assert_int_equal(blocks->free[i / 64] >> (i % 64) & 1, i < n && owner[i] == NOBODY);
}

struct run {
	int first;
	unsigned need;
};

static void own(const struct run *run, unsigned who)
{
	for (unsigned i = 0; i < run->need; i++) {
		/* free before, or given back by its owner */
		assert_int_equal(owner[(unsigned)run->first + i] == NOBODY, who != NOBODY);
		owner[(unsigned)run->first + i] = who;
	}
}

/* Sizes that lie on both sides of a word's border come often. */
static unsigned any_need(unsigned n)
{
	static const unsigned odd[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 192, 255, 256};

	return roll(4) ? 1 + roll(n) / (1 + roll(12)) : odd[roll(sizeof(odd) / sizeof(*odd))];
}

static void one_map(unsigned n)
{
	struct run run[MOST_CTAS];
	struct blocks blocks;
	unsigned runs = 0;

	memset(owner, 0, sizeof(owner));
	blocks_init(&blocks, n);
	for (unsigned step = 0; step < 300; step++) {
		if (runs < MOST_CTAS && roll(5) > 1) {
			unsigned need = any_need(n);
			int want = lowest_run(n, need);

			run[runs] = (struct run){blocks_take(&blocks, need), need};
			assert_int_equal(run[runs].first, want);
			if (want >= 0) {
				own(&run[runs], runs + 1);
				runs++;
			}
		} else if (runs) {
			unsigned i = roll(runs);

			blocks_give(&blocks, (unsigned)run[i].first, run[i].need);
			own(&run[i], NOBODY);
			run[i] = run[--runs];
		}
		same_as_oracle(&blocks, n);
	}
	/* when all are given back, in any order, it is one run again */
	for (; runs; runs--) {
		unsigned i = roll(runs);

		blocks_give(&blocks, (unsigned)run[i].first, run[i].need);
		own(&run[i], NOBODY);
		run[i] = run[runs - 1];
		same_as_oracle(&blocks, n);
	}
	assert_int_equal(blocks_take(&blocks, n), 0);
	assert_int_equal(blocks_take(&blocks, 1), -1);
}

static void maps(void **unused)
{
	static const unsigned sizes[] = {1, 2, 31, 32, 33, 48, 63, 64, 65, 100, 127, 128, 129, 192, 255, 256};

	seed = 1;
	for (unsigned round = 0; round < 40; round++)
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			one_map(sizes[i]);
}

static void nothing_of_nothing(void **unused)
{
	struct blocks blocks;

	blocks_init(&blocks, 0);
	assert_int_equal(blocks_take(&blocks, 0), 0);
	assert_int_equal(blocks_take(&blocks, 1), -1);
	blocks_init(&blocks, 256);
	assert_int_equal(blocks_take(&blocks, 257), -1);
	assert_int_equal(blocks_take(&blocks, 256), 0);
	assert_int_equal(blocks_take(&blocks, 0), 0);
	blocks_give(&blocks, 0, 0);
	assert_int_equal(blocks_take(&blocks, 1), -1);
}

/* ---- a whole SM ---- */

/* Owners of each block of each PEU, of the shared blocks, and counts. */
struct oracle {
	unsigned scalar[SM_PEUS][BLOCKS], vector[SM_PEUS][BLOCKS], shared[BLOCKS];
	unsigned waves[SM_PEUS], ctas, barriers;
};

static struct oracle oracle;

static void mark(unsigned *blocks, unsigned first, unsigned need, unsigned from, unsigned to, unsigned most)
{
	assert_true(first + need <= most);
	for (unsigned i = first; i < first + need; i++) {
		assert_int_equal(blocks[i], from);
		blocks[i] = to;
	}
}

/* Everything that @cta holds changes its owner: from nobody to it, or back. */
static void hand(const struct sm *sm, const struct tutti_discovery *limits, const struct cta *cta, bool take)
{
	const struct tutti_task_state *state = &cta->task->state;
	unsigned me = cta->number + 1, from = take ? NOBODY : me, to = take ? me : NOBODY, waves = 0;

	mark(oracle.shared, cta->shared_first, state->shared_blocks, from, to, limits->shared_blocks);
	for (unsigned w = 0; w < limits->peus * limits->peu_waves; w++) {
		unsigned p = w / limits->peu_waves;

		if (!(cta->wave_slots[w / 64] >> (w % 64) & 1))
			continue;
		mark(oracle.scalar[p], sm->wave[w].scalar, state->scalar_blocks, from, to, limits->scalar_blocks);
		mark(oracle.vector[p], sm->wave[w].vector, state->vector_blocks, from, to, limits->vector_blocks);
		oracle.waves[p] += take ? 1 : -1u;
		waves++;
	}
	assert_int_equal(waves, cta->waves);
	oracle.ctas += take ? 1 : -1u;
	oracle.barriers += take ? state->barriers : -(unsigned)state->barriers;
}

static void same_map(const struct blocks *blocks, const unsigned *owners, unsigned n)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		assert_int_equal(blocks->free[i / 64] >> (i % 64) & 1, i < n && owners[i] == NOBODY);
}

static void same_sm(const struct sm *sm, const struct tutti_discovery *limits)
{
	same_map(&sm->shared, oracle.shared, limits->shared_blocks);
	for (unsigned p = 0; p < limits->peus; p++) {
		same_map(&sm->peu[p].scalar, oracle.scalar[p], limits->scalar_blocks);
		same_map(&sm->peu[p].vector, oracle.vector[p], limits->vector_blocks);
		assert_int_equal(sm->peu[p].free_waves, limits->peu_waves - oracle.waves[p]);
	}
	assert_int_equal(sm->cta_slots, limits->cta_slots - oracle.ctas);
	assert_int_equal(sm->barriers, limits->barriers - oracle.barriers);
}

static unsigned room_in(const unsigned *owners, unsigned n, unsigned need)
{
	unsigned length = 0, runs = 0;

	for (unsigned i = 0; i < n; i++) {
		length = owners[i] == NOBODY ? length + 1 : 0;
		if (length == need) {
			runs++;
			length = 0;
		}
	}
	return need ? runs : ~0u;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Does it fit? Waves of one CTA are alike: each PEU takes as many as it has slots and runs for. */
static bool fits(const struct tutti_task_state *state, const struct tutti_discovery *limits)
{
	unsigned waves = 0;

	if (oracle.ctas == limits->cta_slots || limits->barriers - oracle.barriers < state->barriers ||
	    !room_in(oracle.shared, limits->shared_blocks, state->shared_blocks))
		return false;
	for (unsigned p = 0; p < limits->peus; p++)
		waves += least(limits->peu_waves - oracle.waves[p],
			       least(room_in(oracle.scalar[p], limits->scalar_blocks, state->scalar_blocks),
				     room_in(oracle.vector[p], limits->vector_blocks, state->vector_blocks)));
	return waves >= state->waves;
}

static struct tutti_task_state any_state(const struct tutti_discovery *limits)
{
	return (struct tutti_task_state){
		.waves = (uint16_t)(1 + roll(roll(3) ? 4 : limits->peus * limits->peu_waves)),
		.scalar_blocks = (uint16_t)roll(1 + limits->scalar_blocks / (1 + roll(8))),
		.vector_blocks = (uint16_t)roll(1 + limits->vector_blocks / (1 + roll(8))),
		.shared_blocks = (uint16_t)roll(1 + limits->shared_blocks / (1 + roll(8))),
		.barriers = (uint16_t)roll(3),
	};
}

static unsigned taken, refused;

static void one_sm(struct sm *sm, const struct tutti_discovery *limits)
{
	static struct task task[MOST_CTAS];
	static struct cta cta[MOST_CTAS];
	bool there[MOST_CTAS] = {false};

	memset(&oracle, 0, sizeof(oracle));
	sm_init(sm, limits);
	same_sm(sm, limits);
	for (unsigned step = 0; step < 400; step++) {
		unsigned i = roll(MOST_CTAS);

		if (there[i]) {
			hand(sm, limits, &cta[i], false);
			sm_give(sm, &cta[i]);
			there[i] = false;
		} else {
			task[i].state = any_state(limits);
			cta[i] = (struct cta){.task = &task[i], .waves = task[i].state.waves, .number = i};
			there[i] = fits(&task[i].state, limits);
			assert_int_equal(sm_take(sm, limits, &cta[i]), there[i]);
			if (there[i])
				hand(sm, limits, &cta[i], true);
			*(there[i] ? &taken : &refused) += 1;
		}
		same_sm(sm, limits);
	}
	for (unsigned i = 0; i < MOST_CTAS; i++)
		if (there[i]) {
			hand(sm, limits, &cta[i], false);
			sm_give(sm, &cta[i]);
		}
	same_sm(sm, limits);
	assert_int_equal(oracle.ctas | oracle.barriers, 0);
}

static void sms_of_all_sizes(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);

	seed = 2;
	taken = refused = 0;
	for (unsigned round = 0; round < 150; round++) {
		struct tutti_discovery limits = card->limits;

		if (round % 3) {
			limits.scalar_blocks = 1 + roll(256);
			limits.vector_blocks = 1 + roll(256);
			limits.shared_blocks = 1 + roll(256);
			limits.peus = 1 + roll(4); /* as many wave slots as the rig's SM has, or fewer */
			limits.peu_waves = 1 + roll(8);
			limits.cta_slots = 1 + roll(40);
			limits.barriers = roll(20);
		}
		one_sm(&card->array->sm[0], &limits);
	}
	assert_true(taken > 5000 && refused > 2000);
	sm_init(&card->array->sm[0], &card->limits);
	rig_destroy(card);
}

/* The same with waves split by rotation (RES-12), where each wave's PEU is given: all or nothing, and nothing leaks. */
static void rotated(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);
	const struct tutti_discovery *limits = &card->limits;
	struct sm *sm = &card->array->sm[0];
	static struct task task[MOST_CTAS];
	static struct cta cta[MOST_CTAS];
	bool there[MOST_CTAS] = {false};

	seed = 3;
	memset(&oracle, 0, sizeof(oracle));
	sm_init(sm, limits);
	sm->rotate = true;
	for (unsigned step = 0; step < 20000; step++) {
		unsigned i = roll(MOST_CTAS);

		if (there[i]) {
			hand(sm, limits, &cta[i], false);
			sm_give(sm, &cta[i]);
			there[i] = false;
		} else {
			task[i].state = any_state(limits);
			cta[i] = (struct cta){.task = &task[i], .waves = task[i].state.waves, .number = i};
			there[i] = sm_take(sm, limits, &cta[i]);
			if (there[i])
				hand(sm, limits, &cta[i], true);
		}
		same_sm(sm, limits);
	}
	rig_destroy(card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"RES-05: runs of one map against an oracle", maps, NULL, NULL, NULL},
		{"RES-05: runs of no blocks, and of more than there are", nothing_of_nothing, NULL, NULL, NULL},
		{"RES-05, RES-03: CTAs of mixed sizes on SMs of all sizes", sms_of_all_sizes, NULL, NULL, NULL},
		{"RES-05, RES-12: CTAs of mixed sizes, waves split by rotation", rotated, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SM: resources of CTAs", tests, NULL, NULL);
}

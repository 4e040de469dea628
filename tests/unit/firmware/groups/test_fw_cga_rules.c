/* SPDX-License-Identifier: MIT */
/* Which grids of CGAs are accepted, which domains are held for one, and how long it waits: rules in plain words. */
#include "cga_card.h"

#include "core/counters.h"
#include "core/task_record.h"
#include "groups/cga.h"
#include "groups/nested_search.h"
#include "groups/occupancy.h"

static struct task *task;
static const uint32_t any_size[3]; /* a grid of 0 CTAs, which consists of whole CGAs whatever their shape */

/* A CGA shape is known for each capacity: CTAs of 64 / capacity shared blocks. */
static void task_of(unsigned capacity)
{
	task = &tasks[3];
	task->shape = shape_find(0, 64 / capacity, 1);
	assert_int_equal(task->shape->capacity, capacity);
}

/* GPCs of any size; one card in three has so few ids that they limit CGAs. */
static void any_card(unsigned most_gpcs)
{
	struct tutti_discovery *d = (void *)hal_host.window;
	unsigned gpcs = 1 + roll(most_gpcs), g, sms[8];

	for (g = 0; g < gpcs; g++)
		sms[g] = roll(3) ? 6 + roll(6) : 1 + roll(18);
	oracle_boot(gpcs, sms);
	if (roll(3))
		return;
	d->cga_ids = 1 + roll(5);
	cga_ids_init();
}

static uint32_t product(const struct tutti_cga_shape *level, unsigned levels)
{
	uint32_t n = 1;

	for (unsigned i = 0; i < levels; i++)
		n *= (uint32_t)level[i].x * level[i].y * level[i].z;
	return n;
}

/* As the oracle sees such a grid, if its levels make sense. */
static struct oracle_grid grid_of(const struct tutti_cga_shape *level, unsigned mode)
{
	struct oracle_grid grid = { .multicast = mode == TUTTI_CGA_MULTICAST, .identity = -1 };
	unsigned i;

	for (i = 0; i < TUTTI_CGA_LEVELS && level[i].kind; i++) {
		grid.kind[i] = level[i].kind;
		grid.parts[i] = product(level + i, 1);
		if (grid.kind[i] <= TUTTI_CGA_GPC)
			grid.identity = (int)i;
	}
	grid.levels = i;
	return grid;
}

/* Each level used is of a larger kind than the one before and has a size, and the unused ones come last. */
static bool makes_sense(const struct tutti_cga_shape *level)
{
	unsigned i;

	for (i = 0; i < TUTTI_CGA_LEVELS && level[i].kind; i++)
		if (level[i].kind > TUTTI_CGA_GPU || !product(level + i, 1) || (i && level[i].kind <= level[i - 1].kind))
			return false;
	for (unsigned used = i; i < TUTTI_CGA_LEVELS; i++)
		if (!used || level[i].kind)
			return false;
	return level[0].kind;
}

static bool whole(const struct tutti_cga_shape *level, const uint32_t *groups)
{
	uint32_t size[3] = { 1, 1, 1 };

	for (unsigned i = 0; i < TUTTI_CGA_LEVELS && level[i].kind; i++) {
		size[0] *= level[i].x;
		size[1] *= level[i].y;
		size[2] *= level[i].z;
	}
	return groups[0] % size[0] == 0 && groups[1] % size[1] == 0 && groups[2] % size[2] == 0;
}

/* Whether the grid is to be accepted, by CGA-02, CGA-05 and, for ids and memory slots, CGA-17, CGA-24 and CGA-28. */
static bool acceptable(const struct tutti_cga_shape *level, unsigned mode, bool lmem, const uint32_t *groups, unsigned capacity)
{
	const struct tutti_discovery *d = (const void *)hal_host.window;
	struct oracle_grid grid;
	unsigned identities;

	if (mode > TUTTI_CGA_MULTICAST || !makes_sense(level) || !whole(level, groups) || !capacity)
		return false;
	grid = grid_of(level, mode);
	if (grid.identity >= 0 && product(level, (unsigned)grid.identity + 1) > d->cga_ctas)
		return false;
	identities = product(level, grid.levels) / product(level, (unsigned)(grid.identity + 1));
	if (lmem && (grid.identity < 0 || identities > d->lmem_slots))
		return false;
	oracle_empty(capacity);
	return oracle_run(&card, &grid, 1) == 1;
}

/* Levels that mostly make sense, around the size of a GPC. */
static void any_levels(struct tutti_cga_shape *level, unsigned capacity)
{
	unsigned kind = 1 + roll(4), i = 0;

	memset(level, 0, TUTTI_CGA_LEVELS * sizeof(*level));
	level[0] = (struct tutti_cga_shape){ (uint16_t)(1 + roll(7 * capacity)), (uint16_t)(1 + roll(2)), (uint16_t)(1 + !roll(6)),
					     (uint16_t)kind };
	while (kind < TUTTI_CGA_GPU && roll(2)) {
		kind += 1 + roll(TUTTI_CGA_GPU - kind);
		level[++i] = (struct tutti_cga_shape){ (uint16_t)(1 + roll(3)), (uint16_t)(1 + !roll(4)),
						       (uint16_t)(1 + !roll(4)), (uint16_t)kind };
	}
	if (roll(6))
		return;
	switch (roll(6)) { /* what is wrong */
	case 0: level[roll(4)].kind = (uint16_t)roll(6); break;
	case 1: level[roll(i + 1)].x = 0; break;
	case 2: level[roll(i + 1)].y = 0; break;
	case 3: level[roll(i + 1)].z = 0; break;
	case 4: level[3] = (struct tutti_cga_shape){ 1, 1, 1, (uint16_t)roll(6) }; break;
	default: level[roll(i + 1)].x = (uint16_t)(roll(2) ? 0x8000 : roll(65536)); break;
	}
}

/* Ask whether a grid is accepted, and compare. Return: it is */
static bool ask_both(const struct tutti_cga_shape *level, unsigned mode, bool lmem, const uint32_t *groups, unsigned capacity)
{
	static struct cga cga;
	int code = cga_check(level, mode, lmem, groups, capacity, &cga);
	bool good = acceptable(level, mode, lmem, groups, capacity);

	if (code != (good ? 0 : (int)TUTTI_ERROR_GRID))
		fail_msg("%u SMs, %u CTAs an SM, kinds %u %u %u %u, sizes %u %u %u %u, mode %u, lmem %u, grid %u %u %u: code %d", card.sms,
			 capacity, level[0].kind, level[1].kind, level[2].kind, level[3].kind, product(level, 1),
			 product(level + 1, 1), product(level + 2, 1), product(level + 3, 1), mode, lmem, groups[0], groups[1],
			 groups[2], code);
	return good;
}

/*
 * Grids are accepted or refused by the rules, whatever has been asked before: about the other mode, another capacity, and
 * before SMs were switched off.
 */
static void accepted(void **unused)
{
	unsigned good = 0, all = 0;

	(void)unused;
	for (unsigned round = 0; round < 60; round++) {
		seed(4400 + round);
		any_card(5);
		for (unsigned n = 0; n < 24; n++) {
			unsigned capacity = 1u << roll(3), i;
			struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
			uint32_t groups[3] = { 1, 1, 1 };

			any_levels(level, capacity);
			for (i = 0; i < TUTTI_CGA_LEVELS && level[i].kind; i++) {
				groups[0] *= level[i].x ? level[i].x : 1;
				groups[1] *= level[i].y ? level[i].y : 1;
				groups[2] *= level[i].z ? level[i].z : 1;
			}
			for (i = 0; i < 3; i++)
				groups[i] = groups[i] * (1 + roll(3)) + !roll(12);
			for (i = 0; i < 6; i++, all++)
				good += ask_both(level, i < 5 ? i / 2 % 2 : TUTTI_CGA_MULTICAST + 1, !roll(3), groups,
						 i & 1 ? capacity : 2 * capacity);
			ask_both(level, 0, false, groups, 0);
			if (!roll(6))
				assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, roll(card.sms), 1, 0), 0);
		}
	}
	assert_in_range(good, all / 5, all * 4 / 5);
}

/* The largest CGA of each kind and mode that a card can hold is accepted, and none that is larger by one CTA. */
static void largest(void **unused)
{
	(void)unused;
	for (unsigned round = 0; round < 40; round++) {
		unsigned kind = 1 + round % 4, mode = round / 4 % 2, capacity = 1u << round % 3, n = 0;
		struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 1, 1, 1, (uint16_t)kind } };

		seed(5100 + round);
		any_card(3);
		do
			level[0].x = (uint16_t)++n;
		while (ask_both(level, mode, false, any_size, capacity));
		assert_true(n > 1);
		for (unsigned more = 0; more < 3; more++, level[0].x++)
			assert_false(ask_both(level, mode, false, any_size, capacity));
	}
}

/* The answer about a grid like one that has been accepted before is given without another look at the rows of GPCs (PERF-12). */
static void known_grids(void **unused)
{
	static const unsigned sms[] = { 8, 8 };
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 4, 1, 1, TUTTI_CGA_CPC }, { 2, 1, 1, TUTTI_CGA_GPC } };

	(void)unused;
	oracle_boot(2, sms);
	task_of(4);
	for (unsigned i = 0; i < 12; i++) {
		bool known = i % 3;

		if (i == 3) /* in turn, everything is different that the answer depends on */
			level[0].x = 6;
		else if (i == 6)
			level[1].x = 1;
		else if (i == 9)
			assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 15, 1, 0), 0);
		assert_true(domain_sync(task->shape));
		assert_ptr_equal(domains.shape, task->shape);
		assert_true(ask_both(level, 0, false, any_size, 4));
		assert_ptr_equal(domains.shape, known ? task->shape : NULL);
	}
}

/* A card without CGAs has none, and identity CGAs and memory slots are limited by what the card says (CGA-24, CGA-28). */
static void limits_of_the_card(void **unused)
{
	static const unsigned sms[] = { 16, 16 };
	static const struct tutti_cga_shape one[TUTTI_CGA_LEVELS] = { { 6, 2, 1, TUTTI_CGA_GPC } },
					    wide[TUTTI_CGA_LEVELS] = { { 6, 2, 1, TUTTI_CGA_GPU } },
					    two[TUTTI_CGA_LEVELS] = { { 2, 1, 1, TUTTI_CGA_CPC }, { 3, 2, 1, TUTTI_CGA_GPC },
								      { 2, 1, 1, TUTTI_CGA_GPU } };
	static const uint32_t groups[3] = { 12, 4, 1 }, more[3] = { 24, 4, 1 };
	struct tutti_discovery *d = (void *)hal_host.window;

	(void)unused;
	oracle_boot(2, sms);
	for (d->cga_ctas = 10; d->cga_ctas < 14; d->cga_ctas++) {
		assert_int_equal(ask_both(one, 0, false, groups, 4), d->cga_ctas >= 12);
		assert_int_equal(ask_both(two, 0, false, more, 4), d->cga_ctas >= 12);
		assert_true(ask_both(wide, 0, false, groups, 4));
	}
	for (d->lmem_slots = 0; d->lmem_slots < 4; d->lmem_slots++) {
		cga_ids_init();
		assert_int_equal(ask_both(one, 0, true, groups, 4), d->lmem_slots >= 1);
		assert_int_equal(ask_both(two, 0, true, more, 4), d->lmem_slots >= 2);
		assert_false(ask_both(wide, 0, true, groups, 4));
	}
	d->features &= ~TUTTI_FEATURE_CGA;
	assert_int_equal(cga_check(one, 0, false, groups, 4, &(struct cga){ 0 }), TUTTI_ERROR_GRID);
}

/*
 * SMs are told the size of the outermost CGA that lies in one GPC, along each axis; the rest of the task's state stays as it is
 * (CGA-19, CGA-24).
 */
static void told(void **unused)
{
	unsigned with = 0;

	(void)unused;
	for (unsigned round = 0; round < 300; round++) {
		uint32_t state[STATE_WORDS], wanted[STATE_WORDS], size[3] = { 1, 1, 1 };
		struct tutti_task_state *to = (struct tutti_task_state *)wanted;
		struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
		static struct cga cga;
		unsigned i;

		seed(1500 + round);
		if (!(round % 50))
			any_card(5);
		any_levels(level, 1);
		if (cga_check(level, 0, false, any_size, 8, &cga))
			continue;
		for (i = 0; i < STATE_WORDS; i++)
			state[i] = wanted[i] = i;
		to->cga_x = to->cga_y = to->cga_z = 0;
		memcpy(state, wanted, sizeof(state));
		for (i = 0; i < TUTTI_CGA_LEVELS && level[i].kind && level[i].kind <= TUTTI_CGA_GPC; i++) {
			size[0] *= level[i].x;
			size[1] *= level[i].y;
			size[2] *= level[i].z;
		}
		if (i) {
			to->cga_x = (uint16_t)size[0];
			to->cga_y = (uint16_t)size[1];
			to->cga_z = (uint16_t)size[2];
			with++;
		}
		cga_tell(&cga, level, state);
		assert_memory_equal(state, wanted, sizeof(state));
	}
	assert_in_range(with, 60, 250);
}

/* The SMs of all domains of the outermost kind that have room for one CGA when they are empty. */
static void plain_domains(const struct oracle_grid *grid, uint32_t *mask)
{
	unsigned top = grid->levels - 1, sm, other, position;

	for (sm = 0; sm < card.sms; sm++) {
		struct oracle_card copy = card;
		unsigned domain = oracle_domain(&card, grid->kind[top], sm);

		for (other = 0; other < sm && oracle_domain(&card, grid->kind[top], other) != domain; other++)
			;
		if (other < sm || oracle_place(&copy, grid, top, domain) < 0)
			continue;
		for (position = 0; position < card.sms; position++)
			if (oracle_domain(&card, grid->kind[top], card.order[position]) == domain)
				mask[position / 32] |= 1u << (position % 32);
	}
}

/* How many steps a visit has left. */
static unsigned steps_left(void)
{
	unsigned n = 0;

	while (n < VISIT_STEPS && visit_has(n + 1))
		n++;
	return n;
}

/*
 * What is held for a CGA that has lost its patience: exactly the domains that could take it, of its outermost kind, on the SMs
 * that are enabled and that its task may use. To find out takes time in proportion to the number of domains.
 */
static void held_domains(void **unused)
{
	unsigned some = 0;

	(void)unused;
	for (unsigned round = 0; round < 150; round++) {
		uint32_t allowed[LAKE_WORDS] = { 0 }, mask[LAKE_WORDS] = { 0 }, wanted[LAKE_WORDS] = { 0 };
		unsigned capacity, i, kind;
		struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
		struct oracle_grid grid;
		bool limited;

		seed(9900 + round);
		any_card(7);
		capacity = 1u << roll(4);
		for (i = roll(3); i; i--)
			assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, roll(card.sms), 1, 0), 0);
		task_of(capacity);
		do {
			any_levels(level, capacity);
			grid = grid_of(level, round & 1);
		} while (!makes_sense(level) || product(level, grid.levels) > 16 * 18);
		limited = !roll(3);
		oracle_empty(capacity);
		for (i = 0; i < card.sms; i++)
			if (!limited || roll(8))
				allowed[i / 32] |= 1u << (i % 32);
			else
				card.free[i] = 0;
		cga_begin(task, level, round & 1, false, limited ? allowed : NULL);
		plain_domains(&grid, wanted);
		counters.events++;
		visit_goes_on(0);
		cga_domains(task, mask);
		assert_memory_equal(mask, wanted, sizeof(mask));
		kind = grid.kind[grid.levels - 1];
		assert_true(steps_left() <= VISIT_STEPS - 128 * (kind == TUTTI_CGA_CPC ? domains.cpcs :
								  kind == TUTTI_CGA_GPC ? card.gpcs :
								  kind == TUTTI_CGA_UGPU ? card.ugpus : 1));
		for (i = 0; i < LAKE_WORDS; i++)
			some += mask[i] != 0;
	}
	assert_true(some > 80);
}

/* Place about @ctas CTAs of the task, in as many visits as the search takes. */
static uint32_t place(uint32_t ctas)
{
	uint32_t placed;

	do {
		counters.events++;
		state_detour(DETOUR_CUT, false);
		task->unissued = 1000;
		placed = cga_place(task, ctas);
	} while (!placed && place_state.detours & DETOUR_CUT);
	return placed;
}

/* As many sessions in vain as the policy says, and not one less, make a CGA lose its patience. */
static void loses_patience(uint32_t sessions)
{
	for (uint32_t i = 1; i <= sessions + 2; i++)
		assert_int_equal(cga_passed(task), i >= sessions);
	cga_calm(task);
	for (uint32_t i = 1; i < sessions; i++)
		assert_false(cga_passed(task));
}

/* Patience is counted anew after each CGA that was placed, in whichever way, and goes on after a session without room. */
static void patience(void **unused)
{
	static const unsigned sms[] = { 8, 8 };
	static const struct tutti_cga_shape levels[][TUTTI_CGA_LEVELS] = {
		{ { 8, 1, 1, TUTTI_CGA_GPC } }, { { 4, 1, 1, TUTTI_CGA_CPC } }, { { 8, 1, 1, TUTTI_CGA_GPU } },
		{ { 4, 1, 1, TUTTI_CGA_GPC }, { 2, 1, 1, TUTTI_CGA_GPU } },
	};
	static const uint32_t sessions[] = { 1, 2, 7, 0 };

	(void)unused;
	for (unsigned way = 0; way < 4; way++)
		for (unsigned i = 0; i < 4; i++) {
			uint32_t most = sessions[i] ? sessions[i] : CGA_PATIENCE, ctas = levels[way][0].x * (way == 3 ? 2 : 1);

			oracle_boot(2, sms);
			task_of(1);
			assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_PATIENCE, sessions[i], 0), 0);
			assert_int_equal(cga_patience(), most);
			cga_begin(task, levels[way], 0, false, NULL);
			loses_patience(most);
			assert_int_equal(place(1), ctas);
			loses_patience(most);
			while (place(1))
				;
			for (uint32_t n = 1; n < most; n++)
				assert_false(cga_passed(task));
			assert_int_equal(place(1), 0);
			assert_true(cga_passed(task));
		}
}

/* A slot keeps a description for the next grid only if all that it depends on is the same (PERF-12). */
static void described(void **unused)
{
	unsigned kept = 0;

	(void)unused;
	for (unsigned round = 0; round < 300; round++) {
		struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 0 } }, other;
		uint32_t groups[3], capacity = 1u << round % 3;
		bool lmem = round & 1, good;
		struct cga_one words, wrong;
		const struct cga *cga;

		seed(6600 + round);
		if (!(round % 10)) {
			any_card(3);
			task_of(1);
		}
		cga_set_mode(roll(3) / 2);
		level[0] = (struct tutti_cga_shape){ (uint16_t)(1 + roll(6)), (uint16_t)(1 + roll(3)), (uint16_t)(1 + !roll(4)),
						     (uint16_t)(1 + roll(4)) };
		groups[0] = level[0].x * (1 + roll(3));
		groups[1] = level[0].y * (1 + roll(3));
		groups[2] = level[0].z * (1 + roll(3));
		good = acceptable(level, cga_mode(), lmem, groups, capacity) && level[0].kind <= TUTTI_CGA_GPC;
		assert_int_equal(cga_describe(task, level[0], lmem, groups, capacity), good);
		cga = &cga_grids[task->slot];
		memcpy(&words, level, sizeof(words));
		if (!good) {
			assert_true(level[0].kind > TUTTI_CGA_GPC || !cga_again(cga, words, cga_limits(capacity, lmem)));
			continue;
		}
		kept++;
		assert_true(cga_again(cga, words, cga_limits(capacity, lmem)));
		assert_false(cga_again(cga, words, cga_limits(capacity + 1, lmem)));
		assert_false(cga_again(cga, words, cga_limits(capacity, !lmem)));
		cga_set_mode(!cga_mode());
		assert_false(cga_again(cga, words, cga_limits(capacity, lmem)));
		cga_set_mode(!cga_mode());
		for (unsigned i = 0; i < 4; i++) {
			other = level[0];
			(&other.x)[i]++;
			memcpy(&wrong, &other, sizeof(wrong));
			assert_false(cga_again(cga, wrong, cga_limits(capacity, lmem)));
		}
		if (roll(4))
			continue;
		assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, roll(card.sms), 1, 0), 0);
		assert_false(cga_again(cga, words, cga_limits(capacity, lmem)));
	}
	assert_true(kept > 60);
}

/*
 * A grid that fitted when it came, and cannot be placed any more since SMs were switched off, has to end; but only when the
 * card is idle, for until then SMs may be switched on again. It is said once, and not of the next task that gets the slot.
 * SMs that are held for others will come back.
 */
static void hopeless(void **unused)
{
	const struct tutti_cga_shape one[TUTTI_CGA_LEVELS] = { { 1, 1, 1, TUTTI_CGA_GPC } };
	unsigned lost = 0, rounds = 0;
	uint32_t all[LAKE_WORDS];

	(void)unused;
	memset(all, 0xff, sizeof(all));
	for (unsigned round = 0; round < 300; round++) {
		uint32_t allowed[LAKE_WORDS] = { 0 };
		struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
		unsigned capacity, i, id;
		struct oracle_grid grid;
		bool limited, none;

		seed(8800 + round);
		any_card(3);
		capacity = 1u << roll(2);
		task_of(capacity);
		any_levels(level, capacity);
		grid = grid_of(level, round & 1);
		if (!acceptable(level, round & 1, false, any_size, capacity))
			continue;
		limited = roll(2);
		for (i = 0; i < card.sms; i++)
			allowed[i / 32] |= (uint32_t)(roll(9) != 0) << (i % 32);
		cga_begin(task, level, round & 1, false, limited ? allowed : NULL);
		for (i = roll(card.sms + 1); i; i--)
			assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, roll(card.sms), 1, 0), 0);
		oracle_empty(capacity);
		for (i = 0; limited && i < card.sms; i++)
			if (!(allowed[i / 32] >> (i % 32) & 1))
				card.free[i] = 0;
		none = !oracle_run(&card, &grid, 1);
		if (none) {
			place_state.residents++;
			assert_int_equal(place(1), 0);
			assert_int_equal(cga_hopeless(), 0);
			place_state.residents--;
			id = cga_ids_take(domains.gpc, 9);
			assert_int_equal(place(1), 0);
			assert_int_equal(cga_hopeless(), 0);
			cga_ids_undo(domains.gpc, id, CGA_IDS_NO_LMEM);
		}
		shape_hold(all); /* for others, for a while */
		assert_int_equal(place(1), 0);
		assert_int_equal(cga_hopeless(), none ? 1u << task->slot : 0);
		shape_hold(NULL);
		attention.settle &= ~ATTEND_CGA;
		assert_int_equal(place(1), none ? 0 : product(level, grid.levels));
		assert_int_equal(!!(attention.settle & ATTEND_CGA), none);
		assert_int_equal(cga_hopeless(), none ? 1u << task->slot : 0);
		assert_int_equal(cga_hopeless(), 0);
		if (none) {
			assert_int_equal(place(1), 0);
			shape_enable(all, true);
			cga_begin(task, one, 0, false, NULL);
			assert_int_equal(cga_hopeless(), 0);
		}
		lost += none;
		rounds++;
	}
	assert_in_range(lost, rounds / 6, rounds * 5 / 6);
}

/* A µGPU of 4 GPCs with 32 ids each has room for as many CGAs that need an id, and for no more, wherever the ids are. */
static void ids_of_a_domain(void **unused)
{
	static const unsigned sms[] = { 16, 16, 16, 16, 16, 16, 16, 16 };
	static const unsigned kinds[][2] = { { TUTTI_CGA_CPC, TUTTI_CGA_GPC }, { TUTTI_CGA_CPC, 0 }, { TUTTI_CGA_GPC, 0 } };

	(void)unused;
	for (unsigned way = 0; way < 3; way++)
		for (unsigned n = 127; n < 130; n++) {
			struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 0 } };
			unsigned i;

			for (i = 0; i < 2 && kinds[way][i]; i++)
				level[i] = (struct tutti_cga_shape){ 1, 1, 1, (uint16_t)kinds[way][i] };
			level[i] = (struct tutti_cga_shape){ (uint16_t)n, 1, 1, TUTTI_CGA_UGPU };
			oracle_boot(8, sms);
			task_of(32);
			assert_int_equal(ask_both(level, 0, false, any_size, 32), n <= 128);
			if (n > 128)
				continue;
			cga_begin(task, level, 0, false, NULL);
			assert_int_equal(place(1), n);
		}
}

/* Only a whole GPC_CGA needs an id: on a card of 4 ids a GPC it has as many CPC_CGAs as there are slots for. */
static void parts_without_ids(void **unused)
{
	unsigned sms[TUTTI_MAX_GPCS], i, n, mode;

	(void)unused;
	for (i = 0; i < TUTTI_MAX_GPCS; i++)
		sms[i] = 16;
	oracle_boot(TUTTI_MAX_GPCS, sms);
	assert_int_equal(domains.gpc[0].credits_all, 4);
	task_of(4);
	for (mode = 0; mode < 2; mode++)
		for (n = 1; n < 35; n++) {
			struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 2, 1, 1, TUTTI_CGA_CPC },
									   { (uint16_t)n, 1, 1, TUTTI_CGA_GPC } };
			static struct cga cga;

			assert_int_equal(cga_check(level, mode, false, any_size, 4, &cga), n <= 16 * 4 / 2 ? 0 : TUTTI_ERROR_GRID);
			if (n % 16)
				continue;
			cga_begin(task, level, mode, false, NULL);
			assert_int_equal(place(1), 2 * n);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-02 CGA-05 CGA-28", accepted),
		RIG_TEST("CGA-05 CGA-09 CGA-10", largest),
		RIG_TEST("CGA-05 PERF-12", known_grids),
		RIG_TEST("CGA-24 CGA-28 CGA-04", limits_of_the_card),
		RIG_TEST("CGA-19 CGA-24", told),
		RIG_TEST("CGA-05 REL-11", held_domains),
		RIG_TEST("CGA-05 RES-01", patience),
		RIG_TEST("CGA-05 PERF-12", described),
		RIG_TEST("CGA-05 CGA-04", hopeless),
		RIG_TEST("CGA-05 CGA-17", ids_of_a_domain),
		RIG_TEST("CGA-05 CGA-23", parts_without_ids),
	};

	return cmocka_run_group_tests_name("firmware: rules of CGAs", tests, NULL, NULL);
}

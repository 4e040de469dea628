/* SPDX-License-Identifier: MIT */
/* Sessions against an oracle that places one CTA at a time, on random states of random cards. */
#include "fw_rig.h"

#include "groups/cga.h"
#include "groups/nested_search.h"
#include "core/counters.h"
#include "core/task_record.h"
#include "cga_card.h"

static struct task *task;
static struct shape *shape;
static unsigned capacity;

/* Boot a card with these GPCs; CTAs of 64 / capacity shared blocks. */
static void boot(unsigned gpcs, const unsigned *sms, unsigned ctas)
{
	oracle_boot(gpcs, sms);
	capacity = ctas;
	shape = shape_find(0, 64 / ctas, 1);
	assert_int_equal(shape->capacity, ctas);
	task = &tasks[3];
	task->shape = shape;
	oracle_empty(ctas);
}

/* Others hold @n slots of the SM at @position. */
static void load(unsigned position, unsigned n)
{
	shape->residents += n;
	place_state.residents += n;
	card.free[card.order[position]] -= (int)n;
	while (n--)
		lake_lower(&shape->lake, position / 32, 1u << (position % 32), 1);
	domains.dirty = true;
}

static void swap_order(unsigned a, unsigned b)
{
	unsigned sm = card.order[a];

	card.order[a] = card.order[b];
	card.order[b] = sm;
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SM_ORDER, a << 16 | card.order[a], 0), 0);
}

struct seen {
	unsigned launches, sequence, ends;
	struct oracle_part part[ORACLE_PARTS];
	unsigned gpc[ORACLE_PARTS], id[ORACLE_PARTS], outer[ORACLE_PARTS];
};
static struct seen seen;

static unsigned gpc_sm(unsigned gpc, unsigned bit)
{
	unsigned p;

	for (p = 0; p < card.sms; p++)
		if (card.gpc[card.order[p]] == gpc && !bit--)
			return card.order[p];
	fail_msg("GPC %u has no such SM", gpc);
	return 0;
}

/* Read the launches that were written, as the card would. */
static void read_launches(unsigned slot)
{
	const uint32_t *w;
	unsigned words, i, j, b, n = 0, first = ~0u;

	command_publish();
	seen.launches = 0;
	while ((w = hal_host_command(&words))) {
		if ((w[0] & 0xff) != TUTTI_CMD_LAUNCH)
			continue;
		assert_int_equal(w[0] >> 16 & 0xff, slot);
		assert_true(w[0] >> 24 & TUTTI_LAUNCH_CGA);
		if (first == ~0u)
			first = w[1] & 0xffff;
		assert_int_equal(w[1] & 0xffff, (first + n) & 0xffff); /* no two CGAs mix (CGA-16) */
		memset(&seen.part[seen.launches], 0, sizeof(seen.part[0]));
		seen.gpc[seen.launches] = w[1] >> 24;
		seen.id[seen.launches] = w[1] >> 16 & 0xff;
		seen.outer[seen.launches] = n;
		for (i = 3; i < words; i += 1 + (w[i] >> 24)) {
			assert_true((w[i] & 0xffff) && w[i] >> 24 && i + (w[i] >> 24) < words);
			if (w[1] >> 24 != TUTTI_GPC_NONE)
				assert_int_equal(w[i] >> 16, 1u << 8);
			for (j = 0; j < w[i] >> 24; j++) {
				assert_int_not_equal(w[i + 1 + j], 0); /* it would be a message about no SM */
				for (b = 0; b < 32; b++) {
					unsigned position = 32 * ((w[i] >> 16 & 0xff) + j) + b;

					if (!(w[i + 1 + j] >> b & 1))
						continue;
					if (w[1] >> 24 == TUTTI_GPC_NONE) {
						assert_true(position < card.sms);
						seen.part[seen.launches].ctas[card.order[position]] += w[i] & 0xffff;
					} else {
						seen.part[seen.launches].ctas[gpc_sm(w[1] >> 24, b)] += w[i] & 0xffff;
					}
				}
			}
		}
		/* what spans GPCs may come in several messages */
		if (w[1] >> 24 == TUTTI_GPC_NONE && seen.launches && seen.outer[seen.launches - 1] == n &&
		    seen.gpc[seen.launches - 1] == TUTTI_GPC_NONE) {
			for (i = 0; i < card.sms; i++)
				seen.part[seen.launches - 1].ctas[i] += seen.part[seen.launches].ctas[i];
		} else {
			seen.launches++;
		}
		if (w[0] >> 24 & TUTTI_LAUNCH_END_OF_CGA)
			n++;
	}
	seen.ends = n;
}

static void grid_of(const struct cga *cga, struct oracle_grid *grid)
{
	unsigned i;

	*grid = (struct oracle_grid){ .levels = cga->levels, .multicast = cga->ask.multicast, .identity = -1 };
	for (i = 0; i < cga->levels; i++) {
		grid->kind[i] = cga->kind[i];
		grid->parts[i] = cga->parts[i];
		if (cga->kind[i] <= TUTTI_CGA_GPC)
			grid->identity = (int)i;
	}
}

static unsigned visits; /* that the last session took */

/* Run a whole session, however many visits it takes. Return: CGAs launched */
static unsigned session(struct cga *cga, unsigned n)
{
	unsigned now, most, launched = 0, tail;
	bool goes_on;

	search_bind(cga, task);
	nested_forget(task);
	for (visits = 1;; visits++) {
		counters.events++;
		state_detour(DETOUR_CUT, false);
		domain_sync(shape);
		most = min32(n - launched, (cga->most + 7u) / 8);
		tail = command_tail();
		now = search_run(task, cga, (n - launched) * cga->ctas) / cga->ctas;
		domains.issued = counters.ctas_issued;
		launched += now;
		assert_true(command_tail() - tail <= now * cga->words + COMMAND_RECORD); /* or the ring could overrun */
		goes_on = place_state.detours & DETOUR_CUT || (now && now < most && search_end() == SEARCH_ROOM);
		if (!goes_on || cga->levels == 1 || launched == n)
			return launched;
		assert_true(visits < 500);
	}
}

/* Run a session and the oracle on the same state; both states go on from there. */
static unsigned compare(struct cga *cga, unsigned n)
{
	struct oracle_grid grid;
	uint32_t launched, i, wanted, sm;
	enum search_end end;

	grid_of(cga, &grid);
	launched = session(cga, n);
	end = launched == n ? SEARCH_DONE : search_end();
	if (end == SEARCH_ROOM) /* the command ring was full: what was launched is right, the rest comes later */
		n = launched;
	wanted = oracle_run(&card, &grid, n);
	assert_int_equal(launched, wanted);
	if (end != SEARCH_ROOM)
		assert_int_equal(end, launched == n ? SEARCH_DONE : SEARCH_FULL);
	read_launches(task->slot);
	assert_int_equal(seen.ends, launched);
	/* all that lies in one outermost CGA without identity comes as one */
	if (grid.identity < 0 && cga->levels > 1) {
		for (i = 0; i < seen.launches; i++) {
			struct oracle_part sum = { { 0 } };

			for (unsigned p = i * oracle_log.parts / launched; p < (i + 1) * oracle_log.parts / launched; p++)
				for (sm = 0; sm < card.sms; sm++)
					sum.ctas[sm] += oracle_log.part[p].ctas[sm];
			assert_memory_equal(&sum, &seen.part[i], sizeof(sum));
		}
	} else {
		assert_int_equal(seen.launches, oracle_log.parts);
		for (i = 0; i < seen.launches; i++)
			if (memcmp(&seen.part[i], &oracle_log.part[i], sizeof(seen.part[i])))
				fail_msg("part %u of %u of %u CGAs (%u asked for, %u levels): placed differently", i, seen.launches,
					 launched, n, cga->levels);
	}
	domain_settle();
	for (sm = 0; sm < card.sms; sm++) {
		unsigned position = 0;

		while (card.order[position] != sm)
			position++;
		assert_true(card.free[sm] >= 0);
		assert_int_equal(lake_level(&shape->lake, position), card.free[sm]);
	}
	return launched;
}

/* A struct cga without the checks of dispatch. */
static bool shaped(struct cga *cga, unsigned mode, const struct tutti_cga_shape *level)
{
	uint32_t groups[3] = { 1, 1, 1 };
	unsigned i;

	for (i = 0; i < TUTTI_CGA_LEVELS && level[i].kind; i++) {
		groups[0] *= level[i].x;
		groups[1] *= level[i].y;
		groups[2] *= level[i].z;
	}
	return !cga_check(level, mode, false, groups, capacity, cga);
}

static void random_card(void)
{
	unsigned sms[12], gpcs = 1 + roll(8), g, i, ctas = 1u << roll(6);

	for (g = 0; g < gpcs; g++)
		sms[g] = roll(4) ? 14 + roll(5) : 1 + roll(32);
	boot(gpcs, sms, ctas);
	if (!roll(4))
		for (i = 0; i < card.sms; i++)
			swap_order(roll(card.sms), roll(card.sms));
	i = roll(4);
	for (g = 0; g < card.sms && i; g++)
		load(g, i == 1 ? roll(capacity + 1) : i == 2 ? roll(3) ? 0 : capacity : roll(3) < 2 ? 0 : roll(2) < capacity);
}

static void one_level(unsigned kind)
{
	unsigned round, mode, launched = 0;

	for (round = 0; round < 400; round++) {
		struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 0 } };
		struct cga cga;

		seed(1000 * kind + round);
		random_card();
		mode = roll(2);
		level[0] = (struct tutti_cga_shape){ (uint16_t)(1 + roll(8)), (uint16_t)(1 + roll(3)), 1, (uint16_t)kind };
		if (!shaped(&cga, mode, level))
			continue;
		launched += compare(&cga, 1 + roll(4));
		if (!roll(3))
			domain_idle(capacity, NULL); /* another kernel has come, so the rows are computed again */
		launched += compare(&cga, 1 + roll(30));
		launched += compare(&cga, 10);
	}
	assert_true(launched > 700);
}

/* CGAs of GPCs and CPCs: which domain, which SMs, in rounds; load balance and multicast. */
static void gpc_cgas(void **unused)
{
	one_level(TUTTI_CGA_GPC);
}

static void cpc_cgas(void **unused)
{
	one_level(TUTTI_CGA_CPC);
}

/* CGAs that span GPCs: as one lake. */
static void wide_cgas(void **unused)
{
	one_level(TUTTI_CGA_UGPU);
	one_level(TUTTI_CGA_GPU);
}

/* Any nesting of two to four levels. A session takes several visits, and nobody can tell from what it launches (REL-11). */
static void nested_cgas(void **unused)
{
	unsigned round, launched = 0, failed = 0, paused = 0;

	for (round = 0; round < 400; round++) {
		struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 0 } };
		unsigned kinds, i = 0, kind;
		struct cga cga;

		seed(77000 + round);
		random_card();
		do
			kinds = roll(16);
		while (!(kinds & (kinds - 1)));
		for (kind = 1; kind <= 4; kind++) {
			if (!(kinds >> (kind - 1) & 1))
				continue;
			level[i] = (struct tutti_cga_shape){ (uint16_t)(1 + roll(i == 1 ? 8 : 3)), (uint16_t)(1 + roll(2)), 1,
							     (uint16_t)kind };
			i++;
		}
		if (!shaped(&cga, roll(2), level)) {
			failed++;
			continue;
		}
		launched += compare(&cga, 1 + roll(3));
		paused += visits > 1;
		launched += compare(&cga, 40);
		paused += visits > 1;
		compare(&cga, 1);
	}
	assert_true(launched > 300 && failed < 300);
	assert_true(paused > 30);
}

/* Figures 28a to 28c: a grid of GPC_CGAs of two CPC_CGAs; the less loaded GPC2 is not faster than GPC3 at first. */
static void figure_28(void **unused)
{
	static const unsigned sms[] = { 8, 8, 8, 8 };
	static const uint8_t free_slots[4][8] = {
		{ 4, 1, 1, 0, 0, 0, 0, 0 }, /* invalid */
		{ 1, 1, 1, 1, 0, 0, 2, 2 }, /* it just fits: speed 0 */
		{ 4, 4, 4, 4, 4, 4, 4, 4 },
		{ 3, 3, 3, 3, 3, 3, 4, 4 }, /* its CPC of two SMs decides: as fast as GPC2 */
	};
	static const struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = {
		{ 4, 1, 1, TUTTI_CGA_CPC }, { 2, 1, 1, TUTTI_CGA_GPC },
	};
	static const unsigned wanted[] = { 2, 2, 3, 3, 2, 2 };
	struct cga cga;
	unsigned i;

	boot(4, sms, 4);
	for (i = 0; i < 32; i++)
		load(i, 4u - free_slots[i / 8][i % 8]);
	assert_true(shaped(&cga, TUTTI_CGA_LOAD_BALANCE, level));
	assert_int_equal(compare(&cga, 3), 3);
	for (i = 0; i < 6; i++)
		assert_int_equal(seen.gpc[i], wanted[i]);
	/* GPC0 never, GPC1 when nothing else is left */
	while (compare(&cga, 1))
		assert_int_not_equal(seen.gpc[0], 0);
	assert_int_equal(seen.launches, 0);
	for (i = 8; i < 16; i++)
		assert_int_equal(card.free[i], 0);
}

/* Figure 12: the same 18 x 12 CTAs as GPC_CGAs, as GPU_CGAs, and as GPU_CGAs of GPC_CGAs. */
static void figure_12(void **unused)
{
	static const unsigned sms[] = { 18, 18, 18, 18, 18, 18, 18, 18 };
	static const struct { struct tutti_cga_shape level[TUTTI_CGA_LEVELS]; unsigned cgas, parts; } grid[] = {
		{ { { 3, 2, 1, TUTTI_CGA_GPC } }, 36, 36 },
		{ { { 9, 6, 1, TUTTI_CGA_GPU } }, 4, 4 },
		{ { { 3, 2, 1, TUTTI_CGA_GPC }, { 3, 3, 1, TUTTI_CGA_GPU } }, 4, 36 },
	};
	static const uint32_t groups[3] = { 18, 12, 1 }, odd[3] = { 18, 13, 1 };
	unsigned i, sm, all, placed, parts, now;
	struct cga cga;

	for (i = 0; i < 3; i++) {
		boot(8, sms, 8);
		assert_int_equal(cga_check(grid[i].level, 0, false, groups, capacity, &cga), 0);
		assert_int_equal(cga_check(grid[i].level, 0, false, odd, capacity, &cga), TUTTI_ERROR_GRID);
		assert_int_equal(18 * 12 / cga.ctas, grid[i].cgas);
		/* a session places no more than a visit has time for */
		for (placed = parts = 0; placed < grid[i].cgas; placed += now, parts += seen.launches) {
			now = compare(&cga, grid[i].cgas - placed);
			assert_int_not_equal(now, 0);
		}
		assert_int_equal(parts, grid[i].parts);
		for (all = sm = 0; sm < card.sms; sm++)
			all += 8 - (unsigned)card.free[sm];
		assert_int_equal(all, 18 * 12);
	}
}

/* The cards of CGA-04, each filled with CGAs until none fits. */
static void topologies(void **unused)
{
	static const unsigned sms[][64] = { { 1 }, { 7 }, { 32 }, { 18, 16, 16, 18, 16, 16, 16, 16 },
					    { 18, 18, 18, 18, 18, 18, 18, 18 } };
	static const unsigned gpcs[] = { 1, 1, 1, 8, 8, 32, 64 };
	unsigned c, many[64], i, mode;

	for (c = 0; c < 7; c++)
		for (mode = 0; mode < 2; mode++) {
			struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { (uint16_t)(c ? 4 : 1), 1, 1, TUTTI_CGA_GPC } };
			struct cga cga;

			for (i = 0; i < 64; i++)
				many[i] = 1024 / gpcs[c];
			boot(gpcs[c], c < 5 ? sms[c] : many, 4);
			assert_true(shaped(&cga, mode, level));
			while (compare(&cga, 7))
				;
		}
}

/* Each GPC has a few ids only, so that they run out before the free slots do: in any kind of domain, nested or not. */
static void few_ids(void **unused)
{
	struct tutti_discovery *d = (void *)hal_host.window;
	unsigned launched = 0, without = 0;

	for (unsigned round = 0; round < 300; round++) {
		struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 0 } };
		unsigned i = 0;
		struct cga cga;

		seed(88000 + round);
		random_card();
		d->cga_ids = 1 + roll(5);
		cga_ids_init();
		for (unsigned g = 0; g < card.gpcs; g++)
			card.credits[g] = domains.gpc[g].credits;
		for (unsigned kind = 1; kind <= 4; kind++)
			if (roll(2))
				level[i++] = (struct tutti_cga_shape){ (uint16_t)(1 + roll(2)), (uint16_t)(1 + roll(2)), 1, (uint16_t)kind };
		if (!i || !shaped(&cga, roll(2), level))
			continue;
		launched += compare(&cga, 1 + roll(3));
		launched += compare(&cga, 40);
		compare(&cga, 1);
		for (unsigned g = 0; g < card.gpcs; g++) {
			assert_int_equal(domains.gpc[g].credits, card.credits[g]);
			without += !card.credits[g];
		}
	}
	assert_true(launched > 300 && without > 100);
}

/* As many CPCs as there can be, asked for CGAs of two sizes in turn: the last ones get theirs, too (SYS-14). */
static void most_cpcs(void **unused)
{
	unsigned sms[TUTTI_MAX_GPCS], i;

	for (i = 0; i < TUTTI_MAX_GPCS; i++)
		sms[i] = 16;
	boot(TUTTI_MAX_GPCS, sms, 1);
	assert_int_equal(domains.cpcs, DOMAIN_CPCS);
	for (i = 0; i < 61; i++) /* the first ones are full */
		for (unsigned sm = 0; sm < 16; sm++)
			load(16 * i + sm, 1);
	for (i = 0; i < 4; i++) {
		struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { (uint16_t)(i & 1 ? 2 : 4), 1, 1, TUTTI_CGA_CPC } };
		struct cga cga;

		assert_true(shaped(&cga, 0, level));
		assert_int_equal(compare(&cga, 2), 2);
	}
	for (i = 0; i < 4; i++) { /* and as many GPCs for CGAs that may spread over all of them */
		struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 3, 1, 1, (uint16_t)(i & 1 ? TUTTI_CGA_UGPU : TUTTI_CGA_GPU) } };
		struct cga cga;

		assert_true(shaped(&cga, i / 2, level));
		assert_int_equal(compare(&cga, 1), 1);
	}
}

/* Commands go on at this word of the ring, which is empty. */
static void go_to(unsigned word)
{
	unsigned at = command_tail() % COMMAND_WORDS;

	command_publish();
	rig_drain();
	hal_host_fill(COMMAND_WORDS - (word - at) % COMMAND_WORDS);
	command_publish();
	rig_drain();
}

/* The records of a session go over the end of the ring at any of their words, and so do those that are taken back. */
static void at_the_end_of_the_ring(void **unused)
{
	static const unsigned sms[] = { 7, 6, 4 };
	static const struct tutti_cga_shape levels[][TUTTI_CGA_LEVELS] = {
		{ { 5, 1, 1, TUTTI_CGA_GPC } }, { { 3, 1, 1, TUTTI_CGA_CPC } }, { { 9, 1, 1, TUTTI_CGA_GPU } }, { { 11, 1, 1, TUTTI_CGA_UGPU } },
		{ { 3, 1, 1, TUTTI_CGA_GPC }, { 4, 1, 1, TUTTI_CGA_GPU } },
		{ { 2, 1, 1, TUTTI_CGA_CPC }, { 2, 1, 1, TUTTI_CGA_GPC }, { 2, 1, 1, TUTTI_CGA_UGPU } },
		{ { 4, 1, 1, TUTTI_CGA_UGPU }, { 2, 1, 1, TUTTI_CGA_GPU } },
	};
	struct cga cga;

	for (unsigned i = 0; i < 7 * 80; i++) {
		boot(3, sms, 4);
		seed(i);
		for (unsigned sm = 0; sm < card.sms; sm++)
			load(sm, roll(3));
		assert_true(shaped(&cga, i & 1, levels[i % 7]));
		go_to(COMMAND_WORDS - 1 - i / 7);
		while (compare(&cga, 2))
			;
	}
}

/*
 * While only CGAs of one shape are resident the rows are authoritative, even if they have been computed again. CTAs of
 * other shapes end that.
 */
static void who_leads(void **unused)
{
	static const unsigned sms[] = { 16, 18 };
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 11, 1, 1, TUTTI_CGA_GPC } };
	struct cga cga;

	boot(2, sms, 8);
	assert_true(shaped(&cga, 0, level));
	assert_int_equal(compare(&cga, 3), 3);
	assert_false(gpc_rows_lead()); /* compare() looks into the lake */
	domain_sync(shape);
	assert_true(gpc_rows_lead());
	domain_idle(capacity, NULL);
	assert_false(gpc_rows_lead());
	domain_sync(shape);
	assert_true(gpc_rows_lead());
	assert_int_equal(compare(&cga, 5), 5);
	load(3, 1);
	domain_sync(shape);
	assert_false(gpc_rows_lead());
	assert_int_equal(compare(&cga, 2), 2);
}

/* Rows of an affinity mask are not the truth: they never lead, even on an empty card. */
static void masked(void **unused)
{
	static const unsigned sms[] = { 16, 16 };
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 4, 1, 1, TUTTI_CGA_GPC } };
	const uint32_t mask[LAKE_WORDS] = { 0x00ff0000u };
	struct cga cga;
	unsigned sm;

	boot(2, sms, 4);
	assert_true(shaped(&cga, 0, level));
	search_bind(&cga, task);
	domain_sync_masked(shape, mask);
	assert_int_equal(search_run(task, &cga, 100 * 4), 8 * 4);
	assert_int_equal(search_end(), SEARCH_FULL);
	assert_false(gpc_rows_lead());
	domain_settle();
	for (sm = 0; sm < 32; sm++)
		assert_int_equal(lake_level(&shape->lake, sm), mask[0] >> sm & 1 ? 0 : 4);
}

/* SMs that are held for a CGA are shown to its task only. */
static void held_back(void **unused)
{
	static const unsigned sms[] = { 16, 16 };
	const uint32_t mask[LAKE_WORDS] = { 0x0000ffffu };

	boot(2, sms, 4);
	domain_sync(shape);
	shape_hold(mask);
	for (unsigned i = 0; i < 2; i++) {
		domain_sync(shape);
		assert_true(domains.gpc[0].top < domains.gpc[0].row);
		assert_int_equal(domains.gpc[1].top - domains.gpc[1].row, 3);
		shape_hold_lift(true);
		domain_sync(shape);
		assert_int_equal(domains.gpc[0].top - domains.gpc[0].row, 3);
		shape_hold_lift(false);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-14", who_leads),
		RIG_TEST("CGA-14 TSK-04", masked),
		RIG_TEST("CGA-05", held_back),
		RIG_TEST("CGA-09 CGA-10 CGA-11 CGA-14", gpc_cgas),
		RIG_TEST("CGA-09 CGA-10 CGA-11", cpc_cgas),
		RIG_TEST("CGA-01 CGA-09 CGA-10", wide_cgas),
		RIG_TEST("CGA-11 CGA-12", figure_28),
		RIG_TEST("CGA-02 CGA-01", figure_12),
		RIG_TEST("CGA-04", topologies),
		RIG_TEST("CGA-15 CGA-17 CGA-23", few_ids),
		RIG_TEST("CGA-04 SYS-14", most_cpcs),
		RIG_TEST("CGA-15 CGA-16", at_the_end_of_the_ring),
		RIG_TEST("CGA-02 CGA-12 CGA-15 CGA-16 CGA-18 REL-11", nested_cgas),
	};

	return cmocka_run_group_tests_name("firmware: CGA sessions", tests, NULL, NULL);
}

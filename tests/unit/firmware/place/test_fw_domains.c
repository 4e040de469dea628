/* SPDX-License-Identifier: MIT */
/* The table of hardware domains (CGA-04), against arrays with one entry for each SM. */
#include "gpc_rig.h"

/* The domain of @kind that GPC @g, or CPC @c of it, is in. */
static unsigned domain_of(unsigned kind, unsigned g, unsigned c)
{
	return kind == TUTTI_CGA_CPC ? card.first_cpc[g] + c : kind == TUTTI_CGA_GPC ? g : kind == TUTTI_CGA_UGPU ? card.ugpu[g] : 0;
}

/* Domains of @kind inside @outer number @number, by looking at each CPC of the card; those without a CPC have none. */
static void same_inside(unsigned kind, unsigned outer, unsigned number)
{
	struct domain_range got = domain_inside(kind, outer, number);
	unsigned first = ~0u, last = 0, g, c;

	for (g = 0; g < card.gpcs; g++)
		for (c = 0; c < (card.cpcs[g] && (kind == TUTTI_CGA_CPC || outer == TUTTI_CGA_CPC) ? card.cpcs[g] : 1); c++) {
			if ((kind == TUTTI_CGA_CPC || outer == TUTTI_CGA_CPC) && !card.cpcs[g])
				continue;
			if (outer != DOMAIN_KIND_CARD && domain_of(outer, g, c) != number)
				continue;
			first = domain_of(kind, g, c) < first ? domain_of(kind, g, c) : first;
			last = domain_of(kind, g, c) >= last ? domain_of(kind, g, c) + 1 : last;
		}
	assert_int_equal(got.n, first == ~0u ? 0 : last - first);
	if (got.n)
		assert_int_equal(got.first, first);
}

static void same_domains(void)
{
	unsigned g, kind, i, sum = 0;

	assert_int_equal(domains.gpcs, card.gpcs);
	assert_int_equal(domains.cpcs, card.all_cpcs);
	assert_int_equal(domains.ugpus, card.ugpus);
	assert_ptr_equal(domains.end, domains.gpc + card.gpcs);
	for (g = 0; g < card.gpcs; g++) {
		const struct gpc *gpc = &domains.gpc[g];

		assert_int_equal(gpc->first, card.gpc[g].first_sm);
		assert_int_equal(__builtin_popcount(gpc->all), card.gpc[g].sms);
		assert_int_equal(gpc->all & (gpc->all + 1), 0);
		assert_int_equal(gpc->number, card.number[g]);
		assert_int_equal(gpc->index, g);
		assert_int_equal(domains.index[card.number[g]], g);
		assert_int_equal(gpc->cpc, card.first_cpc[g]);
		assert_int_equal(gpc->cpcs, card.cpcs[g]);
		assert_int_equal(gpc->ugpu, card.ugpu[g]);
		for (i = 0; i < card.cpcs[g]; i++)
			assert_int_equal(domains.cpc_gpc[gpc->cpc + i], g);
		sum += card.gpc[g].sms;
	}
	assert_int_equal(domains.whole, sum == card.sms);
	if (card.gpcs)
		assert_int_equal(domains.levels, DOMAIN_ROWS / card.gpcs > LAKE_LEVELS ? LAKE_LEVELS : DOMAIN_ROWS / card.gpcs - 1);
	for (kind = TUTTI_CGA_CPC; kind <= TUTTI_CGA_GPU; kind++) {
		same_inside(kind, DOMAIN_KIND_CARD, 0);
		for (i = 0; i < card.all_cpcs && kind == TUTTI_CGA_CPC; i++)
			same_inside(kind, TUTTI_CGA_CPC, i);
		for (i = 0; i < card.gpcs && kind <= TUTTI_CGA_GPC; i++)
			same_inside(kind, TUTTI_CGA_GPC, i);
		for (i = 0; i < card.ugpus && kind <= TUTTI_CGA_UGPU; i++)
			same_inside(kind, TUTTI_CGA_UGPU, i);
	}
}

static void domains_of_the_card(void **unused)
{
	unsigned round;

	(void)unused;
	for (round = 0; round < 150; round++) {
		seed(round);
		random_card(round);
		same_domains();
	}
}

/* ---- which SMs they have ---- */

static void by_position(unsigned g, uint32_t mask, uint32_t *positions)
{
	unsigned b, at;

	memset(positions, 0, LAKE_WORDS * 4);
	for (b = 0; b < 32; b++)
		if (mask >> b & 1) {
			at = card.at[g][b];
			positions[at / 32] |= 1u << (at % 32);
		}
}

/* No word is named twice in a row, and none without need. */
static void same_scatter(unsigned g, uint32_t mask)
{
	uint32_t want[LAKE_WORDS], got[LAKE_WORDS] = { 0 };
	unsigned n = domain_scatter(&domains.gpc[g], mask), i;

	by_position(g, mask, want);
	for (i = 0; i < n; i++) {
		assert_true(domain_part[i][0] < (card.sms + 31) / 32 && domain_part[i][1]);
		assert_int_equal(got[domain_part[i][0]] & domain_part[i][1], 0);
		assert_true(!i || domain_part[i][0] != domain_part[i - 1][0]);
		got[domain_part[i][0]] |= domain_part[i][1];
	}
	assert_memory_equal(got, want, sizeof(want));
}

/* Two SMs of a TPC that are both in @mask. */
static uint32_t pairs_in(unsigned g, uint32_t mask)
{
	uint32_t pairs = 0;

	for (unsigned a = 0; a < card.gpc[g].sms; a++)
		for (unsigned b = 0; b < card.gpc[g].sms; b++)
			if (a != b && mask >> a & 1 && mask >> b & 1 &&
			    card.tpc[card.order[card.at[g][a]]] == card.tpc[card.order[card.at[g][b]]])
				pairs |= 1u << a;
	return pairs;
}

static void same_pairs(unsigned g, uint32_t mask)
{
	const struct gpc *gpc = &domains.gpc[g];
	uint32_t pairs = pairs_in(g, mask);

	assert_int_equal(domain_pairs(gpc, mask), pairs);
	assert_int_equal(domain_pairs(gpc, mask), pairs); /* a kept answer is no other one */
	if (domain_paired(gpc, mask))
		assert_int_equal(pairs, mask);
	if (gpc->even == DOMAIN_EVEN)
		assert_int_equal(domain_paired(gpc, mask), pairs == mask);
}

static void same_members(unsigned g)
{
	const struct gpc *gpc = &domains.gpc[g];
	uint32_t cpc[8] = { 0 };
	bool apart = false;
	unsigned b, c;

	for (b = 0; b < card.gpc[g].sms; b++) {
		unsigned at = card.at[g][b], sm = card.order[at];

		assert_int_equal(domain_sm(gpc, b), sm);
		apart |= at != card.at[g][0] + b;
		if (card.cpc[sm] < card.cpcs[g])
			cpc[card.cpc[sm]] |= 1u << b;
	}
	for (c = 0; c < card.cpcs[g]; c++)
		assert_int_equal(domains.cpc[gpc->cpc + c], cpc[c]);
	assert_int_equal(gpc->shift == 32, apart);
	assert_true(domains.scattered || !apart);
}

static void members_of_gpcs(void **unused)
{
	unsigned round, g, i;
	bool apart;

	(void)unused;
	for (round = 0; round < 100; round++) {
		seed(1000 + round);
		random_card(round);
		for (apart = false, g = 0; g < card.gpcs; g++) {
			same_members(g);
			apart |= domains.gpc[g].shift == 32;
			same_scatter(g, domains.gpc[g].all);
			same_scatter(g, 0);
			for (i = 0; i < 4; i++)
				same_scatter(g, domains.gpc[g].all & roll32());
		}
		assert_int_equal(domains.scattered, apart);
		/* GPCs in turn ask about the same SMs as well */
		for (i = 0; i < 4; i++) {
			uint32_t mask = i ? roll32() | roll32() : ~0u;

			for (g = 0; g < card.gpcs; g++)
				same_pairs(g, mask & domains.gpc[g].all);
			for (g = 0; g < card.gpcs; g++)
				same_pairs(g, mask & domains.gpc[g].all);
		}
	}
}

/* The first @n SMs of the GPCs of a µGPU by position, of those that are wanted: how many are in each (CGA-10). */
static void first_by_position(void **unused)
{
	uint32_t masks[TUTTI_MAX_GPCS];
	uint16_t got[TUTTI_MAX_GPCS], want[TUTTI_MAX_GPCS];
	unsigned round, g, at, n, u, sum, bit[TUTTI_MAX_GPCS];

	(void)unused;
	for (round = 0; round < 150; round++) {
		seed(2000 + round);
		random_card(round);
		for (u = 0; u < card.ugpus; u++) {
			struct domain_range range = domain_inside(TUTTI_CGA_GPC, TUTTI_CGA_UGPU, u);

			for (sum = g = 0; g < range.n; g++) {
				masks[g] = domains.gpc[range.first + g].all & (roll(3) ? roll32() : ~0u);
				sum += (unsigned)__builtin_popcount(masks[g]);
				got[g] = want[g] = (uint16_t)roll(5);
			}
			n = roll(sum + 1);
			domain_before(range, masks, n, got);
			memset(bit, 0, sizeof(bit));
			for (at = 0; at < card.sms && n; at++) {
				g = card.gpc_of[card.order[at]] - range.first;
				if (g < range.n && masks[g] >> bit[g]++ & 1) {
					want[g]++;
					n--;
				}
			}
			assert_memory_equal(got, want, range.n * 2);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-04 CGA-01", domains_of_the_card),
		RIG_TEST("CGA-04 CGA-10", members_of_gpcs),
		RIG_TEST("CGA-08 CGA-10", first_by_position),
	};

	return cmocka_run_group_tests_name("firmware: domains", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * The rows of free slots that each GPC has (CGA-11, CGA-14), against a number for each SM: when they are filled, what they
 * learn as CTAs of CGAs end, and what the lake of the card learns from them.
 */
#include "gpc_rig.h"

/* The rows show card.free, as far as there are rows. */
static void same_rows(void)
{
	unsigned g, b, k;

	for (g = 0; g < card.gpcs; g++) {
		const struct gpc *gpc = &domains.gpc[g];
		const uint16_t *at = card.at[g];
		unsigned top = 0;

		for (b = 0; b < card.gpc[g].sms; b++)
			top = card.free[at[b]] > top ? card.free[at[b]] : top;
		top = top > domains.levels ? domains.levels : top;
		assert_int_equal(gpc->top - gpc->row, (int)top - 1);
		assert_int_equal(gpc->row[-1].mask, ~0u);
		assert_int_equal(gpc->row[-1].count, ~0u);
		for (k = 0; k < top; k++) {
			uint32_t mask = 0;

			for (b = 0; b < card.gpc[g].sms; b++)
				mask |= (uint32_t)(card.free[at[b]] > k) << b;
			assert_int_equal(gpc->row[k].mask, mask);
			assert_int_equal(gpc->row[k].count, __builtin_popcount(mask));
		}
	}
}

/* A shape of which an SM takes @capacity CTAs, with a lake of as many free slots as card.free says. */
static struct shape *shape_of(unsigned capacity)
{
	struct shape *shape = shape_find(0, (64 / capacity) | (capacity > 16 ? 0 : 1) << 16, 1);
	unsigned at;

	assert_int_equal(shape->capacity, capacity);
	for (at = 0; at < card.sms; at++)
		lake_set(&shape->lake, at / 32, 1u << (at % 32), card.free[at]);
	return shape;
}

static void random_slots(unsigned capacity)
{
	unsigned at, most = roll(3) ? capacity : roll(capacity + 1), kind = roll(3);

	for (at = 0; at < card.sms; at++)
		card.free[at] = (uint8_t)(kind == 0 ? most : kind == 1 ? (roll(4) ? most : 0) : roll(most + 1));
}

static unsigned some_capacity(void)
{
	return 1u << roll(6);
}

static bool any_free(void)
{
	for (unsigned at = 0; at < card.sms; at++)
		if (card.free[at] && card.gpc_of[card.order[at]] != NONE)
			return true;
	return false;
}

/* The most free slots of an SM. */
static unsigned largest(void)
{
	unsigned at, most = 0;

	for (at = 0; at < card.sms; at++)
		most = card.free[at] > most ? card.free[at] : most;
	return most;
}

static void keep_only(const uint32_t *mask)
{
	for (unsigned at = 0; at < card.sms; at++)
		if (!(mask[at / 32] >> (at % 32) & 1))
			card.free[at] = 0;
}

static void random_mask(uint32_t *mask)
{
	unsigned w, density = roll(3);

	for (w = 0; w < LAKE_WORDS; w++)
		mask[w] = density == 0 ? ~0u : density == 1 ? roll32() : roll32() | roll32() | roll32();
}

static void rows_of_a_lake(void **unused)
{
	uint32_t mask[LAKE_WORDS];
	struct shape *shape;
	unsigned round;

	(void)unused;
	for (round = 0; round < 200; round++) {
		unsigned capacity;

		seed(3000 + round);
		random_card(round);
		capacity = some_capacity();
		random_slots(capacity);
		shape = shape_of(capacity);
		assert_true(domain_sync(shape));
		same_rows();
		assert_int_equal(domains.clipped, largest() > domains.levels);
		assert_int_equal(domain_any_free(), any_free());
		/* the SMs that a mask leaves; the next user fills the rows again */
		random_mask(mask);
		assert_true(domain_sync_masked(shape, mask));
		keep_only(mask);
		same_rows();
		assert_true(domains.dirty);
	}
}

/* An idle card: as many slots as asked for, and as there are rows, on all SMs that are switched on and not masked. */
static void rows_of_an_idle_card(void **unused)
{
	uint32_t mask[LAKE_WORDS];
	unsigned round, i, at, capacity;

	(void)unused;
	for (round = 0; round < 200; round++) {
		seed(4000 + round);
		random_card(round);
		for (i = roll(2) ? 0 : roll(20); i; i--)
			assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, roll(card.sms), 1, 0), 0);
		capacity = roll(3) ? some_capacity() : 0;
		random_mask(mask);
		for (i = 0; i < 2; i++) {
			assert_true(domain_sync(shape_find(0, 1, 1)));
			domains.asked = 1;
			domain_idle(capacity, i ? mask : NULL);
			assert_int_equal(domains.asked, 0);
			for (at = 0; at < card.sms; at++)
				card.free[at] = (uint8_t)(shapes.enabled[at / 32] >> (at % 32) & 1 ? capacity : 0);
			if (i)
				keep_only(mask);
			same_rows();
			assert_int_equal(domain_any_free(), any_free());
			assert_null(domains.shape);
		}
	}
}

/* CTAs of SMs @mask of GPC @g end, @repeat on each. */
static void raise(unsigned g, uint32_t mask, unsigned repeat)
{
	domain_raise(&domains.gpc[g], repeat, mask);
	for (unsigned b = 0; b < 32; b++)
		if (mask >> b & 1)
			card.free[card.at[g][b]] = (uint8_t)(card.free[card.at[g][b]] + repeat);
}

/* SMs of @mask of GPC @g that have at most @most free slots. */
static uint32_t with_at_most(unsigned g, uint32_t mask, unsigned most)
{
	for (unsigned b = 0; b < 32; b++)
		if (mask >> b & 1 && card.free[card.at[g][b]] > most)
			mask &= ~(1u << b);
	return mask;
}

static void some_end(unsigned capacity)
{
	unsigned g = roll(card.gpcs), repeat = roll(3) ? 1 : 1 + roll(capacity);
	uint32_t mask = domains.gpc[g].all & (roll(2) ? roll32() : roll32() | roll32());

	mask = with_at_most(g, mask, capacity - repeat);
	if (mask)
		raise(g, mask, repeat);
}

/* The rows follow as CTAs end; where there are more free slots than rows, that is known. */
static void rows_follow_ends(void **unused)
{
	unsigned round, i, capacity;

	(void)unused;
	for (round = 0; round < 200; round++) {
		seed(5000 + round);
		random_card(round);
		if (!card.gpcs)
			continue;
		capacity = some_capacity();
		random_slots(capacity);
		domain_sync(shape_of(capacity));
		for (i = 0; i < 40; i++) {
			some_end(capacity);
			same_rows();
		}
		if (domains.whole)
			assert_int_equal(domains.clipped, largest() > domains.levels);
	}
}

/* All residents are CTAs of CGAs of @shape. */
static void residents_are(struct shape *shape, unsigned n)
{
	shape->residents = place_state.residents = shapes.grouped_ctas = n;
}

/* The lake has what the model says, and its counts are right. */
static void same_lake(const struct lake *lake)
{
	unsigned at, k, w;

	for (at = 0; at < card.sms; at++)
		assert_int_equal(lake_level(lake, at), card.free[at]);
	for (k = 1; k <= (unsigned)(lake->top - lake->row); k++) {
		unsigned count = 0;

		for (w = 0; w < (card.sms + 31) / 32; w++)
			count += (unsigned)__builtin_popcount(lake->row[k].mask[w]);
		assert_int_equal(lake->row[k].count, count);
	}
	assert_int_equal(lake->top - lake->row, largest());
}

/* What the rows alone have learnt while they led is in the lake once somebody else needs it; an empty card's lake is full. */
static void settled_lakes(void **unused)
{
	unsigned round, i, at, capacity, led = 0;
	struct shape *shape;

	(void)unused;
	for (round = 0; round < 200; round++) {
		seed(6000 + round);
		random_card(round);
		capacity = some_capacity();
		random_slots(capacity);
		shape = shape_of(capacity);
		residents_are(shape, card.sms * 32);
		assert_true(domain_sync(shape));
		if (!gpc_rows_lead()) {
			assert_true(!domains.whole || capacity > domains.levels);
			continue;
		}
		led++;
		for (i = roll(40); i; i--)
			some_end(capacity);
		counters.ctas_issued += roll(2);
		if (!roll(4)) {
			residents_are(shape, 0);
			for (at = 0; at < card.sms; at++)
				card.free[at] = (uint8_t)capacity;
		}
		domain_settle();
		assert_false(gpc_rows_lead());
		same_lake(&shape->lake);
		assert_int_equal(domains.issued, counters.ctas_issued);
	}
	assert_true(led > 100);
}

/* Set up a card of @sms SMs with GPCs of 16 and 18, and five free slots on each SM. Return: a shape of 8 CTAs per SM */
static struct shape *two_gpcs(unsigned sms)
{
	static const uint16_t gpcs[] = { 16, 18 };

	seed(7000);
	begin(sms);
	boot(gpcs, 2, 3, true, true);
	memset(card.free, 5, card.sms);
	return shape_of(8);
}

/* Each reason for which the rows must not lead, alone. */
static void when_rows_lead(void **unused)
{
	struct shape *shape;

	(void)unused;
	for (unsigned reason = 0; reason <= 6; reason++) {
		shape = two_gpcs(reason == 1 ? 35 : 34);
		residents_are(shape, 3 * 34);
		if (reason == 2) /* a CTA without a CGA, which ends without a word to the rows */
			shapes.grouped_ctas--;
		if (reason == 3) /* a CTA of another shape */
			place_state.residents = ++shapes.grouped_ctas;
		if (reason == 4) /* another shape waits */
			state_detour(DETOUR_BESIDE, true);
		if (reason == 5) /* an SM may get more free slots than there are rows */
			domains.levels = 7;
		if (reason == 6) /* the table of SM states has to be read */
			shape_exact(true);
		assert_true(domain_sync(shape));
		assert_int_equal(gpc_rows_lead(), !reason);
		assert_true(domains.shape == shape);
		domain_forget();
		assert_false(gpc_rows_lead());
		assert_null(domains.shape);
	}
}

/* The rows are filled again if CTAs of others were placed, the SMs have changed, or it is said so; and not otherwise. */
static void when_rows_are_filled(void **unused)
{
	struct shape *shape;

	(void)unused;
	for (unsigned reason = 0; reason <= 4; reason++) {
		shape = two_gpcs(34);
		state_detour(DETOUR_BESIDE, true); /* so that they do not lead */
		assert_true(domain_sync(shape));
		same_rows();
		lake_lower(&shape->lake, 0, 7, 2);
		counters.ctas_issued += reason == 1;
		shapes.changes += reason == 2;
		domains.dirty |= reason == 3;
		if (reason == 4)
			domain_forget();
		domains.asked = 1;
		assert_true(domain_sync(shape));
		assert_int_equal(domains.asked, !reason);
		card.free[0] = card.free[1] = card.free[2] = reason ? 3 : 5;
		same_rows();
		/* and once is enough */
		lake_lower(&shape->lake, 0, 7, 2);
		assert_true(domain_sync(shape));
		same_rows();
	}
}

/* A shape that is made while rows lead takes nothing from them; one that takes over the entry they show empties them. */
static void rows_and_new_shapes(void **unused)
{
	struct shape *shape = two_gpcs(34), *other;

	(void)unused;
	residents_are(shape, 3 * 34);
	assert_true(domain_sync(shape));
	raise(1, 0x3f, 2);
	assert_non_null(shape_find(3, 0, 3));
	assert_true(gpc_rows_lead());
	domain_settle();
	same_lake(&shape->lake);
	/* all entries are in use, and this one is free again */
	for (unsigned i = 2; i < FW_SHAPES; i++)
		assert_non_null(shape_find(3, 0, 3 + i));
	residents_are(shape, 0);
	shape_empty();
	assert_true(domain_sync(shape));
	assert_ptr_equal(domains.shape, shape);
	other = shape_find(4, 0, 1);
	assert_ptr_equal(other, shape);
	assert_false(gpc_rows_lead());
	memset(card.free, 32, card.sms);
	assert_true(domain_sync(other));
	same_rows();
}

/*
 * Whoever changes which SMs take CTAs, or how they are chosen, or wants the rows for something else, has the lake brought up
 * to date before, and then the rows do not lead.
 */
static void settled_before_changes(void **unused)
{
	const uint32_t some[LAKE_WORDS] = { 0x0ff0 };
	struct shape *shape;

	(void)unused;
	for (unsigned change = 0; change < 10; change++) {
		shape = two_gpcs(34);
		residents_are(shape, 3 * 34);
		assert_true(domain_sync(shape));
		assert_true(gpc_rows_lead());
		raise(0, 0xf0f0, 2);
		raise(1, 0x3f, 1);
		switch (change) {
		case 0: shape_hold(some); break;
		case 1: shape_hold(NULL); break;
		case 2: shape_hold_lift(true); break;
		case 3: shape_hold_lift(false); break;
		case 4: shape_enable(some, false); break;
		case 5: shape_enable(some, true); break;
		case 6: shape_exact(true); break;
		case 7: shape_cap(3); break;
		case 8: domain_idle(4, NULL); break; /* a question about an idle card */
		default: assert_true(domain_sync_masked(shape, some)); /* and one for a task with a mask */
		}
		assert_false(gpc_rows_lead());
		same_lake(&shape->lake);
		/* held SMs may be shown or not: the rows are filled again */
		if (change < 4)
			assert_true(domains.dirty);
	}
}

/* Each SM holds a CTA of another shape. */
static void beside_others(struct shape *shape)
{
	struct shape *other;

	assert_true(domain_sync(shape));
	domain_settle(); /* before CTAs of another shape are placed */
	other = shape_find(3, 0, 3);
	other->residents = place_state.residents = 34;
	counters.ctas_issued += 34;
	lake_lower(&other->lake, 0, ~0u, 1);
	lake_lower(&other->lake, 1, 3, 1);
}

/* A visit that has no time to find out what is free leaves nothing in the rows that could be taken for it. */
static void unknown_rows(void **unused)
{
	struct shape *shape = two_gpcs(34);

	(void)unused;
	beside_others(shape);
	rig_shorten_visit(1);
	counters.events++;
	assert_false(domain_sync(shape));
	assert_null(domains.shape);
	assert_true(place_state.detours & DETOUR_CUT);
	counters.events++;
	assert_true(domain_sync(shape));
	assert_ptr_equal(domains.shape, shape);
}

/* Whether the rows are filled in a visit that has @steps left, for a task that may use all SMs. */
static bool filled_with(struct shape *shape, uint32_t steps)
{
	static const uint32_t all[LAKE_WORDS] = { ~0u, ~0u };
	bool filled;

	rig_shorten_visit(steps);
	counters.events++;
	state_detour(DETOUR_CUT, false);
	filled = domain_sync_masked(shape, all);
	assert_int_equal(!!(place_state.detours & DETOUR_CUT), !filled);
	assert_ptr_equal(domains.shape, filled ? shape : NULL);
	return filled;
}

/* A search beside other shapes needs half of a visit's steps. If fewer are left, the next visit begins it in any case. */
static void search_in_another_visit(void **unused)
{
	struct shape *shape = two_gpcs(34);

	(void)unused;
	assert_true(filled_with(shape, 1)); /* while there are no other shapes, it is not put off */
	beside_others(shape);
	assert_true(filled_with(shape, VISIT_STEPS)); /* from now on it is known what is free */
	assert_true(filled_with(shape, VISIT_STEPS / 2));
	for (unsigned i = 0; i < 2; i++) {
		assert_false(filled_with(shape, VISIT_STEPS / 2 - 1));
		assert_true(filled_with(shape, 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-11 CGA-14", rows_of_a_lake),
		RIG_TEST("CGA-05 CGA-29", rows_of_an_idle_card),
		RIG_TEST("CGA-14", rows_follow_ends),
		RIG_TEST("CGA-14", settled_lakes),
		RIG_TEST("CGA-14", when_rows_lead),
		RIG_TEST("CGA-14", when_rows_are_filled),
		RIG_TEST("CGA-14 REL-11", rows_and_new_shapes),
		RIG_TEST("CGA-14 CGA-04 CGA-05", settled_before_changes),
		RIG_TEST("CGA-14 REL-11", unknown_rows),
		RIG_TEST("CGA-05 REL-11", search_in_another_visit),
	};

	return cmocka_run_group_tests_name("firmware: rows of GPCs", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* Occupancy against the oracle, which places CGAs one CTA at a time until no more fit, on random cards. */
#include "fw_rig.h"

#include "groups/cga_ids.h"
#include "groups/occupancy.h"
#include "cga_card.h"

#define ENOUGH 100000u

/* CTAs of 64 / capacity shared blocks. */
static struct tutti_msg_occupancy question(unsigned capacity)
{
	return (struct tutti_msg_occupancy){ .waves = 1, .shared_blocks = (uint16_t)(64 / capacity) };
}

static uint64_t ask(const struct tutti_msg_occupancy *m)
{
	struct tutti_message answer = { 0 };

	assert_int_equal(occupancy_answer(m, &answer), 0);
	return answer.value;
}

static unsigned place_all(const struct tutti_msg_occupancy *m)
{
	struct oracle_grid grid = { .multicast = m->mode == TUTTI_CGA_MULTICAST, .identity = -1 };
	unsigned i, n, identities = 1;

	for (i = 0; i < TUTTI_CGA_LEVELS && m->cga[i].kind; i++) {
		grid.kind[i] = m->cga[i].kind;
		grid.parts[i] = (unsigned)m->cga[i].x * m->cga[i].y * m->cga[i].z;
		if (grid.kind[i] <= TUTTI_CGA_GPC)
			grid.identity = (int)i;
		else if (i)
			identities *= grid.parts[i];
	}
	grid.levels = i;
	if (m->lmem && grid.identity < 0)
		return 0;
	n = oracle_run(&card, &grid, ENOUGH);
	return m->lmem && n > cga_ids_lmem_slots() / identities ? cga_ids_lmem_slots() / identities : n;
}

static void random_shape(struct tutti_msg_occupancy *m)
{
	unsigned kind = 1 + roll(4), i = 0;

	m->mode = (uint8_t)roll(2);
	m->cga[0] = (struct tutti_cga_shape){ (uint16_t)(2 + roll(7)), (uint16_t)(1 + roll(3)), 1, (uint16_t)kind };
	while (kind < TUTTI_CGA_GPU && roll(2)) {
		kind += 1 + roll(TUTTI_CGA_GPU - kind);
		m->cga[++i] = (struct tutti_cga_shape){ (uint16_t)(1 + roll(3)), 1, (uint16_t)(1 + roll(2)), (uint16_t)kind };
	}
	m->lmem = !roll(8);
}

static void compare(const struct tutti_msg_occupancy *m, unsigned capacity, unsigned *fitted)
{
	uint64_t said = ask(m), n;

	oracle_empty(capacity);
	n = place_all(m);
	if (said != n)
		fail_msg("%u SMs, %u GPCs, %u CTAs an SM, kinds %u %u %u, parts %u %u %u, mode %u, lmem %u: %llu said, %llu placed",
			 card.sms, card.gpcs, capacity, m->cga[0].kind, m->cga[1].kind, m->cga[2].kind,
			 m->cga[0].x * m->cga[0].y, m->cga[1].x * m->cga[1].z, m->cga[2].x * m->cga[2].z, m->mode, m->lmem,
			 (unsigned long long)said, (unsigned long long)n);
	*fitted += n != 0;
}

static void random_cards(void **unused)
{
	struct tutti_discovery *d = (void *)hal_host.window;
	unsigned round, i, g, sms[8], fitted = 0;

	for (round = 0; round < 300; round++) {
		unsigned gpcs = 1 + roll(8), capacity = 1u << roll(5);

		seed(7000 + round);
		for (g = 0; g < gpcs; g++)
			sms[g] = roll(3) ? 6 + roll(6) : 1 + roll(18);
		oracle_boot(gpcs, sms);
		if (!roll(3)) { /* ids are what limits CGAs on this card */
			d->cga_ids = 1 + roll(5);
			cga_ids_init();
		}
		for (i = roll(3) ? 0 : roll(card.sms); i; i--)
			assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, roll(card.sms), 1, 0), 0);
		for (i = 0; i < 4; i++) {
			struct tutti_msg_occupancy m = question(capacity);

			random_shape(&m);
			compare(&m, capacity, &fitted);
		}
	}
	assert_true(fitted > 500);
}

/* 1, 7, 32, 132 and 144 SMs, GPCs alike and not; a card of 20 GPCs, whose rows are fewer than an SM has slots. */
static void known_cards(void **unused)
{
	static const unsigned cards[][20] = {
		{ 1 }, { 7 }, { 8, 8, 8, 8 }, { 18, 16, 18, 16, 16, 16, 16, 16 }, { 18, 18, 18, 18, 18, 18, 18, 18 },
		{ 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4 },
	};
	unsigned i, gpcs, n, kind, fitted = 0;

	for (i = 0; i < sizeof(cards) / sizeof(cards[0]); i++) {
		for (gpcs = 0; gpcs < 20 && cards[i][gpcs]; gpcs++)
			;
		oracle_boot(gpcs, cards[i]);
		for (kind = TUTTI_CGA_CPC; kind <= TUTTI_CGA_GPC; kind++)
			for (n = 1; n <= 16; n *= 2) {
				struct tutti_msg_occupancy m = question(32);

				m.cga[0] = (struct tutti_cga_shape){ (uint16_t)n, 1, 1, (uint16_t)kind };
				compare(&m, 32, &fitted);
				m = question(1);
				m.cga[0] = (struct tutti_cga_shape){ 1, (uint16_t)n, 1, (uint16_t)kind };
				compare(&m, 1, &fitted);
			}
	}
	assert_true(fitted > 70);
}

/* As many GPCs and CPCs as the firmware has places for: the last ones take CGAs, too. */
static void full_tables(void **unused)
{
	unsigned sms[TUTTI_MAX_GPCS], i, fitted = 0;
	struct tutti_msg_occupancy m = question(1);

	for (i = 0; i < TUTTI_MAX_GPCS; i++)
		sms[i] = 16;
	oracle_boot(TUTTI_MAX_GPCS, sms);
	assert_int_equal(domains.cpcs, DOMAIN_CPCS);
	for (i = 1; i <= 6; i++) {
		m.cga[0] = (struct tutti_cga_shape){ (uint16_t)i, 1, 1, TUTTI_CGA_CPC };
		compare(&m, 1, &fitted);
	}
	assert_int_equal(fitted, 6);
	/* The parts of a GPC_CGA need no ids, of which each GPC has 4 here. */
	m = question(4);
	m.mode = TUTTI_CGA_MULTICAST;
	m.cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_CPC };
	for (i = 7; i <= 33; i++) {
		m.cga[1] = (struct tutti_cga_shape){ (uint16_t)i, 1, 1, TUTTI_CGA_GPC };
		assert_int_equal(ask(&m), TUTTI_MAX_GPCS * (32 / i));
	}
}

/* Plain workgroups; needs that no SM has; the card as it is set. */
static void plain(void **unused)
{
	static const unsigned sms[] = { 8, 5 };
	struct tutti_msg_occupancy m = question(8);
	struct tutti_message answer = { 0 };

	oracle_boot(2, sms);
	assert_int_equal(occupancy_answer(&m, &answer), 0);
	assert_int_equal(answer.value, 13 * 8);
	assert_int_equal(answer.arg[0], 8);
	assert_int_equal(answer.arg[1], 13);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 0, 3, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CTA_CAP, 5, 0), 0);
	assert_int_equal(ask(&m), 10 * 5);
	m.shared_blocks = 65;
	assert_int_equal(ask(&m), 0);
	m.cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_GPC };
	assert_int_equal(ask(&m), 0);
	m = question(1);
	m.waves = 65535;
	assert_int_equal(ask(&m), 0);
}

/* CGAs over several GPCs that are just as large as the card, larger by one CTA, and larger than any card. */
static void larger_than_the_card(void **unused)
{
	static const unsigned gpcs[][4] = { { 8 }, { 16, 16 }, { 16, 7, 1 }, { 18, 18, 18, 18 } };
	unsigned i, n, room, larger, fitted = 0;

	for (i = 0; i < 4; i++) {
		for (n = 1; n < 4 && gpcs[i][n]; n++)
			;
		oracle_boot(n, gpcs[i]);
		for (n = 0; n < 4; n++) {
			unsigned capacity = n & 2 ? 32 : 4;
			struct tutti_msg_occupancy m = question(capacity);

			room = card.sms * capacity;
			m.mode = n & 1;
			m.cga[0] = (struct tutti_cga_shape){ (uint16_t)room, 1, 1, TUTTI_CGA_GPU };
			compare(&m, capacity, &fitted);
			for (larger = room + 1; larger < 65536; larger = larger < 1000 ? larger + 97 : larger * 3) {
				m.cga[0].x = (uint16_t)larger;
				assert_int_equal(ask(&m), 0);
				m.cga[0].kind = TUTTI_CGA_UGPU;
				assert_int_equal(ask(&m), 0);
				m.cga[0].kind = TUTTI_CGA_GPU;
			}
		}
	}
	assert_true(fitted >= 8);
}

/* Whatever a message holds: an answer or a refusal, and the card goes on. */
static void nonsense(void **unused)
{
	static const unsigned sms[] = { 8, 3, 18 };
	struct tutti_message m = { .type = TUTTI_MSG_OCCUPANCY };
	unsigned round, i, refused = 0;

	oracle_boot(3, sms);
	seed(99);
	for (round = 0; round < 20000; round++) {
		struct tutti_message answer = { 0 };
		uint16_t *word = (uint16_t *)&m.occupancy;

		for (i = 0; i < sizeof(m.occupancy) / 2; i++)
			word[i] = (uint16_t)(roll(3) ? roll(6) : roll(65536));
		if (roll(2))
			m.occupancy.pad0 = 0;
		refused += occupancy_answer(&m.occupancy, &answer) != 0;
	}
	assert_in_range(refused, 1, 19999);
	m.occupancy = question(8);
	m.occupancy.waves = 0;
	assert_int_equal(rig_message(&m), -TUTTI_EINVAL);
	m = (struct tutti_message){ .type = TUTTI_MSG_OCCUPANCY, .occupancy = question(8) };
	assert_int_equal(rig_message(&m), 0);
}

static int status(const struct tutti_msg_occupancy *m)
{
	struct tutti_message answer = { 0 };

	return occupancy_answer(m, &answer);
}

/* Which messages are questions: a CTA has waves, and mode, memory slots and padding have a few values only. */
static void questions(void **unused)
{
	static const unsigned sms[] = { 8, 8 };
	struct tutti_msg_occupancy m;

	oracle_boot(2, sms);
	for (unsigned i = 0; i < 256; i++) {
		m = question(4);
		m.mode = (uint8_t)i;
		assert_int_equal(status(&m), i <= TUTTI_OCCUPANCY_MODE_CARD ? 0 : -TUTTI_EINVAL);
		m = question(4);
		m.lmem = (uint8_t)i;
		assert_int_equal(status(&m), i <= 1 ? 0 : -TUTTI_EINVAL);
		m = question(4);
		m.waves = (uint16_t)i;
		assert_int_equal(status(&m), i ? 0 : -TUTTI_EINVAL);
		m = question(4);
		m.pad0 = (uint32_t)(i % 32 ? 1u << i % 32 : i & 1);
		assert_int_equal(status(&m), m.pad0 ? -TUTTI_EINVAL : 0);
	}
}

/* A question that names no mode is about the one in which the card starts kernels: ten CTAs on an SM each, or on a few. */
static void mode_of_the_card(void **unused)
{
	static const unsigned sms[] = { 8, 8 };
	struct tutti_msg_occupancy m = question(4);

	oracle_boot(2, sms);
	m.cga[0] = (struct tutti_cga_shape){ 10, 1, 1, TUTTI_CGA_GPC };
	m.mode = TUTTI_OCCUPANCY_MODE_CARD;
	assert_int_equal(ask(&m), 6);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST, 0), 0);
	assert_int_equal(ask(&m), 0);
	m.mode = TUTTI_CGA_LOAD_BALANCE;
	assert_int_equal(ask(&m), 6);
	m.mode = TUTTI_CGA_MULTICAST;
	assert_int_equal(ask(&m), 0);
	m.cga[0].x = 8;
	assert_int_equal(ask(&m), 8);
}

/* A GPC of more than 32 SMs has no CGAs, and the others have theirs wherever it lies; SMs may come in any order. */
static void too_large_gpc(void **unused)
{
	static const unsigned cards[][3] = { { 33, 4, 8 }, { 4, 33, 8 }, { 4, 8, 33 } };
	struct tutti_msg_occupancy m = question(1);

	(void)unused;
	m.cga[0] = (struct tutti_cga_shape){ 4, 1, 1, TUTTI_CGA_GPC };
	for (unsigned i = 0; i < 3; i++) {
		oracle_boot(3, cards[i]);
		assert_int_equal(domains.gpcs, 2);
		assert_int_equal(ask(&m), 3);
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SM_ORDER, 44u << 16 | 0, 0), 0);
		assert_int_equal(ask(&m), 3);
	}
}

static void swap_positions(unsigned a, unsigned b)
{
	unsigned sm = card.order[a];

	card.order[a] = card.order[b];
	card.order[b] = sm;
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SM_ORDER, a << 16 | card.order[a], 0), 0);
}

/*
 * Multicast CGAs on cards where SMs without a partner lie beside pairs. The last slots of pairs are taken in the order of
 * SMs, which says how many pairs are split: at first it follows the TPCs, then some SMs have changed places, then any have.
 */
static void singles_beside_pairs(void **unused)
{
	unsigned round, i, g, gpcs, sms[6], fitted = 0;

	for (round = 0; round < 400; round++) {
		seed(9000 + round);
		gpcs = 1 + roll(6);
		for (g = 0; g < gpcs; g++)
			sms[g] = 1 + roll(12);
		oracle_boot(gpcs, sms);
		for (i = round % 3 * roll(card.sms); i; i--)
			swap_positions(roll(card.sms), roll(card.sms));
		for (i = roll(card.sms / 2 + 1); i; i--)
			assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, roll(card.sms), 1, 0), 0);
		for (i = 1; i <= TUTTI_CGA_GPU; i++) {
			unsigned capacity = 1u << roll(5);
			struct tutti_msg_occupancy m = question(capacity);

			m.mode = TUTTI_CGA_MULTICAST;
			m.cga[0] = (struct tutti_cga_shape){ (uint16_t)(1 + roll(8)), 1, 1, (uint16_t)i };
			compare(&m, capacity, &fitted);
		}
	}
	assert_true(fitted > 800);
}

/* The same on a card of so many GPCs that their rows are fewer than an SM has slots. */
static void fewer_rows_than_slots(void **unused)
{
	static const unsigned sms[] = { 3, 1, 5, 2, 3, 7, 1, 2, 3, 4, 1, 5 };
	struct tutti_msg_occupancy m = question(32);
	unsigned n, fitted = 0;

	oracle_boot(12, sms);
	assert_in_range(domains.levels, 1, 31);
	m.mode = TUTTI_CGA_MULTICAST;
	for (n = 1; n <= 7; n++) {
		m.cga[0] = (struct tutti_cga_shape){ (uint16_t)n, 1, 1, TUTTI_CGA_GPC };
		compare(&m, 32, &fitted);
	}
	assert_int_equal(fitted, 7);
}

#define LONGEST 10000u /* steps: how long any visit may last */

/* A request that any user may make does not keep others waiting, however many CGAs there are to count. */
static void time_of_a_request(void **unused)
{
	static const unsigned cards[][12] = {
		{ 7, 9, 5, 11, 13, 15 }, { 31, 29 }, { 18, 16, 18, 16, 16, 16, 16, 16 }, { 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 1 },
	};
	unsigned i, n, kind, swaps;

	for (i = 0; i < 8; i++) {
		for (n = 0; n < 12 && cards[i / 2][n]; n++)
			;
		oracle_boot(n, cards[i / 2]);
		seed(i);
		for (swaps = i % 2 * card.sms; swaps; swaps--)
			swap_positions(swaps - 1, roll(card.sms));
		for (kind = TUTTI_CGA_CPC; kind <= TUTTI_CGA_GPU; kind++)
			for (n = 2; n <= 9; n++) {
				struct tutti_message m = { .type = TUTTI_MSG_OCCUPANCY, .occupancy = question(32) };

				m.occupancy.mode = TUTTI_CGA_MULTICAST;
				m.occupancy.cga[0] = (struct tutti_cga_shape){ (uint16_t)n, 1, 1, (uint16_t)kind };
				rig_shorten_visit(LONGEST);
				assert_int_equal(rig_message(&m), 0);
				assert_true(m.value || kind == TUTTI_CGA_CPC);
				assert_true(visit_has(1));
			}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-29", random_cards),
		RIG_TEST("CGA-29 CGA-10", singles_beside_pairs),
		RIG_TEST("CGA-29 CGA-10", fewer_rows_than_slots),
		RIG_TEST("CGA-29 REL-11", time_of_a_request),
		RIG_TEST("CGA-29, CGA-04", known_cards),
		RIG_TEST("CGA-29, SYS-14", full_tables),
		RIG_TEST("CGA-29, CGA-04", plain),
		RIG_TEST("CGA-29, CGA-03", larger_than_the_card),
		RIG_TEST("CGA-29", nonsense),
		RIG_TEST("CGA-29", questions),
		RIG_TEST("CGA-29 CGA-09 CGA-10", mode_of_the_card),
		RIG_TEST("CGA-29 CGA-04 SYS-14", too_large_gpc),
	};

	return cmocka_run_group_tests_name("firmware: occupancy", tests, NULL, NULL);
}

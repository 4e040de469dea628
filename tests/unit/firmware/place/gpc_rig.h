/* SPDX-License-Identifier: MIT */
/*
 * Cards of every form that discovery data can describe, for tests of hardware domains (CGA-04): GPCs without SMs, with
 * more than 32, or beyond the last SM; TPCs of one to three SMs; SMs in any order. @card says what the firmware should know.
 */
#ifndef TUTTI_TEST_GPC_RIG_H
#define TUTTI_TEST_GPC_RIG_H

#include "fw_rig.h"

#include "place/gpc_slots.h"
#include "top/main.h"

#define NONE 0xffffu

static struct model {
	unsigned sms, gpcs;                /* GPCs that can have CGAs */
	struct tutti_gpc gpc[TUTTI_MAX_GPCS]; /* these alone */
	unsigned number[TUTTI_MAX_GPCS];   /* of each in the discovery data */
	unsigned cpcs[TUTTI_MAX_GPCS], first_cpc[TUTTI_MAX_GPCS], ugpu[TUTTI_MAX_GPCS], all_cpcs, ugpus;
	uint16_t gpc_of[TUTTI_MAX_SMS];    /* by SM number */
	uint8_t cpc[TUTTI_MAX_SMS], tpc[TUTTI_MAX_SMS];
	uint16_t order[TUTTI_MAX_SMS];     /* SM number at each position */
	uint8_t free[TUTTI_MAX_SMS];       /* by position */
	uint16_t at[TUTTI_MAX_GPCS][32];   /* the positions of the SMs of each GPC, in this order */
} card;

/* TUTTI_POLICY_SM_ORDER says in which order a GPC has its SMs. */
static inline void note_positions(void)
{
	uint8_t have[TUTTI_MAX_GPCS] = { 0 };

	for (unsigned at = 0; at < card.sms; at++) {
		unsigned g = card.gpc_of[card.order[at]];

		if (g != NONE)
			card.at[g][have[g]++] = (uint16_t)at;
	}
}

/* A GPC of @d that the firmware can use is noted in the model. */
static inline void note_gpc(const struct tutti_discovery *d, unsigned number)
{
	const struct tutti_gpc *from = &d->gpc[number];
	unsigned g = card.gpcs;

	if (!from->sms || from->sms > 32 || from->first_sm + from->sms > card.sms)
		return;
	card.gpc[g] = *from;
	card.number[g] = number;
	card.first_cpc[g] = card.all_cpcs;
	card.cpcs[g] = from->cpcs <= DOMAIN_CPCS - card.all_cpcs ? from->cpcs : 0;
	card.all_cpcs += card.cpcs[g];
	card.ugpus += !g || card.gpc[g - 1].ugpu != from->ugpu;
	card.ugpu[g] = card.ugpus - 1;
	for (unsigned i = 0; i < from->sms; i++)
		card.gpc_of[from->first_sm + i] = (uint16_t)g;
	card.gpcs++;
}

/* Where SM @sm of @gpc is: TPCs have one to three SMs, or two if @regular. */
static inline void note_places(struct tutti_sm_place *place, const struct tutti_gpc *gpc, bool regular)
{
	unsigned i, tpc = 0, left = 0;

	for (i = 0; i < gpc->sms && gpc->first_sm + i < card.sms; i++) {
		unsigned sm = gpc->first_sm + i;

		if (!left--) {
			tpc += i != 0;
			left = (regular ? 2 : 1 + roll(3)) - 1;
		}
		place[sm].tpc = card.tpc[sm] = (uint8_t)tpc;
		place[sm].cpc = card.cpc[sm] = (uint8_t)(regular ? i / 6 : roll(9));
	}
}

/* Without a table SMs are numbered in the order of CPCs, which are alike, and TPCs, which have two. */
static inline void without_table(struct tutti_discovery *d)
{
	unsigned g, i, each;

	d->sm_table.bytes = roll(2) ? 0 : card.sms * 4 - 1;
	for (g = 0; g < card.gpcs; g++) {
		each = card.cpcs[g] ? (card.gpc[g].sms + card.cpcs[g] - 1) / card.cpcs[g] : 32;
		for (i = 0; i < card.gpc[g].sms; i++) {
			card.cpc[card.gpc[g].first_sm + i] = (uint8_t)(i / each);
			card.tpc[card.gpc[g].first_sm + i] = (uint8_t)(i / 2);
		}
	}
}

static inline void begin(unsigned sms)
{
	memset(&card, 0, sizeof(card));
	memset(&shapes, 0, sizeof(shapes));
	card.sms = sms;
	hal_host_reset(sms);
	for (unsigned i = 0; i < sms; i++) {
		card.gpc_of[i] = NONE;
		card.order[i] = (uint16_t)i;
	}
}

static inline void boot(const uint16_t *sms, unsigned gpcs, unsigned cpcs, bool regular, bool table)
{
	struct tutti_discovery *d = (void *)hal_host.window;
	unsigned g, at = 0, ugpu = 0;

	d->gpcs = gpcs;
	for (g = 0; g < gpcs; at += sms[g++]) {
		ugpu = roll(3) ? ugpu : roll(4);
		d->gpc[g] = (struct tutti_gpc){ (uint16_t)at, sms[g], (uint16_t)(cpcs ? cpcs : 1 + roll(8)), (uint16_t)ugpu };
		note_places(hal_region(d->sm_table), &d->gpc[g], regular);
		note_gpc(d, g);
	}
	if (gpcs < TUTTI_MAX_GPCS) /* what lies behind the last GPC means nothing */
		d->gpc[gpcs] = (struct tutti_gpc){ 0, 1, 1, 0 };
	if (roll(2)) /* the table has as many places as there are SMs, or more */
		d->sm_table.bytes = card.sms * (unsigned)sizeof(struct tutti_sm_place);
	if (!table)
		without_table(d);
	main_init();
	note_positions();
}

static inline void swap(unsigned position, unsigned sm)
{
	unsigned at = 0;

	while (card.order[at] != sm)
		at++;
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SM_ORDER, position << 16 | sm, 0), 0);
	card.order[at] = card.order[position];
	card.order[position] = (uint16_t)sm;
	note_positions();
}

/* Half of the cards have no SM outside of GPCs that can have CGAs. */
static inline void random_card(unsigned round)
{
	static const unsigned cards[] = { 1, 7, 31, 32, 33, 63, 64, 100, 144, 1024 };
	unsigned sms = cards[roll(10)], gpcs, at, i;
	uint16_t size[TUTTI_MAX_GPCS] = { 0 };
	bool whole = roll(2);

	for (gpcs = at = 0; gpcs < (sms > 200 ? 60 : 24) && at < sms; at += size[gpcs++]) {
		size[gpcs] = (uint16_t)(roll(3) ? 1 + roll(33) : roll(36) ? 16 + 16 * roll(2) : 0);
		if (whole && size[gpcs] > 32)
			size[gpcs] = 32;
		if (whole && size[gpcs] > sms - at)
			size[gpcs] = (uint16_t)(sms - at);
	}
	begin(sms);
	boot(size, gpcs, 0, round & 1, round % 5 != 0);
	for (i = round & 2 ? 0 : roll(12); i; i--)
		swap(roll(sms), roll(sms));
}

#endif

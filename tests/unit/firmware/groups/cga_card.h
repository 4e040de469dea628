/* SPDX-License-Identifier: MIT */
/* A booted card of any GPCs, for the firmware and for the oracle that places CTAs one at a time. */
#ifndef TUTTI_TEST_CGA_CARD_H
#define TUTTI_TEST_CGA_CARD_H

#include "fw_rig.h"

#include "cga_oracle.h"
#include "place/gpc_slots.h"

static struct oracle_card card;

/* Boot a card with these GPCs. */
static inline void oracle_boot(unsigned gpcs, const unsigned *sms)
{
	const struct tutti_discovery *d = (const void *)hal_host.window;
	const struct tutti_sm_place *place;
	unsigned g, i;

	memset(&card, 0, sizeof(card));
	hal_host_gpcs = gpcs;
	for (g = 0; g < gpcs; g++) {
		hal_host_gpc[g] = (uint16_t)sms[g];
		card.sms += sms[g];
	}
	rig_boot(card.sms, 1);
	hal_host_gpcs = 0;
	place = hal_region(d->sm_table);
	card.gpcs = gpcs;
	for (i = 0; i < card.sms; i++) {
		card.gpc[i] = place[i].gpc;
		card.cpc[i] = place[i].cpc;
		card.tpc[i] = place[i].tpc;
		card.order[i] = i;
	}
	for (g = 0; g < gpcs; g++) {
		card.ugpu[g] = d->gpc[g].ugpu;
		card.ugpus = card.ugpu[g] + 1;
	}
}

/* An idle card whose enabled SMs take @capacity CTAs. */
static inline void oracle_empty(unsigned capacity)
{
	unsigned i;

	for (i = 0; i < card.sms; i++)
		card.free[card.order[i]] = shapes.enabled[i / 32] >> (i % 32) & 1 ? (int)capacity : 0;
	for (i = 0; i < card.gpcs; i++)
		card.credits[i] = domains.gpc[i].credits_all;
}

#endif

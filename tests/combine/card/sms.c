// SPDX-License-Identifier: MIT
/* SMs of true size, by their position in the priority order, and how many CTAs fit them. */
#include "card/card.h"
#include "fw_sms.h"

static uint16_t gpc_position[TUTTI_MAX_GPCS][32]; /* SMs of a GPC in priority order */

unsigned card_sm_number(unsigned position)
{
	return card_order[position];
}

const struct tutti_sm_place *sms_place(unsigned position)
{
	const struct tutti_sm_place *place = (const void *)(hal_host.window + discovery()->sm_table.offset);

	return &place[card_order[position]];
}

static void order_gpcs(void)
{
	unsigned n[TUTTI_MAX_GPCS] = {0}, i, g;

	for (i = 0; i < w.sms; i++) {
		g = sms_place(i)->gpc;
		if (n[g] < 32)
			gpc_position[g][n[g]++] = (uint16_t)i;
	}
}

unsigned sms_domain(unsigned kind, unsigned position)
{
	const struct tutti_sm_place *place = sms_place(position);

	switch (kind) {
	case TUTTI_CGA_CPC:
		return place->gpc * 64u + place->cpc;
	case TUTTI_CGA_GPC:
		return place->gpc;
	case TUTTI_CGA_UGPU:
		return discovery()->gpc[place->gpc].ugpu;
	default:
		return 0;
	}
}

void sms_begin(unsigned sms)
{
	const struct tutti_discovery *d = discovery();

	card_limits = (struct card_limits){d->peu_waves, d->scalar_blocks, d->vector_blocks, d->shared_blocks, d->barriers,
					   d->cta_slots};
	card_empty(sms);
	order_gpcs();
}

unsigned sms_of_gpc(unsigned gpc, unsigned nth)
{
	return gpc_position[gpc][nth];
}

unsigned sms_ctas(unsigned position)
{
	return card_sm[position].ctas;
}

bool sms_put(const struct tutti_task_state *state, unsigned slot, unsigned position)
{
	return card_put(state, slot, position);
}

void sms_remove(const struct tutti_task_state *state, unsigned slot, unsigned position)
{
	card_remove(state, slot, position);
}

void sms_mode(unsigned sub)
{
	card_mode(sub);
}

/* ---- commands about all SMs ---- */

/* Divides the shared memory of the SMs, which must be empty (TSK-07). */
void sms_throttle(const uint32_t *c)
{
	unsigned i;

	for (i = 0; i < w.sms; i++) {
		RULE(!card_sm[i].ctas, "throttle (TSK-07)",
		     "the shared memory of SM %u is divided anew while %u CTAs are there", i,
		     card_sm[i].ctas);
		card_sm[i].shared_blocks = card_limits.shared;
		if (c[0] >> 16 & 1)
			card_sm[i].shared_blocks = c[2 + i / 32] >> (i % 32) & 1 ? c[1] : 0;
		card_show(i);
	}
	TRACE("    throttle %s: %u blocks\n", c[0] >> 16 & 1 ? "on" : "off", c[1]);
	event_later(&(struct tutti_event){{TUTTI_EVENT_THROTTLE | (c[0] >> 16 & 1) << 8}}, -1, 0);
}

void sms_order(const uint32_t *c, unsigned words)
{
	RULE(!card_resident(), "command", "ORDER while CTAs run");
	card_reorder(c, words);
	order_gpcs();
}

/* ---- what fits ---- */

static void state_of(const struct job *job, struct tutti_task_state *state)
{
	*state = (struct tutti_task_state){.waves = job->waves,
					   .scalar_blocks = job->scalar,
					   .vector_blocks = job->vector,
					   .shared_blocks = job->shared,
					   .barriers = job->barriers};
}

bool card_sm_open(const struct job *job, unsigned position)
{
	unsigned sm = card_order[position];

	return !(w.off[sm / 32] >> (sm % 32) & 1) && (!job->mask || job->mask[sm / 32] >> (sm % 32) & 1);
}

unsigned sms_room(const struct job *job, unsigned position, unsigned enough)
{
	static struct card_sm kept;
	static struct tutti_sm_state shown;
	struct tutti_task_state state;
	unsigned n = 0;

	if (card_sm[position].ctas == card_limits.ctas ||
	    card_sm[position].shared_blocks - card_sm[position].shared_used < job->shared)
		return 0;
	kept = card_sm[position];
	shown = hal_host.sms[card_order[position]];
	state_of(job, &state);
	while (n < enough && (!w.cap || card_sm[position].ctas < w.cap) && card_put(&state, SLOTS, position))
		n++;
	card_sm[position] = kept;
	hal_host.sms[card_order[position]] = shown;
	return n;
}

/*
 * It certainly fits an SM that is empty, or one with room for two. Where the free blocks are in several pieces, a
 * search for the largest run may refuse although the pieces would do (RES-01).
 */
unsigned card_room(const struct job *job, unsigned position)
{
	return sms_room(job, position, 2) > !!card_sm[position].ctas;
}

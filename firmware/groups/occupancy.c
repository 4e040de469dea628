// SPDX-License-Identifier: MIT
#include "groups/occupancy.h"

#include "core/state.h"
#include "core/visit.h"
#include "groups/cga.h"

#define TURN_STEPS 15u /* visit.h: to find out which SM is next */

/*
 * For each position, note to which GPC of @range its SM belongs, counted from 1; 0: it is not in @masks. No placement is
 * being made, so placed.ctas is free.
 */
static void note_gpcs(struct domain_range range, const uint32_t *masks)
{
	uint32_t rest, i;

	words_clear(placed.ctas, (fw.sms + 3) / 4);
	for (i = 0; i < range.n; i++)
		for (rest = masks[i]; rest; rest &= rest - 1)
			placed.ctas[(uint16_t)domain_first(&domains.gpc[range.first + i], rest)] = (uint8_t)(i + 1);
}

/*
 * All @sms SMs of @pairs have one free slot each. CGAs take @n of them in turn, and the first CGA takes @first. How many SMs
 * are not in a pair any more when their turn comes, because an earlier CGA has taken the other SM of their TPC?
 */
static uint32_t bereft(struct domain_range range, uint32_t *pairs, uint32_t sms, uint32_t n, uint32_t first)
{
	uint32_t start = 0, lost = 0, turn, at, i = 1;

	if (range.n > 1) {
		note_gpcs(range, pairs);
		sms = fw.sms;
	}
	visit_goes_on(TURN_STEPS * sms);
	for (turn = 0; turn < sms; turn++) {
		if (range.n > 1)
			i = placed.ctas[turn];
		if (!i)
			continue;
		at = domain_first(&domains.gpc[range.first + i - 1], pairs[i - 1]);
		pairs[i - 1] &= pairs[i - 1] - 1;
		if (at >> 16 < start) {
			lost++;
		} else if (!--first) {
			first = n;
			start = (uint16_t)at + 1u;
		}
	}
	return lost;
}

/*
 * How many innermost CGAs fit a domain whose SMs, those in row 0, have @capacity free slots each. Balanced ones can use all.
 *
 * A multicast CGA takes SMs in pairs first. While all of these have free slots it takes them in turn, so none of them ever has
 * two slots less than another. Their last slots are taken one SM at a time, so that the other SM of a pair may be left alone.
 * When there are fewer SMs in pairs than a CGA needs, it takes single SMs as well. Those with the most free slots come first,
 * so they run out as late as possible.
 */
static COLD uint32_t inner(const struct query_ask *ask, unsigned domain, uint32_t capacity)
{
	struct domain_range range = domain_inside(TUTTI_CGA_GPC, ask->kind, domain);
	const struct gpc *gpc = &domains.gpc[range.first];
	uint32_t pairs[TUTTI_MAX_GPCS], sms = 0, paired = 0, within, slots, last, singles, n = ask->ctas, lost, cgas, i;

	for (i = 0; i < range.n; i++, gpc++) {
		within = gpc->row->mask & (ask->kind == TUTTI_CGA_CPC ? domains.cpc[domain] : ~0u);
		sms += popcount32(within);
		pairs[i] = domain_pairs(gpc, within);
		paired += popcount32(pairs[i]);
	}
	if (n > sms * (ask->multicast ? 1 : min32(capacity, domains.levels)))
		return 0;
	slots = sms * capacity;
	singles = sms - paired;
	if (!ask->multicast || !singles || n <= singles)
		return slots / n;
	if (n > paired)
		return capacity;
	last = paired * capacity;
	lost = bereft(range, pairs, paired, n, n - (last - paired) % n);
	cgas = (last - lost) / n;
	last -= cgas * n;
	if (last - lost > n - singles) {
		/* one CGA more takes all SMs that are left in pairs, and not all single ones */
		cgas++;
		last = lost;
	}
	slots -= cgas * n;
	n -= singles;
	if (last < capacity * n)
		slots = last;
	else
		n = ask->ctas;
	return cgas + slots / n;
}

/* The domain of kind @outer that contains domain @number of @kind. */
static unsigned outer_of(unsigned kind, unsigned number, unsigned outer)
{
	unsigned gpc = kind == TUTTI_CGA_CPC ? domains.cpc_gpc[number] : number;

	if (outer == TUTTI_CGA_GPU)
		return 0;
	return outer == TUTTI_CGA_GPC ? gpc : domains.gpc[gpc].ugpu;
}

/* Whether domain @number of @kind, which is not the last one on the card, is the last in its domain of kind @outer. */
static bool ends(unsigned kind, unsigned number, unsigned outer)
{
	return outer_of(kind, number, outer) != outer_of(kind, number + 1, outer);
}

/* Ids of CGAs (spec CGA-17) that a GPC has left. */
struct ids {
	const struct gpc *gpc;
	uint32_t left;
};

/* Of @n CGAs at @level, those for which the GPC around domain @d has ids. */
static uint32_t identify(const struct cga *cga, unsigned level, unsigned d, uint32_t n, struct ids *ids)
{
	const struct gpc *gpc;
	uint32_t within;

	if (level != cga->identity)
		return n;
	gpc = query_gpc(cga->ask.kind, d, &within);
	if (gpc != ids->gpc)
		*ids = (struct ids){ gpc, gpc->credits_all };
	n = min32(n, ids->left);
	ids->left -= n;
	return n;
}

/*
 * How many outermost CGAs fit a domain whose SMs have @capacity free slots each; 0: whether one fits the rows.
 *
 * Innermost CGAs are counted. Where the domain of a larger CGA ends, or there are enough in it, only the larger CGAs that
 * they make up are counted on. The result does not depend on which domains a search would take first.
 */
static uint32_t count(const struct cga *cga, unsigned outer, unsigned number, uint32_t capacity)
{
	unsigned kind = cga->ask.kind, level, d;
	uint32_t have[TUTTI_CGA_LEVELS] = { 0 }, needed = capacity ? ~0u : cga->ctas / cga->parts[0], n;
	struct ids ids = { NULL, 0 };
	struct domain_range all = domain_inside(kind, outer, number);

	for (d = all.first; all.n-- && (capacity || !have[cga->levels - 1]); d++) {
		n = capacity ? inner(&cga->ask, d, capacity) : query_count(&cga->ask, d, needed);
		have[0] += identify(cga, 0, d, n, &ids);
		for (level = 1, n = needed; level < cga->levels; level++) {
			if (have[level - 1] < n && all.n && !ends(kind, d, cga->kind[level]))
				break;
			n /= cga->parts[level];
			have[level] += identify(cga, level, d, have[level - 1] / cga->parts[level], &ids);
			have[level - 1] = 0;
		}
	}
	return have[cga->levels - 1];
}

COLD bool occupancy_fits(const struct cga *cga, unsigned outer, unsigned number)
{
	return count(cga, outer, number, 0);
}

static uint32_t grouped(const struct tutti_msg_occupancy *ask, uint32_t capacity)
{
	struct cga cga;
	uint32_t n;

	if (cga_check(ask->cga, ask->mode > TUTTI_CGA_MULTICAST ? cga_mode() : ask->mode, ask->lmem, NULL, capacity, &cga))
		return 0;
	domain_idle(1, NULL);
	n = count(&cga, DOMAIN_KIND_CARD, 0, capacity);
	return ask->lmem ? min32(n, cga_ids_lmem_slots() / cga.identities) : n;
}

COLD int occupancy_answer(const struct tutti_msg_occupancy *ask, struct tutti_message *answer)
{
	uint32_t capacity, sms = 0, i;

	if (!ask->waves || ask->mode > TUTTI_OCCUPANCY_MODE_CARD || ask->lmem > 1 || ask->pad0)
		return -TUTTI_EINVAL;
	for (i = 0; i < fw.words; i++)
		sms += popcount32(shapes.enabled[i]);
	/* An idle card has left throttle mode, so its SMs have their usual shared memory. */
	capacity = shape_capacity_with(ask->scalar_blocks | (uint32_t)ask->vector_blocks << 16,
				       ask->shared_blocks | (uint32_t)ask->barriers << 16, ask->waves, fw.shared_blocks);
	answer->arg[0] = capacity;
	answer->arg[1] = sms;
	answer->value = ask->cga[0].kind ? (capacity ? grouped(ask, capacity) : 0) : capacity * sms;
	return 0;
}

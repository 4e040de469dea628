// SPDX-License-Identifier: MIT
#include "groups/occupancy.h"

#include "core/state.h"
#include "groups/cga.h"

/* The number of SMs @within of a GPC that are enabled. */
static uint32_t sms_of(const struct gpc *gpc, uint32_t within)
{
	unsigned n = domain_scatter(gpc, within);
	uint32_t sms = 0;

	while (n--)
		sms += popcount32(domain_part[n][1] & shapes.enabled[domain_part[n][0]]);
	return sms;
}

static uint32_t sms_inside(unsigned kind, unsigned domain)
{
	struct domain_range range = domain_inside(TUTTI_CGA_GPC, kind, domain);
	const struct gpc *gpc;
	uint32_t within, sms = 0;

	if (kind <= TUTTI_CGA_GPC) {
		gpc = query_gpc(kind, domain, &within);
		return sms_of(gpc, within);
	}
	for (; range.n; range.n--, range.first++)
		sms += sms_of(&domains.gpc[range.first], domains.gpc[range.first].all);
	return sms;
}

/* How many innermost CGAs fit a domain. Balanced ones can use all slots, so a division tells. */
static uint32_t inner(const struct query_ask *ask, unsigned domain, uint32_t capacity)
{
	uint32_t sms = sms_inside(ask->kind, domain), rows, n = 0;

	if (!ask->multicast)
		return ask->ctas <= sms * min32(capacity, domains.levels) ? sms * capacity / ask->ctas : 0;
	/* If SMs have more free slots than there are rows, the rows are filled again. */
	for (; capacity; capacity -= rows) {
		rows = min32(capacity, domains.levels);
		domain_idle(rows, NULL);
		n += query_count(ask, domain, ~0u);
	}
	return n;
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

/* Of @n CGAs at @level, those for which the GPC around domain @d has ids (spec CGA-17), beside the @ids that it has given. */
static uint32_t identify(const struct cga *cga, unsigned level, unsigned d, uint32_t n, uint32_t *ids)
{
	uint32_t within;

	if (level != cga->identity)
		return n;
	n = min32(n, query_gpc(cga->ask.kind, d, &within)->credits_all - *ids);
	*ids += n;
	return n;
}

/* Where a domain ends, the CGAs counted in it make up those of the level above. */
static uint32_t count(const struct cga *cga, uint32_t capacity)
{
	unsigned kind = cga->ask.kind, level, d;
	struct domain_range all = domain_inside(kind, DOMAIN_KIND_CARD, 0);
	uint32_t have[TUTTI_CGA_LEVELS] = { 0 }, ids = 0, n;
	bool last;

	for (d = 0; d < all.n; d++) {
		last = d + 1u == all.n;
		n = inner(&cga->ask, d, capacity);
		for (level = 0;; level++) {
			have[level] += identify(cga, level, d, n, &ids);
			if (level + 1u == cga->levels)
				break;
			if (!last && !ends(kind, d, cga->kind[level + 1]))
				break;
			n = have[level] / cga->parts[level + 1];
			have[level] = 0;
		}
		if (kind <= TUTTI_CGA_GPC && (last || ends(kind, d, TUTTI_CGA_GPC)))
			ids = 0;
	}
	n = have[cga->levels - 1];
	return cga->lmem ? min32(n, cga_ids_lmem_slots() / cga->identities) : n;
}

/*
 * Innermost CGAs are counted. Where the domain of a larger CGA ends, or there are enough in it, only the larger CGAs that
 * they make up are counted on. The result does not depend on which domains a search would take first.
 */
COLD bool occupancy_fits(const struct cga *cga, unsigned outer, unsigned number)
{
	unsigned kind = cga->ask.kind, level, d, needed = cga->ctas / cga->parts[0], rest;
	struct domain_range all = domain_inside(kind, outer, number);
	uint32_t have[TUTTI_CGA_LEVELS] = { 0 }, ids = 0;

	for (d = all.first; all.n-- && !have[cga->levels - 1]; d++) {
		have[0] += identify(cga, 0, d, query_count(&cga->ask, d, needed), &ids);
		for (level = 1, rest = needed; level < cga->levels; level++) {
			if (have[level - 1] < rest && all.n && !ends(kind, d, cga->kind[level]))
				break;
			rest /= cga->parts[level];
			have[level] += identify(cga, level, d, have[level - 1] / cga->parts[level], &ids);
			have[level - 1] = 0;
		}
		if (all.n && ends(kind, d, TUTTI_CGA_GPC))
			ids = 0;
	}
	return have[cga->levels - 1];
}

static uint32_t grouped(const struct tutti_msg_occupancy *ask, uint32_t capacity)
{
	uint32_t groups[3] = { 1, 1, 1 };
	struct cga cga;
	unsigned i;

	for (i = 0; i < TUTTI_CGA_LEVELS && ask->cga[i].kind; i++) {
		groups[0] *= ask->cga[i].x;
		groups[1] *= ask->cga[i].y;
		groups[2] *= ask->cga[i].z;
	}
	if (cga_check(ask->cga, ask->mode > TUTTI_CGA_MULTICAST ? cga_mode() : ask->mode, ask->lmem, groups, capacity, &cga))
		return 0;
	domain_idle(capacity, NULL);
	return count(&cga, capacity);
}

COLD int occupancy_answer(const struct tutti_msg_occupancy *ask, struct tutti_message *answer)
{
	uint32_t capacity, sms = 0, i;

	if (!ask->waves || ask->mode > TUTTI_OCCUPANCY_MODE_CARD || ask->lmem > 1 || ask->pad0)
		return -TUTTI_EINVAL;
	for (i = 0; i < fw.words; i++)
		sms += popcount32(shapes.enabled[i]);
	/* throttle mode divides shared memory in another way until the card is idle */
	capacity = shape_capacity_with(ask->scalar_blocks | (uint32_t)ask->vector_blocks << 16,
				       ask->shared_blocks | (uint32_t)ask->barriers << 16, ask->waves, fw.shared_blocks);
	answer->arg[0] = capacity;
	answer->arg[1] = sms;
	answer->value = ask->cga[0].kind ? (capacity ? grouped(ask, capacity) : 0) : capacity * sms;
	return 0;
}

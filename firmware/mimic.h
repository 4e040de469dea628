/* SPDX-License-Identifier: MIT */
/**
 * DOC: Query and launch of one CGA in one domain, on the query model (spec CGA-09 .. CGA-11)
 *
 * A query says the CGA's speed: the smallest number of free slots left among the SMs
 * that get a CTA. Taking changes the rows; mimic_give() takes it back, exactly.
 */
#ifndef MIMIC_H
#define MIMIC_H

#include "domain.h"

#define MIMIC_INVALID (-1)

/** struct mimic_ask - what is to be placed: the innermost CGAs of a grid. */
struct mimic_ask {
	uint16_t ctas;
	uint8_t kind;       /* TUTTI_CGA_* */
	uint8_t multicast;
};

/** mimic_gpc() - the GPC of domain @number of kind CPC or GPC, and its SMs. */
static inline struct gpc *mimic_gpc(unsigned kind, unsigned number, uint32_t *within)
{
	struct gpc *gpc = &domains.gpc[number];

	if (unlikely(kind == TUTTI_CGA_CPC)) {
		gpc = &domains.gpc[domains.cpc_gpc[number]];
		*within = domains.cpc[number];
	} else {
		*within = gpc->all;
	}
	return gpc;
}

/** mimic_query() - speed of one CGA of @n CTAs on SMs @within of @gpc, or MIMIC_INVALID. */
int mimic_query(const struct gpc *gpc, uint32_t within, unsigned n, bool multicast);
/**
 * mimic_take() - place it; the query was valid.
 * @out: GPC-local launch segments. Return: end of them
 */
uint32_t *mimic_take(struct gpc *gpc, uint32_t within, unsigned n, bool multicast, uint32_t *out);
/**
 * mimic_share() - one CGA of @n CTAs over several GPCs.
 * @share: CTAs each GPC of @range gets, if not NULL
 * Return: speed
 */
int mimic_share(struct domain_range range, unsigned n, bool multicast, uint16_t *share);
/** mimic_count() - innermost CGAs, at most @enough, that fit domain @number of their kind now; it takes them. */
unsigned mimic_count(const struct mimic_ask *ask, unsigned number, unsigned enough);

/* Words of the segments one placement can need: every row its own, and a message's head. */
#define MIMIC_SEGMENTS (2 * (LAKE_LEVELS + 2))

#endif

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
	union {
		struct {
			uint16_t ctas;
			uint8_t kind;       /* TUTTI_CGA_* */
			uint8_t multicast;
		};
		uint32_t whole;
	};
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

/* The speed is where the SMs run out: below the row that takes the last CTA. */
static inline int mimic_query_gpc(const struct gpc *gpc, unsigned n)
{
	const uint8_t *count = gpc->count + gpc->top;

	if (gpc->free < n)
		return MIMIC_INVALID;
	while (n > *count)
		n -= *count--;
	return (int)(count - gpc->count) - 1;
}

/* One more CTA on each SM of @mask; equal masks are one segment. */
static inline uint32_t *mimic_put(uint32_t *out, const uint32_t *begin, uint32_t mask)
{
	if (out != begin && out[-1] == mask) {
		out[-2]++;
		return out;
	}
	out[0] = 1 | 1u << 24;
	out[1] = mask;
	return out + 2;
}

static inline __attribute__((always_inline)) uint32_t *mimic_take_gpc(struct gpc *gpc, unsigned n, uint32_t *out)
{
	const uint32_t *begin = out;
	uint32_t *row = gpc->row + gpc->top, mask;
	uint8_t *count = gpc->count + gpc->top;

	gpc->free = (uint16_t)(gpc->free - n);
	while (n >= *count) {
		n -= *count--;
		out = mimic_put(out, begin, *row--);
	}
	if (n) {
		mask = lake_prefix(*row, n);
		*row ^= mask;
		*count = (uint8_t)(*count - n);
		out = mimic_put(out, begin, mask);
	}
	gpc->top = (uint8_t)(count - gpc->count);
	return out;
}

/* Words of the segments one placement can need: every row its own, and a message's head. */
#define MIMIC_SEGMENTS (2 * (LAKE_LEVELS + 2))

#endif

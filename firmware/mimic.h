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
			uint8_t multicast : 1;
			uint8_t identity : 1; /* they need ids of their own */
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
 * mimic_take() - place it; the query has just said @speed, which is valid.
 * @out: GPC-local launch segments; @sms: the SMs it got, added
 * Return: end of them
 */
uint32_t *mimic_take(struct gpc *gpc, uint32_t within, unsigned n, bool multicast, int speed, uint32_t *out, uint32_t *sms);
/**
 * mimic_share() - one CGA of @n CTAs over several GPCs.
 * @share: CTAs each GPC of @range gets, if not NULL
 * Return: speed
 */
int mimic_share(struct domain_range range, unsigned n, bool multicast, uint16_t *share);
/** mimic_count() - innermost CGAs, at most @enough, that fit domain @number of their kind now; it takes them. */
unsigned mimic_count(const struct mimic_ask *ask, unsigned number, unsigned enough);

/* The speed is where the SMs run out: the row that takes the last CTA. */
static inline int mimic_query_gpc(const struct gpc *gpc, uint32_t n)
{
	const struct domain_row *row = gpc->top;

	while (n > row->count)
		n -= row--->count;
	return (int)(row - gpc->row);
}

/*
 * SMs of the highest row that are first for a multicast CGA: pairs, if TPCs lie well. If they are
 * not all of that row they are said to be none.
 */
static inline uint32_t mimic_first(const struct gpc *gpc, uint32_t *count)
{
	const struct domain_row *row = gpc->top;
	uint32_t mask = row->mask & domain_even_pairs(gpc, gpc->row->mask);

	*count = likely(mask == row->mask) ? row->count : 0;
	return mask;
}

/* The @n first SMs of @x where they stand together, which is usual; else none. */
static inline uint32_t mimic_run(uint32_t x, uint32_t n)
{
	uint32_t low = x & -x, run = (low << n) - low;

	return likely((x & run) == run) ? run : 0;
}

/* SMs @mask, @n of them, all of the highest row, get a CTA. */
static inline uint32_t *mimic_cut(struct gpc *gpc, uint32_t mask, uint32_t n, uint32_t *out)
{
	struct domain_row *row = gpc->top;
	uint32_t left = row->count - n;

	row->mask ^= mask;
	row->count = left;
	if (!left)
		gpc->top = row - 1;
	out[0] = 1 | 1u << 24;
	out[1] = mask;
	return out + 2;
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

/* Words of the segments one placement can need: every row its own, and a message's head. */
#define MIMIC_SEGMENTS (2 * (LAKE_LEVELS + 2))

#endif

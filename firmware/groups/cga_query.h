/* SPDX-License-Identifier: MIT */
/**
 * DOC: Query and launch of one CGA in one domain, on the rows of gpc_slots.h (spec CGA-09 .. CGA-11)
 *
 * A query says the speed of the CGA: the smallest number of free slots left among the SMs that get a CTA. Taking
 * it changes the rows.
 */
#ifndef CGA_QUERY_H
#define CGA_QUERY_H

#include "place/gpc_slots.h"

#define QUERY_INVALID (-1)

/** struct query_ask - what is to be placed: the innermost CGAs of a grid. */
struct query_ask {
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

/** query_gpc() - the GPC of domain @number of kind CPC or GPC, and its SMs. */
static inline struct gpc *query_gpc(unsigned kind, unsigned number, uint32_t *within)
{
	struct gpc *gpc;

	if (unlikely(kind == TUTTI_CGA_CPC)) {
		gpc = &domains.gpc[domains.cpc_gpc[number]];
		*within = domains.cpc[number];
	} else {
		gpc = &domains.gpc[number];
		*within = gpc->all;
	}
	return gpc;
}

/** query_query() - speed of one CGA of @n CTAs on SMs @within of @gpc, or QUERY_INVALID. */
int query_query(const struct gpc *gpc, uint32_t within, unsigned n, bool multicast);
/**
 * query_take() - place it; the query has just said @speed, which is valid.
 * @out: GPC-local launch segments; @sms: the SMs it got
 * Return: end of them
 */
uint32_t *query_take(struct gpc *gpc, uint32_t within, unsigned n, bool multicast, int speed, uint32_t *out, uint32_t *sms);
/**
 * query_share() - one CGA of @n CTAs over several GPCs.
 * @shares: gets the CTAs of each GPC of @range, NULL: not wanted
 * Return: speed
 */
int query_share(struct domain_range range, unsigned n, bool multicast, uint16_t *shares);
/** query_count() - innermost CGAs, at most @enough, that fit domain @number of their kind now; it takes them. */
unsigned query_count(const struct query_ask *ask, unsigned number, unsigned enough);

/* The speed is where the SMs run out: the row that takes the last CTA. */
static inline int query_query_gpc(const struct gpc *gpc, uint32_t n)
{
	const struct domain_row *row = gpc->top;

	while (n > row->count)
		n -= row--->count;
	return (int)(row - gpc->row);
}

/*
 * A multicast CGA where all SMs that can take a CTA are in pairs, which is usual: the row it
 * just fits into. What it gets of the rows above is all of them.
 */
static inline bool query_paired(const struct gpc *gpc)
{
	return likely(domain_paired(gpc, gpc->row->mask));
}

static inline int query_query_paired(const struct gpc *gpc, uint32_t n)
{
	const struct domain_row *row = gpc->top;

	while (n > row->count)
		row--;
	return (int)(row - gpc->row);
}

/** query_select() - the @n lowest set bits of @x, which has more. */
uint32_t query_select(uint32_t x, uint32_t n);

/* The same, quickly where they stand together. */
static inline uint32_t query_prefix(uint32_t x, uint32_t n)
{
	uint32_t low = x & -x, run = (low << n) - low;

	return likely((x & run) == run) ? run : query_select(x, n);
}

/* A launch segment: one more CTA on each SM of @mask. */
static inline uint32_t *query_segment(uint32_t *out, uint32_t mask)
{
	out[0] = 1 | 1u << 24;
	out[1] = mask;
	return out + 2;
}

/* Row by row from the highest down, of the last one the first SMs; equal rows are one segment. */
static inline __attribute__((always_inline)) uint32_t *query_cut(struct gpc *gpc, uint32_t n, uint32_t *out, uint32_t *sms)
{
	struct domain_row *row = gpc->top;
	uint32_t count = row->count, full = 0, part;

	while (n >= count) {
		n -= count;
		if (row->mask == full) {
			out[-2]++;
		} else {
			full = row->mask;
			out = query_segment(out, full);
		}
		row--;
		count = row->count;
	}
	gpc->top = row;
	if (!n) {
		*sms = full;
		return out;
	}
	part = query_prefix(row->mask, n);
	row->mask ^= part;
	row->count = count - n;
	*sms = full | part;
	return query_segment(out, part);
}

/* query_query_paired() said @speed: SMs of higher rows sink by one, so do the first of the others in that row. Return: they */
static inline __attribute__((always_inline)) uint32_t query_cut_paired(struct gpc *gpc, uint32_t n, int speed)
{
	struct domain_row *row = gpc->row + speed, *above, *top = gpc->top;
	uint32_t rest = row->mask, sure = 0;

	if (row < top) {
		sure = row[1].mask;
		rest ^= sure;
		n -= row[1].count;
		for (above = row + 1; unlikely(above < top); above++)
			*above = above[1];
		gpc->top = top - 1;
	} else if (n == row->count) {
		gpc->top = top - 1;
		return rest;
	}
	rest = query_prefix(rest, n);
	row->mask ^= rest;
	row->count -= n;
	return sure | rest;
}

/* One more CTA on each SM of @mask; equal masks are one segment. */
static inline uint32_t *query_put(uint32_t *out, const uint32_t *begin, uint32_t mask)
{
	if (out != begin && out[-1] == mask) {
		out[-2]++;
		return out;
	}
	return query_segment(out, mask);
}

/* Words of the segments one placement can need: every row its own, and a message's head. */
#define QUERY_SEGMENTS (2 * (LAKE_LEVELS + 2))

#endif

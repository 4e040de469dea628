/* SPDX-License-Identifier: MIT */
/**
 * DOC: Query and launch of one CGA in one domain, on the rows of gpc_slots.h (spec CGA-09 .. CGA-11)
 *
 * A query tells the speed that a CGA would have in a domain: the smallest number of free slots that would be left on
 * an SM that gets a CTA. To take the domain means to remove the slots that the CGA gets from the rows.
 */
#ifndef CGA_QUERY_H
#define CGA_QUERY_H

#include "place/gpc_slots.h"

#define QUERY_INVALID (-1)

/** struct query_ask - a question: what the innermost CGAs of a grid need. */
struct query_ask {
	union {
		struct {
			uint16_t ctas;
			uint8_t kind;       /* TUTTI_CGA_* */
			uint8_t multicast : 1;
			uint8_t identity : 1; /* each needs an id of its own */
		};
		uint32_t whole; /* all of the question, for comparison */
	};
};

/** query_gpc() - the GPC of domain @number, of kind CPC or GPC; @within gets the SMs of the domain. */
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

/** query_speed() - speed of one CGA of @n CTAs on SMs @within of @gpc. Return: QUERY_INVALID if it does not fit */
int query_speed(const struct gpc *gpc, uint32_t within, unsigned n, bool multicast);
/**
 * query_take() - place a CGA for which query_speed() has just returned @speed, which must be valid.
 * @out: gets GPC-local launch segments; @sms: gets the SMs that they name
 * Return: end of the segments
 */
uint32_t *query_take(struct gpc *gpc, uint32_t within, unsigned n, bool multicast, int speed, uint32_t *out, uint32_t *sms);
/**
 * query_share() - query one CGA of @n CTAs that may spread over several GPCs.
 * @shares: gets the number of CTAs for each GPC of @range; NULL: not wanted
 * Return: speed, or QUERY_INVALID
 */
int query_share(struct domain_range range, unsigned n, bool multicast, uint16_t *shares);
/** query_count() - how many innermost CGAs, at most @enough, fit domain @number of their kind. Changes its rows. */
unsigned query_count(const struct query_ask *ask, unsigned number, unsigned enough);

/* The speed is the index of the row that takes the last CTA; the sentinel below row 0 makes it QUERY_INVALID. */
static inline int query_speed_gpc(const struct gpc *gpc, uint32_t n)
{
	const struct domain_row *row = gpc->top;

	while (n > row->count)
		n -= row--->count;
	return (int)(row - gpc->row);
}

/*
 * In the usual case the SMs that can take a CTA are whole TPCs. Then a multicast CGA goes to the highest row that has
 * as many SMs as it has CTAs, and it gets all SMs of the row above that one.
 */
static inline bool query_paired(const struct gpc *gpc)
{
	return likely(domain_paired(gpc, gpc->row->mask));
}

static inline int query_speed_paired(const struct gpc *gpc, uint32_t n)
{
	const struct domain_row *row = gpc->top;

	while (n > row->count)
		row--;
	return (int)(row - gpc->row);
}

/** query_select() - the @n lowest set bits of @x, which has more than @n. */
uint32_t query_select(uint32_t x, uint32_t n);

/* The same, but quick if these bits are consecutive. */
static inline uint32_t query_prefix(uint32_t x, uint32_t n)
{
	uint32_t low = x & -x, run = (low << n) - low;

	return likely((x & run) == run) ? run : query_select(x, n);
}

/* Write a launch segment: one CTA for each SM of @mask. */
static inline uint32_t *query_segment(uint32_t *out, uint32_t mask)
{
	out[0] = 1 | 1u << 24;
	out[1] = mask;
	return out + 2;
}

/* Take row by row from the highest down, and of the last one the first SMs. Equal rows share one segment. */
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

/*
 * Take the SMs of a multicast CGA for which query_speed_paired() returned @speed: all of the row above that one, and
 * the first of the others in it. Each loses one free slot. Return: these SMs
 */
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

/* Add one CTA for each SM of @mask; the same mask as in the last segment raises that segment's repeat count. */
static inline uint32_t *query_put(uint32_t *out, const uint32_t *begin, uint32_t mask)
{
	if (out != begin && out[-1] == mask) {
		out[-2]++;
		return out;
	}
	return query_segment(out, mask);
}

/* Words that the segments of one placement can need, if every row becomes a segment of its own. */
#define QUERY_SEGMENTS (2 * (LAKE_LEVELS + 2))

#endif

// SPDX-License-Identifier: MIT
#include "groups/cga_query.h"

#include "core/visit.h"

HOT uint32_t query_select(uint32_t x, uint32_t n)
{
	return lake_prefix(x, n);
}

/* ---- load balance ---- */

static int speed_within(const struct gpc *gpc, uint32_t within, uint32_t n)
{
	const struct domain_row *row;
	uint32_t c;

	for (row = gpc->top; row >= gpc->row; row--) {
		c = popcount32(row->mask & within);
		if (n <= c)
			break;
		n -= c;
	}
	return (int)(row - gpc->row);
}

static inline void settle_top(struct gpc *gpc)
{
	while (!gpc->top->count)
		gpc->top--;
}

static uint32_t *take_within(struct gpc *gpc, uint32_t within, uint32_t n, uint32_t *out, uint32_t *sms)
{
	const uint32_t *begin = out;
	struct domain_row *row;
	uint32_t mask, c;

	*sms = 0;
	for (row = gpc->top; n; row--) {
		mask = row->mask & within;
		c = popcount32(mask);
		if (!c)
			continue;
		if (c > n) {
			mask = lake_prefix(mask, n);
			c = n;
		}
		row->mask ^= mask;
		row->count -= c;
		*sms |= mask;
		out = query_put(out, begin, mask);
		n -= c;
	}
	settle_top(gpc);
	return out;
}

/* ---- multicast: one CTA on an SM; whole TPCs (pairs) first, then most free slots, then SM priority ---- */

/* The highest row that has @n SMs of @class; row 0 must have them. As loads are even, it is mostly near the top. */
static inline const struct domain_row *row_with(const struct gpc *gpc, uint32_t class, uint32_t n)
{
	const struct domain_row *low = gpc->row, *high = gpc->top, *mid;

	if (popcount32(high->mask & class) >= n)
		return high;
	for (mid = high - 1; high - low > 1; mid = low + (high - low) / 2)
		if (popcount32(mid->mask & class) >= n)
			low = mid;
		else
			high = mid;
	return low;
}

/* The SMs of whole pairs and the other SMs that can take a CTA, and how many of each a CGA uses. False: too few. */
struct classes {
	uint32_t pairs, singles, n_pairs, n_singles;
};

static inline bool classes(const struct gpc *gpc, uint32_t within, uint32_t n, struct classes *c)
{
	uint32_t able = gpc->top < gpc->row ? 0 : gpc->row->mask & within;

	c->pairs = domain_pairs(gpc, able);
	c->singles = able ^ c->pairs;
	c->n_pairs = popcount32(c->pairs);
	c->n_singles = 0;
	if (c->n_pairs >= n) {
		c->n_pairs = n;
		return true;
	}
	c->n_singles = n - c->n_pairs;
	return popcount32(c->singles) >= c->n_singles;
}

static int speed_multicast(const struct gpc *gpc, uint32_t within, uint32_t n)
{
	const struct domain_row *row = NULL, *other;
	struct classes c;

	if (!classes(gpc, within, n, &c))
		return QUERY_INVALID;
	if (c.n_pairs)
		row = row_with(gpc, c.pairs, c.n_pairs);
	if (c.n_singles) {
		other = row_with(gpc, c.singles, c.n_singles);
		if (!row || other < row)
			row = other;
	}
	return (int)(row - gpc->row);
}

/* The @n SMs of @class with most free slots; row @row must have that many. */
static inline uint32_t best_of(const struct gpc *gpc, uint32_t class, uint32_t n, const struct domain_row *row)
{
	uint32_t sure = row < gpc->top ? row[1].mask & class : 0, rest = row->mask & class & ~sure;

	n -= popcount32(sure);
	return sure | (popcount32(rest) > n ? lake_prefix(rest, n) : rest);
}

/* Take one free slot from each SM of @mask: it leaves the highest row it is in. */
static void lower(struct gpc *gpc, uint32_t mask)
{
	struct domain_row *row;
	uint32_t take;

	for (row = gpc->top; mask; row--) {
		take = mask & row->mask;
		if (!take)
			continue;
		row->mask ^= take;
		row->count -= popcount32(take);
		mask ^= take;
	}
	settle_top(gpc);
}

static uint32_t cut_multicast(struct gpc *gpc, uint32_t within, uint32_t n, int speed)
{
	struct classes c;
	uint32_t mask;

	classes(gpc, within, n, &c);
	if (!c.n_singles)
		mask = best_of(gpc, c.pairs, n, gpc->row + speed);
	else
		mask = c.pairs | best_of(gpc, c.singles, c.n_singles, row_with(gpc, c.singles, c.n_singles));
	lower(gpc, mask);
	return mask;
}

HOT int query_speed(const struct gpc *gpc, uint32_t within, unsigned n, bool multicast)
{
	if (multicast)
		return within == gpc->all && query_paired(gpc) ? query_speed_paired(gpc, n) : speed_multicast(gpc, within, n);
	return likely(within == gpc->all) ? query_speed_gpc(gpc, n) : speed_within(gpc, within, n);
}

HOT uint32_t *query_take(struct gpc *gpc, uint32_t within, unsigned n, bool multicast, int speed, uint32_t *out, uint32_t *sms)
{
	if (multicast) {
		*sms = within == gpc->all && query_paired(gpc) ? query_cut_paired(gpc, n, speed) :
								 cut_multicast(gpc, within, n, speed);
		return query_segment(out, *sms);
	}
	return likely(within == gpc->all) ? query_cut(gpc, n, out, sms) : take_within(gpc, within, n, out, sms);
}

/* ---- a CGA over several GPCs, which are treated like one lake ---- */

#define SHARE_STEPS 6u /* visit.h: for a row of a GPC */
#define ABLE_STEPS 30u /* and for a GPC, each time that able() counts its SMs */

struct sharing {
	struct domain_range range;
	unsigned left;      /* CTAs without an SM yet */
	int speed;
	uint16_t *share;
	uint32_t mask[TUTTI_MAX_GPCS]; /* SMs of each GPC that are next */
	uint8_t count[TUTTI_MAX_GPCS]; /* and how many they are */
};

/* Give one CTA to each SM of s->mask; if these are more than needed, to the first ones by position. */
static void share_out(struct sharing *s, int speed)
{
	uint32_t sum = 0;
	unsigned i;

	for (i = 0; i < s->range.n; i++)
		sum += s->count[i];
	if (!sum || !s->left)
		return;
	if (s->speed < 0 || speed < s->speed)
		s->speed = speed;
	if (sum > s->left) {
		if (s->share)
			domain_before(s->range, s->mask, s->left, s->share);
		s->left = 0;
		return;
	}
	s->left -= sum;
	for (i = 0; s->share && i < s->range.n; i++)
		s->share[i] = (uint16_t)(s->share[i] + s->count[i]);
}

static inline uint32_t row_of(const struct gpc *gpc, int speed)
{
	return gpc->row + speed <= gpc->top ? gpc->row[speed].mask : 0;
}

static int highest(struct domain_range range)
{
	const struct gpc *gpc = domains.gpc + range.first, *end = gpc + range.n;
	int speed = QUERY_INVALID;

	for (; gpc < end; gpc++)
		if (gpc->top - gpc->row > speed)
			speed = (int)(gpc->top - gpc->row);
	return speed;
}

/* The SMs of row @speed of the @i-th GPC are next. */
static inline void share_row(struct sharing *s, unsigned i, int speed)
{
	const struct gpc *gpc = &domains.gpc[s->range.first + i];

	s->mask[i] = row_of(gpc, speed);
	s->count[i] = s->mask[i] ? (uint8_t)gpc->row[speed].count : 0;
}

/* How many SMs of s->mask[] can take a CTA and have at least @speed free slots left. */
static unsigned able(const struct sharing *s, int speed)
{
	const struct gpc *gpc = &domains.gpc[s->range.first];
	unsigned sum = 0, i;

	visit_goes_on(ABLE_STEPS * s->range.n);
	for (i = 0; i < s->range.n; i++)
		sum += popcount32(s->mask[i] & row_of(&gpc[i], speed));
	return sum;
}

/*
 * Give one CTA each to those SMs of s->mask[] that have most free slots, until no CTA is left. It does for all GPCs what
 * row_with() and best_of() do for one.
 */
static void share_best(struct sharing *s, int highest)
{
	const struct gpc *gpc = &domains.gpc[s->range.first];
	unsigned n = able(s, 0), i, sure;
	int low = 0, high = highest + 1, mid;
	uint32_t above;

	if (!n)
		return;
	if (n > s->left)
		n = s->left;
	while (high - low > 1) {
		mid = (low + high) / 2;
		if (able(s, mid) >= n)
			low = mid;
		else
			high = mid;
	}
	for (i = 0; i < s->range.n; i++) {
		above = s->mask[i] & row_of(&gpc[i], low + 1);
		sure = popcount32(above);
		s->left -= sure;
		if (s->share)
			s->share[i] = (uint16_t)(s->share[i] + sure);
		s->mask[i] = (s->mask[i] & row_of(&gpc[i], low)) ^ above;
		s->count[i] = (uint8_t)popcount32(s->mask[i]);
	}
	share_out(s, low);
}

/* Whole pairs first, then the others. */
static void share_multicast(struct sharing *s, int highest)
{
	const struct gpc *gpc = &domains.gpc[s->range.first];
	uint32_t singles[TUTTI_MAX_GPCS], free;
	unsigned n = s->range.n, i;

	for (i = 0; i < n; i++) {
		free = row_of(&gpc[i], 0);
		s->mask[i] = domain_pairs(&gpc[i], free);
		singles[i] = free ^ s->mask[i];
	}
	share_best(s, highest);
	if (!s->left)
		return;
	for (i = 0; i < n; i++)
		s->mask[i] = singles[i];
	share_best(s, highest);
}

COLD int query_share(struct domain_range range, unsigned n, bool multicast, uint16_t *shares)
{
	static struct sharing s;
	int speed = highest(range);
	unsigned i;

	s.range = range;
	s.left = n;
	s.speed = QUERY_INVALID;
	s.share = shares;
	for (i = 0; shares && i < range.n; i++)
		shares[i] = 0;
	if (multicast) {
		share_multicast(&s, speed);
	} else {
		visit_goes_on(SHARE_STEPS * range.n * ((unsigned)speed + 2));
		for (; speed >= 0 && s.left; speed--) {
			for (i = 0; i < range.n; i++)
				share_row(&s, i, speed);
			share_out(&s, speed);
		}
	}
	return s.left ? QUERY_INVALID : s.speed;
}

/* ---- how many fit ---- */

#define PART_STEPS 60u /* visit.h: for the CTAs of a CGA in one GPC */

static uint32_t nowhere[QUERY_SEGMENTS], nobody;

/* The @last CGA to be counted takes no slots, since nobody asks what is left after it. */
static bool take_part(struct gpc *gpc, uint32_t within, const struct query_ask *ask, unsigned ctas, bool last)
{
	int speed = query_speed(gpc, within, ctas, ask->multicast);

	visit_goes_on(PART_STEPS << ask->multicast);
	if (speed >= 0 && !last)
		query_take(gpc, within, ctas, ask->multicast, speed, nowhere, &nobody);
	return speed >= 0;
}

static bool take_shared(struct domain_range range, const struct query_ask *ask, bool last)
{
	uint16_t shares[TUTTI_MAX_GPCS];
	unsigned i;

	if (query_share(range, ask->ctas, ask->multicast, shares) < 0)
		return false;
	for (i = 0; i < range.n && !last; i++)
		if (shares[i])
			take_part(&domains.gpc[range.first + i], domains.gpc[range.first + i].all, ask, shares[i], false);
	return true;
}

COLD unsigned query_count(const struct query_ask *ask, unsigned number, unsigned enough)
{
	struct domain_range range = domain_inside(TUTTI_CGA_GPC, ask->kind, number);
	unsigned left;
	uint32_t within;
	struct gpc *gpc = query_gpc(ask->kind, number, &within);
	bool wide = ask->kind >= TUTTI_CGA_UGPU;

	if (ask->identity)
		enough = min32(enough, gpc->credits_all);
	for (left = enough; left; left--)
		if (!(wide ? take_shared(range, ask, left == 1) : take_part(gpc, within, ask, ask->ctas, left == 1)))
			break;
	return enough - left;
}

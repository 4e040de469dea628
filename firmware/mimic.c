// SPDX-License-Identifier: MIT
#include "mimic.h"

/* ---- load balance ---- */

static int query_within(const struct gpc *gpc, uint32_t within, unsigned n)
{
	unsigned k, c;

	for (k = gpc->top; k; k--) {
		c = popcount32(gpc->row[k] & within);
		if (n <= c)
			return (int)k - 1;
		n -= c;
	}
	return MIMIC_INVALID;
}

static inline void drop(struct gpc *gpc, unsigned k, uint32_t mask, unsigned n)
{
	gpc->row[k] ^= mask;
	gpc->count[k] = (uint8_t)(gpc->count[k] - n);
	gpc->free = (uint16_t)(gpc->free - n);
}

static inline void settle_top(struct gpc *gpc)
{
	while (gpc->top && !gpc->count[gpc->top])
		gpc->top--;
}

static uint32_t *take_within(struct gpc *gpc, uint32_t within, unsigned n, uint32_t *out)
{
	const uint32_t *begin = out;
	unsigned k, c;
	uint32_t mask;

	for (k = gpc->top; n; k--) {
		mask = gpc->row[k] & within;
		c = popcount32(mask);
		if (!c)
			continue;
		if (c > n) {
			mask = lake_prefix(mask, n);
			c = n;
		}
		drop(gpc, k, mask, c);
		out = mimic_put(out, begin, mask);
		n -= c;
	}
	settle_top(gpc);
	return out;
}

/* ---- multicast: an SM at most once, whole pairs first, then most free, then priority ---- */

/* Highest row that has @n SMs of @class; row 1 has. */
static inline unsigned row_with(const struct gpc *gpc, uint32_t class, unsigned n)
{
	unsigned low = 1, high = gpc->top + 1u, mid;

	if (popcount32(gpc->row[gpc->top] & class) >= n)
		return gpc->top;
	while (high - low > 1) {
		mid = (low + high) / 2;
		if (popcount32(gpc->row[mid] & class) >= n)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* The @n best SMs of @class, more or as many as that. */
static inline uint32_t best_of(const struct gpc *gpc, uint32_t class, unsigned n, unsigned k)
{
	uint32_t sure = k < gpc->top ? gpc->row[k + 1] & class : 0, rest = gpc->row[k] & class & ~sure;

	n -= popcount32(sure);
	return sure | (popcount32(rest) > n ? lake_prefix(rest, n) : rest);
}

/* Rows at which pairs and singles run out. Return: the SMs' mask; 0 = invalid. */
static inline uint32_t choose(const struct gpc *gpc, uint32_t within, unsigned n, int *speed, bool take)
{
	uint32_t able = gpc->top ? gpc->row[1] & within : 0, pairs, singles, c, mask = 0;
	unsigned level = LAKE_LEVELS, k;

	*speed = MIMIC_INVALID;
	if (popcount32(able) < n)
		return 0;
	pairs = domain_pairs(gpc, able);
	c = popcount32(pairs);
	if (c) {
		if (c > n)
			c = n;
		level = row_with(gpc, pairs, c);
		if (take)
			mask = best_of(gpc, pairs, c, level);
	}
	if (c < n) {
		singles = able ^ pairs;
		k = row_with(gpc, singles, n - c);
		if (take)
			mask |= best_of(gpc, singles, n - c, k);
		if (k < level)
			level = k;
	}
	*speed = (int)level - 1;
	return mask;
}

/* Each SM of @mask leaves the highest row it is in. */
static void lower(struct gpc *gpc, uint32_t mask)
{
	unsigned k;
	uint32_t take;

	for (k = gpc->top; mask; k--) {
		take = mask & gpc->row[k];
		if (take)
			drop(gpc, k, take, popcount32(take));
		mask ^= take;
	}
	settle_top(gpc);
}

HOT int mimic_query(const struct gpc *gpc, uint32_t within, unsigned n, bool multicast)
{
	int speed;

	if (unlikely(multicast)) {
		choose(gpc, within, n, &speed, false);
		return speed;
	}
	return likely(within == gpc->all) ? mimic_query_gpc(gpc, n) : query_within(gpc, within, n);
}

HOT uint32_t *mimic_take(struct gpc *gpc, uint32_t within, unsigned n, bool multicast, uint32_t *out)
{
	int speed;

	if (unlikely(multicast)) {
		out[0] = 1 | 1u << 24;
		out[1] = choose(gpc, within, n, &speed, true);
		lower(gpc, out[1]);
		return out + 2;
	}
	return likely(within == gpc->all) ? mimic_take_gpc(gpc, n, out) : take_within(gpc, within, n, out);
}

/* ---- a CGA over several GPCs: as if they were one lake ---- */

struct sharing {
	struct domain_range range;
	unsigned left;      /* CTAs to be given out */
	int speed;
	uint16_t *share;
	uint32_t mask[TUTTI_MAX_GPCS]; /* SMs in question */
};

/* SMs @mask of all GPCs are next, one CTA each; if they are more than needed, the first by position. */
static void share_out(struct sharing *s, unsigned level)
{
	unsigned i, c, sum = 0;

	for (i = 0; i < s->range.n; i++)
		sum += popcount32(s->mask[i]);
	if (!sum || !s->left)
		return;
	s->speed = s->speed < 0 || (int)level - 1 < s->speed ? (int)level - 1 : s->speed;
	if (sum > s->left) {
		if (s->share)
			domain_before(s->range, s->mask, s->left, s->share);
		s->left = 0;
		return;
	}
	s->left -= sum;
	for (i = 0; s->share && i < s->range.n; i++) {
		c = popcount32(s->mask[i]);
		s->share[i] = (uint16_t)(s->share[i] + c);
	}
}

static inline uint32_t row_of(const struct gpc *gpc, unsigned k)
{
	return k && k <= gpc->top ? gpc->row[k] : 0;
}

static unsigned highest(struct domain_range range)
{
	unsigned i, k = 0;

	for (i = 0; i < range.n; i++)
		if (domains.gpc[range.first + i].top > k)
			k = domains.gpc[range.first + i].top;
	return k;
}

static void share_multicast(struct sharing *s, unsigned k, bool pairs)
{
	unsigned i;

	for (; k && s->left; k--) {
		for (i = 0; i < s->range.n; i++) {
			const struct gpc *gpc = &domains.gpc[s->range.first + i];
			uint32_t able = row_of(gpc, 1), both = domain_pairs(gpc, able);

			s->mask[i] = row_of(gpc, k) & ~row_of(gpc, k + 1) & (pairs ? both : ~both);
		}
		share_out(s, k);
	}
}

COLD int mimic_share(struct domain_range range, unsigned n, bool multicast, uint16_t *share)
{
	static struct sharing s;
	unsigned i, k = highest(range);

	s.range = range;
	s.left = n;
	s.speed = MIMIC_INVALID;
	s.share = share;
	for (i = 0; share && i < range.n; i++)
		share[i] = 0;
	if (multicast) {
		share_multicast(&s, k, true);
		share_multicast(&s, k, false);
	} else {
		for (; k && s.left; k--) {
			for (i = 0; i < range.n; i++)
				s.mask[i] = row_of(&domains.gpc[range.first + i], k);
			share_out(&s, k);
		}
	}
	return s.left ? MIMIC_INVALID : s.speed;
}

/* ---- how many fit ---- */

static bool take_shared(struct domain_range range, const struct mimic_ask *ask)
{
	static uint32_t segments[MIMIC_SEGMENTS];
	static uint16_t share[TUTTI_MAX_GPCS];
	unsigned i;

	if (mimic_share(range, ask->ctas, ask->multicast, share) < 0)
		return false;
	for (i = 0; i < range.n; i++) {
		struct gpc *gpc = &domains.gpc[range.first + i];

		if (share[i])
			mimic_take(gpc, gpc->all, share[i], ask->multicast, segments);
	}
	return true;
}

COLD unsigned mimic_count(const struct mimic_ask *ask, unsigned number, unsigned enough)
{
	static uint32_t segments[MIMIC_SEGMENTS];
	uint32_t within;
	struct domain_range range = domain_inside(TUTTI_CGA_GPC, ask->kind, number);
	struct gpc *gpc;
	unsigned n;

	if (ask->kind >= TUTTI_CGA_UGPU) {
		for (n = 0; n < enough && take_shared(range, ask); n++)
			;
		return n;
	}
	gpc = mimic_gpc(ask->kind, number, &within);
	if (enough > gpc->credits_all)
		enough = gpc->credits_all;
	for (n = 0; n < enough && mimic_query(gpc, within, ask->ctas, ask->multicast) >= 0; n++)
		mimic_take(gpc, within, ask->ctas, ask->multicast, segments);
	return n;
}

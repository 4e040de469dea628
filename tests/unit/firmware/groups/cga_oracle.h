/* SPDX-License-Identifier: MIT */
/*
 * Placement of CGAs one CTA at a time, on an array of free slots, level by level in recursion: the firmware's sessions
 * must give the same (spec CGA-06, CGA-09 .. CGA-12). Shares no code with the firmware.
 */
#ifndef TUTTI_TEST_CGA_ORACLE_H
#define TUTTI_TEST_CGA_ORACLE_H

#include <stdbool.h>
#include <string.h>

#include "tutti/contract.h"

#define ORACLE_PARTS 4096u

struct oracle_card {
	unsigned sms, gpcs, ugpus;
	unsigned gpc[TUTTI_MAX_SMS], cpc[TUTTI_MAX_SMS], tpc[TUTTI_MAX_SMS], ugpu[TUTTI_MAX_GPCS]; /* of each SM, GPC */
	unsigned order[TUTTI_MAX_SMS]; /* SM at each position */
	int free[TUTTI_MAX_SMS];
	int credits[TUTTI_MAX_GPCS];
};

/* One innermost CGA: how many of its CTAs each SM got. */
struct oracle_part {
	uint16_t ctas[TUTTI_MAX_SMS];
};

struct oracle_grid {
	unsigned levels, kind[TUTTI_CGA_LEVELS], parts[TUTTI_CGA_LEVELS]; /* innermost first; parts[0]: CTAs */
	bool multicast;
	int identity; /* level, -1 = none */
};

struct oracle_log {
	unsigned parts;
	struct oracle_part part[ORACLE_PARTS];
};

static struct oracle_log oracle_log;

/* Number of the domain of @kind that an SM lies in. */
static inline unsigned oracle_domain(const struct oracle_card *c, unsigned kind, unsigned sm)
{
	switch (kind) {
	case TUTTI_CGA_CPC: return c->gpc[sm] * 64 + c->cpc[sm];
	case TUTTI_CGA_GPC: return c->gpc[sm];
	case TUTTI_CGA_UGPU: return c->ugpu[c->gpc[sm]];
	default: return 0;
	}
}

static inline unsigned oracle_domains(const struct oracle_card *c, unsigned kind)
{
	return kind == TUTTI_CGA_CPC ? c->gpcs * 64 : kind == TUTTI_CGA_GPC ? c->gpcs : kind == TUTTI_CGA_UGPU ? c->ugpus : 1;
}

/* The next SM for a CTA of an innermost CGA, -1 = none. */
static inline int oracle_best(const struct oracle_card *c, unsigned kind, unsigned domain, bool multicast,
			      const bool *pair, const struct oracle_part *part)
{
	int best = -1;
	unsigned p;

	for (p = 0; p < c->sms; p++) {
		unsigned sm = c->order[p];

		if (oracle_domain(c, kind, sm) != domain || c->free[sm] < 1 || (multicast && part->ctas[sm]))
			continue;
		if (best < 0 || (multicast && pair[sm] && !pair[best]) ||
		    ((!multicast || pair[sm] == pair[best]) && c->free[sm] > c->free[best]))
			best = (int)sm;
	}
	return best;
}

/* Returns the speed, -1 = it does not fit; then *c is as before. */
static inline int oracle_leaf(struct oracle_card *c, const struct oracle_grid *g, unsigned domain)
{
	struct oracle_part *part = &oracle_log.part[oracle_log.parts];
	static bool pair[TUTTI_MAX_SMS];
	unsigned n, a, b, gpc = ~0u;
	int sm, speed = 1000;

	if (oracle_log.parts == ORACLE_PARTS)
		return -1;
	memset(part, 0, sizeof(*part));
	for (a = 0; a < c->sms; a++)
		pair[a] = false;
	for (a = 0; a < c->sms; a++)
		for (b = a + 1; b < c->sms && b < a + 64; b++)
			if (c->gpc[a] == c->gpc[b] && c->tpc[a] == c->tpc[b] && c->free[a] > 0 && c->free[b] > 0 &&
			    oracle_domain(c, g->kind[0], a) == oracle_domain(c, g->kind[0], b))
				pair[a] = pair[b] = true;
	if (g->identity == 0) {
		for (a = 0; a < c->sms; a++)
			if (oracle_domain(c, g->kind[0], a) == domain)
				gpc = c->gpc[a];
		if (gpc == ~0u || c->credits[gpc] < 1)
			return -1;
	}
	for (n = 0; n < g->parts[0]; n++) {
		sm = oracle_best(c, g->kind[0], domain, g->multicast, pair, part);
		if (sm < 0)
			break;
		c->free[sm]--;
		part->ctas[sm]++;
	}
	if (n < g->parts[0]) {
		for (a = 0; a < c->sms; a++)
			c->free[a] += part->ctas[a];
		return -1;
	}
	for (a = 0; a < c->sms; a++)
		if (part->ctas[a] && c->free[a] < speed)
			speed = c->free[a];
	if (g->identity == 0)
		c->credits[gpc]--;
	oracle_log.parts++;
	return speed;
}

static inline int oracle_place(struct oracle_card *c, const struct oracle_grid *g, unsigned level, unsigned domain);

static inline bool oracle_inside(const struct oracle_card *c, unsigned kind, unsigned domain, int outer, unsigned number)
{
	unsigned sm;

	for (sm = 0; sm < c->sms; sm++)
		if (oracle_domain(c, kind, sm) == domain)
			return outer < 0 || oracle_domain(c, (unsigned)outer, sm) == number;
	return false;
}

/* Place @n CGAs of @level inside a domain (@outer < 0: the card), in rounds. Return: how many; *speed of the last. */
static inline unsigned oracle_parts(struct oracle_card *c, const struct oracle_grid *g, unsigned level, int outer,
				    unsigned number, unsigned n, int *speed)
{
	static struct oracle_card saved[TUTTI_CGA_LEVELS + 1];
	static int speeds[TUTTI_CGA_LEVELS + 1][TUTTI_MAX_GPCS * 64];
	unsigned placed = 0, d, domains = oracle_domains(c, g->kind[level]), log;
	int best;

	while (placed < n) {
		for (best = -1, d = 0; d < domains; d++) {
			speeds[level][d] = -1;
			if (!oracle_inside(c, g->kind[level], d, outer, number))
				continue;
			saved[level] = *c;
			log = oracle_log.parts;
			speeds[level][d] = oracle_place(c, g, level, d);
			*c = saved[level];
			oracle_log.parts = log;
			if (speeds[level][d] > best)
				best = speeds[level][d];
		}
		if (best < 0)
			return placed;
		for (d = 0; d < domains && placed < n; d++)
			if (speeds[level][d] == best) {
				int now = oracle_place(c, g, level, d);

				if (now < 0) /* CPCs of one GPC share its credits */
					continue;
				*speed = now;
				placed++;
			}
	}
	return placed;
}

static inline int oracle_place(struct oracle_card *c, const struct oracle_grid *g, unsigned level, unsigned domain)
{
	static struct oracle_card before[TUTTI_CGA_LEVELS + 1];
	unsigned log = oracle_log.parts, sm;
	int speed = -1;

	if (!level)
		return oracle_leaf(c, g, domain);
	before[level] = *c;
	if (g->identity == (int)level) {
		for (sm = 0; oracle_domain(c, g->kind[level], sm) != domain; sm++)
			;
		if (c->credits[c->gpc[sm]]-- < 1) {
			*c = before[level];
			return -1;
		}
	}
	if (oracle_parts(c, g, level - 1, (int)g->kind[level], domain, g->parts[level], &speed) == g->parts[level])
		return speed;
	*c = before[level];
	oracle_log.parts = log;
	return -1;
}

/* Outermost CGAs of a grid, up to @n. */
static inline unsigned oracle_run(struct oracle_card *c, const struct oracle_grid *g, unsigned n)
{
	int speed;

	oracle_log.parts = 0;
	return oracle_parts(c, g, g->levels - 1, -1, 0, n, &speed);
}

#endif

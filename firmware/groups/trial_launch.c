// SPDX-License-Identifier: MIT
#include "groups/trial_launch.h"

#include "core/task_record.h"
#include "core/visit.h"
#include "groups/cga_search.h"

struct trial trial HOT_DATA;

static inline uint32_t *record_next(uint32_t *p)
{
	p += (*p & 0xff) == TUTTI_CMD_NOP ? *p >> 8 : *p >> 8 & 0xff;
	return p == command_ring.end ? command_ring.word : p;
}

static inline struct gpc *record_gpc(const uint32_t *p)
{
	return &domains.gpc[domains.index[p[1] >> 24]];
}

/* ---- placing ---- */

void trial_identify(struct gpc *gpc)
{
	trial.gpc = gpc;
	trial.id = cga_ids_take(gpc, trial.task->slot);
	trial.lmem = trial.cga->lmem ? cga_ids_lmem_take(gpc, trial.id) : CGA_IDS_NO_LMEM;
}

static void launch(struct gpc *gpc, uint32_t within, unsigned n, int speed)
{
	uint32_t *p = command_begin(3 + QUERY_SEGMENTS), *end, sms = 0;

	p[1] = trial.sequence | trial.id << 16 | (uint32_t)gpc->number << 24;
	p[2] = trial.lmem;
	end = query_take(gpc, within, n, trial.cga->ask.multicast, speed, p + 3, &sms);
	p[0] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, end - p, trial.task->slot | TUTTI_LAUNCH_CGA << 8);
	command_end(end);
	trial.last = p;
	if (trial.cga->identity != SEARCH_NO_IDENTITY)
		cga_ids_started(gpc, trial.id, sms, n);
	if (!gpc->credits)
		cached_stale(gpc);
}

static void launch_shared(unsigned domain)
{
	const struct query_ask *ask = &trial.cga->ask;
	struct domain_range range = domain_inside(TUTTI_CGA_GPC, ask->kind, domain);
	struct gpc *gpc = &domains.gpc[range.first];
	uint16_t shares[TUTTI_MAX_GPCS];
	unsigned i;

	query_share(range, ask->ctas, ask->multicast, shares);
	trial.id = 0;
	trial.lmem = CGA_IDS_NO_LMEM;
	for (i = 0; i < range.n; i++, gpc++)
		if (shares[i])
			launch(gpc, gpc->all, shares[i],
			       query_speed(gpc, gpc->all, shares[i], ask->multicast));
}

/*
 * Place one innermost CGA in @domain, where its speed is @speed. Return: false if another domain of this round has taken
 * the last credit
 */
static bool part(unsigned domain, int speed)
{
	const struct cga *cga = trial.cga;
	uint32_t within;
	struct gpc *gpc;

	if (cga->ask.kind >= TUTTI_CGA_UGPU) {
		launch_shared(domain);
		return true;
	}
	gpc = query_gpc(cga->ask.kind, domain, &within);
	if (!cga->identity) {
		/* The CPCs of a GPC share its credits, so another one may have taken the last. */
		if (!gpc->credits)
			return false;
		trial_identify(gpc);
	}
	launch(gpc, within, cga->ask.ctas, speed);
	return true;
}

COLD uint32_t trial_parts(const uint32_t *within, uint32_t left, int *speed)
{
	struct cached_word *word;
	uint32_t bits;

	while (left) {
		cached_refresh();
		*speed = cached_fastest(within, false);
		if (*speed < 0)
			break;
		for (word = query_cache.word; word < query_cache.end; word++) {
			bits = word->fast[*speed] & (within ? within[word - query_cache.word] : ~0u);
			for (; bits && left; bits &= bits - 1) {
				word->stale |= bits & -bits;
				if (!part(cached_number(word) + lowest_bit(bits), *speed))
					continue;
				left--;
				if (!trial.cga->step)
					continue;
				trial_end();
				trial.late = left && visit_late();
				if (trial.late)
					return left;
			}
		}
	}
	return left;
}

void trial_end(void)
{
	*trial.last |= (uint32_t)TUTTI_LAUNCH_END_OF_CGA << 24;
	trial.sequence++;
}

COLD void trial_undo(struct trial_mark mark)
{
	uint32_t *p, *q, id = ~0u;

	for (p = mark.next; p != command_ring.next; p = record_next(p)) {
		struct gpc *gpc;

		if ((*p & 0xff) != TUTTI_CMD_LAUNCH)
			continue;
		gpc = record_gpc(p);
		for (q = p + 3; q < p + (*p >> 8 & 0xff); q += 2)
			domain_raise(gpc, *q & 0xffff, q[1]);
		cached_stale(gpc);
		if (trial.cga->identity != SEARCH_NO_IDENTITY && p[1] != id) {
			id = p[1];
			cga_ids_undo(gpc, id >> 16 & 0xff, p[2]);
		}
	}
	command_ring.next = mark.next;
	command_ring.bias = mark.bias;
}

/* ---- the end of the search ---- */

/* Write a record for one GPC-local segment, with SMs by position on the card. Return: the record */
static uint32_t *translate_segment(const uint32_t *record, const uint32_t *segment)
{
	unsigned n = domain_scatter(record_gpc(record), segment[1]), i;
	uint32_t *p = command_begin(3 + 2 * 32), *to = p + 3;

	p[0] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 3 + 2 * n, (*record >> 16 & 0xff) | TUTTI_LAUNCH_CGA << 8);
	p[1] = (record[1] & 0xffff) | TUTTI_GPC_NONE << 24;
	p[2] = CGA_IDS_NO_LMEM;
	for (i = 0; i < n; i++, to += 2) {
		to[0] = (*segment & 0xffff) | domain_part[i][0] << 16 | 1u << 24;
		to[1] = domain_part[i][1];
	}
	command_end(to);
	return p;
}

/* CGAs without identity: replace the records by ones with positions, and turn the old ones into NOPs. */
static void translate(uint32_t *from, uint32_t *end)
{
	uint32_t *p, *q, *to;

	for (p = from; p != end; p = record_next(p)) {
		if ((*p & 0xff) != TUTTI_CMD_LAUNCH)
			continue;
		to = p;
		for (q = p + 3; q < p + (*p >> 8 & 0xff); q += 2)
			to = translate_segment(p, q);
		*to |= *p & (uint32_t)TUTTI_LAUNCH_END_OF_CGA << 24;
		*p = TUTTI_CMD_NOP | (*p >> 8 & 0xff) << 8;
	}
}

COLD void trial_commit(uint32_t ctas)
{
	uint32_t *p, *q, *end = command_ring.next;
	unsigned n;

	placed_begin();
	for (p = trial.first.next; p != end; p = record_next(p))
		if ((*p & 0xff) == TUTTI_CMD_LAUNCH)
			for (q = p + 3; q < p + (*p >> 8 & 0xff); q += 2)
				for (n = domain_scatter(record_gpc(p), q[1]); n--;)
					placed_add(domain_part[n][0], domain_part[n][1], *q & 0xffff);
	placed_end(trial.task->shape, NULL);
	if (trial.cga->identities)
		return;
	translate(trial.first.next, end);
	/* Their completions come by position, as those of plain CTAs do, so they do not count as grouped. */
	shapes.grouped_ctas -= ctas;
	domains.dirty = true;
}

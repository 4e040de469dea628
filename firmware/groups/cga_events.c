// SPDX-License-Identifier: MIT
#include "groups/cga.h"

#include "core/state.h"
#include "place/mixed_shapes.h"

/* Update the card-wide lake of the shape, and what other shapes know of the SMs. */
static COLD void raise_positions(struct shape *shape, const struct gpc *gpc, uint32_t repeat, uint32_t mask, uint32_t ctas)
{
	uint32_t parts = domain_scatter(gpc, mask);
	bool beside = place_state.detours & DETOUR_BESIDE;

	if (beside)
		mixed_ended(ctas);
	while (parts--) {
		lake_raise_by(&shape->lake, domain_part[parts][0], domain_part[parts][1], repeat);
		if (beside)
			mixed_changed(domain_part[parts][0], domain_part[parts][1]);
	}
}

static COLD void event_rare(const struct task *task, struct gpc *gpc, const struct tutti_event *event)
{
	uint32_t repeat = event->word[1], n = event->word[2], mask = event->word[3];

	if (likely(domains.shape == task->shape)) {
		domain_raise(gpc, repeat, mask);
		cached_stale(gpc);
	} else {
		domains.dirty = true;
	}
	if (!gpc_rows_lead())
		raise_positions(task->shape, gpc, repeat, mask, n);
	cga_ids_ended(gpc, event->word[0] >> 24, n);
}

/* In the usual case only the rows count, and the SMs come back to the highest one, from which they were taken. */
HOT void cga_event(const struct tutti_event *event, const struct task *task)
{
	uint32_t head = event->word[0], n = event->word[2], mask = event->word[3];
	struct gpc *gpc = domain_gpc(domains.gpc, domains.index[head >> 16 & (TUTTI_MAX_GPCS - 1)]);
	struct domain_row *row = gpc->top;

	shapes.grouped_ctas -= n;
	if (unlikely(!gpc_rows_lead()) || unlikely(domains.shape != task->shape) ||
	    unlikely(query_cache.ask.kind != TUTTI_CGA_GPC) || unlikely(event->word[1] != 1) ||
	    unlikely(row->mask & mask) || unlikely(mask & ~row[-1].mask)) { /* the sentinel has all SMs, and no row before it */
		event_rare(task, gpc, event);
		return;
	}
	row->mask |= mask;
	row->count += n;
	query_cache.word[gpc->index / 32].stale |= 1u << (gpc->index % 32);
	cga_ids_ended(gpc, head >> 24, n);
}

/*
 * Since the last search only one GPC has changed, the one that was chosen. If its speed is again what it was then, a
 * search would choose the same GPC, and in it the first SMs of the top row. Those are the SMs of the CGA if all others
 * of the row come behind them. If all SMs of the CGA are in the top row already, they will be alone in a new row above
 * it.
 */
HOT struct gpc *cga_stays(const struct tutti_event *event, const struct task *task)
{
	struct gpc *gpc = domain_gpc(domains.gpc, domains.index[event->word[0] >> 16 & (TUTTI_MAX_GPCS - 1)]);
	uint32_t mask = event->word[3], speed = (uint32_t)(gpc->top - gpc->row);
	const struct cached_word *word = query_cache.word;
	const struct cga *cga = &cga_grids[task->slot];
	const struct domain_row *row = gpc->top;

	if (!(mask & ~row->mask))
		speed++;
	else if (unlikely(mask & ~row[-1].mask) || unlikely((row->mask & -row->mask) - 1 < mask))
		return NULL;
	if (unlikely((event->word[1] ^ 1) | (domains.asked ^ cga->ask.whole) | (word->stale ^ 1u << gpc->index % 32)) ||
	    unlikely(!cga->quick) || unlikely(cga->ask.multicast) || unlikely(query_cache.end != word + 1) ||
	    unlikely(!gpc->credits) || unlikely((word->used & -word->used) != 0x80000000u >> speed))
		return NULL;
	return gpc;
}

HOT uint32_t *cga_take_over(uint32_t *p, struct gpc *gpc, const struct cga *cga, uint32_t sms)
{
	unsigned id = gpc->id_next;
	struct live_cga *me = live_cga(gpc, id);

	gpc->id_next = me->next;
	gpc->credits--;
	me->life = cga->life;
	me->sms = sms;
	cga_ids_head(p, trial.sequence++, id, gpc->number);
	p[0] = cga->head + (5 << 8);
	return query_segment(p + 3, sms);
}

bool cga_event_flushed(const struct tutti_event *event)
{
	const struct gpc *gpc = cga_ids_event_flushed(event);

	if (!gpc)
		return false;
	cached_stale(gpc);
	return true;
}

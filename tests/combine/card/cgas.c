// SPDX-License-Identifier: MIT
/* CGAs: their domains, their ids and memory slots from launch to flush, and whether one fits. */
#include "card/card.h"

#define LMEM_SLOTS 64u
#define NO_LMEM	   0xffffffffu

/* A CGA that has an id. */
static struct identity {
	bool used, staged, flushing;
	unsigned slot, running;
	uint32_t ran, unflushed, lmem;
	uint8_t on[32];
} identity[TUTTI_MAX_GPCS][IDS];

static unsigned ids_used[TUTTI_MAX_GPCS], ids_end[TUTTI_MAX_GPCS], lmem_count;
static bool lmem_used[LMEM_SLOTS];
static uint32_t lmem_unflushed[LMEM_SLOTS];
static uint32_t part_sms[TUTTI_MAX_SMS / 32];

void cgas_begin(void)
{
	unsigned g;

	for (g = 0; g < discovery()->gpcs; g++)
		memset(identity[g], 0, sizeof(identity[g]));
	memset(ids_used, 0, sizeof(ids_used));
	memset(ids_end, 0, sizeof(ids_end));
	memset(lmem_used, 0, sizeof(lmem_used));
	memset(lmem_unflushed, 0, sizeof(lmem_unflushed));
	lmem_count = 0;
}

/* The parts of a CGA are launched one after another; each lies in one domain of its kind (CGA-01, CGA-02). */
static void check_domains(struct slot *slot, unsigned position)
{
	unsigned i, n = 1, at = slot->staged;

	for (i = 0; i < TUTTI_CGA_LEVELS && slot->level[i].kind; i++) {
		n *= slot->level[i].x * slot->level[i].y * slot->level[i].z;
		if (at % n == 0)
			slot->domain[i] = sms_domain(slot->level[i].kind, position);
		else
			RULE(slot->domain[i] == sms_domain(slot->level[i].kind, position), "domain (CGA-01)",
			     "CTA %u of a CGA of %s lies outside its domain of kind %u", at,
			     job_name(slot->job), slot->level[i].kind);
		if (i || !slot->job->multicast)
			continue;
		if (at % n == 0)
			memset(part_sms, 0, sizeof(part_sms));
		RULE(!(part_sms[position / 32] >> (position % 32) & 1), "multicast (CGA-10)",
		     "two CTAs of one CGA of %s on SM %u", job_name(slot->job), position);
		part_sms[position / 32] |= 1u << (position % 32);
	}
}

static void give_id(unsigned number, unsigned gpc, unsigned id, uint32_t lmem)
{
	struct identity *it = &identity[gpc][id];

	RULE(gpc < discovery()->gpcs, "command", "LAUNCH on GPC %u", gpc);
	RULE(!it->used || it->staged, "ids (CGA-23)", "id %u of GPC %u is given out before its flush", id,
	     gpc);
	if (!it->used) {
		*it = (struct identity){.used = true, .staged = true, .slot = number, .lmem = lmem};
		ids_used[gpc]++;
		ids_end[gpc] = id < ids_end[gpc] ? ids_end[gpc] : id + 1;
		if (lmem != NO_LMEM) {
			RULE(lmem < discovery()->lmem_slots && !lmem_used[lmem], "lmem (CGA-28)",
			     "memory slot %u is in use", lmem);
			lmem_used[lmem] = true;
			lmem_count++;
		}
	}
	RULE(it->slot == number, "ids (CGA-23)", "id %u of GPC %u is another task's", id, gpc);
}

static unsigned outermost(const struct slot *slot)
{
	unsigned i, n = 1;

	for (i = 0; i < TUTTI_CGA_LEVELS && slot->level[i].kind; i++)
		n *= slot->level[i].x * slot->level[i].y * slot->level[i].z;
	return n;
}

static void end_of_cga(unsigned number)
{
	struct slot *slot = &slots[number];
	unsigned gpc, id;

	RULE(slot->staged == outermost(slot), "whole (CGA-03)", "a CGA of %s has %u CTAs of %u",
	     job_name(slot->job), slot->staged, outermost(slot));
	slot->staged = 0;
	for (gpc = 0; gpc < discovery()->gpcs; gpc++)
		for (id = 0; ids_used[gpc] && id < ids_end[gpc]; id++)
			if (identity[gpc][id].staged && identity[gpc][id].slot == number)
				identity[gpc][id].staged = false;
}

void cga_launch(const uint32_t *c, unsigned words)
{
	unsigned number = c[0] >> 16 & 0xff, gpc = c[1] >> 24, id = c[1] >> 16 & 0xff, i, j, b, r;
	struct slot *slot = &slots[number];
	struct identity *it = gpc == TUTTI_GPC_NONE ? NULL : &identity[gpc % TUTTI_MAX_GPCS][id];

	RULE(slot->level[0].kind, "command", "CGAs of %s, which has none", job_name(slot->job));
	if (!slot->staged)
		slot->sequence = c[1] & 0xffff;
	RULE((c[1] & 0xffff) == slot->sequence, "whole (CGA-16)",
	     "another CGA before the end of the last one");
	if (it)
		give_id(number, gpc, id, c[2]);
	for (i = 3; i < words; i += 1 + (c[i] >> 24))
		for (r = 0; r < (c[i] & 0xffff); r++)
			for (j = 0; j < c[i] >> 24; j++)
				for (b = 0; b < 32; b++) {
					unsigned position =
					    it ? sms_of_gpc(gpc, b) : 32 * ((c[i] >> 16 & 0xff) + j) + b;

					if (!(c[i + 1 + j] >> b & 1))
						continue;
					check_domains(slot, position);
					cta_start(number, position);
					slot->staged++;
					if (it) {
						it->on[b]++;
						it->running++;
						it->ran |= 1u << b;
					}
				}
	if (c[0] >> 24 & TUTTI_LAUNCH_END_OF_CGA)
		end_of_cga(number);
}

/* A flush is asked for once, when the last CTA has ended, of exactly the SMs that ran one (CGA-26). */
void cga_flush(const uint32_t *c)
{
	unsigned gpc = c[0] >> 16 & 0xff, what = c[0] >> 24, i;
	uint32_t left = c[2], part;

	if (what == TUTTI_FLUSH_DSMEM) {
		struct identity *it = &identity[gpc % TUTTI_MAX_GPCS][c[1] % IDS];

		RULE(it->used && !it->running && !it->flushing && it->ran == c[2], "flush (CGA-26)",
		     "flush of id %u of GPC %u: %u CTAs run, SMs %x ran one, %x are asked", c[1], gpc,
		     it->running, it->ran, c[2]);
		it->flushing = true;
		it->unflushed = c[2];
	} else {
		RULE(c[1] < LMEM_SLOTS && lmem_used[c[1]] && !lmem_unflushed[c[1]], "flush (CGA-28)",
		     "flush of memory slot %u", c[1]);
		lmem_unflushed[c[1]] = c[2];
	}
	for (i = 0; left; i++) {
		part = i < 3 && roll(2) ? left & (roll(0x10000) << 16 | roll(0x10000)) : left;
		left &= ~part;
		if (part)
			event_later(
			    &(struct tutti_event){{TUTTI_EVENT_FLUSHED | gpc << 8 | what << 16, c[1], part}},
			    -1, 0);
	}
}

void cga_flushed(const struct tutti_event *event)
{
	struct identity *it = &identity[event->word[0] >> 8 & 0xff][event->word[1] % IDS];

	if (event->word[0] >> 16 & 0xff) {
		lmem_unflushed[event->word[1]] &= ~event->word[2];
		lmem_used[event->word[1]] = lmem_unflushed[event->word[1]];
		lmem_count -= !lmem_used[event->word[1]];
		return;
	}
	it->unflushed &= ~event->word[2];
	if (!it->unflushed) {
		it->used = false;
		ids_used[event->word[0] >> 8 & 0xff]--;
	}
}

static bool end_cga(unsigned gpc, unsigned id)
{
	struct identity *it = &identity[gpc][id];
	struct slot *slot = &slots[it->slot];
	struct tutti_event event = {{TUTTI_EVENT_CGA | gpc << 16 | id << 24, 1}};
	uint32_t left;
	unsigned b;

	if (!it->used || !it->running || it->staged)
		return false;
	left = ctas_may_end(slot);
	event.word[0] |= it->slot << 8;
	for (b = 0; b < 32; b++)
		if (it->on[b] && event.word[2] < left && (roll(2) || !event.word[2])) {
			it->on[b]--;
			it->running--;
			cta_gone(slot, it->slot, sms_of_gpc(gpc, b));
			event.word[2]++;
			event.word[3] |= 1u << b;
		}
	if (!event.word[2])
		return false;
	ctas_ended(slot, &event);
	return true;
}

bool cgas_end_one(unsigned gpc, unsigned id)
{
	unsigned i;

	for (i = 0; ids_used[gpc] && i < ids_end[gpc]; i++)
		if (end_cga(gpc, (id + i) % ids_end[gpc]))
			return true;
	return false;
}

/* ---- what fits ---- */

#define IDS_SHARED 256u /* ids that the firmware gives out at most, as many to each GPC */

/* A CGA of one level inside a CPC or GPC. */
static bool cga_fits(const struct job *job)
{
	static uint16_t free_in[TUTTI_MAX_GPCS * 64];
	unsigned i, d, kind = job->cga[0].kind;

	if (kind > TUTTI_CGA_GPC || job->cga[1].kind || lmem_count > discovery()->lmem_slots / 2)
		return false;
	memset(free_in, 0, sizeof(free_in));
	for (i = 0; i < w.sms; i++) {
		d = sms_domain(kind, i);
		if (!card_sm_open(job, i) || ctas_late(i) ||
		    ids_used[sms_place(i)->gpc] >= discovery()->gpc[sms_place(i)->gpc].sms / 2 ||
		    ids_used[sms_place(i)->gpc] >= least(discovery()->cga_ids, IDS_SHARED / discovery()->gpcs))
			continue;
		free_in[d] = (uint16_t)(free_in[d] +
					(sms_ctas(i) ? card_room(job, i)
							 : sms_room(job, i, job->multicast ? 1 : job->whole)));
		if (free_in[d] >= job->whole)
			return true;
	}
	return false;
}

unsigned card_fits(const struct job *job, unsigned enough)
{
	unsigned i, n = 0;

	if (job->cga[0].kind)
		return cga_fits(job);
	for (i = 0; i < w.sms && n < enough; i++)
		if (card_sm_open(job, i) && !ctas_late(i))
			n += card_room(job, i);
	return n;
}

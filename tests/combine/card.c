// SPDX-License-Identifier: MIT
/* The card: takes the firmware's commands, runs CTAs on SMs of true size, and answers in any order. */
#include "combine.h"

#include "../unit/firmware/fw_sms.h"

#define POOL	   8192u
#define IDS	   256u
#define LMEM_SLOTS 64u
#define NO_LMEM	   0xffffffffu

/* A task slot, as the SMs know it. */
static struct slot {
	struct tutti_task_state state;
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	struct job *job;
	bool known, killing, pinned, split;
	uint32_t next, running, late;
	unsigned sequence, staged; /* of the CGA being launched, and its CTAs so far */
	unsigned domain[TUTTI_CGA_LEVELS];
	uint16_t on[TUTTI_MAX_SMS];
} slots[SLOTS];

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
static struct {
	struct tutti_event event;
	uint64_t mover;
	int late_slot;
} pool[POOL];
static unsigned pooled, fetching, running_all, movers_seen;
static uint16_t late_on[TUTTI_MAX_SMS];		  /* ends the firmware does not know of */
static uint16_t gpc_position[TUTTI_MAX_GPCS][32]; /* SMs of a GPC in priority order */
static uint32_t part_sms[TUTTI_MAX_SMS / 32];

static const struct tutti_discovery *discovery(void)
{
	return (const void *)hal_host.window;
}

unsigned card_sm_number(unsigned position)
{
	return card_order[position];
}

static const struct tutti_sm_place *place_of(unsigned position)
{
	const struct tutti_sm_place *place = (const void *)(hal_host.window + discovery()->sm_table.offset);

	return &place[card_order[position]];
}

static void order_gpcs(void)
{
	unsigned n[TUTTI_MAX_GPCS] = {0}, i, g;

	for (i = 0; i < w.sms; i++) {
		g = place_of(i)->gpc;
		if (n[g] < 32)
			gpc_position[g][n[g]++] = (uint16_t)i;
	}
}

void card_begin(unsigned sms)
{
	unsigned g;

	card_empty(sms);
	memset(slots, 0, sizeof(slots));
	for (g = 0; g < discovery()->gpcs; g++)
		memset(identity[g], 0, sizeof(identity[g]));
	memset(ids_used, 0, sizeof(ids_used));
	memset(ids_end, 0, sizeof(ids_end));
	memset(lmem_used, 0, sizeof(lmem_used));
	memset(lmem_unflushed, 0, sizeof(lmem_unflushed));
	memset(late_on, 0, sms * sizeof(late_on[0]));
	pooled = fetching = running_all = lmem_count = movers_seen = 0;
	order_gpcs();
}

/* ---- events under way ---- */

static void later(const struct tutti_event *event, int late_slot, uint64_t mover)
{
	RULE(pooled < POOL, "model", "more than %u events are under way", POOL);
	pool[pooled].event = *event;
	pool[pooled].late_slot = late_slot;
	pool[pooled++].mover = mover;
}

void card_later(const struct tutti_event *event)
{
	later(event, -1, 0);
}

unsigned card_fetching(void)
{
	return fetching;
}

unsigned card_resident(void)
{
	return running_all;
}

/* ---- commands ---- */

static uint64_t pair(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

static void take_fetch(const uint32_t *c)
{
	struct tutti_event event = {{TUTTI_EVENT_FETCH | (c[0] & 0xffff0000u)}};
	static const uint32_t zero[1024];
	const void *from = (c[1] & 0xffff) == TUTTI_ASID_BUS ? zero : memory_at(pair(c + 2), c[4]);

	RULE(c[4] && c[4] <= 4096 && c[4] % 4 == 0, "command", "FETCH of %u bytes", c[4]);
	if (from) {
		memcpy(hal_pointer(c[5]), from, c[4]);
	} else {
		event.word[0] |= TUTTI_CAUSE_UNMAPPED << 8;
		event.word[1] = c[2];
		event.word[2] = c[3];
	}
	fetching++;
	later(&event, -1, 0);
}

static void take_state(const struct tutti_task_state *state, const struct tutti_cga_shape *level,
		       unsigned number, bool split)
{
	struct slot *slot = &slots[number];
	struct job *job;

	RULE(number < w.slots, "command", "STATE of slot %u of %u", number, w.slots);
	job = rules_state(number, state, level, split);
	if (slot->running || slot->late || slot->killing)
		RULE(slot->job == job && !slot->killing && !split && !slot->split, "once (TSK-03)",
		     "STATE of %s for slot %u, which has %u CTAs of %s", job_name(job), number,
		     slot->running + slot->late, job_name(slot->job));
	else
		memset(slot->on, 0, w.sms * sizeof(slot->on[0]));
	slot->state = *state;
	memset(slot->level, 0, sizeof(slot->level));
	if (level)
		memcpy(slot->level, level, sizeof(slot->level));
	slot->job = job;
	slot->known = true;
	slot->pinned = slot->pinned && slot->running;
	slot->split = split;
	if (split)
		slot->state.waves = 1;
	slot->next = state->first;
	slot->staged = 0;
	fair_state(job);
}

static void take_task(const uint32_t *c)
{
	uint32_t words[sizeof(struct tutti_task_state) / 4] = {0};
	struct tutti_task_state state;
	const uint32_t *more = c + 5;

	if (c[0] >> 16 & 7)
		rules_fence((c[0] >> 16 & 3) | TUTTI_FENCE_ACQUIRE);
	memcpy(words, hal_pointer(c[1]), TUTTI_TASK_WORDS * 4);
	memcpy(&state, words, sizeof(state));
	state.asid = (uint16_t)c[2];
	state.queue = (uint16_t)(c[2] >> 16);
	state.packet = pair(c + 3);
	if (c[0] >> 16 & TUTTI_TASK_NEW_GRID) {
		state.grid_x = more[0];
		state.groups_x = more[1];
		more += 2;
	}
	if (c[0] >> 16 & TUTTI_TASK_NEW_KERNARG)
		state.kernarg = pair(more);
	take_state(&state, NULL, c[0] >> 24, false);
}

/* Number of the domain of @kind that a position lies in. */
static unsigned domain_of(unsigned kind, unsigned position)
{
	const struct tutti_sm_place *place = place_of(position);

	switch (kind) {
	case TUTTI_CGA_CPC:
		return place->gpc * 64u + place->cpc;
	case TUTTI_CGA_GPC:
		return place->gpc;
	case TUTTI_CGA_UGPU:
		return discovery()->gpc[place->gpc].ugpu;
	default:
		return 0;
	}
}

/* The parts of a CGA are launched one after another; each lies in one domain of its kind (CGA-01, CGA-02). */
static void check_domains(struct slot *slot, unsigned position)
{
	unsigned i, n = 1, at = slot->staged;

	for (i = 0; i < TUTTI_CGA_LEVELS && slot->level[i].kind; i++) {
		n *= slot->level[i].x * slot->level[i].y * slot->level[i].z;
		if (at % n == 0)
			slot->domain[i] = domain_of(slot->level[i].kind, position);
		else
			RULE(slot->domain[i] == domain_of(slot->level[i].kind, position), "domain (CGA-01)",
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

static void start(unsigned number, unsigned position)
{
	struct slot *slot = &slots[number];

	RULE(position < w.sms, "command", "LAUNCH on SM %u of %u", position, w.sms);
	rules_launch(slot->job, slot->split, position);
	RULE(!(w.off[card_order[position] / 32] >> (card_order[position] % 32) & 1) ||
		 (int32_t)(hal_host.engines.command_head - w.off_since[card_order[position]]) < 0,
	     "disabled (CGA-04)", "%s on SM %u, which is disabled", job_name(slot->job), position);
	RULE(card_put(&slot->state, number, position), "room (RES-05)",
	     "SM %u is over-booked by %s: %u CTAs there", position, job_name(slot->job),
	     card_sm[position].ctas);
	if (w.cap)
		RULE(card_sm[position].ctas <= w.cap, "cap (CGA-04)", "SM %u has %u CTAs, the cap is %u",
		     position, card_sm[position].ctas, w.cap);
	slot->on[position]++;
	slot->running++;
	slot->next++;
	slot->job->running += !slot->split;
	slot->job->told++;
	running_all++;
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
			RULE(lmem < LMEM_SLOTS && !lmem_used[lmem], "lmem (CGA-28)",
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

static void launch_cga(const uint32_t *c, unsigned words)
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
					    it ? gpc_position[gpc][b] : 32 * ((c[i] >> 16 & 0xff) + j) + b;

					if (!(c[i + 1 + j] >> b & 1))
						continue;
					check_domains(slot, position);
					start(number, position);
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

/* Items are given out in order, each once; fewer than the minimum only when time is up or none will come
 * (TSK-10). */
static void check_work(struct job *job, const uint32_t *c, unsigned ctas)
{
	const struct tutti_work_queue *q = &works[job->work_queue];
	struct work_model *m = &work_models[job->work_queue];
	const struct tutti_tmd *t = &tmds[job->tmd - 1];
	uint64_t first = pair(c + 1);

	RULE(first == m->given, "items (TSK-10)", "%s takes item %lu, the next is %lu", job_name(job), first,
	     m->given);
	RULE(c[3] && c[3] <= t->coalesce_max, "items (TSK-10)", "%s takes %u items, at most %u",
	     job_name(job), c[3], t->coalesce_max);
	RULE(first + (uint64_t)ctas * c[3] <= q->write_index, "items (TSK-10)",
	     "%s takes items that are not there", job_name(job));
	if (c[3] < t->coalesce_min)
		RULE(q->closed || hal_host.time >= m->since + 1000ull * t->coalesce_us, "coalescing (TSK-10)",
		     "%s gets %u items of at least %u before its time", job_name(job), c[3], t->coalesce_min);
	m->given = first + (uint64_t)ctas * c[3];
}

static void take_launch(const uint32_t *c, unsigned words)
{
	unsigned number = c[0] >> 16 & 0xff, i = 1, j, b, r, n = 0;
	struct slot *slot = &slots[number % SLOTS];
	struct job *job = slot->job;
	uint32_t before = slot->running;

	RULE(number < w.slots && slot->known && !slot->killing, "command",
	     "LAUNCH for slot %u, which has no task", number);
	RULE(words > 1, "command", "LAUNCH of nothing");
	if (c[0] >> 24 & TUTTI_LAUNCH_CGA) {
		launch_cga(c, words);
	} else {
		RULE(!slot->level[0].kind, "command", "CTAs of %s without their CGA", job_name(job));
		if (c[0] >> 24 & TUTTI_LAUNCH_WORK)
			i += 3;
		RULE(!!(c[0] >> 24 & TUTTI_LAUNCH_WORK) == job->work, "command", "LAUNCH of %s: items?",
		     job_name(job));
		for (; i < words; i += 1 + (c[i] >> 24)) {
			RULE((c[i] & 0xffff) && c[i] >> 24 && i + (c[i] >> 24) < words, "command",
			     "segment %08x", c[i]);
			for (r = 0; r < (c[i] & 0xffff); r++)
				for (j = 0; j < c[i] >> 24; j++)
					for (b = 0; b < 32; b++)
						if (c[i + 1 + j] >> b & 1) {
							start(number, 32 * ((c[i] >> 16 & 0xff) + j) + b);
							n++;
						}
		}
		if (job->work)
			check_work(job, c, n);
	}
	TRACE("    launch %s: %u CTAs\n", job_name(job), slot->running - before);
	fair_launched(job, slot->running - before);
}

/* A flush is asked for once, when the last CTA has ended, of exactly the SMs that ran one (CGA-26). */
static void take_flush(const uint32_t *c)
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
			later(
			    &(struct tutti_event){{TUTTI_EVENT_FLUSHED | gpc << 8 | what << 16, c[1], part}},
			    -1, 0);
	}
}

static void killed_if_empty(unsigned number)
{
	struct slot *slot = &slots[number];

	if (!slot->killing || slot->running || slot->late)
		return;
	slot->killing = slot->known = slot->pinned = false;
	later(&(struct tutti_event){{TUTTI_EVENT_KILLED | number << 8, ~0u}}, (int)number, 0);
}

static void take_kill(unsigned number)
{
	struct slot *slot = &slots[number % SLOTS];

	RULE(number < w.slots && !slot->killing && slot->job, "command", "KILL of slot %u", number);
	slot->killing = true;
	TRACE("    kill %s\n", job_name(slot->job));
	rules_killed(slot->job);
	killed_if_empty(number);
}

/* Shared memory of SMs: they must be empty (TSK-07). */
static void take_throttle(const uint32_t *c)
{
	unsigned i;

	for (i = 0; i < w.sms; i++) {
		RULE(!card_sm[i].ctas, "throttle (TSK-07)",
		     "the shared memory of SM %u is divided anew while %u CTAs are there", i,
		     card_sm[i].ctas);
		card_sm[i].shared_blocks = CARD_SHARED_USUAL;
		if (c[0] >> 16 & 1)
			card_sm[i].shared_blocks = c[2 + i / 32] >> (i % 32) & 1 ? c[1] : 0;
		card_show(i);
	}
	TRACE("    throttle %s: %u blocks\n", c[0] >> 16 & 1 ? "on" : "off", c[1]);
	later(&(struct tutti_event){{TUTTI_EVENT_THROTTLE | (c[0] >> 16 & 1) << 8}}, -1, 0);
}

static void take_order(const uint32_t *c, unsigned words)
{
	RULE(!running_all, "command", "ORDER while CTAs run");
	card_reorder(c, words);
	order_gpcs();
}

static void take_reply(const uint32_t *c)
{
	struct job *child = &w.job[c[1] % JOBS];

	RULE(child->child && child->parent, "command", "REPLY to %x", c[1]);
	if (child->parent->children)
		child->parent->children--;
	if (c[2] && child->life == WAITING)
		job_over(child, LOST);
}

static void take(const uint32_t *c, unsigned words)
{
	static const uint8_t lengths[] = {0, 1, 6, 6, 5, 4, 1, 0, 0, 1, 5, 5, 0, 3, 3, 0, 4, 1, 0};
	unsigned op = c[0] & 0xff;

	RULE(op < sizeof(lengths) && (!lengths[op] || words == lengths[op]), "command",
	     "command %u of %u words", op, words);
	switch (op) {
	case TUTTI_CMD_FENCE:
		rules_fence(c[0] >> 16);
		break;
	case TUTTI_CMD_FETCH:
		take_fetch(c);
		break;
	case TUTTI_CMD_WRITE:
		rules_write(c[1] & 0xffff, c[1] >> 16, pair(c + 2), pair(c + 4));
		break;
	case TUTTI_CMD_SCRUB:
		rules_scrub(c[1] >> 16, pair(c + 2), c[4], c[0] >> 16 & 1);
		break;
	case TUTTI_CMD_SIGNAL:
		rules_signal(pair(c + 2), c[1], c[0] >> 16 & TUTTI_SIGNAL_CANCEL);
		break;
	case TUTTI_CMD_STATE:
		RULE(words >= 25, "command", "STATE of %u words", words);
		take_state((const void *)(c + 1),
			   c[0] >> 16 & TUTTI_STATE_CGA ? (const void *)(c + 25) : NULL, c[0] >> 24,
			   c[0] >> 16 & TUTTI_STATE_SPLIT);
		break;
	case TUTTI_CMD_TASK:
		take_task(c);
		break;
	case TUTTI_CMD_LAUNCH:
		take_launch(c, words);
		break;
	case TUTTI_CMD_KILL:
		take_kill(c[0] >> 16);
		break;
	case TUTTI_CMD_FLUSH:
		take_flush(c);
		break;
	case TUTTI_CMD_THROTTLE:
		take_throttle(c);
		break;
	case TUTTI_CMD_ORDER:
		take_order(c, words);
		break;
	case TUTTI_CMD_SM_MODE:
		card_mode(c[0] >> 16);
		break;
	case TUTTI_CMD_REPLY:
		take_reply(c);
		break;
	default:
		break;
	}
}

static void take_movers(void)
{
	const struct tutti_mover *ring = hal_pointer(hal_host.engines.mover_base);

	for (; movers_seen != hal_host.engines.mover_tail; movers_seen++) {
		const struct tutti_mover *m = &ring[movers_seen % hal_host.engines.mover_slots];

		rules_mover(m);
		later(&(struct tutti_event){{TUTTI_EVENT_MOVER | (uint32_t)m->tag << 16}}, -1, m->global);
	}
	hal_host.engines.mover_head = movers_seen;
}

/* The ring of commands, read by the contract alone: a record never wraps, and never more is written than was
 * free. */
void card_take_commands(void)
{
	struct tutti_engines *e = &hal_host.engines;
	const uint32_t *ring = hal_pointer(e->command_base);
	bool some = w.stall;
	unsigned words, at;

	while (e->command_head != e->command_tail) {
		if (some && (w.stall > 1 || roll(8)))
			break;
		at = e->command_head & (e->command_words - 1);
		words = (ring[at] & 0xff) == TUTTI_CMD_NOP ? ring[at] >> 8 : ring[at] >> 8 & 0xff;
		RULE(words && at + words <= e->command_words, "command", "record %08x at word %u of the ring",
		     ring[at], at);
		RULE(words <= e->command_tail - e->command_head, "command",
		     "record %08x ends behind the tail", ring[at]);
		w.now++;
		if ((ring[at] & 0xff) != TUTTI_CMD_NOP)
			take(ring + at, words);
		e->command_head += words;
	}
	if (!w.stall)
		take_movers();
}

/* ---- what happens on the SMs ---- */

static void gone(struct slot *slot, unsigned number, unsigned position)
{
	card_remove(&slot->state, number, position);
	slot->on[position]--;
	slot->running--;
	slot->job->running -= !slot->split;
	running_all--;
}

/* CTAs of @slot that may end now. */
static uint32_t may_end(const struct slot *slot)
{
	uint32_t keep;

	if (slot->killing)
		return slot->running;
	if (slot->job->hold && !w.draining)
		return 0;
	keep = slot->pinned + (slot->split ? 0 : slot->job->children);
	return slot->running > keep ? slot->running - keep : 0;
}

static void ended(struct slot *slot, const struct tutti_event *event)
{
	slot->late++;
	rules_ended(slot->job);
	later(event, (int)(slot - slots), 0);
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
	left = may_end(slot);
	event.word[0] |= it->slot << 8;
	for (b = 0; b < 32; b++)
		if (it->on[b] && event.word[2] < left && (roll(2) || !event.word[2])) {
			it->on[b]--;
			it->running--;
			late_on[gpc_position[gpc][b]]++;
			gone(slot, it->slot, gpc_position[gpc][b]);
			event.word[2]++;
			event.word[3] |= 1u << b;
		}
	if (!event.word[2])
		return false;
	ended(slot, &event);
	return true;
}

/* As one event can tell it: the same number on each SM of up to five mask words. */
static bool end_plain(unsigned number)
{
	struct slot *slot = &slots[number];
	unsigned sm, first, n, i, repeat = 1;
	uint32_t left = may_end(slot), total = 0;
	struct tutti_event event = {{0}};
	bool many = !w.stall && roll(2);

	if (!left || (slot->level[0].kind && (slot->level[0].kind <= TUTTI_CGA_GPC || slot->staged)))
		return false;
	for (sm = roll(w.sms); !slot->on[sm]; sm = (sm + 1) % w.sms)
		;
	first = sm / 32;
	n = many ? 1 + roll(5) : 1;
	if (n > (w.sms + 31) / 32 - first)
		n = (w.sms + 31) / 32 - first;
	if (many && left >= slot->on[sm])
		repeat = 1 + roll(slot->on[sm]);
	event.word[0] = TUTTI_EVENT_CTA | number << 8 | first << 16 | n << 24;
	event.word[1] = repeat;
	for (i = 32 * first; i < 32 * (first + n) && i < w.sms; i++)
		if ((i == sm || (many && roll(4))) && slot->on[i] >= repeat && total + repeat <= left) {
			event.word[3 + i / 32 - first] |= 1u << (i % 32);
			total += repeat;
			late_on[i] += (uint16_t)repeat;
			for (unsigned k = 0; k < repeat; k++)
				gone(slot, number, i);
		}
	event.word[2] = total;
	ended(slot, &event);
	return true;
}

static bool end_some(void)
{
	unsigned gpcs = discovery()->gpcs, gpc = roll(gpcs), id = roll(IDS), number = roll(SLOTS), i, g;

	if (!running_all)
		return false;
	for (g = 0; g < gpcs; g++, gpc = (gpc + 1) % gpcs)
		for (i = 0; ids_used[gpc] && i < ids_end[gpc]; i++)
			if (end_cga(gpc, (id + i) % ids_end[gpc]))
				return true;
	for (i = 0; i < SLOTS; i++, number = (number + 1) % SLOTS)
		if (slots[number].running && end_plain(number))
			return true;
	return false;
}

/* A wave of some kernel does something it may not. */
void card_fault(void)
{
	unsigned number = roll(SLOTS), i, sm;

	for (i = 0; i < SLOTS; i++, number = (number + 1) % SLOTS) {
		struct slot *slot = &slots[number];

		if (!slot->running || slot->killing || slot->pinned || slot->split)
			continue;
		for (sm = 0; !slot->on[sm]; sm++)
			;
		slot->pinned = slot->job->faulted = true;
		feature_on(F_FAULT);
		TRACE("  fault of %s\n", job_name(slot->job));
		later(&(struct tutti_event){{TUTTI_EVENT_FAULT | number << 8 | TUTTI_CAUSE_ILLEGAL << 16, sm,
					     0x1234, 0, 0, 0, TUTTI_ENGINE_WAVE}},
		      -1, 0);
		return;
	}
}

static void ask_for_child(void)
{
	unsigned number = roll(SLOTS);
	struct slot *slot = &slots[number];
	uint64_t address;

	if (!features_has(&w.scenario.allowed, F_CHILD) || !slot->running || slot->killing || slot->pinned ||
	    slot->split || slot->level[0].kind || slot->job->hold || slot->job->cancelled ||
	    !(w.program[slot->job->queue].flags & TUTTI_QUEUE_EXTENDED) ||
	    w.program[slot->job->queue].dying || slot->running <= slot->job->children)
		return;
	address = child_make(slot->job);
	if (!address)
		return;
	slot->job->children++;
	TRACE("  child %s of %s\n", job_name(&w.job[w.jobs - 1]), job_name(slot->job));
	later(&(struct tutti_event){{TUTTI_EVENT_REQUEST | number << 8 | TUTTI_SERVICE_TASK << 16, w.jobs - 1,
				     0, (uint32_t)address, (uint32_t)(address >> 32)}},
	      -1, 0);
}

/* ---- delivery ---- */

static void told(unsigned number, const struct tutti_event *event)
{
	struct slot *slot = &slots[number];
	unsigned i, n = event->word[0] >> 24;

	slot->late--;
	slot->job->told -= event->word[2];
	if ((event->word[0] & 0xff) == TUTTI_EVENT_CGA) {
		for (i = 0; i < 32; i++)
			if (event->word[3] >> i & 1)
				late_on[gpc_position[event->word[0] >> 16 & 0xff][i]]--;
		return;
	}
	for (i = 0; i < 32 * n; i++)
		if (event->word[3 + i / 32] >> (i % 32) & 1)
			late_on[32 * (event->word[0] >> 16 & 0xff) + i] -= (uint16_t)event->word[1];
}

static void flushed(const struct tutti_event *event)
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

void card_event(const struct tutti_event *event)
{
	w.now++;
	hal_host.time += roll(300);
	firmware_visit(event);
	card_take_commands();
	fair_visit();
	if (w.stall && !--w.stall)
		feature_off(F_STALL);
	driver_read();
}

static void deliver(unsigned i)
{
	struct tutti_event event = pool[i].event;
	int number = pool[i].late_slot;
	unsigned type = event.word[0] & 0xff;
	uint64_t mover = pool[i].mover;

	memmove(&pool[i], &pool[i + 1], (--pooled - i) * sizeof(pool[0]));
	fetching -= type == TUTTI_EVENT_FETCH;
	if (type == TUTTI_EVENT_FAULT && (!slots[event.word[0] >> 8 & 0xff].pinned))
		return; /* killed meanwhile */
	if (type == TUTTI_EVENT_FLUSHED)
		flushed(&event);
	if (type == TUTTI_EVENT_CTA || type == TUTTI_EVENT_CGA) {
		told((unsigned)number, &event);
		rules_ended(slots[number].job);
	}
	if (type == TUTTI_EVENT_MOVER)
		rules_moved(mover);
	card_event(&event);
	if (type == TUTTI_EVENT_CTA || type == TUTTI_EVENT_CGA)
		killed_if_empty((unsigned)number);
}

/* The timer the firmware has set: when nothing else happens time passes until then. */
void card_timer(void)
{
	struct tutti_engines *e = &hal_host.engines;
	uint64_t at = e->timer_lo | (uint64_t)e->timer_hi << 32;

	if (e->timer_hi == TUTTI_TIMER_OFF)
		return;
	if (hal_host.time < at)
		hal_host.time = at;
	e->timer_hi = TUTTI_TIMER_OFF;
	card_event(&(struct tutti_event){{TUTTI_EVENT_TIMER}});
}

static bool timer_due(void)
{
	const struct tutti_engines *e = &hal_host.engines;

	return e->timer_hi != TUTTI_TIMER_OFF && hal_host.time >= (e->timer_lo | (uint64_t)e->timer_hi << 32);
}

bool card_step(void)
{
	if (timer_due()) {
		card_timer();
		return true;
	}
	if (!roll(12))
		ask_for_child();
	if (pooled && roll(4)) {
		deliver(w.in_order ? 0 : roll(pooled));
		return true;
	}
	if (end_some())
		return true;
	if (pooled) {
		deliver(w.in_order ? 0 : roll(pooled));
		return true;
	}
	if (hal_host.engines.command_head != hal_host.engines.command_tail) {
		w.stall = 0;
		feature_off(F_STALL);
		card_take_commands();
		return true;
	}
	return false;
}

bool card_quiet(void)
{
	return !pooled && hal_host.engines.command_head == hal_host.engines.command_tail;
}

/* ---- what fits ---- */

static void state_of(const struct job *job, struct tutti_task_state *state)
{
	*state = (struct tutti_task_state){.waves = job->waves,
					   .scalar_blocks = job->scalar,
					   .vector_blocks = job->vector,
					   .shared_blocks = job->shared,
					   .barriers = job->barriers};
}

bool card_sm_open(const struct job *job, unsigned position)
{
	unsigned sm = card_order[position];

	return !(w.off[sm / 32] >> (sm % 32) & 1) && (!job->mask || job->mask[sm / 32] >> (sm % 32) & 1);
}

/* How many CTAs of @job fit an SM beside what is there: by trying. */
static unsigned room_on(const struct job *job, unsigned position, unsigned enough)
{
	static struct card_sm kept;
	static struct tutti_sm_state shown;
	struct tutti_task_state state;
	unsigned n = 0;

	if (card_sm[position].ctas == 32 ||
	    card_sm[position].shared_blocks - card_sm[position].shared_used < job->shared)
		return 0;
	kept = card_sm[position];
	shown = hal_host.sms[card_order[position]];
	state_of(job, &state);
	while (n < enough && (!w.cap || card_sm[position].ctas < w.cap) && card_put(&state, SLOTS, position))
		n++;
	card_sm[position] = kept;
	hal_host.sms[card_order[position]] = shown;
	return n;
}

/*
 * It fits for sure: an SM that is empty, or one with room for two. Where free blocks lie in pieces a search
 * for the largest run may say no although the pieces would do (RES-01).
 */
unsigned card_room(const struct job *job, unsigned position)
{
	return room_on(job, position, 2) > !!card_sm[position].ctas;
}

/* A CGA of one level inside a CPC or GPC. */
static bool cga_fits(const struct job *job)
{
	static uint16_t free_in[TUTTI_MAX_GPCS * 64];
	unsigned i, d, kind = job->cga[0].kind;

	if (kind > TUTTI_CGA_GPC || job->cga[1].kind || lmem_count > LMEM_SLOTS / 2)
		return false;
	memset(free_in, 0, sizeof(free_in));
	for (i = 0; i < w.sms; i++) {
		d = domain_of(kind, i);
		if (!card_sm_open(job, i) || late_on[i] ||
		    ids_used[place_of(i)->gpc] >= discovery()->gpc[place_of(i)->gpc].sms / 2)
			continue;
		free_in[d] = (uint16_t)(free_in[d] +
					(card_sm[i].ctas ? card_room(job, i)
							 : room_on(job, i, job->multicast ? 1 : job->whole)));
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
		if (card_sm_open(job, i) && !late_on[i])
			n += card_room(job, i);
	return n;
}

/* SPDX-License-Identifier: MIT */
/*
 * A card whose CTAs end in any order, with and without CGAs, and kernels for it by packets. Whatever the firmware may
 * not do fails at once.
 */
#ifndef TUTTI_TEST_FW_LIFE_H
#define TUTTI_TEST_FW_LIFE_H

#include "fw_card.h"

#include "groups/cga.h"
#include "top/host_channel.h"
#include "top/main.h"

#define QUEUES 5u
#define RING 64u
#define KERNELS 12u
#define KERNEL_AT 0x2130000000ull
#define SIGNAL_AT 0x3240000000ull
#define POOL 8192u
#define GPCS 64u
#define IDS 256u

static union tutti_packet ring[QUEUES][RING];
static uint64_t written[QUEUES];
static struct tutti_kernel_descriptor descriptor[KERNELS];
static unsigned signalled[QUEUES * 4096u], submitted;
static struct tutti_event pool[POOL];
static unsigned pooled, faulted, cgas_started, mixed_in, errors;

/* What the card knows of a CGA id. */
static struct identity {
	bool used, staged, flushing;
	unsigned slot, running;
	uint32_t ran, unflushed, lmem;
	uint8_t on[32];
} identity[GPCS][IDS];
static bool lmem_used[CGA_IDS_LMEM_SLOTS];
static uint32_t lmem_unflushed[CGA_IDS_LMEM_SLOTS];

static struct task_model {
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	unsigned sequence, staged;  /* of the CGA being launched, and its CTAs so far */
	uint64_t groups;
	bool pinned;
} model[CARD_SLOTS];

/* For tests that know more about the tasks than their packets say; any may be NULL. */
static struct {
	void *(*user)(uint64_t address);
	void (*state)(unsigned slot, const struct tutti_task_state *state);
	void (*started)(unsigned slot, unsigned sm);
	void (*ended)(unsigned slot, unsigned n);
	void (*signal)(uint64_t address, bool cancelled);
} hook;
static unsigned always_extended; /* queues; else every other one */
static unsigned acquired, released; /* fences, by all commands; counted by tests that ask */
static uint16_t header_bits;     /* of all packets, such as the barrier bit */

static void later(const struct tutti_event *event)
{
	assert_true(pooled < POOL);
	pool[pooled++] = *event;
}

static const struct tutti_discovery *discovery(void)
{
	return (const void *)hal_host.window;
}

static void *user(uint64_t address)
{
	if (address >= RIG_RING && address < RIG_RING + QUEUES * 4096)
		return (uint8_t *)ring + (address - RIG_RING);
	if (hook.user && (address < KERNEL_AT || address >= KERNEL_AT + sizeof(descriptor)))
		return hook.user(address);
	assert_true(address >= KERNEL_AT && address < KERNEL_AT + sizeof(descriptor));
	return (uint8_t *)descriptor + (address - KERNEL_AT);
}

static void take_fetch(const uint32_t *w)
{
	struct tutti_event event = { { TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u) } };

	if ((w[1] & 0xffff) != TUTTI_ASID_BUS) /* a mark that commands have been taken */
		memcpy(hal_pointer(w[5]), user(w[2] | (uint64_t)w[3] << 32), w[4]);
	later(&event);
}

/* SMs are told the size of the outermost CGA that lies in one GPC. */
static void check_identity(const struct tutti_task_state *state, const struct tutti_cga_shape *level)
{
	unsigned x = 1, y = 1, z = 1, i;

	for (i = 0; i < TUTTI_CGA_LEVELS && level[i].kind && level[i].kind <= TUTTI_CGA_GPC; i++) {
		x *= level[i].x;
		y *= level[i].y;
		z *= level[i].z;
	}
	assert_int_equal(state->cga_x, i ? x : 0);
	assert_int_equal(state->cga_y, i ? y : 0);
	assert_int_equal(state->cga_z, i ? z : 0);
}

static void take_state(const uint32_t *w, unsigned words)
{
	unsigned slot = w[0] >> 24;
	struct card_slot *s = &card_slot[slot];

	/* a task that was evicted or cancelled has left its slot without having ended */
	if (s->busy && (!hook.state || s->running || s->late || s->killing))
		fail_msg("slot %u is in use: %u CTAs, %u events late", slot, s->running, s->late);
	memset(s, 0, sizeof(*s));
	memset(&model[slot], 0, sizeof(model[slot]));
	memcpy(&s->state, w + 1, sizeof(s->state));
	s->busy = true;
	s->launched = s->state.first;
	if (hook.state)
		hook.state(slot, &s->state);
	s->groups = s->state.groups_x * s->state.groups_y * s->state.groups_z;
	if (w[0] >> 16 & TUTTI_STATE_CGA) {
		assert_int_equal(words, 1 + STATE_WORDS + sizeof(model[slot].level) / 4);
		memcpy(model[slot].level, w + 1 + STATE_WORDS, sizeof(model[slot].level));
		assert_true(model[slot].level[0].kind);
		check_identity(&s->state, model[slot].level);
	} else {
		assert_int_equal(s->state.cga_x, 0);
		assert_int_equal(words, 1 + STATE_WORDS);
	}
}

static unsigned outermost(const struct task_model *m)
{
	unsigned i, n = 1;

	for (i = 0; i < TUTTI_CGA_LEVELS && m->level[i].kind; i++)
		n *= m->level[i].x * m->level[i].y * m->level[i].z;
	return n;
}

static void start(unsigned slot, unsigned sm)
{
	if (!card_start(slot, sm))
		fail_msg("SM %u over-booked", sm);
	if (hook.started)
		hook.started(slot, sm);
}

static void take_launch_cga(const uint32_t *w, unsigned words)
{
	unsigned slot = w[0] >> 16 & 0xff, gpc = w[1] >> 24, id = w[1] >> 16 & 0xff, i, j, b, r;
	struct task_model *m = &model[slot];
	struct identity *it = gpc == TUTTI_GPC_NONE ? NULL : &identity[gpc][id];

	assert_true(m->level[0].kind);
	if (it) /* the entry lies 256 bytes behind the descriptor */
		assert_int_equal(!!(descriptor[(card_slot[slot].state.entry - 256 - KERNEL_AT) / 64].flags & TUTTI_KERNEL_LMEM),
				 w[2] != CGA_IDS_NO_LMEM);
	if (!m->staged)
		m->sequence = w[1] & 0xffff;
	assert_int_equal(w[1] & 0xffff, m->sequence);
	if (it) {
		assert_true(gpc < discovery()->gpcs && id < IDS);
		if (it->used && !it->staged)
			fail_msg("id %u of GPC %u given out again before its flush", id, gpc);
		if (!it->used) {
			*it = (struct identity){ .used = true, .staged = true, .slot = slot, .lmem = w[2] };
			if (w[2] != CGA_IDS_NO_LMEM) {
				assert_false(lmem_used[w[2]]);
				lmem_used[w[2]] = true;
			}
		}
		assert_int_equal(it->slot, slot);
	}
	for (i = 3; i < words; i += 1 + (w[i] >> 24))
		for (j = 0; j < w[i] >> 24; j++)
			for (b = 0; b < 32; b++)
				for (r = 0; w[i + 1 + j] >> b & 1 && r < (w[i] & 0xffff); r++) {
					m->staged++;
					if (it) {
						start(slot, discovery()->gpc[gpc].first_sm + b);
						it->on[b]++;
						it->running++;
						it->ran |= 1u << b;
					} else {
						start(slot, 32 * ((w[i] >> 16 & 0xff) + j) + b);
					}
				}
	if (!(w[0] >> 24 & TUTTI_LAUNCH_END_OF_CGA))
		return;
	/* all or nothing */
	assert_int_equal(m->staged, outermost(m));
	m->staged = 0;
	for (gpc = 0; gpc < GPCS; gpc++)
		for (id = 0; id < IDS; id++)
			if (identity[gpc][id].staged && identity[gpc][id].slot == slot)
				identity[gpc][id].staged = false;
	cgas_started++;
}

static void take_launch(const uint32_t *w, unsigned words)
{
	unsigned slot = w[0] >> 16 & 0xff, i, j, b, r;

	assert_true(card_slot[slot].busy);
	if (w[0] >> 24 & TUTTI_LAUNCH_CGA) {
		take_launch_cga(w, words);
	} else {
		assert_false(model[slot].level[0].kind);
		for (i = 1; i < words; i += 1 + (w[i] >> 24))
			for (j = 0; j < w[i] >> 24; j++)
				for (b = 0; b < 32; b++)
					for (r = 0; w[i + 1 + j] >> b & 1 && r < (w[i] & 0xffff); r++)
						start(slot, 32 * ((w[i] >> 16 & 0xff) + j) + b);
	}
	assert_true(card_slot[slot].launched <= card_slot[slot].groups);
}

/* A flush is asked for once, when the last CTA has ended, of exactly the SMs that ran one. */
static void take_flush(const uint32_t *w)
{
	unsigned gpc = w[0] >> 16 & 0xff, what = w[0] >> 24, i;
	uint32_t left = w[2];

	if (what == TUTTI_FLUSH_DSMEM) {
		struct identity *it = &identity[gpc][w[1]];

		assert_true(it->used && !it->running && !it->flushing);
		assert_int_equal(it->ran, w[2]);
		it->flushing = true;
		it->unflushed = w[2];
	} else {
		assert_true(lmem_used[w[1]] && !lmem_unflushed[w[1]]);
		lmem_unflushed[w[1]] = w[2];
	}
	for (i = 0; left; i++) {
		uint32_t part = i < 4 && roll(2) ? left & roll32() : left;

		left &= ~part;
		if (part)
			later(&(struct tutti_event){ { TUTTI_EVENT_FLUSHED | gpc << 8 | what << 16, w[1], part } });
	}
}

static void killed_if_empty(unsigned slot)
{
	if (card_slot[slot].killing && !card_slot[slot].running && !card_slot[slot].late) {
		later(&(struct tutti_event){ { TUTTI_EVENT_KILLED | slot << 8, ~0u } });
		card_slot[slot].killing = false;
	}
}

/* The SMs of the mask share all shared memory, or all SMs have their own again. */
static void take_throttle(const uint32_t *w)
{
	bool on = w[0] >> 16 & 1;
	unsigned i;

	for (i = 0; i < discovery()->sms; i++) {
		assert_int_equal(card_sm[i].ctas, 0);
		card_sm[i].shared_blocks = !on ? CARD_SHARED_USUAL : w[2 + i / 32] >> (i % 32) & 1 ? w[1] : 0;
		card_show(i);
	}
	later(&(struct tutti_event){ { TUTTI_EVENT_THROTTLE | (uint32_t)on << 8 } });
}

static void take_all(void)
{
	unsigned words;
	const uint32_t *w;

	while ((w = hal_host_command(&words)))
		switch (w[0] & 0xff) {
		case TUTTI_CMD_FETCH: take_fetch(w); break;
		case TUTTI_CMD_STATE: take_state(w, words); break;
		case TUTTI_CMD_LAUNCH: take_launch(w, words); break;
		case TUTTI_CMD_SM_MODE: card_mode(w[0] >> 16); break;
		case TUTTI_CMD_FLUSH: take_flush(w); break;
		case TUTTI_CMD_THROTTLE: take_throttle(w); break;
		case TUTTI_CMD_SIGNAL:
			if (hook.signal) {
				hook.signal(w[2] | (uint64_t)w[3] << 32, w[0] >> 16 & TUTTI_SIGNAL_CANCEL);
				break;
			}
			assert_int_equal(signalled[((w[2] | (uint64_t)w[3] << 32) - SIGNAL_AT) / 64]++, 0);
			break;
		case TUTTI_CMD_SCRUB:
			for (unsigned i = 0; i < w[4]; i++)
				((union tutti_packet *)user((w[2] | (uint64_t)w[3] << 32) + 64 * i))->dispatch.header =
					TUTTI_PACKET_INVALID;
			break;
		case TUTTI_CMD_WRITE:
			if (hook.user && (w[1] & 0xffff) != TUTTI_ASID_BUS && hook.user(w[2] | (uint64_t)w[3] << 32))
				memcpy(hook.user(w[2] | (uint64_t)w[3] << 32), w + 4, 8);
			break;
		case TUTTI_CMD_BLOCK:
			if (hook.user && hook.user(w[2] | (uint64_t)w[3] << 32))
				memcpy(hook.user(w[2] | (uint64_t)w[3] << 32), w + 4, 4 * (words - 4));
			break;
		case TUTTI_CMD_ORDER: card_reorder(w, words); break;
		case TUTTI_CMD_FENCE: *(w[0] >> 16 & TUTTI_FENCE_RELEASE ? &released : &acquired) += 1; break;
		case TUTTI_CMD_KILL:
			card_slot[w[0] >> 16 & 0xff].killing = true;
			killed_if_empty(w[0] >> 16 & 0xff);
			break;
		default: break;
		}
}

static bool all_taken(void)
{
	return hal_host.engines.command_head == hal_host.engines.command_tail;
}

/* At once; while the ring is nearly full only now and then, and then the firmware is woken when there is room. */
static void take_commands(void)
{
	unsigned i;

	if (hal_host_tight && roll(6))
		return;
	take_all();
	for (i = 0; hal_host_tight && (i < 4 || !all_taken()); i++) {
		if (attention.idle & ATTEND_CHANNEL)
			channel_event();
		main_settle();
		take_all();
	}
}

/* Some CTAs of one CGA end. */
static bool end_cga(unsigned gpc, unsigned id)
{
	struct identity *it = &identity[gpc][id];
	struct tutti_event event = { { TUTTI_EVENT_CGA | gpc << 16 | id << 24, 1 } };
	unsigned b;

	if (!it->running || it->staged || (model[it->slot].pinned && !card_slot[it->slot].killing))
		return false;
	event.word[0] |= it->slot << 8;
	for (b = 0; b < 32; b++)
		if (it->on[b] && (roll(2) || !event.word[2])) {
			it->on[b]--;
			it->running--;
			card_end(it->slot, discovery()->gpc[gpc].first_sm + b);
			event.word[2]++;
			event.word[3] |= 1u << b;
		}
	if (hook.ended)
		hook.ended(it->slot, event.word[2]);
	card_slot[it->slot].late++;
	later(&event);
	return true;
}

static void end_some(void)
{
	unsigned gpc = roll(discovery()->gpcs), id = roll(IDS), i, slot = roll(CARD_SLOTS);
	struct tutti_event event;

	if (hal_host_tight)
		take_commands();
	for (i = 0; i < IDS && !end_cga(gpc, (id + i) % IDS); i++)
		;
	for (i = 0; i < CARD_SLOTS; i++, slot = (slot + 1) % CARD_SLOTS)
		if (card_slot[slot].busy && (!model[slot].level[0].kind || model[slot].level[0].kind > TUTTI_CGA_GPC) &&
		    card_complete(slot, &event, roll(2))) {
			if (hook.ended)
				hook.ended(slot, event.word[2]);
			card_slot[slot].late++;
			later(&event);
			break;
		}
}

/* All CTAs of some CGA end at once, if no SM has several of them. */
static inline void end_whole(void)
{
	struct tutti_event event = { { TUTTI_EVENT_CGA, 1 } };
	unsigned gpc = roll(discovery()->gpcs), id = roll(IDS), i, b;
	struct identity *it = &identity[gpc][id];

	for (i = 0; i < IDS && (!it->running || it->staged); i++)
		it = &identity[gpc][id = (id + 1) % IDS];
	if (i == IDS)
		return;
	event.word[0] |= it->slot << 8 | gpc << 16 | id << 24;
	for (b = 0; b < 32; b++)
		if (it->on[b]) {
			it->on[b]--;
			it->running--;
			card_end(it->slot, discovery()->gpc[gpc].first_sm + b);
			event.word[2]++;
			event.word[3] |= 1u << b;
		}
	card_slot[it->slot].late++;
	later(&event);
}

static void deliver(unsigned i)
{
	struct tutti_event event = pool[i];
	unsigned slot = event.word[0] >> 8 & 0xff;

	pool[i] = pool[--pooled];
	switch (event.word[0] & 0xff) {
	case TUTTI_EVENT_CTA:
	case TUTTI_EVENT_CGA:
		card_slot[slot].late--;
		/* the firmware may use the slot again in the very event that ends its task */
		if (card_slot[slot].launched == card_slot[slot].groups && !card_slot[slot].running &&
		    !card_slot[slot].late && !card_slot[slot].killing)
			card_slot[slot].busy = false;
		break;
	case TUTTI_EVENT_KILLED:
		card_slot[slot].busy = false;
		break;
	case TUTTI_EVENT_FLUSHED:
		if (event.word[0] >> 16 & 0xff) {
			lmem_unflushed[event.word[1]] &= ~event.word[2];
			lmem_used[event.word[1]] = lmem_unflushed[event.word[1]];
		} else {
			struct identity *it = &identity[event.word[0] >> 8 & 0xff][event.word[1]];

			it->unflushed &= ~event.word[2];
			if (!it->unflushed)
				it->used = false;
		}
		break;
	}
	hal_host_event(&event);
	take_commands();
	if ((event.word[0] & 0xff) == TUTTI_EVENT_CTA || (event.word[0] & 0xff) == TUTTI_EVENT_CGA)
		killed_if_empty(slot);
}

static inline void deliver_all(void)
{
	while (pooled)
		deliver(0);
}

static void begin(const uint16_t *sms, unsigned gpcs)
{
	unsigned i, all = 0;

	hal_host_gpcs = gpcs;
	for (i = 0; i < gpcs; i++) {
		hal_host_gpc[i] = sms[i];
		all += sms[i];
	}
	memset(ring, 0, sizeof(ring));
	for (i = 0; i < QUEUES * RING; i++)
		ring[i / RING][i % RING].dispatch.header = TUTTI_PACKET_INVALID;
	memset(written, 0, sizeof(written));
	memset(identity, 0, sizeof(identity));
	memset(lmem_used, 0, sizeof(lmem_used));
	memset(lmem_unflushed, 0, sizeof(lmem_unflushed));
	memset(signalled, 0, sizeof(signalled));
	memset(model, 0, sizeof(model));
	pooled = submitted = faulted = cgas_started = mixed_in = errors = 0;
	card_reset(all);
	rig_boot(all, 4);
	hal_host_gpcs = 0;
	for (i = 0; i < QUEUES; i++)
		rig_queue(i, 4, always_extended || i & 1 ? TUTTI_QUEUE_EXTENDED : 0);
	for (i = 0; i < KERNELS; i++) {
		descriptor[i] = rig_descriptor();
		descriptor[i].group_bytes = 2048 * (1 + roll(16));
	}
}

static inline void cga_kernel(unsigned k, unsigned kind, unsigned x, unsigned y, unsigned z)
{
	descriptor[k].cga_kind = (uint8_t)kind;
	descriptor[k].cga[0] = (uint16_t)x;
	descriptor[k].cga[1] = (uint16_t)y;
	descriptor[k].cga[2] = (uint16_t)z;
}

/* Return: number of its signal. */
static inline unsigned submit(unsigned q, unsigned kernel, unsigned x, unsigned y, unsigned z)
{
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT + 64 * kernel);

	p.header |= header_bits;
	p.setup = 3;
	p.workgroup_x = 32;
	p.grid_x = 32 * x;
	p.grid_y = y;
	p.grid_z = z;
	p.signal = SIGNAL_AT + 64ull * ++submitted;
	ring[q][written[q] % RING].dispatch = p;
	hal_host.engines.pad0[0] = 0;
	written[q]++;
	rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
	take_commands();
	return submitted;
}

static bool quiet(void)
{
	unsigned i;

	for (i = 0; i < CARD_SLOTS; i++)
		if (card_slot[i].busy)
			return false;
	return !pooled;
}

static inline void run_down(void)
{
	unsigned i;

	for (i = 0; i < 400000 && !quiet(); i++)
		if (pooled && roll(4))
			deliver(roll(pooled));
		else
			end_some();
	assert_true(quiet());
}

/* Everything is as it was before the first kernel. */
static inline void check_idle(void)
{
	const struct shape *s;
	unsigned g, p;

	assert_int_equal(place_state.residents, 0);
	assert_int_equal(shapes.grouped_ctas, 0);
	assert_true(cga_ids_idle());
	assert_true(cga_ids_idle());
	assert_int_equal(cga_ids_lmem_free(), cga_ids_lmem_slots());
	for (g = 0; g < domains.gpcs; g++)
		assert_int_equal(domains.gpc[g].credits, domains.gpc[g].credits_all);
	domain_settle();
	for (s = shapes.shape; s < shapes.shape + shapes.shapes; s++)
		for (p = 0; p < fw.sms; p++)
			if (shapes.included[p / 32] >> (p % 32) & 1)
				assert_int_equal(lake_level(&s->lake, p), s->capacity);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The meaning of every packet, and the card that takes the firmware's commands: each is checked against that meaning
 * when it is taken, slowly or at once; answers wait in a pool and are delivered in any order.
 */
#ifndef TUTTI_TEST_FW_WORLD_H
#define TUTTI_TEST_FW_WORLD_H

#include "fw_card.h"

#define QUEUES 6u
#define RING 64u
#define ENTRIES 512u /* packets a queue may see in one life */
#define ASID 4u
#define RING_AT 0x1010000000ull
#define INDEX_AT 0x1020000000ull
#define KERNEL_AT 0x2130000000ull
#define SIGNAL_AT 0x3240000000ull
#define FILL_AT 0x100000000000ull
#define KERNELS 24u
#define SIGNALS 40000u
#define POOL 4096u

enum kind { DISPATCH, CONDENSED, BARRIER_AND, BARRIER_OR, AGENT_NOP, AGENT_FILL };
enum life { WAITING, RUNNING, DONE, FAILED, LOST };

struct kern {
	uint64_t kernarg, finished;
	uint32_t signal, groups, grid_x;
	uint8_t acquire, release, life, shape;
	bool barrier, faulted;
	bool evicted;         /* its slot was taken by another; goes on at CTA @resume */
	uint32_t resume;
};

struct entry {
	enum kind kind;
	bool bad, reference, published;
	uint32_t first_word;
	uint32_t errors;   /* codes it may be refused with */
	uint8_t n, started, open, widest;
	uint8_t acquire, release;
	bool barrier, moved, skipped;
	bool late;         /* accepted when no slot was free: starts after others behind it */
	uint32_t signal, dependency[5];
	uint64_t since, last; /* published, last kernel finished */
	struct kern k[TUTTI_CONDENSED_KERNELS];
};

struct model {
	unsigned id, flags;
	bool alive, stopped, asked, resetting, again;
	uint64_t write, next, read, last; /* indices; when its last kernel finished */
	unsigned open;
	union tutti_packet ring[RING];
	struct entry entry[ENTRIES];
	struct { struct kern k; bool valid; } reference[TUTTI_REFERENCES];
	union tutti_packet same; /* a condensed packet that names no signal and can be sent again */
	bool again_ok;
};

static struct model model[QUEUES];
static struct tutti_kernel_descriptor descriptor[KERNELS];
static struct tutti_signal signals[SIGNALS];
static struct { struct kern *kern; struct entry *entry; struct model *queue; } owner[SIGNALS];
static unsigned signals_used;
static uint64_t now, fence[2][3]; /* when the last acquire, release of each scope was done */
static struct { struct tutti_event event; int slot; struct model *queue; struct entry *mover; } pool[POOL];
static unsigned pooled, seen_movers;
static uint32_t disabled[TUTTI_MAX_SMS / 32];
static unsigned cap, lost, failures, launches, evictions;
static bool suspended;

static inline void world_reset(unsigned sms)
{
	card_reset(sms);
	memset(model, 0, sizeof(model));
	memset(fence, 0, sizeof(fence));
	memset(disabled, 0, sizeof(disabled));
	now = 1;
	signals_used = 1;
	pooled = seen_movers = cap = 0;
	suspended = false;
}

static void later(const struct tutti_event *event, int slot)
{
	assert_true(pooled < POOL);
	pool[pooled].event = *event;
	pool[pooled].mover = NULL;
	pool[pooled++].slot = slot;
}

/* ---- what user memory holds ---- */

static uint8_t *user(uint64_t address, uint32_t bytes)
{
	if (address >= RING_AT && address + bytes <= RING_AT + QUEUES * 4096ull)
		return (uint8_t *)model[(address - RING_AT) / 4096].ring + (address - RING_AT) % 4096;
	if (address >= KERNEL_AT && address + bytes <= KERNEL_AT + sizeof(descriptor))
		return (uint8_t *)descriptor + (address - KERNEL_AT);
	if (address >= SIGNAL_AT && address + bytes <= SIGNAL_AT + sizeof(signals))
		return (uint8_t *)signals + (address - SIGNAL_AT);
	return NULL;
}

static uint64_t address_in(const uint32_t *w)
{
	return w[2] | (uint64_t)w[3] << 32;
}

/* ---- commands ---- */

static void take_fetch(const uint32_t *w)
{
	struct tutti_event event = { { TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u) } };
	static uint32_t zero[1024];
	uint8_t *from = (w[1] & 0xffff) == TUTTI_ASID_BUS ? (uint8_t *)zero : user(address_in(w), w[4]);

	assert_true(w[4] && w[4] <= 4096 && w[4] % 4 == 0);
	if (from) {
		memcpy(hal_pointer(w[5]), from, w[4]);
	} else {
		event.word[0] |= TUTTI_CAUSE_UNMAPPED << 8;
		event.word[1] = w[2];
		event.word[2] = w[3];
	}
	later(&event, -1);
}

static bool entry_done(const struct entry *e)
{
	unsigned i;

	for (i = 0; i < e->n; i++)
		if (e->k[i].life == WAITING || e->k[i].life == RUNNING)
			return false;
	return true;
}

static void taken(struct model *q)
{
	q->next++;
}

static uint64_t full; /* when all slots were in use last */

static void note_full(void)
{
	unsigned i = 0;

	while (i < CARD_SLOTS && card_slot[i].busy)
		i++;
	if (i == CARD_SLOTS)
		full = now;
}

static inline unsigned late(const struct model *q, uint64_t before)
{
	uint64_t i;
	unsigned n = 0;

	for (i = before > ENTRIES ? before - ENTRIES : 0; i < before; i++)
		n += q->entry[i % ENTRIES].late;
	return n;
}

/* Kernels of packets before @packet that run; one without a slot may start when others behind it run. */
static inline unsigned open_before(const struct model *q, uint64_t packet)
{
	uint64_t i;
	unsigned n = 0;

	for (i = packet > ENTRIES ? packet - ENTRIES : 0; i < packet; i++)
		n += q->entry[i % ENTRIES].open + (q->entry[i % ENTRIES].moved && !q->entry[i % ENTRIES].last);
	return n;
}

/*
 * Packets before @packet have been taken. Of a mover's no command tells; kernels for which there was no slot start
 * later (TSK-02).
 */
static void pass(struct model *q, uint64_t packet)
{
	note_full();
	while (q->next < packet) {
		struct entry *e = &q->entry[q->next % ENTRIES];

		if (e->kind == DISPATCH || e->kind == CONDENSED) {
			assert_true(!e->bad && e->published && full >= e->since);
			e->late = e->started < e->n && e->k[e->started].life == WAITING;
		} else if (!e->moved) {
			fail_msg("queue %u: packet %lu (%u) before packet %lu (%u)", q->id, packet,
				 q->entry[packet % ENTRIES].kind, q->next, e->kind);
		}
		taken(q);
	}
}

/* A slot that is given to another without having ended: its task was evicted (TSK-03). */
static void evict(struct card_slot *slot)
{
	struct kern *k = slot->owner;

	assert_true(!slot->running && !slot->killing && slot->launched < slot->groups);
	note_full();
	k->evicted = true;
	k->resume = slot->launched;
	slot->busy = false;
	evictions++;
}

/* The kernel a STATE is for: one that was evicted, or the next of its packet. */
static struct kern *kern_of(struct entry *e, const struct tutti_task_state *s)
{
	unsigned i, j;

	for (i = 0; i < e->started; i++) {
		struct kern *k = &e->k[i];

		for (j = 0; j < CARD_SLOTS && k->life == RUNNING && !k->evicted && (s->first || e->started == e->n); j++)
			if (card_slot[j].busy && card_slot[j].owner == k && !card_slot[j].running &&
			    card_slot[j].launched == s->first && k->kernarg == s->kernarg && k->grid_x == s->grid_x)
				evict(&card_slot[j]);
		if (k->evicted && k->resume == s->first && k->kernarg == s->kernarg && k->grid_x == s->grid_x)
			return k;
	}
	assert_true(e->started < e->n);
	return &e->k[e->started];
}

static void go_on(struct card_slot *slot, const struct tutti_task_state *s, struct kern *k)
{
	assert_int_equal(k->life, RUNNING);
	k->evicted = false;
	memset(slot, 0, sizeof(*slot));
	slot->state = *s;
	slot->busy = true;
	slot->groups = k->groups;
	slot->launched = k->resume;
	slot->owner = k;
	note_full();
}

static void take_state(const uint32_t *w)
{
	struct card_slot *slot = &card_slot[w[0] >> 24];
	struct tutti_task_state s;
	struct model *q;
	struct entry *e;
	struct kern *k;
	uint64_t since;

	assert_true(w[0] >> 24 < CARD_SLOTS);
	if (slot->busy)
		evict(slot);
	memcpy(&s, w + 1, sizeof(s));
	q = &model[s.queue];
	assert_true(q->alive && s.asid == ASID && !suspended);
	pass(q, s.packet);
	e = &q->entry[s.packet % ENTRIES];
	assert_true(e->published && !e->bad && (e->kind == DISPATCH || e->kind == CONDENSED));
	k = kern_of(e, &s);
	if (k->evicted) {
		go_on(slot, &s, k);
		return;
	}
	assert_true(s.packet == q->next || e->late);
	assert_int_equal(k->life, WAITING);
	assert_int_equal(s.kernarg, k->kernarg);
	assert_int_equal(s.grid_x, k->grid_x);
	assert_int_equal((uint64_t)s.groups_x * s.groups_y * s.groups_z, k->groups);
	assert_int_equal(s.first, 0);
	since = e->since;
	if (k->barrier) {
		assert_int_equal(open_before(q, s.packet) + late(q, s.packet), 0);
		since = q->last > since ? q->last : since;
	}
	if (e->kind == CONDENSED && !(q->flags & TUTTI_QUEUE_OVERLAP)) {
		assert_int_equal(e->open, 0);
		since = e->last > since ? e->last : since;
	}
	if (k->acquire) /* the fence of an earlier kernel does not do */
		assert_true(fence[0][k->acquire] > since);
	k->life = RUNNING;
	q->open++;
	e->open++;
	if (++e->started == e->n) {
		if (!e->late)
			taken(q);
		e->late = false;
	}
	memset(slot, 0, sizeof(*slot));
	slot->state = s;
	slot->busy = true;
	slot->groups = k->groups;
	slot->owner = k;
	note_full();
	fence[0][1] = fence[0][2] = fence[0][0]; /* each kernel its own */
}

static void take_launch(const uint32_t *w, unsigned words)
{
	unsigned slot = w[0] >> 16 & 0xff, i = 1, r, j, b;

	assert_true(slot < CARD_SLOTS && card_slot[slot].busy && !card_slot[slot].killing && !(w[0] >> 24));
	assert_true(words > 1);
	launches++;
	while (i < words) {
		unsigned repeat = w[i] & 0xffff, first = w[i] >> 16 & 0xff, n = w[i] >> 24;

		assert_true(repeat && n && i + n < words);
		for (r = 0; r < repeat; r++)
			for (j = 0; j < n; j++)
				for (b = 0; b < 32; b++) {
					unsigned sm = 32 * (first + j) + b;

					if (!(w[i + 1 + j] >> b & 1))
						continue;
					assert_true(sm < card_sms && !(disabled[sm / 32] >> (sm % 32) & 1));
					if (!card_start(slot, sm))
						fail_msg("SM %u over-booked: %u CTAs", sm, card_sm[sm].ctas);
					if (cap && card_sm[sm].ctas > cap)
						fail_msg("SM %u: %u CTAs, cap %u", sm, card_sm[sm].ctas, cap);
				}
		i += 1 + n;
	}
	assert_true(card_slot[slot].launched <= card_slot[slot].groups);
}

static void killed(unsigned slot)
{
	later(&(struct tutti_event){ { TUTTI_EVENT_KILLED | slot << 8, ~0u } }, (int)slot);
}

static void finish(struct kern *k, struct entry *e, struct model *q, enum life life)
{
	unsigned i;

	k->life = (uint8_t)life;
	k->finished = e->last = q->last = ++now;
	q->open--;
	e->open--;
	if (life != FAILED)
		return;
	/* the other kernels of its packet are lost with it */
	for (i = 0; i < e->n; i++) {
		if (e->k[i].life == WAITING) {
			e->k[i].life = LOST;
			e->late = false;
			lost++;
		} else if (e->k[i].evicted) {
			e->k[i].evicted = false;
			e->k[i].life = FAILED;
			q->open--;
			e->open--;
		}
	}
}

static void take_kill(const uint32_t *w)
{
	struct card_slot *slot = &card_slot[w[0] >> 16 & 0xff];
	struct kern *k = slot->owner;

	assert_true((w[0] >> 16 & 0xff) < CARD_SLOTS && !slot->killing && k);
	/* its last completion and the KILL may have crossed */
	assert_true(slot->busy || k->life == DONE);
	slot->busy = slot->killing = true;
	if (slot->running)
		return;
	if (k->life == RUNNING)
		finish(k, &model[slot->state.queue].entry[slot->state.packet % ENTRIES], &model[slot->state.queue], FAILED);
	killed((unsigned)(slot - card_slot));
}

/* The decrement of a completion signal: it happens exactly once, after all work that it reports. */
static void take_signal(const uint32_t *w)
{
	uint64_t address = address_in(w), after;
	unsigned id = (unsigned)((address - SIGNAL_AT) / 64), release;
	struct entry *e;
	struct kern *k;
	struct model *q;

	assert_true(address >= SIGNAL_AT && id && id < signals_used && address % 64 == 0);
	assert_int_equal(w[1] & 0xffff, ASID);
	assert_int_equal(signals[id].value, 1);
	signals[id].value = 0;
	e = owner[id].entry;
	k = owner[id].kern;
	q = owner[id].queue;
	assert_int_equal(w[1] >> 16, q->id);
	assert_true(q->alive);
	if (k) {
		bool last = k == &e->k[e->n - 1];

		assert_int_equal(k->life, DONE);
		release = last ? e->widest : k->release;
		after = last ? e->last : k->finished;
		if (last)
			assert_true(entry_done(e));
	} else {
		unsigned wanted = 0, zero = 0, i;

		if (e->kind != AGENT_FILL) {
			pass(q, (uint64_t)(e - q->entry)); /* one life has fewer packets than ENTRIES */
			assert_ptr_equal(e, &q->entry[q->next % ENTRIES]);
			assert_true(!e->bad && e->published && !suspended);
			if (e->barrier)
				assert_int_equal(q->open + late(q, q->next), 0);
		}
		for (i = 0; i < 5; i++)
			if (e->dependency[i]) {
				wanted++;
				zero += !signals[e->dependency[i]].value;
			}
		if (e->kind == BARRIER_AND)
			assert_int_equal(zero, wanted);
		if (e->kind == BARRIER_OR)
			assert_true(zero || !wanted);
		release = e->release;
		after = e->kind == AGENT_FILL ? e->last : e->since;
		if (e->kind == AGENT_FILL)
			assert_true(e->moved && e->last);
		else
			taken(q);
	}
	if (release)
		assert_true(fence[1][release] > after);
}

static void take_fence(unsigned sub)
{
	unsigned scope = sub & 3, i;

	assert_true(scope == TUTTI_SCOPE_AGENT || scope == TUTTI_SCOPE_SYSTEM);
	for (i = 1; i <= scope; i++) {
		if (sub & TUTTI_FENCE_ACQUIRE)
			fence[0][i] = now;
		if (sub & TUTTI_FENCE_RELEASE)
			fence[1][i] = now;
	}
}

/* Slots become INVALID only when their packet was taken. */
static void take_scrub(const uint32_t *w)
{
	uint64_t at = address_in(w) - RING_AT;
	struct model *q = &model[w[1] >> 16];
	uint32_t i;

	assert_true(at / 4096 == q->id && at % 64 == 0 && w[4] && at % 4096 / 64 + w[4] <= RING && q->alive);
	assert_int_equal(w[1] & 0xffff, ASID);
	for (i = 0; i < w[4]; i++) {
		unsigned slot = (unsigned)(at % 4096 / 64 + i);
		union tutti_packet *p = &q->ring[slot];
		const struct entry *e = &q->entry[(q->read + ((slot - q->read) & (RING - 1))) % ENTRIES];

		assert_true(e->published);
		if (e->bad) /* the bad packet stays as it is until the reset (PKT-06) */
			assert_true(e->skipped && (!q->stopped || q->asked));
		if (w[0] >> 16 & 1)
			p->dispatch.ref_num = 0;
		p->dispatch.header = TUTTI_PACKET_INVALID;
	}
}

static void take_write(const uint32_t *w)
{
	uint64_t value = w[4] | (uint64_t)w[5] << 32, i;
	struct model *q = &model[w[1] >> 16];

	if (address_in(w) != INDEX_AT + 64 * q->id)
		return;
	assert_true(q->alive && value > q->read && value <= q->write);
	while (q->next < value && q->entry[q->next % ENTRIES].moved)
		taken(q);
	/* the last one may be a condensed packet: taken whole, its kernels follow */
	pass(q, q->entry[(value - 1) % ENTRIES].kind == CONDENSED ? value - 1 : value);
	for (i = q->read; i < value; i++) {
		const union tutti_packet *p = &q->ring[i % RING];
		const struct entry *e = &q->entry[i % ENTRIES];

		assert_int_equal(p->dispatch.header, TUTTI_PACKET_INVALID);
		assert_true(e->published);
		if (e->reference || e->kind == CONDENSED)
			assert_int_equal(p->dispatch.ref_num, 0);
		/* a condensed packet is taken whole, its kernels follow */
		assert_true(i < q->next || (e->kind == CONDENSED && !e->bad) || e->skipped);
	}
	q->read = value;
}

static bool take_command(void)
{
	unsigned words;
	const uint32_t *w = hal_host_command(&words);

	if (!w)
		return false;
	now++;
	switch (w[0] & 0xff) {
	case TUTTI_CMD_FETCH: take_fetch(w); break;
	case TUTTI_CMD_STATE: take_state(w); break;
	case TUTTI_CMD_LAUNCH: take_launch(w, words); break;
	case TUTTI_CMD_KILL: take_kill(w); break;
	case TUTTI_CMD_SIGNAL: take_signal(w); break;
	case TUTTI_CMD_FENCE: take_fence(w[0] >> 16); break;
	case TUTTI_CMD_SCRUB: take_scrub(w); break;
	case TUTTI_CMD_WRITE: take_write(w); break;
	case TUTTI_CMD_INTERRUPT: case TUTTI_CMD_CONTEXT: case TUTTI_CMD_TLB: break;
	case TUTTI_CMD_ORDER: card_reorder(w, words); break;
	case TUTTI_CMD_SM_MODE: card_mode(w[0] >> 16); break;
	default: fail_msg("command %u", w[0] & 0xff);
	}
	now++;
	return true;
}

/* ---- events ---- */

static void slot_ended(struct card_slot *slot)
{
	struct kern *k = slot->owner;
	struct model *q = &model[slot->state.queue];
	bool complete = slot->launched == slot->groups && !slot->running && !slot->killing && !k->faulted;

	if (!complete && !(slot->killing && !slot->running))
		return;
	finish(k, &q->entry[slot->state.packet % ENTRIES], q, complete ? DONE : FAILED);
	if (!complete)
		killed((unsigned)(slot - card_slot));
}

static void end_ctas(unsigned slot)
{
	struct tutti_event event;
	bool many = roll(2);

	if (!card_slot[slot].busy || !card_complete(slot, &event, many))
		return;
	card_slot[slot].late++;
	later(&event, (int)slot);
	slot_ended(&card_slot[slot]);
}

/* Tensor copies are not in the order of the commands: the model catches up with commands before and behind them. */
static void take_movers(void)
{
	const struct tutti_mover *ring = hal_pointer(hal_host.engines.mover_base);
	unsigned first = seen_movers;

	for (; seen_movers != hal_host.engines.mover_tail; seen_movers++) {
		const struct tutti_mover *m = &ring[seen_movers % hal_host.engines.mover_slots];
		struct model *q = &model[(m->global - FILL_AT) >> 32];
		uint64_t index = (m->global - FILL_AT) >> 8 & 0xffffff;
		struct entry *e = &q->entry[index % ENTRIES];

		assert_true(q->alive && !suspended && index >= q->next);
		assert_true(e->published && e->kind == AGENT_FILL && !e->bad && !e->moved);
		e->moved = true;
		if (e->barrier)
			assert_int_equal(q->open + late(q, index), 0);
		later(&(struct tutti_event){ { TUTTI_EVENT_MOVER | (uint32_t)m->tag << 16 } }, -1);
		pool[pooled - 1].mover = e;
		pool[pooled - 1].queue = q;
	}
	if (first == seen_movers)
		return;
	hal_host.engines.mover_head = seen_movers;
	while (take_command())
		;
	for (; first != seen_movers; first++) {
		struct model *q = &model[(ring[first % hal_host.engines.mover_slots].global - FILL_AT) >> 32];

		q->open++;
	}
}

static void deliver(unsigned i)
{
	struct tutti_event event = pool[i].event;
	int slot = pool[i].slot;
	struct entry *mover = pool[i].mover;
	struct model *queue = pool[i].queue;

	if ((event.word[0] & 0xff) == TUTTI_EVENT_KILLED && card_slot[slot].late)
		return; /* all completions are told before */
	note_full();
	pool[i] = pool[--pooled];
	if (mover) {
		mover->last = queue->last = ++now;
		queue->open--;
	}
	if (slot >= 0) {
		if ((event.word[0] & 0xff) == TUTTI_EVENT_CTA)
			card_slot[slot].late--;
		if (((struct kern *)card_slot[slot].owner)->life != RUNNING && !card_slot[slot].late &&
		    (!card_slot[slot].killing || (event.word[0] & 0xff) == TUTTI_EVENT_KILLED))
			card_slot[slot].busy = false;
	}
	now++;
	hal_host.time += roll(300);
	hal_host_event(&event);
	take_movers();
}

static inline void fault(unsigned slot)
{
	struct card_slot *s = &card_slot[slot];
	struct kern *k = s->owner;
	unsigned sm;

	if (!s->busy || !s->running || s->killing || s->pinned)
		return;
	for (sm = 0; !s->on[sm]; sm++)
		;
	k->faulted = s->pinned = true;
	failures++;
	hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_FAULT | slot << 8 | TUTTI_CAUSE_ILLEGAL << 16, sm, 0x1234, 0, 0, 0,
						TUTTI_ENGINE_WAVE } });
	take_movers();
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The whole firmware between hosts that write packets, ring doorbells and change their minds, and a card that takes
 * commands slowly and answers in any order. The model knows what every packet means; each command is checked when it
 * is taken (PKT-02 .. PKT-21, CGA-06, CGA-13, CGA-14, TSK-05, SYS-06, SYS-08).
 */
#include "fw_card.h"

#define QUEUES 6u
#define RING 64u
#define ENTRIES 512u /* packets a queue may see in one life */
#define ASID 4u
#define RING_AT 0x10000000ull
#define INDEX_AT 0x20000000ull
#define KERNEL_AT 0x30000000ull
#define SIGNAL_AT 0x40000000ull
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
};

struct entry {
	enum kind kind;
	bool bad, reference, published;
	uint32_t first_word;
	uint32_t errors;   /* codes it may be refused with */
	uint8_t n, started, open, widest;
	uint8_t acquire, release;
	bool barrier, moved, skipped;
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
static unsigned cap, lost, failures, replies, messages, launches, refusals, resets, destroys, suspends;
static uint32_t last_cap, last_enable[TUTTI_MAX_SMS];
static bool suspended, suspending;
static struct { unsigned type, a, b; uint32_t id; } asked[64];

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
		memcpy(hal_host_pointer(w[5]), from, w[4]);
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

/* For a mover's packet no command is taken: it is passed when something behind it comes. */
static void pass_movers(struct model *q, uint64_t packet)
{
	while (q->next < packet) {
		const struct entry *e = &q->entry[q->next % ENTRIES];

		if (!e->moved)
			fail_msg("queue %u: packet %lu (%u) before packet %lu (%u)", q->id, packet,
				 q->entry[packet % ENTRIES].kind, q->next, e->kind);
		taken(q);
	}
}

/* What is left of a condensed packet that was taken goes with the queue's error (PKT-18 for its own, README for others'). */
static void drop_rest(struct model *q)
{
	while (q->next < q->read) {
		struct entry *e = &q->entry[q->next % ENTRIES];
		unsigned i;

		assert_true(e->moved || (e->kind == CONDENSED && !e->bad));
		for (i = e->started; !e->moved && i < e->n; i++)
			e->k[i].life = LOST;
		lost += !e->moved;
		taken(q);
	}
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
	assert_false(slot->busy);
	memcpy(&s, w + 1, sizeof(s));
	q = &model[s.queue];
	assert_true(q->alive && s.asid == ASID && !suspended);
	pass_movers(q, s.packet);
	assert_int_equal(s.packet, q->next);
	e = &q->entry[q->next % ENTRIES];
	assert_true(e->published && !e->bad && (e->kind == DISPATCH || e->kind == CONDENSED));
	k = &e->k[e->started];
	assert_int_equal(k->life, WAITING);
	assert_int_equal(s.kernarg, k->kernarg);
	assert_int_equal(s.grid_x, k->grid_x);
	assert_int_equal((uint64_t)s.groups_x * s.groups_y * s.groups_z, k->groups);
	assert_int_equal(s.first, 0);
	since = e->since;
	if (k->barrier) {
		assert_int_equal(q->open, 0);
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
	if (++e->started == e->n)
		taken(q);
	memset(slot, 0, sizeof(*slot));
	slot->state = s;
	slot->busy = true;
	slot->groups = k->groups;
	slot->owner = k;
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
	k->life = (uint8_t)life;
	k->finished = e->last = q->last = ++now;
	q->open--;
	e->open--;
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

/* The decrement of a completion signal: exactly one, after everything it stands for. */
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
			pass_movers(q, (uint64_t)(e - q->entry)); /* one life has fewer packets than ENTRIES */
			assert_ptr_equal(e, &q->entry[q->next % ENTRIES]);
			assert_true(!e->bad && e->published && !suspended);
			if (e->barrier)
				assert_int_equal(q->open, 0);
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
	case TUTTI_CMD_INTERRUPT: case TUTTI_CMD_CONTEXT: case TUTTI_CMD_TLB: case TUTTI_CMD_ORDER: break;
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

/* A mover is not in the order of the commands: the model catches up with those before and behind it. */
static void take_movers(void)
{
	const struct tutti_mover *ring = hal_host_pointer(hal_host.engines.mover_base);
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
			assert_int_equal(q->open, 0);
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

static void fault(unsigned slot)
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

/* ---- the host ---- */

static void ask(struct tutti_message *m, unsigned a, unsigned b)
{
	const struct tutti_discovery *d = (void *)hal_host.window;
	struct tutti_control *control = (void *)(hal_host.window + d->control.offset);
	struct tutti_message *to = (void *)(hal_host.window + d->host_ring.offset);

	m->id = control->host_ring_tail + 1;
	asked[m->id % 64].type = m->type;
	asked[m->id % 64].a = a;
	asked[m->id % 64].b = b;
	asked[m->id % 64].id = m->id;
	to[control->host_ring_tail % (d->host_ring.bytes / 64)] = *m;
	control->host_ring_tail++;
	messages++;
	if (m->type == TUTTI_MSG_SM_ENABLE)
		last_enable[a] = m->id;
	if (m->type == TUTTI_MSG_POLICY && a == TUTTI_POLICY_CTA_CAP)
		last_cap = m->id;
	later(&(struct tutti_event){ { TUTTI_EVENT_MESSAGE } }, -1);
}

static void ask_for(unsigned type, uint64_t a, uint64_t b, uint64_t c)
{
	struct tutti_message m = { .type = (uint16_t)type };

	m.arg[0] = a;
	m.arg[1] = b;
	m.arg[2] = c;
	ask(&m, (unsigned)a, (unsigned)(type == TUTTI_MSG_POLICY ? b : c));
}

/* Signals that will not come any more are given by the host, so that nobody waits for them. */
static void repair(struct model *q)
{
	uint64_t i;
	unsigned k;

	for (i = q->write > ENTRIES ? q->write - ENTRIES : 0; i < q->write; i++) {
		struct entry *e = &q->entry[i % ENTRIES];
		bool broken = !q->alive;

		if ((!q->alive || e->skipped) && e->signal)
			signals[e->signal].value = 0;
		for (k = 0; k < e->n; k++) {
			broken |= e->k[k].life == FAILED || e->k[k].life == LOST || e->skipped;
			if (!q->alive || (broken && e->k[k].life != RUNNING && (e->k[k].life != DONE || k + 1u == e->n)))
				signals[e->k[k].signal].value = 0;
		}
	}
}

static void create(struct model *q)
{
	static const unsigned kinds[] = { 0, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB,
					  TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB | TUTTI_QUEUE_OVERLAP };
	unsigned id = q->id;
	struct tutti_message m = { .type = TUTTI_MSG_QUEUE_CREATE,
				   .queue = { .queue = (uint16_t)id, .asid = ASID, .flags = (uint16_t)kinds[id % 3],
					      .rsb = (uint16_t)id, .ring = RING_AT + id * 4096ull,
					      .read_index = INDEX_AT + id * 64ull, .size_log2 = 6,
					      .priority = (uint8_t)(1 + roll(10)) } };

	memset(q, 0, sizeof(*q));
	q->id = id;
	q->flags = kinds[id % 3];
	q->asked = true;
	ask(&m, id, 0);
}

static void take_fault_message(const struct tutti_fault *f)
{
	struct model *q = &model[f->queue];
	struct entry *e = &q->entry[f->packet % ENTRIES];

	assert_true(f->queue < QUEUES && q->alive && (!q->stopped || q->resetting)); /* once (PKT-06) */
	assert_false(q->again);
	q->again = q->stopped; /* the next one, before the reply to the reset */
	assert_int_equal(f->context, ASID);
	q->stopped = true;
	drop_rest(q);
	if (f->code == TUTTI_ERROR_KERNEL_TRAP) {
		assert_true(f->kernel < e->n && e->k[f->kernel].faulted && e->k[f->kernel].life == FAILED);
		assert_int_equal(f->pc, 0x1234);
		repair(q);
		return;
	}
	pass_movers(q, f->packet);
	assert_int_equal(f->packet, q->next);
	if (!e->bad || !(e->errors >> f->code & 1))
		fail_msg("queue %u packet %lu: error %u, wanted one of %#x", q->id, f->packet, f->code, e->errors);
	refusals++;
	e->skipped = true;
	taken(q);
	repair(q);
}

static void take_reply(const struct tutti_message *m)
{
	unsigned type = asked[m->id % 64].type, a = asked[m->id % 64].a, b = asked[m->id % 64].b, s;
	struct model *q = &model[a % QUEUES];

	assert_int_equal(asked[m->id % 64].id, m->id);
	replies++;
	if (type == TUTTI_MSG_QUEUE_QUERY)
		return;
	if (type == TUTTI_MSG_QUEUE_RESET) {
		assert_int_equal(m->status, 0);
		assert_true(q->stopped);
		q->stopped = q->again;
		q->asked = q->resetting = q->again = false;
		return;
	}
	assert_int_equal(m->status, 0);
	switch (type) {
	case TUTTI_MSG_QUEUE_CREATE:
		q->asked = false;
		q->alive = true;
		break;
	case TUTTI_MSG_QUEUE_DESTROY:
		/* nothing of it is in flight */
		for (s = 0; s < CARD_SLOTS; s++)
			assert_true(!card_slot[s].busy || card_slot[s].state.queue != q->id);
		for (s = 0; s < q->write - q->next; s++)
			q->entry[(q->next + s) % ENTRIES].skipped = true;
		q->alive = q->asked = false;
		repair(q);
		break;
	case TUTTI_MSG_SM_ENABLE:
		if (!b && last_enable[a] == m->id)
			disabled[a / 32] |= 1u << (a % 32);
		break;
	case TUTTI_MSG_POLICY:
		if (a == TUTTI_POLICY_CTA_CAP && last_cap == m->id)
			cap = b;
		break;
	case TUTTI_MSG_SUSPEND:
		for (s = 0; s < CARD_SLOTS; s++)
			assert_false(card_slot[s].busy);
		suspended = true;
		break;
	}
}

static void read_card_ring(void)
{
	const struct tutti_discovery *d = (void *)hal_host.window;
	struct tutti_control *control = (void *)(hal_host.window + d->control.offset);
	struct tutti_status *status = (void *)(hal_host.window + d->status.offset);
	const struct tutti_message *from = (void *)(hal_host.window + d->card_ring.offset);

	for (; control->card_ring_head != status->card_ring_tail; control->card_ring_head++) {
		const struct tutti_message *m = &from[control->card_ring_head % (d->card_ring.bytes / 64)];

		/* its interrupt comes behind the commands of what it speaks of */
		while (take_command())
			;
		if (m->type == TUTTI_MSG_QUEUE_ERROR)
			take_fault_message(&m->fault);
		else
			take_reply(m);
	}
}

/* ---- producers ---- */

static uint32_t new_signal(struct model *q, struct entry *e, struct kern *k)
{
	assert_true(signals_used < SIGNALS);
	signals[signals_used].value = 1;
	owner[signals_used].kern = k;
	owner[signals_used].entry = e;
	owner[signals_used].queue = q;
	return signals_used++;
}

static uint64_t signal_address(uint32_t id)
{
	return id ? SIGNAL_AT + 64ull * id : 0;
}

static uint32_t some_groups(void)
{
	return roll(40) ? 1 + roll(24) : 1 + roll(1500);
}

static void fill_header(union tutti_packet *p, struct entry *e, unsigned type)
{
	e->barrier = !roll(4);
	e->acquire = (uint8_t)roll(3);
	e->release = (uint8_t)roll(3);
	p->word[0] = tutti_header(type, e->barrier, e->acquire, e->release);
}

static void fill_dispatch(struct model *q, struct entry *e, union tutti_packet *p)
{
	struct kern *k = &e->k[0];
	unsigned shape = roll(KERNELS), waves = 1 + shape % 4, ref = roll(8);

	e->kind = DISPATCH;
	e->n = 1;
	fill_header(p, e, TUTTI_PACKET_KERNEL_DISPATCH);
	k->barrier = e->barrier;
	k->acquire = e->acquire;
	k->release = e->widest = e->release;
	k->groups = some_groups();
	k->shape = (uint8_t)shape;
	k->grid_x = k->groups * 32 * waves - roll(32 * waves);
	k->kernarg = (uint64_t)roll32() << 4;
	k->signal = roll(2) ? new_signal(q, e, k) : 0;
	p->dispatch.setup = 1;
	p->dispatch.workgroup_x = (uint16_t)(32 * waves);
	p->dispatch.workgroup_y = p->dispatch.workgroup_z = 1;
	p->dispatch.grid_x = k->grid_x;
	p->dispatch.grid_y = p->dispatch.grid_z = 1;
	p->dispatch.group_bytes = roll(4) ? 0 : roll(12000);
	p->dispatch.kernel_object = KERNEL_AT + 64 * shape;
	p->dispatch.kernarg = k->kernarg;
	p->dispatch.signal = signal_address(k->signal);
	if (!(q->flags & TUTTI_QUEUE_EXTENDED)) {
		p->dispatch.ref_num = (uint16_t)roll(65536); /* ignored, as HSA says */
	} else if (roll(2)) {
		p->dispatch.ref_num = (uint16_t)(TUTTI_REF_STORE | ref);
		e->reference = true;
		q->reference[ref].k = *k;
		q->reference[ref].valid = true;
	}
}

static void fill_condensed(struct model *q, struct entry *e, union tutti_packet *p)
{
	unsigned n = roll(3) ? 1 + roll(4) : 1 + roll(31), at = 0, ref, i;

	e->kind = CONDENSED;
	p->condensed.type = TUTTI_PACKET_CONDENSED;
	for (i = 0; i < n && at < TUTTI_CONDENSED_UNITS; i++) {
		uint32_t vector = (roll(3) ? 0 : TUTTI_DIFF_GRID_X) | (roll(2) ? 0 : TUTTI_DIFF_KERNARG) | TUTTI_DIFF_SIGNAL |
				  (roll(5) ? 0 : TUTTI_DIFF_SCOPES);
		struct kern *k = &e->k[i];
		uint64_t signal;

		for (ref = roll(8); !q->reference[ref % 8].valid; ref++)
			;
		ref %= 8;
		if (at + 1 + diff_units(vector) > TUTTI_CONDENSED_UNITS)
			break;
		*k = q->reference[ref].k;
		p->condensed.unit[at++] = (uint16_t)(vector << 3 | ref);
		if (vector & TUTTI_DIFF_SCOPES) {
			k->barrier = !roll(4);
			k->acquire = (uint8_t)roll(3);
			k->release = (uint8_t)roll(3);
			p->condensed.unit[at++] = tutti_header(0, k->barrier, k->acquire, k->release) >> 8;
		}
		if (vector & TUTTI_DIFF_GRID_X) {
			k->groups = some_groups();
			k->grid_x = k->groups * 32 * (1 + k->shape % 4);
			p->condensed.unit[at++] = (uint16_t)k->grid_x;
			p->condensed.unit[at++] = (uint16_t)(k->grid_x >> 16);
		}
		if (vector & TUTTI_DIFF_KERNARG) {
			k->kernarg = (uint64_t)roll32() << 4;
			memcpy(&p->condensed.unit[at], &k->kernarg, 8);
			at += 4;
		}
		/* one signal is one decrement here: the reference's own is never used again */
		k->signal = roll(3) ? 0 : new_signal(q, e, k);
		signal = signal_address(k->signal);
		memcpy(&p->condensed.unit[at], &signal, 8);
		at += 4;
		if (k->release > e->widest)
			e->widest = k->release;
	}
	e->n = (uint8_t)i;
	p->condensed.num_kernels = (uint8_t)i;
	e->barrier = e->k[0].barrier;
}

/* Signals of packets written before, anywhere: so nobody waits in a circle. */
static void fill_barrier(struct model *q, struct entry *e, union tutti_packet *p)
{
	uint32_t newest = signals_used, i;

	e->kind = roll(2) ? BARRIER_AND : BARRIER_OR;
	fill_header(p, e, e->kind == BARRIER_AND ? TUTTI_PACKET_BARRIER_AND : TUTTI_PACKET_BARRIER_OR);
	for (i = 0; i < 5; i++)
		if (newest > 1 && !roll(2)) {
			e->dependency[i] = newest - 1 - roll(newest - 1 < 30 ? newest - 1 : 30);
			p->barrier.dependency[i] = signal_address(e->dependency[i]);
		}
	e->signal = new_signal(q, e, NULL);
	p->barrier.signal = signal_address(e->signal);
}

static void fill_agent(struct model *q, struct entry *e, union tutti_packet *p)
{
	e->kind = roll(2) ? AGENT_NOP : AGENT_FILL;
	fill_header(p, e, TUTTI_PACKET_AGENT_DISPATCH);
	p->agent.type = e->kind == AGENT_NOP ? TUTTI_AGENT_NOP : TUTTI_AGENT_FILL;
	p->agent.arg[0] = FILL_AT + ((uint64_t)q->id << 32) + (q->write << 8);
	p->agent.arg[2] = 4 * (1 + roll(60));
	e->signal = new_signal(q, e, NULL);
	p->agent.signal = signal_address(e->signal);
}

/* A packet that must be refused. */
static void spoil(struct model *q, struct entry *e, union tutti_packet *p)
{
	e->bad = true;
	if (e->kind == CONDENSED) {
		p->condensed.num_kernels = (uint8_t)(roll(2) ? 0 : 32 + roll(224));
		e->errors = 1u << TUTTI_ERROR_PACKET;
		return;
	}
	if (e->kind != DISPATCH) {
		p->word[0] = e->kind == AGENT_NOP ? p->word[0] | 0x8000 : (p->word[0] & ~0xffu) | (6 + roll(50));
		e->errors = 1u << TUTTI_ERROR_PACKET;
		return;
	}
	switch (roll(6)) {
	case 0: p->dispatch.grid_x = 0; e->errors = 1u << TUTTI_ERROR_DIMENSIONS; break;
	case 1: p->dispatch.group_bytes = 64 * 2048 + 1; e->errors = 1u << TUTTI_ERROR_GROUP_MEMORY; break;
	case 2: p->dispatch.workgroup_x = 1025; e->errors = 1u << TUTTI_ERROR_WORKGROUP; break;
	case 3: p->dispatch.kernel_object = roll(2) ? 0 : 0x5000000040ull; e->errors = 1u << TUTTI_ERROR_CODE_OBJECT; break;
	case 4: p->dispatch.signal = 0x1001; e->errors = 1u << TUTTI_ERROR_PACKET; break;
	default: p->dispatch.setup |= 0x10; e->errors = 1u << TUTTI_ERROR_PACKET;
	}
}

static void produce(struct model *q, bool faults)
{
	struct entry *e = &q->entry[q->write % ENTRIES];
	union tutti_packet p = { { 0 } }, *slot = &q->ring[q->write % RING];
	bool references = false;
	unsigned i, kind = roll(12);

	if (!q->alive || q->write >= ENTRIES || q->write - q->read >= RING)
		return;
	assert_true(slot->dispatch.header == TUTTI_PACKET_INVALID || q->write < RING);
	memset(e, 0, sizeof(*e));
	for (i = 0; i < 8; i++)
		references |= q->reference[i].valid;
	if (kind < 6 && references)
		fill_condensed(q, e, &p);
	else if (kind < 9)
		fill_dispatch(q, e, &p);
	else if (kind < 11)
		fill_barrier(q, e, &p);
	else
		fill_agent(q, e, &p);
	if (faults && !e->reference && !roll(60))
		spoil(q, e, &p);
	e->first_word = p.word[0];
	memcpy(&slot->word[1], &p.word[1], 60);
	q->write++;
}

static void ring_doorbell(struct model *q)
{
	later(&(struct tutti_event){ { TUTTI_EVENT_DOORBELL, 1u << q->id } }, -1);
}

/* Publishing in any order: several producers (PKT-01). */
static void publish(struct model *q, bool all)
{
	uint64_t i;

	for (i = q->next; i < q->write; i++) {
		struct entry *e = &q->entry[i % ENTRIES];

		if (e->published || (!all && !roll(3)))
			continue;
		e->published = true;
		e->since = ++now;
		q->ring[i % RING].word[0] = e->first_word;
		ring_doorbell(q);
		if (!all)
			return;
	}
}

/* ---- runs ---- */

static void world(unsigned sms)
{
	struct tutti_message m = { .type = TUTTI_MSG_CONTEXT_CREATE, .context = { .asid = ASID, .root = 4096 } };
	unsigned i;

	card_reset(sms);
	memset(model, 0, sizeof(model));
	memset(fence, 0, sizeof(fence));
	memset(disabled, 0, sizeof(disabled));
	memset(asked, 0, sizeof(asked));
	now = 1;
	signals_used = 1;
	pooled = seen_movers = cap = 0;
	suspended = suspending = false;
	messages = replies = 0;
	rig_load(sms);
	for (i = 0; i < KERNELS; i++) {
		descriptor[i] = rig_descriptor();
		if (i % 3) {
			descriptor[i].scalar_blocks = (uint16_t)roll(17);
			descriptor[i].vector_blocks = (uint16_t)(roll(2) ? 0 : roll(17));
			descriptor[i].barriers = (uint16_t)(roll(2) ? 0 : roll(5));
			descriptor[i].group_bytes = roll(2) ? 0 : roll(40000);
		}
	}
	ask(&m, 0, 0);
	for (i = 0; i < QUEUES; i++) {
		struct tutti_message r = { .type = TUTTI_MSG_RSB_CREATE,
					   .rsb = { .rsb = (uint16_t)i, .asid = ASID, .placement = i % 2, .offset = i * 1024 } };

		ask(&r, 0, 0);
	}
	for (i = 0; i < QUEUES; i++) {
		model[i].id = i;
		create(&model[i]);
	}
}

static void advance_timer(void)
{
	volatile struct tutti_engines *e = &hal_host.engines;
	uint64_t at = e->timer_lo | (uint64_t)e->timer_hi << 32;

	if (e->timer_hi == TUTTI_TIMER_OFF)
		return;
	if (hal_host.time < at)
		hal_host.time = at;
	e->timer_hi = TUTTI_TIMER_OFF;
	hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_TIMER } });
	take_movers();
}

static void check_timer(void)
{
	const volatile struct tutti_engines *e = &hal_host.engines;

	if (e->timer_hi != TUTTI_TIMER_OFF && hal_host.time >= (e->timer_lo | (uint64_t)e->timer_hi << 32))
		advance_timer();
}

/* One thing the card does. */
static bool card_step(void)
{
	unsigned kind = roll(10), s;
	bool any = false;

	if (kind < 4)
		for (s = 1 + roll(12); s && take_command(); s--)
			any = true;
	else if (kind < 7 && pooled)
		deliver(roll(pooled)), any = true;
	else
		for (s = roll(CARD_SLOTS), kind = 0; kind < CARD_SLOTS; kind++, s = (s + 1) % CARD_SLOTS)
			if (card_slot[s].busy && card_slot[s].running) {
				end_ctas(s);
				any = true;
				break;
			}
	read_card_ring();
	check_timer();
	return any;
}

static void host_changes(unsigned kind, struct model *q)
{
	unsigned sm = roll(card_sms);

	switch (kind) {
	case 0:
		if (q->alive && !q->asked && q->write) {
			q->asked = true;
			destroys++;
			ask_for(TUTTI_MSG_QUEUE_DESTROY, q->id, 0, 0);
		}
		break;
	case 1:
		if (card_sms > 1 && sm) {
			disabled[sm / 32] &= ~(1u << (sm % 32));
			ask_for(TUTTI_MSG_SM_ENABLE, sm, 1, roll(2));
		}
		break;
	case 2:
		cap = 0;
		ask_for(TUTTI_MSG_POLICY, TUTTI_POLICY_CTA_CAP, roll(3) ? 1 + roll(6) : 0, 0);
		break;
	case 3:
		ask_for(TUTTI_MSG_POLICY, TUTTI_POLICY_ISSUE, roll(2), 0);
		break;
	case 4:
		ask_for(TUTTI_MSG_POLICY, TUTTI_POLICY_LEVEL_SEARCH, roll(3), 0);
		break;
	case 5:
		ask_for(TUTTI_MSG_CODE_INVALIDATE, ASID, KERNEL_AT, roll(2) ? 0 : 64 * roll(KERNELS));
		break;
	case 6:
		if (!suspending) {
			suspending = true;
			suspends++;
			ask_for(TUTTI_MSG_SUSPEND, 0, 0, 0);
		}
		break;
	default:
		ask_for(TUTTI_MSG_QUEUE_QUERY, q->id, 0, 0);
	}
}

static void resume(void)
{
	if (suspended) {
		suspended = suspending = false;
		ask_for(TUTTI_MSG_RESUME, 0, 0, 0);
	}
}

/* A stopped queue is reset; a dead one made anew. */
static void revive(struct model *q)
{
	if (q->asked)
		return;
	if (!q->alive) {
		create(q);
		return;
	}
	if (!q->stopped)
		return;
	repair(q);
	q->asked = q->resetting = true;
	resets++;
	ask_for(TUTTI_MSG_QUEUE_RESET, q->id, 0, 0);
}

static bool all_done(void)
{
	unsigned i;

	for (i = 0; i < QUEUES; i++)
		if (model[i].asked || !model[i].alive || model[i].stopped || model[i].read != model[i].write || model[i].open)
			return false;
	return !pooled && messages == replies && hal_host.engines.command_head == hal_host.engines.command_tail;
}

static void dump(void)
{
	unsigned i;

	for (i = 0; i < QUEUES; i++)
		print_error("queue %u: write %lu next %lu read %lu open %u%s%s%s; firmware: state %u wait %u head %lu inflight %u\n", i,
			    model[i].write, model[i].next, model[i].read, model[i].open, model[i].alive ? "" : " dead",
			    model[i].stopped ? " stopped" : "", model[i].asked ? " asked" : "", queues[i].state, queues[i].wait,
			    queues[i].head, queues[i].inflight);
}

/* Everything that was written runs; nothing is left behind. */
static void settle(void)
{
	unsigned idle = 0, steps, i;

	for (i = 0; i < QUEUES; i++)
		publish(&model[i], true);
	for (steps = 0; !all_done(); steps++) {
		idle = card_step() ? 0 : idle + 1;
		resume();
		for (i = 0; i < QUEUES; i++) {
			revive(&model[i]);
			if (idle > 100)
				repair(&model[i]);
		}
		if (idle > 100 && !(idle % 20))
			advance_timer();
		if (idle > 3000 || steps > 3000000) {
			dump();
			fail_msg("stuck");
		}
	}
	for (i = 0; i < QUEUES; i++)
		pass_movers(&model[i], model[i].read);
}

static void check_all(void)
{
	unsigned q, k;
	uint64_t i;

	for (q = 0; q < QUEUES; q++)
		for (i = 0; i < model[q].write; i++) {
			const struct entry *e = &model[q].entry[i];
			bool broken = e->skipped;

			if (e->signal)
				assert_int_equal(signals[e->signal].value, 0);
			for (k = 0; k < e->n; k++) {
				if (e->bad) {
					assert_int_equal(e->k[k].life, WAITING);
					continue;
				}
				broken |= e->k[k].life != DONE;
				if (!broken) {
					assert_false(e->k[k].faulted);
					assert_int_equal(signals[e->k[k].signal].value, 0);
				}
			}
		}
	for (k = 0; k < CARD_SLOTS; k++)
		assert_false(card_slot[k].busy);
	for (k = 0; k < card_sms; k++) {
		assert_int_equal(card_sm[k].ctas, 0);
		assert_int_equal(card_sm[k].shared, 0);
	}
}

static void fault_some(void)
{
	unsigned s = roll(CARD_SLOTS), i;

	for (i = 0; i < CARD_SLOTS; i++, s = (s + 1) % CARD_SLOTS)
		if (card_slot[s].busy && card_slot[s].running) {
			fault(s);
			return;
		}
}

static void run(uint64_t number, unsigned sms, unsigned steps, bool faults, bool changes)
{
	unsigned step;

	seed(number);
	world(sms);
	for (step = 0; step < steps; step++) {
		struct model *q = &model[roll(QUEUES)];
		unsigned kind = roll(20);

		if (kind < 3)
			produce(q, faults);
		else if (kind < 6)
			publish(q, false);
		else if (kind == 6 && !roll(4))
			ring_doorbell(q); /* early, late, again: it only wakes (PKT-05) */
		else if (kind == 7 && faults && !roll(20))
			fault_some();
		else if (kind == 8 && (faults || changes) && !roll(4))
			revive(q);
		else if (kind == 9 && changes && !roll(20))
			host_changes(roll(10), q);
		else if (kind == 10 && !roll(10))
			resume();
		else if (kind == 11 && !roll(100))
			hal_host.time += 1000000;
		else
			card_step();
	}
	settle();
	check_all();
}

static const unsigned cards[] = { 1, 2, 7, 33, 132 };

static void mixed_queues(void **unused)
{
	unsigned i;

	for (i = 0; i < 60; i++)
		run(100 + i, cards[i % 5], 8000, false, false);
}

static void with_faults(void **unused)
{
	unsigned i;

	failures = refusals = resets = lost = 0;
	for (i = 0; i < 60; i++)
		run(10000 + i, cards[i % 5], 8000, true, false);
	print_message("# %u kernels failed, %u packets refused, %u resets, %u condensed packets lost\n", failures, refusals, resets,
		      lost);
	assert_true(failures > 100 && refusals > 100 && resets > 100);
}

static void with_changes(void **unused)
{
	unsigned i;

	destroys = suspends = 0;
	for (i = 0; i < 60; i++)
		run(20000 + i, cards[i % 5], 8000, true, true);
	assert_true(destroys > 20 && suspends > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-03 PKT-04 PKT-05 PKT-16 PKT-17 PKT-21 CGA-14", mixed_queues),
		RIG_TEST("PKT-06 PKT-18 SYS-06", with_faults),
		RIG_TEST("SYS-08 CGA-04", with_changes),
	};

	return cmocka_run_group_tests_name("firmware: queues", tests, NULL, NULL);
}

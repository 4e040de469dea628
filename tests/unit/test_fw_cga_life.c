/* SPDX-License-Identifier: MIT */
/*
 * Kernels with and without CGAs on a card whose CTAs end in any order: nothing is lost or done twice, all of a CGA
 * or nothing of it, no id before its flush, never more than fits, and nobody starves.
 */
#include "fw_card.h"

#include "../../firmware/cga.h"

#define QUEUES 5u
#define RING 64u
#define KERNELS 12u
#define KERNEL_AT 0x30000000ull
#define SIGNAL_AT 0x40000000ull
#define POOL 8192u
#define GPCS 64u
#define IDS 256u

static union tutti_packet ring[QUEUES][RING];
static uint64_t written[QUEUES];
static struct tutti_kernel_descriptor descriptor[KERNELS];
static unsigned signalled[QUEUES * 4096u], submitted;
static struct tutti_event pool[POOL];
static unsigned pooled, faulted, cgas_started, mixed_in, errors;

/* What the card knows of an identity. */
static struct identity {
	bool used, staged, flushing;
	unsigned slot, running;
	uint32_t ran, unflushed, lmem;
	uint8_t on[32];
} identity[GPCS][IDS];
static bool lmem_used[GPM_LMEM_SLOTS];
static uint32_t lmem_unflushed[GPM_LMEM_SLOTS];

static struct task_model {
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	unsigned sequence, staged;  /* of the CGA being launched, and its CTAs so far */
	uint64_t groups;
	bool pinned;
} model[CARD_SLOTS];

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

static void take_state(const uint32_t *w, unsigned words)
{
	unsigned slot = w[0] >> 24;
	struct card_slot *s = &card_slot[slot];

	assert_false(s->busy);
	memset(s, 0, sizeof(*s));
	memset(&model[slot], 0, sizeof(model[slot]));
	memcpy(&s->state, w + 1, sizeof(s->state));
	s->busy = true;
	s->groups = s->state.groups_x * s->state.groups_y * s->state.groups_z;
	if (w[0] >> 16 & TUTTI_STATE_CGA) {
		assert_int_equal(words, 1 + STATE_WORDS + sizeof(model[slot].level) / 4);
		memcpy(model[slot].level, w + 1 + STATE_WORDS, sizeof(model[slot].level));
		assert_true(model[slot].level[0].kind);
		if (model[slot].level[0].kind <= TUTTI_CGA_GPC) {
			assert_int_equal(s->state.cga_x, model[slot].level[0].x);
			assert_int_equal(s->state.cga_y, model[slot].level[0].y);
			assert_int_equal(s->state.cga_z, model[slot].level[0].z);
		}
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
}

static void take_launch_cga(const uint32_t *w, unsigned words)
{
	unsigned slot = w[0] >> 16 & 0xff, gpc = w[1] >> 24, id = w[1] >> 16 & 0xff, i, j, b, r;
	struct task_model *m = &model[slot];
	struct identity *it = gpc == TUTTI_GPC_NONE ? NULL : &identity[gpc][id];

	assert_true(m->level[0].kind);
	if (!m->staged)
		m->sequence = w[1] & 0xffff;
	assert_int_equal(w[1] & 0xffff, m->sequence);
	if (it) {
		assert_true(gpc < discovery()->gpcs && id < IDS);
		if (it->used && !it->staged)
			fail_msg("id %u of GPC %u given out again before its flush", id, gpc);
		if (!it->used) {
			*it = (struct identity){ .used = true, .staged = true, .slot = slot, .lmem = w[2] };
			if (w[2] != GPM_NO_LMEM) {
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

static void take_commands(void)
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
		case TUTTI_CMD_SIGNAL:
			assert_int_equal(signalled[((w[2] | (uint64_t)w[3] << 32) - SIGNAL_AT) / 64]++, 0);
			break;
		case TUTTI_CMD_SCRUB:
			for (unsigned i = 0; i < w[4]; i++)
				((union tutti_packet *)user((w[2] | (uint64_t)w[3] << 32) + 64 * i))->dispatch.header =
					TUTTI_PACKET_INVALID;
			break;
		case TUTTI_CMD_KILL:
			card_slot[w[0] >> 16 & 0xff].killing = true;
			killed_if_empty(w[0] >> 16 & 0xff);
			break;
		default: break;
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
	card_slot[it->slot].late++;
	later(&event);
	return true;
}

static void end_some(void)
{
	unsigned gpc = roll(GPCS), id = roll(IDS), i, slot = roll(CARD_SLOTS);
	struct tutti_event event;

	for (i = 0; i < IDS && !end_cga(gpc, (id + i) % IDS); i++)
		;
	for (i = 0; i < CARD_SLOTS; i++, slot = (slot + 1) % CARD_SLOTS)
		if (card_slot[slot].busy && (!model[slot].level[0].kind || model[slot].level[0].kind > TUTTI_CGA_GPC) &&
		    card_complete(slot, &event, roll(2))) {
			card_slot[slot].late++;
			later(&event);
			break;
		}
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
		rig_queue(i, 4, i & 1 ? TUTTI_QUEUE_EXTENDED : 0);
	for (i = 0; i < KERNELS; i++) {
		descriptor[i] = rig_descriptor();
		descriptor[i].group_bytes = 2048 * (1 + roll(16));
	}
}

static void cga_kernel(unsigned k, unsigned kind, unsigned x, unsigned y, unsigned z)
{
	descriptor[k].cga_kind = (uint8_t)kind;
	descriptor[k].cga[0] = (uint16_t)x;
	descriptor[k].cga[1] = (uint16_t)y;
	descriptor[k].cga[2] = (uint16_t)z;
}

/* Return: number of its signal. */
static unsigned submit(unsigned q, unsigned kernel, unsigned x, unsigned y, unsigned z)
{
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT + 64 * kernel);

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

static void run_down(void)
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
static void check_idle(void)
{
	unsigned g;

	assert_int_equal(shapes.residents, 0);
	assert_int_equal(shapes.grouped_ctas, 0);
	assert_true(gpm_idle());
	assert_int_equal(gpm.flushing, 0);
	assert_int_equal(gpm.lmem_free, gpm.lmem_slots);
	for (g = 0; g < domains.gpcs; g++)
		assert_int_equal(domains.gpc[g].credits, domains.gpc[g].credits_all);
}

static void random_lives(void **unused)
{
	unsigned round, i, k, all = 0, lost = 0;

	for (round = 0; round < 40; round++) {
		uint16_t sms[8];
		unsigned gpcs = 1 + roll(8);

		seed(500 + round);
		gpcs = 1 + roll(8);
		for (i = 0; i < gpcs; i++)
			sms[i] = (uint16_t)(6 + roll(20));
		begin(sms, gpcs);
		for (k = 0; k < KERNELS / 2; k++) {
			cga_kernel(k, 1 + roll(4), 1 + roll(4), 1 + roll(2), 1);
			if (descriptor[k].cga_kind <= TUTTI_CGA_GPC && !roll(3))
				descriptor[k].flags |= TUTTI_KERNEL_LMEM;
		}
		if (roll(2))
			assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST, 0), 0);
		for (i = 0; i < 300; i++) {
			unsigned q = roll(QUEUES);

			k = roll(KERNELS);
			if (!roll(3) && written[q] - queues[q].head < RING - 2)
				submit(q, k, 4 * 3 * (1 + roll(3)), 2 * (1 + roll(2)), 1);
			else if (pooled && roll(3))
				deliver(roll(pooled));
			else
				end_some();
		}
		run_down();
		check_idle();
		for (i = 0; i < QUEUES; i++)
			errors += queues[i].state == QUEUE_STOPPED;
		all += cgas_started;
		for (i = 1; i <= submitted && !errors; i++)
			lost += !signalled[i];
		assert_int_equal(lost, 0);
	}
	assert_true(all > 20000);
}

/* A task whose CTA is told to have made a bad access is killed, its CGAs end, ids come back, others go on. */
static void faults(void **unused)
{
	static const uint16_t sms[] = { 18, 16, 16 };
	unsigned round, gpc, id, other;

	for (round = 0; round < 50; round++) {
		seed(900 + round);
		begin(sms, 3);
		cga_kernel(0, TUTTI_CGA_GPC, 4, 1, 1);
		cga_kernel(1, TUTTI_CGA_GPC, 2, 2, 1);
		submit(0, 0, 400, 1, 1);
		other = submit(1, 1, 40, 2, 1);
		while (pooled)
			deliver(0);
		gpc = id = 0;
		while (!identity[gpc][id].used || identity[gpc][id].slot != 0)
			if (++id == IDS)
				gpc++, id = 0;
		if (round & 1) {
			rig_event(TUTTI_EVENT_CGA_FAULT | gpc << 8 | id << 16 | TUTTI_CAUSE_CGA_EXITED << 24, 3, 1);
			take_commands();
			assert_true(card_slot[0].killing || !card_slot[0].busy);
		}
		/* of a CGA that is gone: dropped */
		rig_event(TUTTI_EVENT_CGA_FAULT | 2u << 8 | 200u << 16 | TUTTI_CAUSE_CGA_EXITED << 24, 3, 1);
		run_down();
		check_idle();
		assert_int_equal(queues[0].state, round & 1 ? QUEUE_STOPPED : QUEUE_RUNNING);
		if (round & 1)
			assert_int_equal(queues[0].error, TUTTI_ERROR_CGA);
		assert_int_equal(queues[1].state, QUEUE_RUNNING);
		assert_int_equal(signalled[other], 1);
	}
}

/* What can never fit is refused at once; so are grids that are not made of whole CGAs. */
static void refused(void **unused)
{
	static const uint16_t sms[] = { 4, 6, 5 };
	static const struct { unsigned kind, x, y, z, mode; bool ok; } c[] = {
		{ TUTTI_CGA_GPC, 12, 1, 1, 0, true },   /* two of 32 blocks an SM, 6 SMs */
		{ TUTTI_CGA_GPC, 13, 1, 1, 0, false },
		{ TUTTI_CGA_GPC, 6, 1, 1, 1, true },    { TUTTI_CGA_GPC, 7, 1, 1, 1, false },
		{ TUTTI_CGA_GPU, 5, 3, 2, 0, true },    { TUTTI_CGA_GPU, 31, 1, 1, 0, false },
		{ TUTTI_CGA_UGPU, 20, 1, 1, 0, true },  { TUTTI_CGA_UGPU, 21, 1, 1, 0, false },
		{ TUTTI_CGA_CPC, 12, 1, 1, 0, true },   { TUTTI_CGA_CPC, 13, 1, 1, 0, false },
		{ TUTTI_CGA_GPC, 65535, 65535, 65535, 0, false },
	};
	unsigned i, signal;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		seed(i);
		begin(sms, 3);
		rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_MODE, c[i].mode, 0);
		descriptor[0].group_bytes = 2048 * 32;
		cga_kernel(0, c[i].kind, c[i].x, c[i].y, c[i].z);
		signal = submit(0, 0, c[i].x * 2, c[i].y, c[i].z);
		run_down();
		assert_int_equal(queues[0].state, c[i].ok ? QUEUE_RUNNING : QUEUE_STOPPED);
		assert_int_equal(signalled[signal], c[i].ok);
		if (!c[i].ok)
			assert_int_equal(queues[0].error, TUTTI_ERROR_GRID);
		check_idle();
		if (!c[i].ok)
			continue;
		submit(0, 0, c[i].x * 2 - 1, c[i].y, c[i].z);
		run_down();
		assert_int_equal(queues[0].error, TUTTI_ERROR_GRID);
	}
}

/* SMs taken away while a CGA waits: when nothing can help it any more it ends with an error. */
static void disabled_meanwhile(void **unused)
{
	static const uint16_t sms[] = { 4, 4 };
	unsigned signal;

	seed(1);
	begin(sms, 2);
	descriptor[0].group_bytes = descriptor[1].group_bytes = 2048 * 64;
	cga_kernel(1, TUTTI_CGA_GPC, 4, 1, 1);
	submit(0, 0, 8, 1, 1);
	while (pooled)
		deliver(0);
	signal = submit(1, 1, 8, 1, 1);
	while (pooled)
		deliver(0);
	assert_int_equal(cgas_started, 0);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 0, 1, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 5, 1, 0), 0);
	run_down();
	assert_int_equal(queues[1].error, TUTTI_ERROR_GRID);
	assert_int_equal(signalled[signal], 0);
	check_idle();
}

/* Plain work of the highest priority without end: a CGA of a whole GPC still starts (CGA-05). */
static void no_starvation(void **unused)
{
	static const uint16_t sms[] = { 8, 4, 8 };
	unsigned patience, i, started = 0, before, held = 0, signal;

	for (patience = 4; patience <= 256; patience *= 8) {
		seed(patience);
		begin(sms, 3);
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_PATIENCE, patience, 0), 0);
		descriptor[0].group_bytes = 2048 * 16;
		descriptor[1].group_bytes = 2048 * 64;
		cga_kernel(1, TUTTI_CGA_GPC, 8, 1, 1);
		submit(0, 0, 1000000, 1, 1);
		while (pooled)
			deliver(0);
		signal = submit(1, 1, 16, 1, 1);
		while (pooled)
			deliver(0);
		before = cgas_started;
		for (i = 0; cgas_started == before && i < 20000; i++) {
			struct tutti_event event;

			assert_true(card_complete(0, &event, false));
			card_slot[0].late++;
			later(&event);
			while (pooled)
				deliver(0);
			/* GPC 1 is no candidate: it is never idle */
			if (cga_state.holder) {
				held++;
				for (unsigned sm = 8; sm < 12; sm++)
					assert_true(card_sm[sm].ctas >= 3);
			}
		}
		assert_true(cgas_started > before && i >= patience && i < patience + 2000);
		started++;
		(void)signal;
	}
	assert_true(started && held);
}

/* The largest card: more free slots than there are rows, few ids for each GPC. */
static void large_card(void **unused)
{
	uint16_t sms[GPCS];
	unsigned i, round, signal;

	for (i = 0; i < GPCS; i++)
		sms[i] = 16;
	seed(4);
	begin(sms, GPCS);
	descriptor[0].group_bytes = 0;
	cga_kernel(0, TUTTI_CGA_GPC, 16, 1, 1);
	for (round = 0; round < 20; round++) {
		signal = submit(0, 0, 16 * (round < 10 ? 1 : 200), 1, 1);
		run_down();
		assert_int_equal(signalled[signal], 1);
		check_idle();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-03 CGA-17 CGA-23 CGA-26 CGA-28 CGA-31", random_lives),
		RIG_TEST("CGA-27", faults),
		RIG_TEST("CGA-05 CGA-04", refused),
		RIG_TEST("CGA-05 CGA-04", disabled_meanwhile),
		RIG_TEST("CGA-05 RES-01", no_starvation),
		RIG_TEST("CGA-04 CGA-23", large_card),
	};

	return cmocka_run_group_tests_name("firmware: life of CGAs", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Identities of CGAs and memory slots against a model of them, while the command ring has room and while it has none. */
#include "cga_card.h"

#include "groups/cga.h"

#define IDS 256u

enum life { FREE, RUNS, FLUSHES };

/* What has to be true of each identity. */
static struct model {
	enum life life;
	unsigned running, slot;
	uint32_t ran, lmem;  /* SMs that ran CTAs of it; its memory slot */
	uint32_t unflushed;  /* SMs that have been asked to flush and have not answered */
	bool late;           /* it has ended, and the flush has not been asked for yet */
} model[TUTTI_MAX_GPCS][IDS];
static struct {
	bool used;
	uint32_t unflushed;
	unsigned gpc, id;    /* of its owner, by number of the GPC */
} memory[CGA_IDS_LMEM_SLOTS];
static unsigned credits[TUTTI_MAX_GPCS], memory_free, ended; /* by index of the GPC */

static void begin(unsigned gpcs, const unsigned *sms, unsigned ids, unsigned slots)
{
	struct tutti_discovery *d = (void *)hal_host.window;

	oracle_boot(gpcs, sms);
	rig_drain();
	d->cga_ids = ids;
	d->lmem_slots = slots;
	cga_ids_init();
	memset(model, 0, sizeof(model));
	memset(memory, 0, sizeof(memory));
	memory_free = slots < CGA_IDS_LMEM_SLOTS ? slots : CGA_IDS_LMEM_SLOTS;
	ended = 0;
	for (unsigned i = 0; i < domains.gpcs; i++) {
		unsigned most = popcount32(domains.gpc[i].all) * 32; /* CTA slots of its SMs */

		credits[i] = ids < IDS / domains.gpcs ? ids : IDS / domains.gpcs;
		credits[i] = credits[i] < most ? credits[i] : most;
	}
}

/* The engines have taken as many commands as ever, or none for a long time. */
static void fill_ring(bool full)
{
	command_publish();
	rig_drain();
	if (full)
		hal_host_fill(COMMAND_ASK(2 * COMMAND_FLUSH_WORDS) - 1);
}

/* Everything that anybody can ask. */
static void check(void)
{
	bool idle = true;

	assert_int_equal(cga_ids_lmem_free(), memory_free);
	for (unsigned i = 0; i < domains.gpcs; i++) {
		const struct gpc *gpc = &domains.gpc[i];
		unsigned id = roll(IDS + 3);
		const struct model *m = &model[gpc->number][id % IDS];

		assert_int_equal(gpc->credits, credits[i]);
		idle = idle && gpc->credits == gpc->credits_all;
		assert_int_equal(cga_ids_task(gpc->number, id), id < IDS && m->life == RUNS && m->running ? (int)m->slot : -1);
	}
	for (unsigned i = 0; i < CGA_IDS_LMEM_SLOTS; i++)
		idle = idle && !memory[i].unflushed;
	assert_int_equal(cga_ids_idle(), idle);
}

/* A CGA gets an identity, and starts unless it turns out not to fit. */
static void take(struct gpc *gpc)
{
	unsigned slot = roll(32), id, n;
	uint32_t lmem = CGA_IDS_NO_LMEM, sms;
	struct model *m;

	if (!gpc->credits)
		return;
	id = cga_ids_take(gpc, slot);
	m = &model[gpc->number][id];
	assert_true(id < IDS);
	assert_int_equal(m->life, FREE);
	if (memory_free && roll(2)) {
		lmem = cga_ids_lmem_take(gpc, id);
		assert_true(lmem < cga_ids_lmem_slots() && !memory[lmem].used);
	}
	if (!roll(5)) {
		cga_ids_undo(gpc, id, lmem);
		return;
	}
	credits[gpc->index]--;
	*m = (struct model){ .life = RUNS, .slot = slot, .lmem = lmem };
	if (lmem != CGA_IDS_NO_LMEM) {
		memory_free--;
		memory[lmem].used = true;
		memory[lmem].gpc = gpc->number;
		memory[lmem].id = id;
	}
	for (unsigned parts = 1 + roll(3); parts; parts--) {
		sms = roll32() & gpc->all & (roll(2) ? ~0u : roll32());
		sms = sms ? sms : 1;
		n = popcount32(sms) * (1 + roll(2));
		cga_ids_started(gpc, id, sms, n);
		m->ran |= sms;
		m->running += n;
	}
}

/* Read the flushes that were asked for: each one is of a CGA that has ended, goes to its SMs, and comes once. */
static void read_flushes(void)
{
	const uint32_t *w;
	unsigned words;

	command_publish();
	while ((w = hal_host_command(&words))) {
		unsigned number = w[0] >> 16 & 0xff, what = w[0] >> 24;

		assert_int_equal(w[0] & 0xff, TUTTI_CMD_FLUSH);
		assert_int_equal(words, 3);
		if (what == TUTTI_FLUSH_DSMEM) {
			struct model *m = &model[number][w[1]];

			assert_true(m->life == FLUSHES && m->late);
			m->late = false;
			m->unflushed = m->ran;
			assert_int_equal(w[2], m->ran);
			ended--;
		} else {
			assert_int_equal(what, TUTTI_FLUSH_LMEM);
			assert_true(memory[w[1]].used && !memory[w[1]].unflushed && memory[w[1]].gpc == number);
			memory[w[1]].unflushed = w[2];
			assert_int_equal(w[2], model[number][memory[w[1]].id].ran);
		}
	}
}

/* Some CTAs of a CGA end, mostly not the last ones. */
static void end(struct gpc *gpc, unsigned id)
{
	struct model *m = &model[gpc->number][id];
	unsigned n;

	if (m->life != RUNS)
		return;
	n = roll(2) ? m->running : 1 + roll(m->running);
	m->running -= n;
	cga_ids_ended(gpc, id, n);
	if (m->running)
		return;
	m->life = FLUSHES;
	m->late = true;
	ended++;
}

/* Some SMs have flushed. The identity, or the slot, is free when the last one has. */
static void flushed(struct gpc *gpc, unsigned what, unsigned which)
{
	uint32_t *left = what == TUTTI_FLUSH_DSMEM ? &model[gpc->number][which].unflushed : &memory[which].unflushed;
	uint32_t part = roll(2) ? *left : *left & roll32();
	struct tutti_event event = { { TUTTI_EVENT_FLUSHED | (uint32_t)gpc->number << 8 | what << 16, which, part } };
	const struct gpc *freed;

	if (!part)
		return;
	*left &= ~part;
	freed = cga_ids_event_flushed(&event);
	assert_ptr_equal(freed, *left ? NULL : gpc);
	if (!freed)
		return;
	if (what == TUTTI_FLUSH_DSMEM) {
		model[gpc->number][which].life = FREE;
		credits[gpc->index]++;
		return;
	}
	memory[which].used = false;
	memory_free++;
}

static struct gpc *any_gpc(void)
{
	return &domains.gpc[roll(domains.gpcs)];
}

/* The GPC with this number. */
static struct gpc *gpc_of(unsigned number)
{
	for (struct gpc *gpc = domains.gpc; gpc < domains.end; gpc++)
		if (gpc->number == number)
			return gpc;
	fail_msg("no GPC %u", number);
	return NULL;
}

/* One thing that happens to CGAs. */
static void step(unsigned ids, bool full)
{
	struct gpc *gpc = any_gpc();
	unsigned slot = roll(CGA_IDS_LMEM_SLOTS);

	switch (roll(4)) {
	case 0:
		take(gpc);
		break;
	case 1:
		end(gpc, roll(ids));
		break;
	case 2:
		flushed(gpc, TUTTI_FLUSH_DSMEM, roll(ids));
		break;
	default:
		if (memory[slot].unflushed)
			flushed(gpc_of(memory[slot].gpc), TUTTI_FLUSH_LMEM, slot);
	}
	if (full)
		return;
	read_flushes();
	assert_int_equal(ended, 0);
}

/* All CGAs end, and all SMs flush. */
static void run_down(unsigned ids)
{
	for (struct gpc *gpc = domains.gpc; gpc < domains.end; gpc++)
		for (unsigned id = 0; id < ids; id++) {
			while (model[gpc->number][id].life == RUNS)
				end(gpc, id);
			read_flushes();
			while (model[gpc->number][id].unflushed)
				flushed(gpc, TUTTI_FLUSH_DSMEM, id);
		}
	for (unsigned slot = 0; slot < CGA_IDS_LMEM_SLOTS; slot++)
		while (memory[slot].unflushed)
			flushed(gpc_of(memory[slot].gpc), TUTTI_FLUSH_LMEM, slot);
	assert_true(cga_ids_idle());
	assert_int_equal(cga_ids_lmem_free(), cga_ids_lmem_slots());
}

/*
 * Flushes that found no room in the ring are asked for as soon as there is some, even if this is enough for a part of them
 * only, and all of them are asked for in the end.
 */
static void resume(void)
{
	unsigned before = ended;

	assert_int_equal(command_ring.asked, before != 0);
	while (ended) {
		fill_ring(false);
		hal_host_fill(COMMAND_ASK(2 * COMMAND_FLUSH_WORDS) + roll(3 * COMMAND_FLUSH_WORDS));
		cga_ids_resume();
		read_flushes();
		assert_true(ended < before);
		before = ended;
	}
}

static void lives(void **unused)
{
	static const unsigned sms[][TUTTI_MAX_GPCS] = { { 18 }, { 8, 3, 1 }, { 4, 33, 8 }, { 33, 4, 8 }, { 2, 2, 2, 2, 2, 2, 2, 2 } };
	static const unsigned gpcs[] = { 1, 3, 3, 3, 8 }, ids[] = { 256, 5, 300, 1, 31 }, slots[] = { 64, 3, 0, 1, 99 };
	unsigned late = 0;

	(void)unused;
	for (unsigned round = 0; round < 40; round++) {
		unsigned c = round % 5, own;

		seed(300 + round);
		begin(gpcs[c], sms[c], ids[c], slots[c]);
		own = ids[c] < IDS / domains.gpcs ? ids[c] : IDS / domains.gpcs;
		check();
		for (unsigned lap = 0; lap < 30; lap++) {
			bool full = lap % 3 == 2;

			command_ring.asked = false;
			fill_ring(full);
			for (unsigned n = roll(60); n; n--) {
				step(own, full);
				check();
			}
			if (!full)
				continue;
			late += ended;
			resume();
			check();
		}
		fill_ring(false);
		run_down(own);
	}
	assert_true(late > 200);
}

/* On a card with the maximum number of GPCs, even the last one has identities of its own and gets none of another GPC. */
static void most_gpcs(void **unused)
{
	unsigned sms[TUTTI_MAX_GPCS], i;

	(void)unused;
	for (i = 0; i < TUTTI_MAX_GPCS; i++)
		sms[i] = 16;
	seed(8);
	begin(TUTTI_MAX_GPCS, sms, IDS, CGA_IDS_LMEM_SLOTS);
	for (unsigned n = 0; n < 3000; n++)
		step(IDS / TUTTI_MAX_GPCS, false);
	check();
	fill_ring(true);
	for (unsigned n = 0; n < 1500; n++)
		step(IDS / TUTTI_MAX_GPCS, true);
	assert_true(ended > 50);
	resume();
	fill_ring(false);
	run_down(IDS / TUTTI_MAX_GPCS);
	check();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-17 CGA-23 CGA-26 CGA-27 CGA-28 REL-11", lives),
		RIG_TEST("CGA-23 CGA-26 SYS-14", most_gpcs),
	};

	return cmocka_run_group_tests_name("firmware: identities of CGAs", tests, NULL, NULL);
}

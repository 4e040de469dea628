/* SPDX-License-Identifier: MIT */
/*
 * Tasks of every kind at once on cards of every size: priorities, head insertion, sequences, quotas, affinity, groups at
 * every level, several shapes, cancelled ones, SMs that are switched off and on. CTAs end in any order. Each CTA is
 * launched once, in order, where it may be; nothing is over-booked, nothing left behind, everything ends.
 */
#include "fw_life.h"

#include "top/main.h"
#include "place/plain_grid.h"
#include "tasks/patience.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/issue_rounds.h"

#define JOBS 400u
#define TMD_AT 0x4350000000ull
#define MASK_AT 0x5460000000ull
#define MASK_BYTES 256u

struct job {
	unsigned queue, kernel, groups, whole; /* @whole: CTAs of an outermost CGA, or 1 */
	bool sequence, pinned, cancelled, ended;
	unsigned issued, running;
	uint64_t packet;
};

static struct job job[JOBS];
static unsigned jobs;
static struct tutti_tmd tmd[JOBS];
static uint32_t mask[JOBS][MASK_BYTES / 4];
static struct job *owner[CARD_SLOTS];
static uint32_t off[TUTTI_MAX_SMS / 32];
static bool groups_too;
/* what has happened over all rounds */
static struct { unsigned jobs, ctas, cgas, evictions, turns, cancelled, pinned; } seen;
static unsigned sms;

static void *user_memory(uint64_t address)
{
	if (address >= TMD_AT && address < TMD_AT + sizeof(tmd))
		return (uint8_t *)tmd + (address - TMD_AT);
	if (address >= MASK_AT && address < MASK_AT + sizeof(mask))
		return (uint8_t *)mask + (address - MASK_AT);
	return NULL;
}

/* The task continues where it stopped, and the task that had the slot before has no CTAs on the card. */
static void has_slot(unsigned slot, const struct tutti_task_state *state)
{
	struct job *j = &job[state->kernarg / 16];

	assert_true(state->kernarg / 16 < jobs && !j->ended);
	assert_int_equal(state->first, j->issued);
	assert_int_equal(state->tmd, TMD_AT + (uint64_t)(j - job) * sizeof(tmd[0]));
	owner[slot] = j;
}

static void started(unsigned slot, unsigned sm)
{
	struct job *j = owner[slot];

	assert_true(j->issued < j->groups);
	assert_false(off[sm / 32] >> (sm % 32) & 1);
	if (j->pinned)
		assert_true(mask[j - job][sm / 32] >> (sm % 32) & 1);
	if (j->sequence)
		assert_int_equal(j->running, 0);
	j->issued++;
	j->running++;
}

static void ended(unsigned slot, unsigned n)
{
	assert_true(owner[slot]->running >= n);
	owner[slot]->running -= n;
}

/* Once, when all has run, or all that was launched of a cancelled one. */
static void signal_sent(uint64_t address, bool cancelled)
{
	struct job *j = &job[(address - SIGNAL_AT) / 64];

	assert_true((address - SIGNAL_AT) / 64 < jobs && !j->ended);
	assert_int_equal(j->running, 0);
	assert_int_equal(j->issued % j->whole, 0); /* groups are whole */
	if (cancelled)
		assert_true(j->cancelled);
	else
		assert_int_equal(j->issued, j->groups);
	j->ended = true;
}

/* Such as fit some domain of this card. */
static void random_levels(struct tutti_tmd *t, struct job *j)
{
	unsigned kind = 0, level, levels = 1 + roll(2), parts;

	for (level = 0; level < levels && kind < TUTTI_CGA_GPU; level++) {
		kind += 1 + roll(TUTTI_CGA_GPU - kind);
		parts = 1 + roll(sms < 6 ? 2 - level : level ? 2 : 4);
		t->cga[level] = (struct tutti_cga_shape){ .kind = (uint16_t)kind, .x = (uint16_t)parts, .y = 1, .z = 1 };
		j->whole *= parts;
	}
	t->cga_mode = (uint8_t)(j->whole <= (sms < 6 ? 1 : 4) && roll(2));
}

static void random_job(unsigned q)
{
	struct tutti_dispatch_packet p;
	struct tutti_tmd *t = &tmd[jobs];
	struct job *j = &job[jobs];
	unsigned i, set = 0;

	*j = (struct job){ .queue = q, .kernel = roll(KERNELS), .whole = 1, .packet = written[q] };
	*t = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .priority = (uint8_t)roll(11) };
	t->flags = roll(4) ? 0 : TUTTI_TMD_HEAD;
	if (groups_too && !roll(3))
		random_levels(t, j);
	else if (!roll(5))
		t->flags |= TUTTI_TMD_SEQUENCE;
	if (!roll(4)) {
		t->flags |= TUTTI_TMD_QUOTA;
		t->quota = 1 + roll(5);
	}
	if (!roll(5) && j->whole == 1) {
		t->flags |= TUTTI_TMD_AFFINITY;
		t->affinity = MASK_AT + jobs * MASK_BYTES;
		for (i = 0; i < MASK_BYTES / 4; i++)
			mask[jobs][i] = roll32() & roll32();
		for (i = 0; i < sms; i++)
			set |= mask[jobs][i / 32] >> (i % 32) & 1;
		mask[jobs][0] |= !set;
	}
	j->sequence = t->flags & TUTTI_TMD_SEQUENCE;
	j->pinned = t->flags & TUTTI_TMD_AFFINITY;
	j->groups = j->whole * (1 + roll(roll(4) ? 6 : 60));
	p = rig_packet(KERNEL_AT + 64 * j->kernel);
	p.setup = 1;
	p.workgroup_x = 32;
	p.grid_x = 32 * j->groups;
	p.kernarg = 16 * jobs;
	p.signal = SIGNAL_AT + 64 * jobs;
	p.tmd = TMD_AT + jobs * sizeof(tmd[0]);
	ring[q][written[q]++ % RING].dispatch = p;
	jobs++;
	rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
	take_commands();
}

/* As rig_message(), but its commands are for the card, and no test waits for the reply. */
static void post(unsigned type, uint64_t a, uint64_t b, uint64_t c)
{
	const struct tutti_discovery *d = discovery();
	struct tutti_control *control = (void *)(hal_host.window + d->control.offset);
	const struct tutti_status *status = (void *)(hal_host.window + d->status.offset);
	struct tutti_message *to = (void *)(hal_host.window + d->host_ring.offset);

	to[control->host_ring_tail % (d->host_ring.bytes / 64)] =
		(struct tutti_message){ .type = (uint16_t)type, .id = control->host_ring_tail + 1, .arg = { a, b, c } };
	control->host_ring_tail++;
	rig_event(TUTTI_EVENT_MESSAGE, 0, 0);
	take_commands();
	if (control->card_ring_head == status->card_ring_tail) {
		bool tight = hal_host_tight;

		/* what the host has asked for is done before it goes on */
		hal_host_tight = false;
		take_commands();
		rig_event(TUTTI_EVENT_MESSAGE, 0, 0);
		take_commands();
		hal_host_tight = tight;
	}
	control->card_ring_head = status->card_ring_tail;
}

/* One that has not ended; whether it was accepted, and so is cancelled, its signal tells. */
static void cancel_some(void)
{
	struct job *j = &job[roll(jobs)];

	if (j->ended)
		return;
	j->cancelled = true;
	post(TUTTI_MSG_TASK_CANCEL, j->queue, j->packet, 0);
}

static void toggle(unsigned sm)
{
	bool enable = off[sm / 32] >> (sm % 32) & 1, tight = hal_host_tight;

	off[sm / 32] &= ~(1u << (sm % 32));
	post(TUTTI_MSG_SM_ENABLE, sm, 1, enable);
	if (enable)
		return;
	/* rounds that were put off may have gone on before the firmware read the request */
	hal_host_tight = false;
	take_commands();
	hal_host_tight = tight;
	off[sm / 32] |= 1u << (sm % 32);
}

static void toggle_some(void)
{
	unsigned sm = roll(sms), left = 0, i;

	for (i = 0; i < sms; i++)
		left += !(off[i / 32] >> (i % 32) & 1);
	if (off[sm / 32] >> (sm % 32) & 1 || left > sms / 2 + 1)
		toggle(sm);
}

static bool all_ended(void)
{
	unsigned i;

	for (i = 0; i < jobs; i++)
		if (!job[i].ended)
			return false;
	return true;
}

static void step(void)
{
	if (pooled && roll(4))
		deliver(roll(pooled));
	else
		end_some();
}

static bool quiet_card(void)
{
	unsigned i;

	for (i = 0; i < CARD_SLOTS; i++)
		if (card_slot[i].running || card_slot[i].late || card_slot[i].killing)
			return false;
	return !pooled;
}

static unsigned free_slots(void)
{
	const struct task *t;
	unsigned n = 0;

	for (t = task_table.free; t; t = t->next)
		n++;
	for (t = task_table.held; t; t = t->next)
		n++;
	return n;
}

/* All is as it was before the first task. */
static void nothing_left(void)
{
	unsigned i;

	check_idle();
	for (i = 0; i < FW_TMDS; i++)
		assert_int_equal(tmd_at(i)->stage, TMD_FREE);
	assert_true(pending_idle());
	assert_int_equal(free_slots(), fw.tasks);
	assert_true(rounds_idle());
	assert_null(patience_holder);
	assert_false(place_state.detours & (DETOUR_HOLDING | DETOUR_THROTTLE));
	for (i = 0; i < sms; i++)
		assert_int_equal(card_sm[i].ctas, 0);
	assert_int_equal(counters.signals, jobs); /* Each task sends one, whether it was cancelled or not. */
	for (i = 0; i < jobs; i++) {
		bool cancelled = tmd[i].state & TUTTI_TMD_CANCELLED;

		assert_true(job[i].ended);
		seen.ctas += job[i].issued;
		seen.cancelled += cancelled;
		seen.pinned += job[i].pinned;
		if (tmd[i].issued != job[i].issued)
			fail_msg("task %u: %u CTAs of %u, its metadata say %lu; state %u", i, job[i].issued, job[i].groups,
				 tmd[i].issued, tmd[i].state);
		assert_int_equal(tmd[i].completed, job[i].issued);
		assert_true(tmd[i].state & TUTTI_TMD_FINISHED);
		assert_int_equal(tmd[i].error, cancelled ? TUTTI_ERROR_CANCELLED : 0);
	}
}

static void open_card(const uint16_t *gpc, unsigned gpcs, unsigned slots)
{
	unsigned i;

	hook.user = user_memory;
	hook.state = has_slot;
	hook.started = started;
	hook.ended = ended;
	hook.signal = signal_sent;
	always_extended = 1;
	jobs = sms = 0;
	memset(off, 0, sizeof(off));
	memset(tmd, 0, sizeof(tmd));
	memset(mask, 0, sizeof(mask));
	for (i = 0; i < gpcs; i++)
		sms += gpc[i];
	hal_host_slots = slots;
	begin(gpc, gpcs);
	hal_host_slots = 0;
	for (i = 0; i < KERNELS; i++) {
		unsigned of = i % 4; /* no more shapes than the firmware keeps at once */

		descriptor[i].group_bytes = of * 2048 * 5;
		descriptor[i].scalar_blocks = (uint16_t)(1 + 2 * of);
		descriptor[i].vector_blocks = (uint16_t)(7 - of);
		descriptor[i].barriers = (uint16_t)(of == 2);
	}
}

/* What the lakes say is taken is what is on the card, once all events are told. */
static void lakes_are_true(void)
{
	unsigned s, i, c, n;

	if (pooled || gpc_rows_lead() || !all_taken())
		return;
	for (s = 0; s < shapes.shapes; s++)
		for (i = 0; i < sms; i++) {
			if (!(shapes.included[i / 32] >> (i % 32) & 1))
				continue;
			for (n = c = 0; c < 32; c++) {
				const struct card_cta *cta = &card_sm[i].cta[c];
				const struct tutti_task_state *t = &card_slot[cta->slot].state;

				n += cta->used && (t->scalar_blocks | (uint32_t)t->vector_blocks << 16) == shapes.shape[s].registers &&
				     (t->shared_blocks | (uint32_t)t->barriers << 16) == shapes.shape[s].shared &&
				     t->waves == shapes.shape[s].waves;
			}
			if (shapes.shape[s].capacity - lake_level(&shapes.shape[s].lake, i) != n)
				fail_msg("shape %u, SM %u: %u of %u slots are free beside %u CTAs", s, i,
					 lake_level(&shapes.shape[s].lake, i), shapes.shape[s].capacity, n);
		}
}

static void mixture(const uint16_t *gpc, unsigned gpcs, unsigned number, unsigned steps)
{
	unsigned i, q;

	seed(number);
	open_card(gpc, gpcs, number % 2 ? 2 + roll(6) : 32); /* few slots: eviction */
	groups_too = number % 3; /* in the others SMs come and go */
	rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SEED, number % 3, 0);
	rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CTA_CAP, number % 4 == 1 ? 3 : 0, 0);
	rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_ISSUE, number % 5 == 2, 0);
	hal_host_tight = number / 2 % 2;
	for (i = 0; i < steps && jobs < JOBS; i++) {
		q = roll(QUEUES);
		if (!roll(4) && written[q] - queues[q].head < RING - 2)
			random_job(q);
		else if (jobs && !roll(40))
			cancel_some();
		else if (number % 3 == 0 && !roll(60))
			toggle_some();
		else
			step();
		lakes_are_true();
		hal_host.time += roll(3000);
	}
	for (i = 0; i < sms; i++)
		if (off[i / 32] >> (i % 32) & 1)
			toggle(i);
	for (i = 0; i < 100000 && !(all_ended() && quiet_card()); i++) {
		step();
		lakes_are_true();
		hal_host.time += 3000;
	}
	for (i = 0; i < jobs; i++)
		if (!job[i].ended)
			fail_msg("card %u: task %u of queue %u never ends: %u of %u CTAs, %u running", number, i, job[i].queue,
				 job[i].issued, job[i].groups, job[i].running);
	for (i = 0; i < QUEUES; i++)
		if (queues[i].state != QUEUE_RUNNING)
			fail_msg("queue %u of card %u: error %u at packet %lu", i, number, queues[i].error, queues[i].head);
	nothing_left();
	seen.jobs += jobs;
	seen.cgas += cgas_started;
	seen.evictions += counters.evictions;
	seen.turns += counters.turns;
}

/* A small card, an unusual one, one with unequal GPCs, a typical one, and the largest. */
static void cards_of_all_sizes(void **unused)
{
	static const struct { unsigned gpcs, rounds; uint16_t gpc[32]; } card[] = {
		{ 1, 10, { 1 } },
		{ 1, 10, { 7 } },
		{ 1, 6, { 32 } },
		{ 3, 12, { 6, 11, 9 } },
		{ 8, 10, { 18, 16, 16, 18, 16, 16, 16, 16 } }, /* 132 */
		{ 8, 5, { 18, 18, 18, 18, 18, 18, 18, 18 } },
		{ 32, 2, { 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32,
			   32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32 } },
	};
	unsigned i, n;

	for (i = 0; i < sizeof(card) / sizeof(card[0]); i++)
		for (n = 0; n < card[i].rounds; n++)
			mixture(card[i].gpc, card[i].gpcs, 1000 * i + n, 1200);
	print_message("%u tasks, %u CTAs, %u groups, %u evictions, %u turns, %u cancelled, %u pinned\n", seen.jobs, seen.ctas,
		      seen.cgas, seen.evictions, seen.turns, seen.cancelled, seen.pinned);
	assert_true(seen.jobs > 5000 && seen.cgas > 1000 && seen.evictions > 50 && seen.turns > 500 &&
		    seen.cancelled > 80 && seen.pinned > 300);
}

/* Four CTAs, each on an SM of its own, inside one GPC. */
static unsigned group_on(const uint32_t *allowed)
{
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT);
	unsigned n = jobs++;
	struct job *j = &job[n];

	*j = (struct job){ .queue = 0, .whole = 4, .groups = 8, .pinned = true };
	tmd[n] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .flags = TUTTI_TMD_AFFINITY,
					.affinity = MASK_AT + n * MASK_BYTES, .cga_mode = TUTTI_CGA_MULTICAST,
					.cga = { { .kind = TUTTI_CGA_GPC, .x = 4, .y = 1, .z = 1 } } };
	memcpy(mask[n], allowed, 4);
	p.workgroup_x = 32;
	p.grid_x = 32 * j->groups;
	p.kernarg = 16 * n;
	p.signal = SIGNAL_AT + 64 * n;
	p.tmd = TMD_AT + n * sizeof(tmd[0]);
	ring[0][written[0]++ % RING].dispatch = p;
	rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
	take_commands();
	deliver_all();
	return n;
}

/* SMs of a mask in which a group can never start: an error, not a wait without end; else it keeps to them. */
static void groups_and_masks(void **unused)
{
	static const uint16_t gpc[] = { 8, 8 };
	static const struct { uint32_t mask; bool ok; } c[] = {
		{ 0x000f, true }, { 0x0303, false }, { 0x0707, false }, { 0x5500, true }, { 0x8001, false }, { 0x071b, true },
	};
	unsigned i, n, k;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		seed(i);
		open_card(gpc, 2, 32);
		n = group_on(&c[i].mask);
		assert_int_equal(queues[0].state, c[i].ok ? QUEUE_RUNNING : QUEUE_STOPPED);
		if (!c[i].ok) {
			assert_int_equal(queues[0].error, TUTTI_ERROR_GRID);
			assert_int_equal(job[n].issued, 0);
			continue;
		}
		for (k = 0; k < 100000 && !job[n].ended; k++)
			step();
		assert_true(job[n].ended && job[n].issued == 8);
	}
}

/* A task of @groups CTAs with metadata @what. */
static unsigned task_of(unsigned q, unsigned kernel, unsigned groups, unsigned whole, const struct tutti_tmd *what)
{
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT + 64 * kernel);
	unsigned n = jobs++;

	job[n] = (struct job){ .queue = q, .kernel = kernel, .whole = whole, .groups = groups };
	tmd[n] = *what;
	tmd[n].magic = TUTTI_TMD_MAGIC;
	tmd[n].version = TUTTI_TMD_VERSION;
	p.workgroup_x = 32;
	p.grid_x = 32 * groups;
	p.kernarg = 16 * n;
	p.signal = SIGNAL_AT + 64 * n;
	p.tmd = TMD_AT + n * sizeof(tmd[0]);
	ring[q][written[q]++ % RING].dispatch = p;
	rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
	take_commands();
	return n;
}

static void all_end(void)
{
	unsigned i;

	for (i = 0; i < 100000 && !(all_ended() && quiet_card()); i++) {
		step();
		hal_host.time += 3000;
	}
	assert_true(all_ended());
	nothing_left();
}

/* Domains are held for a CGA that found no room for long when throttle mode begins: neither waits for the other. */
static void held_in_throttle_mode(void **unused)
{
	static const uint16_t gpc[] = { 8 };
	const struct tutti_tmd plain = { .priority = 1 },
			       group = { .priority = 5, .cga_mode = TUTTI_CGA_MULTICAST, .cga = { { .kind = TUTTI_CGA_GPC, .x = 8, .y = 1, .z = 1 } } },
			       throttled = { .priority = 5, .flags = TUTTI_TMD_THROTTLE, .throttle_sms = 2 };
	unsigned i;

	seed(1);
	open_card(gpc, 1, 32);
	descriptor[3].group_bytes = 2048 * 60;
	rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_PATIENCE, 4, 0);
	task_of(1, 1, 800, 1, &plain);
	deliver_all();
	task_of(2, 3, 16, 8, &group);
	for (i = 0; i < 1000 && !patience_holder; i++)
		step();
	assert_non_null(patience_holder);
	task_of(3, 2, 6, 1, &throttled);
	all_end();
}

/* Throttle mode begins while all SMs are off. When one is on again the task runs there. */
static void throttle_without_sms(void **unused)
{
	static const uint16_t gpc[] = { 4 };
	const struct tutti_tmd throttled = { .flags = TUTTI_TMD_THROTTLE, .throttle_sms = 2 };
	unsigned sm, n;

	seed(1);
	open_card(gpc, 1, 32);
	for (sm = 0; sm < 4; sm++)
		toggle(sm);
	n = task_of(3, 2, 6, 1, &throttled);
	deliver_all();
	assert_int_equal(job[n].issued, 0);
	toggle(2);
	all_end();
}

/* A throttle task of two SMs that may run on those of @allowed only. */
static unsigned pinned_throttle(unsigned q, uint32_t allowed)
{
	const struct tutti_tmd what = { .flags = TUTTI_TMD_THROTTLE | TUTTI_TMD_AFFINITY, .throttle_sms = 2,
					.affinity = MASK_AT + jobs * MASK_BYTES };
	unsigned n;

	memset(mask[jobs], 0, MASK_BYTES);
	mask[jobs][0] = allowed;
	n = task_of(q, 2, 6, 1, &what);
	job[n].pinned = true;
	return n;
}

/* Throttle tasks whose masks have no SM in common, none of them the card's first: each gets SMs that it may use. */
static void throttle_and_masks(void **unused)
{
	static const uint16_t gpc[] = { 8 };
	const struct tutti_tmd plain = { .priority = 1 };

	seed(1);
	open_card(gpc, 1, 32);
	pinned_throttle(1, 0x30);
	pinned_throttle(2, 0xc0);
	pinned_throttle(3, 0x48);
	task_of(0, 1, 40, 1, &plain);
	all_end();
	/* The card is not emptied for a throttle task that may use an SM of the mode, even if it would choose others. */
	seed(1);
	open_card(gpc, 1, 32);
	pinned_throttle(1, 0x30);
	pinned_throttle(2, 0x28);
	all_end();
	assert_int_equal(counters.throttles, 2);
}

/* A throttle task whose only SM is off waits for it, and keeps nobody else from the card. */
static void throttle_on_an_sm_that_is_off(void **unused)
{
	static const uint16_t gpc[] = { 8 };
	const struct tutti_tmd plain = { .priority = 5 };
	unsigned waits, other, second, i;

	seed(1);
	open_card(gpc, 1, 32);
	toggle(5);
	waits = pinned_throttle(1, 0x20);
	other = task_of(2, 1, 40, 1, &plain);
	second = pinned_throttle(3, 0x22);
	for (i = 0; i < 100000 && !(job[other].ended && job[second].ended); i++)
		step();
	assert_true(job[other].ended && job[second].ended);
	assert_int_equal(job[waits].issued, 0);
	toggle(5);
	all_end();
}

/* A CTA that needs almost all of an SM: a search by samples does not find its run, even if the SM is idle. */
static void overlooked_on_an_idle_sm(void **unused)
{
	static const uint16_t gpc[] = { 2 };
	const struct tutti_tmd plain = { .priority = 5 };

	seed(1);
	open_card(gpc, 1, 32);
	descriptor[1].group_bytes = 2048 * 50; /* of 64; the samples are 48 and 64 blocks, see RES-10 */
	card_sm[0].shared_blocks = card_sm[1].shared_blocks = 63;
	fw.shared_blocks = shapes.shared_blocks = 63;
	rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SEARCH, TUTTI_SEARCH_SAMPLED, 0);
	task_of(1, 1, 6, 1, &plain);
	all_end();
}

/* Whole CGAs are placed, so a turn takes more than a quota that they do not divide; the turn passes all the same. */
static void quota_of_cgas(void **unused)
{
	static const uint16_t gpc[] = { 8 };
	const struct tutti_tmd group = { .priority = 5, .flags = TUTTI_TMD_QUOTA, .quota = 2,
					 .cga = { { .kind = TUTTI_CGA_GPC, .x = 4, .y = 1, .z = 1 } } };
	unsigned n[2], begun[2], i, k;

	seed(1);
	open_card(gpc, 1, 32);
	for (k = 0; k < 2; k++)
		n[k] = task_of(1 + k, 3, 1200, 4, &group);
	deliver_all();
	for (k = 0; k < 2; k++)
		begun[k] = job[n[k]].issued;
	for (i = 0; i < 100000 && job[n[1]].issued < 800; i++) {
		step();
		assert_in_range(job[n[0]].issued - begun[0] + 8, job[n[1]].issued - begun[1], job[n[1]].issued - begun[1] + 16);
	}
	assert_true(job[n[1]].issued >= 800);
	all_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TSK-03 TSK-04 TSK-08 TSK-12 TSK-14 TSK-16 CGA-03 CGA-04 CGA-13 RES-02 RES-05", cards_of_all_sizes),
		RIG_TEST("CGA-05 TSK-04", groups_and_masks),
		RIG_TEST("CGA-05 TSK-07", held_in_throttle_mode),
		RIG_TEST("TSK-07 CGA-04", throttle_without_sms),
		RIG_TEST("TSK-07 TSK-04", throttle_and_masks),
		RIG_TEST("TSK-07 REL-11", throttle_on_an_sm_that_is_off),
		RIG_TEST("TSK-09 CGA-03", quota_of_cgas),
		RIG_TEST("RES-10", overlooked_on_an_idle_sm),
	};

	return cmocka_run_group_tests_name("firmware: tasks of every kind at once", tests, NULL, NULL);
}

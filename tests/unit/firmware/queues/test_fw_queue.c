/* SPDX-License-Identifier: MIT */
/*
 * The whole firmware between hosts that write packets, ring doorbells and change their minds, and a card that takes
 * commands slowly and answers in any order. The model knows the meaning of every packet, and checks each command when
 * it is taken (PKT-02 .. PKT-21, CGA-06, CGA-13, CGA-14, TSK-05, SYS-06, SYS-08).
 */
#include "core/counters.h"
#include "fw_producer.h"

static unsigned replies, messages, refusals, resets, destroys, suspends;
static uint32_t last_cap, last_enable[TUTTI_MAX_SMS];
static bool suspending;
/* The same for all: kernels of a condensed packet may be alike, and then a test cannot tell which was evicted. */
static uint8_t priority;
static struct { unsigned type, a, b; uint32_t id; } asked[64];

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

/* The host sets signals that will not come any more, so that no queue waits for them. */
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
					      .priority = priority } };

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
	if (f->code == TUTTI_ERROR_KERNEL_TRAP) {
		pass(q, f->packet);
		if (q->next == f->packet)
			taken(q);
		assert_true(f->kernel < e->n && e->k[f->kernel].faulted && e->k[f->kernel].life == FAILED);
		assert_int_equal(f->pc, 0x1234);
		repair(q);
		return;
	}
	pass(q, f->packet);
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
		/* none of its kernels is running */
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

/* ---- runs ---- */

static void world(unsigned sms)
{
	struct tutti_message m = { .type = TUTTI_MSG_CONTEXT_CREATE, .context = { .asid = ASID, .root = 4096 } };
	unsigned i;

	world_reset(sms);
	priority = (uint8_t)(1 + roll(10));
	memset(asked, 0, sizeof(asked));
	suspending = false;
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

/* A stopped queue is reset; a dead one is created again. */
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
			    queues[i].head, queues[i].in_flight);
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
		pass(&model[i], model[i].read);
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
		assert_int_equal(card_sm[k].shared_used, 0);
	}
}

static unsigned repeated; /* packets that were recognised as the one before */

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
	repeated += counters.repeated;
}

static const unsigned cards[] = { 1, 2, 7, 33, 132 };

static void mixed_queues(void **unused)
{
	unsigned i;

	repeated = 0;
	for (i = 0; i < 60; i++)
		run(100 + i, cards[i % 5], 8000, false, false);
	assert_true(repeated > 100);
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
		RIG_TEST("PKT-03 PKT-04 PKT-05 PKT-11 PKT-16 PKT-17 PKT-21 CGA-14", mixed_queues),
		RIG_TEST("PKT-06 PKT-18 SYS-06", with_faults),
		RIG_TEST("SYS-08 CGA-04", with_changes),
	};

	return cmocka_run_group_tests_name("firmware: queues", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* What fits on SMs with CTAs of other shapes: the firmware's answer is compared with trying it CTA by CTA. */
#include "fw_producer.h"

#include "top/host_channel.h"
#include "place/sm_match.h"

static unsigned sms;

/* Any kernel the default card can run. */
static struct tutti_kernel_descriptor some_kernel(void)
{
	struct tutti_kernel_descriptor d = rig_descriptor();

	d.scalar_blocks = (uint16_t)(roll(3) ? roll(13) : roll(4));
	d.vector_blocks = (uint16_t)(roll(3) ? roll(11) : 0);
	d.group_bytes = roll(2) ? roll(24) * 2048 : 0;
	d.barriers = (uint16_t)roll(3);
	return d;
}

static void begin(unsigned n)
{
	unsigned q;

	sms = n;
	world_reset(n);
	rig_boot(n, ASID);
	for (q = 0; q < QUEUES; q++) {
		struct tutti_message m = { .type = TUTTI_MSG_QUEUE_CREATE,
					   .queue = { .queue = (uint16_t)q, .asid = ASID, .ring = RING_AT + q * 4096ull,
						      .read_index = INDEX_AT + q * 64ull, .size_log2 = 6, .priority = 5 } };

		assert_int_equal(rig_message(&m), 0);
		model[q].id = q;
		model[q].alive = true;
	}
	for (q = 0; q < QUEUES; q++)
		descriptor[q] = some_kernel();
	/* the very first question is answered by a bound: let it be this one */
	assert_false(match_ask());
	rig_event(TUTTI_EVENT_NONE, 0, 0);
	while (take_command())
		;
}

static int policy(unsigned which, uint32_t value)
{
	struct tutti_message m = { .type = TUTTI_MSG_POLICY, .arg = { which, value } };

	int status = rig_message(&m);

	card_mode(shapes.sm_mode); /* rig_message() has dropped the command */
	return status;
}

/* CTAs like those of @state that position @sm takes: put there until no more fits, then all undone. */
static unsigned fits(const struct tutti_task_state *state, unsigned sm)
{
	static struct card_sm kept;
	static struct card_slot slot;
	unsigned n = 0;

	kept = card_sm[sm];
	slot = card_slot[CARD_SLOTS - 1];
	card_slot[CARD_SLOTS - 1].state = *state;
	while (card_start(CARD_SLOTS - 1, sm))
		n++;
	card_sm[sm] = kept;
	card_slot[CARD_SLOTS - 1] = slot;
	card_show(sm);
	return n;
}

static struct tutti_task_state some_state(void)
{
	struct tutti_kernel_descriptor d = some_kernel();

	return (struct tutti_task_state){
		.waves = (uint16_t)(1 + roll(6)), .scalar_blocks = d.scalar_blocks, .vector_blocks = d.vector_blocks,
		.shared_blocks = (uint16_t)(d.group_bytes / 2048), .barriers = d.barriers,
	};
}

static uint32_t ask(const struct tutti_task_state *s, unsigned sm)
{
	return match_room(s->scalar_blocks | (uint32_t)s->vector_blocks << 16,
			  s->shared_blocks | (uint32_t)s->barriers << 16, s->waves, sm);
}

/* A SM in the middle of its life: CTAs of six kinds have come and gone. */
static void some_past(unsigned sm)
{
	unsigned i, slot;

	for (slot = 0; slot < 6; slot++)
		card_slot[slot].state = some_state();
	for (i = 0; i < 60; i++) {
		struct card_sm kept = card_sm[sm];

		slot = roll(6);
		if (roll(5) < 3) {
			if (!card_start(slot, sm)) {
				card_sm[sm] = kept; /* the card stops at the first thing that is missing */
				card_show(sm);
			}
		} else if (card_slot[slot].on[sm]) {
			card_end(slot, sm);
		}
	}
}

static void room_of_an_sm(void **unused)
{
	unsigned round, i, rich = 0;

	for (round = 0; round < 4000; round++) {
		seed(round);
		if (round % 100 == 0)
			begin(2);
		card_reset(2);
		match.rotate = card_rotate = round & 1;
		some_past(1);
		for (i = 0; i < 8; i++) {
			struct tutti_task_state want = some_state();
			unsigned n = fits(&want, 1), search;

			match.search = TUTTI_SEARCH_FULL;
			assert_int_equal(ask(&want, 1), n);
			rich += n > 1;
			for (search = 1; search <= TUTTI_SEARCH_SHARED; search++) {
				match.search = search;
				assert_true(ask(&want, 1) <= n);
				if (search == TUTTI_SEARCH_SHARED && n)
					rich += ask(&want, 1) > 0;
			}
			/* exact search: one fits if and only if one is promised */
			if (!match.rotate && want.waves == 1)
				assert_int_equal(!!ask(&want, 1), !!n);
		}
	}
	assert_true(rich > 10000);
	match.rotate = match.search = 0;
}

/* ---- through packets, completions and launches ---- */

static struct kern *submit(unsigned q, uint32_t groups, unsigned waves)
{
	struct model *m = &model[q];
	struct entry *e = &m->entry[m->write % ENTRIES];
	union tutti_packet p = { .dispatch = rig_packet(KERNEL_AT + 64 * q) };
	struct kern *k = &e->k[0];

	memset(e, 0, sizeof(*e));
	e->n = 1;
	k->groups = groups;
	k->kernarg = 16 * (m->write + 1);
	p.dispatch.workgroup_x = (uint16_t)(32 * waves);
	p.dispatch.grid_x = k->grid_x = 32 * waves * groups;
	p.dispatch.kernarg = k->kernarg;
	e->first_word = p.word[0];
	m->ring[m->write++ % RING] = p;
	e->published = true;
	e->since = ++now;
	ring_doorbell(m);
	return k;
}

static void quiesce(void)
{
	do
		while (take_command())
			;
	while (pooled && (deliver(0), true));
}

static struct card_slot *slot_of(const struct kern *k)
{
	unsigned s;

	for (s = 0; s < CARD_SLOTS; s++)
		if (card_slot[s].busy && card_slot[s].owner == k)
			return &card_slot[s];
	return NULL;
}

/* The most free SM, ties by position, one CTA after another. */
static void oracle(const struct tutti_task_state *state, uint32_t n, uint16_t *on)
{
	unsigned room[TUTTI_MAX_SMS], i, best;

	for (i = 0; i < sms; i++) {
		room[i] = fits(state, i);
		on[i] = 0;
	}
	for (; n; n--) {
		for (best = 0, i = 1; i < sms; i++)
			if (room[i] > room[best])
				best = i;
		if (!room[best])
			return;
		room[best]--;
		on[best]++;
	}
}

/* Queues that have a kernel in flight, and those whose kernel waits for room. */
static unsigned look(struct kern *const kern[QUEUES], unsigned *waiting, unsigned *which)
{
	unsigned q, busy = 0;

	*waiting = 0;
	for (q = 0; q < QUEUES; q++) {
		if (!kern[q] || kern[q]->life != RUNNING)
			continue;
		busy |= 1u << q;
		if (slot_of(kern[q])->launched < kern[q]->groups) {
			++*waiting;
			*which = q;
		}
	}
	return busy;
}

/* Submit a kernel to queue @q. All of its CTAs that fit are placed, and where the oracle says. */
static struct kern *submit_and_compare(unsigned q, uint32_t groups, unsigned waves)
{
	struct tutti_task_state want = {
		.waves = (uint16_t)waves, .scalar_blocks = descriptor[q].scalar_blocks, .vector_blocks = descriptor[q].vector_blocks,
		.shared_blocks = (uint16_t)(descriptor[q].group_bytes / 2048), .barriers = descriptor[q].barriers,
	};
	uint16_t on[TUTTI_MAX_SMS];
	struct kern *kern;
	unsigned i;

	oracle(&want, groups, on);
	kern = submit(q, groups, waves);
	quiesce();
	assert_int_equal(kern->life, RUNNING);
	for (i = 0; i < sms; i++)
		assert_int_equal(slot_of(kern)->on[i], on[i]);
	return kern;
}

/*
 * Kernels of up to FW_SHAPES shapes share a card. Whenever all is quiet: a kernel that waits alone
 * has no SM it would fit on; a new one, when none waits, is placed as the oracle says.
 */
static void share(unsigned round, unsigned n, bool rotated, unsigned *exact, unsigned *full)
{
	struct kern *kern[QUEUES] = { NULL };
	unsigned step, waiting, which = 0, busy, q, i, waves[QUEUES];

	seed(1000 + round);
	begin(n);
	if (rotated)
		assert_int_equal(policy(TUTTI_POLICY_SPLIT, 1), 0);
	quiesce();
	for (q = 0; q < QUEUES; q++)
		waves[q] = 1 + roll(5);
	for (step = 0; step < 120; step++) {
		busy = look(kern, &waiting, &which);
		if (waiting == 1) {
			for (i = 0; i < sms; i++)
				assert_int_equal(fits(&slot_of(kern[which])->state, i), 0);
			++*full;
		}
		q = roll(FW_SHAPES); /* a kernel of one more shape would wait for one */
		if (!waiting && !(busy >> q & 1) && roll(2)) {
			kern[q] = submit_and_compare(q, 1 + roll(roll(4) ? 4 : 40), waves[q]);
			*exact += busy != 0;
		} else {
			for (i = 0; i < CARD_SLOTS; i++)
				if (!roll(4))
					end_ctas(i);
			quiesce();
		}
	}
}

static void several_shapes(void **unused)
{
	static const unsigned sizes[] = { 1, 2, 3, 5, 8, 40 };
	unsigned round, exact = 0, full = 0;

	for (round = 0; round < 240; round++)
		share(round, sizes[round % 6], false, &exact, &full);
	assert_true(exact > 1000);
	assert_true(full > 100);
}

static void several_shapes_rotated(void **unused)
{
	unsigned round, exact = 0, full = 0;

	for (round = 0; round < 120; round++)
		share(round, 1 + round % 7, true, &exact, &full);
	assert_true(exact > 300);
	assert_true(full > 30);
}

/* A visit gives out some thousand CTAs beside those of another shape. The others do not wait until any of them ends. */
static void thousands_beside_another(void **unused)
{
	(void)unused;
	for (unsigned n = 144; n <= 256; n += 112) {
		seed(n);
		begin(n);
		descriptor[0] = descriptor[1] = descriptor[2] = rig_descriptor();
		descriptor[0].scalar_blocks = descriptor[2].vector_blocks = 1;
		quiesce();
		submit_and_compare(0, 10, 1);
		submit_and_compare(1, 3000, 1);
		submit_and_compare(2, 1, 1);
	}
}

/* What the firmware would read of SMs that have not changed is made nonsense: it does not ask them again. */
static void poison(uint64_t changed)
{
	static const struct tutti_sm_state nothing;
	unsigned i;

	for (i = 0; i < sms; i++)
		if (!(changed >> i & 1))
			hal_host.sms[i] = nothing;
}

static uint64_t where(const struct kern *k)
{
	uint64_t mask = 0;
	unsigned i;

	for (i = 0; i < sms; i++)
		mask |= (uint64_t)!!slot_of(k)->on[i] << i;
	return mask;
}

/* A kernel of queue @q is placed as the oracle says, though only SMs @changed can be asked. */
static struct kern *placed_right(unsigned q, uint32_t groups, uint64_t changed)
{
	struct tutti_task_state want = { .waves = 1, .scalar_blocks = descriptor[q].scalar_blocks,
					 .vector_blocks = descriptor[q].vector_blocks };
	uint16_t on[TUTTI_MAX_SMS];
	struct kern *k;
	unsigned i;

	oracle(&want, groups, on);
	poison(changed);
	k = submit(q, groups, 1);
	quiesce();
	assert_int_equal(k->life, RUNNING);
	for (i = 0; i < sms; i++) {
		if (slot_of(k)->on[i] != on[i])
			fail_msg("SM %u of %u: %u CTAs, not %u", i, sms, slot_of(k)->on[i], on[i]);
		card_show(i);
	}
	return k;
}

static void end_all(struct kern *k)
{
	while (k->life == RUNNING) {
		end_ctas((unsigned)(slot_of(k) - card_slot));
		quiesce();
	}
}

static void only_changes_are_asked(void **unused)
{
	uint16_t before[TUTTI_MAX_SMS];
	struct kern *a, *b, *c;
	uint64_t changed;
	unsigned round, i;

	for (round = 0; round < 40; round++) {
		seed(90 + round);
		begin(40);
		descriptor[0].scalar_blocks = 5;
		descriptor[0].vector_blocks = 7;
		descriptor[1].scalar_blocks = 3;
		descriptor[1].vector_blocks = 4;
		descriptor[2].scalar_blocks = 4;
		descriptor[2].vector_blocks = 3;
		for (unsigned q = 0; q < 3; q++) {
			descriptor[q].group_bytes = 0;
			descriptor[q].barriers = 0;
		}
		a = submit(0, 200 + roll(200), 1);
		quiesce();
		b = placed_right(1, 1 + roll(20), ~0ull); /* all are asked once */
		changed = where(b);
		end_all(b);
		b = placed_right(1, 1 + roll(20), changed);
		/* a third shape joins them: it asks for itself, and the second one learns what it did */
		c = placed_right(2, 1 + roll(20), ~0ull);
		changed = where(c) | where(b);
		end_all(b);
		b = placed_right(1, 1 + roll(20), changed);
		/* some CTAs of the first end, wherever they are */
		memcpy(before, slot_of(a)->on, sizeof(before));
		end_ctas((unsigned)(slot_of(a) - card_slot));
		quiesce();
		for (changed = where(b), i = 0; i < sms; i++)
			changed |= (uint64_t)(before[i] != slot_of(a)->on[i]) << i;
		end_all(b);
		placed_right(1, 1 + roll(20), changed);
	}
}

/* Lower bounds only make it cautious: nothing is over-booked (the world sees that), all ends. */
static void bounds_are_safe(void **unused)
{
	unsigned search, q, i, rounds;

	for (search = 1; search <= TUTTI_SEARCH_SHARED; search++) {
		struct kern *kern[QUEUES];

		seed(50 + search);
		begin(3);
		assert_int_equal(policy(TUTTI_POLICY_SEARCH, search), 0);
		quiesce();
		for (q = 0; q < QUEUES; q++)
			kern[q] = submit(q, 30, 1 + q % 4);
		quiesce();
		for (rounds = 0, q = 0; q < QUEUES && rounds < 100000; rounds++) {
			for (i = 0; i < CARD_SLOTS; i++)
				if (!roll(3))
					end_ctas(i);
			quiesce();
			while (q < QUEUES && kern[q]->life == DONE)
				q++;
		}
		assert_int_equal(q, QUEUES);
	}
}

static void values_are_checked(void **unused)
{
	begin(2);
	assert_int_equal(policy(TUTTI_POLICY_SEARCH, 4), -TUTTI_EINVAL);
	assert_int_equal(policy(TUTTI_POLICY_SPLIT, 2), -TUTTI_EINVAL);
	assert_int_equal(policy(TUTTI_POLICY_SEARCH, 3), 0);
	assert_int_equal(policy(TUTTI_POLICY_SEARCH, 0), 0);
	quiesce();
	submit(0, 2, 1);
	quiesce();
	assert_int_equal(policy(TUTTI_POLICY_SPLIT, 1), -TUTTI_EBUSY);
	assert_int_equal(policy(TUTTI_POLICY_SPLIT, 0), 0);
}

/* ---- when the table is up to date ---- */

static uint32_t last_launch; /* where the last LAUNCH ends that has not been published, or what is published */

/* Some command; a NOP may be longer than any other, where a search for domains was given up. */
static void write_command(void)
{
	uint32_t *p;

	switch (roll(6)) {
	case 0:
		command_words(TUTTI_CMD_LAUNCH, 0, (uint32_t[]){ 1u << 24, 0 }, 2);
		last_launch = command_tail();
		break;
	case 1:
		command_fence(roll(4));
		break;
	case 2:
		command_fetch(TUTTI_ASID_BUS, 0, 0, 4, &match.sink, TAG_ROOM);
		break;
	case 3:
		p = command_begin(0x300);
		*p = TUTTI_CMD_NOP | 0x300 << 8;
		command_end(p + 0x300);
		break;
	case 4:
		command_words(TUTTI_CMD_SM_MODE, 1 + roll(0xffff), NULL, 0);
		break;
	default:
		command_publish();
		last_launch = command_tail();
	}
}

static bool up_to_date(uint32_t head)
{
	uint32_t before = hal_host.engines.command_head;
	bool is;

	hal_host.engines.command_head = head;
	is = match_ask();
	hal_host.engines.command_head = before;
	return is;
}

/* As soon as the engines have taken the last LAUNCH; what was published before is not looked through. */
static void after_the_last_launch(void **unused)
{
	unsigned round, i;

	(void)unused;
	for (round = 0; round < 300; round++) {
		seed(round);
		rig_boot(4, ASID);
		hal_host_skip(round & 1 ? (1u << 20) - 2 : 0); /* the ring's index wraps, too */
		assert_false(up_to_date(command_tail() - 1)); /* it is switched on now */
		counters.ctas_issued++;
		assert_false(up_to_date(command_tail() - 1));
		assert_true(up_to_date(command_tail()));
		command_publish();
		rig_drain();
		for (last_launch = command_tail(), i = roll(12); i; i--)
			write_command();
		assert_true(up_to_date(hal_host.engines.command_head)); /* no CTA was launched */
		counters.ctas_issued++;
		assert_false(up_to_date(last_launch - 1));
		assert_true(up_to_date(last_launch));
		assert_true(up_to_date(command_tail()));
		/* others are published meanwhile, and it was said already what to wait for */
		command_publish();
		assert_true(up_to_date(last_launch));
		assert_false(up_to_date(last_launch - 1));
	}
}

/* All commands since the last call; the last one of kind @op, in @record. Return: how many of that kind there were */
static unsigned commands_of(unsigned op, uint32_t *record)
{
	const uint32_t *w;
	unsigned words, n = 0;

	command_publish();
	while ((w = hal_host_command(&words)))
		if ((*w & 0xff) == op) {
			memcpy(record, w, words * 4);
			n++;
		}
	return n;
}

/* SMs write the table from the first question on until nobody has asked from one heartbeat to the next. */
static void written_while_asked(void **unused)
{
	uint32_t w[COMMAND_RECORD], window = 20u << 8;

	(void)unused;
	seed(1);
	rig_boot(4, ASID);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_POWER_WINDOW, 1u << 20, 0), 0);
	for (unsigned rotate = 0; rotate < 2; rotate++) {
		assert_int_equal(match_policy(TUTTI_POLICY_SPLIT, rotate), 0);
		assert_int_equal(commands_of(TUTTI_CMD_SM_MODE, w), rotate);
		match_beat();
		assert_int_equal(commands_of(TUTTI_CMD_SM_MODE, w), 0);
		for (unsigned i = 0; i < 3; i++) {
			match_ask();
			assert_int_equal(commands_of(TUTTI_CMD_SM_MODE, w), !i);
			if (!i) /* scores are for a window; waves go to PEUs in rotation */
				assert_int_equal(w[0] >> 16, window | TUTTI_SM_TABLE | (rotate ? TUTTI_SM_ROTATE : 0));
			match_beat();
			assert_int_equal(commands_of(TUTTI_CMD_SM_MODE, w), 0);
		}
		match_beat();
		assert_int_equal(commands_of(TUTTI_CMD_SM_MODE, w), 1);
		assert_int_equal(w[0] >> 16, window | (rotate ? TUTTI_SM_ROTATE : 0));
	}
}

/* Who could not be told waits for one fetch behind all commands; when it is complete, tasks without room are tried again. */
static void asked_again_later(void **unused)
{
	uint32_t w[COMMAND_RECORD];

	(void)unused;
	seed(1);
	rig_boot(4, ASID);
	match_wait();
	match_wait();
	assert_int_equal(commands_of(TUTTI_CMD_FETCH, w), 1);
	assert_int_equal(w[0] >> 16, TAG_TABLE);
	assert_int_equal(w[1] & 0xffff, TUTTI_ASID_BUS);
	place_state.blocked = false;
	attention.settle = 0;
	match_event();
	assert_true(place_state.blocked);
	assert_int_equal(attention.settle, ATTEND_ROOM);
	match_wait();
	assert_int_equal(commands_of(TUTTI_CMD_FETCH, w), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("RES-01, RES-03, RES-12", room_of_an_sm),
		RIG_TEST("RES-01, RES-03, CGA-06", several_shapes),
		RIG_TEST("PERF-04, RES-01", only_changes_are_asked),
		RIG_TEST("RES-12", several_shapes_rotated),
		RIG_TEST("RES-01, REL-11", thousands_beside_another),
		RIG_TEST("RES-09, RES-10, RES-11", bounds_are_safe),
		RIG_TEST("SYS-08", values_are_checked),
		RIG_TEST("RES-01", after_the_last_launch),
		RIG_TEST("RES-01 RES-12 RES-14", written_while_asked),
		RIG_TEST("RES-01", asked_again_later),
	};

	return cmocka_run_group_tests_name("firmware: matching", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Placement seen from outside, by commands and completions: CTAs that fit are placed at once, and others as CTAs end.
 */
#include "fw_producer.h"

/* One queue with one packet of @groups CTAs of kernel @shape. Return: its kernel in the model. */
static struct kern *submit(unsigned q, unsigned shape, uint32_t groups)
{
	struct model *m = &model[q];
	struct entry *e = &m->entry[m->write % ENTRIES];
	union tutti_packet p = { .dispatch = rig_packet(KERNEL_AT + 64 * shape) };
	struct kern *k = &e->k[0];

	memset(e, 0, sizeof(*e));
	e->n = 1;
	k->groups = groups;
	k->kernarg = 16 * (m->write + 1);
	p.dispatch.workgroup_x = 32;
	p.dispatch.grid_x = k->grid_x = 32 * groups;
	p.dispatch.kernarg = k->kernarg;
	k->signal = new_signal(m, e, k);
	p.dispatch.signal = signal_address(k->signal);
	e->first_word = p.word[0];
	m->ring[m->write++ % RING] = p;
	e->published = true;
	e->since = ++now;
	ring_doorbell(m);
	return k;
}

/* All answers but completions. */
static void quiesce(void)
{
	do
		while (take_command())
			;
	while (pooled && (deliver(0), true));
}

static void begin(unsigned sms)
{
	unsigned q;

	world_reset(sms);
	rig_boot(sms, ASID);
	for (q = 0; q < QUEUES; q++) {
		struct tutti_message m = { .type = TUTTI_MSG_QUEUE_CREATE,
					   .queue = { .queue = (uint16_t)q, .asid = ASID, .ring = RING_AT + q * 4096ull,
						      .read_index = INDEX_AT + q * 64ull, .size_log2 = 6,
						      .priority = (uint8_t)(q + 1) } };

		assert_int_equal(rig_message(&m), 0);
		model[q].id = q;
		model[q].alive = true;
	}
	for (q = 0; q < KERNELS; q++) {
		descriptor[q] = rig_descriptor();
		descriptor[q].group_bytes = q * 2048;
	}
}

static struct card_slot *slot_of(const struct kern *k)
{
	unsigned s;

	for (s = 0; s < CARD_SLOTS; s++)
		if (card_slot[s].owner == k)
			return &card_slot[s];
	return NULL;
}

/* More CTAs than slots: all slots are full until none is left to place, whatever ends when (CGA-13). */
static void full_until_the_end(void **unused)
{
	static const unsigned sizes[] = { 1, 3, 32, 132, 1024 };
	unsigned c, shape, round, full, i;

	for (c = 0; c < 5; c++)
		for (shape = 0; shape < 20; shape += 3) {
			unsigned capacity = shape ? 64 / shape < 32 ? 64 / shape : 32 : 32;
			struct card_slot *slot;
			struct kern *k;

			seed(100 * c + shape);
			begin(sizes[c]);
			full = sizes[c] * capacity;
			k = submit(0, shape, full * 3 + 7);
			quiesce();
			slot = slot_of(k);
			assert_non_null(slot);
			assert_int_equal(slot->running, full);
			for (round = 0; k->life == RUNNING && round < 100000; round++) {
				uint32_t left = k->groups - slot->launched, ended = slot->running;

				for (i = 1 + roll(3); i; i--)
					end_ctas((unsigned)(slot - card_slot));
				ended -= slot->running;
				quiesce();
				if (k->life != RUNNING)
					break;
				assert_int_equal(slot->running, left > ended ? full : full - ended + (left < full ? left : ended));
				if (left < ended)
					break;
			}
			while (k->life == RUNNING) {
				end_ctas((unsigned)(slot - card_slot));
				quiesce();
			}
			quiesce();
			assert_int_equal(k->life, DONE);
			assert_int_equal(signals[k->signal].value, 0);
			assert_int_equal(k->groups, slot->launched);
		}
}

/* Even load: after any first placement no SM has two CTAs more than another (CGA-06). */
static void even_load(void **unused)
{
	unsigned round, sm, low, high;

	for (round = 0; round < 400; round++) {
		unsigned sms = 1 + roll(200);
		struct kern *k;

		seed(9000 + round);
		begin(sms);
		k = submit(0, roll(4), 1 + roll(sms * 8));
		quiesce();
		assert_non_null(slot_of(k));
		for (low = 99, high = sm = 0; sm < sms; sm++) {
			low = slot_of(k)->on[sm] < low ? slot_of(k)->on[sm] : low;
			high = slot_of(k)->on[sm] > high ? slot_of(k)->on[sm] : high;
		}
		assert_true(high - low <= 1);
		/* those with one more are the first in priority order (CGA-08) */
		for (sm = 1; sm < sms; sm++)
			assert_true(slot_of(k)->on[sm] <= slot_of(k)->on[sm - 1]);
	}
}

/* Freed slots go to the queue of the highest priority that waits, then to the oldest. */
static void priority_of_the_hungry(void **unused)
{
	struct kern *k[QUEUES];
	unsigned q, round;

	seed(77);
	begin(4);
	for (q = QUEUES; q--;) { /* the lowest priority first */
		k[q] = submit(q, 0, 128);
		quiesce();
	}
	assert_int_equal(slot_of(k[QUEUES - 1])->running, 128);
	for (round = 0; round < 128; round++) {
		struct card_slot *last = slot_of(k[QUEUES - 1]);

		end_ctas((unsigned)(last - card_slot));
		quiesce();
		for (q = 0; q + 1 < QUEUES; q++)
			if (slot_of(k[q])->launched < 128) {
				/* no task behind it has been given anything */
				for (unsigned behind = q + 1; behind + 1 < QUEUES; behind++)
					assert_int_equal(slot_of(k[behind])->launched, 0);
				break;
			}
		if (last->running == 0)
			break;
	}
	assert_int_equal(slot_of(k[0])->launched, 128);
	assert_int_equal(k[QUEUES - 1]->life, DONE);
}

/* The largest legal grid on a full card: it waits for its turn and does not disturb other tasks. */
static void largest_grid(void **unused)
{
	struct kern *first, *huge;
	unsigned i;

	seed(78);
	begin(4);
	first = submit(0, 0, 128);
	quiesce();
	huge = submit(1, 0, 100);
	model[1].ring[0].dispatch.workgroup_x = 1;
	model[1].ring[0].dispatch.grid_x = huge->grid_x = huge->groups = 0xffffffff;
	quiesce();
	assert_int_equal(slot_of(first)->running, 128);
	assert_int_equal(slot_of(huge)->launched, 0);
	for (i = 0; i < 5000; i++) {
		unsigned s = (unsigned)(slot_of(slot_of(first)->running ? first : huge) - card_slot);

		end_ctas(s);
		quiesce();
		assert_int_equal(slot_of(first)->running + slot_of(huge)->running, 128);
	}
	assert_int_equal(first->life, DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-13", full_until_the_end),
		RIG_TEST("CGA-06 CGA-08 TSK-06", even_load),
		RIG_TEST("RES-01", priority_of_the_hungry),
		RIG_TEST("CGA-13 PKT-06", largest_grid),
	};

	return cmocka_run_group_tests_name("firmware: placement", tests, NULL, NULL);
}

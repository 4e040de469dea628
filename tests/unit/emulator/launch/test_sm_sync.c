// SPDX-License-Identifier: MIT
/*
 * States of tasks on their way to SMs (TSK-05, TSK-16): SMs that take everything in order, and SMs that acknowledge
 * each state, where a launch before the acknowledgement is refused.
 */
#include "sm_cga_rig.h"

#define TURNS 3u

static struct tutti_sm_state table[SMS];

static void look(void)
{
	sm_array_table(card->array, table);
	sm_array_sync(card->array, table);
}

/* States of @slot that the events so far have acknowledged. */
static unsigned acknowledged(unsigned slot)
{
	unsigned n = 0;

	for (unsigned i = 0; i < card->events; i++)
		if ((card->event[i].word[0] & 0xffff) == (TUTTI_EVENT_STATE | slot << 8))
			n += card->event[i].word[1];
	return n;
}

static unsigned state_events(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < card->events; i++)
		n += (card->event[i].word[0] & 0xff) == TUTTI_EVENT_STATE;
	return n;
}

static void steps(unsigned n)
{
	while (n--)
		rig_step(card);
}

static void plain_state(unsigned slot, uint32_t ctas, const uint32_t *mask)
{
	struct tutti_task_state state = rig_state(1, C_IDS, ctas, 1);

	sm_array_state(card->array, slot, 0, &state, NULL, mask, mask ? 1 : 0);
}

static void all_sms(unsigned slot, bool assigned, bool waiting)
{
	look();
	for (unsigned i = 0; i < SMS; i++) {
		assert_int_equal(table[i].task_assign, (uint32_t)assigned << slot);
		assert_int_equal(table[i].state_sync, (uint32_t)waiting << slot);
		assert_int_equal(table[i].cta_launch, (uint32_t)!waiting << slot);
	}
}

/* Where order takes the place of acknowledgements, a launch may follow at once and no event is sent. */
static void in_order(void **unused)
{
	plain_state(5, 2 * SMS, NULL);
	all_sms(5, false, false);
	assert_int_equal(rig_launch(card, 5, 2, SMS), 0);
	all_sms(5, true, false);
	rig_until(card, 5, 2 * SMS);
	assert_int_equal(state_events(), 0);
	all_sms(5, false, false);
	for (unsigned i = 0; i < SMS; i++) {
		assert_int_equal(table[i].completed, 2);
		assert_int_equal(table[i].ctas, 2);
		assert_int_equal(table[i].states, 1);
	}
}

/* A newer state in order: what was launched before it keeps the older one. */
static void newer_in_order(void **unused)
{
	struct tutti_task_state state = rig_state(1, C_IDS, SMS, 1);

	plain_state(5, SMS, NULL);
	assert_int_equal(rig_launch(card, 5, 1, SMS), 0);
	state.asid = 2; /* nothing is mapped there */
	sm_array_state(card->array, 5, 0, &state, NULL, NULL, 0);
	rig_until(card, 5, SMS);
	assert_int_equal(card->faults, 0);
	for (unsigned i = 0; i < SMS; i++)
		assert_int_not_equal(data[8 * i + 4], 0);
}

/* Sent, not acknowledged for some turns, and no launch meanwhile; told once; then launches. */
static void sent_and_acknowledged(void **unused)
{
	plain_state(5, 2 * SMS, NULL);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		all_sms(5, false, true);
		assert_int_equal(acknowledged(5), 0);
		assert_int_equal(rig_launch(card, 5, 2, SMS), -EAGAIN);
		rig_step(card);
	}
	assert_int_equal(acknowledged(5), 1);
	assert_int_equal(state_events(), 1);
	all_sms(5, false, false);
	assert_int_equal(rig_launch(card, 5, 2, SMS), 0);
	all_sms(5, true, false);
	rig_until(card, 5, 2 * SMS);
	assert_int_equal(state_events(), 1);
	for (unsigned i = 0; i < SMS; i++)
		assert_int_equal(table[i].states, 1);
}

/* Each slot is acknowledged by itself, the first one and the last one, too. */
static void slot_by_slot(void **unused)
{
	static const unsigned slots[] = {0, 1, 30, 31};

	for (unsigned i = 0; i < 4; i++) {
		plain_state(slots[i], SMS, NULL);
		assert_int_equal(rig_launch(card, slots[i], 1, SMS), -EAGAIN);
		steps(TURNS + 1);
		assert_int_equal(state_events(), i + 1);
		assert_int_equal(acknowledged(slots[i]), 1);
		assert_int_equal(rig_launch(card, slots[i], 1, SMS), 0);
		rig_until(card, slots[i], SMS);
	}
}

/* An acknowledgement that could not be reported because the event ring was full does not count for the firmware. */
static void told_late(void **unused)
{
	plain_state(5, SMS, NULL);
	card->full = true;
	steps(2 * TURNS);
	assert_int_equal(rig_launch(card, 5, 1, SMS), -EAGAIN);
	card->full = false;
	rig_step(card);
	assert_int_equal(acknowledged(5), 1);
	assert_int_equal(rig_launch(card, 5, 1, SMS), 0);
	rig_until(card, 5, SMS);
}

/* Every state is acknowledged, one for one, however many follow each other. */
static void every_one(void **unused)
{
	unsigned sent = 0;

	srand(1);
	for (unsigned round = 0; round < 200; round++) {
		unsigned slot = (unsigned)rand() % 3;

		card->full = rand() % 2;
		plain_state(slot, SMS, NULL);
		sent++;
		steps((unsigned)rand() % (2 * TURNS));
		assert_true(acknowledged(0) + acknowledged(1) + acknowledged(2) <= sent);
	}
	card->full = false;
	steps(2 * TURNS);
	assert_int_equal(acknowledged(0) + acknowledged(1) + acknowledged(2), sent);
	assert_int_equal(rig_launch(card, 0, 1, SMS), 0);
	rig_until(card, 0, SMS);
}

/* One SM does not acknowledge: no event is sent and no launch accepted until it does. */
static void silent_sm(void **unused)
{
	card->silent = 1 + 3;
	plain_state(2, SMS, NULL);
	steps(100);
	assert_int_equal(acknowledged(2), 0);
	assert_int_equal(rig_launch(card, 2, 1, SMS), -EAGAIN);
	look();
	for (unsigned i = 0; i < SMS; i++) {
		assert_int_equal(table[i].state_sync, i == 3 ? 4 : 0);
		assert_int_equal(table[i].cta_launch, i == 3 ? 0 : 4);
	}
	card->silent = 0;
	rig_step(card);
	assert_int_equal(acknowledged(2), 1);
	assert_int_equal(rig_launch(card, 2, 1, SMS), 0);
	rig_until(card, 2, SMS);
}

/* The state of another task, which the SMs have acknowledged, is not affected. */
static void other_tasks_go_on(void **unused)
{
	plain_state(0, SMS, NULL);
	steps(TURNS);
	card->silent = 1 + 3;
	plain_state(1, SMS, NULL);
	assert_int_equal(rig_launch(card, 0, 1, SMS), 0);
	assert_int_equal(rig_launch(card, 1, 1, SMS), -EAGAIN);
	rig_until(card, 0, SMS);
	steps(TURNS);
	assert_int_equal(rig_launch(card, 1, 1, SMS), -EAGAIN);
	card->silent = 0;
	rig_step(card);
	assert_int_equal(rig_launch(card, 1, 1, SMS), 0);
	rig_until(card, 1, SMS);
}

/* A state for some of the SMs is acknowledged by these only, whichever of the others is silent. */
static void masked(void **unused)
{
	static const unsigned silent[] = {3, 0};
	const uint32_t mask = 0xf0;

	for (unsigned n = 0; n < 2; n++) {
		unsigned slot = 4 + n;

		card->silent = 1 + silent[n];
		plain_state(slot, SMS, &mask);
		steps(TURNS);
		assert_int_equal(acknowledged(slot), 1);
		look();
		for (unsigned i = 0; i < SMS; i++) {
			assert_int_equal(table[i].states, (n + 1) * (mask >> i & 1));
			assert_int_equal(table[i].cta_launch >> slot, mask >> i & 1);
		}
		assert_int_equal(rig_launch(card, slot, 1, 4), -EINVAL); /* these SMs do not hold the state */
	}
}

/* A reset also forgets states under way, and acknowledgements that the firmware has not been told. */
static void reset(void **unused)
{
	card->full = true;
	plain_state(3, SMS, NULL);
	steps(TURNS);
	plain_state(4, SMS, NULL);
	sm_array_reset(card->array);
	card->full = false;
	steps(2 * TURNS);
	assert_int_equal(state_events(), 0);
	for (unsigned slot = 3; slot < 5; slot++) {
		assert_int_equal(rig_launch(card, slot, 1, SMS), -EINVAL);
		plain_state(slot, 2 * SMS, NULL);
		assert_int_equal(rig_launch(card, slot, 1, SMS), -EAGAIN);
		steps(TURNS);
		assert_int_equal(acknowledged(slot), 1);
		assert_int_equal(rig_launch(card, slot, 1, SMS), 0);
		rig_until(card, slot, SMS);
	}
}

/* Nothing of a CGA is taken before. */
static void a_whole_cga(void **unused)
{
	cga_state(0, C_IDS, 8, 4, 1);
	assert_int_equal(cga_launch_one(0, 0, 1, 1, 0x0f), -EAGAIN);
	steps(TURNS);
	assert_int_equal(cga_launch_one(0, 0, 1, 1, 0x0f), 0);
	assert_int_equal(cga_launch_one(0, 0, 2, 1, 0xf0), 0);
	rig_until(card, 0, 8);
}

/* A killed task's state is acknowledged like any other, and so is that of the slot's next task. */
static void killed_meanwhile(void **unused)
{
	plain_state(7, SMS, NULL);
	sm_array_kill(card->array, 7);
	plain_state(7, SMS, NULL);
	steps(1);
	assert_int_equal(card->killed[7], 1);
	assert_false(sm_array_busy(card->array));
	steps(TURNS);
	assert_int_equal(acknowledged(7), 2);
	assert_int_equal(rig_launch(card, 7, 1, SMS), 0);
	rig_until(card, 7, SMS);
}

/* An invalid state is acknowledged, too; the launch is refused. */
static void broken_state(void **unused)
{
	struct tutti_task_state state = rig_state(1, C_IDS, 0, 1);

	sm_array_state(card->array, 3, 0, &state, NULL, NULL, 0);
	steps(TURNS);
	assert_int_equal(acknowledged(3), 1);
	assert_int_equal(rig_launch(card, 3, 1, 1), -EINVAL);
}

static int setup_acknowledge(void **state)
{
	rig_acknowledge = TURNS;
	setup(state);
	rig_acknowledge = 0;
	return 0;
}

#define ACKNOWLEDGE(name, fn) {name, fn, setup_acknowledge, teardown, NULL}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("TSK-05, TSK-16: SMs that take states and launches in order", in_order),
		CASE_THREADS("TSK-05, TSK-16: SMs that take states and launches in order", in_order),
		CASE("TSK-05: CTAs keep the state they were launched with", newer_in_order),
		ACKNOWLEDGE("TSK-05, TSK-16: a state is sent, then acknowledged, and no launch is taken before", sent_and_acknowledged),
		ACKNOWLEDGE("TSK-05: acknowledgements of the first and the last slot", slot_by_slot),
		ACKNOWLEDGE("TSK-05: acknowledged is what the firmware has been told", told_late),
		ACKNOWLEDGE("TSK-05: every state is acknowledged once", every_one),
		ACKNOWLEDGE("TSK-05: one SM does not acknowledge", silent_sm),
		ACKNOWLEDGE("TSK-05, TSK-14: other tasks on that SM go on", other_tasks_go_on),
		ACKNOWLEDGE("TSK-05, CGA-22: a state for some SMs", masked),
		ACKNOWLEDGE("TSK-05, SYS-10: a reset meanwhile", reset),
		ACKNOWLEDGE("TSK-05, CGA-03: CGAs", a_whole_cga),
		ACKNOWLEDGE("TSK-05, TSK-12: killed before it was acknowledged", killed_meanwhile),
		ACKNOWLEDGE("TSK-05: a state that makes no sense", broken_state),
	};

	return cmocka_run_group_tests_name("SM: states of tasks", tests, NULL, NULL);
}

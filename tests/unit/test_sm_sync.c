// SPDX-License-Identifier: MIT
/* States of tasks on their way to SMs: sent, acknowledged, and what an SM counts (TSK-05, TSK-16). */
#include "sm_cga_rig.h"

static struct tutti_sm_state table[SMS];

static void look(void)
{
	sm_array_table(card->array, table);
	sm_array_sync(card->array, table);
}

static unsigned acknowledged(unsigned slot)
{
	unsigned n = 0;

	for (unsigned i = 0; i < card->events; i++)
		n += (card->event[i].word[0] & 0xffff) == (TUTTI_EVENT_STATE | slot << 8);
	return n;
}

static void plain_state(unsigned slot, uint32_t ctas, unsigned flags, const uint32_t *mask)
{
	struct tutti_task_state state = rig_state(1, C_IDS, ctas, 1);

	sm_array_state(card->array, slot, flags, &state, NULL, mask, mask ? 1 : 0);
}

/* CTAs whose line was written, by SM. */
static unsigned ran_on(unsigned ctas, unsigned sm)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ctas; i++)
		n += data[8 * i + 4] && data[8 * i + 7] == sm;
	return n;
}

/* Sent, not yet acknowledged; then acknowledged, told once; CTAs only then. */
static void sent_and_acknowledged(void **unused)
{
	plain_state(5, 2 * SMS, TUTTI_STATE_ACK, NULL);
	assert_int_equal(rig_launch(card, 5, 2, SMS), 0);
	look();
	for (unsigned i = 0; i < SMS; i++) {
		assert_int_equal(table[i].task_assign, 1u << 5);
		assert_int_equal(table[i].state_sync, 1u << 5);
		assert_int_equal(table[i].cta_launch, 0);
	}
	assert_int_equal(acknowledged(5), 0);
	rig_until(card, 5, 2 * SMS);
	assert_int_equal(acknowledged(5), 1);
	look();
	for (unsigned i = 0; i < SMS; i++) {
		assert_int_equal(table[i].task_assign, 0);
		assert_int_equal(table[i].state_sync, 0);
		assert_int_equal(table[i].cta_launch, 1u << 5);
		assert_int_equal(table[i].completed, 2);
		assert_int_equal(table[i].ctas, 2);
		assert_int_equal(table[i].states, 1);
	}
}

/* One SM says nothing: its CTAs wait, the others run, and nobody is told that all have it. */
static void silent_sm(void **unused)
{
	card->silent = 1 + 3;
	plain_state(2, 3 * SMS, TUTTI_STATE_ACK, NULL);
	assert_int_equal(rig_launch(card, 2, 3, SMS), 0);
	rig_until(card, 2, 3 * (SMS - 1));
	idle();
	assert_int_equal(card->done[2], 3 * (SMS - 1));
	assert_int_equal(ran_on(3 * SMS, 3), 0);
	assert_int_equal(acknowledged(2), 0);
	assert_true(sm_array_busy(card->array));
	look();
	for (unsigned i = 0; i < SMS; i++) {
		assert_int_equal(table[i].task_assign, i == 3 ? 4 : 0);
		assert_int_equal(table[i].state_sync, i == 3 ? 4 : 0);
		assert_int_equal(table[i].cta_launch, i == 3 ? 0 : 4);
	}
	card->silent = 0;
	rig_until(card, 2, 3 * SMS);
	assert_int_equal(acknowledged(2), 1);
	assert_int_equal(ran_on(3 * SMS, 3), 3);
	/* and they are the CTAs they would have been: of each three rounds over all SMs the fourth */
	for (unsigned r = 0; r < 3; r++)
		assert_int_equal(data[8 * (r * SMS + 3) + 7], 3);
}

/* Another task's state, which the SM has, is no matter of that. */
static void other_tasks_go_on(void **unused)
{
	plain_state(0, SMS, 0, NULL);
	idle();
	card->silent = 1 + 3;
	plain_state(1, SMS, 0, NULL);
	assert_int_equal(rig_launch(card, 1, 1, SMS), 0);
	assert_int_equal(rig_launch(card, 0, 1, SMS), 0);
	rig_until(card, 0, SMS);
	assert_int_equal(card->done[1], SMS - 1);
	card->silent = 0;
	rig_until(card, 1, SMS);
}

/* A state for some SMs only is waited for from these only. */
static void masked(void **unused)
{
	uint32_t mask = 0xf0;

	card->silent = 1 + 3;
	plain_state(4, SMS, TUTTI_STATE_ACK, &mask);
	idle();
	assert_int_equal(acknowledged(4), 1);
	look();
	for (unsigned i = 0; i < SMS; i++) {
		assert_int_equal(table[i].states, mask >> i & 1);
		assert_int_equal(table[i].cta_launch, (mask >> i & 1) << 4);
	}
	assert_int_equal(rig_launch(card, 4, 1, 4), -22); /* SMs that do not hold it */
}

/* Those of a CGA wait together. */
static void a_whole_cga(void **unused)
{
	card->silent = 1 + 3;
	cga_state(0, C_IDS, 12, 4, 1);
	assert_int_equal(cga_launch_one(0, 0, 1, 1, 0x0f), 0);
	assert_int_equal(cga_launch_one(0, 0, 2, 1, 0xf0), 0);
	rig_until(card, 0, 4);
	idle();
	assert_int_equal(card->done[0], 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(data[8 * i + 4], 0);
	card->silent = 0;
	rig_until(card, 0, 8);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(data[8 * i + 7], i);
}

/* Whoever waits can be killed. */
static void killed_meanwhile(void **unused)
{
	card->silent = 1 + 3;
	plain_state(7, 2 * SMS, TUTTI_STATE_ACK, NULL);
	assert_int_equal(rig_launch(card, 7, 2, SMS), 0);
	rig_until(card, 7, 2 * (SMS - 1));
	sm_array_kill(card->array, 7);
	rig_until(card, 7, 2 * SMS);
	assert_int_equal(card->killed[7], 1);
	assert_false(sm_array_busy(card->array));
	card->silent = 0;
	idle();
	assert_int_equal(acknowledged(7), 0);
	assert_int_equal(ran_on(2 * SMS, 3), 0);
	/* the slot's next task */
	plain_state(7, SMS, 0, NULL);
	assert_int_equal(rig_launch(card, 7, 1, SMS), 0);
	rig_until(card, 7, 3 * SMS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("TSK-05, TSK-16: a state is sent, then acknowledged, then CTAs start", sent_and_acknowledged),
		CASE("TSK-05: no CTA starts on an SM that has not acknowledged its task's state", silent_sm),
		CASE_THREADS("TSK-05: no CTA starts on an SM that has not acknowledged its task's state", silent_sm),
		CASE("TSK-05, TSK-14: other tasks on that SM go on", other_tasks_go_on),
		CASE("TSK-05, CGA-22: a state for some SMs", masked),
		CASE("TSK-05, CGA-03: a CGA of which one SM has not the state", a_whole_cga),
		CASE("TSK-05, TSK-12: killed while an SM says nothing", killed_meanwhile),
	};

	return cmocka_run_group_tests_name("SM: states of tasks", tests, NULL, NULL);
}

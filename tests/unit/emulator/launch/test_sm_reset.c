// SPDX-License-Identifier: MIT
/* After a reset in the midst of all kinds of work an SM array is like a new one: the firmware can boot again. */
#include "sm_cga_rig.h"

#define IDS   0u /* task slots, named after what their tasks do */
#define FAULT 1u
#define STAY  2u
#define CGA   3u
#define ASK   4u
#define KILL  5u
#define LATE  31u

static struct tutti_sm_state table[SMS];

/* The table of a new array, before and after these tasks. */
static struct tutti_sm_state new_table[2][SMS];

static void plain(unsigned slot, uint32_t entry, uint32_t first)
{
	struct tutti_task_state state = rig_state(1, entry, 64, 1);

	state.first = first;
	sm_array_state(card->array, slot, 0, &state, NULL, NULL, 0);
}

static void launch(unsigned slot, uint32_t entry, unsigned repeat, unsigned sms)
{
	plain(slot, entry, 1); /* CTA 0 would wake those of STAY */
	assert_int_equal(rig_launch(card, slot, repeat, sms), 0);
}

static void run_silently(unsigned turns)
{
	while (turns--)
		sm_array_run(card->array);
}

/*
 * Let completions, faults, requests and kills happen without telling the firmware, and leave waves, CTAs that have not
 * begun, CGAs on the array, and something in each slot of linear memory.
 */
static void live(void)
{
	const uint32_t mask = 3, linear[4] = {7u << 16 | 1u << 24, 2, 1 | 1u << 24, 0x3f};
	uint32_t backwards[SMS / 2];

	card->full = true;
	card->room = 0;
	data[7] = 0;
	assert_int_equal(sm_array_throttle(card->array, 100, &mask, 1), 0);
	sm_array_mode(card->array, TUTTI_SM_ROTATE);
	for (unsigned i = 0; i < SMS / 2; i++)
		backwards[i] = (SMS - 1 - 2 * i) | (SMS - 2 - 2 * i) << 16;
	sm_array_order(card->array, 0, backwards, SMS / 2);
	launch(IDS, C_IDS, 2, 4);
	launch(FAULT, 0xffc, 1, 1); /* it runs off the end of its code */
	launch(STAY, C_STAY, 1, SMS);
	launch(ASK, C_ASK, 1, 1);
	launch(KILL, C_STAY, 1, 2);
	cga_state(CGA, C_CLEAR, 60, 6, 1);
	assert_int_equal(cga_launch_one(CGA, 0, 5, 1, 0x3f), 0);
	cga_state(CGA, C_LMEM, 60, 6, 1);
	PARAMETER(data) = TUTTI_WAVE_DSMEM + (1u << 24) + 2000; /* behind the memory of rank 1 */
	assert_int_equal(sm_array_launch(card->array, CGA, TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA, linear, 4), 0);
	cga_state(CGA, C_LOAD, 60, 2, 1);
	assert_int_equal(cga_launch_one(CGA, 1, 9, 1, 3 << 6), 0);
	run_silently(100);
	sm_array_kill(card->array, KILL);
	launch(LATE, C_IDS, 1, SMS);
	sequence++;
	assert_int_equal(cga_send(CGA, 0, 0, 6, 1, 1), 0);
	assert_false(sm_array_report(card->array));
	assert_true(sm_array_busy(card->array));
	memset(card->array->lmem_used, 1, card->limits.lmem_slots);
	memset(card->array->lmem, 1, card->limits.lmem_slots * card->limits.lmem_slot_bytes);
}

static void nothing_is_left(void)
{
	const struct tutti_discovery *limits = &card->limits;

	assert_false(sm_array_busy(card->array));
	for (unsigned i = 0; i < limits->task_slots; i++)
		assert_int_equal(rig_launch(card, i, 1, 1), -EINVAL);
	for (unsigned i = 0; i < 50; i++)
		rig_step(card);
	assert_int_equal(card->events, 0);
	for (unsigned i = 0; i < limits->lmem_slots * limits->lmem_slot_bytes; i++)
		assert_int_equal(card->array->lmem[i], 0);
}

/* Run tasks in the same slots. What they do may not depend on what was in these before. */
static void work(void)
{
	unsigned i;

	memset(data, 0xff, 64 * 64);
	plain(IDS, C_IDS, 10);
	assert_int_equal(rig_launch(card, IDS, 1, 3), 0);
	rig_until(card, IDS, 3);
	for (i = 0; i < 64; i++)
		assert_true(i >= 10 && i < 13 ? data[8 * i + 2] == i && data[8 * i + 7] == i - 10
					      : data[8 * i + 2] == ~0ull);
	cga_state(CGA, C_CLEAR, 60, 6, 1);
	for (unsigned id = 5; id < 7; id++) {
		assert_int_equal(cga_launch_one(CGA, 0, id, 1, 0x3f), 0);
		finish(CGA, 0, id, 6 * (id - 4));
	}
	plain(ASK, C_ASK, 0);
	assert_int_equal(rig_launch(card, ASK, 1, 1), 0);
	for (time_t end = time(NULL) + 60; !card->requests && time(NULL) < end;) /* the host may be busy */
		rig_step(card);
	assert_int_equal(card->requests, 1);
	sm_array_reply(card->array, card->request.word[1] & 0xffff, card->request.word[1] >> 16, 7);
	rig_until(card, ASK, 1);
	assert_int_equal(card->faults + card->cga_faults + card->killed[KILL] + card->done[LATE] + card->done[STAY], 0);
	/* each SM has all of its CTA slots, and no more */
	plain(LATE, C_IDS, 0);
	assert_int_equal(rig_launch(card, LATE, card->limits.cta_slots, SMS), 0);
	assert_int_equal(rig_launch(card, LATE, 1, 1), -EINVAL);
	rig_until(card, LATE, card->limits.cta_slots * SMS);
}

static void forget_events(void)
{
	card->full = false;
	card->events = card->faults = card->requests = card->cga_faults = 0;
	memset(card->done, 0, sizeof(card->done));
	memset(card->killed, 0, sizeof(card->killed));
}

/* The table is the same as that of a new array. */
static void assert_table(unsigned round, unsigned after)
{
	memset(table, 0, sizeof(table));
	sm_array_table(card->array, table);
	sm_array_sync(card->array, table);
	if (!round)
		memcpy(new_table[after], table, sizeof(table));
	assert_memory_equal(table, new_table[after], sizeof(table));
	assert_int_equal(table[0].states, after ? 4 : 0);
	assert_int_equal(table[0].task_assign, 0);
}

static void as_new(void **unused)
{
	for (unsigned round = 0; round < 4; round++) {
		forget_events();
		assert_table(round, 0);
		nothing_is_left();
		work();
		assert_table(round, 1);
		live();
		sm_array_reset(card->array);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE("SYS-10: after a reset the SM array is as new", as_new),
	    CASE_THREADS("SYS-10: after a reset the SM array is as new", as_new),
	};

	return cmocka_run_group_tests_name("SM: reset", tests, NULL, NULL);
}

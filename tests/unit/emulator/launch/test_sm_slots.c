// SPDX-License-Identifier: MIT
/* Tasks in all of the task slots that a card may have: what they report, and that none is taken for another. */
#include "sm_cga_rig.h"

#define SLOTS SM_SLOTS
#define TURNS 3u

static struct tutti_sm_state table[SMS];

static int setup_slots(void **mode)
{
	rig_slots = SLOTS;
	setup(mode);
	rig_slots = 0;
	return 0;
}

static int setup_acknowledge(void **mode)
{
	rig_acknowledge = TURNS;
	setup_slots(mode);
	rig_acknowledge = 0;
	return 0;
}

static void plain(unsigned slot, uint32_t entry)
{
	struct tutti_task_state state = rig_state(1, entry, 64, 1);

	sm_array_state(card->array, slot, 0, &state, NULL, NULL, 0);
}

/* Tasks in neighbouring slots have different numbers of CTAs, on one to five SMs. */
static unsigned sms_of(unsigned slot)
{
	return 1 + slot % 5;
}

static void launch(unsigned slot, uint32_t entry)
{
	const uint32_t words[] = {1 | 1u << 24, ((1u << sms_of(slot)) - 1) << slot % 11};

	plain(slot, entry);
	assert_int_equal(sm_array_launch(card->array, slot, 0, words, 2), 0);
}

static void launch_all(unsigned step, uint32_t entry)
{
	for (unsigned slot = 0; slot < SLOTS; slot += step)
		launch(slot, entry);
}

static void assert_done(unsigned step)
{
	for (unsigned slot = 0; slot < SLOTS; slot++)
		assert_int_equal(card->done[slot], slot % step ? 0 : sms_of(slot));
}

/* Tasks of all slots, or of some, have ended when the firmware hears of them; it may have room for few events only. */
static void completions(void **unused)
{
	static const unsigned steps[] = {7, 31, 33, 64, 255};

	for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		memset(card->done, 0, sizeof(card->done));
		launch_all(steps[i], C_IDS);
		while (sm_array_busy(card->array))
			sm_array_run(card->array);
		card->full = true;
		for (card->room = 1; sm_array_report(card->array); card->room = 1)
			assert_int_equal(card->room, 0); /* each event is all that there is room for */
		card->full = false;
		assert_done(steps[i]);
		assert_false(sm_array_report(card->array));
	}
}

/* As many kills as there are slots are told, each with the CTAs of its own task. */
static void kills(void **unused)
{
	unsigned before;

	launch_all(7, C_STAY);
	for (unsigned i = 0; i < 10; i++)
		rig_step(card);
	assert_int_equal(card->events, 0);
	for (unsigned slot = 0; slot < SLOTS; slot += 14)
		sm_array_kill(card->array, slot);
	for (unsigned i = 0; i < 10; i++)
		rig_step(card);
	for (unsigned slot = 0; slot < SLOTS; slot++) {
		assert_int_equal(card->killed[slot], slot % 14 == 0);
		assert_int_equal(card->done[slot], slot % 14 ? 0 : sms_of(slot));
	}
	for (unsigned slot = 0; slot < SLOTS; slot++)
		sm_array_kill(card->array, slot);
	before = card->events;
	rig_step(card);
	assert_in_range(card->events - before, SLOTS, 2 * SLOTS);
	for (unsigned slot = 0; slot < SLOTS; slot++)
		assert_int_equal(card->killed[slot], 1 + (slot % 14 == 0));
	assert_done(7);
	assert_false(sm_array_busy(card->array));
}

/* Launches follow the acknowledgement of their own task's state, whichever slots the others are in. */
static void acknowledgements(void **unused)
{
	static const unsigned slots[] = {0, 31, 32, 40, 63, 64, 129, SLOTS - 1};
	const unsigned n = sizeof(slots) / sizeof(*slots);

	for (unsigned i = 0; i < n; i++) {
		plain(slots[i], C_IDS);
		rig_step(card);
	}
	for (unsigned turn = 0; turn < TURNS; turn++, rig_step(card))
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(rig_launch(card, slots[i], 1, 1), i + TURNS <= n + turn ? 0 : -EAGAIN);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(rig_launch(card, slots[i], 1, 1), 0);
	for (unsigned i = 0; i < n; i++)
		rig_until(card, slots[i], i + TURNS <= n ? TURNS + 1 : n + 1 - i);
	for (unsigned e = 0, next = 0; e < card->events; e++)
		if ((card->event[e].word[0] & 0xff) == TUTTI_EVENT_STATE) {
			assert_int_equal(card->event[e].word[0], TUTTI_EVENT_STATE | slots[next++] << 8);
			assert_int_equal(card->event[e].word[1], 1);
		}
}

/* States of all slots are acknowledged in the same turn. One that has been sent again is acknowledged once, later. */
static void all_at_once(void **unused)
{
	unsigned told[SLOTS] = {0}, n = 0;

	for (unsigned slot = 0; slot < SLOTS; slot++)
		plain(slot, C_IDS);
	card->full = true;
	for (unsigned i = 0; i < TURNS; i++)
		rig_step(card);
	for (unsigned slot = 0; slot < SLOTS; slot += 9)
		plain(slot, C_STAY);
	card->full = false;
	for (unsigned turn = 0; turn <= TURNS; turn++) {
		rig_step(card);
		for (; n < card->events; n++) {
			unsigned slot = card->event[n].word[0] >> 8;

			assert_int_equal(card->event[n].word[0] & 0xff, TUTTI_EVENT_STATE);
			assert_int_equal(slot % 9 == 0, turn > 0);
			assert_int_equal(card->event[n].word[1], slot % 9 ? 1 : 2);
			told[slot]++;
		}
	}
	for (unsigned slot = 0; slot < SLOTS; slot++)
		assert_int_equal(told[slot], 1);
}

/* After a reset no acknowledgement comes of what was sent before. */
static void reset(void **unused)
{
	for (unsigned early = 0; early < 2; early++) {
		card->full = true;
		for (unsigned slot = 0; slot < SLOTS; slot++)
			plain(slot, C_IDS);
		for (unsigned i = 0; i < (early ? 1 : 2 * TURNS); i++)
			rig_step(card);
		sm_array_reset(card->array);
		card->full = false;
		for (unsigned i = 0; i < 2 * TURNS; i++)
			rig_step(card);
		assert_int_equal(card->events, 0);
		assert_false(sm_array_acknowledge(card->array));
	}
}

/* The table of SM states has a bit for each of the first 32 slots. Tasks of the others have none, nor another's. */
static void table_of_few(void **unused)
{
	for (unsigned slot = 30; slot < 50; slot++) {
		plain(slot, C_STAY);
		assert_int_equal(rig_launch(card, slot, 1, slot % 2 ? SMS / 2 : SMS), 0);
	}
	sm_array_sync(card->array, table);
	for (unsigned sm = 0; sm < SMS; sm++) {
		assert_int_equal(table[sm].task_assign, sm < SMS / 2 ? 3u << 30 : 1u << 30);
		assert_int_equal(table[sm].cta_launch, 3u << 30);
		assert_int_equal(table[sm].state_sync, 0);
	}
}

/* A card may have fewer than 32 task slots; the table has bits only for those that exist. */
static void table_of_fewer(void **unused)
{
	for (unsigned slots = 1; slots < 4; slots++) {
		rig_slots = slots;
		setup(NULL);
		rig_slots = 0;
		for (unsigned slot = 0; slot < 5; slot++) {
			plain(slot, C_IDS);
			assert_int_equal(rig_launch(card, slot, 1, 1 + slot), slot < slots ? 0 : -EINVAL);
		}
		sm_array_sync(card->array, table);
		for (unsigned sm = 0; sm < SMS; sm++) {
			uint32_t launched = 0;

			for (unsigned slot = sm; slot < slots; slot++)
				launched |= 1u << slot;
			assert_int_equal(table[sm].task_assign, launched);
			assert_int_equal(table[sm].cta_launch, (1u << slots) - 1);
			assert_int_equal(table[sm].state_sync, 0);
		}
		teardown(NULL);
	}
}

#define SLOTS_CASE(name, fn) {name, fn, setup_slots, teardown, NULL}
#define ACKNOWLEDGE(name, fn) {name, fn, setup_acknowledge, teardown, NULL}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SLOTS_CASE("SYS-09: completions of tasks in many slots", completions),
		SLOTS_CASE("TSK-12: kills of tasks in many slots", kills),
		ACKNOWLEDGE("TSK-05: states in many slots are acknowledged one by one", acknowledgements),
		ACKNOWLEDGE("TSK-05: states in all slots are acknowledged at once", all_at_once),
		ACKNOWLEDGE("TSK-05, SYS-10: states in all slots are forgotten by a reset", reset),
		SLOTS_CASE("TSK-16: the table tells of the first 32 slots", table_of_few),
		{"TSK-16, SYS-14: the table of a card with few slots", table_of_fewer, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SM: task slots", tests, NULL, NULL);
}

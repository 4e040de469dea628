// SPDX-License-Identifier: MIT
/* Task states in the SM array: which of them are refused, where their CTAs are counted from, and what running CTAs see. */
#include "sm_cga_rig.h"

#define GRID 64u /* CTAs in a row, unless a test wants something else */

static struct tutti_task_state ids(uint32_t first)
{
	struct tutti_task_state state = rig_state(1, C_IDS, GRID, 1);

	state.first = first;
	return state;
}

static void state_of(unsigned slot, const struct tutti_task_state *state, const struct tutti_cga_shape *level)
{
	sm_array_state(card->array, slot, 0, state, level, NULL, 0);
}

static void forget_lines(void)
{
	memset(data, 0xff, GRID * 64);
}

/* CTA @cta has run, on SM @sm. */
static void assert_ran(unsigned cta, unsigned sm)
{
	assert_int_equal(data[8 * cta + 2], cta);
	assert_int_equal(data[8 * cta + 7], sm);
}

static void assert_not_run(unsigned cta)
{
	assert_true(data[8 * cta + 2] == UINT64_MAX);
}

/* The shapes of its levels make the CGA, in each dimension, and it is no larger than CGAs of the card may be. */
static void levels(void **unused)
{
	static const struct {
		uint16_t cga[3];
		struct tutti_cga_shape level[2];
		bool good;
	} rows[] = {
		{{2, 2, 2}, {{2, 2, 2, TUTTI_CGA_GPC}}, true},
		{{1, 2, 2}, {{2, 2, 2, TUTTI_CGA_GPC}}, false},
		{{2, 1, 2}, {{2, 2, 2, TUTTI_CGA_GPC}}, false},
		{{2, 2, 1}, {{2, 2, 2, TUTTI_CGA_GPC}}, false},
		{{4, 2, 2}, {{4, 2, 2, TUTTI_CGA_GPC}}, true}, /* 16 is the limit */
		{{2, 4, 2}, {{2, 4, 2, TUTTI_CGA_GPC}}, true},
		{{2, 2, 4}, {{2, 2, 4, TUTTI_CGA_GPC}}, true},
		{{4, 4, 2}, {{4, 4, 2, TUTTI_CGA_GPC}}, false},
		{{4, 2, 4}, {{4, 2, 4, TUTTI_CGA_GPC}}, false},
		{{2, 4, 4}, {{2, 4, 4, TUTTI_CGA_GPC}}, false},
		{{2, 2, 2}, {{0}}, false}, /* shapes are given, but none that has ranks */
		{{0, 0, 0}, {{0}}, true},
		{{0, 0, 0}, {{2, 2, 2, TUTTI_CGA_GPC}}, false},
	};

	for (unsigned given = 0; given < 2; given++)
		for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
			struct tutti_task_state state = ids(0);
			struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = {rows[i].level[0], rows[i].level[1]};
			/* without shapes the CGA is one of its size */
			bool good = given ? rows[i].good : rows[i].cga[0] * rows[i].cga[1] * rows[i].cga[2] <= 16;

			state.groups_x = state.groups_y = state.groups_z = 8;
			state.cga_x = rows[i].cga[0];
			state.cga_y = rows[i].cga[1];
			state.cga_z = rows[i].cga[2];
			state_of(3, &state, given ? level : NULL);
			if (!!card->array->slot[3].task != good)
				fail_msg("given %u, row %u", given, i);
		}
}

/* A refused state also removes the previous one, so that nothing runs that the firmware did not mean. */
static void refused(void **unused)
{
	struct tutti_task_state good = ids(0), bad = ids(0);
	unsigned done = 0;

	bad.groups_x = 3;
	bad.cga_x = 2;
	bad.cga_y = bad.cga_z = 1;
	state_of(7, &bad, NULL);
	assert_int_equal(rig_launch(card, 7, 1, 1), -EINVAL);
	for (unsigned i = 0; i < 3; i++) {
		state_of(7, &good, NULL);
		assert_int_equal(rig_launch(card, 7, 1, 1), 0);
		rig_until(card, 7, ++done);
		state_of(7, &bad, NULL);
		assert_int_equal(rig_launch(card, 7, 1, 1), -EINVAL);
	}
	/* the number of slots is limited */
	state_of(card->limits.task_slots - 1, &good, NULL);
	assert_int_equal(rig_launch(card, card->limits.task_slots - 1, 1, 1), 0);
	rig_until(card, card->limits.task_slots - 1, 1);
	state_of(card->limits.task_slots, &good, NULL);
	assert_int_equal(rig_launch(card, card->limits.task_slots, 1, 1), -EINVAL);
	state_of(255, &good, NULL);
	assert_int_equal(rig_launch(card, 255, 1, 1), -EINVAL);
}

/* CTAs are counted from the first one in the state, on whichever SMs they run; the same state may be sent again. */
static void first_one(void **unused)
{
	struct tutti_task_state state = ids(10);
	unsigned done = 0;

	for (unsigned round = 0; round < 3; round++) {
		forget_lines();
		state_of(0, &state, NULL);
		assert_int_equal(rig_launch(card, 0, 1, 3), 0);
		assert_int_equal(rig_launch(card, 0, 2, 1), 0);
		rig_until(card, 0, done += 5);
		for (unsigned i = 0; i < 5; i++)
			assert_ran(10 + i, i < 3 ? i : 0);
		assert_not_run(9);
		assert_not_run(15);
	}
}

/* After a state for some SMs, these count CTAs from its first one; the other SMs go on with their own count. */
static void some_sms(void **unused)
{
	struct tutti_task_state all = ids(0), some = ids(40);
	const uint32_t mask[] = {1u << 2 | 1u << 15};

	forget_lines();
	state_of(0, &all, NULL);
	assert_int_equal(rig_launch(card, 0, 1, 4), 0); /* CTAs 0 to 3 */
	sm_array_state(card->array, 0, 0, &some, NULL, mask, 1);
	assert_int_equal(rig_launch(card, 0, 1, 4), 0); /* on SM 2 this is the third one since */
	rig_until(card, 0, 8);
	for (unsigned i = 0; i < 4; i++)
		assert_ran(i, i);
	assert_ran(4, 0);
	assert_ran(5, 1);
	assert_not_run(6);
	assert_ran(42, 2);
	assert_ran(7, 3);
	/* bits of SMs that do not exist do no harm, in any word of the mask */
	sm_array_state(card->array, 0, 0, &some, NULL, (const uint32_t[]){1u << SMS | 1u << 31, 1}, 2);
	assert_int_equal(rig_launch(card, 0, 1, 1), 0);
	rig_until(card, 0, 9);
	assert_ran(8, 0);
	/* one for all SMs again */
	forget_lines();
	all.first = 20;
	state_of(0, &all, NULL);
	assert_int_equal(rig_launch(card, 0, 1, 4), 0);
	rig_until(card, 0, 13);
	for (unsigned i = 0; i < 4; i++)
		assert_ran(20 + i, i);
}

/* A state for an SM alone counts, whether or not that SM has launched anything since the newest state for all. */
static void some_new_sms(void **unused)
{
	struct tutti_task_state all = ids(0), some = ids(40);
	const uint32_t mask[] = {1u << 3};

	for (unsigned round = 1; round <= 3; round++) {
		forget_lines();
		state_of(0, &all, NULL);
		sm_array_state(card->array, 0, 0, &some, NULL, mask, 1);
		assert_int_equal(rig_launch(card, 0, 1, 4), 0);
		rig_until(card, 0, 4 * round);
		for (unsigned i = 0; i < 3; i++)
			assert_ran(i, i);
		assert_not_run(3);
		assert_ran(43, 3);
	}
}

/* CTAs keep the state that they were launched with, even if another one comes before they begin. */
static void running(void **unused)
{
	struct tutti_task_state state = ids(0);

	forget_lines();
	data[61440 / 8 + 16] = DATA + 8192; /* where the next one's lines go */
	memset(data + 1024, 0xff, 8192);
	state_of(0, &state, NULL);
	assert_int_equal(rig_launch(card, 0, 1, 4), 0);
	state.kernarg += 128;
	state_of(0, &state, NULL);
	assert_int_equal(rig_launch(card, 0, 1, 4), 0);
	state.kernarg -= 128;
	state.first = 30;
	state_of(0, &state, NULL);
	assert_int_equal(rig_launch(card, 0, 1, 1), 0);
	rig_until(card, 0, 9);
	for (unsigned i = 0; i < 4; i++) {
		assert_ran(i, i);
		assert_int_equal(data[1024 + 8 * i + 2], i);
	}
	assert_ran(30, 0);
	assert_true(data[1024 + 8 * 30 + 2] == UINT64_MAX);
}

/* So does a CTA that is the only one of its state. */
static void the_only_one(void **unused)
{
	struct tutti_task_state state = ids(0);

	for (unsigned round = 0; round < 3; round++) {
		forget_lines();
		data[61440 / 8 + 16] = DATA + 8192;
		memset(data + 1024, 0xff, 8192);
		state.kernarg = DATA + 61440;
		state_of(0, &state, NULL);
		assert_int_equal(rig_launch(card, 0, 1, 1), 0);
		state.kernarg += 128;
		state_of(0, &state, NULL);
		assert_int_equal(rig_launch(card, 0, 1, 1), 0);
		rig_until(card, 0, 2 * (round + 1));
		assert_ran(0, 0);
		assert_int_equal(data[1024 + 2], 0);
	}
}

/* Workgroups without work-items, in whichever dimension, do no harm: their waves run and have nothing to do. */
static void no_items(void **unused)
{
	for (unsigned d = 0; d < 4; d++) {
		struct tutti_task_state state = rig_state(1, C_WAVES, 2, 1);

		state.grid_x = state.grid_y = state.grid_z = 5;
		state.workgroup_x = d != 0 && d != 3;
		state.workgroup_y = d != 1 && d != 3;
		state.workgroup_z = d != 2 && d != 3;
		forget_lines();
		state_of(0, &state, NULL);
		assert_int_equal(rig_launch(card, 0, 1, 2), 0);
		rig_until(card, 0, 2 * (d + 1));
		for (unsigned cta = 0; cta < 2; cta++)
			assert_int_equal(data[8 * cta], (cta + 1) << 16); /* no items */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("CGA-02, CGA-16: shapes of levels that do not make the CGA are refused", levels),
		CASE("TSK-05: a slot without a state that could be launched refuses launches", refused),
		CASE("CGA-19: CTAs are counted from the first one of their state", first_one),
		CASE("TSK-05: a state for some SMs leaves the others as they are", some_sms),
		CASE("TSK-05: a state for some SMs that have launched nothing", some_new_sms),
		CASE("TSK-05: CTAs keep the state that they were launched with", running),
		CASE_THREADS("TSK-05: CTAs keep the state that they were launched with", running),
		CASE("TSK-05: a CTA keeps its state if it is the only one", the_only_one),
		CASE("SYS-10: workgroups without work-items", no_items),
	};

	return cmocka_run_group_tests_name("SM: task states", tests, NULL, NULL);
}

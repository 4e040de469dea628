// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/*
 * Accesses to the shared memory of CGAs that SMs have refused (CGA-27): the faults of several CGAs wait until there is room
 * for their events.
 */
#include "lock_check.h"
#include "sm_cga_rig.h"

#define CGAS 5u
#define SIZE 2u /* CTAs of each CGA */

/* The address of @offset in the shared memory of rank 1. */
static uint64_t of_neighbour(uint32_t offset)
{
	return TUTTI_WAVE_DSMEM + (1ull << 24) + offset;
}

static unsigned gpc_of(unsigned i)
{
	return i % 2;
}

/* Start tasks, each a CGA of two CTAs, that read beyond the end of their neighbour's memory. Events have no room. */
static void refuse(uint32_t offset)
{
	card->full = true;
	card->room = 0;
	for (unsigned i = 0; i < CGAS; i++) {
		cga_state(i, C_LOAD, SIZE, SIZE, 1);
		PARAMETER(data) = of_neighbour(offset + 8 * i);
		assert_int_equal(cga_launch_one(i, gpc_of(i), 10 + i, 1, 3u << i), 0);
		for (unsigned k = 0; k < 20; k++)
			sm_array_run(card->array);
	}
	assert_int_equal(card->events, 0);
}

/* Return: the fault event of task @i, or NULL if it has not come. It comes at most once, and before the CGA's completions */
static const uint32_t *fault_of(unsigned i)
{
	const uint32_t *found = NULL;

	for (unsigned e = 0; e < card->events; e++) {
		const uint32_t *word = card->event[e].word;

		if ((word[0] & 0xff) == TUTTI_EVENT_CGA)
			return found;
		if ((word[0] & 0xff) != TUTTI_EVENT_CGA_FAULT || (word[0] >> 16 & 0xff) != 10 + i)
			continue;
		assert_null(found);
		found = word;
	}
	return found;
}

static void expect_fault(unsigned i, uint32_t offset)
{
	const uint32_t *word = fault_of(i);

	assert_non_null(word);
	assert_int_equal(word[0], TUTTI_EVENT_CGA_FAULT | gpc_of(i) << 8 | (10 + i) << 16 | TUTTI_CAUSE_CGA_SEGMENT << 24);
	assert_int_equal(word[1], 8 * gpc_of(i) + i + 1); /* the SM of rank 1 */
	assert_int_equal(word[2], 1 | (offset + 8 * i) << 8);
}

static void forget_events(void)
{
	card->events = card->cga_faults = 0;
	memset(card->done, 0, sizeof(card->done));
}

/* The faults of all tasks except the killed ones are reported, whichever tasks are killed. */
static void some_are_killed(void **unused)
{
	for (unsigned killed = 0; killed < 1u << CGAS; killed++) {
		refuse(2000);
		for (unsigned i = 0; i < CGAS; i++)
			if (killed >> i & 1)
				sm_array_kill(card->array, i);
		card->full = false;
		rig_step(card);
		for (unsigned i = 0; i < CGAS; i++) {
			if (killed >> i & 1)
				assert_null(fault_of(i));
			else
				expect_fault(i, 2000);
			assert_int_equal(card->done[i], SIZE);
			assert_int_equal(sm_array_flush(card->array, gpc_of(i), 10 + i, ALL), 0);
		}
		assert_int_equal(card->cga_faults, CGAS - (unsigned)__builtin_popcount(killed));
		assert_false(sm_array_report(card->array));
		forget_events();
	}
}

/* Faults are reported one by one, as soon as there is room, and none of them twice. */
static void one_by_one(void **unused)
{
	for (unsigned round = 0; round < 3; round++) {
		refuse(2016);
		for (unsigned n = 1; n <= CGAS; n++) {
			card->room = 1;
			assert_true(sm_array_report(card->array));
			assert_int_equal(card->cga_faults, n);
			assert_false(sm_array_report(card->array)); /* there is no room now */
		}
		card->full = false;
		assert_true(sm_array_report(card->array));
		assert_int_equal(card->cga_faults, CGAS);
		for (unsigned i = 0; i < CGAS; i++) {
			expect_fault(i, 2016);
			assert_int_equal(card->done[i], SIZE);
			assert_int_equal(sm_array_flush(card->array, gpc_of(i), 10 + i, ALL), 0);
		}
		forget_events();
	}
}

/* After a reset, none of the faults is reported. */
static void reset(void **unused)
{
	refuse(2008);
	sm_array_reset(card->array);
	card->full = false;
	for (unsigned i = 0; i < 10; i++)
		rig_step(card);
	assert_int_equal(card->events, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("CGA-27, TSK-12: refused accesses of tasks some of which are killed", some_are_killed),
		CASE("CGA-27, SYS-10: refused accesses wait for room, and are reported once", one_by_one),
		CASE("CGA-27, SYS-10: refused accesses before a reset", reset),
	};

	return cmocka_run_group_tests_name("SM: refused accesses", tests, NULL, NULL);
}

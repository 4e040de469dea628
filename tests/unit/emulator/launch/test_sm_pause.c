// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=hart_invalidate -Wl,--wrap=hart_destroy -Wl,--wrap=cga_kill -Wl,--wrap=translator_destroy */
/* All engines stand still while the driving thread uses their lists and harts, and go on afterwards. */
#include "sm_cga_rig.h"

#define TASKS 3u /* slots with waves that never end */

static unsigned looks;

/* To be called where engines must not run. */
static void look(struct sm_array *array)
{
	looks++;
	assert_int_equal(tutti_load_relaxed(&array->pausing), 1);
	for (unsigned e = 1; e < array->engines; e++) {
		assert_true(array->engine[e].parked);
		assert_null(tutti_load_relaxed(&array->engine[e].running));
	}
}

void __real_hart_invalidate(struct hart *hart, uint64_t va, uint64_t bytes);
void __real_hart_destroy(struct hart *hart);
void __real_cga_kill(struct sm_array *array, unsigned slot);

void __wrap_hart_invalidate(struct hart *hart, uint64_t va, uint64_t bytes)
{
	look(hart->array);
	__real_hart_invalidate(hart, va, bytes);
}

void __wrap_hart_destroy(struct hart *hart)
{
	look(hart->array);
	__real_hart_destroy(hart);
}

void __wrap_cga_kill(struct sm_array *array, unsigned slot)
{
	look(array);
	__real_cga_kill(array, slot);
}

void __real_translator_destroy(struct translator *translator);

/* No wave is left that could ask for translations. */
void __wrap_translator_destroy(struct translator *translator)
{
	for (unsigned e = 0; e < card->array->engines; e++) {
		assert_null(tutti_load_relaxed(&card->array->engine[e].running));
		assert_null(card->array->engine[e].harts);
	}
	__real_translator_destroy(translator);
}

/* How often workers have begun a wave's turn: it grows for as long as one of them runs. */
static uint32_t turns(void)
{
	uint32_t n = 0;

	for (unsigned e = 1; e < card->array->engines; e++)
		n += tutti_load_relaxed(&card->array->engine[e].runs);
	return n;
}

/* Wait until workers run, however long that takes on a busy machine. */
static void workers_run(void)
{
	uint32_t before = turns();
	time_t end = time(NULL) + 120;

	while (turns() - before < 100 && time(NULL) < end)
		sched_yield();
	assert_true(turns() - before >= 100);
}

/* Waves that yield for ever, in each of the slots. */
static void start(void)
{
	for (unsigned slot = 0; slot < TASKS; slot++) {
		struct tutti_task_state state = rig_state(1, C_STAY, 512, 1);

		sm_array_state(card->array, slot, 0, &state, NULL, NULL, 0);
		assert_int_equal(rig_launch(card, slot, 4, SMS), 0);
	}
	rig_give_to_workers(card);
	workers_run();
	looks = 0;
}

static void invalidations(void **unused)
{
	start();
	for (unsigned i = 0; i < 20; i++) {
		sm_array_invalidate(card->array, 1, i % 2 ? DATA : CODE, 4096);
		assert_int_equal(tutti_load_relaxed(&card->array->pausing), 0);
		workers_run();
	}
	assert_true(looks >= 20);
}

static void kills(void **unused)
{
	start();
	for (unsigned slot = 0; slot < TASKS; slot++) {
		sm_array_kill(card->array, slot);
		assert_int_equal(looks, slot + 1);
		assert_int_equal(tutti_load_relaxed(&card->array->pausing), 0);
		if (slot + 1 < TASKS)
			workers_run();
	}
	rig_step(card);
	assert_false(sm_array_busy(card->array));
}

static void resets(void **unused)
{
	for (unsigned i = 0; i < 3; i++) {
		start();
		sm_array_reset(card->array);
		assert_true(looks > 0);
		assert_int_equal(tutti_load_relaxed(&card->array->pausing), 0);
		assert_false(sm_array_busy(card->array));
	}
}

/* The card is destroyed by the teardown. */
static void destroyed(void **unused)
{
	start();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE_THREADS("SYS-12, REL-10: engines stand still while translations are forgotten", invalidations),
	    CASE_THREADS("TSK-12, REL-10: engines stand still while a task is killed", kills),
	    CASE_THREADS("SYS-10, REL-10: engines stand still during a reset", resets),
	    CASE_THREADS("SYS-10, REL-10: no wave runs while a card is taken apart", destroyed),
	};

	return cmocka_run_group_tests_name("SM: pauses", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* CTAs that worker threads run while the driving thread is kept busy: faults, waits, kills, the end of the card. */
#include "sm_rig.h"
#include "tutti/tensor.h"

/*
 *	wait: li a0, 0; li a1, 0; li a7, 33; ecall; li a7, 0; ecall: waits for phase 0 of the mbarrier at 0
 *	spin: j spin
 */
static const uint32_t kernel[] = {0x00000513, 0x00000593, 0x02100893, 0x00000073, 0x00000893, 0x00000073, 0x0000006f};
#define WAIT 0x800u
#define SPIN (WAIT + 0x18u)
#define CTAS 64u
#define SMS  4u

static struct tutti_card *card;

static int setup_workers(unsigned workers)
{
	card = rig_create(TUTTI_CARD_FAST, workers, SMS);
	rig_context(card, 1);
	memcpy(rig_find(card, 1, CODE)->host + WAIT, kernel, sizeof(kernel));
	return 0;
}

static int setup(void **state)
{
	return setup_workers(3);
}

/* One worker, as on a machine with two processors. */
static int setup_one(void **state)
{
	return setup_workers(1);
}

static int teardown(void **state)
{
	rig_destroy(card);
	return 0;
}

static void launch(unsigned slot, uint32_t entry, unsigned repeat)
{
	struct tutti_task_state state = rig_state(1, entry, CTAS, 1);

	state.shared_bytes = 64;
	state.shared_blocks = 1;
	sm_array_state(card->array, slot, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, slot, repeat, SMS), 0);
}

/* Whatever the driving thread has, it gives away what comes later as soon as it has run for a while. */
static void keep_busy(void)
{
	launch(0, SPIN, 1);
}

/* Step until @condition, however busy the machine is; it is not the time that decides but that it comes at all. */
static bool step_until(bool (*condition)(void))
{
	time_t end = time(NULL) + 120;

	while (!condition() && time(NULL) < end)
		rig_step(card);
	return condition();
}

static bool all_faulted(void)
{
	return card->faults == CTAS;
}

static bool some_blocked(void)
{
	return __atomic_load_n(&card->array->blocked, __ATOMIC_RELAXED) > 1;
}

static bool none_blocked(void)
{
	return !__atomic_load_n(&card->array->blocked, __ATOMIC_RELAXED);
}

static bool all_done(void)
{
	return card->done[1] == CTAS;
}

static void kill_all(void)
{
	for (unsigned slot = 0; slot < 2; slot++)
		sm_array_kill(card->array, slot);
	assert_true(step_until(all_done));
	rig_step(card);
	assert_int_equal(card->killed[0], 1);
	assert_int_equal(card->killed[1], 1);
	assert_int_equal(card->done[0], SMS);
	assert_true(none_blocked());
	assert_false(sm_array_busy(card->array));
}

static void faults(void **state)
{
	keep_busy();
	launch(1, K_ILLEGAL, CTAS / SMS);
	assert_true(step_until(all_faulted));
	assert_int_equal(card->fault.word[0] >> 16 & 0xff, TUTTI_CAUSE_ILLEGAL);
	assert_int_equal(card->done[1], 0);
	kill_all();
	assert_int_equal(card->counter[TUTTI_COUNTER_FAULTS], CTAS);
}

/* Waves that wait on workers are counted, so that progress of the movers wakes just those who need it. */
static void waits(void **state)
{
	keep_busy();
	launch(1, WAIT, CTAS / SMS);
	assert_true(step_until(some_blocked));
	while (card->done[1] < CTAS) {
		for (unsigned i = 0; i < SMS * 32; i++) {
			struct sm_shared shared;

			if (card->array->cta[i].slot == 1 && !sm_array_shared(card->array, i, SM_SELF, &shared))
				__atomic_store_n((uint64_t *)shared.base, 1ull << TUTTI_MBARRIER_PHASE_SHIFT,
						 __ATOMIC_SEQ_CST);
		}
		sm_array_progress(card->array);
		rig_step(card);
	}
	assert_true(none_blocked());
	kill_all();
}

static void kills(void **state)
{
	for (unsigned round = 1; round <= 3; round++) {
		keep_busy();
		launch(1, WAIT, CTAS / SMS);
		assert_true(step_until(some_blocked));
		kill_all();
		memset(card->killed, 0, sizeof(card->killed));
		memset(card->done, 0, sizeof(card->done));
	}
}

/* Neither waves that spin nor waves that wait on workers keep the card from ending or from being reset. */
static void the_end(void **state)
{
	keep_busy();
	launch(1, SPIN, CTAS / SMS / 2);
	launch(2, WAIT, CTAS / SMS / 2);
	assert_true(step_until(some_blocked));
	sm_array_reset(card->array);
	assert_false(sm_array_busy(card->array));
	assert_true(none_blocked());
	keep_busy();
	launch(1, SPIN, CTAS / SMS / 2);
	launch(2, WAIT, CTAS / SMS / 2);
	assert_true(step_until(some_blocked));
}

/* As many workers as are asked for, but no more than 63, and the driving thread. */
static void numbers(void **state)
{
	static const unsigned asked[] = {1, 2, 62, 63, 64, 65, 1000};

	for (unsigned i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		card = rig_create(TUTTI_CARD_FAST, asked[i], SMS);
		assert_int_equal(card->array->engines, (asked[i] < 63 ? asked[i] : 63) + 1);
		rig_destroy(card);
		card = rig_create(TUTTI_CARD_DETERMINISTIC, asked[i], SMS);
		assert_int_equal(card->array->engines, 1);
		rig_destroy(card);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-12: faults of waves that workers run", faults, setup, teardown, NULL},
	    {"TMA-25, SYS-12: waves that wait on workers", waits, setup, teardown, NULL},
	    {"TSK-12, SYS-12: kills of waves that wait on workers", kills, setup, teardown, NULL},
	    {"TMA-25, SYS-12: waves that wait on the only worker", waits, setup_one, teardown, NULL},
	    {"TSK-12, SYS-12: kills of waves that wait on the only worker", kills, setup_one, teardown, NULL},
	    {"SYS-12: the number of workers", numbers, NULL, NULL, NULL},
	    {"SYS-12: reset and end while workers are busy", the_end, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("SM: workers", tests, NULL, NULL);
}

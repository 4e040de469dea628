// SPDX-License-Identifier: MIT
/* The waves of a CTA, one of which follows the other on the same hart: what the next one finds, and what may come between. */
#include <stdio.h>

#include "sm_rig.h"

/* A wave takes the place of the one that ended before it, and finds nothing of it. */
static void waves_begin_alike(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 1, 2);
	uint64_t *data = rig_prepare(card, 1);
	struct tutti_task_state state = rig_state(1, K_FIRST, 6, 32);
	uint32_t runs = card->array->engine[0].runs;

	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	for (unsigned i = 1; i <= 3; i++) {
		data[1] = 0;
		assert_int_equal(rig_launch(card, 0, 1, 2), 0);
		rig_until(card, 0, 2 * i);
		assert_int_equal(data[0], 0);
		assert_int_equal(data[1], 0xffffffff);
	}
	assert_int_equal(card->counter[TUTTI_COUNTER_WAVES], 6 * 32);
	/* The timer thread sees each wave begin, and does not take many short ones for a long one. */
	assert_in_range(card->array->engine[0].runs - runs, 6 * 32, 6 * 32 + 8);
	rig_destroy(card);
}

/* SYS-12: other parts of the card have their turn between two waves of a CTA, too. */
static void turns_end_within_a_cta(void **unused)
{
	/* 200000 instructions, of the 262144 of a turn */
	static const uint32_t rounds[] = { 0x000182b7, 0x6a028293, 0xfff28293, 0xfe029ee3, 0x00008067 };
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 1, 1);
	struct tutti_task_state state = rig_state(1, 0x800, 1, 8);

	rig_prepare(card, 1);
	memcpy(card->map[0].host + 0x800, rounds, sizeof(rounds));
	rig_launch_one(card, &state, 0);
	for (unsigned turn = 1; turn <= 4; turn++) {
		rig_step(card);
		assert_int_equal(card->counter[TUTTI_COUNTER_WAVES], 2 * turn);
	}
	rig_until(card, 0, 1);
	rig_destroy(card);
}

/* SYS-15: armed while the first wave of a CTA runs, it hits the second one. */
static void injected_between_waves(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 1, 1);
	struct tutti_task_state state;

	rig_prepare(card, 1);
	state = rig_state(1, K_PRINT, 1, 4);
	card->print_traps = 1;
	rig_launch_one(card, &state, 0);
	rig_until_fault(card);
	assert_int_equal(card->fault.word[0] >> 16 & 0xff, TUTTI_CAUSE_ILLEGAL);
	assert_int_equal(card->fault.word[2], CODE + K_PRINT);
	assert_int_equal(card->array->cta[0].started, 1);
	rig_destroy(card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waves_begin_alike),
		cmocka_unit_test(turns_end_within_a_cta),
		cmocka_unit_test(injected_between_waves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

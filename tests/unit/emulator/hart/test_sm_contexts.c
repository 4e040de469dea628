// SPDX-License-Identifier: MIT
/* How many contexts an engine keeps a processor and memory for, and which of them make room for others. */
#include "sm_rig.h"

static void run_context(struct tutti_card *card, unsigned asid, unsigned done)
{
	struct tutti_task_state state = rig_state(asid, K_EMPTY, 1, 1);

	rig_launch_one(card, &state, asid);
	rig_until(card, asid, done);
}

/* An engine keeps eight contexts. The one that has not run for longest makes room, unless waves of it are there. */
static void contexts_make_room(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);
	struct hart **harts = card->array->engine[0].hart;
	struct tutti_task_state wait = rig_state(1, K_WAIT, 1, 1);
	uint64_t *data = rig_prepare(card, 1);

	for (unsigned a = 2; a <= 12; a++)
		rig_prepare(card, a);
	rig_launch_one(card, &wait, 1);
	rig_step(card);
	for (unsigned a = 2; a <= 8; a++)
		run_context(card, a, 1);
	for (unsigned a = 1; a <= 8; a++)
		assert_non_null(harts[a]);
	run_context(card, 2, 2);
	for (unsigned a = 9; a <= 12; a++) { /* 3 to 6 go, as 1 runs and 2 has run again */
		run_context(card, a, 1);
		for (unsigned b = 1; b <= 12; b++)
			assert_int_equal(!!harts[b], b <= a && (b < 3 || b > a - 6));
		assert_int_equal(card->array->engine[0].hart_count, 8);
	}
	data[0] = 1;
	rig_until(card, 1, 1);
	rig_destroy(card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"SYS-12: which contexts an engine keeps", contexts_make_room, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SM: contexts", tests, NULL, NULL);
}

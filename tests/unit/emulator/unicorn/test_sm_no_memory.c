// SPDX-License-Identifier: MIT
/*
 * A host without memory: the wave that would have needed it faults, and neither the card nor its process ends (SYS-10).
 * uc_context_alloc() stands for all allocations; the one in this program is found before libunicorn's.
 */
#include <dlfcn.h>

#include "sm_rig.h"

static bool no_memory;
static unsigned refused;

uc_err uc_context_alloc(uc_engine *uc, uc_context **context)
{
	uc_err (*real)(uc_engine *, uc_context **) = dlsym(RTLD_NEXT, "uc_context_alloc");

	if (!no_memory)
		return real(uc, context);
	refused++;
	return UC_ERR_NOMEM;
}

static void wave_without_registers(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);
	uint64_t *data = rig_context(card, 1);
	struct tutti_task_state state = rig_state(1, K_EMPTY, 1, 1);

	data[61440 / 8] = DATA;
	/* the first wave has what it needs, and leaves it to the next */
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), 0);
	rig_until(card, 0, 1);
	no_memory = true;
	assert_int_equal(rig_launch(card, 0, 1, 1), 0);
	rig_until(card, 0, 2);
	assert_int_equal(refused, 0);
	/* four waves at a barrier: the second one finds no memory */
	state = rig_state(1, K_BARRIER, 1, 4);
	sm_array_state(card->array, 1, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 1, 1, 1), 0);
	rig_until_fault(card);
	assert_true(refused > 0);
	assert_int_equal(card->fault.word[0] >> 8 & 0xff, 1);
	assert_int_equal(card->fault.word[0] >> 16 & 0xff, TUTTI_CAUSE_BUS);
	sm_array_kill(card->array, 1);
	rig_until(card, 1, 1);
	assert_false(sm_array_busy(card->array));
	/* and with memory it runs */
	no_memory = false;
	sm_array_state(card->array, 1, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 1, 1, 1), 0);
	rig_until(card, 1, 2);
	assert_int_equal(card->faults, 1);
	rig_destroy(card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"SYS-10: no memory for the registers of a wave", wave_without_registers, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SM: no memory", tests, NULL, NULL);
}

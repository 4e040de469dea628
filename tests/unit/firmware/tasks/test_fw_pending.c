/* SPDX-License-Identifier: MIT */
/* Tasks that wait for a slot, and what is kept of them once they have one. */
#include "fw_direct.h"

#include "tasks/pending_tasks.h"

/* Once all CTAs of a kernel, in CGAs of two, have started, nothing is kept of its state, whether or not it waited for a slot. */
static void nothing_is_kept_of_groups(void **unused)
{
	struct tutti_dispatch_packet first = kernel_packet(0, 1), groups = kernel_packet(1, 4);

	(void)unused;
	for (unsigned waits = 0; waits < 2; waits++) {
		start(4, waits ? 1 : 2);
		for (unsigned q = 0; q < 2; q++)
			rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED);
		tmd[0] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION };
		tmd[0].cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_GPC };
		groups.tmd = TMD_AT;
		submit(0, &first);
		submit(1, &groups);
		if (waits) {
			assert_false(pending_idle());
			end_all((unsigned)slot_of(0, 0));
		}
		assert_int_equal(running[slot_of(1, 0)].ctas, 4);
		assert_true(pending_idle());
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TSK-03 CGA-05", nothing_is_kept_of_groups),
	};

	return cmocka_run_group_tests_name("firmware: tasks that wait for a slot", tests, NULL, NULL);
}

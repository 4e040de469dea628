/* SPDX-License-Identifier: MIT */
/* Condensed packets of more queues than there are blocks to expand them in. */
#define RINGS 12u
#include "fw_direct.h"

#include "packets/condensed_block.h"

/* Every queue has a packet of two kernels, the second of which waits for the first: its block is busy meanwhile. */
static void start_queues(unsigned queues)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	union tutti_packet two = condensed(2);

	start(4, 0);
	for (unsigned q = 0; q < queues; q++) {
		rig_rsb(q, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
		store(q, 0, p);
	}
	for (unsigned q = 0; q < queues; q++)
		submit(q, &two);
}

/* Queues without a block wait, and each goes on when a block becomes free, which is when its last kernel has started. */
static void more_queues_than_blocks(void **unused)
{
	enum { MORE = 3 };

	(void)unused;
	start_queues(FW_BLOCKS + MORE);
	for (unsigned q = 0; q < FW_BLOCKS + MORE; q++)
		assert_int_equal(started[q], q < FW_BLOCKS);
	for (unsigned i = 0; i < MORE; i++) {
		unsigned more = 0;

		end_all((unsigned)slot_of(i, 1));
		assert_int_equal(started[i], 2);
		for (unsigned q = FW_BLOCKS; q < FW_BLOCKS + MORE; q++)
			more += started[q];
		assert_int_equal(more, i + 1);
	}
	for (unsigned i = 0; i < 2; i++)
		for (unsigned s = 0; s < SLOTS; s++)
			end_all(s);
	for (unsigned q = 0; q < FW_BLOCKS + MORE; q++) {
		assert_int_equal(started[q], 2);
		assert_int_equal(queue_at(q)->flight, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-16 REL-11", more_queues_than_blocks),
	};

	return cmocka_run_group_tests_name("firmware: blocks of condensed packets", tests, NULL, NULL);
}

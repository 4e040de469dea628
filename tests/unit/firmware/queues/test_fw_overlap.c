/* SPDX-License-Identifier: MIT */
/* Packets whose kernels may overlap: one client leaves another what they need, however long they run (REL-11). */
#include "fw_direct.h"

enum { PACKETS = 40 };

static void open_queue(unsigned q, unsigned asid)
{
	rig_rsb(q, asid, TUTTI_RSB_SCRATCH);
	rig_queue(q, asid, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB | TUTTI_QUEUE_OVERLAP);
	store(q, 0, kernel_packet(0, 1));
}

/* So many packets of one kernel each. */
static void submit_many(unsigned q, unsigned packets)
{
	union tutti_packet one = condensed(1);

	while (packets--)
		submit(q, &one);
}

static void end_kernels(unsigned rounds)
{
	while (rounds--)
		for (unsigned slot = 0; slot < SLOTS; slot++)
			end_all(slot);
}

/* A client that is alone fills all task slots. */
static void one_client(void **unused)
{
	(void)unused;
	start(4, 0);
	open_queue(0, ASID);
	submit_many(0, PACKETS);
	assert_int_equal(started[0], FW_TASKS);
	end_kernels(2);
	assert_int_equal(started[0], PACKETS);
	assert_int_equal(queue_at(0)->flight, 0);
}

static void two_clients(void **unused)
{
	(void)unused;
	start(4, 0);
	open_queue(0, ASID);
	open_queue(1, ASID + 1);
	submit_many(0, PACKETS);
	assert_int_equal(started[0], FW_TASKS / 2);
	submit_many(1, 1);
	assert_int_equal(started[1], 1);
	submit_many(1, PACKETS - 1);
	assert_int_equal(started[1], FW_TASKS / 4); /* a third client finds some, too */
	end_kernels(8);
	assert_int_equal(started[0], PACKETS);
	assert_int_equal(started[1], PACKETS);
	assert_int_equal(queue_at(0)->flight | queue_at(1)->flight, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-21 REL-11", one_client),
		RIG_TEST("PKT-21 REL-11", two_clients),
	};

	return cmocka_run_group_tests_name("firmware: condensed packets that overlap", tests, NULL, NULL);
}

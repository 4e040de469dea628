/* SPDX-License-Identifier: MIT */
/* Directed tests of places where two features meet; tests/combine has found most of them. */
#include "fw_direct.h"

/* A task of its own for a child, or metadata for a packet. */
static struct tutti_tmd child(unsigned kernel)
{
	return (struct tutti_tmd){
		.magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .kernel_object = KERNEL_AT + 64 * kernel,
		.grid = { 32, 1, 1 }, .workgroup = { 32, 1, 1 }, .setup = 1,
	};
}

/* A child that ends is no kernel of the condensed packet: the next kernel waits for the one before, and for children. */
static void child_of_condensed(void **unused)
{
	union tutti_packet p = condensed(2);
	int parent;

	(void)unused;
	for (unsigned child_first = 0; child_first < 2; child_first++) {
		start(2, 0);
		rig_rsb(0, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
		store(0, 0, kernel_packet(0, 1));
		submit(0, &p);
		parent = slot_of(0, 1);
		assert_true(parent >= 0);
		tmd[0] = child(1);
		ask_for_child((unsigned)parent, TMD_AT);
		take();
		assert_int_equal(replies, 1);
		assert_int_equal(reply_value, 0);
		assert_int_equal(started[0], 2);
		/* whichever ends first, the second kernel comes after both */
		end_all(child_first ? !parent : (unsigned)parent);
		assert_int_equal(started[0], 2);
		end_all(child_first ? (unsigned)parent : !parent);
		assert_int_equal(started[0], 3);
		end_all((unsigned)slot_of(0, 1));
		assert_int_equal(queue_at(0)->flight, 0);
		submit(0, &p);
		assert_int_equal(started[0], 4);
	}
}

/* After every change of a single place the card has the order that the firmware has. */
static void order_of_one(void **unused)
{
	unsigned i, sm, position, round;

	(void)unused;
	seed(9);
	for (unsigned sms = 1; sms <= 9; sms += 4) {
		start(sms, 0);
		for (round = 0; round < 200; round++) {
			struct tutti_message m = { .type = TUTTI_MSG_POLICY };

			position = roll(sms);
			sm = roll(sms);
			m.arg[0] = TUTTI_POLICY_SM_ORDER;
			m.arg[1] = position << 16 | sm;
			rig_command = take_one;
			assert_int_equal(rig_message(&m), 0);
			rig_command = NULL;
			for (i = 0; i < sms; i++) {
				m = (struct tutti_message){ .type = TUTTI_MSG_POLICY };
				m.arg[0] = TUTTI_POLICY_SM_ORDER;
				m.arg[1] = i;
				m.arg[2] = 1;
				assert_int_equal(rig_message(&m), 0);
				assert_int_equal(card_order[i], m.value);
			}
			assert_int_equal(card_order[position], sm);
		}
	}
}

/* A wave that asks for a child gets an answer even if another packet stops the queue meanwhile. */
static void child_of_stopped(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1), bad = kernel_packet(0, 1);

	(void)unused;
	start(2, 0);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	submit(0, &p);
	tmd[0] = child(1);
	ask_for_child((unsigned)slot_of(0, 0), TMD_AT);
	command_publish();
	bad.workgroup_x = 0;
	memcpy(&ring[0][written[0]++ % RING], &bad, 64);
	rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
	/* the fetch of the packet is answered before that of the metadata, which was sent first */
	assert_int_equal(queue_at(0)->fetching != 0, 1);
	rig_event(TUTTI_EVENT_FETCH | TUTTI_CAUSE_UNMAPPED << 8 | TAG_PACKETS << 16, 0, 0);
	assert_int_equal(queue_at(0)->state, QUEUE_STOPPED);
	take();
	assert_int_equal(replies, 1);
	assert_int_equal(reply_value, -TUTTI_EBUSY);
	end_all((unsigned)slot_of(0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-16 TSK-11", child_of_condensed),
		RIG_TEST("TSK-06", order_of_one),
		RIG_TEST("TSK-11 PKT-06", child_of_stopped),
	};

	return cmocka_run_group_tests_name("firmware: where features meet", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The host does not read what the firmware has to tell it. When it does, it learns everything (SYS-08, SYS-09). */
#define RINGS 200u
#include "fw_direct.h"

#include "tutti/fault.h"

#define ALL 1000u

static uint32_t told_of[RINGS];         /* reports of an error of each queue */
static uint32_t answered[ALL], answers; /* ids of the requests that were answered, in order */

static const struct tutti_discovery *card(void)
{
	return (const void *)hal_host.window;
}

static struct tutti_control *control(void)
{
	return (void *)(hal_host.window + card()->control.offset);
}

/* The requests are seen when the firmware looks at its ring next. */
static void request(uint16_t type, uint32_t id, uint64_t arg)
{
	struct tutti_message *to = (void *)(hal_host.window + card()->host_ring.offset);

	to[control()->host_ring_tail++ % (card()->host_ring.bytes / sizeof(*to))] =
		(struct tutti_message){ .type = type, .id = id, .arg = { arg } };
}

static uint32_t unread(void)
{
	const struct tutti_status *status = (const void *)(hal_host.window + card()->status.offset);

	return status->card_ring_tail - control()->card_ring_head;
}

static void go_on(void)
{
	rig_event(TUTTI_EVENT_MESSAGE, 0, 0);
	take();
}

static void read_one(void)
{
	const struct tutti_message *from = (const void *)(hal_host.window + card()->card_ring.offset);
	const struct tutti_message *m = &from[control()->card_ring_head++ % (card()->card_ring.bytes / sizeof(*from))];

	if (m->type == TUTTI_MSG_QUEUE_ERROR) {
		assert_in_range(m->fault.queue, 0, RINGS - 1);
		assert_int_equal(m->fault.code, TUTTI_ERROR_PACKET);
		told_of[m->fault.queue]++;
	} else {
		assert_int_equal(m->type, TUTTI_MSG_REPLY);
		assert_true(answers < ALL);
		answered[answers++] = m->id;
	}
}

static void read_all(void)
{
	for (; unread(); go_on())
		while (unread())
			read_one();
}

static void begin(unsigned queues)
{
	start(4, 0);
	for (unsigned q = 0; q < queues; q++)
		rig_queue(q, ASID, 0);
	memset(told_of, 0, sizeof(told_of));
	answers = 0;
}

/* Each queue has a packet of no type. */
static void stop_all(void)
{
	union tutti_packet bad = { .dispatch = { .header = 99 } };

	for (unsigned q = 0; q < RINGS; q++) {
		write_packet(q, &bad);
		rig_event(TUTTI_EVENT_DOORBELL | q / 32 << 8, 1u << q % 32, 0);
		take();
		assert_int_equal(queue_at(q)->state, QUEUE_STOPPED);
	}
}

/* So many queues stop that the reports do not fit into the ring, and then they are destroyed. */
static void errors_and_replies(void **unused)
{
	(void)unused;
	begin(RINGS);
	stop_all();
	for (unsigned q = 0; q < 5; q++)
		request(TUTTI_MSG_QUEUE_DESTROY, 1000 + q, q);
	go_on();
	read_all();
	for (unsigned q = 0; q < RINGS; q++)
		assert_int_equal(told_of[q], 1);
	assert_int_equal(answers, 5);
	for (unsigned q = 0; q < 5; q++)
		assert_int_equal(answered[q], 1000 + q);
}

/* The host fills its ring with requests again and again before it reads the answers. */
static void many_requests(void **unused)
{
	uint32_t slots, sent = 0;

	(void)unused;
	begin(0);
	slots = (uint32_t)(card()->host_ring.bytes / sizeof(struct tutti_message));
	for (unsigned round = 0; round < 3; round++) {
		const struct tutti_status *status = (const void *)(hal_host.window + card()->status.offset);

		while (control()->host_ring_tail - status->host_ring_head < slots)
			request(TUTTI_MSG_PING, ++sent, 0);
		go_on();
	}
	assert_true(sent > 2 * slots);
	read_all();
	assert_int_equal(answers, sent);
	for (unsigned i = 0; i < sent; i++)
		assert_int_equal(answered[i], i + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-08 SYS-09", errors_and_replies),
		RIG_TEST("SYS-08", many_requests),
	};

	return cmocka_run_group_tests_name("firmware: messages that are not read", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/*
 * Messages to the host: the firmware's queues for them against a list without an end, with a host that reads slowly and
 * engines that are slow as well. A message that was accepted comes once and in order, and an interrupt follows it (SYS-08).
 */
#include "core/outbox.h"
#include "fw_rig.h"
#include "tutti/fault.h"

#define BACKLOG 640u /* messages that wait when the host's ring is full */
#define DEFERRED 16u /* replies that wait for the commands of their request */

static struct tutti_message expected[100000]; /* messages that were accepted, in order */
static uint32_t accepted, first;              /* how many of them there are, and the ring index of the first one */
static uint32_t slots, interrupts;
static bool silent; /* the host has not been interrupted for the newest message in its ring */

static struct tutti_discovery *card(void)
{
	return (void *)hal_host.window;
}

static struct tutti_control *control(void)
{
	return (void *)(hal_host.window + card()->control.offset);
}

static const struct tutti_status *status(void)
{
	return (const void *)(hal_host.window + card()->status.offset);
}

/* A ring of @messages, a power of two, of which the host has read @index before. */
static void begin(uint32_t messages, uint32_t index)
{
	rig_load(4);
	rig_drain();
	card()->card_ring.bytes = messages * sizeof(struct tutti_message);
	control()->card_ring_head = index;
	outbox_init();
	attention = (struct attention){ 0 };
	slots = messages;
	first = index;
	accepted = interrupts = 0;
	silent = false;
	assert_int_equal(status()->card_ring_tail, index);
}

/* Messages in the host's ring, and those that wait for room there. */
static uint32_t shown(void)
{
	return status()->card_ring_tail - first;
}

static uint32_t unread(void)
{
	return status()->card_ring_tail - control()->card_ring_head;
}

/* The engines take what was written. */
static void engines_go_on(void)
{
	const uint32_t *w;
	unsigned words;

	command_publish();
	while ((w = hal_host_command(&words)))
		if ((w[0] & 0xff) == TUTTI_CMD_INTERRUPT) {
			assert_int_equal(words, COMMAND_INTERRUPT_WORDS);
			assert_int_equal(w[0] >> 16, 0); /* vector 0 is the driver's */
			interrupts++;
		}
}

static void check_ring(void)
{
	const struct tutti_message *ring = (const void *)(hal_host.window + card()->card_ring.offset);
	uint32_t i;

	assert_true(unread() <= slots);
	for (i = control()->card_ring_head; i != status()->card_ring_tail; i++)
		assert_memory_equal(&ring[i % slots], &expected[i - first], sizeof(ring[0]));
}

static struct tutti_message some_message(void)
{
	struct tutti_message m = { .type = TUTTI_MSG_REPLY, .status = (int16_t)roll(100), .id = roll32(), .value = roll32() };

	for (unsigned i = 0; i < 6; i++)
		m.arg[i] = roll32() | (uint64_t)roll32() << 32;
	return m;
}

/* One message is sent, which takes its place in the host's ring, waits, or is lost. */
static void send(void)
{
	struct tutti_message m = some_message();
	uint32_t waiting = accepted - shown(), before = shown(), used = unread();
	bool room = command_room(COMMAND_INTERRUPT_WORDS);

	attention.idle = 0;
	outbox_send(&m);
	if (waiting || used == slots) {
		if (waiting < BACKLOG)
			expected[accepted++] = m;
		assert_int_equal(shown(), before);
		assert_int_equal(attention.idle, waiting < BACKLOG ? ATTEND_CHANNEL : 0);
		return;
	}
	expected[accepted++] = m;
	assert_int_equal(shown(), before + 1);
	assert_int_equal(attention.idle, room ? 0 : ATTEND_CHANNEL);
	silent = !room;
}

/* What waits goes into the ring as far as there is room. The answer says whether anything is left to do. */
static void flush(void)
{
	uint32_t waiting = accepted - shown(), goes = min32(waiting, slots - unread()), before = shown();
	bool room = command_room(goes + COMMAND_INTERRUPT_WORDS);

	if (room)
		silent = false;
	else if (goes)
		return; /* how many of them find room for an interrupt is another matter */
	assert_int_equal(outbox_flush(), silent || goes < waiting);
	assert_int_equal(shown(), before + goes);
}

static void host_reads(uint32_t n)
{
	control()->card_ring_head += min32(n, unread());
}

/* After any sequence all accepted messages have come, and the host was interrupted after the last one. */
static void end(void)
{
	while (accepted != shown() || unread()) {
		engines_go_on();
		check_ring();
		host_reads(unread());
		outbox_flush();
	}
	engines_go_on();
	assert_false(outbox_flush());
}

static void any_sequence(void **unused)
{
	for (unsigned round = 0; round < 60; round++) {
		seed(round);
		begin(1u << roll(round % 2 ? 3 : 7), round % 3 ? roll32() : 0u - roll(30));
		for (unsigned i = 0; i < 1500; i++) {
			switch (roll(8)) {
			case 0: host_reads(roll(2) ? unread() : roll(3)); break;
			case 1: hal_host_fill(COMMAND_ASK(COMMAND_INTERRUPT_WORDS) - roll(3)); break;
			case 2: engines_go_on(); break;
			case 3: flush(); break;
			default: send();
			}
			check_ring();
		}
		end();
	}
}

/* Each message that finds the engines ready is followed by one interrupt; all that found none by one together. */
static void interrupted_once(void **unused)
{
	begin(8, 3);
	for (unsigned i = 1; i <= 3; i++) {
		send();
		engines_go_on();
		assert_int_equal(interrupts, i);
	}
	hal_host_fill(COMMAND_ASK(COMMAND_INTERRUPT_WORDS) - 1);
	for (unsigned i = 0; i < 3; i++)
		send();
	assert_true(outbox_flush()); /* there is still no room */
	engines_go_on();
	assert_int_equal(interrupts, 3);
	assert_false(outbox_flush());
	engines_go_on();
	assert_int_equal(interrupts, 4);
	assert_false(outbox_flush());
	engines_go_on();
	assert_int_equal(interrupts, 4);
}

/* The host's ring is full and does not become empty: so many messages wait, in order, and the others are lost. */
static void lost_when_nobody_reads(void **unused)
{
	begin(4, 0xfffffffe);
	for (unsigned i = 0; i < 4 + BACKLOG + 3; i++)
		send();
	assert_int_equal(accepted, 4 + BACKLOG);
	assert_true(outbox_flush());
	host_reads(2);
	assert_true(outbox_flush());
	assert_int_equal(shown(), 6);
	check_ring();
	for (unsigned i = 0; i < 3; i++)
		send();
	assert_int_equal(accepted, 6 + BACKLOG);
	end();
}

/* ---- replies behind the commands of their request ---- */

/* A reply is sent when a fetch behind a release fence has been answered. Return: the number in the fetch's tag */
static unsigned ask_reply(uint32_t id, uint64_t value)
{
	const uint32_t *w;
	unsigned words;

	engines_go_on();
	outbox_reply_after(id, value);
	command_publish();
	w = hal_host_command(&words);
	assert_int_equal(w[0], TUTTI_COMMAND(TUTTI_CMD_FENCE, 1, TUTTI_SCOPE_SYSTEM | TUTTI_FENCE_RELEASE));
	w = hal_host_command(&words);
	assert_int_equal(w[0] & 0xffff, TUTTI_COMMAND(TUTTI_CMD_FETCH, COMMAND_FETCH_WORDS, 0));
	assert_int_equal(w[1], TUTTI_ASID_BUS);
	assert_int_equal(w[2] | w[3], 0);
	assert_int_equal(w[4], 4);
	assert_int_equal(w[0] >> 16 & TAG_KIND, TAG_REPLY);
	return w[0] >> 16 & TAG_NUMBER;
}

static void replied(uint32_t id, uint64_t value)
{
	expected[accepted++] = (struct tutti_message){ .type = TUTTI_MSG_REPLY, .id = id, .value = value };
	assert_int_equal(shown(), accepted);
	check_ring();
	engines_go_on();
	host_reads(unread());
}

/* So many may wait, answered in any order, each with the id and value of its request; a number that is free says nothing. */
static void replies_in_any_order(void **unused)
{
	unsigned number[DEFERRED], n = 0, i;
	uint32_t id[DEFERRED];

	seed(1);
	begin(8, 0);
	for (unsigned step = 0; step < 3000; step++) {
		assert_int_equal(outbox_busy(), n == DEFERRED);
		assert_int_equal(outbox_can_reply(), n < DEFERRED);
		if (n < DEFERRED && roll(step / 500 % 2 ? 3 : 2)) {
			id[n] = roll32();
			number[n] = ask_reply(id[n], id[n] * 7ull << 20);
			for (i = 0; i < n; i++)
				assert_int_not_equal(number[i], number[n]);
			assert_true(number[n++] < DEFERRED);
		} else if (n) {
			i = roll(n);
			outbox_event_fetch(number[i]);
			replied(id[i], id[i] * 7ull << 20);
			outbox_event_fetch(number[i]);
			assert_int_equal(shown(), accepted);
			number[i] = number[--n];
			id[i] = id[n];
		}
	}
}

/* A request is not begun unless there is room in the command ring for its answer. */
static void no_room_for_a_reply(void **unused)
{
	begin(8, 0);
	hal_host_fill(COMMAND_ASK(COMMAND_FENCE_WORDS + COMMAND_FETCH_WORDS));
	assert_true(outbox_can_reply());
	hal_host_fill(COMMAND_ASK(COMMAND_FENCE_WORDS + COMMAND_FETCH_WORDS) - 1);
	assert_false(outbox_can_reply());
	engines_go_on();
	assert_true(outbox_can_reply());
}

/* The host learns everything that is known of a fault. */
static void faults(void **unused)
{
	struct tutti_fault fault;

	begin(8, 0);
	memset(&fault, 0x5a, sizeof(fault));
	fault.queue = 77;
	outbox_fault(&fault);
	expected[accepted++] = (struct tutti_message){ .type = TUTTI_MSG_QUEUE_ERROR };
	expected[0].fault = fault;
	assert_int_equal(shown(), 1);
	check_ring();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-08 REL-11", any_sequence),
		RIG_TEST("SYS-08", interrupted_once),
		RIG_TEST("SYS-08 SYS-09", lost_when_nobody_reads),
		RIG_TEST("SYS-08", replies_in_any_order),
		RIG_TEST("SYS-08 REL-11", no_room_for_a_reply),
		RIG_TEST("SYS-08", faults),
	};

	return cmocka_run_group_tests_name("firmware: messages to the host", tests, NULL, NULL);
}

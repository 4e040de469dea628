/* SPDX-License-Identifier: MIT */
/*
 * A C++ program over the inline part of the public API (spec SYS-55): packets through a ring of its own,
 * signals whole and split. No library is linked; the slow paths stand here.
 */
#include <cstdio>
#include <cstring>

#include "tutti.h"

static const unsigned PACKETS = 4;

static union tutti_packet ring[PACKETS];
static uint64_t write_index, read_index, doorbell;
static uint32_t asleep;
static int waits, kicks, wakes;

int tutti_queue_wait_room(struct tutti_queue *queue, uint64_t first, uint32_t)
{
	waits++;
	*queue->write_index = first; /* full for good: the reservation is taken back */
	return -1;
}

void tutti_queue_kick(struct tutti_queue *)
{
	kicks++;
}

void tutti_signal_wake(tutti_signal_t)
{
	wakes++;
}

static int failures;

static void check(bool good, const char *what)
{
	if (good)
		return;
	std::printf("wrong: %s\n", what);
	failures++;
}

static void submit(bool multi, uint32_t flags)
{
	struct tutti_queue queue = tutti_queue();
	union tutti_packet packet;

	queue.ring = ring;
	queue.mask = PACKETS - 1;
	queue.write_index = &write_index;
	queue.read_index = &read_index;
	queue.doorbell = &doorbell;
	queue.asleep = &asleep;
	queue.room = PACKETS;
	queue.flags = flags;
	queue.multi = multi;
	write_index = 0;
	waits = kicks = 0;
	std::memset(ring, 0, sizeof(ring));
	for (uint32_t i = 0; i < PACKETS; i++) {
		std::memset(&packet, static_cast<int>(i + 1), sizeof(packet));
		asleep = i & 1;
		check(tutti_queue_submit(&queue, &packet) == 0, "a packet for which there is room");
		check(!std::memcmp(&ring[i], &packet, sizeof(packet)), "its bytes");
		check(doorbell == i, "its doorbell");
	}
	check(kicks == PACKETS / 2, "kicks of a sleeping card only");
	check(tutti_queue_submit(&queue, &packet) == -1 && waits == 1, "a full ring");
}

static void signals(uint32_t flags)
{
	struct tutti_signal signal = tutti_signal();

	signal.flags = flags;
	signal.card_done = flags & TUTTI_SIGNAL_SPLIT ? 3 : 0;
	tutti_signal_store(&signal, 5);
	check(tutti_signal_load(&signal) == 5, "what was stored");
	tutti_signal_add(&signal, -7);
	check(tutti_signal_load(&signal) == -2, "what was added");
	check(tutti_signal_exchange(&signal, 12) == -2 && tutti_signal_load(&signal) == 12, "what was exchanged");
	check(tutti_signal_cas(&signal, 11, 1) == 12 && tutti_signal_cas(&signal, 12, 6) == 12, "what was compared");
	wakes = 0;
	signal.waiters = 1;
	tutti_signal_and(&signal, 3);
	tutti_signal_or(&signal, 9);
	tutti_signal_xor(&signal, 1);
	tutti_signal_subtract(&signal, 4);
	check(tutti_signal_load(&signal) == 6 && wakes == 4, "bits, and threads that are woken");
	tutti_signal_store(&signal, TUTTI_SIGNAL_CANCELLED);
	check(tutti_signal_load(&signal) == TUTTI_SIGNAL_CANCELLED, "a cancelled signal");
}

int main()
{
	submit(false, 0);
	submit(true, 0);
	submit(false, TUTTI_QUEUE_WRITE_COMBINED);
	signals(0);
	signals(TUTTI_SIGNAL_SPLIT);
	return failures;
}

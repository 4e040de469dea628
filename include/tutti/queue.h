/* SPDX-License-Identifier: MIT */
/**
 * DOC: The submit path, inline
 *
 * A packet is submitted in four steps: reserve an index (waiting for room), write
 * the body into its slot, publish it by storing its first 32 bits, ring the
 * doorbell. On a queue with a single producer that takes no lock and no system
 * call; several producers reserve with one atomic addition.
 *
 *	error = tutti_queue_reserve(queue, 1, &index);
 *	if (error)
 *		return error;
 *	slot = tutti_queue_slot(queue, index);
 *	... write the slot except for slot->word[0] ...
 *	tutti_queue_publish(queue, index, first_word);
 *	tutti_queue_ring(queue, index);
 *
 * Source: HSA Platform System Architecture 1.2, "User mode queuing"; spec PKT-01, SYS-40.
 */
#ifndef TUTTI_QUEUE_H
#define TUTTI_QUEUE_H

#include <string.h>

#include "barrier.h"
#include "message.h"
#include "packet.h"
#include "signal_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** TUTTI_QUEUE_WRITE_COMBINED - bit of tutti_queue.flags: the ring lies in memory that is mapped write-combined. */
#define TUTTI_QUEUE_WRITE_COMBINED 0x80000000u

/**
 * struct tutti_queue - what the inline functions need of a queue; the library keeps more behind it.
 * @ring: array of @mask + 1 packets
 * @mask: number of packets in the ring, a power of two, minus 1
 * @write_index: number of packets ever reserved
 * @read_index: number of packets ever retired; the card writes it
 * @doorbell: doorbell of the queue, see struct tutti_doorbell_page
 * @asleep: non-zero while the card sleeps and has to be kicked; NULL when doorbells wake it
 * @room: single producer: packets below this index may be written, as far as is known
 * @id: number of the queue on the card
 * @flags: TUTTI_QUEUE_* of message.h and TUTTI_QUEUE_WRITE_COMBINED
 * @multi: the queue has several producers
 *
 * tutti_queue_create() fills it and applications do not change it.
 */
struct tutti_queue {
	union tutti_packet *ring;
	uint64_t mask;
	uint64_t *write_index;
	const uint64_t *read_index;
	uint64_t *doorbell;
	const uint32_t *asleep;
	uint64_t room;
	uint32_t id;
	uint32_t flags;
	bool multi;
};

/**
 * tutti_queue_wait_room() - slow path of tutti_queue_reserve(); applications do not call it.
 * @queue: queue
 * @first: first index of the reservation
 * @count: packets reserved
 *
 * Waits until packets @first to @first + @count - 1 may be written.
 *
 * Return: 0; -EINVAL when the ring has fewer than @count packets, or @queue is no queue; -EIO when the queue has
 * stopped or the device has died; -EBUSY in a handler before whose return there can be no room, see
 * tutti_signal_handler(). In case of an error the reservation has been taken back.
 */
int tutti_queue_wait_room(struct tutti_queue *queue, uint64_t first, uint32_t count);

/** tutti_queue_kick() - slow path of tutti_queue_ring(): wakes a sleeping card; applications do not call it. */
void tutti_queue_kick(struct tutti_queue *queue);

/**
 * tutti_queue_reserve() - reserve consecutive packets and wait until they may be written.
 * @queue: queue
 * @count: number of packets, at least 1 and at most the ring's size
 * @index: gets the index of the first one
 *
 * The slot of every reserved packet must be published in the end: the card stops at the first
 * packet that is not ready.
 *
 * Return: 0, or an error of tutti_queue_wait_room().
 */
static inline int tutti_queue_reserve(struct tutti_queue *queue, uint32_t count, uint64_t *index)
{
	uint64_t first, last;

	*index = 0;
	if (__builtin_expect(!queue, 0) || (count > 1 && count > queue->mask + 1))
		return tutti_queue_wait_room(queue, 0, count); /* there will never be room: nothing is reserved */
	if (queue->multi) {
		first = __atomic_fetch_add(queue->write_index, count, __ATOMIC_RELAXED);
		last = first + count - 1;
		if (last - tutti_load_acquire(queue->read_index) <= queue->mask) {
			*index = first;
			return 0;
		}
	} else {
		first = *queue->write_index;
		tutti_store_relaxed(queue->write_index, first + count);
		last = first + count - 1;
		if (last < queue->room) {
			*index = first;
			return 0;
		}
	}
	*index = first;
	return tutti_queue_wait_room(queue, first, count);
}

/** tutti_queue_slot() - slot of packet @index, to be written except for its first 32 bits. */
static inline union tutti_packet *tutti_queue_slot(struct tutti_queue *queue, uint64_t index)
{
	return &queue->ring[index & queue->mask];
}

/** tutti_queue_order() - what was stored into the ring before is seen by the card before what is stored next. */
static inline void tutti_queue_order(const struct tutti_queue *queue)
{
	/* A release store is enough in ordinary memory, and this test costs nothing beside it. */
	if (__builtin_expect(queue->flags & TUTTI_QUEUE_WRITE_COMBINED, 0))
		tutti_fence_write_combined();
}

/**
 * tutti_queue_publish() - make a packet ready, behind everything that was written before.
 * @queue: queue
 * @index: index of the packet, whose body has been written
 * @first_word: its first 32 bits: the AQL header and what follows it
 */
static inline void tutti_queue_publish(struct tutti_queue *queue, uint64_t index, uint32_t first_word)
{
	uint32_t *word = &tutti_queue_slot(queue, index)->word[0];

	tutti_queue_order(queue);
	tutti_store_release(word, first_word);
}

/**
 * tutti_queue_ring() - tell the card that there are packets up to @index.
 *
 * One ring is enough for any number of packets. The doorbell only wakes the card: rings may come
 * late, early or more than once.
 */
static inline void tutti_queue_ring(struct tutti_queue *queue, uint64_t index)
{
	uint64_t *doorbell;
	const uint32_t *asleep;

	if (__builtin_expect(!queue, 0))
		return;
	doorbell = queue->doorbell;
	asleep = queue->asleep; /* once the doorbell is rung, a handler may destroy the queue */
	tutti_queue_order(queue);
	tutti_store_release(doorbell, index);
	if (asleep) {
		tutti_fence();
		if (tutti_load_relaxed(asleep))
			tutti_queue_kick(queue);
	}
}

/**
 * tutti_queue_put() - reserve, write, publish and ring one packet.
 * @queue: queue
 * @packet: the packet, header included
 * @index: gets the packet's index
 *
 * Return: 0, or an error of tutti_queue_reserve().
 */
static inline int tutti_queue_put(struct tutti_queue *queue, const union tutti_packet *packet, uint64_t *index)
{
	union tutti_packet *slot;
	int error = tutti_queue_reserve(queue, 1, index);

	if (error)
		return error;
	slot = tutti_queue_slot(queue, *index);
	memcpy(&slot->word[1], &packet->word[1], sizeof(*packet) - sizeof(packet->word[0]));
	tutti_queue_publish(queue, *index, packet->word[0]);
	tutti_queue_ring(queue, *index);
	return 0;
}

/** tutti_queue_submit() - tutti_queue_put() for who does not need the packet's index. */
static inline int tutti_queue_submit(struct tutti_queue *queue, const union tutti_packet *packet)
{
	uint64_t index;

	return tutti_queue_put(queue, packet, &index);
}

#ifdef __cplusplus
}
#endif

#endif

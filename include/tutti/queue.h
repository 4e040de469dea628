/* SPDX-License-Identifier: MIT */
/**
 * DOC: The submit path, inline
 *
 * reserve (wait for room) - write the body - publish (first word, release) - ring.
 * A single-producer queue takes no lock and makes no system call; several
 * producers reserve with one atomic add.
 */
#ifndef TUTTI_QUEUE_H
#define TUTTI_QUEUE_H

#include <string.h>

#include "barrier.h"
#include "message.h"
#include "packet.h"
#include "signal.h"

/** struct tutti_queue - public part of a queue; the library keeps more behind it. */
struct tutti_queue {
	union tutti_packet *ring;
	uint64_t mask;               /* packets - 1 */
	uint64_t *write_index;       /* packets ever reserved */
	const uint64_t *read_index;  /* packets ever retired; the card writes it */
	uint64_t *doorbell;
	const uint32_t *asleep;      /* NULL: doorbells wake the card by themselves */
	uint64_t room;               /* single producer: read index last seen + packets */
	uint32_t id;
	uint32_t flags;              /* TUTTI_QUEUE_* */
	bool multi;
};

/**
 * tutti_queue_wait_room() - slow path of reserving: until @count packets from @first on may be written.
 * Return: 0, -EIO (stopped or dead; the reservation is taken back).
 */
int tutti_queue_wait_room(struct tutti_queue *queue, uint64_t first, uint32_t count);
/** tutti_queue_kick() - slow path of ringing: the card was asleep. */
void tutti_queue_kick(struct tutti_queue *queue);

/**
 * tutti_queue_reserve() - reserve @count consecutive packets, waiting for room.
 * @count: at most the ring's packets (more: -EINVAL)
 * @index: first packet index
 * Return: 0, or -EIO when the queue has stopped and will not make room.
 */
static inline int tutti_queue_reserve(struct tutti_queue *queue, uint32_t count, uint64_t *index)
{
	uint64_t first, last;

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

/** tutti_queue_slot() - slot of packet @index. Write all but its first 32 bits. */
static inline union tutti_packet *tutti_queue_slot(struct tutti_queue *queue, uint64_t index)
{
	return &queue->ring[index & queue->mask];
}

/** tutti_queue_publish() - make packet @index ready: its first 32 bits, with release order. */
static inline void tutti_queue_publish(struct tutti_queue *queue, uint64_t index, uint32_t first_word)
{
	tutti_store_release(&tutti_queue_slot(queue, index)->word[0], first_word);
}

/** tutti_queue_ring() - tell the card that packets up to @index are there. */
static inline void tutti_queue_ring(struct tutti_queue *queue, uint64_t index)
{
	tutti_store_release(queue->doorbell, index);
	if (queue->asleep) {
		tutti_fence();
		if (tutti_load_relaxed(queue->asleep))
			tutti_queue_kick(queue);
	}
}

/** tutti_queue_submit() - reserve, write, publish and ring one packet. */
static inline int tutti_queue_submit(struct tutti_queue *queue, const union tutti_packet *packet)
{
	union tutti_packet *slot;
	uint64_t index;
	int error = tutti_queue_reserve(queue, 1, &index);

	if (error)
		return error;
	slot = tutti_queue_slot(queue, index);
	memcpy(&slot->word[1], &packet->word[1], sizeof(*packet) - sizeof(packet->word[0]));
	tutti_queue_publish(queue, index, packet->word[0]);
	tutti_queue_ring(queue, index);
	return 0;
}

/** tutti_signal_load() - true value of a signal (acquire). */
static inline int64_t tutti_signal_load(const struct tutti_signal *signal)
{
	int64_t value = tutti_load_acquire(&signal->value);

	if (signal->flags & TUTTI_SIGNAL_SPLIT)
		value -= tutti_load_acquire(&signal->card_done);
	return value;
}

/** tutti_signal_add() - atomic add (acquire-release); a split signal adds to the host's word. */
static inline void tutti_signal_add(struct tutti_signal *signal, int64_t delta)
{
	__atomic_fetch_add(&signal->value, delta, __ATOMIC_ACQ_REL);
}

/** tutti_signal_store() - set the value (release). A split signal must not be in use by the card then. */
static inline void tutti_signal_store(struct tutti_signal *signal, int64_t value)
{
	if (signal->flags & TUTTI_SIGNAL_SPLIT)
		value += tutti_load_relaxed(&signal->card_done);
	tutti_store_release(&signal->value, value);
}

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: What parked queues wait for
 *
 * Nobody in the firmware ever waits: a queue that cannot go on notes why and is left. Whoever brings what is
 * missing wakes all queues that wait for it, and the event loop runs them when the event has been handled.
 */
#ifndef WAIT_H
#define WAIT_H

#include "core/queue_record.h"
#include "core/state.h"

/* What a parked queue waits for. TASKS: its own kernels in flight. */
enum queue_wait {
	WAIT_NONE,
	WAIT_RING,    /* doorbell or poll */
	WAIT_FETCH,   /* packets on their way */
	WAIT_TASKS,
	WAIT_SIGNAL,  /* barrier packet: probe or poll */
	/* resources: woken through wait_wake() */
	WAIT_SLOT,
	WAIT_BUFFER,
	WAIT_KERNEL,
	WAIT_BLOCK,
	WAIT_RSB,
	WAIT_SHAPE,
	WAIT_AGENT,
	WAIT_PROBE,
	WAIT_ROOM,
	WAIT_TMD,     /* metadata, or a record for them */
	QUEUE_WAITS
};

/** struct queue_table - sets of queues. */
struct queue_table {
	struct queue_set ready;            /* to be run */
	struct queue_set waiting[QUEUE_WAITS]; /* resource waits only */
	uint32_t any_ready;                /* words of @ready that are not 0 */
	struct queue_set ended;            /* to be looked at: a kernel of theirs has ended */
	uint32_t any_ended;
	uint32_t waiters[QUEUE_WAITS];     /* queues in each set, may be too high */
	bool suspended;
};
extern struct queue_table queue_table;

/** wait_join() - wait_park() for a resource: @queue joins those that wait for it. */
int wait_join(struct queue *queue, enum queue_wait wait);
/** wait_park() - note what @queue waits for. Return: PACKET_PARKED */
static inline int wait_park(struct queue *queue, enum queue_wait wait)
{
	if (wait >= WAIT_SLOT)
		return wait_join(queue, wait);
	queue->wait = (uint8_t)wait;
	return PACKET_PARKED;
}
/** wait_wake() - something queues wait for has become free. */
void wait_wake(enum queue_wait wait);
/** wait_ready() - run @queue soon. */
void wait_ready(struct queue *queue);
/** wait_ended() - a kernel of @queue that belongs to @packet has ended; the queue goes on when the event has been handled. */
void wait_ended(struct queue *queue, uint32_t packet);
/** wait_forget() - @queue waits for nothing any more. */
void wait_forget(struct queue *queue);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: What parked queues wait for
 *
 * The firmware never blocks. A queue that cannot go on notes what it waits for and is put aside. The unit that frees
 * or delivers this wakes all queues that wait for it, and the event loop runs them after the current event.
 */
#ifndef WAIT_H
#define WAIT_H

#include "core/queue_record.h"
#include "core/state.h"

/* What a parked queue waits for. */
enum queue_wait {
	WAIT_NONE,
	WAIT_RING,    /* new packets, which a doorbell or a poll finds */
	WAIT_FETCH,   /* packets that are being fetched */
	WAIT_TASKS,   /* its own kernels in flight */
	WAIT_SIGNAL,  /* a barrier packet's signals, which a probe or a poll finds satisfied */
	/* Resources that queues share: wait_wake() wakes all that wait for one. */
	WAIT_SLOT,    /* a free task slot */
	WAIT_BUFFER,  /* a fetch buffer; each that becomes free goes to one queue (queues/fetch_buffers.h) */
	WAIT_KERNEL,  /* a kernel descriptor that is being fetched, or an entry of the kernel cache for it */
	WAIT_RSB,     /* the end of the condensed packets that read its reference state buffer, which it is to change */
	WAIT_SHAPE,   /* an entry of the table of CTA shapes */
	WAIT_AGENT,   /* one of the FW_AGENTS records of agent dispatches */
	WAIT_PROBE,   /* a probe for the signals of a barrier packet */
	WAIT_ROOM,    /* room in the command ring */
	WAIT_TMD,     /* a free record for task metadata */
	QUEUE_WAITS,
	/* The event of metadata ends these. */
	WAIT_METADATA, /* the task metadata that are being fetched for its packet */
	WAIT_FOLLOW,  /* the same, and all conditions of launch_follower() hold */
};

/* struct queue.situation of a queue that runs and waits for its kernels in flight, with no fetch under way */
#define QUEUE_BETWEEN (QUEUE_RUNNING | WAIT_TASKS << 8)

/** struct queue_table - sets of queues. */
struct queue_table {
	struct queue_set ready;            /* to be run */
	struct queue_set waiting[QUEUE_WAITS - WAIT_SLOT]; /* those that wait for each resource, from WAIT_SLOT on */
	uint32_t any_ready;                /* a bit for each word of @ready that is not 0 */
	struct queue_set ended;            /* to be looked at, because a kernel of theirs has ended */
	uint32_t any_ended;                /* a bit for each word of @ended that is not 0 */
	uint32_t waiters[QUEUE_WAITS];     /* upper bound of the queues in each set of @waiting */
	union {
		struct {
			bool suspended;
			bool shared;     /* more than one client has queues (queues/turns.h) */
		};
		uint16_t detour;         /* not 0: one of both, so that queues have to ask before they run */
	};
	bool crowded;                    /* @shared, and events wait behind the one at hand */
};
extern struct queue_table queue_table;

/** wait_join() - wait_park() for a shared resource: @queue joins those that wait for it. Return: PACKET_PARKED */
int wait_join(struct queue *queue, enum queue_wait wait);
/** wait_park() - note what @queue waits for. Return: PACKET_PARKED */
static inline int wait_park(struct queue *queue, enum queue_wait wait)
{
	if (wait >= WAIT_SLOT && wait < QUEUE_WAITS)
		return wait_join(queue, wait);
	queue->wait = (uint8_t)wait;
	return PACKET_PARKED;
}
/** wait_wake_all() - wait_wake() where there may be such queues. */
void wait_wake_all(enum queue_wait wait);
/** wait_wake() - make all queues ready that wait for resource @wait, because some of it has become free. */
static inline void wait_wake(enum queue_wait wait)
{
	if (unlikely(queue_table.waiters[wait]))
		wait_wake_all(wait);
}
/** wait_ready() - have the event loop run @queue after the current event. */
void wait_ready(struct queue *queue);
/** wait_ended() - a kernel of @packet in @queue has ended; the event loop looks at the queue after the event. */
void wait_ended(struct queue *queue, uint32_t packet);
/** wait_forget() - take @queue out of all sets of waiting queues. */
void wait_forget(struct queue *queue);

#endif

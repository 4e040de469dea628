/* SPDX-License-Identifier: MIT */
/**
 * DOC: Turns between clients (spec REL-12)
 *
 * A client is a context (address space). The card is shared while more than one client has queues. All events come in one
 * ring, in which a client with many short kernels could always have dozens of them, and every other client would have to
 * wait for these. So on a shared card no client has much in that ring:
 *
 * - A visit (core/visit.h) launches few kernels.
 * - The card is crowded while other events wait behind the one being handled. Then a client may start something only if
 *   another client has started something since. Otherwise its queue becomes ready, and goes on when no event waits any
 *   more, or after TURN_EVENTS events. So a client has no more kernels in flight than the soft core can keep up with.
 * - Ready queues go on one in a visit, and clients alternate. Between two such turns they let another client go first
 *   once: while it fetches packets, and then for TURN_MOMENT visits, in which its kernel may already end.
 * - The last task slots are reserved for clients with few tasks.
 *
 * While there is only one client none of this costs an instruction.
 */
#ifndef TURNS_H
#define TURNS_H

#include "core/command_ring.h"
#include "core/wait.h"

#define TURN_EVENTS 16u /* a ready queue goes on after this many events, even if more of them wait */
#define TURN_LOOKS 4u   /* the number of ready queues among which one of another client is looked for */
#define TURN_SLOTS 4u   /* task slots reserved for clients with fewer tasks than this */
#define TURN_MOMENT 20u /* visits for which ready queues give way to a kernel that has just started */

/** struct turns - whose turn it is on a shared card. */
struct turns {
	bool left;       /* a queue may still go on in this visit (goes_on() of queues/queue.c) */
	uint8_t passed;  /* events since the last turn of a ready queue */
	uint16_t last;   /* the client that was the last to start something while the card was crowded, or 0 */
	uint16_t turn;   /* the client that had the last turn */
	unsigned next;   /* turns_next() starts its search at the queue of this number */
	const struct queue *fetch; /* ready queues give way while this queue fetches packets; may be NULL */
	uint8_t moment;            /* visits for which they still give way to a kernel that has started */
	bool gave_way;             /* they have given way to a kernel since the last turn */
	bool in_turn;              /* the queue that is running was chosen by turns_next() */
	bool put_off;              /* issue rounds used up the last visit, so that no queue ran in it */
};
extern struct turns turns;

/** turns_init() - reset all state; no client has queues. */
void turns_init(void);
/** turns_clients() - note how many clients have queues. */
void turns_clients(unsigned clients);
/**
 * turns_begin() - note that a visit begins, on a shared card.
 * @more: an event is waiting already
 */
static inline void turns_begin(bool more)
{
	turns.left = true;
	if (likely(!more && !queue_table.crowded))
		return;
	queue_table.crowded = more;
	command_ring.limit = NULL;
	if (!more)
		turns.last = 0;
}
/** turns_take() - may a queue go on in this visit, on a shared card? Return: true once in each visit */
static inline bool turns_take(void)
{
	bool left = turns.left;

	turns.left = false;
	return left;
}
/** turns_due() - may a ready queue go on now, on a shared card? @more: events are waiting */
bool turns_due(bool more);
/** turns_held() - do all ready queues wait until another queue has fetched its packets? */
static inline bool turns_held(void)
{
	return turns.fetch && turns.fetch->fetching;
}
/**
 * turns_next() - choose one of the ready queues, of which there is at least one, and remove it from them.
 * Return: NULL if they have to give way to another client for now
 */
struct queue *turns_next(void);
/** turns_starts() - will @queue start something when it goes on, rather than only fetch packets? */
bool turns_starts(const struct queue *queue);
/** turns_reserved() - are the free task slots, of which there are few, reserved for clients other than that of @queue? */
bool turns_reserved(const struct queue *queue);
/** turns_enter() - may @queue, which is able to run, go on now, on a shared card? If not, it waits afterwards. */
bool turns_enter(struct queue *queue);

#endif

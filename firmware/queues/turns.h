/* SPDX-License-Identifier: MIT */
/**
 * DOC: Turns between clients (spec REL-12)
 *
 * While queues of more than one client exist, the card is shared. Then no client's work may keep another one waiting for
 * long, although events come in one ring, and each is handled to its end. So whoever starts kernels leaves few of them at a
 * time in the way of others:
 *
 * - A visit (place/visit.h) starts few kernels.
 * - While other events wait behind the one at hand, the card is crowded. What a client starts next has to wait, unless
 *   another client has started something since: its queue becomes ready, and goes on when no event waits any more, or after
 *   TURN_EVENTS events. So a client with many short kernels has no more of them in flight than the soft core can keep up with,
 *   and the events of another one find few before them.
 * - Queues that are ready go on client by client, one in a visit. They give way to another client once between two of their
 *   turns: while it fetches packets, and a moment longer when it has started a kernel, which may be a short one.
 * - The last task slots are left to clients that hold none, or few.
 *
 * A client is a context (address space). Nothing of this costs an instruction while there is only one.
 */
#ifndef TURNS_H
#define TURNS_H

#include "core/command_ring.h"
#include "core/wait.h"

#define TURN_EVENTS 16u /* ready queues go on after so many events, even if there are others to handle */
#define TURN_LOOKS 4u   /* how many ready queues are looked at for one of another client */
#define TURN_SLOTS 4u   /* task slots that a client with as many tasks leaves to others */
#define TURN_MOMENT 20u /* so many visits long ready queues give way to a kernel that has just started, if no event comes */

/** struct turns - whose turn it is on a shared card. */
struct turns {
	bool left;       /* a queue may still go on in this visit (goes_on() of queues/queue.c) */
	bool held;       /* the queue whose turn it is gives way */
	uint8_t passed;  /* events since a ready queue went on */
	uint16_t last;   /* the client that started something last while the card was crowded; 0: there is none */
	uint16_t turn;   /* the client of the ready queue that went on last */
	unsigned next;   /* the number of the queue from which on turns_next() looks for the next one */
	const struct queue *fetch; /* a queue to whose fetch the others give way, or NULL */
	uint8_t moment;            /* how often they still give way to a kernel that has started */
	bool gave_way;             /* they have given way since the last turn */
	bool in_turn;              /* the queue that runs does so in its turn */
};
extern struct turns turns;

/** turns_init() - there is no client yet. */
void turns_init(void);
/** turns_clients() - so many clients have queues from now on. */
void turns_clients(unsigned clients);
/**
 * turns_begin() - on a shared card another visit begins.
 * @more: its event is not the last one that has come
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
/** turns_take() - on a shared card, may a queue go on in this visit? Return: only once in a visit that it may */
static inline bool turns_take(void)
{
	bool left = turns.left;

	turns.left = false;
	return left;
}
/** turns_due() - on a shared card, may a ready queue go on now? @more: events wait */
bool turns_due(bool more);
/**
 * turns_next() - take the queue out of the ready ones, of which there are some, whose turn it is.
 * Return: NULL if it has to wait for the packets of another client
 */
struct queue *turns_next(void);
/** turns_held() - no queue has a turn before packets have come. */
static inline bool turns_held(void)
{
	return turns.held && turns.fetch && turns.fetch->fetching;
}
/** turns_starts() - will @queue start something when it goes on, and not only fetch packets? */
bool turns_starts(const struct queue *queue);
/** turns_enter() - on a shared card, may @queue, which runs, go on now? If not, it is made to wait. */
bool turns_enter(struct queue *queue);

#endif

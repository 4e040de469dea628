/* SPDX-License-Identifier: MIT */
/**
 * DOC: Working through a user ring
 *
 * A queue fetches a batch of slots into a private buffer, works through it until something stops it (a packet is
 * not ready, a barrier, no free slot) and retires what it took. It never waits: it notes what it waits for
 * (core/wait.h) and is run again when that comes.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "core/wait.h"
#include "packets/condensed.h"

/** condensed_block() - condensed_block_find(), quick when the queue still has its last one. */
static inline struct block *condensed_block(struct queue *queue)
{
	struct block *block = queue->block;

	return likely(block && block->owner == queue_id(queue)) ? block : condensed_block_find(queue);
}
#define QUEUE_FIRST_BATCH 4u /* slots fetched when a queue wakes */
#define QUEUE_POLL_STEPS 5u

void queue_init(void);
int queue_notify(uint32_t id_queue, uint32_t packets);
/** queue_run() - work on packets until something stops it. */
void queue_run(struct queue *queue);
/** queue_run_ended() - look at all queues of which kernels have ended. */
void queue_run_ended(void);
/** queue_retire() - hand the slots of what was taken back to the host. */
void queue_retire(struct queue *queue);
/** queue_run_ready() - run all queues that became ready. */
void queue_run_ready(void);
/** queue_finished() - one of its kernels or agent dispatches has ended; the queue may go on. */
void queue_finished(struct queue *queue, uint32_t packet);
void queue_event_doorbell(const struct tutti_event *event);
void queue_event_fetch(unsigned number, const struct tutti_event *event);
/** queue_poll() - its deadline has come. */
void queue_poll(struct queue *queue);
/** queue_suspend() / queue_resume() */
void queue_suspend(void);
void queue_resume(void);
/** queue_buffer_drop() - give its fetch buffer back. */
void queue_buffer_drop(struct queue *queue);

#endif

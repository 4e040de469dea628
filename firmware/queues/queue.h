/* SPDX-License-Identifier: MIT */
/**
 * DOC: Working through a user ring
 *
 * A queue fetches a batch of slots into a private buffer, works through it until something stops it (a packet is
 * not ready, a barrier, no free task slot) and retires the packets it took. The code never blocks: a queue that
 * cannot go on notes what it waits for (core/wait.h) and is run again when that has come.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "core/wait.h"
#include "packets/condensed.h"

/** condensed_block() - condensed_block_find(), with a short cut if the block @queue used last is still its own. */
static inline struct block *condensed_block(struct queue *queue)
{
	struct block *block = queue->block;

	return likely(block && block->owner == queue_id(queue)) ? block : condensed_block_find(queue);
}
struct task;
struct tmd;

#define QUEUE_FIRST_BATCH 4u /* slots fetched when a queue wakes */
#define QUEUE_POLL_STEPS 3u

/**
 * queue_may_defer() - may the slots of @queue be retired later than in this visit, which ends with a kernel in flight that
 * the next packet has to wait for? The host is short of a quarter of its ring at most, for packets that could not run yet
 * anyway, and retiring costs as much for many as for one.
 */
static inline __attribute__((always_inline)) bool queue_may_defer(const struct queue *queue)
{
	return 4 * ((uint32_t)queue->head - queue->retired) <= queue->mask;
}

/**
 * queue_next_waits() - is the packet behind @packet a plain one that has to wait until the kernel of @packet has ended?
 * Then there is nothing else to do.
 */
static inline __attribute__((always_inline)) bool queue_next_waits(const struct queue *queue, const union tutti_packet *packet)
{
	return packet + 1 != queue->end &&
	       (packet[1].word[0] & (TUTTI_HEADER_TYPE | TUTTI_HEADER_BARRIER)) ==
		       (TUTTI_PACKET_KERNEL_DISPATCH | TUTTI_HEADER_BARRIER) &&
	       queue_may_defer(queue);
}

/** queue_follows() - queue_follower_ready() but for what is in flight. */
static inline bool queue_follows(const struct queue *queue)
{
	const union tutti_packet *packet = queue->packet;

	return packet != queue->end && !(queue->run_kernels | (queue->flags & QUEUE_REPORTS)) &&
	       (packet->word[0] & TUTTI_HEADER_TYPE) == TUTTI_PACKET_KERNEL_DISPATCH && queue_next_waits(queue, packet);
}
/** queue_follower_ready() - nothing is in flight, and once the kernel at the head is launched there is nothing else to do. */
static inline bool queue_follower_ready(const struct queue *queue)
{
	return !queue->flight && queue_follows(queue);
}

void queue_init(void);
/** queue_notify() - interrupt the host once, when all packets below index @packets are complete. 0 or -TUTTI_ENOENT. */
int queue_notify(uint32_t id_queue, uint32_t packets);
/** queue_run() - work through the packets of @queue until something stops it. */
void queue_run(struct queue *queue);
/**
 * queue_ahead() - the last kernel of a condensed packet was launched, and @queue waits for it: work on the next packets
 * meanwhile.
 */
void queue_ahead(struct queue *queue);
/** queue_run_ended() - let all queues go on whose kernels have ended since the last call. */
void queue_run_ended(void);
/** queue_retire() - hand the ring slots of packets that were taken back to the host. */
void queue_retire(struct queue *queue);
/** queue_report() - tell the host how many packets have retired: those below @done, up to the first one in flight. */
void queue_report(struct queue *queue, uint64_t done);
/** queue_run_ready() - run all queues that became ready. */
void queue_run_ready(void);
/** queue_run_turn() - on a shared card, run the ready queue whose turn it is; there is one. */
void queue_run_turn(void);
/** queue_next() - the kernels of @queue that it waited for have ended: go on with the packet at its head. */
void queue_next(struct queue *queue);
/** queue_finished() - a kernel or agent dispatch of @queue that belongs to @packet has ended; the queue may go on. */
void queue_finished(struct queue *queue, uint32_t packet);
/** queue_finished_metadata() - the same, quicker if that kernel and the next one have metadata. */
void queue_finished_metadata(struct queue *queue, uint32_t packet);
/** queue_event_doorbell() - the host has rung the doorbells of queues. */
void queue_event_doorbell(const struct tutti_event *event);
/** queue_event_fetch() - the packets that queue @number has asked for have been fetched, or cannot be read. */
void queue_event_fetch(unsigned number, const struct tutti_event *event);
/**
 * launch_failed() - the packet at the head of @queue could not be launched where no visit of queue_run() follows.
 * @code: from launch_packet(), not 0
 */
void launch_failed(struct queue *queue, int code);
/** queue_metadata() - @tmd, usual metadata that a queue has asked for, have been fetched. */
void queue_metadata(struct tmd *tmd);
/** queue_poll() - the time set by queue_timer_set() has come: look at the ring or the signals again. */
void queue_poll(struct queue *queue);
/** queue_suspend() - no queue starts anything until queue_resume(). */
void queue_suspend(void);
/** queue_resume() - let all queues go on after queue_suspend(). */
void queue_resume(void);

#endif

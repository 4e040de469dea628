/* SPDX-License-Identifier: MIT */
/** DOC: Launching the kernels of condensed packets, one after another */
#ifndef LAUNCH_CONDENSED_H
#define LAUNCH_CONDENSED_H

#include "place/cta_shape.h"
#include "queues/queue.h"
#include "tutti/reference.h"

struct task;

/** launch_condensed() - take the condensed @packet at the head of @queue. launch_next() then launches its kernels. */
int launch_condensed(struct queue *queue, const union tutti_packet *packet);
/**
 * launch_next() - launch the next kernel of the condensed packet. The caller sets @queue->wait to WAIT_TASKS. It keeps
 * that value if the queue has to wait for its kernels in flight, and changes otherwise; see launch_more().
 */
void launch_next(struct queue *queue);
/** enum launch_result - whether a queue can go on, or has noted what it waits for. */
enum launch_result { LAUNCH_MORE, LAUNCH_PARKED };
/** launch_more() - launch the next kernel. Return: whether the queue can go on at once */
static inline enum launch_result launch_more(struct queue *queue)
{
	queue->wait = WAIT_TASKS;
	launch_next(queue);
	return queue->wait == WAIT_NONE && queue->state == QUEUE_RUNNING ? LAUNCH_MORE : LAUNCH_PARKED;
}
/** launch_entry() - the reference of the next kernel, unless its record has RECORD_GENERAL. */
static inline const struct tutti_reference *launch_entry(const struct queue *queue)
{
	return (const void *)((const char *)queue->table + (*queue->record & ~127u));
}

/** launch_waits() - a kernel of a condensed packet is to be launched next, and may take the fast path. */
static inline bool launch_waits(const struct queue *queue)
{
	return queue->run_kernel < queue->run_stop;
}

/**
 * launch_again() - launch the kernel of launch_entry(), whose record has no diff, and which has as many CTAs of the same
 * shape as that of @task. That one has ended, was the only one of the queue in flight, and has no fence or signal. The next one takes
 * over its slot, and the SMs from which the event of its CTAs has come.
 * @head, @mask, @n: words 0, 3 and 2 of that event, which lake_raises() and lake_same() have agreed to
 */
void launch_again(struct queue *queue, struct task *task, const struct tutti_reference *entry, uint32_t head, uint32_t mask,
		  uint32_t n);
/** launch_again_signal() - launch_again() after the clean-up of @task. */
void launch_again_signal(struct queue *queue, struct task *task, const struct tutti_reference *entry, uint32_t head,
			 uint32_t mask, uint32_t n);
/**
 * launch_again_general() - launch_again_signal() for a kernel that may need other than @n CTAs, and any simple
 * record. @event: that of the ended CTAs
 */
void launch_again_general(struct queue *queue, struct task *task, const struct tutti_reference *entry,
			  const struct tutti_event *event, uint32_t n);
/** launch_block_free() - no kernel of the condensed packet is launched any more: give back the block of its records. */
void launch_block_free(struct queue *queue);

#endif

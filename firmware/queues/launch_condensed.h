/* SPDX-License-Identifier: MIT */
/** DOC: Launching the kernels of condensed packets, one after another */
#ifndef LAUNCH_CONDENSED_H
#define LAUNCH_CONDENSED_H

#include "queues/queue.h"

/** launch_condensed() - take a condensed packet. launch_next() then launches its kernels. */
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
/** launch_block_free() - give back the block that holds the records of the condensed packet. */
void launch_block_free(struct queue *queue);

#endif

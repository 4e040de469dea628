/* SPDX-License-Identifier: MIT */
/** DOC: Launching the kernels of condensed packets, one after another */
#ifndef LAUNCH_CONDENSED_H
#define LAUNCH_CONDENSED_H

#include "queues/queue.h"

/** launch_condensed() - take a condensed packet; its kernels follow by launch_next(). */
int launch_condensed(struct queue *queue, const union tutti_packet *packet);
/*
 * launch_next() - next kernel of the condensed packet. Before it @queue->wait is WAIT_TASKS, which is how it is left
 * while the next kernel has to wait for this one; see launch_more().
 */
void launch_next(struct queue *queue);
/** enum launch_result - whether a queue goes on, or has noted what it waits for. */
enum launch_result { LAUNCH_MORE, LAUNCH_PARKED };
/** launch_more() - launch_next(), and whether there is more that can be done now. */
static inline enum launch_result launch_more(struct queue *queue)
{
	queue->wait = WAIT_TASKS;
	launch_next(queue);
	return queue->wait == WAIT_NONE && queue->state == QUEUE_RUNNING ? LAUNCH_MORE : LAUNCH_PARKED;
}
/** launch_block_free() - the records of the packet are not needed any more. */
void launch_block_free(struct queue *queue);

#endif

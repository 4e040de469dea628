/* SPDX-License-Identifier: MIT */
/**
 * DOC: The buffers into which queues fetch packets, and the line of the queues that wait for one
 *
 * There are fewer buffers than queues, and packets that are fetched and cannot be used yet have to be fetched again. So a
 * queue keeps its buffer until another one needs it and it has used what is in it. Then the buffer goes to the next queue in
 * line, in the order of their numbers, and to nobody else. Until then a queue in line costs nothing. A queue that waits gives
 * its buffer away with packets in it only
 *
 * - to a queue that comes when nobody is in line, or one of higher priority;
 * - to the line, when it begins to wait for a signal, or every 64 us, since what it waits for may have to come from there.
 */
#ifndef FETCH_BUFFERS_H
#define FETCH_BUFFERS_H

#include "core/wait.h"

extern union tutti_packet buffers[FW_BUFFERS][FW_BUFFER_PACKETS];

void buffer_init(void);
/** buffer_find() - buffer_take() where @queue has none, or has used its packets and others wait. */
bool buffer_find(struct queue *queue);
/** buffer_take() - get a buffer for @queue to fetch into. Return: the buffer, NULL if the queue waits in line now */
static inline union tutti_packet *buffer_take(struct queue *queue)
{
	if ((unlikely(!queue->buffer) || unlikely(queue->packet && queue_table.waiters[WAIT_BUFFER])) && !buffer_find(queue))
		return NULL;
	return buffers[queue->buffer - 1];
}
/** buffer_drop() - give the buffer of @queue back. */
void buffer_drop(struct queue *queue);
/** buffer_used() - @queue needs none of the packets in its buffer, and none soon. */
static inline void buffer_used(struct queue *queue)
{
	queue->packet = queue->end = NULL;
	if (unlikely(queue_table.waiters[WAIT_BUFFER]))
		buffer_drop(queue);
}
/** buffer_run() - if it is due at @time, give the buffers of all queues that wait to the line. */
void buffer_run(uint64_t time);
/** buffer_earliest() - when to call buffer_run() next, @at if that is earlier. */
uint64_t buffer_earliest(uint64_t at);

#endif

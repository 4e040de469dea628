/* SPDX-License-Identifier: MIT */
/**
 * DOC: Buffers for the packets that queues fetch
 *
 * There are fewer buffers than queues, so queues wait in line for one. A queue that loses its buffer before it has used
 * the packets in it must fetch them again, so it keeps the buffer until it has used them and another queue needs the
 * buffer. Then the buffer goes to the next queue in line, in the order of queue numbers, and to no other. A queue in
 * line costs nothing until it is its turn.
 *
 * A queue that waits for anything but a kernel descriptor loses its buffer although there are packets in it
 *
 * - to a queue that needs one while no other queue is in line, or to one of higher priority;
 * - to the line, when it begins to wait for a signal, and every 64 us: a queue in line may have to send what it waits
 * for.
 */
#ifndef FETCH_BUFFERS_H
#define FETCH_BUFFERS_H

#include "core/wait.h"

extern union tutti_packet buffers[FW_BUFFERS][FW_BUFFER_PACKETS];

void buffer_init(void);
/** buffer_find() - the part of buffer_take() for a queue without a buffer, or whose used buffer others wait for. */
bool buffer_find(struct queue *queue);
/** buffer_take() - get a buffer into which @queue may fetch. Return: the buffer; NULL if the queue waits in line now */
static inline union tutti_packet *buffer_take(struct queue *queue)
{
	if ((unlikely(!queue->buffer) || unlikely(queue->packet && queue_table.waiters[WAIT_BUFFER])) && !buffer_find(queue))
		return NULL;
	return buffers[queue->buffer - 1];
}
/** buffer_drop() - give the buffer of @queue back. */
void buffer_drop(struct queue *queue);
/** buffer_used() - @queue has used all packets in its buffer: if queues are in line, give it to one of them. */
static inline void buffer_used(struct queue *queue)
{
	queue->packet = queue->end = NULL;
	if (unlikely(queue_table.waiters[WAIT_BUFFER]))
		buffer_drop(queue);
}
/** buffer_run() - if 64 us have passed at @time, give the buffers of queues that wait to those in line. */
void buffer_run(uint64_t time);
/** buffer_earliest() - the time when to call buffer_run() next, or @at if that is earlier. */
uint64_t buffer_earliest(uint64_t at);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: Queues that look again at a given time: for a packet that was announced, for a signal */
#ifndef QUEUE_TIMER_H
#define QUEUE_TIMER_H

#include "core/queue_record.h"

void queue_timer_init(void);
/** queue_timer_set() - look at @queue again in @us microseconds. queue_timer_clear() - or not. */
void queue_timer_set(struct queue *queue, uint32_t us);
void queue_timer_clear(struct queue *queue);
/** queue_timer_run() - it is @time: run queues that are due. */
void queue_timer_run(uint64_t time);
/** queue_timer_earliest() - when the first queue is due, @at if that is earlier. */
uint64_t queue_timer_earliest(uint64_t time, uint64_t at);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: Queues that poll: at a given time they look again for a packet whose doorbell came early, or at a signal */
#ifndef QUEUE_TIMER_H
#define QUEUE_TIMER_H

#include "core/queue_record.h"

void queue_timer_init(void);
/** queue_timer_set() - have queue_poll() called for @queue after @us to 1.5 * @us microseconds. */
void queue_timer_set(struct queue *queue, uint32_t us);
/** queue_timer_clear() - take back queue_timer_set(). */
void queue_timer_clear(struct queue *queue);
/** queue_timer_run() - poll the queues that are due at @time. */
void queue_timer_run(uint64_t time);
/** queue_timer_earliest() - the time at which the first queue is due, or @at if that is earlier. */
uint64_t queue_timer_earliest(uint64_t time, uint64_t at);

#endif

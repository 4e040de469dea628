/* SPDX-License-Identifier: MIT */
/** DOC: One hardware timer for all: polls of queues and the heartbeat */
#ifndef HEARTBEAT_H
#define HEARTBEAT_H

#include "queues/queue.h"

void timer_init(void);
/** timer_set() - poll @queue in @us microseconds. timer_clear() - or not. */
void timer_set(struct queue *queue, uint32_t us);
void timer_clear(struct queue *queue);
/** timer_event() - the timer has fired: polls, heartbeat, hang check. */
void timer_event(void);

#endif

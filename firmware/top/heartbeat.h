/* SPDX-License-Identifier: MIT */
/** DOC: One hardware timer for all: polls of queues and the heartbeat */
#ifndef HEARTBEAT_H
#define HEARTBEAT_H

#include "queues/queue.h"

void timer_init(void);
/** timer_now() - when the newest event was delivered. */
uint64_t timer_now(void);
uint32_t timer_ticks_per_us(void);
/** timer_at() - the hardware timer fires at @deadline at the latest. */
void timer_at(uint64_t deadline);
/** timer_set() - poll @queue in @us microseconds. timer_clear() - or not. */
void timer_set(struct queue *queue, uint32_t us);
void timer_clear(struct queue *queue);
/** timer_event() - the timer has fired: polls, heartbeat, hang check. */
void timer_event(void);

#endif

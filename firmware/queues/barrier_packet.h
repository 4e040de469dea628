/* SPDX-License-Identifier: MIT */
/**
 * DOC: Barrier-AND and barrier-OR packets (spec PKT-03)
 *
 * The queue parks at the packet and its dependent signals are read by fetch: with
 * a growing delay, and at once after the firmware has sent a signal itself.
 */
#ifndef BARRIER_PACKET_H
#define BARRIER_PACKET_H

#include "queues/queue.h"

void barrier_init(void);
/** barrier_packet() - 0 when it is satisfied and complete. */
int barrier_packet(struct queue *queue, const struct tutti_barrier_packet *packet);
void barrier_event_fetch(unsigned number, const struct tutti_event *event);
/** barrier_recheck() - if the firmware has sent signals: look at all parked barriers. Return: there are some */
bool barrier_recheck(void);
/** barrier_leave() - @queue does not wait at a barrier any more. */
void barrier_leave(struct queue *queue);

#endif

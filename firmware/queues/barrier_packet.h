/* SPDX-License-Identifier: MIT */
/**
 * DOC: Barrier-AND and barrier-OR packets (spec PKT-03)
 *
 * The queue parks at the packet, and the fetch engine reads the signals it depends on: after delays that grow, and at
 * once when the firmware itself has sent a signal.
 */
#ifndef BARRIER_PACKET_H
#define BARRIER_PACKET_H

#include "queues/queue.h"

void barrier_init(void);
/** barrier_packet() - Return: 0 if the barrier is satisfied and complete, PACKET_PARKED or TUTTI_ERROR_* */
int barrier_packet(struct queue *queue, const struct tutti_barrier_packet *packet);
/** barrier_event_fetch() - a signal that probe @number reads has been fetched. */
void barrier_event_fetch(unsigned number, const struct tutti_event *event);
/** barrier_recheck() - look at all parked barriers if the firmware has sent signals. Return: barriers are parked */
bool barrier_recheck(void);
/** barrier_leave() - @queue no longer waits at a barrier packet. */
void barrier_leave(struct queue *queue);

#endif

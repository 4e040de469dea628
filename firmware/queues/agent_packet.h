/* SPDX-License-Identifier: MIT */
/** DOC: Agent dispatch packets: the movers copy and fill, the firmware reads the timer */
#ifndef AGENT_PACKET_H
#define AGENT_PACKET_H

#include "queues/queue.h"

void agent_init(void);
/** agent_dispatch() - start an agent dispatch packet. Return: 0, TUTTI_ERROR_* or PACKET_PARKED */
int agent_dispatch(struct queue *queue, const struct tutti_agent_packet *packet);
/** agent_event_mover() - a mover has moved one piece of a copy or fill, or has met a fault. */
void agent_event_mover(const struct tutti_event *event);
/** agent_oldest() - index of the oldest packet of @queue that a mover works for, or @none if that is lower. */
uint64_t agent_oldest(const struct queue *queue, uint64_t none);

#endif

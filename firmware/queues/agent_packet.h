/* SPDX-License-Identifier: MIT */
/** DOC: Agent dispatch packets: copy, fill, time, by the movers */
#ifndef AGENT_PACKET_H
#define AGENT_PACKET_H

#include "queues/queue.h"

void agent_init(void);
int agent_dispatch(struct queue *queue, const struct tutti_agent_packet *packet);
void agent_event_mover(const struct tutti_event *event);
/** agent_oldest() - oldest packet of @queue a mover works for, or @none. */
uint64_t agent_oldest(const struct queue *queue, uint64_t none);

#endif

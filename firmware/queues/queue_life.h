/* SPDX-License-Identifier: MIT */
/** DOC: Creation, errors, reset and destruction of queues */
#ifndef QUEUE_LIFE_H
#define QUEUE_LIFE_H

#include "core/queue_record.h"

/** queue_create() - create a queue as the host's message describes it. Return: 0 or -TUTTI_E* */
int queue_create(const struct tutti_msg_queue *message);
/** queue_destroy() - start to destroy a queue. Request @id is replied to when nothing is in flight. 0 or -TUTTI_E*. */
int queue_destroy(uint32_t id_queue, uint32_t id);
/** queue_reset() - let a queue go on that an error has stopped. Return: 0 or -TUTTI_E* */
int queue_reset(uint32_t id_queue);
/** queue_stop() - stop @queue because of an error. The host is sent the first @fault only, until a reset. */
void queue_stop(struct queue *queue, struct tutti_fault *fault);
/** queue_unreadable() - stop @queue because the fetch at @address, for the packet at its head, has failed. */
void queue_unreadable(struct queue *queue, unsigned code, unsigned cause, uint64_t address);
/** queue_refuse_packet() - stop @queue: the packet at its head is bad. A reset passes over it. */
void queue_refuse_packet(struct queue *queue, int code);
/** queue_refuse_run() - stop @queue: a kernel of its condensed packet cannot be launched. Return: PACKET_PARKED */
int queue_refuse_run(struct queue *queue, int code);
/** queue_cancel_run() - cancel the kernels of condensed packet @packet not launched yet. Return: there were some */
bool queue_cancel_run(struct queue *queue, uint64_t packet);
/** queue_answered() - a fetch or probe has come back while @queue is stopped, dying or suspended. */
void queue_answered(struct queue *queue);
/** queue_settle() - finish the destruction of @queue if it has begun and nothing is in flight any more. */
void queue_settle(struct queue *queue);
/** queue_event_post_fault() - the card could not write a signal, a read index or the ring. */
void queue_event_post_fault(const struct tutti_event *event);

#endif

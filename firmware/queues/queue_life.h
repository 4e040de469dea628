/* SPDX-License-Identifier: MIT */
/** DOC: Creation, errors, reset and destruction of queues */
#ifndef QUEUE_LIFE_H
#define QUEUE_LIFE_H

#include "core/queue_record.h"

/** queue_create() - a queue as the host describes it. 0 or -TUTTI_E*. */
int queue_create(const struct tutti_msg_queue *message);
/** queue_destroy() - start; the reply to @id follows when it is quiet. 0 or -TUTTI_E*. */
int queue_destroy(uint32_t id_queue, uint32_t id);
/** queue_reset() - a queue that stopped because of an error goes on. 0 or -TUTTI_E*. */
int queue_reset(uint32_t id_queue);
/** queue_stop() - stop because of an error; @fault is sent to the host. Once. */
void queue_stop(struct queue *queue, struct tutti_fault *fault);
/** queue_refuse_run() - a kernel of the condensed packet at work cannot be launched. Return: PACKET_PARKED */
int queue_refuse_run(struct queue *queue, int code);
/** queue_cancel_run() - kernels of condensed packet @packet that are not launched will not be. True: there were some. */
bool queue_cancel_run(struct queue *queue, uint64_t packet);
/** queue_answered() - a fetch or probe came back while it does not run. */
void queue_answered(struct queue *queue);
/** queue_settle() - a queue that is being destroyed is gone when it is quiet. */
void queue_settle(struct queue *queue);
/** queue_event_post_fault() - a signal, a read index or the ring could not be written. */
void queue_event_post_fault(const struct tutti_event *event);

#endif

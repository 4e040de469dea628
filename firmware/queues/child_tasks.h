/* SPDX-License-Identifier: MIT */
/**
 * DOC: Child tasks: made by kernels (spec TSK-11)
 *
 * A kernel names a TMD; its metadata is fetched like that of a packet, decoded as if a
 * packet had come, and the wave that asked gets its answer when the task is accepted. A wave may
 * then wait for its child, so one is accepted only if it can start without the end of
 * a task that has children: there is room, or tasks without children are on the card.
 */
#ifndef CHILD_TASKS_H
#define CHILD_TASKS_H

#include "tasks/task_table.h"

struct tmd;

/** child_request() - SM request TASK or QUEUE_NOTIFY. */
void child_request(const struct tutti_event *event);
/** child_fetched() - its metadata are here, or bad. child_busy() - there is no room for all of them. */
void child_fetched(struct tmd *tmd);
void child_busy(struct tmd *tmd);
/** child_retry() - those that wait for a kernel descriptor or a shape. Return: some still do. */
bool child_retry(void);
/** child_ended() - a child is no more. child_orphan() - its parent is. */
void child_ended(struct tmd *tmd);
void child_orphan(struct task *parent);
/** child_drop_queue() - those of @queue that are not accepted yet. */
void child_drop_queue(struct queue *queue);

#endif

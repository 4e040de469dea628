/* SPDX-License-Identifier: MIT */
/**
 * DOC: Child tasks: made by kernels (spec TSK-11)
 *
 * A kernel names a TMD. Its metadata are fetched like those of a packet, decoded as if a packet had come, and the
 * wave that asked gets its answer when the task is accepted. A wave may then wait for its child, so a child is
 * accepted only if it can start without the end of a task that has children: there is room, or tasks without
 * children are on the card.
 */
#ifndef CHILD_TASKS_H
#define CHILD_TASKS_H

#include "tasks/task_table.h"

void child_init(void);
/** child_resume() - answers to waves that found no room in the command ring. */
void child_resume(void);
/** child_request() - SM request TASK or QUEUE_NOTIFY. */
void child_request(const struct tutti_event *event);
/** child_look() - at those whose metadata are here. Return: some wait for a kernel descriptor or a shape */
bool child_look(void);

#endif

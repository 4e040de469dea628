/* SPDX-License-Identifier: MIT */
/**
 * DOC: Child tasks, which running kernels create (spec TSK-11)
 *
 * A wave asks with the address of task metadata (TMD). They are fetched like those of a packet and decoded as if a
 * packet had named them, and the wave gets its answer when the task is accepted. It may then wait for its child, so
 * a child is accepted only if it can start before any task with children ends: there is room now, or tasks without
 * children are on the card and will make enough of it. Otherwise parents and children could wait for each other for ever.
 */
#ifndef CHILD_TASKS_H
#define CHILD_TASKS_H

#include "tasks/task_table.h"

void child_init(void);
/** child_resume() - send the answers to waves for which the command ring had no room. */
void child_resume(void);
/** child_request() - serve a wave's request TASK or QUEUE_NOTIFY. */
void child_request(const struct tutti_event *event);
/**
 * child_look() - try to start the children whose metadata are in record @first or the next @n - 1.
 * Return: some have to wait
 */
bool child_look(unsigned first, unsigned n);

#endif

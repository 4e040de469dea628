/* SPDX-License-Identifier: MIT */
/**
 * DOC: The first CTAs of a new task
 *
 * As many CTAs as fit are placed at once (spec CGA-13). If some are left, the task's state is kept, which makes it
 * evictable, and it joins the rounds of issue_rounds.h.
 */
#ifndef TASK_START_H
#define TASK_START_H

#include "core/task_record.h"
#include "place/plain_grid.h"

#define START_WORDS (2u + LAKE_FLAT_WORDS) /* room in the command ring that start_new() asks for */

/** start_task() - place as many of task->unissued CTAs as fit now. @command: its STATE or TASK command */
void start_task(struct task *task, const uint32_t *command);
/**
 * start_new() - the same as start_task(); the common case is straight code without a call.
 * @command: its STATE or TASK command, which ends at @end; START_WORDS words must be contiguous there
 * @shape, @n: its shape and the number of its CTAs; task->unissued is still 0, as in a free slot
 */
void start_new(struct task *task, const uint32_t *command, uint32_t *end, struct shape *shape, uint32_t n);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: A new task gets its first CTAs
 *
 * What fits is placed at once (spec CGA-13). With CTAs left the task keeps its state, which makes it evictable,
 * and joins the rounds of issue_rounds.h.
 */
#ifndef TASK_START_H
#define TASK_START_H

#include "core/task_record.h"
#include "place/plain_grid.h"

#define START_WORDS (2u + LAKE_FLAT_WORDS) /* room in the command ring that start_new() asks for */

/** start_task() - place what fits now of task->unissued CTAs. @command: its STATE or TASK */
void start_task(struct task *task, const uint32_t *command);
/**
 * start_new() - start_task(), at best by straight code without a call.
 * @command: its STATE or TASK, that ends at @end; START_WORDS behind it are contiguous
 * @shape, @n: its shape and its CTAs; task->unissued is 0 yet, as in a free slot
 */
void start_new(struct task *task, const uint32_t *command, uint32_t *end, struct shape *shape, uint32_t n);

#endif

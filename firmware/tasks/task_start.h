/* SPDX-License-Identifier: MIT */
/**
 * DOC: The start of a task: its state, and its first CTAs
 *
 * As many CTAs as fit are placed at once (spec CGA-13). If some are left, the task's state is kept, which makes it
 * evictable, and it joins the rounds of issue_rounds.h.
 *
 * No CTA of a task is sent to an SM before the SM has acknowledged the task's state (spec TSK-05). On a card with
 * TUTTI_FEATURE_ORDERED_STATES commands arrive in order, which is acknowledgement enough. On any other card a task for
 * which a STATE or TASK command was written is in state TASK_SYNC. It stands in its list of issue_rounds.h like any
 * other task, but is not eligible until STATE events have answered all of its commands. DETOUR_STATE keeps kernels off
 * the short way there, so that cards with the feature spend no instruction on this.
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
 * Return: 0, so that launches can end with it
 */
int start_new(struct task *task, const uint32_t *command, uint32_t *end, struct shape *shape, uint32_t n);

void sync_init(void);
/** sync_begin() - a STATE or TASK command of @task was written, and this card's SMs will acknowledge it. */
void sync_begin(struct task *task);
/** sync_event() - handle event STATE: the SMs have acknowledged states of a slot. */
void sync_event(const struct tutti_event *event);

/** sync_sent() - a STATE or TASK command of @task was written: the task issues nothing before it is acknowledged. */
static inline void sync_sent(struct task *task)
{
	if (unlikely(place_state.detours & DETOUR_STATE))
		sync_begin(task);
}

#endif

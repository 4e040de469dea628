/* SPDX-License-Identifier: MIT */
/**
 * DOC: Task states that SMs acknowledge (spec TSK-05)
 *
 * No CTA of a task is sent to an SM before the SM has acknowledged the task's state. On a card with
 * TUTTI_FEATURE_ORDERED_STATES commands arrive in order, which is acknowledgement enough, and nothing here is ever
 * used. On any other card a task for which a STATE or TASK command was written is in state TASK_SYNC. It stands in its
 * list of issue_rounds.h like any other task, but is not eligible until STATE events have answered all of its
 * commands. DETOUR_STATE keeps kernels off the short way there, so that cards with the feature spend no instruction on
 * this.
 */
#ifndef STATE_SYNC_H
#define STATE_SYNC_H

#include "place/plain_grid.h"

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

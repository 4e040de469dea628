/* SPDX-License-Identifier: MIT */
/**
 * DOC: Task states that SMs acknowledge (spec TSK-05)
 *
 * No CTA of a task is sent to an SM before the SM has acknowledged the task's state. On a card with
 * TUTTI_FEATURE_ORDERED_STATES the order of delivery is the acknowledgement, and nothing here is ever used. On any
 * other card a task for which a STATE or TASK was written is in state TASK_SYNC, stands in its ring of
 * issue_rounds.h like everybody else, and is not eligible until event STATE has answered all of them. DETOUR_STATE keeps
 * kernels from the short way there, so that the path of other cards has no instruction for this.
 */
#ifndef STATE_SYNC_H
#define STATE_SYNC_H

#include "place/plain_grid.h"

void sync_init(void);
/** sync_begin() - a STATE or TASK of @task was written, and this card's SMs acknowledge it. */
void sync_begin(struct task *task);
/** sync_event() - event STATE: SMs have acknowledged states of a slot. */
void sync_event(const struct tutti_event *event);

/** sync_sent() - a STATE or TASK of @task was written: it issues nothing before that is acknowledged. */
static inline void sync_sent(struct task *task)
{
	if (unlikely(place_state.detours & DETOUR_STATE))
		sync_begin(task);
}

#endif

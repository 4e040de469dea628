// SPDX-License-Identifier: MIT
#include "tasks/state_sync.h"

#include "tasks/issue_rounds.h"

/*
 * How many states were sent and are not acknowledged, by slot. A slot may belong to another task before the states of
 * the last one are acknowledged, if that one was evicted or cancelled. The new task waits for these as well, since an
 * event does not say which of the slot's states it means.
 */
static uint32_t unacknowledged[FW_TASKS];

void sync_init(void)
{
	const struct tutti_discovery *d = (const void *)HAL_WINDOW;
	unsigned i;

	if (d->features & TUTTI_FEATURE_ORDERED_STATES)
		return;
	place_state.detours |= DETOUR_STATE;
	for (i = 0; i < FW_TASKS; i++)
		unacknowledged[i] = 0;
}

COLD void sync_begin(struct task *task)
{
	unacknowledged[task->slot]++;
	task->state = TASK_SYNC;
}

COLD void sync_event(const struct tutti_event *event)
{
	struct task *task = &tasks[event->word[0] >> 8 & (FW_TASKS - 1)];
	uint32_t *left = &unacknowledged[task->slot];

	*left -= event->word[1] < *left ? event->word[1] : *left;
	if (*left || task->state != TASK_SYNC)
		return;
	task->state = TASK_RUNNING;
	task->progress = 0;
	rounds_run();
}

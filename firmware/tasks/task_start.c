// SPDX-License-Identifier: MIT
#include "tasks/task_start.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "tasks/issue_rounds.h"
#include "tasks/pending_tasks.h"

/* ---- acknowledged states ---- */

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

/* ---- first CTAs ---- */

static COLD void start_later(struct task *task, const uint32_t *command)
{
	pending_keep(task, command);
	rounds_add(task);
	if (task->rare & TASK_TMD)
		rounds_run(); /* it might be split, or SMs be held for it */
	/* SMs that are held for a task of lower priority are for this one too, but only in rounds */
	if (place_state.detours & DETOUR_HOLDING)
		state_retry();
}

static COLD void start_held(struct task *task, const uint32_t *command)
{
	sync_sent(task);
	start_later(task, command);
}

HOT void start_task(struct task *task, const uint32_t *command)
{
	counters.placements--;
	if (unlikely(place_state.detours & (DETOUR_CUT | DETOUR_THROTTLE | DETOUR_STATE)))
		start_held(task, command);
	else if (unlikely(place_now(task)))
		start_later(task, command);
}

static __attribute__((noinline)) int start_slow(struct task *task, const uint32_t *command, uint32_t n)
{
	task->unissued = n;
	start_task(task, command);
	return 0;
}

HOT int start_new(struct task *task, const uint32_t *command, uint32_t *end, struct shape *shape, uint32_t n)
{
	uint32_t words = 3;

	/* go on only if the lake of the shape is up to date and alone decides where CTAs go */
	if (unlikely((place_state.residents ^ shape->residents) | (place_state.detours & DETOUR_LAUNCHES)))
		return start_slow(task, command, n);
	if (n <= PLACE_FEW) {
		if (unlikely(!lake_pour_few(&shape->lake, n, end + 1)))
			return start_slow(task, command, n);
	} else {
		words = lake_pour_flat(&shape->lake, n, end + 1) + 1;
		if (words == 1)
			return start_slow(task, command, n);
	}
	/* count as place_now() does, for a task that had no CTA; the placement itself is counted with the kernel */
	end[0] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, words, task->slot);
	command_end(end + words);
	task->resident = n;
	shape->residents += n;
	place_state.residents += n;
	counters.ctas_issued += n;
	return 0;
}

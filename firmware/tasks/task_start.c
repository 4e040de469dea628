// SPDX-License-Identifier: MIT
#include "tasks/task_start.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "tasks/issue_rounds.h"
#include "tasks/pending_tasks.h"
#include "tasks/state_sync.h"

static COLD void start_later(struct task *task, const uint32_t *command)
{
	pending_keep(task, command);
	rounds_add(task);
}

static COLD void start_held(struct task *task, const uint32_t *command)
{
	sync_sent(task);
	start_later(task, command);
}

HOT void start_task(struct task *task, const uint32_t *command)
{
	counters.placements--;
	if (unlikely(place_state.detours & (DETOUR_DRAIN | DETOUR_THROTTLE | DETOUR_STATE)))
		start_held(task, command);
	else if (unlikely(place_now(task)))
		start_later(task, command);
}

static __attribute__((noinline)) void start_slow(struct task *task, const uint32_t *command, uint32_t n)
{
	task->unissued = n;
	start_task(task, command);
}

HOT void start_new(struct task *task, const uint32_t *command, uint32_t *end, struct shape *shape, uint32_t n)
{
	uint32_t words = 3;

	/* go on only if the lake of the shape is up to date and alone decides where CTAs go */
	if (unlikely((shapes.residents ^ shape->residents) | (place_state.detours & DETOUR_LAUNCHES)))
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
	shapes.residents += n;
	counters.ctas_issued += n;
}

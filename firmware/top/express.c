// SPDX-License-Identifier: MIT
/*
 * The short way of a kernel. Between the kernels of a condensed packet there is one chain of jumps: the completion of
 * the last CTAs, the end of the task, the record of the next kernel (launch_next()) and its CTAs (start_new()). Each
 * floor does its own part; this is the one place where a completion, which comes from below, meets the queue above.
 */
#include "top/express.h"

#include "core/state.h"
#include "groups/cga.h"
#include "place/mixed_shapes.h"
#include "queues/queue.h"
#include "tasks/task_table.h"

static HOT void retire_signal(struct task *task, struct queue *queue)
{
	task_clean_up(task);
	task_slot_free(task);
	queue_finished(queue, (uint32_t)task->packet);
}

/* A task of which nothing is out of the ordinary, and for whose slot nobody waits: straight to the next kernel. */
static HOT void express_retire(struct task *task, struct queue *queue)
{
	if (task->release | task->signal)
		return retire_signal(task, queue);
	task_slot_free(task);
	queue_finished(queue, (uint32_t)task->packet);
}

/* Its last CTAs end, and nothing needs more than a look at itself. */
static inline bool is_plain_end(const struct task *task, uint32_t n)
{
	return likely(!((place_state.detours & DETOUR_ENDS) | task->rare | (task->resident ^ n) | task->unissued) &&
		      task->state == TASK_RUNNING);
}

/* Many CTAs at once, tasks that wait for room or slots, several shapes ... */
static HOT void event_cta_general(const struct tutti_event *event)
{
	uint32_t word = event->word[0] >> 16 & 0xff, n = event->word[0] >> 24, repeat = event->word[1], i;
	struct task *task = &tasks[event->word[0] >> 8 & (FW_TASKS - 1)];

	if (place_state.detours & DETOUR_BESIDE)
		mixed_completed(event);
	do
		for (i = 0; i < n; i++)
			if (event->word[3 + i])
				lake_raise(&task->shape->lake, word + i, event->word[3 + i]);
	while (--repeat);
	n = event->word[2];
	if (!is_plain_end(task, n)) {
		task_ended(task, n);
		return;
	}
	task->shape->residents -= n;
	shapes.residents -= n;
	task->resident = 0;
	express_retire(task, task->queue);
}

/*
 * The last CTAs of a kernel end and nobody waits for anything but this: straight
 * to the next kernel, by jumps only.
 */
HOT void express_event_cta(const struct tutti_event *event)
{
	uint32_t head = event->word[0], word = head >> 16 & 0xff, mask = event->word[3], n = event->word[2];
	struct task *task = (struct task *)((char *)tasks + (head >> 8 & (FW_TASKS - 1)) * sizeof(*task));
	struct shape *shape = task->shape;
	struct lake_row *row = shape->lake.top, *below = (struct lake_row *)((char *)row - sizeof(*row));
	struct queue *queue = task->queue;

	if (unlikely((event->word[1] ^ 1) | (head >> 24 ^ 1) | (row->mask[word] & mask) |
		     (mask & ~below->mask[word]) | (place_state.detours & DETOUR_ENDS) | task->rare |
		     (task->resident ^ n) | task->unissued) ||
	    unlikely(task->state != TASK_RUNNING)) {
		event_cta_general(event);
		return;
	}
	row->mask[word] |= mask;
	row->count += n;
	shape->residents -= n;
	shapes.residents -= n;
	task->resident = 0;
	express_retire(task, queue);
}

HOT void express_event_cga(const struct tutti_event *event)
{
	task_ended(cga_event(event), event->word[2]);
}

// SPDX-License-Identifier: MIT
/*
 * The short way from one kernel to the next. Between the kernels of a condensed packet all steps are one chain of tail
 * calls: the completion of the last CTAs, the end of the task, the record of the next kernel (launch_next()) and its
 * CTAs (start_new()). Each folder does its own part. Only here does a completion, which the lower folders handle, lead
 * to work of a queue, which is above them.
 */
#include "top/express.h"

#include "core/command_ring.h"
#include "core/state.h"
#include "groups/cga.h"
#include "place/mixed_shapes.h"
#include "queues/launch_condensed.h"
#include "queues/launch_plain.h"
#include "queues/launch_special.h"
#include "queues/queue.h"
#include "tasks/metadata.h"
#include "tasks/task_table.h"

/* Where a wrap may be needed; apart, so that the usual way needs no stack. */
static COLD void retire_wrapped(struct task *task, struct queue *queue)
{
	task_clean_up(task);
	task_slot_free(task);
	queue_finished(queue, (uint32_t)task->packet);
}

static HOT void retire_signal(struct task *task, struct queue *queue)
{
	if (unlikely(command_ring.next > command_ring.near_end))
		return retire_wrapped(task, queue);
	queue->signalled = (uint32_t)task->packet;
	command_end(task_put_ends(command_ring.next, queue, task->release, task->signal, true));
	task_slot_free(task);
	queue_finished(queue, (uint32_t)task->packet);
}

/* End a task without rare attributes for whose slot nothing waits, and go straight on to the next kernel. */
static HOT void express_retire(struct task *task, struct queue *queue)
{
	if (task->release)
		return retire_signal(task, queue);
	task_slot_free(task);
	queue_finished(queue, (uint32_t)task->packet);
}

/* These @n CTAs are the last of a task without rare attributes, and nothing else depends on their end. */
static inline bool is_plain_end(const struct task *task, uint32_t n)
{
	return likely(!((place_state.detours & DETOUR_ENDS) | task->rare | (task->resident ^ n) | task->unissued) &&
		      task->state == TASK_RUNNING);
}

/* The cases that express_event_cta() leaves out, such as many CTAs at once, or tasks that wait for room or slots. */
static HOT void event_cta_general(const struct tutti_event *event)
{
	uint32_t word = event->word[0] >> 16 & 0xff, n = event->word[0] >> 24, repeat = event->word[1], i;
	struct task *task = &tasks[event->word[0] >> 8 & (FW_TASKS - 1)];

	if (place_state.detours & DETOUR_BESIDE)
		mixed_completed(event);
	for (i = 0; i < n; i++)
		if (event->word[3 + i])
			lake_raise_by(&task->shape->lake, word + i, event->word[3 + i], repeat);
	n = event->word[2];
	if (!is_plain_end(task, n)) {
		task_ended(task, n);
		return;
	}
	task->shape->residents -= n;
	place_state.residents -= n;
	task->resident = 0;
	express_retire(task, task->queue);
}

/* End a task that has metadata and no other rare attribute, while no queue waits for a record of metadata. */
static HOT void retire_metadata(struct task *task)
{
	struct queue *queue = task->queue;
	struct tmd *tmd = task->tmd;
	uint32_t *p = tmd_write_at(command_ring.next, tmd, queue->asid_queue, TUTTI_TMD_FINISHED, tmd->groups, tmd->groups, 0);

	queue->signalled = (uint32_t)task->packet;
	command_end(task_put_ends(p, queue, task->release, task->signal, true));
	task->rare = 0;
	task_slot_free(task);
	tmd_give_back(tmd);
	queue_finished_metadata(queue, (uint32_t)task->packet);
}

_Static_assert(TMD_WRITE_WORDS + COMMAND_CLEAN_UP_WORDS < COMMAND_SHORT, "the end of a task with metadata");

/* Like event_cta_rare(), for tasks that it leaves out. A child ends as if a packet had named its metadata. */
static COLD void retire_rare(struct task *task)
{
	if (task->rare != (TASK_TMD | TASK_CHILD) || task->tmd->unusual << 8 || queue_table.waiters[WAIT_TMD] ||
	    command_ring.next > command_ring.limit)
		return task_drained(task);
	tmd_child_ended(task->tmd);
	retire_metadata(task);
}

/* The last CTAs of a task with rare attributes have ended on SMs that lake_raises() agrees to, or the task does not run. */
static HOT void event_cta_rare(struct task *task, const struct tutti_event *event)
{
	if (unlikely(task->unissued) || unlikely(task->state != TASK_RUNNING)) {
		event_cta_general(event);
		return;
	}
	shape_ended(task->shape, event);
	task->resident = 0;
	if (unlikely(task->rare != TASK_TMD) || unlikely(task->tmd->unusual) || unlikely(queue_table.waiters[WAIT_TMD]) ||
	    unlikely(command_ring.next > command_ring.limit))
		return retire_rare(task);
	retire_metadata(task);
}

/*
 * In the usual case these are the last CTAs of a kernel and nothing else waits for them. Then tail calls lead straight
 * to the launch of the next kernel. That one takes over the slot if no other kernel of the queue is in flight; and if as
 * many CTAs of the same shape would be placed on the same SMs (lake_same()), no record of what is free or resident changes.
 */
HOT void express_event_cta(const struct tutti_event *event, uint32_t head)
{
	uint32_t mask = event->word[3], n = event->word[2], kind, what, *at;
	struct task *task = (struct task *)((char *)tasks + (head >> 8 & (FW_TASKS - 1)) * sizeof(*task));
	struct shape *shape = task->shape;
	struct lake_row *row = shape->lake.top;
	struct queue *queue = task->queue;
	const struct tutti_reference *entry;

	at = lake_at(row, head >> 14 & 0x3fc);
	if (unlikely((event->word[1] ^ 1) | (head >> 24 ^ 1) | place_state.detours | (task->resident ^ n)) ||
	    unlikely(!lake_raises(at, mask))) {
		event_cta_general(event);
		return;
	}
	kind = task->kind ^ TASK_PLAIN;
	if (unlikely(kind << 8))
		return event_cta_rare(task, event);
	if (likely(!((place_state.residents ^ shape->residents) | (queue->situation ^ QUEUE_BETWEEN) |
		     (queue->flight / QUEUE_ONE ^ 1))) &&
	    likely(command_ring.next <= command_ring.limit) && likely(lake_same(row, at, mask))) {
		if (launch_waits(queue)) {
			what = *queue->record;
			entry = launch_entry(queue);
			if (unlikely(entry->shape != shape->id))
				goto apart;
			if (likely(!(what & RECORD_DIFFERS)) && likely(entry->groups == n)) {
				if (!kind)
					launch_again(queue, task, entry, head, mask, n);
				else
					launch_again_signal(queue, task, entry, head, mask, n);
				return;
			}
			if (likely(!(what & (RECORD_GENERAL | RECORD_TMD | RECORD_CGA)))) {
				launch_again_general(queue, task, entry, event, n);
				return;
			}
		} else if (launch_follows(queue)) {
			launch_follow(event, task, n);
			return;
		}
	}
apart:
	__asm__("" : "+m"(*at)); /* the word is read again, since a register that kept it would have to be saved */
	lake_raise_top(row, at, mask, n);
	shape->residents -= n;
	place_state.residents -= n;
	task->resident = 0;
	express_retire(task, queue);
}

/* Like express_event_cta(), for tasks whose only rare attribute are CGAs. */
HOT void express_event_cga(const struct tutti_event *event)
{
	struct task *task = &tasks[event->word[0] >> 8 & (FW_TASKS - 1)];
	struct shape *shape = task->shape;
	struct queue *queue = task->queue;
	uint32_t n = event->word[2];
	struct gpc *gpc;

	if (likely(!((place_state.detours ^ DETOUR_ROWS_LEAD) | (task->rare ^ TASK_CGA) | (task->resident ^ n) | task->unissued)) &&
	    likely(task->state == TASK_RUNNING) &&
	    likely(!((queue->situation ^ QUEUE_BETWEEN) | queue->run_kernels | (queue->flight ^ QUEUE_ONE))) &&
	    likely(command_ring.next <= command_ring.limit) && likely(launch_follows(queue))) {
		gpc = cga_stays(event, task);
		if (likely(gpc) && likely(launch_grouped_again(event, task, gpc)))
			return;
	}
	cga_event(event, task);
	if (unlikely((place_state.detours & DETOUR_ENDS & ~DETOUR_ROWS_LEAD) | (task->rare ^ TASK_CGA) | (task->resident ^ n) |
		     task->unissued) ||
	    unlikely(task->state != TASK_RUNNING)) {
		task_ended(task, n);
		return;
	}
	shape->residents -= n;
	place_state.residents -= n;
	task->resident = 0;
	task->rare = 0;
	express_retire(task, task->queue);
}

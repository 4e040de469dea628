/* SPDX-License-Identifier: MIT */
/**
 * DOC: The task table: tasks that have a slot
 *
 * A plain kernel that finds a free slot is put there straight from its packet; everybody else comes from the lists
 * of pending_tasks.h. While CTAs are unissued the task takes part in the rounds of issue_rounds.h. When the last
 * CTA has completed, task_complete() does the clean-up: metadata, release fence, signal. A failing task is killed
 * and ends with EVENT_KILLED, without its signal; an evicted one goes back to its list, and a cancelled one ends,
 * when its CTAs have.
 */
#ifndef TASK_TABLE_H
#define TASK_TABLE_H

#include "core/queue_record.h"
#include "core/task_record.h"
#include "core/task_state.h"
#include "place/cta_shape.h"

struct pending;
struct tmd;

/** struct task_error - why a task was killed; sent when it is gone. */
struct task_error {
	uint8_t code, engine, access, cause;
	uint32_t sm_wave;
	uint64_t pc;
	uint64_t address;
};
extern struct task_error task_errors[FW_TASKS];

/** task_runs() - @task issues CTAs, or will as soon as SMs have acknowledged its state. */
static inline bool task_runs(const struct task *task)
{
	return task->state == TASK_RUNNING || task->state == TASK_SYNC;
}

static inline struct tmd *task_tmd(const struct task *task)
{
	return task->rare & TASK_TMD ? task->tmd : NULL;
}

/* Nothing of a free slot but what a launch sets is anything but 0. */
static inline void task_slot_free(struct task *task)
{
	task->state = TASK_FREE;
	task->shape->tasks--;
	task->next = task_table.free;
	task_table.free = task;
}

void task_init(void);
/** task_priority() - of its metadata or its queue. */
unsigned task_priority(const struct task *task);
/** task_clean_up() - the release fence and the signal of a kernel that is complete. */
void task_clean_up(struct task *task);
/** task_issued() - CTAs it has issued, of a task with its state kept. */
uint32_t task_issued(const struct task *task);
/** task_unkeep() - all CTAs are issued: nobody needs its state any more. */
void task_unkeep(struct task *task);
/** task_complete() - the last CTA has completed. */
void task_complete(struct task *task);
/** task_ended() - @n CTAs have ended and lakes know it: serve others, end the task. */
void task_ended(struct task *task, uint32_t n);
/** task_fail() - kill @task because of @error. */
void task_fail(struct task *task, const struct task_error *error);
/** task_leave() - an evicted task gives its slot back. */
void task_leave(struct task *task);
/** task_may_end() - there is room for what is written to @task's metadata. If not task_resume() ends it later. */
bool task_may_end(const struct task *task);
/**
 * task_resume() - end tasks that could not end for want of room in the command ring.
 * @fault: why the task of the queue that is returned was killed
 * Return: a queue that stops because its task was killed (call again), or NULL: all that was possible is done
 */
struct queue *task_resume(struct tutti_fault *fault);
/**
 * task_cancel() - kernels of packet @packet of @queue issue nothing more and end with a
 * cancelled signal. Return: 0 or -TUTTI_ENOENT
 */
int task_cancel(struct queue *queue, uint64_t packet);
/** task_drop() - clean-up of a task without a slot; its signal, if it has one, is cancelled. */
void task_drop(struct queue *queue, struct pending *pending);
/** task_kill_queue() - kill all tasks of @queue without a report (its destruction). */
void task_kill_queue(struct queue *queue);
/** task_event_fault() - a wave of a task has failed. */
void task_event_fault(const struct tutti_event *event);
/**
 * task_event_killed() - the CTAs of a killed task are gone.
 * @fault: why it was killed
 * Return: the queue that stops because of it, or NULL
 */
struct queue *task_event_killed(const struct tutti_event *event, struct tutti_fault *fault);
/** task_any() - a task is in flight. */
bool task_any(void);
/** task_oldest() - oldest packet of @queue with a kernel in flight, or @none. */
uint64_t task_oldest(const struct queue *queue, uint64_t none);
/** task_group_create() / task_group_put() - NULL if there is none free; drop one reference. */
struct task_group *task_group_create(void);
void task_group_put(struct queue *queue, struct task_group *group);

#endif

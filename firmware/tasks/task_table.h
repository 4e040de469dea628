/* SPDX-License-Identifier: MIT */
/**
 * DOC: The task table: tasks that have a slot
 *
 * A kernel that finds a free slot while nobody waits is put there straight from its packet; every other task comes from the
 * lists of pending_tasks.h. While it has CTAs to issue, a task takes part in the rounds of issue_rounds.h. When its last CTA has
 * completed, task_complete() does the clean-up: metadata, release fence, signal. A failing task is killed and ends with
 * EVENT_KILLED, without its signal. When the CTAs of an evicted task have ended it goes back to its list; those of a
 * cancelled task end, and then so does the task.
 */
#ifndef TASK_TABLE_H
#define TASK_TABLE_H

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/queue_record.h"
#include "core/task_record.h"
#include "core/task_state.h"
#include "place/cta_shape.h"

struct pending;
struct tmd;

/** struct task_error - why a task was killed; reported when its CTAs are gone. */
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

/* In a free slot every field that a launch does not set must be 0; the callers see to that. */
static inline void task_slot_free(struct task *task)
{
	task->state = TASK_FREE;
	task->shape->tasks--;
	task->next = task_table.free;
	task_table.free = task;
}

void task_init(void);
/** task_priority() - the priority in its metadata or, without one, that of its queue. */
unsigned task_priority(const struct task *task);
/** task_ends() - struct task.release for a fence of this scope and a signal. */
static inline uint8_t task_ends(unsigned scope, uint64_t signal)
{
	return (uint8_t)(scope | (signal ? TASK_SIGNALS : 0));
}

/*
 * task_put_ends() - write a release fence of the scope in @release and a signal at @p, those that are not 0. @times: the
 * queue's signals may be told when their kernels ended. Return: their end
 * The room for them is part of COMMAND_OWED_TASKS and COMMAND_OWED_GROUPS.
 */
static inline __attribute__((always_inline))
uint32_t *task_put_ends(uint32_t *p, const struct queue *queue, unsigned release, uint64_t signal, bool times)
{
	if (release & TUTTI_HEADER_SCOPE) {
		p = command_put_fence(p, release | TUTTI_FENCE_RELEASE);
		counters.releases++;
	}
	if (signal) {
		p = command_put_signal(p, queue->asid_queue, signal,
				       queue->vector | (times && queue->flags & TUTTI_QUEUE_PROFILE ? TUTTI_SIGNAL_TIMES : 0));
		counters.signals++;
	}
	return p;
}

/** task_put_clean_up() - task_clean_up() at @p, where the words fit, for a queue without profiling. Return: their end */
static inline __attribute__((always_inline))
uint32_t *task_put_clean_up(uint32_t *p, const struct task *task, struct queue *queue)
{
	queue->signalled = (uint32_t)task->packet;
	return task_put_ends(p, queue, task->release, task->signal, false);
}

/** task_clean_up() - the release fence and the signal of a kernel that is complete. */
void task_clean_up(struct task *task);
/** task_issued() - how many CTAs a task has issued; its state must be kept (TASK_KEPT) or it has metadata. */
uint32_t task_issued(const struct task *task);
/** task_unkeep() - free the kept state of a task that has issued all of its CTAs. */
void task_unkeep(struct task *task);
/** task_complete() - end a task whose last CTA has completed. */
void task_complete(struct task *task);
/** task_drained() - no CTA of @task is left, and all are accounted for: do what was waiting for that. */
void task_drained(struct task *task);
/** task_ended() - @n CTAs have ended and their free slots are given back: place other CTAs, or end the task. */
void task_ended(struct task *task, uint32_t n);
/** task_fail() - kill @task because of @error. */
void task_fail(struct task *task, const struct task_error *error);
/** task_leave() - free the slot of a task, with all that hangs on it but its record and its metadata. */
void task_leave(struct task *task);
/** task_may_end() - is there room for the commands that write @task's metadata? If not, task_resume() ends it later. */
bool task_may_end(const struct task *task);
/**
 * task_resume() - end tasks that could not end because there was no room in the command ring.
 * @fault: why the task was killed whose queue is returned
 * Return: a queue that stops because its task was killed (the caller calls again), or NULL when no more can be done now
 */
struct queue *task_resume(struct tutti_fault *fault);
/**
 * task_cancel() - the kernels of packet @packet of @queue issue no more CTAs and end with a cancelled signal.
 * Return: 0 or -TUTTI_ENOENT
 */
int task_cancel(struct queue *queue, uint64_t packet);
/** task_drop() - clean up after a task without a slot; its signal, if it has one, is cancelled. */
void task_drop(struct queue *queue, struct pending *pending);
/** task_kill_queue() - kill all tasks of @queue, which is being destroyed, without an error report. */
void task_kill_queue(struct queue *queue);
/** task_event_fault() - a wave of a task has failed. */
void task_event_fault(const struct tutti_event *event);
/**
 * task_event_killed() - handle EVENT_KILLED: the CTAs of a killed task are gone.
 * @fault: why it was killed
 * Return: the queue that stops because of it, or NULL
 */
struct queue *task_event_killed(const struct tutti_event *event, struct tutti_fault *fault);
/** task_any() - a task is in flight. */
bool task_any(void);
/** task_waiting() - mask of the slots of tasks that may wait for a child, or for the answer about one. */
uint32_t task_waiting(void);
/**
 * task_clear_sms() - set @mask to the SMs that a task with metadata @tmd may use and on which no CTA is of the shape of a task in
 * @slots, a mask. Return: there are any
 */
bool task_clear_sms(uint32_t slots, const struct tmd *tmd, uint32_t *mask);
/**
 * task_one_ends() - a task has all its CTAs on the card and waits for no child, so it will end, with its slot and perhaps the
 * last use of its shape, whatever happens to others. A queue task may always get more items.
 */
bool task_one_ends(void);
/** task_failed() - a kernel of packet @packet of @queue is being killed because it has failed. */
bool task_failed(const struct queue *queue, uint64_t packet);
/** task_oldest() - index of the oldest packet of @queue with a kernel in flight, or @none if that is older. */
uint64_t task_oldest(const struct queue *queue, uint64_t none);
/**
 * task_group_create() - a new group for client @asid; NULL if it has to wait for one, with WAIT_SLOT.
 * task_group_put() - drop one reference to it.
 * task_group_spoil() - not all of its kernels will have run: its signal is sent as cancelled, or not at all.
 */
struct task_group *task_group_create(unsigned asid);
void task_group_put(struct queue *queue, struct task_group *group);
void task_group_spoil(struct task_group *group, bool cancel);

#endif

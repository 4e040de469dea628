/* SPDX-License-Identifier: MIT */
/**
 * DOC: Tasks with attributes, and queue tasks
 *
 * A task is what a dispatch becomes. Attributes - priority, SMs it may use, quota, CGA
 * shape ... - go into a TMD (tmd.h), which a struct tutti_task keeps in card-visible memory: make one, name it in
 * launches (tutti_launch.tmd = tutti_task_tmd(), also inside recordings, or tutti_task_dispatch()), read its
 * counters when it has ended. One task object describes one task at a time.
 *
 * A queue task has no grid: its CTAs consume the items of a work queue, filled by the host (tutti_work_push())
 * or by kernels (tutti/work.h), until it is closed. (spec TSK-01, TSK-10, SYS-41)
 */
#ifndef TUTTI_TASK_H
#define TUTTI_TASK_H

#include "tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_task;
struct tutti_work;

/** enum tutti_task_independence - may the waves of a CTA run apart? (RES-07) */
enum tutti_task_independence { TUTTI_WAVES_AS_KERNEL, TUTTI_WAVES_INDEPENDENT, TUTTI_WAVES_TOGETHER };

/** struct tutti_task_attributes - everything a TMD can say; zero = defaults. */
struct tutti_task_attributes {
	uint8_t priority;          /* 1 (highest) .. 10; 0 = the queue's */
	bool head;                 /* before others of its priority when it has to wait for a slot */
	bool sequence;             /* one CTA at a time, in grid order */
	uint32_t quota;            /* CTAs in its turn among equals; 0 = none */
	const uint32_t *affinity;  /* mask of SMs it may use, 32 a word; NULL = all */
	unsigned affinity_words;
	uint32_t throttle_sms;     /* not 0: this many SMs share the shared memory of all meanwhile */
	enum tutti_task_independence independence;
	struct tutti_cga_shape cga[TUTTI_CGA_LEVELS]; /* innermost first */
	bool multicast;            /* at most one CTA of a CGA on an SM */
	/* queue tasks */
	struct tutti_work *work;   /* not NULL: consumes its items */
	uint32_t coalesce_min;     /* items a CTA is started with; 0 = 1 */
	uint32_t coalesce_max;     /* most items of a CTA; 0 = coalesce_min */
	uint32_t coalesce_us;      /* after this time fewer than the minimum will do */
};

/** struct tutti_task_counters - how far a task came; written by the card when it leaves the task table or ends. */
struct tutti_task_counters {
	uint32_t state;            /* TUTTI_TMD_* of tmd.h */
	uint32_t error;            /* TUTTI_ERROR_* */
	uint64_t issued, completed; /* CTAs */
	uint64_t outstanding;      /* work items not given to a CTA */
	uint32_t evictions, turns, timeouts;
};

/**
 * tutti_task_create() - a task description in card-visible memory.
 * Return: 0, -EINVAL (attributes that no card takes), -ENOMEM
 */
int tutti_task_create(struct tutti_device *device, const struct tutti_task_attributes *attributes,
		      struct tutti_task **task);
/** tutti_task_destroy() - no task of it may be running. */
void tutti_task_destroy(struct tutti_task *task);
/** tutti_task_tmd() - for tutti_launch.tmd. */
void *tutti_task_tmd(struct tutti_task *task);
/** tutti_task_dispatch() - tutti_dispatch() with @task's attributes; it can be cancelled afterwards. */
int tutti_task_dispatch(struct tutti_queue *queue, const struct tutti_launch *launch, struct tutti_task *task);
/**
 * tutti_task_cancel() - issue no more CTAs; those in flight finish, then the signal's value goes far below zero
 * (tutti_signal_cancelled()) and the queue goes on. Return: 0, -ENOENT (not accepted yet, or over)
 */
int tutti_task_cancel(struct tutti_task *task);
/** tutti_signal_cancelled() - @value of a completion signal says that a task was cancelled. */
static inline bool tutti_signal_cancelled(int64_t value)
{
	return value < TUTTI_SIGNAL_FAILED;
}
/** tutti_task_counters() - as the card wrote them last. */
void tutti_task_counters(const struct tutti_task *task, struct tutti_task_counters *counters);

/**
 * tutti_work_create() - a work queue.
 * @items: capacity, a power of two
 * @bytes: of one item, without the 8 the card's protocol adds
 */
int tutti_work_create(struct tutti_device *device, uint32_t items, uint32_t bytes, struct tutti_work **work);
void tutti_work_destroy(struct tutti_work *work);
/** tutti_work_queue() - for kernels: struct tutti_work_queue. */
struct tutti_work_queue *tutti_work_queue(struct tutti_work *work);
/** tutti_work_try_push() - add an item. -EAGAIN: the queue is full, -EPIPE: it is closed. Any thread. */
int tutti_work_try_push(struct tutti_work *work, const void *item);
/** tutti_work_push() - the same, waiting for room. -ETIMEDOUT, -EIO (the queue of its task has stopped) */
int tutti_work_push(struct tutti_work *work, const void *item, uint64_t timeout_ns);
/** tutti_work_close() - no more items will come: the task ends when all are consumed. */
void tutti_work_close(struct tutti_work *work);

#ifdef __cplusplus
}
#endif

#endif

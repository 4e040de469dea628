/* SPDX-License-Identifier: MIT */
/**
 * DOC: Tasks with attributes, and tasks that consume a queue of work items
 *
 * A launch that the card has accepted is a *task*. What a packet cannot say of it -
 * a priority, which SMs it may use, how its workgroups are grouped into CGAs
 * (clusters) - stands in *task metadata* (TMD, tmd.h) in memory. A struct
 * tutti_task keeps such metadata: make one, name it in launches by
 * tutti_task_dispatch() or tutti_launch.tmd, and read its counters when the launch
 * has finished. It describes one launch at a time.
 *
 * A *queue task* has no grid. Its workgroups consume the items of a work queue,
 * which the host (tutti_work_push()) or kernels (tutti/work.h of the device
 * headers) fill while it runs, until the work queue is closed.
 *
 * (spec TSK-01, TSK-10, SYS-41)
 */
#ifndef TUTTI_TASK_H
#define TUTTI_TASK_H

#include "../tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_task;
struct tutti_work;

/**
 * enum tutti_task_independence - may the waves of a workgroup run at different times?
 * @TUTTI_WAVES_AS_KERNEL: as the kernel's code object says
 * @TUTTI_WAVES_INDEPENDENT: yes: when the workgroup fits nowhere for long, its waves may be run one by one
 * @TUTTI_WAVES_TOGETHER: no
 *
 * (spec RES-07)
 */
enum tutti_task_independence { TUTTI_WAVES_AS_KERNEL, TUTTI_WAVES_INDEPENDENT, TUTTI_WAVES_TOGETHER };

/**
 * struct tutti_task_attributes - attributes of a task; what is zero gets its default.
 * @priority: 1 (highest) to 10 (lowest); 0 = that of the AQL queue. Above 5 it needs what a queue needs for that: with
 *	the kernel driver CAP_SYS_NICE when the queue is created, otherwise the queue stops with TUTTI_ERROR_TMD
 * @head: among waiting tasks of the same priority it goes first instead of last
 * @sequence: one workgroup at a time, in the order of the grid; it cannot have CGAs then
 * @quota: when other tasks of its priority have work too, so many workgroups of this one are started in
 *	its turn; 0 = no turns
 * @affinity: bit mask of the SMs it may use, 32 in a word; NULL = all
 * @affinity_words: words of @affinity, up to TUTTI_MAX_SMS / 32; 0 without
 * @throttle_sms: not 0: it runs alone, and so many SMs share the shared memory of all of them meanwhile
 * @independence: may its waves run at different times?
 * @cga: shape of its CGAs, innermost level first, of growing kinds; all zero = as the kernel's code object says
 * @multicast: CGAs: at most one workgroup of a CGA on an SM, as multicast loads need it
 * @work: queue task: the work queue it consumes; NULL = a grid. Not with @sequence and @cga.
 * @coalesce_min: queue task: a workgroup is started when there are so many items; 0 = 1
 * @coalesce_max: queue task: most items of a workgroup, at most 65535; 0 = @coalesce_min
 * @coalesce_us: queue task: after so many microseconds fewer than @coalesce_min are enough
 * @bytes: sizeof the structure in the application, so that a later library reads no more; 0 = as in version 0.1
 */
struct tutti_task_attributes {
	uint8_t priority;
	bool head;
	bool sequence;
	uint32_t quota;
	const uint32_t *affinity;
	unsigned affinity_words;
	uint32_t throttle_sms;
	enum tutti_task_independence independence;
	struct tutti_cga_shape cga[TUTTI_CGA_LEVELS];
	bool multicast;
	struct tutti_work *work;
	uint32_t coalesce_min;
	uint32_t coalesce_max;
	uint32_t coalesce_us;
	uint32_t bytes;
};

/**
 * struct tutti_task_counters - how far a task has come.
 * @state: TUTTI_TMD_* of tmd.h
 * @error: TUTTI_ERROR_*
 * @issued: workgroups started
 * @completed: workgroups finished
 * @outstanding: queue task: items that no workgroup has been given yet
 * @evictions: how often a task of higher priority took its place on the card
 * @turns: turns that its quota ended
 * @timeouts: workgroups started with fewer than @coalesce_min items because time was over
 * @reserved: room for later versions; 0
 */
struct tutti_task_counters {
	uint32_t state;
	uint32_t error;
	uint64_t issued, completed;
	uint64_t outstanding;
	uint32_t evictions, turns, timeouts;
	uint32_t reserved[7];
};

/**
 * tutti_task_create() - make a task description, in memory the card can see.
 * @device: device
 * @attributes: copied; @attributes->work must live as long as the task
 * @task: gets the task
 *
 * Return: 0; -EINVAL: no card takes such attributes; -ENOMEM.
 */
int tutti_task_create(struct tutti_device *device, const struct tutti_task_attributes *attributes,
		      struct tutti_task **task);

/**
 * tutti_task_destroy() - destroy it. No launch with it may be waiting or running. NULL is fine.
 *
 * Return: 0, -EINVAL.
 */
int tutti_task_destroy(struct tutti_task *task);

/** tutti_task_tmd() - address of the metadata, for tutti_launch.tmd. */
void *tutti_task_tmd(struct tutti_task *task);

/**
 * tutti_task_dispatch() - tutti_dispatch() with the attributes of @task, which can be cancelled afterwards.
 *
 * Return: as tutti_dispatch(); -EINVAL also when @queue is not an extended one.
 */
int tutti_task_dispatch(struct tutti_queue *queue, const struct tutti_launch *launch, struct tutti_task *task);

/**
 * tutti_task_cancel() - start no more workgroups of a task.
 *
 * Those that run finish. Then the completion signal gets a value far below zero, which
 * tutti_signal_cancelled() recognises, and the AQL queue goes on.
 *
 * Return: 0; -ENOENT: the card has not accepted it yet, or it is over.
 */
int tutti_task_cancel(struct tutti_task *task);

/** tutti_signal_cancelled() - does @value of a completion signal say that a task was cancelled? */
static inline bool tutti_signal_cancelled(int64_t value)
{
	return value < TUTTI_SIGNAL_FAILED;
}

/**
 * tutti_task_counters() - counters of a task, as the card wrote them when it last left the task table or ended.
 *
 * Return: 0, -EINVAL.
 */
int tutti_task_counters(const struct tutti_task *task, struct tutti_task_counters *counters);

/**
 * tutti_work_create() - make a work queue.
 * @device: device
 * @items: items it holds at once, a power of two; there is room for at least two
 * @bytes: size of an item
 * @work: gets the work queue
 *
 * Return: 0; -EINVAL: @items is no power of two, or @bytes too large; -ENOMEM.
 */
int tutti_work_create(struct tutti_device *device, uint32_t items, uint32_t bytes, struct tutti_work **work);

/** tutti_work_destroy() - destroy it, after the tasks that consume it. NULL is fine. Return: 0, -EINVAL. */
int tutti_work_destroy(struct tutti_work *work);

/** tutti_work_queue() - what kernels need to know of it: struct tutti_work_queue of tmd.h. */
struct tutti_work_queue *tutti_work_queue(struct tutti_work *work);

/**
 * tutti_work_try_push() - add an item; @item points to as many bytes as items have.
 *
 * Return: 0; -EAGAIN: the work queue is full; -EPIPE: it is closed.
 */
int tutti_work_try_push(struct tutti_work *work, const void *item);

/**
 * tutti_work_push() - add an item, waiting while the work queue is full.
 *
 * Return: 0; -EPIPE: it is closed; -ETIMEDOUT: no room within @timeout_ns nanoseconds (see tutti_signal_wait());
 * -EIO: the AQL queue of its task has stopped or been destroyed, or the device has died.
 */
int tutti_work_push(struct tutti_work *work, const void *item, uint64_t timeout_ns);

/** tutti_work_close() - no more items will come: the task ends when all are consumed. Return: 0, -EINVAL. */
int tutti_work_close(struct tutti_work *work);

#ifdef __cplusplus
}
#endif

#endif

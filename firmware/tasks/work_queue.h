/* SPDX-License-Identifier: MIT */
/**
 * DOC: Queue tasks: CTAs for work items (spec TSK-10)
 *
 * The firmware reads the write index of the work queue when a kernel or the doorbell notifies it, and at every
 * heartbeat. Then it gives item numbers to CTAs. They get the TMD's maximum of items as long as there are so many; one
 * CTA gets fewer if there is the minimum, or whatever there is when the coalescing timeout has passed or the queue is
 * closed. The firmware never looks at the items themselves. A queue task that has nothing to do gives its slot to any
 * task that needs one.
 */
#ifndef WORK_QUEUE_H
#define WORK_QUEUE_H

#include "tasks/metadata.h"
#include "tasks/task_table.h"

/** work_poll() - fetch the write index of the work queue of @tmd, and whether it is closed. */
void work_poll(struct tmd *tmd);
/**
 * work_poll_all() - poll the work queues of all queue tasks of @queue, because its doorbell was rung; NULL: those of all
 * queues, in case a notification was lost.
 */
void work_poll_all(const struct queue *queue);
/** work_resume() - there is room in the command ring again: do the polls that found none. */
void work_resume(void);
/** work_notify() - a kernel of @asid added items for the task of the TMD at @address. Return: 0 or -TUTTI_ENOENT */
int work_notify(unsigned asid, uint64_t address);
/**
 * work_event_fetch() - a write index or the flag "closed" has arrived.
 * @fault: why a queue stops
 * Return: the queue that stops because its work queue could not be read, or NULL
 */
struct queue *work_event_fetch(unsigned number, const struct tutti_event *event, struct tutti_fault *fault);
/** work_place() - place up to @n CTAs for the next items, limited by what one LAUNCH can hold. Return: CTAs placed */
uint32_t work_place(struct task *task, uint32_t n);
/** work_taken() - CTAs of @task were placed: write the read index back. */
void work_taken(struct task *task);
/** work_over() - the work queue of @task is closed, and all its items have been given to CTAs. */
bool work_over(const struct task *task);
/** work_quiet() - how many queue tasks of @queue have nothing on the card, so that a suspend need not wait for them. */
uint32_t work_quiet(const struct queue *queue);
/** work_earliest() - the first coalescing timeout, or @none. work_timeout() - handle those up to @time. */
uint64_t work_earliest(uint64_t none);
void work_timeout(uint64_t time);

#endif

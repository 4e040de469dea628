/* SPDX-License-Identifier: MIT */
/**
 * DOC: Queue tasks: CTAs for work items (spec TSK-10)
 *
 * The firmware reads the write index of the work queue when somebody notifies it (a kernel, the doorbell, every
 * heartbeat) and hands out item numbers: CTAs of the TMD's maximum as long as there are so many items, one with
 * fewer if the minimum is there, or, when the coalescing timeout has passed or the queue is closed, with what
 * there is. The items themselves are the kernel's business. A queue task that has nothing to do gives its slot to
 * anybody.
 */
#ifndef WORK_QUEUE_H
#define WORK_QUEUE_H

#include "tasks/metadata.h"
#include "tasks/task_table.h"

/** work_poll() - look at the write index. */
void work_poll(struct tmd *tmd);
/** work_poll_queue() - the doorbell of @queue was rung: it may be meant for its queue tasks. */
void work_poll_queue(const struct queue *queue);
/** work_poll_all() - in case a notification was lost. */
void work_poll_all(void);
/** work_resume() - there is room in the command ring again for looks that found none. */
void work_resume(void);
/** work_notify() - a kernel of @asid has added items to the task of the TMD at @address. 0 or -TUTTI_ENOENT. */
int work_notify(unsigned asid, uint64_t address);
/**
 * work_event_fetch() - an index or the flag "closed" has come.
 * Return: a queue that stops because it cannot be read, @fault says why; or NULL
 */
struct queue *work_event_fetch(unsigned number, const struct tutti_event *event, struct tutti_fault *fault);
/** work_place() - place up to @n CTAs with the next items, as many as one LAUNCH takes. Return: CTAs placed */
uint32_t work_place(struct task *task, uint32_t n);
/** work_taken() - CTAs of @task were placed. */
void work_taken(struct task *task);
/** work_ended() - no CTA of @task is left. */
void work_ended(struct task *task);
/** work_quiet() - queue tasks of @queue that have nothing on the card: they need not end before a suspend. */
uint32_t work_quiet(const struct queue *queue);
/** work_earliest() - the first coalescing timeout, or @none; work_timeout() - those up to @time have passed. */
uint64_t work_earliest(uint64_t none);
void work_timeout(uint64_t time);

#endif

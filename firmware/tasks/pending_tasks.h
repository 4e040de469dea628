/* SPDX-License-Identifier: MIT */
/**
 * DOC: Accepted tasks that have no slot yet (spec TSK-02, TSK-03)
 *
 * One list for each priority level, made of records that keep the state of a task: tasks with metadata, tasks for
 * which no slot was free, and evicted ones with the position where they go on. A plain kernel that finds a slot
 * never comes here. A record also stays with a task that holds a slot and has CTAs left to issue: that is what
 * makes it evictable.
 */
#ifndef PENDING_TASKS_H
#define PENDING_TASKS_H

#include "tasks/metadata.h"
#include "tasks/task_table.h"

#define PENDING_LEVELS 10u

/* Where a record is. DROPPED: its task ends without having run, as soon as there is room for the commands. */
enum pending_place { PENDING_FREE, PENDING_LISTED, PENDING_KEPT, PENDING_ASLEEP, PENDING_DROPPED };

struct pending_link {
	struct pending_link *next, *prev;
};

struct pending {
	struct pending_link link; /* first: a link is its record */
	struct queue *queue;
	struct tmd *tmd;          /* NULL: defaults */
	struct task_group *group;
	uint32_t groups;          /* CTAs of the grid */
	uint32_t issued;          /* where it goes on */
	uint64_t signal;
	uint64_t packet;
	uint8_t place;            /* enum pending_place */
	uint8_t priority;         /* 1 .. 10 */
	uint8_t acquire, release; /* scopes; acquire is done with the first STATE */
	uint8_t kernel;           /* number in a condensed packet */
	uint8_t rare;             /* TASK_* of the task */
	uint8_t lmem;             /* its CGAs own linear memory slots */
	struct tutti_cga_shape cga; /* the kernel's, if its metadata has none; kind NONE: neither */
	uint32_t state[STATE_WORDS] __attribute__((aligned(8)));
};

void pending_init(void);
/**
 * pending_get() - a free record for a task of @priority. NULL: none.
 * The last records are kept for higher priorities, so that these are accepted whatever the others queue up.
 */
struct pending *pending_get(unsigned priority);
void pending_put(struct pending *pending);
/** pending_push() - accept: to the tail of its list or, if its TMD says so, to the head; then schedule. */
void pending_push(struct pending *pending);
/** pending_run() - give free slots to the first tasks of the highest lists. */
void pending_run(void);
/** pending_admit() - give a record the free slot there is. NULL: all shapes are in use by others. */
struct task *pending_admit(struct pending *pending);
/** pending_send_state() - STATE of @task for the CTAs behind the first @issued, behind the acquire fence the first time. */
void pending_send_state(struct pending *pending, struct task *task, uint32_t issued);
/** pending_keep() - keep the state of a resident task that has CTAs left. @command: its STATE or TASK */
void pending_keep(struct task *task, const uint32_t *command);
/** pending_left() - a task that was evicted has no CTA in flight any more. */
void pending_left(struct task *task);
/** pending_wake() - a queue task without a slot has items again. */
void pending_wake(struct pending *pending);
/** pending_drop_queue() - forget tasks of @queue that have no slot. pending_drop_packet() - those of one packet. */
void pending_drop_queue(struct queue *queue);
void pending_drop_packet(struct queue *queue, uint64_t packet);
/** pending_drop() - @pending ends without having run on; its queue goes on. @signal: its signal is cancelled. */
void pending_drop(struct pending *pending, bool signal);
/** pending_cancel() - tasks of a packet end with a cancelled signal. Return: there were some */
bool pending_cancel(struct queue *queue, uint64_t packet);
/** pending_with() - the record of the task with this metadata, NULL: there is none. */
struct pending *pending_with(const struct tmd *tmd);
/** pending_resume() - there is room in the command ring again for those that were dropped without. */
void pending_resume(void);
/** pending_oldest() - oldest packet of @queue that waits for a slot, or @none. */
uint64_t pending_oldest(const struct queue *queue, uint64_t none);
/** pending_at() - record @number, below FW_PENDING. */
const struct pending *pending_at(unsigned number);
/** pending_idle() - no record is in use. */
bool pending_idle(void);
/** pending_any() - a task waits for a slot. */
bool pending_any(void);

#endif

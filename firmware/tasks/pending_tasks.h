/* SPDX-License-Identifier: MIT */
/**
 * DOC: Accepted tasks that have no slot yet (spec TSK-02, TSK-03)
 *
 * There is one list for each priority level. Its records keep the state of tasks that wait for a slot, and of evicted
 * tasks together with the position where they go on. A task that finds a slot, and room for all of its CTAs, usually never
 * comes here (pending_direct()). One that holds a slot and has CTAs left to issue has a record, because only a task whose
 * state is kept can be evicted.
 */
#ifndef PENDING_TASKS_H
#define PENDING_TASKS_H

#include "core/state.h"
#include "tasks/metadata.h"
#include "tasks/task_table.h"

#define PENDING_LEVELS 10u

/*
 * LISTED: the task waits for a slot. KEPT: it is in no list, usually because its task has a slot. ASLEEP: a queue
 * task without a slot waits for items. DROPPED: the task issues no more and ends once there is room for the commands.
 */
enum pending_place { PENDING_FREE, PENDING_LISTED, PENDING_KEPT, PENDING_ASLEEP, PENDING_DROPPED };

struct pending_link {
	struct pending_link *next, *prev;
};

struct pending {
	struct pending_link link; /* must be first: a pointer to the link is one to the record */
	struct queue *queue;
	struct tmd *tmd;          /* its metadata; NULL: it has none */
	struct task_group *group;
	uint32_t groups;          /* CTAs of the grid */
	uint32_t issued;          /* CTAs issued before; the task goes on with the next one */
	uint64_t signal;
	uint64_t packet;
	uint8_t place;            /* enum pending_place */
	uint8_t priority;         /* 1 .. 10 */
	uint8_t acquire, release; /* scopes of its fences; the acquire fence goes before the first STATE only */
	uint8_t kernel;           /* number in a condensed packet */
	uint8_t rare;             /* TASK_* of the task */
	uint8_t kernel_flags;     /* TUTTI_KERNEL_LMEM: its CGAs own linear memory slots; TUTTI_KERNEL_INDEPENDENT */
	struct tutti_cga_shape cga; /* CGA its kernel declares; counts if the metadata name none */
	uint32_t state[STATE_WORDS] __attribute__((aligned(8)));
};

void pending_init(void);
/**
 * pending_get() - a free record for a task of @priority, or NULL.
 *
 * The last records are kept for higher priorities, so that their tasks are accepted however many others wait.
 */
struct pending *pending_get(unsigned priority);
void pending_put(struct pending *pending);
/** pending_push() - accept a task: it goes to the tail of its list or, if its TMD says so, to the head. May evict. */
void pending_push(struct pending *pending);
/**
 * pending_evict() - tasks wait for a slot (DETOUR_PENDING): if none is free, one that has a slot gives it up, a queue task with
 * nothing to do, or one of a lower priority than @priority; at PENDING_LEVELS there is none of these.
 */
void pending_evict(unsigned priority);
/** pending_run() - give free slots to waiting tasks, those of the highest priority first. */
void pending_run(void);
/** pending_admit() - give a record the first free slot, which must exist. Return: its task, NULL if no shape is free */
struct task *pending_admit(struct pending *pending);
/**
 * pending_start() - accept a task and start its CTAs at once, as far as they fit.
 *
 * That is as good as the lists and issue rounds if no other task waits for anything.
 * Return: false if it is not, and nothing has been done
 */
bool pending_start(struct pending *pending);
extern uint32_t pending_free; /* number of records that are not in use */
/**
 * pending_direct() - a task of @priority, for which there is a slot, may start without the lists and issue rounds: no other
 * waits for anything, and a record is left in case that not all of its CTAs find room.
 */
static inline bool pending_direct(unsigned priority)
{
	return !(place_state.detours & ~DETOUR_ROWS_LEAD) && pending_free >= priority;
}
/**
 * pending_send_state() - send the state of @task for the CTAs after the first @issued. The first time the acquire fence
 * goes before it.
 */
void pending_send_state(struct pending *pending, struct task *task, uint32_t issued);
/**
 * pending_keep() - keep the state of a resident task that has CTAs left to issue.
 * @command: its STATE or TASK command
 */
void pending_keep(struct task *task, const uint32_t *command);
/** pending_left() - a task that is being evicted has no CTA in flight any more: it gives up its slot. */
void pending_left(struct task *task);
/** pending_wake() - a queue task without a slot has items again. */
void pending_wake(struct pending *pending);
/** pending_drop() - end a task without a slot; its queue goes on. @signal: cancel its signal instead of dropping it */
void pending_drop(struct pending *pending, bool signal);
/**
 * pending_drop_all() - the same for the tasks of @queue that have no slot; @packet: of this one only.
 * Return: there were some
 */
bool pending_drop_all(struct queue *queue, const uint64_t *packet, bool signal);
/** pending_with() - the record of the task with this metadata, or NULL. */
struct pending *pending_with(const struct tmd *tmd);
/** pending_resume() - end dropped tasks for whose commands there was no room until now. */
void pending_resume(void);
/** pending_oldest() - index of the oldest packet of @queue with a task that waits here, or @none if that is older. */
uint64_t pending_oldest(const struct queue *queue, uint64_t none);
/** pending_at() - record @number, which must be below FW_PENDING. */
const struct pending *pending_at(unsigned number);
/** pending_idle() - no record is in use. */
bool pending_idle(void);
/** pending_any() - a task waits for a slot. */
bool pending_any(void);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Tasks: launched kernels, one per slot of the task table
 *
 * Life: task_launch() takes a slot, writes STATE and places CTAs; while CTAs are
 * unissued the task waits in the order of place.c; when the last CTA has
 * completed task_complete() does the clean-up (release fence, signal). A failing
 * task is killed and ends with EVENT_KILLED, without its signal.
 */
#ifndef TASK_H
#define TASK_H

#include "packet.h"
#include "shape.h"

struct queue;

/**
 * struct task_group - kernels of a condensed packet that may overlap: one clean-up
 * when all are complete.
 */
struct task_group {
	struct task_group *next;  /* free list */
	uint32_t open;            /* kernels in flight, + 1 while more are to come */
	uint32_t release;         /* widest scope */
	uint64_t signal;          /* of the last kernel */
};

enum task_state { TASK_FREE, TASK_RUNNING, TASK_KILLED };

struct task {
	struct task *next;        /* free list, or order of place.c */
	struct queue *queue;
	struct shape *shape;
	struct task_group *group; /* NULL: cleans up by itself */
	uint32_t unissued;        /* CTAs still to be placed */
	uint32_t resident;        /* CTAs placed and not complete */
	uint64_t signal;
	uint8_t release;          /* scope of the release fence */
	uint8_t state;            /* enum task_state */
	uint8_t slot;
	uint8_t kernel;           /* number in a condensed packet */
	uint32_t issued;          /* CTAs placed */
	uint64_t packet;
	uint32_t progress;        /* ticks since a CTA completed */
	uint32_t passed;          /* placements of others while it found no room */
	struct cga *cga;          /* NULL: plain CTAs */
} __attribute__((aligned(64)));

extern struct task tasks[FW_TASKS];

/** struct task_table - free slots and groups. */
struct task_table {
	struct task *free;
	struct task_group *groups;
};
extern struct task_table task_table;

/** struct task_error - why a task was killed; sent when it is gone. */
struct task_error {
	uint8_t code, engine, access, cause;
	uint32_t sm_wave;
	uint64_t pc;
	uint64_t address;
};
extern struct task_error task_errors[FW_TASKS];

void task_init(void);
/** task_complete() - the last CTA has completed. */
void task_complete(struct task *task);
/** task_ended() - @n CTAs have ended and are accounted for: serve others, complete the task. */
void task_ended(struct task *task, uint32_t n);
/** task_fail() - kill @task because of @error. */
void task_fail(struct task *task, const struct task_error *error);
/** task_kill_queue() - kill all tasks of @queue without a report (its destruction). */
void task_kill_queue(struct queue *queue);
/** task_events: CTA completions, faults, kills. */
void task_event_cta(const struct tutti_event *event);
void task_event_fault(const struct tutti_event *event);
void task_event_killed(const struct tutti_event *event);
/** task_any() - a task is in flight. */
bool task_any(void);
/** task_oldest() - oldest packet of @queue with a kernel in flight, or @none. */
uint64_t task_oldest(const struct queue *queue, uint64_t none);
/** task_group_create() / task_group_put() - NULL if there is none free; drop one reference. */
struct task_group *task_group_create(void);
void task_group_put(struct queue *queue, struct task_group *group);

#endif

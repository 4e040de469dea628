/* SPDX-License-Identifier: MIT */
/**
 * DOC: The record of a task that has a slot
 *
 * tasks/ keeps the table; placement counts in these records which CTAs are issued and resident.
 */
#ifndef TASK_RECORD_H
#define TASK_RECORD_H

#include "core/base.h"

struct pending;
struct queue;
struct shape;
struct tmd;

/**
 * struct task_group - kernels of a condensed packet that may overlap: one clean-up
 * when all are complete.
 */
struct task_group {
	struct task_group *next;  /* free list */
	uint32_t open;            /* kernels in flight, + 1 while more are to come */
	uint32_t release;         /* widest scope */
	uint32_t cancelled;       /* one of them was: so is the signal */
	uint64_t signal;          /* of the last kernel */
};

/*
 * SYNC: as RUNNING, but SMs have yet to acknowledge the task's state.
 * ENDING: complete, but there was no room for what its metadata get.
 */
enum task_state { TASK_FREE, TASK_RUNNING, TASK_LEAVING, TASK_CANCELLED, TASK_ENDING, TASK_KILLED, TASK_SYNC };

/* struct task.rare: 0 = a kernel of which nothing is out of the ordinary */
#define TASK_KEPT 1u       /* its state is kept in @kept */
#define TASK_TMD 2u        /* has metadata, @tmd */
#define TASK_GROUP 4u      /* cleans up with others, @group */
#define TASK_WORK 8u       /* queue task */
#define TASK_PARENT 16u    /* has made child tasks that live, @children */
#define TASK_CHILD 32u     /* made by a kernel */
#define TASK_SPLIT 64u     /* waves of one CTA of another task (tasks/wave_split.h) */
#define TASK_SPLITTING 128u /* the other one */
#define TASK_ISSUES 256u   /* in the rings of tasks/issue_rounds.h */
#define TASK_CGA 512u      /* its CTAs come in CGAs (groups/cga.h) */

struct task {
	struct task *next;        /* free list, or the ring of its level */
	struct task *prev;
	struct queue *queue;
	struct shape *shape;
	uint32_t unissued;        /* CTAs that may be placed */
	uint32_t resident;        /* CTAs placed and not complete */
	uint64_t signal;
	uint64_t packet;
	uint8_t release;          /* scope of the release fence */
	uint8_t state;            /* enum task_state */
	uint8_t slot;
	uint8_t kernel;           /* number in a condensed packet */
	uint16_t rare;            /* TASK_* */
	uint8_t passed;           /* rounds of others while it found no room */
	uint8_t children;
	uint32_t progress;        /* ticks since a CTA completed */
	/* valid as @rare says */
	struct pending *kept;
	struct tmd *tmd;
	struct task_group *group;
} __attribute__((aligned(64)));

extern struct task tasks[FW_TASKS];

/** struct task_table - free slots and groups. */
struct task_table {
	struct task *free;
	struct task *held;   /* free, but those in the lists of tasks/pending_tasks.h come first */
	uint32_t ending;     /* slots of tasks that end when there is room in the command ring */
	struct task_group *groups;
};
extern struct task_table task_table;

#endif

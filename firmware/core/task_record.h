/* SPDX-License-Identifier: MIT */
/**
 * DOC: The record of a task that has a slot
 *
 * tasks/ keeps the table. The code that places CTAs counts in these records how many are unissued and resident.
 */
#ifndef TASK_RECORD_H
#define TASK_RECORD_H

#include "core/base.h"

struct pending;
struct queue;
struct shape;
struct tmd;

/**
 * struct task_group - kernels of a condensed packet that may overlap. They share one
 * release fence and signal, which are sent when all of them are complete.
 */
struct task_group {
	struct task_group *next;  /* free list */
	uint32_t open;            /* kernels in flight, plus 1 while more will be launched; 0: the group is free */
	uint32_t release;         /* widest scope of their release fences */
	uint16_t cancelled;       /* one of them was cancelled, so the signal is sent as cancelled */
	uint16_t asid;            /* whose they are */
	uint64_t signal;          /* signal of the last kernel */
};

/*
 * LEAVING: evicted; it gives its slot back when its resident CTAs have ended.
 * CANCELLED: it ends, with its signal as cancelled, when its resident CTAs have ended.
 * ENDING: complete, but the command ring had no room for the writes to its metadata.
 * KILLED: it failed, and SMs have been told to kill its waves; it ends with their event KILLED.
 * SYNC: like RUNNING, but SMs have yet to acknowledge the task's state.
 */
enum task_state { TASK_FREE, TASK_RUNNING, TASK_LEAVING, TASK_CANCELLED, TASK_ENDING, TASK_KILLED, TASK_SYNC };

/* struct task.rare: a bit for each feature that needs the general path; 0 for an ordinary kernel */
#define TASK_KEPT 1u       /* its state is kept in @kept */
#define TASK_TMD 2u        /* it has metadata, @tmd */
#define TASK_GROUP 4u      /* it shares fence and signal with others, @group */
#define TASK_WORK 8u       /* it is a queue task */
#define TASK_PARENT 16u    /* it has live child tasks, @children */
#define TASK_CHILD 32u     /* it was created by a kernel */
#define TASK_SPLIT 64u     /* it stands for the waves of one CTA of another task (tasks/wave_split.h) */
#define TASK_SPLITTING 128u /* it is that other task */
#define TASK_ISSUES 256u   /* it is in the rings of tasks/issue_rounds.h */
#define TASK_CGA 512u      /* its CTAs come in CGAs (groups/cga.h) */

/* struct task.release: @signal is not 0. As part of a FENCE command the bit does no harm there, as it says release. */
#define TASK_SIGNALS TUTTI_FENCE_RELEASE
/* struct task.kind of an ordinary kernel that runs and has neither fence nor signal at its end */
#define TASK_PLAIN ((uint32_t)TASK_RUNNING << 16)

struct task {
	struct task *next;        /* in the free list, or in the ring of its priority level */
	struct task *prev;
	struct queue *queue;
	struct shape *shape;
	uint32_t unissued;        /* CTAs that have yet to be placed and may be */
	uint32_t resident;        /* CTAs that are placed and not complete */
	uint64_t signal;
	uint64_t packet;
	union {
		struct {
			uint16_t rare;    /* TASK_* */
			uint8_t state;    /* enum task_state */
			uint8_t release;  /* TUTTI_SCOPE_* of the release fence, and TASK_SIGNALS */
		};
		uint32_t kind;            /* all three at once, to compare with TASK_PLAIN */
	};
	uint8_t slot;
	uint8_t kernel;           /* its number in a condensed packet */
	uint8_t passed;           /* rounds in which others were placed while it found no room */
	uint8_t children;
	uint32_t progress;        /* ticks since a CTA completed */
	/* @rare says which of these are valid. */
	struct pending *kept;
	struct tmd *tmd;
	struct task_group *group;
} __attribute__((aligned(64)));

extern struct task tasks[FW_TASKS];

/** struct task_table - free slots and groups. */
struct task_table {
	struct task *free;
	struct task *held;   /* free slots that are reserved for the waiting tasks of tasks/pending_tasks.h */
	uint32_t ending;     /* mask of slots whose tasks end when there is room in the command ring */
	struct task_group *groups;
};
extern struct task_table task_table;

#endif

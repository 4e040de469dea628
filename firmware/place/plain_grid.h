/* SPDX-License-Identifier: MIT */
/**
 * DOC: Placing CTAs of one task: from a lake to a LAUNCH command
 *
 * The seam between tasks and lakes. A new task gets what fits at once (CGA-13); with CTAs
 * left it joins the rounds of rounds.h. What limits a task - an affinity mask, other shapes on
 * the card - makes a lake for the occasion.
 */
#ifndef PLAIN_GRID_H
#define PLAIN_GRID_H

#include "core/command_ring.h"
#include "core/counters.h"
#include "tasks/task_table.h"

/* struct place_state.busy: not 0 = a completion is looked at by more than its own task. */
#define BUSY_ISSUE 1u    /* tasks have CTAs to issue */
#define BUSY_PENDING 2u  /* tasks wait for a slot */
#define BUSY_THROTTLE 4u /* throttle mode, or on the way to it or back */
#define BUSY_WAITERS 16u /* queues wait for a slot or a shape */
#define BUSY_BESIDE 8u   /* what is free beside other shapes is kept (beside.h) */

/* struct place_state.hold: not 0 = nothing is placed but by the rounds. */
#define HOLD_DRAIN 1u
#define HOLD_THROTTLE 2u
#define HOLD_STATE 4u /* on cards whose SMs acknowledge task states: always (state_sync.h) */

/** struct place_state - policies, and what keeps kernels from the short way. */
struct place_state {
	uint32_t busy;          /* BUSY_* */
	union {
		struct {
			uint8_t round_robin; /* TUTTI_POLICY_ISSUE */
			uint8_t hold;        /* HOLD_* */
		};
		uint32_t odd;           /* not 0: no short way */
	};
	uint32_t round_next;    /* position after the last that received a CTA */
	uint32_t message_words; /* room a placement may need */
	uint32_t free_words;    /* free words of the ring that make command_room() true for it and a kernel */
	bool blocked;           /* the rounds wait for room in the command ring */
};
extern struct place_state place_state;

#define PLACE_FEW 4u
#define PLACE_ROOM (place_state.message_words + 128u) /* what is asked of command_room() before one */
#define PLACE_NEW_WORDS (2u + LAKE_FLAT_WORDS) /* room place_new() asks for */

void place_init(void);
/** place_task() - place what fits now; with CTAs left it joins the rounds. @command: its STATE or TASK */
void place_task(struct task *task, const uint32_t *command);
/** place_some() - place up to @n CTAs. Return: CTAs placed. */
uint32_t place_some(struct task *task, uint32_t n);
/**
 * place_new() - place_task() for a new task, at best by straight code without a call.
 * @command: its STATE or TASK, that ends at @end; PLACE_NEW_WORDS behind it are contiguous
 * @shape, @n: its shape and its CTAs; @unissued is 0 yet, as in a free slot
 */
void place_new(struct task *task, const uint32_t *command, uint32_t *end, struct shape *shape, uint32_t n);

#endif

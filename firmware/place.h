/* SPDX-License-Identifier: MIT */
/**
 * DOC: Placing CTAs of one task: from a lake to a LAUNCH command
 *
 * The seam between tasks and lakes. A new task gets what fits at once (CGA-13); with CTAs
 * left it joins the rounds of wdu.h. What limits a task - an affinity mask, other shapes on
 * the card - makes a lake for the occasion.
 */
#ifndef PLACE_H
#define PLACE_H

#include "command.h"
#include "counter.h"
#include "task.h"

/* struct place_state.busy: not 0 = a completion is looked at by more than its own task. */
#define BUSY_ISSUE 1u    /* tasks have CTAs to issue */
#define BUSY_PENDING 2u  /* tasks wait for a slot */
#define BUSY_THROTTLE 4u /* throttle mode, or on the way to it or back */
#define BUSY_BESIDE 8u   /* what is free beside other shapes is kept (beside.h) */

/* struct place_state.hold: not 0 = nothing is placed but by the rounds. */
#define HOLD_DRAIN 1u
#define HOLD_THROTTLE 2u

/** struct place_state - policies, and what keeps kernels from the short way. */
struct place_state {
	uint32_t busy;          /* BUSY_* */
	uint32_t round_robin;   /* TUTTI_POLICY_ISSUE */
	uint32_t round_next;    /* position after the last that received a CTA */
	uint32_t message_words; /* room a placement may need */
	bool blocked;           /* the rounds wait for room in the command ring */
	uint32_t hold;          /* HOLD_* */
};
extern struct place_state place_state;

#define PLACE_FEW 4u

void place_init(void);
/** place_task() - place what fits now; with CTAs left it joins the rounds. @state: its STATE payload */
void place_task(struct task *task, const uint32_t *state);
/** place_some() - place up to @n CTAs. Return: CTAs placed. */
uint32_t place_some(struct task *task, uint32_t n);
/**
 * place_few() - place_task() for a new task of a few CTAs on a card that is not full.
 * @p: end of its STATE command; three words behind it are contiguous
 * Return: false (nothing done): call place_task()
 */
static inline bool place_few(struct task *task, uint32_t *p)
{
	struct shape *shape = task->shape;
	uint32_t n = task->unissued;

	if (unlikely(n > PLACE_FEW) || unlikely((shapes.residents ^ shape->residents) | shapes.special |
						place_state.round_robin | place_state.hold) ||
	    unlikely(!lake_pour_few(&shape->lake, n, p + 1)))
		return false;
	p[0] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 3, task->slot);
	command_end(p + 3);
	task->unissued = 0;
	task->resident = n;
	shape->residents += n;
	shapes.residents += n;
	counters.ctas_issued += n;
	counters.placements++;
	return true;
}

#endif

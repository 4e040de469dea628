/* SPDX-License-Identifier: MIT */
/**
 * DOC: Placement policy: which task gets CTAs placed next
 *
 * The seam between tasks and lakes. Tasks with CTAs that found no room stand in
 * one list, by priority, then whose turn it is, and are served whenever CTAs complete (CGA-13).
 */
#ifndef PLACE_H
#define PLACE_H

#include "command.h"
#include "counter.h"
#include "task.h"

/** struct place_state - list and policies. */
struct place_state {
	struct task *hungry;    /* tasks with unissued CTAs */
	uint32_t round_robin;   /* TUTTI_POLICY_ISSUE */
	uint32_t round_next;    /* position after the last that received a CTA */
	uint32_t message_words; /* room a placement may need */
	bool blocked;           /* the list waits for room in the command ring */
	uint32_t drain;         /* a task was passed over too often: nothing new before it */
};
extern struct place_state place_state;

#define PLACE_FEW 4u

void place_init(void);
/** place_task() - place what fits now; the task joins the list if some is left. */
void place_task(struct task *task);
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
						place_state.round_robin | place_state.drain) ||
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
/** place_hungry() - CTAs have ended: serve the list. */
void place_hungry(void);
/** place_remove() - the task issues nothing more. */
void place_remove(struct task *task);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Placement policy: which task gets CTAs placed next
 *
 * The seam between tasks and lakes. Tasks with CTAs that found no room stand in
 * one list, by priority, then age, and are served whenever CTAs complete (CGA-13).
 */
#ifndef PLACE_H
#define PLACE_H

#include "task.h"

/** struct place_state - list and policies. */
struct place_state {
	struct task *hungry;    /* tasks with unissued CTAs */
	uint32_t round_robin;   /* TUTTI_POLICY_ISSUE */
	uint32_t round_next;    /* position after the last that received a CTA */
	uint32_t message_words; /* room a placement may need */
	bool blocked;           /* the list waits for room in the command ring */
};
extern struct place_state place_state;

void place_init(void);
/** place_task() - place what fits now; the task joins the list if some is left. */
void place_task(struct task *task);
/** place_hungry() - CTAs have ended: serve the list. */
void place_hungry(void);
/** place_remove() - the task issues nothing more. */
void place_remove(struct task *task);

#endif

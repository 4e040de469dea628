/* SPDX-License-Identifier: MIT */
/**
 * DOC: The guard against starvation (spec RES-01, CGA-05, REL-11)
 *
 * A CTA may be larger than what the end of one smaller CTA leaves, so its task could be passed over for ever. A task
 * that has found no room PATIENCE times while others were placed gets some SMs held back: of those it may use one in
 * PATIENCE_SHARE, at least one. A task whose CTAs come in CGAs, which counts its searches (groups/cga.h), gets the
 * domains that would have room if they were empty. Only tasks of higher priority, and equals that were passed over
 * more often, get room there, too. The hold ends when the task has been placed or may not issue, and at the latest after a limited time; the
 * next hold takes other SMs. So one task keeps others off few SMs, and not for long, whatever it asks for and whoever
 * occupies the SMs it needs.
 */
#ifndef PATIENCE_H
#define PATIENCE_H

#include "core/state.h"
#include "tasks/task_table.h"

#define PATIENCE 64u
#define PATIENCE_SHARE 8u
#define PATIENCE_FIRST_US 1000u /* limit of a hold; doubled after each that was in vain, up to PATIENCE_LAST_US */
#define PATIENCE_LAST_US 64000u

void patience_init(void);
/** patience_joined() - @task waits for room from now on. */
void patience_joined(struct task *task);
/**
 * patience_lost() - rounds have ended, and the tasks in @failed (a mask of slots) did not fit.
 * @went: the task of the lowest priority that was placed; NULL: none was, except perhaps kernels on their arrival
 */
void patience_lost(uint32_t failed, const struct task *went);
/** patience_go_on() - hold SMs for patience_waiting. */
void patience_go_on(void);
/** patience_end() - the task for which SMs are held needs them no longer. @placed: CTAs of it were placed */
void patience_end(bool placed);
/** patience_let_go() - let the SMs go that are held, if there are any. */
void patience_let_go(void);
/** patience_check() - end a hold whose time is over or whose task may not issue. Every heartbeat leads here too. */
void patience_check(void);

/** patience_holder - the task for which SMs are held; NULL: there is none. */
extern struct task *patience_holder;
/** patience_waiting - the task for which the next visit holds SMs, because this one has no steps left; or NULL. */
extern struct task *patience_waiting;

/** patience_placed() - CTAs of @task were placed. */
static inline void patience_placed(struct task *task)
{
	task->passed = 0;
	if (unlikely(patience_holder == task))
		patience_end(true);
}

/** patience_left() - @task issues nothing more for now. */
static inline void patience_left(const struct task *task)
{
	if (unlikely(patience_holder == task))
		patience_end(false);
}

#endif

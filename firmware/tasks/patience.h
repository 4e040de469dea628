/* SPDX-License-Identifier: MIT */
/**
 * DOC: The guard against starvation (spec RES-01, CGA-05, REL-11)
 *
 * A CTA may be larger than what the end of one smaller CTA leaves, so its task could be passed over for ever. A task
 * that has found no room PATIENCE times while others were placed gets some SMs held back: of those it may use one in
 * HOLD_SHARE, at least one. Only this task and tasks of higher priority get room there. The hold ends when the task has
 * been placed or may not issue, and at the latest after a limited time; the next hold takes other SMs. Domains that
 * groups/cga.h holds for a CGA are let go after the same time. So one task keeps others off few SMs, and not for long,
 * whatever it asks for and whoever occupies the SMs it needs.
 */
#ifndef PATIENCE_H
#define PATIENCE_H

#include "tasks/task_table.h"

#define PATIENCE 64u
#define PATIENCE_SHARE 8u
#define PATIENCE_FIRST_US 1000u /* limit of a hold; doubled after each that was in vain, up to PATIENCE_LAST_US */
#define PATIENCE_LAST_US 64000u

void patience_init(void);
/**
 * patience_lost() - rounds have ended, and the tasks in @failed (a mask of slots) did not fit.
 * @went: the task of the lowest priority that was placed; NULL: none was, except perhaps kernels on their arrival
 */
void patience_lost(uint32_t failed, const struct task *went);
/** patience_placed() - CTAs of @task were placed. patience_left() - it issues nothing more for now. */
void patience_placed(struct task *task);
void patience_left(const struct task *task);
/** patience_lifts() - SMs are held, and @task may use them. */
bool patience_lifts(const struct task *task);
/** patience_check() - end a hold whose time is over or whose task may not issue. */
void patience_check(void);
/** patience_earliest() - when the present hold ends, or @at if that is earlier. */
uint64_t patience_earliest(uint64_t at);

#endif

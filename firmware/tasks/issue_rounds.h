/* SPDX-License-Identifier: MIT */
/**
 * DOC: Who issues CTAs next (spec TSK-04, TSK-06, TSK-08, TSK-09, RES-01)
 *
 * Resident tasks with CTAs to issue stand in one list for each priority level, the oldest in the table first, so
 * that the order changes only when a task comes or goes. A round takes the first level that has a task which is
 * eligible and fits, settles ties (quotas, or tie_lots.h), places CTAs of it, and starts again until nobody fits.
 * A task that is alone gets all that fits at once, tied ones a CTA at a time.
 */
#ifndef ISSUE_ROUNDS_H
#define ISSUE_ROUNDS_H

#include "tasks/task_table.h"

#define ROUNDS_LEVELS 12u /* 1 .. 10, and waves of split CTAs */
#define ROUNDS_SPLIT_LEVEL 11u

void rounds_init(void);
/** rounds_add() - a task with CTAs to issue, the youngest in the table. */
void rounds_add(struct task *task);
/** rounds_remove() - it issues nothing more, for now. */
void rounds_remove(struct task *task);
/** rounds_idle() - no task has CTAs to issue. */
bool rounds_idle(void);
/** rounds_run() - rounds until nobody who may issue fits. */
void rounds_run(void);
/**
 * rounds_victim() - the task that leaves the table for one of @level: among those of the lowest
 * level below it the youngest that has CTAs to issue. NULL: nobody.
 */
struct task *rounds_victim(unsigned level);
/** rounds_oldest() - the oldest task of @level that has CTAs to issue; its ->next is the next one. */
const struct task *rounds_oldest(unsigned level);
/** rounds_limit() - CTAs @task may issue now, whatever fits. */
uint32_t rounds_limit(const struct task *task);

#endif

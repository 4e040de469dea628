/* SPDX-License-Identifier: MIT */
/**
 * DOC: Which task issues CTAs next (spec TSK-04, TSK-06, TSK-08, TSK-09, RES-01)
 *
 * Resident tasks with CTAs to issue stand in one list for each priority level, the oldest in the table first, so that
 * the order changes only when a task comes or goes; a queue task stays there while it waits for items. A round takes the
 * first level that has a task which is eligible and fits, settles ties (by quotas, or by tie_lots.h) and places CTAs of
 * the task it chose. Rounds go on until no eligible task fits, and begin only if there are CTAs to issue (DETOUR_ISSUE).
 * A task that is alone on its level gets all that fits at once; tied tasks get one CTA at a time.
 */
#ifndef ISSUE_ROUNDS_H
#define ISSUE_ROUNDS_H

#include "tasks/task_table.h"

#define ROUNDS_LEVELS 12u /* priorities 1 .. 10, and a level for the waves of split CTAs; 0 is not used */
#define ROUNDS_SPLIT_LEVEL 11u

void rounds_init(void);
/** rounds_add() - add a task with CTAs to issue; it counts as the youngest in the table. */
void rounds_add(struct task *task);
/** rounds_remove() - take out a task that issues nothing more for now; harmless if it is not in a list. */
void rounds_remove(struct task *task);
/** rounds_level() - the list that @task belongs to. */
unsigned rounds_level(const struct task *task);
/** rounds_idle() - no task has CTAs to issue. */
bool rounds_idle(void);
/** rounds_run() - place CTAs, round by round, until no task that may issue fits. */
void rounds_run(void);
/** rounds_go_on() - go on with rounds that were cut short because a visit would have become too long (core/visit.h). */
void rounds_go_on(void);
/**
 * rounds_victim() - the task to evict for a task of priority @level.
 *
 * Return: of the tasks with the lowest priority, which must be lower than @level, the youngest that has CTAs to issue;
 * or NULL if no task may be evicted
 */
struct task *rounds_victim(unsigned level);
/** rounds_oldest() - the oldest task of @level that has CTAs to issue; its ->next is the next one. */
const struct task *rounds_oldest(unsigned level);
/** rounds_limit() - how many CTAs the rules let @task issue now, without regard to how many would fit. */
uint32_t rounds_limit(const struct task *task);

#endif

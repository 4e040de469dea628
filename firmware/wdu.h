/* SPDX-License-Identifier: MIT */
/**
 * DOC: Work distribution: who issues CTAs next (spec TSK-04, TSK-06, TSK-08, TSK-09, RES-01)
 *
 * Resident tasks with CTAs to issue stand in one ring for each priority level, the oldest
 * in the table first: the order changes only when a task comes or goes. A round takes the
 * first level that has a task which is eligible and fits, settles ties (fair.h),
 * issues, and starts again until nobody fits.
 */
#ifndef WDU_H
#define WDU_H

#include "task.h"

#define WDU_LEVELS 12u /* 1 .. 10, and waves of split CTAs */
#define WDU_SPLIT_LEVEL 11u

struct wdu {
	struct task *first[WDU_LEVELS], *last[WDU_LEVELS];
	uint32_t map;                  /* bit p: level p is not empty */
	struct task *turn[WDU_LEVELS]; /* task with a quota whose turn it is */
	struct task *drain;            /* passed over too often: nobody else gets anything */
};
extern struct wdu wdu;

void wdu_init(void);
/** wdu_add() - a task with CTAs to issue, the youngest in the table. */
void wdu_add(struct task *task);
/** wdu_remove() - it issues nothing more, for now. */
void wdu_remove(struct task *task);
/** wdu_run() - rounds until nobody who may issue fits. */
void wdu_run(void);
/**
 * wdu_victim() - the task that leaves the table for one of @level: among those of the lowest
 * level below it the youngest that has CTAs to issue. NULL: nobody.
 */
struct task *wdu_victim(unsigned level);
/** wdu_limit() - CTAs @task may issue now, whatever fits. */
uint32_t wdu_limit(const struct task *task);

#endif

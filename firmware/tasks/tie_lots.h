/* SPDX-License-Identifier: MIT */
/**
 * DOC: Fairness among tasks of one priority (spec RES-04)
 *
 * Each priority level has a mark for every queue. Of several candidates one whose queue has no mark is drawn by lot;
 * it issues, and its queue gets a mark. If all of them have marks, one is drawn among all; it keeps its mark, and the
 * other candidates' queues lose theirs. Without a seed there is no draw: the oldest task in the table issues (TSK-04).
 */
#ifndef TIE_LOTS_H
#define TIE_LOTS_H

#include "tasks/task_table.h"

void lots_init(void);
/** lots_seed() - seed the random numbers; 0 turns the draw off. */
void lots_seed(uint32_t seed);
/** lots_seeded() - is the draw on? */
bool lots_seeded(void);
/** lots_seed_now() - the seed that was set last. */
uint32_t lots_seed_now(void);
/** lots_choose() - draw one of the @n candidates @tie of @level. */
struct task *lots_choose(unsigned level, struct task **tie, unsigned n);
/** lots_went() - one of the candidates, @task, has issued: set and clear marks. */
void lots_went(unsigned level, struct task **tie, unsigned n, const struct task *task);

#endif

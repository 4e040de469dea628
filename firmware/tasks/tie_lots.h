/* SPDX-License-Identifier: MIT */
/**
 * DOC: Fairness among tasks of one priority (spec RES-04)
 *
 * Each priority has a mark for every queue. Of several candidates one whose queue has no mark is drawn by lot,
 * issues, and its queue gets a mark. If all of them have marks, one is drawn, keeps its mark, and the marks of the
 * other candidates' queues are taken away. Without a seed there is no draw: the oldest in the table goes (TSK-04).
 */
#ifndef TIE_LOTS_H
#define TIE_LOTS_H

#include "tasks/task_table.h"

void lots_init(void);
/** lots_seed() - start of the random numbers; 0 = no draw. */
void lots_seed(uint32_t seed);
bool lots_seeded(void);
/** lots_seed_now() - what was set last. */
uint32_t lots_seed_now(void);
/** lots_choose() - one of @n candidates of @level. */
struct task *lots_choose(unsigned level, struct task **tie, unsigned n);
/** lots_went() - @task of the candidates has issued: set and clear marks. */
void lots_went(unsigned level, struct task **tie, unsigned n, const struct task *task);

#endif

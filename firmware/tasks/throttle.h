/* SPDX-License-Identifier: MIT */
/**
 * DOC: Throttle mode (spec TSK-07)
 *
 * A throttle task runs while a few SMs share the shared memory of all. Switching needs an empty card: nothing is
 * issued, CTAs in flight end, SMs are told their new sizes, and then only tasks of that size are issued until none
 * of them is left in the table. While the card is being emptied child tasks go on, because CTAs in flight may wait
 * for them.
 */
#ifndef THROTTLE_H
#define THROTTLE_H

#include "tasks/task_table.h"

void throttle_init(void);
/** throttle_on() - only throttle tasks of one size run. */
bool throttle_on(void);
/** throttle_allows() - the mode does not keep @task from issuing. */
bool throttle_allows(const struct task *task);
/** throttle_admit() / throttle_leave() - a task with metadata got a slot; gives it back. */
void throttle_admit(const struct task *task);
void throttle_leave(const struct task *task);
/** throttle_empty() - no CTA is left on the card. */
void throttle_empty(void);
/** throttle_limit() - shared blocks of an SM while the task with metadata @tmd runs; 0: as usual, it is no throttle task. */
uint32_t throttle_limit(const struct tmd *tmd);
void throttle_event(const struct tutti_event *event);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Throttle mode (spec TSK-07)
 *
 * A throttle task runs on a few SMs, which share the shared memory of all SMs meanwhile. Switching needs an empty card:
 * nothing is issued until the CTAs in flight have ended and the SMs have been told their new sizes. Then only tasks of
 * that size are issued, until none of them has anything to issue or running. While the card is being emptied child tasks
 * go on, because CTAs in flight may wait for them. A throttle task whose SMs are all off, or whose work queue is empty,
 * does not begin the mode.
 */
#ifndef THROTTLE_H
#define THROTTLE_H

#include "tasks/task_table.h"

void throttle_init(void);
/** throttle_on() - the mode is on: only throttle tasks of one size run. */
bool throttle_on(void);
/** throttle_allows() - may @task issue CTAs, as far as this mode is concerned? */
bool throttle_allows(const struct task *task);
/** throttle_suits() - the mode is as @task needs it: off, or on for just its SMs. */
bool throttle_suits(const struct task *task);
/** throttle_admit() - a task with metadata has got a slot. throttle_leave() - it gives the slot back. */
void throttle_admit(const struct task *task);
void throttle_leave(const struct task *task);
/**
 * throttle_update() - begin, change or end the mode, if that is due: no CTA is left on the card, SMs were enabled or
 * disabled, or a throttle task has something to issue again.
 */
void throttle_update(void);
/** throttle_limit() - shared blocks of an SM while the task of @tmd runs, or 0 if it is no throttle task. */
uint32_t throttle_limit(const struct tmd *tmd);
/**
 * throttle_sms() - collect in @mask the SMs that throttle mode would leave to a task with metadata @tmd: as many as it wants,
 * the first that are enabled and that it may use. Return: how many there are
 */
uint32_t throttle_sms(const struct tmd *tmd, uint32_t *mask);
/** throttle_event() - handle event THROTTLE: all SMs have taken their new sizes. */
void throttle_event(const struct tutti_event *event);

#endif

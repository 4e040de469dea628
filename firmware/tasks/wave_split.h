/* SPDX-License-Identifier: MIT */
/**
 * DOC: Splitting a CTA into waves (spec RES-07)
 *
 * When nothing has fitted anywhere for a long time, the next CTA of a task whose waves need not run together is
 * launched wave by wave. The waves form a separate task, which has its own slot on the lowest level. For the
 * original task the CTA counts as one resident CTA until its last wave has ended.
 */
#ifndef WAVE_SPLIT_H
#define WAVE_SPLIT_H

#include "tasks/task_table.h"

void split_init(void);
/** split_limit() - set how many rounds must pass without a placement before a CTA is split; 0 means 256. */
void split_limit(uint32_t rounds);
/** split_limit_now() - the number of rounds that is in force. */
uint32_t split_limit_now(void);
/**
 * split_round() - rounds have ended, and the tasks in @failed (a mask of slots) did not fit. Whether others were placed
 * is seen from the counter of issued CTAs.
 * Return: a CTA has been split, so there is something new to place
 */
bool split_round(uint32_t failed);
/** split_earliest() - the time of the next look at waiting tasks, or @at if that is earlier. */
uint64_t split_earliest(uint64_t at);
/** split_due() - has the time of that look come? It is reported only once. */
bool split_due(uint64_t time);
/**
 * split_on_card() - the CTAs of @task that are on the card. One that is issued wave by wave counts as resident before its
 * waves are: these are another task.
 */
static inline uint32_t split_on_card(const struct task *task)
{
	return task->resident - !!(task->rare & TASK_SPLITTING);
}
/** split_ended() - the task @waves has ended. Return: the task they were split from if no CTA of it is left, or NULL */
struct task *split_ended(struct task *waves);
/** split_affinity() - mask of the SMs that @task, or the task whose waves it stands for, may run on; NULL: all. */
const uint32_t *split_affinity(const struct task *task);
/** split_forget() - @whole was killed and gives up its slot before its waves do, which are being killed as well. */
void split_forget(const struct task *whole);
/** split_partner() - of a task whose CTA is split, the task of the waves, and the other way round; or NULL. */
struct task *split_partner(const struct task *task);

#endif

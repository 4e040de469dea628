/* SPDX-License-Identifier: MIT */
/**
 * DOC: Splitting a CTA into waves (spec RES-07)
 *
 * When nothing has fitted anywhere for long, the next CTA of a task whose waves need not run together is launched
 * wave by wave, through a slot of its own on the lowest level. For the task it counts as one resident CTA until
 * its last wave has ended.
 */
#ifndef WAVE_SPLIT_H
#define WAVE_SPLIT_H

#include "tasks/task_table.h"

void split_init(void);
/** split_limit() - rounds without a match before a CTA is split, 0 = 256. */
void split_limit(uint32_t rounds);
uint32_t split_limit_now(void);
/**
 * split_round() - a round has been: those of @failed (mask of slots) did not fit. Who went is seen by the
 * counters. Return: a CTA has been split, there is something new to place.
 */
bool split_round(uint32_t failed);
/** split_earliest() - @at or the time of the next look at who waits, what is earlier. split_due(): it has come. */
uint64_t split_earliest(uint64_t at);
bool split_due(uint64_t time);
/** split_ended() - the waves are done. Return: the task they belong to if no CTA of it is left, or NULL. */
struct task *split_ended(struct task *waves);
/** split_partner() - the other one of a pair, NULL: there is none. */
struct task *split_partner(const struct task *task);

#endif

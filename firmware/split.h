/* SPDX-License-Identifier: MIT */
/**
 * DOC: Splitting a CTA into waves (spec RES-07)
 *
 * When nothing has fitted anywhere for long, the next CTA of a task whose waves need not run
 * together is launched wave by wave, through a slot of its own of the lowest level. For
 * the task it counts as one resident CTA until the last wave has ended.
 */
#ifndef SPLIT_H
#define SPLIT_H

#include "task.h"

void split_init(void);
/** split_limit() - rounds without a match before a CTA is split, 0 = 256. */
void split_limit(uint32_t rounds);
/** split_round() - a round has been: @any went, those of @failed (mask of slots) did not fit. */
void split_round(bool any, uint32_t failed);
/** split_ended() - the waves are done. Return: the task they belong to if no CTA of it is left, or NULL. */
struct task *split_ended(struct task *waves);
/** split_partner() - the other one of a pair, NULL: there is none. */
struct task *split_partner(const struct task *task);

#endif

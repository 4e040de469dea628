/* SPDX-License-Identifier: MIT */
/**
 * DOC: Choosing among matching SMs by a score (spec RES-13 .. RES-15)
 *
 * Water filling (water_fill.h) prefers the SMs with most free slots. The other policies prefer those with the highest
 * score, which is computed from the table of SM states: the weighted remaining resources, less the power spent lately,
 * or a combination of both. A CTA goes to the SM with the highest score, ties by position, and lowers that score by the
 * weight of its resources. So placing n CTAs is water filling again, with scores instead of free slots as depths.
 */
#ifndef SM_SCORE_H
#define SM_SCORE_H

#include "place/cta_shape.h"

/** score_init() - set the default weights and window. */
void score_init(void);
/** score_limit() - shapes.shared_blocks has changed, and with it the score of an idle SM. */
void score_limit(void);
/** score_policy() - set TUTTI_POLICY_CHOICE, the weights or the window. Return: 0 or -TUTTI_E* */
int score_policy(uint32_t policy, uint32_t value);
/** score_ask() - read a policy; @which: resource or class. Return: false if there is no such policy or part */
bool score_ask(uint32_t policy, uint32_t which, uint32_t *value);
/** score_window() - log2 of the window of recent instructions, in timer ticks. */
uint32_t score_window(void);
/**
 * score_pour() - place @n CTAs on the SMs of @lake by score; otherwise like lake_pour(), but @lake stays as it is.
 * Nothing is placed while the table is not up to date; the task is looked at again when it is.
 */
uint32_t score_pour(const struct shape *shape, const struct lake *lake, uint32_t n, uint32_t *out, uint32_t **end);

#endif

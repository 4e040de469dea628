/* SPDX-License-Identifier: MIT */
/**
 * DOC: Which of the matching SMs (spec RES-13 .. RES-15)
 *
 * Water filling (water_fill.h) goes by free slots. The other policies go by a score that is read from the table of
 * SM states: weighted remaining resources, less the power spent lately, or both. A CTA goes to the SM with the
 * highest score, ties by position, and takes from the score what its resources weigh; so placing n CTAs is water
 * filling once more, with scores for depths.
 */
#ifndef SM_SCORE_H
#define SM_SCORE_H

#include "place/cta_shape.h"

void score_init(void);
/** score_policy() - TUTTI_POLICY_CHOICE, weights, window. Return: 0 or -TUTTI_E*. */
int score_policy(uint32_t policy, uint32_t value);
/** score_ask() - what is set; @which: resource or class. Return: false: no such policy or part. */
bool score_ask(uint32_t policy, uint32_t which, uint32_t *value);
/** score_window() - log2 of the window of recent instructions. */
uint32_t score_window(void);
/**
 * score_pour() - place @n CTAs on the SMs of @lake by score; otherwise like lake_pour(), but @lake stays as it is.
 * Nothing is placed while the table is not true: the task is looked at again when it is.
 */
uint32_t score_pour(const struct shape *shape, const struct lake *lake, uint32_t n, uint32_t *out, uint32_t **end);

#endif

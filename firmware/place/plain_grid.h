/* SPDX-License-Identifier: MIT */
/**
 * DOC: Placing CTAs of one task: from a lake to a LAUNCH command
 *
 * The seam between tasks and lakes. A new task gets what fits at once (CGA-13); with CTAs
 * left it joins the rounds of rounds.h. What limits a task - an affinity mask, other shapes on
 * the card - makes a lake for the occasion.
 */
#ifndef PLAIN_GRID_H
#define PLAIN_GRID_H

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "tasks/task_table.h"

#define PLACE_FEW 4u
#define PLACE_ROOM (place_state.message_words + 128u) /* what is asked of command_room() before one */
#define PLACE_NEW_WORDS (2u + LAKE_FLAT_WORDS) /* room place_new() asks for */

void place_init(void);
/** place_task() - place what fits now; with CTAs left it joins the rounds. @command: its STATE or TASK */
void place_task(struct task *task, const uint32_t *command);
/** place_some() - place up to @n CTAs. Return: CTAs placed. */
uint32_t place_some(struct task *task, uint32_t n);
/**
 * place_new() - place_task() for a new task, at best by straight code without a call.
 * @command: its STATE or TASK, that ends at @end; PLACE_NEW_WORDS behind it are contiguous
 * @shape, @n: its shape and its CTAs; @unissued is 0 yet, as in a free slot
 */
void place_new(struct task *task, const uint32_t *command, uint32_t *end, struct shape *shape, uint32_t n);

#endif

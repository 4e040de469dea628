/* SPDX-License-Identifier: MIT */
/**
 * DOC: Placing CTAs of one task: from a lake to a LAUNCH command
 *
 * What limits a task - an affinity mask, other shapes on the card - makes a lake for the occasion. Who is placed,
 * and what becomes of a task that still has CTAs, is decided in tasks/.
 */
#ifndef PLAIN_GRID_H
#define PLAIN_GRID_H

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/task_record.h"
#include "place/cta_shape.h"

#define PLACE_FEW 4u
#define PLACE_OTHERS 128u /* words of what goes with a placement: STATE, fetches, a work queue's read index */
#define PLACE_ROOM (place_state.message_words + PLACE_OTHERS) /* what is asked of command_room() before one */
#define PLACE_ITEM_WORDS 3u /* of a LAUNCH with work items, before its segments */
_Static_assert(COMMAND_ASK(1 + LAKE_MESSAGE(LAKE_WORDS) + PLACE_OTHERS) <= COMMAND_WORDS,
	       "an empty ring has room for the largest placement and for all that may be owed");

/** place_room() - command_room(PLACE_ROOM). */
static inline bool place_room(void)
{
	return command_free() >= place_state.free_words;
}

void place_init(void);
/** place_now() - place what fits of the CTAs of a new task. Return: CTAs left */
uint32_t place_now(struct task *task);
/**
 * place_some() - place up to @n CTAs.
 * @mask: SMs the task may run on, NULL: all
 * @items: PLACE_ITEM_WORDS words for the LAUNCH of a queue task, NULL: it is none
 * Return: CTAs placed
 */
uint32_t place_some(struct task *task, uint32_t n, const uint32_t *mask, const uint32_t *items);

#endif

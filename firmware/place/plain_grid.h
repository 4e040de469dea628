/* SPDX-License-Identifier: MIT */
/**
 * DOC: Placing the CTAs of one task: from a lake to a LAUNCH command
 *
 * If an affinity mask or CTAs of other shapes limit a task, a lake is computed for this placement. Which task is
 * placed next, and what becomes of one that still has CTAs to place, is decided in tasks/.
 */
#ifndef PLAIN_GRID_H
#define PLAIN_GRID_H

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/task_record.h"
#include "place/cta_shape.h"

#define PLACE_FEW 4u
#define PLACE_OTHERS 128u /* words for what may go with a placement: STATE, fetches, a work queue's read index */
#define PLACE_ROOM (place_state.message_words + PLACE_OTHERS) /* words to ask command_room() for before a placement */
#define PLACE_ITEM_WORDS 3u /* words before the segments in a LAUNCH with work items */
_Static_assert(COMMAND_ASK(1 + LAKE_MESSAGE(LAKE_WORDS) + PLACE_OTHERS) <= COMMAND_WORDS,
	       "an empty ring has room for the largest placement and for all that may be owed");

/** place_room() - the same as command_room(PLACE_ROOM), but it hardly ever has to look how far the engines are. */
static inline bool place_room(void)
{
	return likely(command_ring.next <= command_ring.limit) || command_renew();
}

/** place_init() - set the defaults of all placement policies. */
void place_init(void);
/** place_now() - place as many CTAs of a new task as fit. Return: CTAs left */
uint32_t place_now(struct task *task);
/**
 * place_some() - place up to @n CTAs.
 * @mask: SMs the task may run on; NULL: all
 * @items: PLACE_ITEM_WORDS words for the LAUNCH of a queue task; NULL: the task is not one
 * Return: CTAs placed
 */
uint32_t place_some(struct task *task, uint32_t n, const uint32_t *mask, const uint32_t *items);

#endif

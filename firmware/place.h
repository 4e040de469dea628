/* SPDX-License-Identifier: MIT */
/**
 * DOC: Placing CTAs of one task: from a lake to a LAUNCH command
 *
 * The seam between tasks and lakes. A new task gets what fits at once (CGA-13); with CTAs
 * left it joins the rounds of wdu.h. What limits a task - an affinity mask, other shapes on
 * the card - makes a lake for the occasion.
 */
#ifndef PLACE_H
#define PLACE_H

#include "command.h"
#include "counter.h"
#include "task.h"

/* struct place_state.busy: not 0 = a completion is looked at by more than its own task. */
#define BUSY_ISSUE 1u    /* tasks have CTAs to issue */
#define BUSY_PENDING 2u  /* tasks wait for a slot */
#define BUSY_THROTTLE 4u /* throttle mode, or on the way to it or back */
#define BUSY_BESIDE 8u   /* what is free beside other shapes is kept (beside.h) */

/* struct place_state.hold: not 0 = nothing is placed but by the rounds. */
#define HOLD_DRAIN 1u
#define HOLD_THROTTLE 2u

/** struct place_state - policies, and what keeps kernels from the short way. */
struct place_state {
	uint32_t busy;          /* BUSY_* */
	union {
		struct {
			uint8_t round_robin; /* TUTTI_POLICY_ISSUE */
			uint8_t hold;        /* HOLD_* */
		};
		uint32_t odd;           /* not 0: no short way */
	};
	uint32_t round_next;    /* position after the last that received a CTA */
	uint32_t message_words; /* room a placement may need */
	bool blocked;           /* the rounds wait for room in the command ring */
};
extern struct place_state place_state;

#define PLACE_FEW 4u
#define PLACE_FLAT_WORDS (2u + LAKE_FLAT_WORDS) /* room place_flat() asks for */

void place_init(void);
/** place_task() - place what fits now; with CTAs left it joins the rounds. @command: its STATE or TASK */
void place_task(struct task *task, const uint32_t *command);
/** place_some() - place up to @n CTAs. Return: CTAs placed. */
uint32_t place_some(struct task *task, uint32_t n);
/* The lake of @shape is the truth and CTAs go where it says. */
static inline bool place_plain(const struct shape *shape)
{
	return likely(!((shapes.residents ^ shape->residents) | shapes.special | place_state.odd));
}

/* All @n CTAs of a new task are placed, by the LAUNCH of @words words at @p. */
static inline void place_done(struct task *task, uint32_t n, uint32_t *p, uint32_t words)
{
	struct shape *shape = task->shape;

	p[0] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, words, task->slot);
	command_end(p + words);
	task->unissued = 0;
	task->resident = n;
	shape->residents += n;
	shapes.residents += n;
	counters.ctas_issued += n;
	counters.placements++;
}

/**
 * place_few() - place_task() for a new task of a few CTAs on a card that is not full.
 * @p: end of its STATE command; three words behind it are contiguous
 * Return: false (nothing done): call place_task()
 */
static inline bool place_few(struct task *task, uint32_t *p)
{
	uint32_t n = task->unissued;

	if (unlikely(n > PLACE_FEW) || unlikely(!place_plain(task->shape)) ||
	    unlikely(!lake_pour_few(&task->shape->lake, n, p + 1)))
		return false;
	place_done(task, n, p, 3);
	return true;
}

/** place_flat() - the same for one that takes whole rows of a flat lake; needs PLACE_FLAT_WORDS. */
static inline bool place_flat(struct task *task, uint32_t *p)
{
	uint32_t n = task->unissued;

	if (unlikely(!place_plain(task->shape)) || !lake_pour_flat(&task->shape->lake, n, p + 1))
		return false;
	place_done(task, n, p, 2 + task->shape->lake.words);
	return true;
}

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: What fits on an SM according to its state in the table (spec RES-01, RES-03, RES-12)
 *
 * For CTAs of one shape, the lake of the shape counts what fits. With several shapes, counting does not tell where the
 * free blocks lie. That is read from the table of SM states, which the hardware writes: one part for each PEU, and one
 * that the PEUs of an SM share. The table is up to date when the engines have taken the last LAUNCH. Until then there
 * is no answer, and mixed_shapes.c uses a lower bound.
 */
#ifndef SM_MATCH_H
#define SM_MATCH_H

#include "place/cta_shape.h"

/** struct match_state - policies, and when the table is up to date. */
struct match_state {
	uint32_t search;   /* TUTTI_SEARCH_* */
	uint32_t rotate;   /* waves of a CTA go to the PEUs in rotation (RES-12) */
	uint32_t on;       /* the SMs write the table */
	uint32_t asked;    /* whether the table was asked for since the last match_beat() */
	uint32_t launches; /* the ring index at or after the end of the last LAUNCH known */
	uint32_t issued;   /* counters.ctas_issued when @launches was noted */
	uint32_t waiting;  /* a fetch is under way that completes after the commands before it */
	uint32_t sink;     /* where that fetch writes; nobody reads it */
	bool together;     /* the scalar and the vector map of a PEU fit one pass of the time-shared engine */
};
extern struct match_state match;

/** match_init() - set the defaults; the table is off. */
void match_init(void);
/** match_mode() - tell the SMs how to split waves, how long a window scores cover, and whether to write the table. */
void match_mode(bool on);
/** match_ask() - switch the table on if it is off. Return: whether it is up to date now */
bool match_ask(void);
/** match_wait() - what fits was not known exactly: tasks without room are looked at again when it can be. */
void match_wait(void);
/** match_event() - the fetch of match_wait() is complete. */
void match_event(void);
/** match_beat() - call it now and then: it switches the table off if nobody has asked for it since the last call. */
void match_beat(void);
/** match_room() - how many CTAs of a shape the resources of the SM at @position have room for now. */
uint32_t match_room(uint32_t registers, uint32_t shared, uint32_t waves, unsigned position);
/** match_policy() - set TUTTI_POLICY_SEARCH or TUTTI_POLICY_SPLIT. Return: 0 or -TUTTI_E* */
int match_policy(uint32_t policy, uint32_t value);
/** match_exact() - whether a policy wants every match to be read from the table. */
static inline bool match_exact(void)
{
	return match.search | match.rotate;
}

#endif

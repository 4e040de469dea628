/* SPDX-License-Identifier: MIT */
/**
 * DOC: What fits where, asked of the SMs themselves (spec RES-01, RES-03, RES-12)
 *
 * CTAs of one shape are counted by their lake. With several shapes, counting leaves open where the free blocks
 * lie; that is read from the table of SM states: each PEU's part first, then the part its PEUs share. The table is
 * true when the engines have taken the last LAUNCH. Until then there is no answer, and the bound of mixed_shapes.c
 * has to do.
 */
#ifndef SM_MATCH_H
#define SM_MATCH_H

#include "place/cta_shape.h"

/** struct match_state - policies, and from when on the table is true. */
struct match_state {
	uint32_t search;   /* TUTTI_SEARCH_* */
	uint32_t rotate;   /* waves are split by rotation (RES-12) */
	uint32_t on;       /* the SMs keep the table current */
	uint32_t asked;    /* since the last beat */
	uint32_t launches; /* command_tail() behind the last LAUNCH known, or later */
	uint32_t issued;   /* counters.ctas_issued when that was noted */
	uint32_t waiting;  /* a mark is on its way that says that commands have been taken */
	uint32_t sink;
	bool together;     /* scalar and vector map share a pass of the time-shared engine */
};
extern struct match_state match;

/** match_init() - defaults; the table is off. */
void match_init(void);
/** match_mode() - tell the SMs how to split waves, what to keep of the past, and whether to keep the table. */
void match_mode(bool on);
/** match_ask() - switch the table on if it is off. Return: it is true now. */
bool match_ask(void);
/** match_wait() - what fits was not known exactly: hungry tasks are looked at again when it can be. */
void match_wait(void);
/** match_event() - the mark of match_wait() has come. */
void match_event(void);
/** match_beat() - now and then: a table that nobody has asked for is switched off. */
void match_beat(void);
/** match_room() - CTAs of a shape that the SM at @position takes now, resources alone. */
uint32_t match_room(uint32_t registers, uint32_t shared, uint32_t waves, unsigned position);
/** match_policy() - TUTTI_POLICY_SEARCH and _SPLIT. Return: 0 or -TUTTI_E*. */
int match_policy(uint32_t policy, uint32_t value);
/** match_exact() - a policy wants every match to be read from the table. */
static inline bool match_exact(void)
{
	return match.search | match.rotate;
}

#endif

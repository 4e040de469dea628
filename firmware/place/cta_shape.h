/* SPDX-License-Identifier: MIT */
/**
 * DOC: Shapes of CTAs and what is free for them
 *
 * A shape is what one CTA takes of an SM: registers, shared memory, barriers, waves. Each shape in use has a lake
 * (water_fill.h) that counts as if its CTAs were alone on the card: capacity less its own residents. So a launch
 * or a completion touches one lake only. While CTAs of several shapes are resident, a placement works on a lake
 * that is made from all of them (mixed_shapes.h), by groups of SMs that hold the same; where counting does not say
 * what fits, the SMs are asked (sm_match.h).
 */
#ifndef CTA_SHAPE_H
#define CTA_SHAPE_H

#include "core/state.h"
#include "place/water_fill.h"

struct shape {
	/* key */
	uint32_t registers;  /* class-1 scalar blocks | vector blocks << 16, of one wave */
	uint32_t shared;     /* shared blocks | barriers << 16, of one CTA */
	uint32_t waves;
	/* state */
	uint32_t capacity;   /* CTAs an idle SM takes, 0 = never fits */
	uint32_t tasks;      /* that refer to it; 0 = may be replaced */
	uint32_t residents;  /* CTAs on the card */
	uint32_t used;       /* for replacement: when it was last asked for */
	uint32_t id;         /* of the key: no other shape ever has it; SHAPE_NO_ID: they have run out */
	struct lake lake;
};

#define SHAPE_NO_ID 0xffffffffu

/** struct shape_state - the whole card. */
struct shape_state {
	uint32_t residents;  /* CTAs of all shapes */
	uint32_t cap;        /* most CTAs on an SM */
	uint32_t shared_blocks; /* of an SM now; more in throttle mode */
	uint32_t next_cap;   /* takes effect when the card is empty */
	uint32_t grouped_ctas; /* residents that are part of a CGA with an identity */
	uint32_t changes;      /* of enable table and cap */
	uint32_t clock;
	uint32_t ids;        /* given out so far */
	uint32_t shapes;     /* in use */
	uint32_t sm_mode;    /* TUTTI_SM_*, what the SMs have been told */
	uint32_t enabled[LAKE_WORDS];  /* SMs (positions) that get CTAs */
	uint32_t included[LAKE_WORDS]; /* SMs in the lakes */
	uint32_t limit[LAKE_WORDS];    /* no other SM may be: all, or those of throttle mode */
	/*
	 * SMs that have held CTAs of several shapes since they were empty: their free
	 * blocks may lie in pieces, so what fits cannot always be counted (sm_match.h).
	 */
	uint32_t tainted[LAKE_WORDS];
	uint32_t held[LAKE_WORDS]; /* SMs that take no new work: a CGA waits for them */
	struct shape shape[FW_SHAPES];
	struct lake mixed;
};
extern struct shape_state shapes;
extern struct shape *shape_last; /* found last time */

void shape_init(void);
/** shape_find() - the shape with this key; NULL: all shapes are in use, try again later. */
struct shape *shape_find(uint32_t registers, uint32_t shared, uint32_t waves);
/** shape_get() - shape_find(), quick when the last kernel was of the same shape. */
static inline struct shape *shape_get(uint32_t registers, uint32_t shared, uint32_t waves)
{
	struct shape *s = shape_last;

	if (likely(s->registers == registers && s->shared == shared && s->waves == waves))
		return s;
	return shape_find(registers, shared, waves);
}
/** shape_capacity() - CTAs of a shape that an idle SM takes. */
uint32_t shape_capacity(uint32_t registers, uint32_t shared, uint32_t waves);
/** shape_capacity_with() - the same, of an SM with @shared_blocks of shared memory. */
uint32_t shape_capacity_with(uint32_t registers, uint32_t shared, uint32_t waves, uint32_t shared_blocks);
/** shape_alone() - only CTAs of @shape are resident and nothing is pending: its own lake is the truth. */
static inline bool shape_alone(const struct shape *shape)
{
	return !((shapes.residents ^ shape->residents) | (place_state.detours & DETOUR_LAKES));
}
/** shape_truth() - the same, but for CGAs that the lake may not know of. */
static inline bool shape_truth(const struct shape *shape)
{
	return !((shapes.residents ^ shape->residents) | (place_state.detours & (DETOUR_SHAPES | DETOUR_TAINTED | DETOUR_HOLDING)));
}
/** gpc_rows_lead() - CGAs of one shape are all that is resident, and the rows of gpc_slots.h know more than its lake. */
static inline bool gpc_rows_lead(void)
{
	return place_state.detours & DETOUR_ROWS_LEAD;
}
/** shape_mixed() - lake of what is free for @shape beside all others (mixed_shapes.h). */
struct lake *shape_mixed(struct shape *shape);
/** shape_masked() - @from cut down to the SMs of @mask, as a lake for one placement. */
struct lake *shape_masked(const struct lake *from, const uint32_t *mask);
/** shape_limit() - the card is empty: only SMs of @mask get CTAs from now on, with @blocks of shared memory each. */
void shape_limit(const uint32_t *mask, uint32_t blocks);
/**
 * shape_placed() - account launch segments that were not placed in the shape's own lake.
 * shape_poured(): they were poured out of @from, which knows it
 */
void shape_placed(struct shape *shape, const uint32_t *segments, const uint32_t *end);
void shape_poured(struct shape *shape, const struct lake *from, const uint32_t *segments, const uint32_t *end);
/** shape_empty() - the card has become empty: nothing is tainted, pending changes take effect. */
void shape_empty(void);
/** shape_enable() - SM at @position gets CTAs from now on, or no longer. */
void shape_enable(unsigned position, bool enable);
/** shape_hold() - SMs @mask take no new work; NULL: all do again. */
void shape_hold(const uint32_t *mask);
/** shape_hold_lift() - placements that follow may use them all the same. */
void shape_hold_lift(bool lift);
/** shape_exact() - a policy wants every placement to ask the SMs (sm_match.h), or no longer. */
void shape_exact(bool exact);
bool shape_is_exact(void);
/** shape_cap() - most CTAs on one SM, 0 = what fits. */
void shape_cap(uint32_t cap);

#endif

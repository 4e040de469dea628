/* SPDX-License-Identifier: MIT */
/**
 * DOC: Shapes of CTAs and what is free for them
 *
 * A shape is what one CTA needs of an SM: registers, shared memory, barriers and waves. Each shape in use has a lake
 * (water_fill.h) that counts free slots as if the CTAs of this shape were alone on the card: capacity less its own
 * residents. So a launch or a completion updates one lake only. While CTAs of several shapes are resident, a placement
 * uses a lake that is computed from all of them (mixed_shapes.h), once for each group of SMs that hold the same CTAs.
 * Where counting does not tell what fits, the table of SM states is read (sm_match.h).
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
	uint32_t match;      /* @waves, or 0 while the shape is closed (shape_line.h) */
	/* state */
	uint32_t capacity;   /* CTAs of it that fit an idle SM; 0: it never fits */
	uint32_t tasks;      /* tasks that refer to it; without any it may be replaced */
	uint32_t residents;  /* its CTAs on the card */
	uint32_t used;       /* value of shapes.clock when it was last looked up, for replacement */
	uint32_t id;         /* never used for another key; SHAPE_NO_ID once the numbers have run out */
	struct lake lake;
};

#define SHAPE_NO_ID 0xffffffffu

/** struct shape_state - all shapes, and what limits placement on the whole card. */
struct shape_state {
	uint32_t cap;        /* largest number of CTAs on one SM */
	uint32_t shared_blocks; /* shared memory of an SM now; more in throttle mode */
	uint32_t next_cap;   /* becomes @cap when the card is empty */
	uint32_t grouped_ctas; /* residents that are part of a CGA with an identity */
	uint32_t changes;      /* of the set of enabled SMs and the cap: counted so that caches notice */
	uint32_t clock;        /* counts lookups, for replacement */
	uint32_t ids;        /* ids given out so far */
	uint32_t shapes;     /* entries of @shape in use */
	uint32_t sm_mode;    /* the last SM_MODE command: TUTTI_SM_*, and the window from bit 8 on */
	uint32_t enabled[LAKE_WORDS];  /* SMs, by position, that may get CTAs */
	uint32_t included[LAKE_WORDS]; /* SMs in the lakes */
	uint32_t limit[LAKE_WORDS];    /* SMs that may be included: all of them, or those of throttle mode */
	/*
	 * SMs that have held CTAs of several shapes since they were last empty. Their free
	 * blocks may be fragmented, so counting cannot always tell what fits (sm_match.h).
	 */
	uint32_t tainted[LAKE_WORDS];
	uint32_t held[LAKE_WORDS]; /* SMs that take no new work, because a CGA waits for them */
	struct shape shape[FW_SHAPES];
	struct lake mixed; /* for one placement: of shape_mixed() or shape_masked() */
};
extern struct shape_state shapes;
extern struct shape *shape_last; /* what shape_find() returned last */

void shape_init(void);
/** shape_find() - the shape with this key. Return: NULL if all shapes are in use; try again later */
struct shape *shape_find(uint32_t registers, uint32_t shared, uint32_t waves);
/** shape_new_id() - the id of a shape that is new, or is to be taken for a new one. */
uint32_t shape_new_id(void);
/** shape_left() - shape_find() would find an entry for any shape. */
bool shape_left(void);
/** shape_is_last() - whether the last kernel had this shape. */
static inline bool shape_is_last(uint32_t registers, uint32_t shared, uint32_t waves)
{
	const struct shape *s = shape_last;

	return s->registers == registers && s->shared == shared && s->match == waves;
}
/** shape_get() - like shape_find(), but quick when the last kernel had the same shape. */
static inline struct shape *shape_get(uint32_t registers, uint32_t shared, uint32_t waves)
{
	return likely(shape_is_last(registers, shared, waves)) ? shape_last : shape_find(registers, shared, waves);
}
/** shape_capacity() - how many CTAs of a shape fit an idle SM. */
uint32_t shape_capacity(uint32_t registers, uint32_t shared, uint32_t waves);
/** shape_capacity_known() - the same, but quick if the last kernel had this shape. */
static inline uint32_t shape_capacity_known(uint32_t registers, uint32_t shared, uint32_t waves)
{
	return likely(shape_is_last(registers, shared, waves)) ? shape_last->capacity : shape_capacity(registers, shared, waves);
}
/** shape_capacity_with() - the same for an SM with @shared_blocks of shared memory. */
uint32_t shape_capacity_with(uint32_t registers, uint32_t shared, uint32_t waves, uint32_t shared_blocks);
/** shape_alone() - only CTAs of @shape are resident and no change is pending, so its own lake is exact. */
static inline bool shape_alone(const struct shape *shape)
{
	return !((place_state.residents ^ shape->residents) | (place_state.detours & DETOUR_LAKES));
}
/** shape_truth() - like shape_alone(), except that the lake may not yet count CGAs (see gpc_rows_lead()). */
static inline bool shape_truth(const struct shape *shape)
{
	return !((place_state.residents ^ shape->residents) | (place_state.detours & (DETOUR_SHAPES | DETOUR_TAINTED | DETOUR_HOLDING)));
}
/** gpc_rows_lead() - only CGAs of one shape are resident, and the rows of gpc_slots.h are ahead of its lake. */
static inline bool gpc_rows_lead(void)
{
	return place_state.detours & DETOUR_ROWS_LEAD;
}
/**
 * shape_ended() - give back the free slots of the CTAs that @event tells of, which are all of one task.
 *
 * Only for events to which lake_raises() has agreed, while the lake of @shape alone decides where CTAs go.
 */
static inline void shape_ended(struct shape *shape, const struct tutti_event *event)
{
	struct lake_row *row = shape->lake.top;
	uint32_t n = event->word[2];

	lake_raise_top(row, lake_at(row, event->word[0] >> 14 & 0x3fc), event->word[3], n);
	shape->residents -= n;
	place_state.residents -= n;
}
/**
 * shape_mixed() - the free slots for @shape, given the CTAs of all shapes that are resident (mixed_shapes.h).
 * Return: NULL if that takes more time than this visit has left; visit_cut() has been called then
 */
struct lake *shape_mixed(struct shape *shape);
/** shape_masked() - a copy of @from for one placement, reduced to the SMs of @mask. */
struct lake *shape_masked(const struct lake *from, const uint32_t *mask);
/**
 * shape_limit() - from now on only SMs of @mask get CTAs, with @blocks of shared memory each.
 * The card must be empty.
 */
void shape_limit(const uint32_t *mask, uint32_t blocks);
/**
 * shape_poured() - account for the launch segments of a placement, in the shape's own lake and in mixed_shapes.h.
 * @from: the lake that they were taken from, which already counts them; NULL: none
 */
void shape_poured(struct shape *shape, const struct lake *from, const uint32_t *segments, const uint32_t *end);
/** union placed - the CTAs that a placement gives to each SM; plane p has the SMs whose number of CTAs has bit p set. */
#define PLACED_PLANES 6u /* there are at most LAKE_LEVELS */
extern union placed {
	uint8_t ctas[FW_MAX_SMS];
	uint32_t plane[PLACED_PLANES][LAKE_WORDS];
} placed;
/*
 * The same step by step: placed_begin(), placed_add() for @repeat CTAs on each of SMs @mask of word @word, as often as need
 * be, and placed_end().
 */
void placed_begin(void);
void placed_add(uint32_t word, uint32_t mask, uint32_t repeat);
void placed_end(struct shape *shape, const struct lake *from);
/** shape_empty() - call it when the card has become empty: no SM is tainted any more, pending changes take effect. */
void shape_empty(void);
/** shape_enable() - from now on the SMs @sms, a mask by position, get CTAs, or get none. Then call shape_enabled(). */
void shape_enable(const uint32_t *sms, bool enable);
static inline void shape_enabled(void)
{
	if (!place_state.residents)
		shape_empty();
}
/** shape_hold() - keep new work off the SMs of @mask; NULL ends that. */
void shape_hold(const uint32_t *mask);
/** shape_hold_lift() - let the next placements use held SMs all the same, or no longer. */
void shape_hold_lift(bool lift);
/** shape_exact() - a policy wants every placement to read the table of SM states (sm_match.h), or no longer. */
void shape_exact(bool exact);
bool shape_is_exact(void);
/** shape_cap() - limit the CTAs on one SM to @cap; 0: as many as fit. */
void shape_cap(uint32_t cap);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Free slots for a shape while CTAs of other shapes are resident (spec RES-01, PERF-04)
 *
 * They are computed from the lakes of all shapes, once for each group of SMs that hold the same CTAs. Where counting
 * does not tell what fits, the table of SM states is read (sm_match.h), which is expensive. So the result is kept for a
 * few shapes, with a mask of the SMs that have changed since, and only these are looked at again. Whoever places CTAs or
 * takes the event of their end tells this unit while DETOUR_BESIDE is set, groups of CTAs and CTAs that are alone on the
 * card included: where many SMs have to be looked at that takes several visits (visit.h), and whoever forgot the result
 * meanwhile would have them begin again and again. A kept result also notes how many CTAs were ever issued and how many
 * are resident, and is used only while these numbers are still the same.
 */
#ifndef MIXED_SHAPES_H
#define MIXED_SHAPES_H

#include "place/cta_shape.h"

#define BESIDES (FW_LARGE ? 1u : FW_SHAPES)

/** struct mixture - a kept result: the free slots for one shape, given the CTAs of all shapes. */
struct mixture {
	const struct shape *shape;  /* NULL: the entry is unused */
	uint32_t issued;            /* counters.ctas_issued and place_state.residents up to which it is complete */
	uint32_t residents;
	uint32_t changes;           /* shapes.changes when it was computed */
	uint32_t used;              /* when it was last asked for */
	uint32_t dirty[LAKE_WORDS]; /* SMs that have to be looked at again */
	uint32_t bound[LAKE_WORDS]; /* SMs of which only a lower bound is known until the table is up to date */
	bool unsure;                /* there are any of them */
	struct lake lake;
};

void mixed_init(void);
/** mixed_completed() - CTAs in @event have ended. Call it before they are subtracted from the residents. */
void mixed_completed(const struct tutti_event *event);
/** mixed_ended() - @ctas CTAs have ended. Call it before they are subtracted from the residents. */
void mixed_ended(uint32_t ctas);
/** mixed_changed() - what SMs @mask of word @word hold has changed. */
void mixed_changed(uint32_t word, uint32_t mask);
/** mixed_replaced() - @shape has got another key. */
void mixed_replaced(const struct shape *shape);
/** mixed_forget() - forget all results, because the card is empty, none is complete or another search would find others. */
void mixed_forget(void);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: What is free for a shape beside CTAs of others (spec RES-01, PERF-04)
 *
 * Made by groups of SMs that hold the same, from the lakes of all shapes; where counting does not say what fits,
 * the SMs are asked (sm_match.h), which is expensive. So the result is kept for a few shapes, with a mask of the
 * SMs that have changed since, and only these are looked at again. The numbers of CTAs that were ever issued and
 * that are resident say whether it is complete: whoever places or ends some without telling this unit makes it
 * void.
 */
#ifndef MIXED_SHAPES_H
#define MIXED_SHAPES_H

#include "place/cta_shape.h"

#define BESIDES (FW_LARGE ? 1u : 2u)

/** struct mixture - free slots for one shape beside all others. */
struct mixture {
	const struct shape *shape;  /* NULL: none */
	uint32_t issued;            /* counters.ctas_issued and shapes.residents that it knows of */
	uint32_t residents;
	uint32_t changes;           /* shapes.changes */
	uint32_t used;
	uint32_t dirty[LAKE_WORDS]; /* SMs to be looked at again */
	struct lake lake;
};

void mixed_init(void);
/** mixed_completed() - CTAs in @event have ended; before the numbers of residents know it. */
void mixed_completed(const struct tutti_event *event);
/** mixed_replaced() - @shape is another one now. */
void mixed_replaced(const struct shape *shape);
/** mixed_forget() - the card is empty: nothing is beside anything. */
void mixed_forget(void);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: How long a visit may last (spec REL-11)
 *
 * A visit is what the firmware does for one event. Searches for room on the card can take far longer than everything
 * else, so they count their steps, and stop when a visit has used them up. Whoever stops keeps what it has found,
 * calls visit_cut(), and goes on in a later visit, after the events that have come meanwhile. Queues that
 * are ready wait for it as well.
 */
#ifndef VISIT_H
#define VISIT_H

#include "core/command_ring.h"
#include "core/state.h"

/* Steps of a visit. A step is about four instructions. Large cards have more SMs to look at. */
#define VISIT_STEPS (FW_MAX_SMS > TUTTI_SMALL_CARD_SMS && fw.sms > TUTTI_SMALL_CARD_SMS ? 16000 : 2000)

void visit_init(void);
/** visit_goes_on() - count @steps. Return: whether there are any left in this visit */
bool visit_goes_on(uint32_t steps);
/** visit_has() - there are @steps left in this visit. */
bool visit_has(uint32_t steps);
/** visit_late() - the visit has no steps left: whoever has done a part of its work leaves the rest to the next one. */
bool visit_late(void);
/** visit_cut() - this visit is over, and issue rounds go on in another one; until then no kernel starts before them. */
void visit_cut(void);

#endif

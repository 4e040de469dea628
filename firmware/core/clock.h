/* SPDX-License-Identifier: MIT */
/**
 * DOC: The card's clock and its one hardware timer
 *
 * A unit that waits for a time passes it to clock_at(). The heartbeat (top/heartbeat.h) takes the timer's event,
 * calls every unit that may be due, and sets the timer to the earliest time that is left. So clock_at() need not know
 * whether the timer has fired.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include "core/hal.h"

uint32_t clock_ticks_per_us(void);
/**
 * clock_now() - the time in ticks, at most as old as the newest event.
 *
 * The hardware may change the pair between the two reads. If the high word is the same before and after the low one was
 * read, they belong together.
 */
static inline uint64_t clock_now(void)
{
	uint32_t high = HAL_ENGINES->time_hi, low, before;

	do {
		before = high;
		low = HAL_ENGINES->time_lo;
		high = HAL_ENGINES->time_hi;
	} while (unlikely(high != before));
	return low | (uint64_t)high << 32;
}
/** clock_at() - make the hardware timer fire at @deadline at the latest. */
void clock_at(uint64_t deadline);
/** clock_set() - make the hardware timer fire at @deadline, whatever it was set to before. */
void clock_set(uint64_t deadline);

#endif

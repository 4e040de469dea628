/* SPDX-License-Identifier: MIT */
/**
 * DOC: The card's clock and its one hardware timer
 *
 * Whoever waits for a time asks clock_at() for it. The heartbeat (top/heartbeat.h) takes the timer's event, looks
 * at everybody who may be due, and sets the timer to the earliest time that is left: clock_at() need not know that
 * it fired.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include "core/hal.h"

uint32_t clock_ticks_per_us(void);
/** clock_now() - when the newest event was delivered, in ticks. */
static inline uint64_t clock_now(void)
{
	return HAL_ENGINES->time_lo | (uint64_t)HAL_ENGINES->time_hi << 32;
}
/** clock_at() - the hardware timer fires at @deadline at the latest. */
void clock_at(uint64_t deadline);
/** clock_set() - the hardware timer fires at @deadline, whatever it was set to. */
void clock_set(uint64_t deadline);

#endif

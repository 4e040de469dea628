// SPDX-License-Identifier: MIT
#include "core/clock.h"

static uint64_t armed; /* what the hardware timer is set to */

/* The high word is written last, because it switches the timer on. */
void clock_set(uint64_t deadline)
{
	armed = deadline;
	HAL_ENGINES->timer_hi = TUTTI_TIMER_OFF;
	HAL_ENGINES->timer_lo = (uint32_t)deadline;
	hal_release();
	HAL_ENGINES->timer_hi = (uint32_t)(deadline >> 32);
}

void clock_at(uint64_t deadline)
{
	if (deadline < armed)
		clock_set(deadline);
}

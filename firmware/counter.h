/* SPDX-License-Identifier: MIT */
/** DOC: Event counts of the firmware; 32 bits here, 64 bits in the control window */
#ifndef FW_COUNTER_H
#define FW_COUNTER_H

#include "fw.h"

struct counters {
	uint32_t packets, dispatches, references, condensed, barriers, agents, kernels;
	uint32_t ctas_issued, ctas_completed, acquires, releases, signals, fetches, queue_errors;
	uint32_t kernel_misses, repeated, placements, events;
};
extern struct counters counters;

void counter_init(void);
/** counter_flush() - bring the counter region of the control window up to date. */
void counter_flush(void);
/** counter_idle() - the firmware goes idle: flush now and then. */
void counter_idle(void);

#endif

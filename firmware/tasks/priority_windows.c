// SPDX-License-Identifier: MIT
#include "tasks/priority_windows.h"

#include "core/hal.h"
#include "tasks/issue_rounds.h"

#define LEVELS 10u
#define COUNT 255u /* the class in TUTTI_POLICY_WINDOW that sets the number of windows */
#define LONGEST 0xffffffu

static struct {
	uint32_t start;           /* when the period began: low half of the timer */
	uint32_t period;
	uint32_t length[WINDOWS]; /* in ticks of the timer */
	uint8_t windows;          /* their number; 0: strict priorities */
	uint8_t now;              /* the window that @order was made for */
	uint8_t class_of[LEVELS + 1];
	uint8_t order[ROUNDS_LEVELS];
} window;

/* Order the levels: those of class @first before the others, split CTAs last. */
static void arrange(unsigned first)
{
	unsigned level, n = 0;

	window.now = (uint8_t)first;
	for (level = 1; level <= LEVELS; level++)
		if (window.windows && window.class_of[level] == first)
			window.order[n++] = (uint8_t)level;
	for (level = 1; level <= LEVELS; level++)
		if (!window.windows || window.class_of[level] != first)
			window.order[n++] = (uint8_t)level;
	window.order[n++] = ROUNDS_SPLIT_LEVEL;
	window.order[n] = 0;
}

static void measure(void)
{
	unsigned i;

	window.period = 0;
	for (i = 0; i < window.windows; i++)
		window.period += window.length[i];
	window.start = HAL_ENGINES->time_lo;
	arrange(0);
}

void window_init(void)
{
	/* priorities 1-2, 3-5, 6-8 and 9-10; their windows are 8, 4, 2 and 1 ms long if a tick is a nanosecond */
	static const uint8_t classes[LEVELS + 1] = { 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3 };
	unsigned i;

	for (i = 0; i < WINDOWS; i++)
		window.length[i] = 8000000u >> (i < 4 ? i : 3);
	for (i = 0; i <= LEVELS; i++)
		window.class_of[i] = classes[i];
	window.windows = 4;
	measure();
}

const uint8_t *window_order(void)
{
	uint32_t at = HAL_ENGINES->time_lo - window.start;
	unsigned i = 0;

	if (!window.windows)
		return window.order;
	if (at >= window.period) {
		window.start += at / window.period * window.period;
		at = HAL_ENGINES->time_lo - window.start;
	}
	while (i + 1 < window.windows && at >= window.length[i])
		at -= window.length[i++];
	if (i != window.now)
		arrange(i);
	return window.order;
}

bool window_length(uint32_t value)
{
	uint32_t class = value >> 24, ticks = value & LONGEST;

	if (class == COUNT) {
		if (ticks > WINDOWS || ticks == 1)
			return false;
		window.windows = (uint8_t)ticks;
	} else {
		if (class >= WINDOWS || !ticks)
			return false;
		window.length[class] = ticks;
	}
	measure();
	return true;
}

bool window_class(uint32_t value)
{
	uint32_t level = value >> 8, class = value & 0xff;

	if (level < 1 || level > LEVELS || class >= WINDOWS)
		return false;
	window.class_of[level] = (uint8_t)class;
	measure();
	return true;
}

bool window_ask(uint32_t policy, uint32_t which, uint32_t *value)
{
	if (policy == TUTTI_POLICY_CLASS) {
		if (which < 1 || which > LEVELS)
			return false;
		*value = window.class_of[which];
	} else if (which == COUNT) {
		*value = window.windows;
	} else {
		if (which >= WINDOWS)
			return false;
		*value = window.length[which];
	}
	return true;
}

/* SPDX-License-Identifier: MIT */
/** DOC: Random numbers that are the same in each run, for tests that compare the emulated card with models */
#ifndef ROLL_H
#define ROLL_H

#include <stdint.h>

static uint64_t seed = 88172645463325252ull;

/** roll() - a random number below @n. */
static inline uint32_t roll(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % n;
}

#endif

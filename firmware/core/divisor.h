/* SPDX-License-Identifier: MIT */
/**
 * DOC: Division by a number that is divided by again and again
 *
 * A soft core divides in 18 cycles or more, and multiplies in one. Sizes seldom change from one kernel to the next, so that
 * what has to be multiplied by instead is kept beside them.
 */
#ifndef DIVISOR_H
#define DIVISOR_H

#include "core/base.h"

/** struct divisor - a number, prepared. */
struct divisor {
	uint32_t times;  /* 2^(32 + @shift) / @by, rounded down; if @by is a power of two, 1 less, which fits */
	uint16_t by;     /* 0: none yet */
	uint8_t shift;   /* log2(@by), rounded down */
};

/** divisor_set() - prepare @by; 0: none. It is in base.c. */
void divisor_set(struct divisor *divisor, uint32_t by);

/**
 * divisor_parts() - how many parts of the size @by it takes to hold @n, which is 1 to 2^31.
 *
 * The quotient of n - 1 is right because n * r <= 2^(32 + shift), where r, by which times * by is too small for
 * 2^(32 + shift), is above 0 and below 2^(shift + 1).
 */
static inline uint32_t divisor_parts(const struct divisor *divisor, uint32_t n)
{
	return ((uint32_t)((uint64_t)n * divisor->times >> 32) >> divisor->shift) + 1;
}

#endif

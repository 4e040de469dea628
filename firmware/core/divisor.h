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

/** struct divisor - a number that is divided by, with what has to be multiplied by instead. */
struct divisor {
	uint32_t times;  /* 2^(32 + @shift) / @by, rounded down; if @by is a power of two, 1 less, which fits */
	uint16_t by;     /* the number; 0: there is none yet */
	uint8_t shift;   /* log2(@by), rounded down */
};

/** divisor_set() - make @divisor one for @by; if that is 0, for no number. It is defined in base.c. */
void divisor_set(struct divisor *divisor, uint32_t by);

/**
 * divisor_parts() - how many parts of size @divisor->by it takes to hold @n, which is between 1 and 2^31.
 *
 * That is the quotient of n - 1, and 1. The quotient is exact: with r = 2^(32 + shift) - times * by, which is more than
 * 0 and less than 2^(shift + 1), n * r is at most 2^(32 + shift).
 */
static inline uint32_t divisor_parts(const struct divisor *divisor, uint32_t n)
{
	return ((uint32_t)((uint64_t)n * divisor->times >> 32) >> divisor->shift) + 1;
}

#endif

// SPDX-License-Identifier: MIT
#include "core/divisor.h"

extern inline void words_copy(void *to, const void *from, unsigned words);
extern inline unsigned popcount32(uint32_t x);

const uint8_t lowest_bit_table[32] = {
	0, 1, 28, 2, 29, 14, 24, 3, 30, 22, 20, 15, 25, 17, 4, 8,
	31, 27, 13, 23, 21, 19, 16, 7, 26, 12, 18, 6, 11, 5, 10, 9,
};

/* By long division, with digits of 16 bits. The quotient of a power of two is 2^32, so its low word is 0. */
COLD void divisor_set(struct divisor *divisor, uint32_t by)
{
	uint32_t rest, shift = 0, high;

	divisor->by = (uint16_t)by;
	if (!by)
		return;
	while (by >> shift > 1)
		shift++;
	rest = 1u << 16 << shift;
	high = rest / by;
	rest = (rest - high * by) << 16;
	divisor->shift = (uint8_t)shift;
	divisor->times = (high << 16 | rest / by) - !(by & (by - 1));
}

// SPDX-License-Identifier: MIT
#include "place/sm_order.h"

static uint16_t order[FW_MAX_SMS];

void sm_order_init(void)
{
	unsigned i;

	for (i = 0; i < FW_MAX_SMS; i++)
		order[i] = (uint16_t)i;
}

unsigned sm_order_at(unsigned position)
{
	return order[position];
}

unsigned sm_order_swap(unsigned position, unsigned sm)
{
	unsigned from = 0;

	while (order[from] != sm)
		from++;
	order[from] = order[position];
	order[position] = (uint16_t)sm;
	return from;
}

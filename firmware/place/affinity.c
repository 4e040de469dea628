// SPDX-License-Identifier: MIT
#include "place/affinity.h"

#include "core/state.h"
#include "place/sm_order.h"

static uint32_t masks[FW_AFFINITIES][FW_MAX_SMS / 32];
static uint32_t used;

void affinity_init(void)
{
	used = 0;
}

unsigned affinity_take(void)
{
	uint32_t free = ~used & ((1u << FW_AFFINITIES) - 1);

	used |= free & -free;
	return free ? lowest_bit(free) + 1 : 0;
}

unsigned affinity_left(void)
{
	return FW_AFFINITIES - popcount32(used);
}

void affinity_put(unsigned number)
{
	used &= ~(1u << (number - 1));
}

uint32_t *affinity_mask(unsigned number)
{
	return masks[number - 1];
}

bool affinity_order(unsigned number)
{
	uint32_t by_sm[FW_MAX_SMS / 32], *mask = masks[number - 1], i, any = 0;

	words_copy(by_sm, mask, fw.words);
	for (i = 0; i < fw.words; i++)
		mask[i] = 0;
	for (i = 0; i < fw.sms; i++) {
		uint32_t sm = sm_order_at(i), bit = by_sm[sm / 32] >> (sm % 32) & 1;

		mask[i / 32] |= bit << (i % 32);
		any |= bit;
	}
	return any;
}

// SPDX-License-Identifier: MIT
#include "emulator/base/garbage.h"

#include "emulator/base/state.h"

static uint64_t next(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

static uint64_t begin(const struct tutti_card *card)
{
	return card->random ? card->random : card->config.seed * 0x9e3779b97f4a7c15ull + 1;
}

uint32_t card_random(struct tutti_card *card, uint32_t n)
{
	card->random = next(begin(card));
	return (uint32_t)((card->random >> 32) * n >> 32);
}

void garbage_fill(struct tutti_card *card, void *to, size_t bytes)
{
	uint64_t x = begin(card), *word = to;

	for (size_t i = 0; i < bytes / sizeof(*word); i++)
		word[i] = x = next(x);
	card->random = x;
}

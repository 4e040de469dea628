// SPDX-License-Identifier: MIT
#include "emulator/base/garbage.h"

#include "emulator/base/state.h"

void garbage_fill(struct tutti_card *card, void *to, size_t bytes)
{
	uint64_t x = card->garbage ? card->garbage : card->config.seed * 0x9e3779b97f4a7c15ull + 1, *word = to;

	for (size_t i = 0; i < bytes / sizeof(*word); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		word[i] = x;
	}
	card->garbage = x;
}

// SPDX-License-Identifier: MIT
#include "emulator/base/local.h"

#include "emulator/base/state.h"

void *card_local(struct tutti_card *card, uint32_t address, uint64_t bytes, uint32_t align)
{
	if ((address & (align - 1)) || address > card->discovery.local_bytes || bytes > card->discovery.local_bytes - address)
		return NULL;
	return card->local + address;
}

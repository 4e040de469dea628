/* SPDX-License-Identifier: MIT */
/**
 * DOC: What the firmware keeps in card memory
 *
 * Local memory is dear. What is needed rarely lies at the end of the part of card memory that is reserved for
 * the firmware: no page table of an address space leads there, so it is as private as local memory. A read takes
 * as long as some fifty instructions.
 */
#ifndef CARD_MEMORY_H
#define CARD_MEMORY_H

#include "core/hal.h"
#include "core/state.h"
#include "tutti/reference.h"

#define CARD_WAVES 128u /* most waves of an SM */

struct card_memory {
	uint8_t answer[TUTTI_MAX_SMS][CARD_WAVES]; /* child_tasks.c: answers that waves wait for, 0 = none */
};

/** card_memory_fits() - there is room for it behind RSBs and firmware image. */
bool card_memory_fits(const struct tutti_discovery *discovery);

static inline struct card_memory *card_memory(void)
{
	return hal_card(fw.reserved_bytes - sizeof(struct card_memory), sizeof(struct card_memory));
}

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: What the firmware keeps in card memory
 *
 * Local memory is scarce. Data that are rarely needed lie at the end of the part of card memory that is reserved for
 * the firmware. No address space has pages there, so they are as private as in local memory, but reading them takes
 * many times as long.
 */
#ifndef CARD_MEMORY_H
#define CARD_MEMORY_H

#include "core/hal.h"
#include "core/state.h"

#define CARD_WAVES 128u /* most waves of an SM */

/* Where each part starts. The file named with a part owns it and asserts that its data fit. */
#define CARD_ANSWERS 0u           /* child_tasks.c: a byte for each wave of each SM */
#define CARD_ANSWERS_BYTES (TUTTI_MAX_SMS * CARD_WAVES)
#define CARD_TABLES (CARD_ANSWERS + CARD_ANSWERS_BYTES) /* reference.c: buffers for which local memory has no room */
#define CARD_TABLES_BYTES (TUTTI_MAX_RSBS * 1024u)
#define CARD_QUEUES (CARD_TABLES + CARD_TABLES_BYTES)   /* queue.c: queues beyond the first FW_QUEUES */
#define CARD_QUEUES_BYTES (64u << 10)
#define CARD_RSBS (CARD_QUEUES + CARD_QUEUES_BYTES)     /* reference.c: records beyond the first FW_RSBS */
#define CARD_RSBS_BYTES (16u << 10)
#define CARD_BLOCKS (CARD_RSBS + CARD_RSBS_BYTES)       /* condensed_block.c: a block for each queue */
#define CARD_BLOCKS_BYTES (512u << 10)
#define CARD_OUTBOX (CARD_BLOCKS + CARD_BLOCKS_BYTES)   /* outbox.c: messages for which the host has not made room */
#define CARD_OUTBOX_BYTES (40u << 10)
#define CARD_MEMORY_BYTES (CARD_OUTBOX + CARD_OUTBOX_BYTES)
_Static_assert(CARD_MEMORY_BYTES <= TUTTI_FIRMWARE_BYTES, "the host keeps no more free");

/** card_memory() - pointer to @part, one of the offsets above. */
static inline void *card_memory(uint32_t part)
{
	return hal_card(fw.reserved_bytes - TUTTI_FIRMWARE_BYTES + part, 1);
}

#endif

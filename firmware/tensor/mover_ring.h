/* SPDX-License-Identifier: MIT */
/**
 * DOC: Mover ring: descriptors are written in place and published at the end of a visit
 *
 * The writer makes sure that there is room, calls mover_begin(), writes the fields that
 * the descriptor's flags make valid, and calls mover_end(). The newest descriptor of an
 * unfinished request may be held back from movers, so that it can still become the LAST one.
 */
#ifndef MOVER_RING_H
#define MOVER_RING_H

#include "core/hal.h"

#define MOVER_SLOTS 32u
#define MOVER_RESERVED FW_AGENTS /* slots that tensor requests leave free for agent dispatches */

extern struct tutti_mover mover_slots[MOVER_SLOTS];
extern uint32_t mover_written; /* descriptors written since boot, modulo 2^32; one instruction reads or writes it */

void mover_init(void);
/**
 * mover_notice() - ask for an event MOVER_ROOM once movers have yet to take only @descriptors of those published.
 * Return: false if this is so already, and no event will come
 */
bool mover_notice(uint32_t descriptors);

/** mover_tail() - number of descriptors written since boot, modulo 2^32. */
static inline uint32_t mover_tail(void)
{
	return mover_written;
}

/** mover_begin() - the slot of the next descriptor. */
static inline struct tutti_mover *mover_begin(void)
{
	return &mover_slots[mover_written % MOVER_SLOTS];
}

/** mover_end() - the descriptor at mover_begin() is complete. */
static inline void mover_end(void)
{
	mover_written++;
}

/** mover_taken() - whether movers have taken all that had been written when the tail was @tail. */
static inline bool mover_taken(uint32_t tail)
{
	uint32_t head = HAL_ENGINES->mover_head;

	return (int32_t)(head - tail) >= 0 || head == mover_tail();
}

/** mover_newest() - the descriptor that was written last. */
static inline struct tutti_mover *mover_newest(void)
{
	return &mover_slots[(mover_written - 1) % MOVER_SLOTS];
}

/** mover_publish() - let movers take all descriptors written so far, except the newest @hold. */
static inline void mover_publish(uint32_t hold)
{
	uint32_t tail = mover_tail() - hold;

	hal_release();
	HAL_ENGINES->mover_tail = tail;
}

#endif

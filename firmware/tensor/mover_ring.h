/* SPDX-License-Identifier: MIT */
/**
 * DOC: Mover ring: descriptors written in place, published at the end of a visit
 *
 * Who writes sees to it that there is room, takes mover_begin(), writes the fields its
 * flags make valid, and mover_end(). The newest descriptor of a request that is not
 * finished may be held back, so that it can still become the LAST one.
 */
#ifndef MOVER_RING_H
#define MOVER_RING_H

#include "core/hal.h"

#define MOVER_SLOTS 32u
#define MOVER_RESERVED FW_AGENTS /* slots that tensor requests leave to agent dispatches */

struct mover_ring {
	uint32_t laps;      /* descriptors written in earlier laps */
	uint32_t published;
};
extern struct mover_ring mover_ring;
extern struct tutti_mover mover_slots[MOVER_SLOTS];
extern struct tutti_mover *mover_next; /* a variable of its own: one instruction to read, one to write */

void mover_init(void);
/** mover_notice() - event MOVER_ROOM when @descriptors of those written are left. Return: false = it is so already. */
bool mover_notice(uint32_t descriptors);

/** mover_tail() - descriptors written, free running. */
static inline uint32_t mover_tail(void)
{
	return mover_ring.laps + (uint32_t)(mover_next - mover_slots);
}

static inline struct tutti_mover *mover_begin(void)
{
	return mover_next;
}

/** mover_wrap() - begin the next lap, if it is time. */
static inline void mover_wrap(void)
{
	if (unlikely(mover_next == mover_slots + MOVER_SLOTS)) {
		mover_next = mover_slots;
		mover_ring.laps += MOVER_SLOTS;
	}
}

static inline void mover_end(struct tutti_mover *m)
{
	mover_next = m + 1;
	mover_wrap();
}

/** mover_taken() - movers have taken what had been written when the tail was @tail. */
static inline bool mover_taken(uint32_t tail)
{
	uint32_t head = HAL_ENGINES->mover_head;

	return (int32_t)(head - tail) >= 0 || head == mover_tail();
}

/** mover_newest() - the descriptor written last. */
static inline struct tutti_mover *mover_newest(void)
{
	return mover_next == mover_slots ? mover_slots + MOVER_SLOTS - 1 : mover_next - 1;
}

/** mover_publish() - movers may take everything written but the newest @hold. */
static inline void mover_publish(uint32_t hold)
{
	uint32_t tail = mover_tail() - hold;

	mover_ring.published = tail;
	hal_release();
	HAL_ENGINES->mover_tail = tail;
}

#endif

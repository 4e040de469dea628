// SPDX-License-Identifier: MIT
#include "tensor/mover_ring.h"

struct mover_ring mover_ring;
struct tutti_mover *mover_next HOT_DATA;
struct tutti_mover mover_slots[MOVER_SLOTS] __attribute__((aligned(64)));

void mover_init(void)
{
	mover_next = mover_slots;
	mover_ring.laps = mover_ring.published = 0;
	HAL_ENGINES->mover_base = hal_local(mover_slots);
	HAL_ENGINES->mover_slots = MOVER_SLOTS;
	HAL_ENGINES->mover_tail = 0;
}

/* The notice is written before the head is read: either movers see the notice, or this function sees their head. */
bool mover_notice(uint32_t descriptors)
{
	uint32_t wanted = mover_ring.published - descriptors;

	HAL_ENGINES->mover_notice = wanted;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return (int32_t)(HAL_ENGINES->mover_head - wanted) < 0;
}

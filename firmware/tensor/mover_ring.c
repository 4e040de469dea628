// SPDX-License-Identifier: MIT
#include "tensor/mover_ring.h"

uint32_t mover_written HOT_DATA;
struct tutti_mover mover_slots[MOVER_SLOTS] __attribute__((aligned(64)));

void mover_init(void)
{
	mover_written = 0;
	HAL_ENGINES->mover_base = hal_local(mover_slots);
	HAL_ENGINES->mover_slots = MOVER_SLOTS;
	HAL_ENGINES->mover_tail = 0;
}

/* The notice is written before the head is read: either movers see the notice, or this function sees their head. */
bool mover_notice(uint32_t descriptors)
{
	uint32_t wanted = HAL_ENGINES->mover_tail - descriptors;

	HAL_ENGINES->mover_notice = wanted;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return (int32_t)(HAL_ENGINES->mover_head - wanted) < 0;
}

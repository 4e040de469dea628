// SPDX-License-Identifier: MIT
/*
 * The throttle state of SMs (spec TSK-07): the shared memory of all SMs is put together and divided in another way, so
 * that a few of them can have more than usual.
 */
#include <errno.h>

#include "emulator/base/window.h"
#include "emulator/launch/throttle.h"

_Static_assert(WINDOW_SHARED_BLOCKS <= SM_BLOCK_WORDS * 64, "an SM counts its free blocks in as many bits");

static int for_each(struct sm_array *array, const uint32_t *mask, unsigned words,
		    int (*fn)(struct sm_array *array, struct sm *sm, uint32_t blocks), uint32_t blocks)
{
	for (unsigned w = 0; w < words && w < MASK_WORDS; w++) {
		for (uint32_t bits = mask[w]; bits; bits &= bits - 1) {
			uint32_t position = w * 32 + (uint32_t)__builtin_ctz(bits);

			if (position >= array->sms || fn(array, &array->sm[array->order[position]], blocks))
				return -EINVAL;
		}
	}
	return 0;
}

static int check(struct sm_array *array, struct sm *sm, uint32_t blocks)
{
	return sm->cta_slots == array->limits->cta_slots && blocks <= window_shared_most(array->limits) ? 0 : -EINVAL;
}

static int set(struct sm_array *array, struct sm *sm, uint32_t blocks)
{
	sm->shared_blocks = blocks ? blocks : array->limits->shared_blocks;
	blocks_init(&sm->shared, sm->shared_blocks);
	sm->touched = 1;
	sm->throttles++;
	return 0;
}

int sm_array_throttle(struct sm_array *array, uint32_t blocks, const uint32_t *mask, unsigned words)
{
	if (for_each(array, mask, words, check, blocks))
		return -EINVAL;
	return for_each(array, mask, words, set, blocks);
}

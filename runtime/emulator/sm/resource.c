// SPDX-License-Identifier: MIT
/*
 * A CTA takes from its SM (spec RES-03, RES-05) a CTA slot, barriers, a contiguous run of shared memory blocks, and for
 * each wave a wave slot and runs of register blocks on the PEU with the most free wave slots.
 */
#include <string.h>

#include "emulator/base/hints.h"
#include "emulator/sm/cta.h"
#include "emulator/sm/resource.h"
#include "emulator/sm/task.h"

void blocks_init(struct blocks *blocks, unsigned n)
{
	memset(blocks, 0, sizeof(*blocks));
	for (unsigned i = 0; i < n; i++)
		blocks->free[i / 64] |= 1ull << (i % 64);
}

/* Return: a word whose bit i is set if blocks i to i + need - 1 of @word are all free. */
static uint64_t runs_in_word(uint64_t word, unsigned need)
{
	unsigned have = 1;

	while (have < need && word) {
		unsigned step = need - have < have ? need - have : have;

		word &= word >> step;
		have += step;
	}
	return word;
}

static bool block_free(const struct blocks *blocks, unsigned i)
{
	return blocks->free[i / 64] >> (i % 64) & 1;
}

static int run_across_words(const struct blocks *blocks, unsigned need)
{
	unsigned length = 0;

	for (unsigned i = 0; i < SM_BLOCK_WORDS * 64; i++) {
		length = block_free(blocks, i) ? length + 1 : 0;
		if (length == need)
			return (int)(i + 1 - need);
	}
	return -1;
}

/* Blocks @first to @first + @need - 1 of a word, of which there are some. */
static uint64_t mask_of(unsigned first, unsigned need)
{
	return ~0ull >> (64 - need) << first;
}

static int take_far(struct blocks *blocks, unsigned need)
{
	uint64_t runs = need <= 64 ? runs_in_word(blocks->free[0], need) : 0;
	int first;

	if (runs) {
		first = __builtin_ctzll(runs);
		blocks->free[0] &= ~mask_of((unsigned)first, need);
		return first;
	}
	if (need <= 64 && !(blocks->free[1] | blocks->free[2] | blocks->free[3]))
		return -1;
	first = run_across_words(blocks, need);
	for (unsigned i = 0; first >= 0 && i < need; i++)
		blocks->free[(first + i) / 64] &= ~(1ull << ((first + i) % 64));
	return first;
}

/* Inline, since each wave of a CTA takes two runs; mostly the first free block begins one that is long enough. */
static inline int take(struct blocks *blocks, unsigned need)
{
	uint64_t free = blocks->free[0], run;
	unsigned first;

	if (!need)
		return 0;
	if (unlikely(!free))
		return take_far(blocks, need);
	first = (unsigned)__builtin_ctzll(free);
	if (unlikely(first + need > 64))
		return take_far(blocks, need);
	run = mask_of(first, need);
	if (unlikely(run & ~free))
		return take_far(blocks, need);
	blocks->free[0] &= ~run;
	return (int)first;
}

static inline void give(struct blocks *blocks, unsigned first, unsigned need)
{
	if (likely(need && first + need <= 64)) {
		blocks->free[0] |= mask_of(first, need);
		return;
	}
	for (unsigned i = first; i < first + need; i++)
		blocks->free[i / 64] |= 1ull << (i % 64);
}

int blocks_take(struct blocks *blocks, unsigned need)
{
	return take(blocks, need);
}

void blocks_give(struct blocks *blocks, unsigned first, unsigned need)
{
	give(blocks, first, need);
}

void sm_init(struct sm *sm, const struct tutti_discovery *limits)
{
	struct wave_slot *wave = sm->wave;
	uint32_t factor = sm->factor;

	memset(sm, 0, sizeof(*sm));
	sm->wave = wave;
	sm->factor = factor;
	sm->touched = 1;
	sm->cta_slots = limits->cta_slots;
	sm->barriers = limits->barriers;
	sm->shared_blocks = limits->shared_blocks;
	blocks_init(&sm->shared, sm->shared_blocks);
	for (unsigned p = 0; p < limits->peus; p++) {
		sm->peu[p].free_waves = limits->peu_waves;
		blocks_init(&sm->peu[p].scalar, limits->scalar_blocks);
		blocks_init(&sm->peu[p].vector, limits->vector_blocks);
	}
}

static bool peu_take(struct peu *peu, const struct tutti_task_state *state, struct wave_slot *slot)
{
	int scalar, vector;

	scalar = take(&peu->scalar, state->scalar_blocks);
	if (scalar < 0)
		return false;
	vector = take(&peu->vector, state->vector_blocks);
	if (vector < 0) {
		give(&peu->scalar, (unsigned)scalar, state->scalar_blocks);
		return false;
	}
	peu->free_waves--;
	slot->scalar = (uint16_t)scalar;
	slot->vector = (uint16_t)vector;
	return true;
}

/* The lowest free wave slot of PEU @p, which has one. */
static unsigned free_wave_slot(const struct sm *sm, const struct tutti_discovery *limits, unsigned p)
{
	unsigned first = p * limits->peu_waves, i = first / 64;
	uint64_t free = ~sm->busy[i] & ~0ull << (first % 64);

	while (!free)
		free = ~sm->busy[++i];
	return i * 64 + (unsigned)__builtin_ctzll(free);
}

static inline bool wave_put(struct sm *sm, const struct tutti_discovery *limits, struct cta *cta, unsigned number, unsigned p)
{
	struct wave_slot *slot;
	unsigned w;

	if (unlikely(!sm->peu[p].free_waves))
		return false;
	w = free_wave_slot(sm, limits, p);
	slot = &sm->wave[w];
	if (!peu_take(&sm->peu[p], &cta->task->state, slot))
		return false;
	slot->number = (uint16_t)number;
	slot->peu = (uint16_t)p;
	sm->busy[w / 64] |= 1ull << (w % 64);
	cta->wave_slots[w / 64] |= 1ull << (w % 64);
	return true;
}

static bool waves_rotate(struct sm *sm, const struct tutti_discovery *limits, struct cta *cta)
{
	for (unsigned number = 0; number < cta->waves; number++)
		if (!wave_put(sm, limits, cta, number, (sm->split + 1 + number) % limits->peus))
			return false;
	return true;
}

/*
 * Each wave goes to the PEU with the most free wave slots, the lowest if there are several: so the next one goes to a PEU
 * above it with as many, or to the lowest one with one less. A PEU that has no registers for one wave has none for the next.
 */
static bool waves_take(struct sm *sm, const struct tutti_discovery *limits, struct cta *cta)
{
	unsigned most = limits->peu_waves, p = 0;

	for (unsigned number = 0; number < cta->waves; p++) {
		if (p == limits->peus) {
			p = 0;
			most--;
		}
		if (!most)
			return false;
		if (sm->peu[p].free_waves == most && wave_put(sm, limits, cta, number, p))
			number++;
	}
	return true;
}

static void waves_give(struct sm *sm, const struct cta *cta)
{
	const struct tutti_task_state *state = &cta->task->state;

	for (unsigned i = 0; i < SM_WAVES / 64; i++) {
		for (uint64_t left = cta->wave_slots[i]; left; left &= left - 1) {
			const struct wave_slot *slot = &sm->wave[i * 64 + (unsigned)__builtin_ctzll(left)];
			struct peu *peu = &sm->peu[slot->peu];

			give(&peu->scalar, slot->scalar, state->scalar_blocks);
			give(&peu->vector, slot->vector, state->vector_blocks);
			peu->free_waves++;
		}
		sm->busy[i] &= ~cta->wave_slots[i];
	}
}

bool sm_take(struct sm *sm, const struct tutti_discovery *limits, struct cta *cta)
{
	const struct tutti_task_state *state = &cta->task->state;
	int shared;

	memset(cta->wave_slots, 0, sizeof(cta->wave_slots));
	if (!sm->cta_slots || sm->barriers < state->barriers)
		return false;
	shared = blocks_take(&sm->shared, state->shared_blocks);
	if (shared < 0)
		return false;
	cta->shared_first = (uint16_t)shared;
	if (!(unlikely(sm->rotate) ? waves_rotate(sm, limits, cta) : waves_take(sm, limits, cta))) {
		waves_give(sm, cta);
		blocks_give(&sm->shared, cta->shared_first, state->shared_blocks);
		return false;
	}
	sm->cta_slots--;
	sm->barriers -= state->barriers;
	if (unlikely(sm->rotate))
		sm->split = (sm->split + cta->waves) % limits->peus;
	sm->ctas++;
	sm->waves += cta->waves;
	sm->touched = 1;
	return true;
}

void sm_give(struct sm *sm, const struct cta *cta)
{
	const struct tutti_task_state *state = &cta->task->state;

	waves_give(sm, cta);
	blocks_give(&sm->shared, cta->shared_first, state->shared_blocks);
	sm->cta_slots++;
	sm->barriers += state->barriers;
	sm->touched = 1;
}

unsigned sm_wave_slot(const struct sm *sm, const struct cta *cta, unsigned number)
{
	for (unsigned i = 0; i < SM_WAVES / 64; i++) {
		for (uint64_t left = cta->wave_slots[i]; left; left &= left - 1) {
			unsigned w = i * 64 + (unsigned)__builtin_ctzll(left);

			if (sm->wave[w].number == number)
				return w;
		}
	}
	return 0;
}

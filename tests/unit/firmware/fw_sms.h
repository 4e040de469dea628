/* SPDX-License-Identifier: MIT */
/*
 * The SMs of a card and what their CTAs hold, as /include says they are: a wave goes to the PEU with the most free wave
 * slots that has the register blocks (or by rotation), blocks are given first-fit, a CTA holds what it took until it
 * ends. The table of SM states shows it at once. Limits: hal_host_discovery(). Who includes this has a roll().
 */
#ifndef TUTTI_TEST_FW_SMS_H
#define TUTTI_TEST_FW_SMS_H

#include <string.h>

#include "core/hal.h"

#define CARD_PEUS 4u
#define CARD_SHARED 256u     /* most shared blocks of an SM: in throttle mode it has more than usual */
#define CARD_SHARED_USUAL 64u

struct card_cta {
	uint8_t slot;
	uint16_t shared; /* its first block */
	bool used;
	struct { uint8_t peu, scalar, vector; } wave[32];
};

struct card_sm {
	uint8_t shared[CARD_SHARED]; /* blocks in use */
	unsigned shared_blocks, shared_used;
	unsigned ctas, barriers, split;
	struct { unsigned waves; uint64_t scalar, vector; } peu[CARD_PEUS];
	struct card_cta cta[32];
};

/* What an SM has: see hal_host_discovery(). */
static struct card_limits {
	unsigned waves, scalar, vector, shared, barriers, ctas; /* waves, scalar and vector: of a PEU */
} card_limits = { 8, 32, 32, CARD_SHARED_USUAL, 16, 32 };

static struct card_sm card_sm[TUTTI_MAX_SMS];
static unsigned card_sms;
static bool card_rotate;
static uint16_t card_order[TUTTI_MAX_SMS]; /* SM number at each position; the model goes by positions */

static inline uint64_t card_run(unsigned n)
{
	return n >= 64 ? ~0ull : (1ull << n) - 1;
}

/* What the firmware can read of the SM at position @number. */
static inline void card_show(unsigned number)
{
	struct tutti_sm_state *state = &hal_host.sms[card_order[number]];
	const struct card_sm *sm = &card_sm[number];
	unsigned words = tutti_map_words(sm->shared_blocks);

	state->cta_slots = card_limits.ctas - sm->ctas;
	state->barriers = card_limits.barriers - sm->barriers;
	state->split = sm->split;
	state->shared_blocks = sm->shared_blocks;
	state->shared_free = sm->shared_blocks - sm->shared_used;
	for (unsigned w = 0; w < TUTTI_BLOCK_WORDS; w++)
		state->shared[w] = 0;
	for (unsigned b = 0; b < sm->shared_blocks; b++)
		state->shared[b % words] |= (uint32_t)!sm->shared[b] << (b / words);
	for (unsigned p = 0; p < CARD_PEUS; p++) {
		state->peu[p].free_waves = (uint16_t)(card_limits.waves - sm->peu[p].waves);
		state->peu[p].scalar[0] = (uint32_t)(card_run(card_limits.scalar) & ~sm->peu[p].scalar);
		state->peu[p].vector[0] = (uint32_t)(card_run(card_limits.vector) & ~sm->peu[p].vector);
		state->peu[p].scalar_free = (uint16_t)__builtin_popcount(state->peu[p].scalar[0]);
		state->peu[p].vector_free = (uint16_t)__builtin_popcount(state->peu[p].vector[0]);
	}
}

/* All SMs are empty. The table is filled when the firmware switches it on. */
static inline void card_empty(unsigned sms)
{
	memset(card_sm, 0, sms * sizeof(card_sm[0]));
	card_sms = sms;
	card_rotate = false;
	for (unsigned i = 0; i < sms; i++) {
		card_order[i] = (uint16_t)i;
		card_sm[i].shared_blocks = card_limits.shared;
	}
}

/* Command ORDER. */
static inline void card_reorder(const uint32_t *w, unsigned words)
{
	for (unsigned i = 0; i < 2 * (words - 2) && w[1] + i < card_sms; i++)
		card_order[w[1] + i] = (uint16_t)(w[2 + i / 2] >> (16 * (i & 1)));
}

/* Command SM_MODE. */
static inline void card_mode(unsigned sub)
{
	card_rotate = sub & TUTTI_SM_ROTATE;
	for (unsigned i = 0; i < card_sms; i++)
		card_show(i);
}

/* Lowest start of @need free blocks out of @all, or -1. */
static inline int card_take(uint64_t *used, unsigned all, unsigned need)
{
	unsigned at;

	if (!need)
		return 0;
	for (at = 0; at + need <= all; at++)
		if (!(*used >> at & card_run(need))) {
			*used |= card_run(need) << at;
			return (int)at;
		}
	return -1;
}

static inline bool card_wave(struct card_sm *sm, const struct tutti_task_state *state, struct card_cta *cta, unsigned w)
{
	unsigned tried = 0, p, best;
	int scalar, vector;

	if (card_rotate) {
		p = (sm->split + 1 + w) % CARD_PEUS;
		if (sm->peu[p].waves == card_limits.waves)
			return false;
		tried = ~(1u << p);
	}
	for (;;) {
		for (best = CARD_PEUS, p = 0; p < CARD_PEUS; p++)
			if (!(tried >> p & 1) && sm->peu[p].waves < card_limits.waves &&
			    (best == CARD_PEUS || sm->peu[p].waves < sm->peu[best].waves))
				best = p;
		if (best == CARD_PEUS)
			return false;
		tried |= 1u << best;
		scalar = card_take(&sm->peu[best].scalar, card_limits.scalar, state->scalar_blocks);
		if (scalar < 0)
			continue;
		vector = card_take(&sm->peu[best].vector, card_limits.vector, state->vector_blocks);
		if (vector < 0) {
			if (state->scalar_blocks)
				sm->peu[best].scalar &= ~(card_run(state->scalar_blocks) << scalar);
			continue;
		}
		sm->peu[best].waves++;
		cta->wave[w].peu = (uint8_t)best;
		cta->wave[w].scalar = (uint8_t)scalar;
		cta->wave[w].vector = (uint8_t)vector;
		return true;
	}
}

/* The same for shared memory. */
static inline int card_take_shared(struct card_sm *sm, unsigned need)
{
	unsigned at, run = 0;

	if (!need)
		return 0;
	for (at = 0; at < sm->shared_blocks; at++) {
		run = sm->shared[at] ? 0 : run + 1;
		if (run == need) {
			memset(sm->shared + at + 1 - need, 1, need);
			sm->shared_used += need;
			return (int)(at + 1 - need);
		}
	}
	return -1;
}

/* The resources of the first @waves waves of a CTA are free again. */
static inline void card_give(struct card_sm *sm, const struct tutti_task_state *state, const struct card_cta *cta, unsigned waves)
{
	memset(sm->shared + cta->shared, 0, state->shared_blocks);
	sm->shared_used -= state->shared_blocks;
	for (unsigned w = 0; w < waves; w++) {
		sm->peu[cta->wave[w].peu].waves--;
		if (state->scalar_blocks)
			sm->peu[cta->wave[w].peu].scalar &= ~(card_run(state->scalar_blocks) << cta->wave[w].scalar);
		if (state->vector_blocks)
			sm->peu[cta->wave[w].peu].vector &= ~(card_run(state->vector_blocks) << cta->wave[w].vector);
	}
}

/* One CTA of a task takes the resources that it needs of an SM. false: it does not fit, and nothing was taken. */
static inline bool card_put(const struct tutti_task_state *state, unsigned slot, unsigned number)
{
	struct card_sm *sm = &card_sm[number];
	struct card_cta *cta = sm->cta;
	unsigned w;
	int shared;

	if (sm->ctas == card_limits.ctas || sm->barriers + state->barriers > card_limits.barriers)
		return false;
	while (cta->used)
		cta++;
	shared = card_take_shared(sm, state->shared_blocks);
	if (shared < 0)
		return false;
	cta->shared = (uint16_t)shared;
	for (w = 0; w < state->waves; w++)
		if (!card_wave(sm, state, cta, w)) {
			card_give(sm, state, cta, w);
			return false;
		}
	sm->ctas++;
	sm->barriers += state->barriers;
	cta->used = true;
	sm->split = card_rotate ? (sm->split + state->waves) % CARD_PEUS : sm->split;
	cta->slot = (uint8_t)slot;
	card_show(number);
	return true;
}

/* One CTA of @slot on @number ends: any of them. */
static inline void card_remove(const struct tutti_task_state *state, unsigned slot, unsigned number)
{
	struct card_sm *sm = &card_sm[number];
	unsigned i = roll(32);
	struct card_cta *cta;

	while (!sm->cta[i % 32].used || sm->cta[i % 32].slot != slot)
		i++;
	cta = &sm->cta[i % 32];
	cta->used = false;
	card_give(sm, state, cta, state->waves);
	sm->ctas--;
	sm->barriers -= state->barriers;
	card_show(number);
}

#endif

// SPDX-License-Identifier: MIT
/* The table of SM states (sm_state.h of the contract), made from what resource.c keeps. */
#include <string.h>

#include "emulator/launch/state_table.h"
#include "emulator/hart/energy.h"

/* Copy the blocks into the order of the contract, in which neighbours lie in neighbouring words. */
static uint16_t put_map(uint32_t *words, const struct blocks *blocks, unsigned n)
{
	unsigned w = tutti_map_words(n), shift = w == 8 ? 3 : w >> 1, count = 0;

	memset(words, 0, TUTTI_BLOCK_WORDS * sizeof(*words));
	if (w == 1)
		words[0] = (uint32_t)blocks->free[0];
	for (unsigned i = 0; i < SM_BLOCK_WORDS; i++) {
		count += (unsigned)__builtin_popcountll(blocks->free[i]);
		for (uint64_t left = w == 1 ? 0 : blocks->free[i]; left; left &= left - 1) {
			unsigned b = i * 64 + (unsigned)__builtin_ctzll(left);

			words[b & (w - 1)] |= 1u << (b >> shift);
		}
	}
	return (uint16_t)count;
}

/* Return: true if the entry changes with time even if nothing happens on the SM. */
static bool put_sm(struct sm_array *array, const struct sm *sm, struct tutti_sm_state *state)
{
	const struct tutti_discovery *limits = array->limits;

	state->cta_slots = sm->cta_slots;
	state->barriers = sm->barriers;
	state->split = sm->split;
	state->shared_free = put_map(state->shared, &sm->shared, sm->shared_blocks);
	state->shared_blocks = sm->shared_blocks;
	state->ctas = sm->ctas;
	state->waves = sm->waves;
	for (unsigned c = 0; c < TUTTI_CLASSES; c++)
		state->instructions[c] = tutti_load_relaxed(&sm->instructions[c]);
	state->energy = array->energy ? energy_of_sm(array, sm) : 0;
	for (unsigned p = 0; p < limits->peus; p++) {
		const struct peu *peu = &sm->peu[p];

		state->peu[p].free_waves = (uint16_t)peu->free_waves;
		state->peu[p].scalar_free = put_map(state->peu[p].scalar, &peu->scalar, limits->scalar_blocks);
		state->peu[p].vector_free = put_map(state->peu[p].vector, &peu->vector, limits->vector_blocks);
	}
	return array->energy && energy_recent(array, sm, state->recent);
}

void sm_array_table(struct sm_array *array, struct tutti_sm_state *table)
{
	for (uint32_t i = 0; i < array->sms; i++) {
		struct sm *sm = &array->sm[i];

		if (!tutti_load_relaxed(&sm->touched))
			continue;
		tutti_store_relaxed(&sm->touched, 0);
		if (put_sm(array, sm, &table[i]))
			tutti_store_relaxed(&sm->touched, 1);
	}
}

void sm_array_mode(struct sm_array *array, unsigned mode)
{
	unsigned window = mode >> 8;

	array->window = window < 3 ? 3 : window > 40 ? 40 : window;
	for (uint32_t i = 0; i < array->sms; i++)
		array->sm[i].rotate = mode & TUTTI_SM_ROTATE;
}

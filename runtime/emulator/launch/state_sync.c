// SPDX-License-Identifier: MIT
/*
 * Acknowledgement of task states (spec TSK-05), and how far each SM is with each task.
 *
 * A card with TUTTI_FEATURE_ORDERED_STATES does not need it, because a LAUNCH always sees the STATE before it. On a
 * card without that feature (topology setting `acknowledge`) SMs acknowledge a STATE some turns later, and an event
 * tells the firmware. A LAUNCH before that event is refused, since it is the firmware that has to wait.
 */
#include "emulator/base/inject.h"
#include "emulator/launch/state_sync.h"
#include "emulator/memory/event_ring.h"

#define NO_SM (~0u)

/* Return: the SM that an injected fault keeps from acknowledging (TUTTI_INJECT_SILENT_SM), or NO_SM. */
static uint32_t silent_sm(const struct sm_array *array)
{
	uint64_t sm;

	return inject_armed(array->card, TUTTI_INJECT_SILENT_SM, &sm) && sm < array->sms ? (uint32_t)sm : NO_SM;
}

static bool is_meant(const struct sm_array *array, const uint32_t *mask, unsigned words, uint32_t sm)
{
	uint32_t position = array->position[sm];

	return !mask || (position / 32 < words && mask[position / 32] >> (position % 32) & 1);
}

static void count_states(struct sm_array *array, const uint32_t *mask, unsigned words)
{
	if (!mask) {
		array->states++;
		return;
	}
	for (unsigned w = 0; w < words && w < MASK_WORDS; w++)
		for (uint32_t bits = mask[w]; bits; bits &= bits - 1) {
			uint32_t position = w * 32 + (uint32_t)__builtin_ctz(bits);

			if (position < array->sms)
				array->sm[array->order[position]].states++;
		}
}

void sync_send(struct sm_array *array, unsigned number, const uint32_t *mask, unsigned words)
{
	struct slot *slot = &array->slot[number];
	uint32_t silent;

	count_states(array, mask, words);
	if (likely(!array->acknowledge))
		return;
	silent = silent_sm(array);
	slot->unacknowledged++;
	slot->acknowledge_turn = array->turn + array->acknowledge;
	if (silent != NO_SM && is_meant(array, mask, words, silent))
		slot->silent = silent;
	array->syncing[number / 32] |= 1u << (number % 32);
}

/* Have all SMs acknowledged what they were sent of @slot? */
static bool all_have(const struct sm_array *array, const struct slot *slot, uint32_t silent)
{
	return (int32_t)(array->turn - slot->acknowledge_turn) >= 0 && (silent == NO_SM || slot->silent != silent);
}

bool sm_array_acknowledge(struct sm_array *array)
{
	uint32_t silent;
	bool coming = false;

	if (likely(!array->acknowledge))
		return false;
	array->turn++;
	silent = silent_sm(array);
	for (unsigned w = 0; w < SM_SLOTS / 32; w++)
		for (uint32_t bits = array->syncing[w]; bits; bits &= bits - 1) {
			struct slot *slot = &array->slot[w * 32 + (unsigned)__builtin_ctz(bits)];

			coming |= silent == NO_SM || slot->silent != silent;
			if (!all_have(array, slot, silent))
				continue;
			slot->silent = NO_SM;
			array->syncing[w] &= ~(bits & -bits);
			array->acknowledged[w] |= bits & -bits;
			array->acknowledged_any = true;
		}
	return coming;
}

bool sync_report(struct sm_array *array, bool *any)
{
	for (unsigned w = 0; w < SM_SLOTS / 32; w++)
		for (; array->acknowledged[w]; array->acknowledged[w] &= array->acknowledged[w] - 1) {
			unsigned number = w * 32 + (unsigned)__builtin_ctz(array->acknowledged[w]);
			struct slot *slot = &array->slot[number];
			struct tutti_event event = {{TUTTI_EVENT_STATE | number << 8, slot->unacknowledged}};

			/* Another state was sent meanwhile, so one event will report all of them later. */
			if (array->syncing[w] >> (number % 32) & 1)
				continue;
			if (!engines_event(array->card, &event))
				return false;
			slot->unacknowledged = 0;
			*any = true;
		}
	array->acknowledged_any = false;
	return true;
}

void sync_empty(struct sm_array *array)
{
	for (unsigned w = 0; w < SM_SLOTS / 32; w++)
		array->syncing[w] = array->acknowledged[w] = 0;
	for (uint32_t i = 0; i < array->slots; i++) {
		array->slot[i].unacknowledged = 0;
		array->slot[i].silent = NO_SM;
	}
	array->acknowledged_any = false;
	array->states = 0;
}

/* Is the newest state of @slot one that @sm was meant to have? */
static bool holds(const struct sm_array *array, unsigned slot, uint32_t sm)
{
	const struct view *view = &array->view[sm * array->slots + slot];
	const struct slot *s = &array->slot[slot];

	if (!s->task)
		return false;
	return view->epoch == s->epoch ? view->version == s->version : s->all_version == s->version;
}

/* Return: tasks whose newest state was sent to @sm. *@sent gets those of them that @sm has not acknowledged. */
static uint32_t states_of(const struct sm_array *array, uint32_t sm, uint32_t *sent)
{
	uint32_t held = 0, silent = silent_sm(array);

	*sent = 0;
	for (unsigned i = 0; i < array->slots && i < 32; i++) {
		const struct slot *slot = &array->slot[i];

		if (!holds(array, i, sm))
			continue;
		held |= 1u << i;
		if (slot->unacknowledged && ((silent == sm && slot->silent == sm) || !all_have(array, slot, NO_SM)))
			*sent |= 1u << i;
	}
	return held;
}

void sm_array_sync(struct sm_array *array, struct tutti_sm_state *table)
{
	for (uint32_t i = 0; i < array->sms; i++) {
		const struct sm *sm = &array->sm[i];
		uint32_t sent, held = states_of(array, i, &sent);

		table[i].task_assign = 0;
		table[i].state_sync = sent;
		table[i].cta_launch = held & ~sent;
		table[i].completed = sm->completed;
		table[i].states = array->states + sm->states;
		table[i].throttles = sm->throttles;
	}
	for (uint32_t i = 0; i < array->sms * array->limits->cta_slots; i++)
		if (array->cta[i].used && array->cta[i].slot < 32)
			table[array->cta[i].sm].task_assign |= 1u << array->cta[i].slot;
}

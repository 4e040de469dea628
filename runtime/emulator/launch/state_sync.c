// SPDX-License-Identifier: MIT
/*
 * States of tasks on their way to SMs (spec TSK-05): what an SM has been sent it acknowledges when the
 * SMs run next, and a CTA that comes meanwhile waits. An SM may be made to keep silent (TUTTI_INJECT_SILENT_SM).
 */
#include "emulator/sm/sm.h"

static bool is_silent(const struct sm_array *array, const struct cta *cta)
{
	return array->sm[cta->sm].silent[cta->slot / 32] >> (cta->slot % 32) & 1;
}

static void send_to(struct sm_array *array, unsigned slot, uint32_t sm)
{
	uint32_t bit = 1u << (slot % 32), *word = &array->sm[sm].silent[slot / 32];
	uint64_t silent;

	if (likely(!inject_armed(array->card, TUTTI_INJECT_SILENT_SM, &silent)) || silent != sm || *word & bit)
		return;
	*word |= bit;
	array->silent++;
}

void sync_send(struct sm_array *array, unsigned slot, unsigned flags, const uint32_t *mask, unsigned words)
{
	uint64_t silent;

	array->syncing[slot / 32] |= 1u << (slot % 32);
	if (flags & TUTTI_STATE_ACK)
		array->ack_asked[slot / 32] |= 1u << (slot % 32);
	array->sync_open = true;
	if (!mask) {
		array->states++;
		if (unlikely(inject_armed(array->card, TUTTI_INJECT_SILENT_SM, &silent)) && silent < array->sms)
			send_to(array, slot, (uint32_t)silent);
		return;
	}
	for (unsigned w = 0; w < words && w < MASK_WORDS; w++)
		for (uint32_t bits = mask[w]; bits; bits &= bits - 1) {
			uint32_t position = w * 32 + (uint32_t)__builtin_ctz(bits);

			if (position >= array->sms)
				return;
			array->sm[array->order[position]].states++;
			send_to(array, slot, array->order[position]);
		}
}

void sync_start(struct sm_array *array, struct cta *cta)
{
	const struct cta *one = cta;

	/* those of a CGA start together or not at all */
	if (unlikely(array->silent))
		for (; one; one = one->group)
			if (is_silent(array, one)) {
				cta_list_put(&array->unsynced, cta);
				return;
			}
	cta_list_put(&array->pending, cta);
}

/* SMs that keep silent no longer; CTAs that were waiting for them. */
static void wake_silent(struct sm_array *array)
{
	struct cta_list waiting;
	struct cta *cta;
	uint64_t silent;

	if (!inject_armed(array->card, TUTTI_INJECT_SILENT_SM, &silent))
		silent = ~0ull;
	for (uint32_t i = 0; i < array->sms; i++)
		for (unsigned w = 0; w < SM_SLOTS / 32 && i != silent; w++) {
			array->silent -= (uint32_t)__builtin_popcount(array->sm[i].silent[w]);
			array->sm[i].silent[w] = 0;
		}
	cta_list_init(&waiting);
	cta_list_splice(&waiting, &array->unsynced);
	while ((cta = cta_list_take(&waiting)))
		sync_start(array, cta);
}

static bool any_silent(const struct sm_array *array, unsigned slot)
{
	for (uint32_t i = 0; array->silent && i < array->sms; i++)
		if (array->sm[i].silent[slot / 32] >> (slot % 32) & 1)
			return true;
	return false;
}

void sync_acknowledge(struct sm_array *array)
{
	if (unlikely(array->silent))
		wake_silent(array);
	for (unsigned w = 0; w < SM_SLOTS / 32; w++) {
		array->syncing[w] = 0;
		for (uint32_t bits = array->ack_asked[w]; bits; bits &= bits - 1)
			if (!any_silent(array, w * 32 + (unsigned)__builtin_ctz(bits))) {
				array->ack_asked[w] &= ~(bits & -bits);
				array->acked[w] |= bits & -bits;
				array->ack_ready = true;
			}
	}
	array->sync_open = array->silent;
}

bool sync_report(struct sm_array *array, bool *any)
{
	for (unsigned w = 0; w < SM_SLOTS / 32; w++)
		for (; array->acked[w]; array->acked[w] &= array->acked[w] - 1) {
			unsigned slot = w * 32 + (unsigned)__builtin_ctz(array->acked[w]);
			struct tutti_event event = {{TUTTI_EVENT_STATE | slot << 8}};

			if (!engines_event(array->card, &event))
				return false;
			*any = true;
		}
	array->ack_ready = false;
	return true;
}

void sync_forget(struct sm_array *array, unsigned slot)
{
	uint32_t bit = 1u << (slot % 32);

	array->ack_asked[slot / 32] &= ~bit;
	array->acked[slot / 32] &= ~bit;
}

void sync_empty(struct sm_array *array)
{
	cta_list_init(&array->unsynced);
	for (unsigned w = 0; w < SM_SLOTS / 32; w++)
		array->syncing[w] = array->ack_asked[w] = array->acked[w] = 0;
	array->silent = 0;
	array->states = 0;
	array->sync_open = array->ack_ready = false;
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

void sm_array_sync(struct sm_array *array, struct tutti_sm_state *table)
{
	unsigned slots = array->slots < 32 ? array->slots : 32;

	for (uint32_t i = 0; i < array->sms; i++) {
		const struct sm *sm = &array->sm[i];
		uint32_t held = 0;

		for (unsigned slot = 0; slot < slots; slot++)
			held |= (uint32_t)holds(array, slot, i) << slot;
		table[i].task_assign = 0;
		table[i].state_sync = held & (array->syncing[0] | sm->silent[0]);
		table[i].cta_launch = held & ~table[i].state_sync;
		table[i].completed = sm->completed;
		table[i].states = array->states + sm->states;
		table[i].throttles = sm->throttles;
	}
	for (uint32_t i = 0; i < array->sms * array->limits->cta_slots; i++)
		if (array->cta[i].used && array->cta[i].slot < 32)
			table[array->cta[i].sm].task_assign |= 1u << array->cta[i].slot;
}

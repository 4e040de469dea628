// SPDX-License-Identifier: MIT
/*
 * Completions are reported by few events for many CTAs (spec SYS-09). Up to 160 SMs with equal counts share an event.
 * If there are many different counts, one event for each binary digit of the counts is cheaper.
 */
#include "emulator/launch/cga.h"
#include "emulator/launch/report.h"
#include "emulator/launch/state_sync.h"
#include "emulator/memory/event_ring.h"
#include "emulator/waves/schedule.h"
#include "emulator/waves/service_request.h"

#define WINDOW 5u

/* Put one event: the SMs of @mask have each completed @repeat CTAs more. */
static bool report_masks(struct sm_array *array, unsigned number, unsigned first, const uint32_t mask[WINDOW],
			 uint32_t repeat)
{
	struct slot *slot = &array->slot[number];
	struct tutti_event event = {0};
	uint32_t sms = 0, words = 1;

	for (unsigned i = 0; i < WINDOW; i++) {
		event.word[3 + i] = mask[i];
		sms += (uint32_t)__builtin_popcount(mask[i]);
		if (mask[i])
			words = i + 1;
	}
	event.word[0] = TUTTI_EVENT_CTA | number << 8 | first << 16 | words << 24;
	event.word[1] = repeat;
	event.word[2] = repeat * sms;
	if (!engines_event(array->card, &event))
		return false;
	for (unsigned i = 0; i < words; i++) {
		for (uint32_t bits = mask[i]; bits; bits &= bits - 1) {
			uint32_t *done = &slot->done[(first + i) * 32 + (uint32_t)__builtin_ctz(bits)];

			*done -= repeat;
			if (!*done)
				slot->done_mask[first + i] &= ~(bits & -bits);
		}
	}
	return true;
}

struct window {
	uint32_t least, any;  /* the smallest count; the OR of all counts */
	uint32_t distinct;    /* number of different counts, at most 33 */
};

static void look(const struct slot *slot, unsigned first, struct window *window)
{
	uint32_t seen[33];

	window->least = ~0u;
	window->any = window->distinct = 0;
	for (unsigned i = first; i < first + WINDOW && i < MASK_WORDS; i++) {
		for (uint32_t bits = slot->done_mask[i]; bits; bits &= bits - 1) {
			uint32_t n = slot->done[i * 32 + (uint32_t)__builtin_ctz(bits)], k = 0;

			window->any |= n;
			if (n < window->least)
				window->least = n;
			while (k < window->distinct && seen[k] != n)
				k++;
			if (k == window->distinct && k < 33)
				seen[window->distinct++] = n;
		}
	}
}

/* Find the SMs of the window that have a completion (@bit 0), or whose count has @bit set. */
static void pick(const struct slot *slot, unsigned first, uint32_t bit, uint32_t mask[WINDOW])
{
	for (unsigned i = 0; i < WINDOW; i++) {
		uint32_t all = first + i < MASK_WORDS ? slot->done_mask[first + i] : 0;

		mask[i] = bit ? 0 : all;
		for (uint32_t bits = bit ? all : 0; bits; bits &= bits - 1)
			if (slot->done[(first + i) * 32 + (uint32_t)__builtin_ctz(bits)] & bit)
				mask[i] |= bits & -bits;
	}
}

static bool report_window(struct sm_array *array, unsigned number, unsigned first, bool *any)
{
	const struct slot *slot = &array->slot[number];
	struct window window;
	uint32_t mask[WINDOW];

	while (slot->done_mask[first]) {
		uint32_t bit = 0;

		look(slot, first, &window);
		if ((uint32_t)__builtin_popcount(window.any) < window.distinct)
			bit = window.any & -window.any;
		pick(slot, first, bit, mask);
		if (!report_masks(array, number, first, mask, bit ? bit : window.least))
			return false;
		*any = true;
	}
	return true;
}

/* The most frequent case by far is that one SM has completions. */
static bool report_single(struct sm_array *array, unsigned number, unsigned first)
{
	struct slot *slot = &array->slot[number];
	uint32_t mask = slot->done_mask[first];
	uint32_t *done = &slot->done[first * 32 + (uint32_t)__builtin_ctz(mask)];
	struct tutti_event event = {{
		TUTTI_EVENT_CTA | number << 8 | first << 16 | 1u << 24, *done, *done, mask,
	}};

	if (!engines_event(array->card, &event))
		return false;
	*done = 0;
	slot->done_mask[first] = 0;
	return true;
}

static bool report_slot(struct sm_array *array, unsigned number, bool *any)
{
	struct slot *slot = &array->slot[number];
	uint32_t mask = slot->dirty_lo < MASK_WORDS ? slot->done_mask[slot->dirty_lo] : 0;

	if (likely(slot->dirty_hi == slot->dirty_lo + 1 && mask && !(mask & (mask - 1)))) {
		if (!report_single(array, number, slot->dirty_lo))
			return false;
		*any = true;
		slot->dirty_lo = MASK_WORDS;
		slot->dirty_hi = 0;
		return true;
	}
	for (unsigned w = slot->dirty_lo; w < slot->dirty_hi; w++) {
		/* Every pass empties at least word w, and mostly later words with it. */
		if (slot->done_mask[w] && !report_window(array, number, w, any))
			return false;
	}
	slot->dirty_lo = MASK_WORDS;
	slot->dirty_hi = 0;
	return true;
}

static bool report_fault(struct sm_array *array, const struct cta *cta)
{
	unsigned wave = sm_wave_slot(&array->sm[cta->sm], cta, cta->fault.wave);
	struct tutti_event event = {{
		TUTTI_EVENT_FAULT | (uint32_t)cta->slot << 8 | (uint32_t)cta->fault.cause << 16 |
			(uint32_t)cta->fault.access << 24,
		cta->sm | wave << 16,
		(uint32_t)cta->fault.pc, (uint32_t)(cta->fault.pc >> 32),
		(uint32_t)cta->fault.address, (uint32_t)(cta->fault.address >> 32),
		TUTTI_ENGINE_WAVE, 0,
	}};

	return engines_event(array->card, &event);
}

static bool report_killed(struct sm_array *array, bool *any)
{
	for (uint32_t i = array->killed_count; i-- > 0;) {
		uint64_t pc = array->killed[i].pc;
		struct tutti_event event = {{
			TUTTI_EVENT_KILLED | array->killed[i].slot << 8,
			array->killed[i].valid ? array->killed[i].sm_wave : ~0u,
			(uint32_t)pc, (uint32_t)(pc >> 32),
		}};

		if (array->slot[array->killed[i].slot].dying)
			continue;
		if (!engines_event(array->card, &event))
			return false;
		array->killed[i] = array->killed[--array->killed_count];
		*any = true;
	}
	return true;
}

bool sm_array_report(struct sm_array *array)
{
	bool any = false;

	if (unlikely(tutti_load_relaxed(&array->handed_count)))
		sm_array_collect(array);
	if (unlikely(array->acknowledged_any) && !sync_report(array, &any))
		return any;
	/* Faults come before completions, so that the firmware still knows the CGA of a fault. */
	if (unlikely(tutti_load_acquire(&array->faulted_cgas) != NULL) && !cga_report_faults(array, &any))
		return any;
	if (unlikely(array->dirty_cgas != NULL) && !cga_report_done(array, &any))
		return any;
	if (unlikely(tutti_load_acquire(&array->requested)) && !request_report(array, &any))
		return any;
	while (array->dirty_any) {
		unsigned i = (unsigned)__builtin_ctz(array->dirty_any);

		for (uint32_t bits = array->dirty[i]; bits; bits &= bits - 1) {
			if (!report_slot(array, i * 32 + (uint32_t)__builtin_ctz(bits), &any))
				return any;
			array->dirty[i] &= ~(bits & -bits);
		}
		array->dirty_any &= array->dirty_any - 1;
	}
	while (unlikely(array->faults.head)) {
		if (!report_fault(array, array->faults.head))
			return any;
		cta_list_take(&array->faults);
		any = true;
	}
	if (unlikely(array->killed_count))
		report_killed(array, &any);
	return any;
}

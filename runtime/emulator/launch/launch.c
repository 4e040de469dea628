// SPDX-License-Identifier: MIT
/*
 * The commands LAUNCH and ORDER. CTAs of a CGA are staged until END_OF_CGA and cannot run before, so that a CGA starts
 * as a whole or not at all (spec CGA-03).
 */
#include <errno.h>

#include "emulator/launch/array.h"
#include "emulator/launch/cga.h"
#include "emulator/launch/cta_trace.h"
#include "emulator/launch/launch.h"

/* ---- launches with flags: CGAs and work items ---- */

#define CGA_WORDS 2u
#define WORK_WORDS 3u

struct launch {
	struct sm_array *array;
	unsigned slot, flags;
	unsigned gpc;    /* TUTTI_GPC_NONE if masks go by position on the whole card */
	struct cga *cga; /* NULL if the CTAs have no ranks */
	uint32_t lmem, items;
	uint64_t first_item;
};

static void stage(struct sm_array *array, struct cta *cta)
{
	/* Only the first CTA of a CGA is listed; the others follow it. */
	if (!cta->cga || cta->cga->first == cta)
		cta_list_put(&array->stage.ctas, cta);
}

static int launch_on(struct launch *launch, unsigned sm)
{
	struct sm_array *array = launch->array;
	struct cta *cta = cta_launch(array, &array->slot[launch->slot], launch->slot, sm);

	if (!cta)
		return -EINVAL;
	cta->special = true;
	cta->lmem = launch->lmem;
	cta->work_first = launch->first_item;
	cta->work_items = launch->items;
	launch->first_item += launch->items;
	tutti_store_relaxed(&array->resident, array->resident + 1);
	if (launch->cga && !cga_add(array, launch->cga, cta))
		return -EINVAL;
	if (launch->flags & TUTTI_LAUNCH_CGA)
		stage(array, cta);
	else
		cta_list_put(&array->pending, cta);
	return 0;
}

/* Return: the SM at @position of the masks of @launch, ~0 if there is none. */
static unsigned sm_at(const struct launch *launch, unsigned position)
{
	struct sm_array *array = launch->array;

	if (launch->gpc == TUTTI_GPC_NONE)
		return position < array->sms ? array->order[position] : ~0u;
	if (position >= array->gpc[launch->gpc].sms)
		return ~0u;
	return array->limits->gpc[launch->gpc].first_sm + array->gpc[launch->gpc].order[position];
}

static int launch_mask(struct launch *launch, unsigned first, const uint32_t *mask, unsigned words)
{
	for (unsigned w = 0; w < words; w++) {
		for (uint32_t bits = mask[w]; bits; bits &= bits - 1) {
			unsigned sm = sm_at(launch, (first + w) * 32 + (unsigned)__builtin_ctz(bits));

			if (sm == ~0u || launch_on(launch, sm))
				return -EINVAL;
		}
	}
	return 0;
}

static int launch_segments(struct launch *launch, const uint32_t *words, unsigned n)
{
	while (n) {
		unsigned repeat = words[0] & 0xffff, first = words[0] >> 16 & 0xff, count = words[0] >> 24;

		words++;
		n--;
		if (!count || count > n || first + count > MASK_WORDS)
			return -EINVAL;
		while (repeat--)
			if (launch_mask(launch, first, words, count))
				return -EINVAL;
		words += count;
		n -= count;
	}
	return 0;
}

/* Launches of different CGAs must not mix: the one that is open has to be ended first. */
static bool open_stage(struct launch *launch, uint32_t word)
{
	struct sm_array *array = launch->array;
	uint32_t sequence = word & 0xffff, id = word >> 16 & 0xff;
	const struct task *task = array->slot[launch->slot].task;

	launch->gpc = word >> 24;
	if (array->stage.open && (array->stage.slot != launch->slot || array->stage.sequence != sequence))
		return false;
	array->stage.open = true;
	array->stage.slot = launch->slot;
	array->stage.sequence = sequence;
	if (launch->gpc == TUTTI_GPC_NONE)
		return !task->cga_ctas;
	launch->cga = cga_open(array, launch->gpc, id, launch->slot);
	return launch->cga;
}

static int close_stage(struct sm_array *array)
{
	struct cta *cta;

	array->stage.open = false;
	for (cta = array->stage.ctas.head; cta; cta = cta->next)
		if (cta->cga && !cga_close(array, cta->cga))
			return -EINVAL;
	cta_list_splice(&array->pending, &array->stage.ctas);
	return 0;
}

static int launch_special(struct sm_array *array, unsigned slot, unsigned flags, const uint32_t *words, unsigned n)
{
	struct launch launch = {.array = array, .slot = slot, .flags = flags, .gpc = TUTTI_GPC_NONE, .lmem = ~0u};
	unsigned head = (flags & TUTTI_LAUNCH_CGA ? CGA_WORDS : 0) + (flags & TUTTI_LAUNCH_WORK ? WORK_WORDS : 0);

	if (flags & ~(TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA | TUTTI_LAUNCH_WORK) ||
	    (flags & TUTTI_LAUNCH_END_OF_CGA && !(flags & TUTTI_LAUNCH_CGA)) || n < head)
		return -EINVAL;
	if (flags & TUTTI_LAUNCH_CGA) {
		launch.lmem = words[1];
		if ((launch.lmem != ~0u && launch.lmem >= array->limits->lmem_slots) || !open_stage(&launch, words[0]))
			return -EINVAL;
	}
	if (flags & TUTTI_LAUNCH_WORK) {
		const uint32_t *work = words + head - WORK_WORDS;

		launch.first_item = work[0] | (uint64_t)work[1] << 32;
		launch.items = work[2];
	}
	if (launch_segments(&launch, words + head, n - head))
		return -EINVAL;
	return flags & TUTTI_LAUNCH_END_OF_CGA ? close_stage(array) : 0;
}

/* ---- plain launches ---- */

static int launch_segment(struct sm_array *array, unsigned number, unsigned repeat, unsigned first,
			  const uint32_t *mask, unsigned words, unsigned *launched)
{
	struct slot *slot = &array->slot[number];

	while (repeat--) {
		for (unsigned w = 0; w < words; w++) {
			for (uint32_t bits = mask[w]; bits; bits &= bits - 1) {
				uint32_t position = (first + w) * 32 + (uint32_t)__builtin_ctz(bits);
				struct cta *cta = NULL;

				if (position < array->sms)
					cta = cta_launch(array, slot, number, array->order[position]);
				if (unlikely(!cta))
					return -EINVAL;
				cta_list_put(&array->pending, cta);
				++*launched;
			}
		}
	}
	return 0;
}

int sm_array_launch(struct sm_array *array, unsigned number, unsigned flags, const uint32_t *words, unsigned n)
{
	const struct task *task;
	unsigned launched = 0;
	int error = 0;

	if (number >= array->slots || !array->slot[number].task)
		return -EINVAL;
	task = array->slot[number].task;
	if (!task->state.waves || task->state.asid >= TUTTI_MAX_CONTEXTS)
		return -EINVAL;
	if (unlikely(array->slot[number].unacknowledged))
		return -EAGAIN;
	if (cta_tracing(array))
		cta_trace_launch(array, number, flags, words, n);
	if (unlikely(flags))
		return launch_special(array, number, flags, words, n);
	while (n && !error) {
		unsigned repeat = words[0] & 0xffff, first = words[0] >> 16 & 0xff, count = words[0] >> 24;

		words++;
		n--;
		if (!count || count > n || first + count > MASK_WORDS)
			return -EINVAL;
		error = launch_segment(array, number, repeat, first, words, count, &launched);
		words += count;
		n -= count;
	}
	tutti_store_relaxed(&array->resident, array->resident + launched);
	return error;
}

void sm_array_order(struct sm_array *array, unsigned first, const uint32_t *words, unsigned n)
{
	for (unsigned i = 0; i < 2 * n && first + i < array->sms; i++) {
		uint32_t sm = words[i / 2] >> (16 * (i & 1)) & 0xffff;

		if (sm >= array->sms)
			continue;
		array->order[first + i] = (uint16_t)sm;
		array->position[sm] = (uint16_t)(first + i);
	}
	cga_order(array);
}

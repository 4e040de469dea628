// SPDX-License-Identifier: MIT
/* Trace records of task states, of LAUNCH commands, and of CTAs as SMs take them. */
#include <string.h>

#include "emulator/launch/cta_trace.h"

static bool wants(const struct sm_array *array, unsigned kind)
{
	return tutti_load_relaxed(array->trace) >> kind & 1;
}

/* Return: the number of CTAs of an outermost CGA and, from bit 24 on, its kind; 0 without CGAs. */
static uint32_t group_of(const struct task *task)
{
	uint32_t ctas = 1, kind = TUTTI_CGA_NONE;

	for (unsigned i = 0; i < TUTTI_CGA_LEVELS; i++) {
		const struct tutti_cga_shape *level = &task->level[i];

		if (level->kind == TUTTI_CGA_NONE)
			continue;
		ctas *= (uint32_t)level->x * level->y * level->z;
		kind = level->kind;
	}
	return kind ? (ctas & 0xffffff) | kind << 24 : 0;
}

/* Return: 1 + the number of the CTA's outermost CGA in the grid, in which x counts fastest. */
static uint32_t group_number(const struct cta *cta)
{
	const struct task *task = cta->task;
	uint32_t at[3] = {cta->at.x, cta->at.y, cta->at.z};
	uint32_t n[3] = {task->state.groups_x, task->state.groups_y, task->state.groups_z};

	if (!task->shape.levels)
		return 0;
	for (unsigned i = 0; i < task->shape.levels; i++)
		for (unsigned d = 0; d < 3; d++) {
			at[d] /= task->shape.extent[i][d];
			n[d] /= task->shape.extent[i][d];
		}
	return 1 + at[0] + n[0] * (at[1] + n[1] * at[2]);
}

void cta_trace_state(struct sm_array *array, unsigned slot)
{
	const struct task *task = array->slot[slot].task;
	const struct tutti_task_state *state = &task->state;
	uint64_t ctas = (uint64_t)state->groups_x * state->groups_y;

	ctas = ctas > UINT32_MAX ? UINT32_MAX : ctas * state->groups_z;
	card_trace(array->card, TUTTI_TRACE_STATE, state->queue, state->waves, slot, state->packet,
		   ctas > UINT32_MAX ? UINT32_MAX : (uint32_t)ctas, group_of(task));
	card_trace(array->card, TUTTI_TRACE_ENTRY, state->queue, 0xffff, slot, state->entry, 0, 0);
}

/* Return: how many more CTAs of @task fit the SM now. */
static uint8_t availability(const struct sm_array *array, const struct sm *sm, struct task *task)
{
	struct wave_slot waves[SM_WAVES];
	struct sm trial = *sm;
	struct cta cta = {.task = task, .waves = task->split ? 1 : task->state.waves};
	unsigned n = 0;

	memcpy(waves, sm->wave, array->sm_waves * sizeof(*waves));
	trial.wave = waves;
	while (n < UINT8_MAX && sm_take(&trial, array->limits, &cta))
		n++;
	return (uint8_t)n;
}

static void trace_free(struct sm_array *array, unsigned slot)
{
	for (uint32_t first = 0; first < array->sms; first += TUTTI_TRACE_SMS) {
		struct tutti_trace_free record = {.kind = TUTTI_TRACE_FREE, .first = (uint16_t)first,
						  .slot = (uint16_t)slot};
		struct tutti_trace raw;

		while (record.sms < TUTTI_TRACE_SMS && first + record.sms < array->sms) {
			record.free[record.sms] = availability(array, &array->sm[first + record.sms],
							       array->slot[slot].task);
			record.sms++;
		}
		memcpy(&raw, &record, sizeof(raw));
		card_trace_record(array->card, &raw);
	}
}

/* Return: how many CTAs a LAUNCH starts. If it is malformed, sm_array_launch() refuses it later. */
static uint32_t ctas_of(const uint32_t *words, unsigned n)
{
	uint32_t ctas = 0;

	while (n) {
		uint32_t repeat = words[0] & 0xffff, count = words[0] >> 24;

		words++;
		n--;
		for (; count && n; count--, n--)
			ctas += repeat * (uint32_t)__builtin_popcount(*words++);
	}
	return ctas;
}

void cta_trace_launch(struct sm_array *array, unsigned slot, unsigned flags, const uint32_t *words, unsigned n)
{
	const struct task *task = array->slot[slot].task;
	unsigned head = (flags & TUTTI_LAUNCH_CGA ? 2 : 0) + (flags & TUTTI_LAUNCH_WORK ? 3 : 0);
	uint32_t gpc = 0xffff, value = 0;

	if (n < head)
		return;
	if (wants(array, TUTTI_TRACE_FREE))
		trace_free(array, slot);
	if (flags & TUTTI_LAUNCH_CGA) {
		value = (words[0] & 0xffffff) | flags << 24;
		gpc = words[0] >> 24 == TUTTI_GPC_NONE ? 0xffff : words[0] >> 24;
	}
	card_trace(array->card, TUTTI_TRACE_PLACE, task->state.queue, gpc, slot, task->state.packet,
		   ctas_of(words + head, n - head), value);
}

void cta_trace_cta(struct sm_array *array, const struct cta *cta)
{
	card_trace(array->card, TUTTI_TRACE_CTA, cta->task->state.queue, cta->sm, cta->slot, cta->task->state.packet,
		   cta->at.index, wants(array, TUTTI_TRACE_CTA) ? group_number(cta) : 0);
}

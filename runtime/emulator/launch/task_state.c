// SPDX-License-Identifier: MIT
/* The commands STATE and TASK, and which CTA of its grid a launch starts. All of it runs in the driving thread. */
#include <stdlib.h>
#include <string.h>

#include "emulator/launch/cta_trace.h"
#include "emulator/launch/state_sync.h"
#include "emulator/launch/task_state.h"
#include "emulator/hart/hart.h"

void task_put(struct sm_array *array, struct task *task)
{
	if (--task->references)
		return;
	task->next = array->free_tasks;
	array->free_tasks = task;
}

static struct task *task_get(struct sm_array *array)
{
	struct task *task = array->free_tasks;

	if (task)
		array->free_tasks = task->next;
	else
		task = malloc(sizeof(*task));
	if (task)
		task->references = 1;
	return task;
}

static void task_fill(struct sm_array *array, struct task *task, const struct tutti_task_state *state,
		      const struct raster_shape *shape, const struct tutti_cga_shape *level, bool split)
{
	struct tutti_wave_info *info = &task->info;

	task->state = *state;
	task->shape = *shape;
	task->split = split;
	memcpy(task->level, level, sizeof(task->level));
	task->cga_ctas = (uint32_t)state->cga_x * state->cga_y * state->cga_z;
	task->serial = ++array->serials;
	task->items = (uint32_t)state->workgroup_x * state->workgroup_y * state->workgroup_z;
	task->stack_class = stack_class(state->private_bytes);
	task->edge = state->grid_x % (state->workgroup_x ? state->workgroup_x : 1) ||
		     state->grid_y % (state->workgroup_y ? state->workgroup_y : 1) ||
		     state->grid_z % (state->workgroup_z ? state->workgroup_z : 1);
	memset(info, 0, sizeof(*info));
	info->kernarg = state->kernarg;
	info->shared_bytes = state->shared_bytes;
	info->waves = state->waves;
	info->groups[0] = state->groups_x;
	info->groups[1] = state->groups_y;
	info->groups[2] = state->groups_z;
	info->grid[0] = state->grid_x;
	info->grid[1] = state->grid_y;
	info->grid[2] = state->grid_z;
	info->workgroup[0] = info->extent[0] = state->workgroup_x;
	info->workgroup[1] = info->extent[1] = state->workgroup_y;
	info->workgroup[2] = info->extent[2] = state->workgroup_z;
	info->queue = state->queue;
	info->dimensions = state->dimensions;
	info->cga_ctas = task->cga_ctas ? task->cga_ctas : 1;
	info->cga_size[0] = task->cga_ctas ? state->cga_x : 1;
	info->cga_size[1] = task->cga_ctas ? state->cga_y : 1;
	info->cga_size[2] = task->cga_ctas ? state->cga_z : 1;
	memcpy(info->cga_level, level, sizeof(info->cga_level));
	info->lmem = ~0u;
	info->tmd = state->tmd;
	info->packet = state->packet;
}

static bool same_task(const struct task *task, const struct tutti_task_state *state,
		      const struct tutti_cga_shape *level, bool split)
{
	struct tutti_task_state c = *state;

	c.first = task->state.first;
	return task->split == split && !memcmp(&task->state, &c, sizeof(c)) &&
	       !memcmp(task->level, level, sizeof(task->level));
}

/* Find the CGA shapes of a state: those given, or one level made of its cga_x, y and z, or none. */
static bool find_levels(struct sm_array *array, const struct tutti_task_state *state,
			const struct tutti_cga_shape *given, struct tutti_cga_shape level[TUTTI_CGA_LEVELS],
			struct raster_shape *shape)
{
	const uint32_t groups[3] = {state->groups_x, state->groups_y, state->groups_z};
	uint32_t size[3] = {1, 1, 1};

	memset(level, 0, sizeof(*level) * TUTTI_CGA_LEVELS);
	if (given)
		memcpy(level, given, sizeof(*level) * TUTTI_CGA_LEVELS);
	else if (state->cga_x)
		level[0] = (struct tutti_cga_shape){state->cga_x, state->cga_y, state->cga_z, TUTTI_CGA_GPC};
	else
		return raster_shape_init(shape, groups, NULL);
	if (!raster_shape_init(shape, groups, level))
		return false;
	for (unsigned i = 0; i < shape->identity; i++)
		for (unsigned d = 0; d < 3; d++)
			size[d] *= shape->extent[i][d];
	if (!shape->identity)
		return !state->cga_x;
	return size[0] == state->cga_x && size[1] == state->cga_y && size[2] == state->cga_z &&
	       (uint64_t)size[0] * size[1] * size[2] <= array->limits->cga_ctas;
}

/* Begin a view of a task at CTA (or, if it is split, wave) number @first, after @count launches of the slot. */
static void view_start(struct view *view, const struct task *task, uint32_t first, uint64_t count)
{
	uint16_t waves = task->state.waves;

	if (likely(!task->split)) {
		rasteriser_start(&view->raster, &task->shape, first, count);
		return;
	}
	view->split_base = count - first % waves;
	rasteriser_start(&view->raster, &task->shape, first / waves, 0);
}

void task_view(struct view *view, const struct slot *slot)
{
	view->epoch = slot->epoch;
	view->version = slot->all_version;
	view_start(view, slot->task, slot->first, slot->base);
}

void task_place(struct view *view, const struct task *task, uint64_t count, struct cta *cta)
{
	cta->waves = task->state.waves;
	cta->first_wave = 0;
	if (unlikely(task->split)) {
		count -= view->split_base;
		cta->first_wave = (uint16_t)(count % cta->waves);
		count /= cta->waves;
		cta->waves = 1;
	}
	rasteriser_advance(&view->raster, &task->shape, count);
	rasteriser_place(&view->raster, &task->shape, &cta->at);
}

static void state_to_mask(struct sm_array *array, unsigned number, uint32_t first, const uint32_t *mask,
			  unsigned words)
{
	struct slot *slot = &array->slot[number];

	for (unsigned w = 0; w < words && w < MASK_WORDS; w++) {
		for (uint32_t bits = mask[w]; bits; bits &= bits - 1) {
			uint32_t position = w * 32 + (uint32_t)__builtin_ctz(bits);
			struct view *view;

			if (position >= array->sms)
				return;
			view = &array->view[array->order[position] * array->slots + number];
			view->epoch = slot->epoch;
			view->version = slot->version;
			view_start(view, slot->task, first, slot->launches);
		}
	}
}

/* The waves of a split CTA share nothing, so such a task has no shared memory, barriers or CGAs. */
static bool can_split(const struct tutti_task_state *state, const struct raster_shape *shape)
{
	return state->waves && !state->shared_blocks && !state->barriers && !shape->levels;
}

void sm_array_state(struct sm_array *array, unsigned number, unsigned flags, const struct tutti_task_state *state,
		    const struct tutti_cga_shape *given, const uint32_t *mask, unsigned words)
{
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	struct raster_shape shape;
	struct slot *slot;
	bool split = flags & TUTTI_STATE_SPLIT;

	if (number >= array->slots)
		return; /* a launch into such a slot is refused */
	slot = &array->slot[number];
	sync_send(array, number, mask, words);
	if (!find_levels(array, state, given, level, &shape) || (split && !can_split(state, &shape))) {
		if (slot->task)
			task_put(array, slot->task);
		slot->task = NULL; /* launches are refused until a valid state comes */
		return;
	}
	if (!slot->task || !same_task(slot->task, state, level, split)) {
		struct task *task = slot->task;

		if (!task || task->references > 1) {
			if (task)
				task_put(array, task);
			slot->task = task = task_get(array);
			if (!task)
				return;
		}
		task_fill(array, task, state, &shape, level, split);
		slot->version++;
	}
	if (cta_tracing(array))
		cta_trace_state(array, number);
	if (mask) {
		state_to_mask(array, number, state->first, mask, words);
		return;
	}
	/* A state for all SMs is taken over by each SM when it next needs it (task_view()). */
	slot->epoch++;
	slot->all_version = slot->version;
	slot->base = slot->launches;
	slot->first = state->first;
}

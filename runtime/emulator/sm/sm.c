// SPDX-License-Identifier: MIT
/*
 * SM array: task states, launches, completions. All of it runs in the driving
 * thread; see sm.h for the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/sm.h"

static bool limits_ok(const struct tutti_discovery *limits)
{
	return limits->sms && limits->sms <= TUTTI_MAX_SMS && limits->peus && limits->peus <= SM_PEUS &&
	       limits->peu_waves && limits->peus * limits->peu_waves <= SM_WAVES &&
	       limits->scalar_blocks <= SM_BLOCK_WORDS * 64 && limits->vector_blocks <= SM_BLOCK_WORDS * 64 &&
	       limits->shared_blocks <= SM_BLOCK_WORDS * 64 && limits->task_slots <= SM_SLOTS &&
	       limits->cta_slots && limits->cta_slots <= 65535;
}

static void pool_reset(struct sm_array *array)
{
	uint32_t n = array->sms * array->limits->cta_slots;

	array->free_ctas = NULL;
	for (uint32_t i = n; i-- > 0;) {
		struct cta *cta = &array->cta[i];

		memset(cta, 0, sizeof(*cta));
		cta->number = i;
		cta->next = array->free_ctas;
		array->free_ctas = cta;
	}
}

/* sm_array_empty() - as after power-on, but for engines and threads. */
static void sm_array_empty(struct sm_array *array)
{
	for (uint32_t i = 0; i < array->sms; i++) {
		sm_init(&array->sm[i], array->limits);
		array->order[i] = array->position[i] = (uint16_t)i;
	}
	memset(array->view, 0, sizeof(*array->view) * array->sms * array->slots);
	for (uint32_t i = 0; i < array->slots; i++) {
		struct slot *slot = &array->slot[i];
		uint32_t *done = slot->done;

		if (slot->task)
			task_put(array, slot->task);
		memset(slot, 0, sizeof(*slot));
		memset(done, 0, sizeof(*done) * array->sms);
		slot->done = done;
		slot->epoch = 1;
		slot->dirty_lo = MASK_WORDS;
	}
	memset(array->dirty, 0, sizeof(array->dirty));
	array->dirty_any = 0;
	cta_list_init(&array->pending);
	cta_list_init(&array->faults);
	sync_empty(array);
	wave_list_init(&array->asked);
	wave_list_init(&array->requests);
	array->requested = 0;
	array->killed_count = 0;
	sm_tensor_empty(array);
	pool_reset(array);
	cga_empty(array);
	tutti_store_relaxed(&array->resident, 0);
}

static void sm_array_free(struct sm_array *array)
{
	struct task *task;

	for (uint32_t i = 0; array->sm && i < array->sms; i++)
		free(array->sm[i].wave);
	for (uint32_t i = 0; array->slot && i < array->slots; i++) {
		free(array->slot[i].task);
		free(array->slot[i].done);
	}
	while ((task = array->free_tasks)) {
		array->free_tasks = task->next;
		free(task);
	}
	cga_destroy(array);
	free(array->sm);
	free(array->slot);
	free(array->view);
	free(array->cta);
	free(array->killed);
	if (array->window)
		pthread_mutex_destroy(&array->energy_lock);
	sm_tensor_destroy(array);
	free(array);
}

static bool sm_array_allocate(struct sm_array *array)
{
	array->sm = calloc(array->sms, sizeof(*array->sm));
	array->slot = calloc(array->slots, sizeof(*array->slot));
	array->view = aligned_alloc(64, (size_t)array->sms * array->slots * sizeof(*array->view)); /* cleared later */
	array->cta = calloc((size_t)array->sms * array->limits->cta_slots, sizeof(*array->cta));
	array->killed = calloc(array->slots, sizeof(*array->killed));
	if (!array->sm || !array->slot || !array->view || !array->cta || !array->killed)
		return false;
	for (uint32_t i = 0; i < array->sms; i++)
		if (!(array->sm[i].wave = calloc(array->sm_waves, sizeof(struct wave_slot))))
			return false;
	for (uint32_t i = 0; i < array->slots; i++)
		if (!(array->slot[i].done = calloc(array->sms, sizeof(uint32_t))))
			return false;
	return !sm_tensor_create(array);
}

int sm_array_create(struct tutti_card *card, struct sm_array **out)
{
	const struct tutti_discovery *limits = card_discovery(card);
	struct sm_array *array;
	int error;

	if (!limits_ok(limits))
		return -EINVAL;
	array = calloc(1, sizeof(*array));
	if (!array)
		return -ENOMEM;
	array->card = card;
	array->limits = limits;
	array->trace = card_trace_kinds(card);
	array->acknowledge = card_config(card)->acknowledge;
	array->deterministic = card_config(card)->mode == TUTTI_CARD_DETERMINISTIC;
	array->sms = limits->sms;
	array->slots = limits->task_slots ? limits->task_slots : 1;
	array->sm_waves = limits->peus * limits->peu_waves;
	array->shared_stride = ((uint64_t)throttle_most(limits) * limits->shared_block_bytes + 4095) & ~4095ull;
	error = sm_array_allocate(array) ? cga_create(array) : -ENOMEM;
	if (error) {
		sm_array_free(array);
		return error;
	}
	energy_init(array);
	sm_array_empty(array);
	error = schedule_init(array);
	if (error) {
		sm_array_free(array);
		return error;
	}
	*out = array;
	return 0;
}

void sm_array_destroy(struct sm_array *array)
{
	if (!array)
		return;
	sm_array_reset(array);
	schedule_fini(array);
	sm_array_free(array);
}

void sm_array_reset(struct sm_array *array)
{
	engines_pause(array);
	for (unsigned e = 0; e < array->engines; e++) {
		struct engine *engine = &array->engine[e];

		while (engine->harts)
			hart_destroy(engine->harts);
		wave_list_init(&engine->ready);
		wave_list_init(&engine->yielded);
		wave_list_init(&engine->blocked);
		wave_list_init(&engine->replied);
		engine->replies = 0;
		cta_list_init(&engine->batch);
		cta_list_init(&engine->ended);
		cta_list_init(&engine->handed);
		cta_list_init(&engine->faulted);
		engine->starting = NULL;
		engine->handoff = NULL;
	}
	cta_list_init(&array->shared);
	tutti_store_relaxed(&array->shared_count, 0);
	tutti_store_relaxed(&array->handed_count, 0);
	tutti_store_relaxed(&array->blocked, 0);
	for (uint32_t i = 0; i < array->sms * array->limits->cta_slots; i++)
		if (array->cta[i].used)
			task_put(array, array->cta[i].task);
	sm_array_empty(array);
	engines_resume(array);
}

/* ---- task states ------------------------------------------------------ */

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
	return task->split == split && !memcmp(&task->state, &c, sizeof(c)) && !memcmp(task->level, level, sizeof(task->level));
}

/* The CGA shapes of a state: given, or one level from its cga_x, y, z, or none. */
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

/* A view of a task from its CTA (of a split task: wave) number @first on; @count launches were seen before. */
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

/* The SM starts launch number @count of the slot: where is it? */
static void view_place(struct view *view, const struct task *task, uint64_t count, struct cta *cta)
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

/* Waves of a split CTA do not know each other. */
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
		slot->task = NULL; /* no launch before a better one */
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
	if (sm_tracing(array))
		sm_trace_state(array, number);
	if (mask) {
		state_to_mask(array, number, state->first, mask, words);
		return;
	}
	/* To all: the SMs take it over when they are needed. */
	slot->epoch++;
	slot->all_version = slot->version;
	slot->base = slot->launches;
	slot->first = state->first;
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

/* ---- launch ----------------------------------------------------------- */

struct cta *cta_launch(struct sm_array *array, struct slot *slot, unsigned number, unsigned sm)
{
	struct view *view = &array->view[sm * array->slots + number];
	struct task *task = slot->task;
	struct cta *cta = array->free_ctas;

	if (unlikely(view->epoch != slot->epoch)) {
		view->epoch = slot->epoch;
		view->version = slot->all_version;
		view_start(view, task, slot->first, slot->base);
	}
	if (unlikely(view->version != slot->version || !cta))
		return NULL;
	view_place(view, task, slot->launches++, cta);
	cta->task = task;
	if (unlikely(!sm_take(&array->sm[sm], array->limits, cta)))
		return NULL;
	if (unlikely(array->energy))
		array->sm[sm].resource_energy += energy_of_resources(array, &task->state);
	array->free_ctas = cta->next;
	task->references++;
	cta->engine = NULL;
	cta->hart = NULL;
	cta->live = NULL;
	cta->waiting = NULL;
	cta->waiting_end = &cta->waiting;
	cta->group = NULL;
	cta->cga = NULL;
	cta->sm = (uint16_t)sm;
	cta->left = cta->waves;
	cta->started = cta->arrived = 0;
	cta->asked = cta->served = 0;
	cta->failed = cta->draining = cta->killed = false;
	cta->slot = (uint8_t)number;
	cta->used = true;
	cta->frozen = cta->special = false;
	slot->resident++;
	if (sm_tracing(array))
		sm_trace_cta(array, cta);
	return cta;
}

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
	if (sm_tracing(array))
		sm_trace_launch(array, number, flags, words, n);
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

static void note_done(struct sm_array *array, const struct cta *cta)
{
	struct slot *slot = &array->slot[cta->slot];
	uint32_t position = array->position[cta->sm], w = position / 32;

	slot->done[position]++;
	slot->done_mask[w] |= 1u << (position % 32);
	if (w < slot->dirty_lo)
		slot->dirty_lo = w;
	if (w >= slot->dirty_hi)
		slot->dirty_hi = w + 1;
	array->dirty[cta->slot / 32] |= 1u << (cta->slot % 32);
	array->dirty_any |= 1u << (cta->slot / 32);
}

void cta_release(struct sm_array *array, struct cta *cta)
{
	struct slot *slot = &array->slot[cta->slot];

	/* Movers still work for it, or the firmware has yet to hear of a fault. */
	if (unlikely(tensor_open(cta) || (cta->failed && !cta->killed))) {
		cta->draining = true;
		return;
	}
	slot->dying -= cta->killed;
	card_trace(array->card, TUTTI_TRACE_CTA_DONE, cta->task->state.queue, cta->sm, cta->slot,
		   cta->task->state.packet, cta->at.index, 1);
	if (unlikely(cta->cga != NULL))
		cga_complete(array, cta);
	else
		note_done(array, cta);
	sm_give(&array->sm[cta->sm], array->limits, cta);
	array->sm[cta->sm].completed++;
	slot->resident--;
	task_put(array, cta->task);
	cta->used = false;
	cta->next = array->free_ctas;
	array->free_ctas = cta;
	tutti_store_relaxed(&array->resident, array->resident - 1);
}

bool sm_array_busy(struct sm_array *array)
{
	return tutti_load_relaxed(&array->resident) != 0;
}

// SPDX-License-Identifier: MIT
/* Creation and end of the SM array, and CTAs from launch to completion. All of it runs in the driving thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/base/config.h"
#include "emulator/base/trace.h"
#include "emulator/base/window.h"
#include "emulator/launch/array.h"
#include "emulator/launch/cga.h"
#include "emulator/launch/cta_trace.h"
#include "emulator/launch/state_sync.h"
#include "emulator/launch/stop.h"
#include "emulator/launch/task_state.h"
#include "emulator/hart/energy.h"
#include "emulator/translated/translated.h"
#include "emulator/hart/hart.h"
#include "emulator/waves/schedule.h"
#include "emulator/waves/tensor_port.h"

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

/* sm_array_empty() - put all but engines and threads into the state after power-on. */
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
	tensor_port_empty(array);
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
	free(array->alone);
	free(array->killed);
	if (array->window)
		pthread_mutex_destroy(&array->energy_lock);
	tensor_port_destroy(array);
	free(array);
}

static bool sm_array_allocate(struct sm_array *array)
{
	array->sm = calloc(array->sms, sizeof(*array->sm));
	array->slot = calloc(array->slots, sizeof(*array->slot));
	array->view = aligned_alloc(64, (size_t)array->sms * array->slots * sizeof(*array->view)); /* cleared later */
	array->cta = calloc((size_t)array->sms * array->limits->cta_slots, sizeof(*array->cta));
	array->alone = calloc((size_t)array->sms * array->limits->cta_slots, sizeof(*array->alone));
	array->killed = calloc(array->slots, sizeof(*array->killed));
	if (!array->sm || !array->slot || !array->view || !array->cta || !array->alone || !array->killed)
		return false;
	for (uint32_t i = 0; i < array->sms; i++)
		if (!(array->sm[i].wave = calloc(array->sm_waves, sizeof(struct wave_slot))))
			return false;
	for (uint32_t i = 0; i < array->slots; i++)
		if (!(array->slot[i].done = calloc(array->sms, sizeof(uint32_t))))
			return false;
	return !tensor_port_create(array);
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
	array->release = cta_release;
	array->limits = limits;
	array->trace = card_trace_kinds(card);
	array->acknowledge = card_config(card)->acknowledge;
	array->deterministic = card_config(card)->mode == TUTTI_CARD_DETERMINISTIC;
	array->sms = limits->sms;
	array->slots = limits->task_slots ? limits->task_slots : 1;
	array->sm_waves = limits->peus * limits->peu_waves;
	array->shared_stride = ((uint64_t)window_shared_most(limits) * limits->shared_block_bytes + 4095) & ~4095ull;
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
	array->translator = translator_create(hart_code_ready, array);
	*out = array;
	return 0;
}

void sm_array_destroy(struct sm_array *array)
{
	if (!array)
		return;
	sm_array_reset(array);
	translator_destroy(array->translator); /* no wave uses it any more, but its thread takes a lock that is destroyed next */
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

/* ---- CTAs ------------------------------------------------------------- */

struct cta *cta_launch(struct sm_array *array, struct slot *slot, unsigned number, unsigned sm)
{
	struct view *view = &array->view[sm * array->slots + number];
	struct task *task = slot->task;
	struct cta *cta = array->free_ctas;

	if (unlikely(view->epoch != slot->epoch))
		task_view(view, slot);
	if (unlikely(view->version != slot->version || !cta))
		return NULL;
	task_place(view, task, slot->launches++, cta);
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
	cta->lmem = ~0u;
	cta->left = cta->waves;
	cta->started = cta->arrived = 0;
	cta->asked = cta->served = 0;
	cta->failed = cta->draining = cta->killed = false;
	cta->slot = (uint8_t)number;
	cta->used = true;
	cta->frozen = cta->special = cta->met = false;
	slot->resident++;
	if (cta_tracing(array))
		cta_trace_cta(array, cta);
	return cta;
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

	/* It stays while movers work for it, or until its fault has been reported to the firmware. */
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
	sm_give(&array->sm[cta->sm], cta);
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

// SPDX-License-Identifier: MIT
/*
 * KILL and invalidation, for which the engines have to pause. While they do, the driving thread may use their lists and
 * harts.
 */
#include <time.h>

#include "emulator/launch/array.h"
#include "emulator/launch/cga.h"
#include "emulator/launch/stop.h"
#include "emulator/hart/hart.h"
#include "emulator/waves/blocked.h"
#include "emulator/waves/cga_barrier.h"
#include "emulator/waves/schedule.h"
#include "emulator/waves/tensor_port.h"
#include "emulator/waves/wave.h"

/* A stop is lost if it comes after a wave was chosen and before it starts, so it is repeated. */
static void stop_until_parked(struct sm_array *array, struct engine *engine)
{
	while (!engine->parked) {
		struct hart *hart = tutti_load_acquire(&engine->running);
		struct timespec t;

		if (hart)
			hart_interrupt(hart);
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += 100000;
		if (t.tv_nsec >= 1000000000) {
			t.tv_nsec -= 1000000000;
			t.tv_sec++;
		}
		pthread_cond_timedwait(&array->parked, &array->lock, &t);
	}
}

void engines_pause(struct sm_array *array)
{
	if (array->engines < 2)
		return;
	pthread_mutex_lock(&array->lock);
	tutti_store_relaxed(&array->pausing, 1);
	for (unsigned e = 1; e < array->engines; e++)
		stop_until_parked(array, &array->engine[e]);
	pthread_mutex_unlock(&array->lock);
}

/* Wake them all: a wake-up that came during the pause had no effect, so each engine has to look for work itself. */
void engines_resume(struct sm_array *array)
{
	if (array->engines < 2)
		return;
	pthread_mutex_lock(&array->lock);
	tutti_store_relaxed(&array->pausing, 0);
	pthread_cond_broadcast(&array->work);
	pthread_mutex_unlock(&array->lock);
}

static void strip_waves(struct wave_list *list, unsigned slot)
{
	struct wave_list kept;
	struct wave *wave;

	wave_list_init(&kept);
	while ((wave = wave_list_take(list)))
		if (wave->cta->slot != slot)
			wave_list_put(&kept, wave);
	wave_list_init(list);
	while ((wave = wave_list_take(&kept)))
		wave_list_put(list, wave);
}

static void strip_ctas(struct cta_list *list, unsigned slot)
{
	struct cta_list kept;
	struct cta *cta;

	cta_list_init(&kept);
	while ((cta = cta_list_take(list)))
		if (cta->slot != slot)
			cta_list_put(&kept, cta);
	cta_list_splice(list, &kept);
}

static void strip_engine(struct engine *engine, unsigned slot)
{
	strip_waves(&engine->ready, slot);
	strip_waves(&engine->yielded, slot);
	engine_strip_blocked(engine, slot);
	strip_ctas(&engine->batch, slot);
	if (engine->starting && engine->starting->slot == slot)
		engine->starting = NULL;
	strip_waves(&engine->replied, slot);
}

/* Choose the wave to report: the one that faulted, else one that was stopped while it ran, else any that has run. */
static unsigned weight(const struct cta *cta, const struct wave *wave)
{
	if (cta->frozen && cta->fault.cause && cta->fault.wave == wave->number)
		return 3;
	return wave->fresh ? 0 : wave->spun ? 2 : 1;
}

static unsigned name_wave(struct sm_array *array, const struct cta *cta, unsigned best)
{
	for (const struct wave *wave = cta->live; wave; wave = wave->live_next) {
		unsigned w = weight(cta, wave);

		if (w <= best)
			continue;
		best = w;
		array->killed[array->killed_count].valid = true;
		array->killed[array->killed_count].pc = w == 3 ? cta->fault.pc : wave->regs.pc;
		array->killed[array->killed_count].sm_wave =
			cta->sm | sm_wave_slot(&array->sm[cta->sm], cta, wave->number) << 16;
	}
	return best;
}

static void drop_ctas(struct sm_array *array, unsigned slot)
{
	uint32_t n = array->sms * array->limits->cta_slots;
	unsigned best = 0;

	for (uint32_t i = 0; i < n && array->slot[slot].resident; i++) {
		struct cta *cta = &array->cta[i];

		if (!cta->used || cta->slot != slot)
			continue;
		best = name_wave(array, cta, best);
		while (cta->live)
			wave_drop(cta->live);
		if (cta->killed)
			continue;
		if (cta->cga && cta->left) /* a CTA that only waits for movers has left it already */
			cga_leave(array, cta);
		cta->killed = true;
		array->slot[slot].dying++;
		cta_release(array, cta);
	}
}

void sm_array_kill(struct sm_array *array, unsigned slot)
{
	if (slot >= array->slots)
		return;
	engines_pause(array);
	sm_array_collect(array);
	for (unsigned e = 0; e < array->engines; e++)
		strip_engine(&array->engine[e], slot);
	strip_ctas(&array->pending, slot);
	strip_ctas(&array->shared, slot);
	tutti_store_relaxed(&array->shared_count, array->shared.count);
	strip_ctas(&array->faults, slot);
	strip_waves(&array->requests, slot);
	strip_waves(&array->asked, slot);
	cga_kill(array, slot);
	if (array->killed_count == array->slots)
		array->killed_count--; /* sound firmware never has more kills pending than slots */
	array->killed[array->killed_count].slot = slot;
	array->killed[array->killed_count].valid = false;
	array->killed[array->killed_count].pc = 0;
	tensor_kill(array, slot);
	drop_ctas(array, slot);
	array->killed_count++;
	engines_resume(array);
}

void sm_array_invalidate(struct sm_array *array, uint32_t asid, uint64_t va, uint64_t bytes)
{
	if (asid >= TUTTI_MAX_CONTEXTS)
		return;
	engines_pause(array);
	for (unsigned e = 0; e < array->engines; e++)
		if (array->engine[e].hart[asid])
			hart_invalidate(array->engine[e].hart[asid], va, bytes);
	engines_resume(array);
}

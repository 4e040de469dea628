// SPDX-License-Identifier: MIT
/*
 * Services that the firmware carries out. A wave that asks for one (event REQUEST) is in none of its engine's lists
 * until the command REPLY.
 */
#include "emulator/base/wake.h"
#include "emulator/memory/event_ring.h"
#include "emulator/waves/service_request.h"

/* Called in the engine's thread; from here on the wave is in a list of the driving thread. */
bool request_post(struct hart *hart, uint64_t service)
{
	struct wave *wave = hart->current;
	struct sm_array *array = hart->array;

	for (unsigned i = 0; i < 3; i++)
		wave->argument[i] = hart_x(hart, 10 + i);
	wave->service = (uint16_t)service;
	wave->slot = (uint16_t)sm_wave_slot(&array->sm[wave->cta->sm], wave->cta, wave->number);
	hart->engine->switches++;
	hart->current = NULL;
	pthread_mutex_lock(&array->lock);
	wave_list_put(&array->requests, wave);
	tutti_store_release(&array->requested, 1);
	pthread_mutex_unlock(&array->lock);
	card_wake(array->card);
	return false;
}

static bool report(struct sm_array *array, const struct wave *wave)
{
	const struct cta *cta = wave->cta;
	struct tutti_event event = {{
		TUTTI_EVENT_REQUEST | (uint32_t)cta->slot << 8 | (uint32_t)wave->service << 16,
		cta->sm | (uint32_t)wave->slot << 16, 0,
		(uint32_t)wave->argument[0], (uint32_t)(wave->argument[0] >> 32),
		(uint32_t)wave->argument[1], (uint32_t)(wave->argument[1] >> 32),
		(uint32_t)wave->argument[2],
	}};

	return engines_event(array->card, &event);
}

bool request_report(struct sm_array *array, bool *any)
{
	bool room = true;

	pthread_mutex_lock(&array->lock);
	while (array->requests.head && (room = report(array, array->requests.head))) {
		wave_list_put(&array->asked, wave_list_take(&array->requests));
		*any = true;
	}
	tutti_store_relaxed(&array->requested, !room);
	pthread_mutex_unlock(&array->lock);
	return room;
}

static struct wave *take_asked(struct sm_array *array, unsigned sm, unsigned slot)
{
	struct wave_list kept;
	struct wave *wave, *found = NULL;

	wave_list_init(&kept);
	while ((wave = wave_list_take(&array->asked))) {
		if (!found && wave->cta->sm == sm && wave->slot == slot)
			found = wave;
		else
			wave_list_put(&kept, wave);
	}
	wave_list_move(&array->asked, &kept);
	return found;
}

void sm_array_reply(struct sm_array *array, unsigned sm, unsigned slot, uint64_t value)
{
	struct wave *wave = take_asked(array, sm, slot);
	struct engine *engine;

	if (!wave)
		return; /* the wave has been killed meanwhile */
	wave->regs.x[10] = value;
	engine = wave->cta->engine;
	if (!engine->number) {
		wave_list_put(&engine->ready, wave);
		return;
	}
	pthread_mutex_lock(&array->lock);
	wave_list_put(&engine->replied, wave);
	tutti_store_release(&engine->replies, 1);
	pthread_cond_broadcast(&array->work);
	pthread_mutex_unlock(&array->lock);
}

void request_take(struct engine *engine)
{
	struct wave *wave;

	pthread_mutex_lock(&engine->array->lock);
	while ((wave = wave_list_take(&engine->replied)))
		wave_list_put(&engine->ready, wave);
	tutti_store_relaxed(&engine->replies, 0);
	pthread_mutex_unlock(&engine->array->lock);
	engine->spins = 0;
}

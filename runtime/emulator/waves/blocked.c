// SPDX-License-Identifier: MIT
/*
 * Waves that wait for something in memory: the phase of an mbarrier, the end of their tensor requests, or room for one
 * more request. Each engine keeps them in a list of their own and checks what they wait for whenever no other wave is
 * ready. That way no change of the memory is missed, whatever makes it, and no wave spins.
 */
#include "emulator/waves/blocked.h"
#include "emulator/waves/schedule.h"
#include "emulator/waves/tensor_port.h"

bool wave_block(struct hart *hart, enum wave_wait kind, const uint64_t *word, uint32_t value)
{
	struct wave *wave = hart->current;
	struct engine *engine = hart->engine;

	wave->wait = kind;
	wave->wait_word = word;
	wave->wait_value = value;
	wave_list_put(&engine->blocked, wave);
	engine->switches++;
	hart->current = NULL;
	if (engine->number)
		__atomic_fetch_add(&engine->array->blocked, 1, __ATOMIC_RELAXED);
	return false;
}

static bool may_go_on(struct sm_array *array, struct wave *wave)
{
	switch (wave->wait) {
	case WAIT_ROOM:
		return tensor_issue(array, wave);
	case WAIT_SERVED:
		return (int32_t)(tutti_load_acquire(&wave->cta->served) - wave->wait_value) >= 0;
	case WAIT_MBARRIER:
		return tutti_load_acquire(wave->wait_word) >> TUTTI_MBARRIER_PHASE_SHIFT != wave->wait_value;
	}
	return false;
}

/* Take the wave at @link out of the list. */
static struct wave *take_out(struct engine *engine, struct wave **link)
{
	struct wave *wave = *link;

	*link = wave->next;
	if (!*link)
		engine->blocked.tail = link;
	if (engine->number)
		__atomic_fetch_sub(&engine->array->blocked, 1, __ATOMIC_RELAXED);
	return wave;
}

bool engine_unblock(struct engine *engine)
{
	struct wave **link = &engine->blocked.head;

	while (*link) {
		if (!engine_can_run(engine, (*link)->cta) || !may_go_on(engine->array, *link)) {
			link = &(*link)->next;
			continue;
		}
		wave_list_put(&engine->ready, take_out(engine, link));
		engine->spins = 0;
	}
	return engine->ready.head;
}

void engine_strip_blocked(struct engine *engine, unsigned slot)
{
	struct wave **link = &engine->blocked.head;

	while (*link) {
		if ((*link)->cta->slot == slot)
			take_out(engine, link);
		else
			link = &(*link)->next;
	}
}

void sm_array_progress(struct sm_array *array)
{
	if (likely(!tutti_load_relaxed(&array->blocked)))
		return;
	pthread_mutex_lock(&array->lock);
	pthread_cond_broadcast(&array->work);
	pthread_mutex_unlock(&array->lock);
}

// SPDX-License-Identifier: MIT
/*
 * Engines choose which wave runs next, and on which thread.
 *
 * Engine 0 belongs to the driving thread, the others have threads of their own. CTAs start on engine 0 in the order of
 * their launch. If that takes long, those that have not started go to a shared list from which all engines take. A
 * timer thread ticks while waves run and stops a wave that has kept its engine for a whole tick, so that waves that
 * spin never keep other waves or the firmware from running.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "emulator/base/clock.h"
#include "emulator/base/counters.h"
#include "emulator/base/inject.h"
#include "emulator/base/trace.h"
#include "emulator/base/wake.h"
#include "emulator/hart/energy.h"
#include "emulator/waves/blocked.h"
#include "emulator/waves/cga_barrier.h"
#include "emulator/waves/schedule.h"
#include "emulator/waves/service_request.h"
#include "emulator/waves/wave.h"

#define TICK_NS 500000u
#define IDLE_TICKS 40u       /* ticks without waves after which the timer sleeps */
#define STREAK 16u           /* CTAs started before a waiting wave gets its turn */
#define SPINS 64u            /* yields in a row after which the driving thread looks elsewhere */
#define LONG_NS 40000u       /* time after which the driving thread lets others help */
#define LOOK 32u             /* CTAs between two readings of the clock */
#define BATCH 16u
#define RUN_INSTRUCTIONS (1u << 18) /* of one sm_array_run() in deterministic mode, and of a time slice */
#define FLUSH 64u
#define BLOCKED_NS 100000u   /* time between two looks at what blocked waves wait for */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- CTAs not yet started --------------------------------------------- */

static void share(struct sm_array *array)
{
	if (array->engines < 2 || !array->pending.head)
		return;
	pthread_mutex_lock(&array->lock);
	cta_list_splice(&array->shared, &array->pending);
	tutti_store_relaxed(&array->shared_count, array->shared.count);
	pthread_cond_broadcast(&array->work);
	pthread_mutex_unlock(&array->lock);
}

static void take_shared(struct engine *engine)
{
	struct sm_array *array = engine->array;
	uint32_t n;

	pthread_mutex_lock(&array->lock);
	n = array->shared.count / array->engines + 1;
	if (n > BATCH)
		n = BATCH;
	while (n-- && array->shared.head)
		cta_list_put(&engine->batch, cta_list_take(&array->shared));
	tutti_store_relaxed(&array->shared_count, array->shared.count);
	pthread_mutex_unlock(&array->lock);
}

/* The lists hold only the first CTA of a CGA; the others follow it. */
static bool worth_sharing(const struct cta_list *list)
{
	return list->count > LOOK || (list->count > 1 && list->head->group);
}

/* Share CTAs with the other engines if the driving thread has worked for long. */
static void consider_sharing(struct engine *engine)
{
	struct sm_array *array = engine->array;

	if (engine->slice_over) {
		engine->slice_over = false;
		share(array);
	} else if (++engine->taken % LOOK == 0) {
		uint64_t now = now_ns();

		if (!engine->began)
			engine->began = now;
		else if (now - engine->began > LONG_NS && worth_sharing(&array->pending))
			share(array);
	}
}

static struct cta *next_cta(struct engine *engine)
{
	struct sm_array *array = engine->array;
	struct cta *cta = cta_list_take(&engine->batch);

	if (!engine->number && array->engines > 1)
		consider_sharing(engine);
	if (!cta && !engine->number)
		cta = cta_list_take(&array->pending);
	if (!cta && tutti_load_relaxed(&array->shared_count)) {
		take_shared(engine);
		cta = cta_list_take(&engine->batch);
	}
	return cta;
}

/* ---- ended and faulted CTAs ------------------------------------------- */

static void count_up(struct sm_array *array, enum tutti_counter counter, uint64_t *n)
{
	if (*n)
		card_count(array->card, counter, *n);
	*n = 0;
}

static void engine_count(struct engine *engine)
{
	energy_flush(engine);
	count_up(engine->array, TUTTI_COUNTER_WAVES, &engine->waves);
	count_up(engine->array, TUTTI_COUNTER_WAVE_SWITCHES, &engine->switches);
	count_up(engine->array, TUTTI_COUNTER_BARRIERS, &engine->barriers);
	count_up(engine->array, TUTTI_COUNTER_FAULTS, &engine->faults);
}

static void hand_over(struct engine *engine)
{
	struct sm_array *array = engine->array;
	uint32_t n = engine->ended.count;

	engine->flush_tick = tutti_load_relaxed(&array->tick);
	engine_count(engine); /* first: who sees that all CTAs have ended finds their waves counted */
	if (!n)
		return;
	pthread_mutex_lock(&array->lock);
	cta_list_splice(&engine->handed, &engine->ended);
	__atomic_fetch_add(&array->handed_count, n, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&array->lock);
	card_wake(array->card);
}

void engine_ended(struct engine *engine, struct cta *cta)
{
	if (!engine->number) {
		engine->array->release(engine->array, cta);
		return;
	}
	cta_list_put(&engine->ended, cta);
	if (engine->ended.count >= FLUSH || engine->flush_tick != tutti_load_relaxed(&engine->array->tick))
		hand_over(engine);
}

void engine_faulted(struct engine *engine, struct cta *cta)
{
	struct sm_array *array = engine->array;

	if (!engine->number) {
		cta_list_put(&array->faults, cta);
		return;
	}
	pthread_mutex_lock(&array->lock);
	cta_list_put(&engine->faulted, cta);
	__atomic_fetch_add(&array->handed_count, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&array->lock);
	card_wake(array->card);
}

void sm_array_collect(struct sm_array *array)
{
	struct cta_list ended;
	struct cta *cta;

	cta_list_init(&ended);
	pthread_mutex_lock(&array->lock);
	for (unsigned e = 1; e < array->engines; e++) {
		cta_list_splice(&ended, &array->engine[e].handed);
		cta_list_splice(&array->faults, &array->engine[e].faulted);
	}
	tutti_store_relaxed(&array->handed_count, 0);
	pthread_mutex_unlock(&array->lock);
	while ((cta = cta_list_take(&ended)))
		array->release(array, cta);
}

/* ---- choice ----------------------------------------------------------- */

static bool must_leave(struct engine *engine)
{
	struct sm_array *array = engine->array;

	if (tutti_load_relaxed(&array->pausing))
		return true;
	if (engine->number)
		return false;
	if (array->deterministic)
		return engine->executed >= engine->run_end || engine->spins > SPINS;
	return (int32_t)(tutti_load_relaxed(&array->tick) - engine->stop_tick) >= 0 || engine->spins > SPINS;
}

/* Waves of CTAs that may not run are dropped from the lists here; KILL still finds them through their CTA. */
static struct wave *take_runnable(struct engine *engine, struct wave_list *list)
{
	struct wave *wave;

	while ((wave = wave_list_take(list)) && !engine_can_run(engine, wave->cta))
		;
	return wave;
}

static struct wave *take_yielded(struct engine *engine)
{
	struct wave *wave;

	if (engine->ended.head)
		hand_over(engine); /* waves that spin may wait for what follows these completions */
	engine->streak = 0;
	wave = take_runnable(engine, &engine->yielded);
	engine->spins += !wave || wave->spun;
	return wave;
}

static struct cta *start_cta(struct engine *engine)
{
	struct cta *cta = next_cta(engine);

	if (!cta)
		return NULL;
	cta->engine = engine;
	if (unlikely(cta->cga && cta->cga->first == cta))
		cga_enter(engine, cta);
	engine->starting = cta;
	engine->streak++;
	engine->spins = 0;
	engine->time = card_time(engine->array->card);
	card_trace(engine->array->card, TUTTI_TRACE_RUN, cta->task->state.queue, cta->sm, cta->slot,
		   cta->task->state.packet, cta->at.index, cta->waves);
	return cta;
}

static struct wave *start_next(struct engine *engine, struct cta *cta)
{
	struct wave *wave = NULL;

	if (engine_can_run(engine, cta))
		wave = wave_start(engine, cta);
	if (!wave || cta->started == cta->waves)
		engine->starting = NULL;
	return wave;
}

/* A wave is about to run, in a time slice of its own. */
static void begin_slice(struct engine *engine)
{
	tutti_store_relaxed(&engine->runs, engine->runs + 1);
	engine->slice_end = engine->executed + RUN_INSTRUCTIONS;
}

bool engine_goes_on(struct engine *engine)
{
	struct cta *cta = engine->starting;

	engine->spins = 0;
	if (unlikely(must_leave(engine) || engine->ready.head || engine->blocked.head ||
		     tutti_load_relaxed(&engine->replies) || !engine_can_run(engine, cta)))
		return false;
	begin_slice(engine);
	if (cta->started + 1 == cta->waves)
		engine->starting = NULL;
	return true;
}

/*
 * Once in each tick, waves that are ready line up behind those that have yielded. Otherwise waves that meet at a barrier
 * over and over, of which there is always one that is ready, would keep all others and the CTAs not yet started waiting.
 */
static void engine_turn(struct engine *engine, uint32_t tick)
{
	engine->turn_tick = tick;
	for (struct wave *wave = engine->ready.head; wave; wave = wave->next)
		wave->spun = false; /* it lines up there without having yielded */
	wave_list_splice(&engine->yielded, &engine->ready);
}

/* Return: the wave that @engine runs next, or NULL if it must return to its caller. */
static struct wave *engine_pick(struct engine *engine)
{
	uint32_t tick = tutti_load_relaxed(&engine->array->tick);
	struct wave *wave;

	if (unlikely(must_leave(engine)))
		return NULL;
	begin_slice(engine);
	if (unlikely(tick != engine->turn_tick))
		engine_turn(engine, tick);
	if (unlikely(tutti_load_relaxed(&engine->replies)))
		request_take(engine);
	for (;;) {
		struct cta *cta = engine->starting;

		if (unlikely(engine->blocked.head) && !engine->ready.head)
			engine_unblock(engine);
		wave = engine->ready.head ? take_runnable(engine, &engine->ready) : NULL;
		if (wave)
			return wave;
		if (!cta && engine->yielded.head && engine->streak >= STREAK && (wave = take_yielded(engine)))
			return wave;
		if (!cta)
			cta = start_cta(engine);
		if (!cta)
			return engine->yielded.head ? take_yielded(engine) : NULL;
		wave = start_next(engine, cta);
		if (likely(wave != NULL))
			return wave;
	}
}

/* ---- running ---------------------------------------------------------- */

static bool engine_run(struct engine *engine)
{
	struct sm_array *array = engine->array;
	struct wave *wave;
	bool ran = false;

	if (!inject_armed(array->card, TUTTI_INJECT_STUCK_SM, &engine->stuck_sm))
		engine->stuck_sm = ~0ull;
	for (wave = engine_pick(engine); wave; wave = hart_enter(wave->hart, wave))
		ran = true;
	return ran;
}

static bool engine_has_work(struct engine *engine)
{
	return engine->ready.head || (engine->blocked.head && engine_unblock(engine)) || engine->yielded.head ||
	       engine->starting || engine->batch.head || tutti_load_relaxed(&engine->replies) ||
	       tutti_load_relaxed(&engine->array->shared_count);
}

static void timer_rouse(struct sm_array *array)
{
	pthread_mutex_lock(&array->timer_lock);
	pthread_cond_signal(&array->timer_wake);
	pthread_mutex_unlock(&array->timer_lock);
}

bool sm_array_run(struct sm_array *array)
{
	struct engine *engine = &array->engine[0];
	bool ran;

	if (unlikely(tutti_load_relaxed(&array->handed_count)))
		sm_array_collect(array);
	if (!array->pending.head && !engine_has_work(engine))
		return false;
	if (array->deterministic)
		array->tick++;
	engine->stop_tick = tutti_load_relaxed(&array->tick) + 2;
	engine->run_end = engine->executed + RUN_INSTRUCTIONS;
	engine->spins = engine->taken = 0;
	engine->began = 0;
	ran = engine_run(engine);
	if (array->pending.head && (int32_t)(tutti_load_relaxed(&array->tick) - engine->stop_tick) >= 0)
		engine->slice_over = true; /* CTAs that it could not start in that time are offered to other engines */
	engine_count(engine);
	return ran;
}

/* ---- workers ---------------------------------------------------------- */

/* A blocked wave is looked at from time to time, since other CTAs may change what it waits for without notice. */
static void park(struct engine *engine)
{
	struct sm_array *array = engine->array;
	uint64_t at;
	struct timespec t;

	engine->parked = true;
	pthread_cond_broadcast(&array->parked);
	if (!engine->blocked.head) {
		pthread_cond_wait(&array->work, &array->lock);
		return;
	}
	at = now_ns() + BLOCKED_NS;
	t = (struct timespec){(time_t)(at / 1000000000u), (long)(at % 1000000000u)};
	pthread_cond_timedwait(&array->work, &array->lock, &t);
}

static void *worker(void *data)
{
	struct engine *engine = data;
	struct sm_array *array = engine->array;

	pthread_mutex_lock(&array->lock);
	while (!array->quit) {
		if (array->pausing || !engine_has_work(engine)) {
			park(engine);
			continue;
		}
		engine->parked = false;
		pthread_mutex_unlock(&array->lock);
		engine->spins = 0;
		engine_run(engine);
		hand_over(engine);
		pthread_mutex_lock(&array->lock);
	}
	engine->parked = true;
	pthread_mutex_unlock(&array->lock);
	return NULL;
}

/* ---- timer ------------------------------------------------------------ */

static void stop_long_waves(struct sm_array *array)
{
	for (unsigned e = 0; e < array->engines; e++) {
		struct engine *engine = &array->engine[e];
		struct hart *hart = tutti_load_acquire(&engine->running);
		uint32_t runs = tutti_load_relaxed(&engine->runs);

		if (hart && runs == engine->seen_runs)
			hart_interrupt(hart);
		engine->seen_runs = runs;
	}
}

/* Return: true if a wave runs, or has run since the last stop_long_waves(). */
static bool any_active(struct sm_array *array)
{
	for (unsigned e = 0; e < array->engines; e++) {
		struct engine *engine = &array->engine[e];

		if (tutti_load_relaxed(&engine->running) || tutti_load_relaxed(&engine->runs) != engine->seen_runs)
			return true;
	}
	return false;
}

/* Wait for one tick, without holding the lock. */
static void timer_tick(struct sm_array *array)
{
	uint64_t at = now_ns() + TICK_NS;
	struct timespec t = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)};

	while (!array->quit && pthread_cond_timedwait(&array->timer_wake, &array->timer_lock, &t) != ETIMEDOUT)
		;
	tutti_store_relaxed(&array->tick, array->tick + 1);
}

static void timer_sleep(struct sm_array *array)
{
	tutti_store_relaxed(&array->timer_asleep, 1);
	/* hart_enter() has no fence, so an engine may miss @timer_asleep; after one tick it is seen to run. */
	tutti_fence();
	timer_tick(array);
	while (!array->quit && !any_active(array))
		pthread_cond_wait(&array->timer_wake, &array->timer_lock);
	tutti_store_relaxed(&array->timer_asleep, 0);
}

static void *timer(void *data)
{
	struct sm_array *array = data;
	uint32_t idle = 0;

	pthread_mutex_lock(&array->timer_lock);
	while (!array->quit) {
		timer_tick(array);
		idle = any_active(array) ? 0 : idle + 1;
		stop_long_waves(array);
		if (idle > IDLE_TICKS)
			timer_sleep(array);
	}
	pthread_mutex_unlock(&array->timer_lock);
	return NULL;
}

/* ---- creation and end ------------------------------------------------- */

static void engine_init(struct sm_array *array, unsigned number)
{
	struct engine *engine = &array->engine[number];

	engine->array = array;
	engine->number = number;
	engine->parked = true;
	engine->stuck_sm = ~0ull;
	wave_list_init(&engine->ready);
	wave_list_init(&engine->yielded);
	wave_list_init(&engine->blocked);
	wave_list_init(&engine->replied);
	cta_list_init(&engine->batch);
	cta_list_init(&engine->ended);
	cta_list_init(&engine->handed);
	cta_list_init(&engine->faulted);
}

static int threads_start(struct sm_array *array)
{
	unsigned n = array->engines;

	if (pthread_create(&array->timer, NULL, timer, array))
		return -EAGAIN;
	for (unsigned e = 1; e < n; e++) {
		if (pthread_create(&array->engine[e].thread, NULL, worker, &array->engine[e])) {
			array->engines = e; /* go on with those that could be started */
			break;
		}
	}
	return 0;
}

static const struct hart_host host = {
	.next = engine_pick,
	.service = wave_service,
	.fault = wave_fault,
	.rouse = timer_rouse,
};

int schedule_init(struct sm_array *array)
{
	unsigned workers = 0;
	pthread_condattr_t monotonic;

	array->host = &host;
	if (!array->deterministic) {
		long cores = sysconf(_SC_NPROCESSORS_ONLN);

		workers = card_config(array->card)->workers;
		if (!workers)
			workers = cores > 1 ? (unsigned)cores - 1 : 0;
		if (workers > 63)
			workers = 63;
	}
	array->engines = workers + 1;
	array->engine = calloc(array->engines, sizeof(*array->engine));
	if (!array->engine)
		return -ENOMEM;
	cta_list_init(&array->shared);
	for (unsigned e = 0; e < array->engines; e++)
		engine_init(array, e);
	pthread_mutex_init(&array->lock, NULL);
	pthread_mutex_init(&array->timer_lock, NULL);
	pthread_cond_init(&array->parked, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&array->work, &monotonic);
	pthread_cond_init(&array->timer_wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (array->deterministic || !threads_start(array))
		return 0;
	free(array->engine);
	return -EAGAIN;
}

void schedule_fini(struct sm_array *array)
{
	pthread_mutex_lock(&array->lock);
	pthread_mutex_lock(&array->timer_lock);
	array->quit = true;
	pthread_cond_broadcast(&array->work);
	pthread_cond_broadcast(&array->timer_wake);
	pthread_mutex_unlock(&array->timer_lock);
	pthread_mutex_unlock(&array->lock);
	for (unsigned e = 1; e < array->engines; e++)
		pthread_join(array->engine[e].thread, NULL);
	if (!array->deterministic)
		pthread_join(array->timer, NULL);
	pthread_mutex_destroy(&array->lock);
	pthread_mutex_destroy(&array->timer_lock);
	pthread_cond_destroy(&array->work);
	pthread_cond_destroy(&array->parked);
	pthread_cond_destroy(&array->timer_wake);
	free(array->engine);
}

// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/*
 * Engines and the timer without threads (SYS-12): the test simulates the clock and the threads, so that each of their steps
 * has only one possible outcome. The tests check how many engines there are, how these share CTAs, when they leave and wait,
 * and when the timer stops long waves.
 */
#include "lock_check.h"
#include "sm_rig.h"

#define SMS	4u
#define CTAS	200u
#define TICK	500000u /* time between two looks for long waves, in ns */
#define BLOCKED 100000u /* time between two looks at what blocked waves wait for, in ns */
#define LONG	40000u	/* time after which the driving thread lets other engines help, in ns */
#define LOOK_AT 32u	/* CTAs between two readings of the clock */
#define MOST	16u	/* CTAs that an engine takes at once */
#define HANDED	64u	/* CTAs that a worker hands over at once */
#define YIELDS	64u	/* yields in a row after which the driving thread leaves */
#define IDLE	40u	/* ticks without waves after which the timer sleeps */

static struct tutti_card *card;
static struct sm_array *array;
static uint64_t time_now;
static unsigned created, fails_at, joined, wakes, interrupts;
static void *started_with[80];
static struct hart *interrupted[8];
static long machine; /* number of processors of the simulated machine */
static struct timespec until; /* when the newest wait that has a timeout would end */
static unsigned waits, endless_waits;
static int (*on_wait)(void);  /* called during a wait, returns the result of the wait */

static int play_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data)
{
	if (created == fails_at)
		return EAGAIN;
	started_with[created++] = data;
	return 0;
}

static int play_join(pthread_t thread, void **result)
{
	joined++;
	return 0;
}

static int play_clock(struct timespec *t)
{
	*t = (struct timespec){(time_t)(time_now / 1000000000u), (long)(time_now % 1000000000u)};
	return 0;
}

static int play_wait(pthread_cond_t *condition, const struct timespec *end)
{
	if (end)
		until = *end;
	else
		endless_waits++;
	waits++;
	return on_wait ? on_wait() : ETIMEDOUT;
}

static void play_wake(void)
{
	wakes++;
}

static unsigned told_work, told_parked, told_timer; /* how often each condition variable was signalled */

static int play_tell(const pthread_cond_t *condition)
{
	told_work += condition == &array->work;
	told_parked += condition == &array->parked;
	told_timer += condition == &array->timer_wake;
	return 0;
}

static void play_interrupt(struct hart *hart)
{
	interrupted[interrupts++] = hart;
}

#include "emulator/base/wake.h" /* before card_wake() is replaced */

#define card_wake(card) play_wake()
#define pthread_create(thread, attributes, start, data) play_create(thread, attributes, start, data)
#define pthread_join(thread, result) play_join(thread, result)
#define clock_gettime(clock, t) play_clock(t)
#define sysconf(what) machine
#define pthread_cond_timedwait(condition, mutex, end) play_wait(condition, end)
#define pthread_cond_wait(condition, mutex) play_wait(condition, NULL)
#define pthread_cond_broadcast(condition) play_tell(condition)
#define pthread_cond_signal(condition) play_tell(condition)
#define hart_interrupt(hart) play_interrupt(hart)
#include "emulator/waves/schedule.c"

static void open_workers(unsigned workers)
{
	created = joined = wakes = interrupts = waits = endless_waits = told_work = told_parked = told_timer = 0;
	fails_at = ~0u;
	on_wait = NULL;
	time_now = 7999999999;
	card = rig_create(TUTTI_CARD_FAST, workers, SMS);
	array = card->array;
}

static int setup(void **state)
{
	open_workers(3);
	return 0;
}

static int teardown(void **state)
{
	rig_destroy(card);
	return 0;
}

/* CTAs that are only put into lists and never run. */
static struct cta ctas[CTAS];

static void fill(struct cta_list *list, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++)
		cta_list_put(list, &ctas[i]);
}

/* Check that the list has the CTAs from @first to @end - 1 in this order, and empty it. */
static void expect_list(struct cta_list *list, unsigned first, unsigned end)
{
	assert_int_equal(list->count, end - first);
	for (unsigned i = first; i < end; i++)
		assert_ptr_equal(cta_list_take(list), &ctas[i]);
	assert_null(list->head);
	assert_ptr_equal(list->tail, &list->head);
}

/* ---- threads ---- */

/* There is one timer, and a worker for each processor except that of the driving thread, but no more than 63 workers. */
static void processors(void **state)
{
	static const struct {
		long cores;
		unsigned workers;
	} rows[] = {{-1, 0}, {0, 0}, {1, 0}, {2, 1}, {3, 2}, {63, 62}, {64, 63}, {65, 63}, {500, 63}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		machine = rows[i].cores;
		open_workers(0);
		assert_int_equal(array->engines, rows[i].workers + 1);
		assert_int_equal(created, rows[i].workers + 1);
		assert_ptr_equal(started_with[0], array);
		for (unsigned e = 0; e <= rows[i].workers; e++) {
			assert_int_equal(array->engine[e].number, e);
			assert_true(e == 0 || started_with[e] == &array->engine[e]);
		}
		teardown(state);
		assert_int_equal(joined, created);
		assert_int_equal(told_timer, 1); /* all threads are woken when the card is destroyed */
		assert_int_equal(told_work, 1);
	}
}

/* A card cannot be created if its timer cannot be started. If a worker cannot, the card uses those that were started. */
static void no_threads(void **state)
{
	struct sm_array *other = NULL;

	open_workers(5);
	for (unsigned n = 0; n <= 6; n++) {
		created = joined = 0;
		fails_at = n;
		assert_int_equal(sm_array_create(card, &other), n ? 0 : -EAGAIN);
		assert_int_equal(created, n);
		if (!n)
			continue;
		assert_int_equal(other->engines, n);
		sm_array_destroy(other);
		assert_int_equal(joined, n);
	}
	fails_at = ~0u;
	teardown(state);
}

/* ---- CTAs for all engines ---- */

/*
 * All pending CTAs go to the end of the shared list. An engine takes an equal part of that list from its beginning, but no
 * more than 16 CTAs.
 */
static void parts(void **state)
{
	for (unsigned row = 0; row < 5 * 120; row++) {
		unsigned workers = 1 + row / 120, n = row % 120, before = n * 3 % (n + 1), part = n / (workers + 1) + 1;
		struct engine *engine;

		open_workers(workers);
		engine = &array->engine[workers];
		fill(&array->shared, 0, before);
		array->shared_count = before;
		fill(&array->pending, before, n);
		share(array);
		assert_int_equal(told_work, n > before);
		assert_null(array->pending.head);
		assert_int_equal(array->shared_count, n);
		take_shared(engine);
		part = part > MOST ? MOST : part > n ? n : part;
		expect_list(&engine->batch, 0, part);
		assert_int_equal(array->shared_count, n - part);
		expect_list(&array->shared, part, n);
		array->shared_count = 0;
		teardown(state);
	}
}

/* An engine first starts CTAs that it has taken, then, on the driving thread only, pending CTAs, and then shared ones. */
static void whose_turn(void **state)
{
	for (unsigned e = 0; e < 2; e++) {
		struct engine *engine = &array->engine[e];

		cta_list_put(&engine->batch, &ctas[0]);
		cta_list_put(&engine->batch, &ctas[1]);
		cta_list_put(&array->pending, &ctas[2]);
		cta_list_put(&array->shared, &ctas[3]);
		array->shared_count = 1;
		for (unsigned i = 0; i < 4; i++)
			if (i != 2 || !e)
				assert_ptr_equal(next_cta(engine), &ctas[i]);
		assert_null(next_cta(engine));
		assert_int_equal(array->shared_count, 0);
		cta_list_init(&array->pending);
	}
}

/*
 * The driving thread shares its pending CTAs when a wave has used up a time slice. It also shares them when it has worked
 * for longer than 40 us and more than 32 of them are left, or more than one if they stand for whole CGAs. It reads the clock
 * only once in 32 CTAs.
 */
static void helpers(void **state)
{
	static const unsigned lefts[] = {1, 2, LOOK_AT - 1, LOOK_AT, LOOK_AT + 1, 100};
	static const unsigned lates[] = {0, LONG - 1, LONG, LONG + 1, 1u << 30};
	struct engine *engine = &array->engine[0];
	struct cta other;

	for (unsigned row = 0; row < 6 * 5 * 2; row++) {
		unsigned left = lefts[row % 6], late = lates[row / 6 % 5];
		bool group = row / 30, shared = late > LONG && (left > LOOK_AT || (group && left > 1));

		engine->taken = 0;
		engine->began = 0;
		fill(&array->pending, 0, left);
		array->pending.head->group = group ? &other : NULL;
		for (unsigned i = 1; i < 2 * LOOK_AT; i++) {
			consider_sharing(engine);
			assert_null(array->shared.head);
			if (i == LOOK_AT)
				time_now += late;
		}
		consider_sharing(engine);
		assert_int_equal(array->shared_count, shared ? left : 0);
		expect_list(shared ? &array->shared : &array->pending, 0, left);
		ctas[0].group = NULL;
		array->shared_count = 0;
		cta_list_init(&array->shared);
		cta_list_init(&array->pending);
	}
	/* a wave has used up its time slice */
	fill(&array->pending, 0, 1);
	engine->slice_over = true;
	consider_sharing(engine);
	assert_false(engine->slice_over);
	assert_int_equal(array->shared_count, 1);
	expect_list(&array->shared, 0, 1);
	array->shared_count = 0;
}

/* ---- when engines leave ---- */

static void leaves(void **state)
{
	for (unsigned row = 0; row < 2 * 2 * 2 * 4 * 3 * 3; row++) {
		unsigned number = row & 1, tick = row >> 3 & 3;
		bool pausing = row >> 1 & 1, deterministic = row >> 2 & 1, over, want;
		struct engine *engine = &array->engine[number];

		array->pausing = pausing;
		array->deterministic = deterministic;
		array->tick = ~0u + tick; /* the tick overflows to 0 */
		engine->stop_tick = 1;
		engine->run_end = 1000;
		engine->executed = 999 + row / 32 % 3;
		engine->spins = YIELDS - 1 + row / 96;
		over = deterministic ? engine->executed >= 1000 : tick >= 2;
		want = pausing || (!number && (over || engine->spins > YIELDS));
		if (must_leave(engine) != want)
			fail_msg("row %u", row);
	}
	array->pausing = 0;
	array->deterministic = false;
}

/* ---- what is handed over ---- */

static unsigned released;

static void release_next(struct sm_array *of, struct cta *cta)
{
	assert_ptr_equal(cta, &ctas[released++]);
}

/*
 * A worker hands over CTAs that have ended when there are 64 of them or a tick has passed. The driving thread releases its
 * own at once.
 */
static void ends(void **state)
{
	void (*kept)(struct sm_array *, struct cta *) = array->release;

	array->release = release_next;
	released = 0;
	engine_ended(&array->engine[0], &ctas[0]);
	assert_int_equal(released, 1);
	for (unsigned n = 1; n < HANDED; n++) {
		engine_ended(&array->engine[1], &ctas[n]);
		assert_int_equal(array->handed_count | wakes, 0);
	}
	engine_ended(&array->engine[1], &ctas[HANDED]);
	assert_int_equal(array->handed_count, HANDED);
	assert_int_equal(wakes, 1);
	array->tick++;
	for (unsigned n = 1; n <= 2; n++) /* only the first one of a tick is handed over at once */
		engine_ended(&array->engine[2], &ctas[HANDED + n]);
	assert_int_equal(array->handed_count, HANDED + 1);
	assert_int_equal(wakes, 2);
	hand_over(&array->engine[2]);
	assert_int_equal(array->handed_count, HANDED + 2);
	hand_over(&array->engine[3]); /* this engine has none */
	assert_int_equal(array->handed_count, HANDED + 2);
	assert_int_equal(released, 1);
	sm_array_collect(array);
	assert_int_equal(released, HANDED + 3);
	assert_int_equal(array->handed_count, 0);
	sm_array_collect(array);
	assert_int_equal(released, HANDED + 3);
	array->release = kept;
}

/* A worker hands over each CTA that has faulted at once. These CTAs are collected in the order of their engines. */
static void faults(void **state)
{
	engine_faulted(&array->engine[0], &ctas[0]);
	assert_int_equal(array->faults.count, 1);
	assert_int_equal(array->handed_count | wakes, 0);
	engine_faulted(&array->engine[1], &ctas[1]);
	engine_faulted(&array->engine[3], &ctas[3]);
	engine_faulted(&array->engine[2], &ctas[2]);
	assert_int_equal(array->faults.count, 1);
	assert_int_equal(array->handed_count, 3);
	assert_int_equal(wakes, 3);
	sm_array_collect(array);
	assert_int_equal(array->handed_count, 0);
	expect_list(&array->faults, 0, 4);
}

/* ---- the timer ---- */

/* The timer stops those waves, and only those, that have been running since its previous look. */
static void long_waves(void **state)
{
	struct hart *harts = calloc(4, sizeof(*harts));

	for (unsigned row = 0; row < 81; row++) {
		unsigned want = 0;

		interrupts = 0;
		for (unsigned e = 0, rest = row; e < 4; e++, rest /= 3) {
			struct engine *engine = &array->engine[e];

			engine->running = rest % 3 ? &harts[e] : NULL;
			engine->runs = engine->seen_runs + (rest % 3 == 2);
		}
		assert_int_equal(any_active(array), row > 0);
		stop_long_waves(array);
		for (unsigned e = 0, rest = row; e < 4; e++, rest /= 3)
			if (rest % 3 == 1)
				assert_ptr_equal(interrupted[want++], &harts[e]);
		assert_int_equal(interrupts, want);
		for (unsigned e = 0; e < 4; e++) { /* a run that has begun and ended since the last look is noticed */
			struct engine *engine = &array->engine[e];

			assert_int_equal(engine->seen_runs, engine->runs);
			engine->running = NULL;
			engine->runs++;
			assert_true(any_active(array));
			engine->runs--;
		}
		assert_false(any_active(array));
	}
	free(harts);
}

static unsigned woken; /* how often a wait still ends too early */

static int wakes_early(void)
{
	return woken ? (woken--, 0) : ETIMEDOUT;
}

/*
 * A tick lasts for its whole time, however often the thread is woken before. A parked engine looks at its blocked waves
 * again after 100 us. If it has none, it sleeps until it is woken.
 */
static void ticks(void **state)
{
	struct wave wave;

	on_wait = wakes_early;
	for (unsigned n = 0; n < 5; n++) {
		uint64_t end = time_now + TICK;

		woken = n;
		waits = 0;
		timer_tick(array);
		assert_int_equal(waits, n + 1);
		assert_int_equal(array->tick, n + 1);
		assert_int_equal(until.tv_sec, end / 1000000000);
		assert_int_equal(until.tv_nsec, end % 1000000000);
		time_now += 300000000;
	}
	on_wait = NULL;
	for (unsigned blocked = 0; blocked < 2; blocked++) {
		struct engine *engine = &array->engine[1];
		uint64_t end = time_now + BLOCKED;

		engine->parked = false;
		if (blocked)
			wave_list_put(&engine->blocked, &wave);
		endless_waits = told_parked = 0;
		park(engine);
		assert_int_equal(told_parked, 1);
		assert_true(engine->parked);
		assert_int_equal(endless_waits, !blocked);
		if (blocked)
			assert_int_equal(until.tv_sec * 1000000000 + until.tv_nsec, end);
		wave_list_init(&engine->blocked);
	}
	assert_int_equal(endless_waits, 0);
	timer_rouse(array);
	assert_int_equal(told_timer, 1);
}

static unsigned active_until; /* the tick at which waves stop running */

/*
 * Waves run until the tick @active_until, and the timer falls asleep 40 ticks later. It is woken without a reason and sleeps
 * again, is then woken by a wave, and is told to end before it sleeps for a third time.
 */
static int life_of_timer(void)
{
	static const unsigned from_last_to_sleep = IDLE + 3;

	array->engine[2].runs += array->tick < active_until;
	if (!endless_waits) {
		assert_int_equal(array->timer_asleep, array->tick > active_until + IDLE);
		assert_true(array->tick < active_until + from_last_to_sleep);
		return ETIMEDOUT;
	}
	if (array->timer_asleep && endless_waits == 2)
		array->engine[2].runs++;
	if (endless_waits == 2 && !active_until--)
		array->quit = true;
	return ETIMEDOUT;
}

static void sleeps(void **state)
{
	for (unsigned n = 0; n < 4; n++) {
		active_until = 3 * n;
		array->tick = 0;
		endless_waits = 0;
		array->quit = false;
		array->engine[2].seen_runs = array->engine[2].runs;
		on_wait = life_of_timer;
		timer(array);
		assert_int_equal(array->timer_asleep, 0);
		assert_int_equal(endless_waits, 2);
		assert_in_range(array->tick, 3 * n + IDLE + 1, 8 * n + IDLE + 8);
		pthread_mutex_lock(&array->timer_lock); /* fails if the timer has kept the lock */
		pthread_mutex_unlock(&array->timer_lock);
	}
	array->quit = false;
	on_wait = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-12: how many threads a card has", processors, NULL, NULL, NULL},
	    {"SYS-10: threads that cannot be started", no_threads, NULL, NULL, NULL},
	    {"SYS-12: parts of the shared CTAs", parts, NULL, NULL, NULL},
	    {"SYS-12: which CTA an engine begins", whose_turn, setup, teardown, NULL},
	    {"SYS-12: when other engines help", helpers, setup, teardown, NULL},
	    {"SYS-12: when engines leave", leaves, setup, teardown, NULL},
	    {"SYS-12: CTAs that have ended are handed over", ends, setup, teardown, NULL},
	    {"SYS-12: CTAs that have faulted are handed over", faults, setup, teardown, NULL},
	    {"SYS-12: waves that run for long are stopped", long_waves, setup, teardown, NULL},
	    {"SYS-12: how long threads wait", ticks, setup, teardown, NULL},
	    {"SYS-12: the timer sleeps", sleeps, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("SM: engines", tests, NULL, NULL);
}

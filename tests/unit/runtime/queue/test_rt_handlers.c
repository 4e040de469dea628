/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=clock_gettime,--wrap=pthread_cond_wait,--wrap=pthread_cond_timedwait */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Handlers of signals and of the card's death: when they are called, what they are told, and who waits for them (SYS-56). */
#include <semaphore.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>

#include "lock_check.h"
#include "open_files.h"
#include "queue/handler.h"
#include "rt_rig.h"

static tutti_signal_t a_signal(int64_t value)
{
	tutti_signal_t signal;

	assert_int_equal(tutti_signal_create(device, value, &signal), 0);
	return signal;
}

/* What a handler has been told, and what it does. */
struct told {
	tutti_signal_t signal;
	bool again;
	void (*does)(struct told *told);
	struct told *other;
	unsigned calls;
	int64_t value;
	int error;
};

static unsigned sequence; /* of calls of all handlers */

static bool on_signal(tutti_signal_t signal, int64_t value, int error, void *context)
{
	struct told *told = context;

	assert_ptr_equal(signal, told->signal);
	told->value = value;
	told->error = error;
	sequence++;
	if (told->does)
		told->does(told);
	tutti_store_release(&told->calls, told->calls + 1);
	return told->again;
}

/* To be called when the signal is 0. */
static void arm(struct told *told, int64_t value)
{
	told->signal = a_signal(value);
	assert_int_equal(tutti_signal_handler(device, told->signal, TUTTI_EQ, 0, on_signal, told), 0);
	assert_int_equal(told->signal->waiters, 1);
}

static void assert_gone(struct told *told)
{
	assert_int_equal(told->signal->waiters, 0);
	assert_int_equal(tutti_signal_handler_remove(device, told->signal, on_signal, told), -ENOENT);
}

/* No other thread calls handlers of a deterministic device: each look at it calls what is due, once. */
static int open_deterministic(void **state)
{
	int error = open_fake(state);

	device->deterministic = true;
	sequence = 0;
	return error;
}

static void look(void)
{
	device_poll(device);
}

static void is_here(struct told *told)
{
	assert_true(events_here(device));
	assert_false(events_may_close(device)); /* without an event thread, nobody would free what is left */
}

static void once_in_a_pass(void **state)
{
	struct told first = {.again = true}, second = {.again = true}, never = {.again = true};

	first.does = is_here;
	arm(&first, 0);
	arm(&second, 0);
	arm(&never, 1);
	for (unsigned i = 1; i <= 3; i++) {
		look();
		assert_int_equal(first.calls, i);
		assert_int_equal(second.calls, i);
		assert_false(events_here(device));
		assert_true(events_may_close(device));
	}
	first.again = false;
	look();
	look();
	assert_int_equal(first.calls, 4);
	assert_int_equal(second.calls, 5);
	assert_int_equal(second.value, 0);
	assert_int_equal(second.error, 0);
	assert_int_equal(never.calls, 0);
	assert_gone(&first);
	assert_int_equal(tutti_signal_handler_remove(device, second.signal, NULL, NULL), 0);
	assert_int_equal(tutti_signal_destroy(device, never.signal), 0);
	assert_null(device->watches);
	assert_null(device->events->handlers);
}

/* Of a signal that nothing will change any more handlers are told so, once; not if their condition holds anyway. */
static void given_up(void **state)
{
	struct told lost = {.again = true}, holds = {.again = true}, other = {.again = true};

	arm(&lost, 5);
	arm(&holds, 0);
	arm(&other, 5);
	lost_by_failure(device, lost.signal, tutti_signal_load(lost.signal));
	lost_by_failure(device, holds.signal, tutti_signal_load(holds.signal));
	look();
	look();
	assert_int_equal(lost.calls, 1);
	assert_int_equal(lost.error, -EIO);
	assert_int_equal(lost.value, 5);
	assert_gone(&lost);
	assert_int_equal(holds.calls, 2);
	assert_int_equal(holds.error, 0);
	assert_int_equal(other.calls, 0);
}

/* A handler can have any of the four conditions. Other conditions and invalid arguments are refused. */
static void conditions(void **state)
{
	static const struct {
		enum tutti_condition condition;
		bool holds[3]; /* does it hold for the values 4, 5 and 6, compared with 5? */
	} rows[] = {{TUTTI_EQ, {0, 1, 0}}, {TUTTI_NE, {1, 0, 1}}, {TUTTI_LT, {1, 0, 0}}, {TUTTI_GTE, {0, 1, 1}}};

	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 3; k++) {
			struct told told = {.signal = a_signal(4 + k)};

			assert_int_equal(tutti_signal_handler(device, told.signal, rows[i].condition, 5, on_signal, &told),
					 0);
			look();
			assert_int_equal(told.calls, rows[i].holds[k]);
			if (told.calls)
				assert_int_equal(told.value, 4 + k);
			assert_int_equal(tutti_signal_destroy(device, told.signal), 0);
		}
	assert_int_equal(tutti_signal_handler(device, a_signal(0), TUTTI_GTE + 1, 5, on_signal, NULL), -EINVAL);
	assert_int_equal(tutti_signal_handler(device, a_signal(0), TUTTI_EQ, 5, NULL, NULL), -EINVAL);
	assert_int_equal(tutti_signal_handler(device, NULL, TUTTI_EQ, 5, on_signal, NULL), -EINVAL);
	assert_int_equal(tutti_signal_handler(NULL, a_signal(0), TUTTI_EQ, 5, on_signal, NULL), -EINVAL);
	assert_int_equal(tutti_signal_handler_remove(device, NULL, on_signal, NULL), -EINVAL);
	assert_int_equal(tutti_signal_handler_remove(NULL, a_signal(0), on_signal, NULL), -EINVAL);
	assert_int_equal(tutti_signal_destroy(NULL, a_signal(0)), -EINVAL);
	assert_int_equal(tutti_signal_destroy(NULL, NULL), -EINVAL);
	assert_int_equal(tutti_signal_destroy(device, NULL), 0);
	assert_null(device->watches);
}

static unsigned deaths, death_came;
static bool blocks, death_returned;

static void wait_until_released(void);

static void on_death(struct tutti_device *of, int error, void *context)
{
	assert_ptr_equal(of, device);
	assert_ptr_equal(context, &deaths);
	assert_int_equal(error, -EIO);
	deaths++;
	death_came = ++sequence;
	if (blocks)
		wait_until_released();
	tutti_store_release(&death_returned, true);
}

/* When the card dies its own handler is called first, then all others, each for the last time. */
static void death(void **state)
{
	struct told waits = {.again = true}, holds = {0};
	int fd = eventfd(0, EFD_CLOEXEC);
	tutti_signal_t follows = a_signal(1);
	unsigned files = open_files();

	deaths = 0;
	blocks = false;
	arm(&waits, 5);
	arm(&holds, 5);
	assert_int_equal(tutti_signal_from_fd(device, follows, fd), 0);
	assert_int_equal(tutti_device_error_handler(device, on_death, &deaths), 0);
	look();
	assert_int_equal(sequence, 0);
	tutti_signal_store(holds.signal, 0);
	device->status->state = TUTTI_STATE_CRASHED;
	look();
	assert_int_equal(deaths, 1);
	assert_int_equal(death_came, 1);
	assert_int_equal(waits.calls + holds.calls, 2);
	assert_int_equal(waits.error, -EIO);
	assert_int_equal(holds.error, 0);
	assert_int_equal(tutti_signal_load(follows), 1);
	assert_int_equal(open_files(), files);
	assert_null(device->events->handlers);
	look();
	assert_int_equal(sequence, 3);
	/* whoever asks later is told, too, but once */
	assert_int_equal(tutti_device_error_handler(device, on_death, &deaths), 0);
	look();
	look();
	assert_int_equal(deaths, 2);
	assert_int_equal(tutti_device_error_handler(device, NULL, NULL), 0);
	look();
	assert_int_equal(deaths, 2);
	close(fd);
}

static void removes_itself(struct told *told)
{
	assert_int_equal(tutti_signal_handler_remove(device, told->signal, on_signal, told), 0);
	assert_gone(told);
}

static void removes_other(struct told *told)
{
	if (!told->other->calls)
		assert_int_equal(tutti_signal_handler_remove(device, told->other->signal, on_signal, told->other), 0);
}

/* A handler that has been removed by another one, or by itself, is not called any more, whatever it returns. */
static void removed_by_handlers(void **state)
{
	struct told itself = {.again = true, .does = removes_itself};
	struct told one = {.again = true, .does = removes_other}, another = {.again = true, .does = removes_other};

	one.other = &another;
	another.other = &one;
	arm(&itself, 0);
	look();
	look();
	assert_int_equal(itself.calls, 1);
	assert_gone(&itself);
	arm(&one, 0);
	arm(&another, 0);
	look();
	assert_int_equal(one.calls + another.calls, 1);
	assert_gone(one.calls ? &another : &one);
	assert_int_equal(tutti_signal_destroy(device, (one.calls ? &one : &another)->signal), 0);
	assert_null(device->watches);
}

/* A signal that is given up has nothing to do with the file that it follows, whatever number that has. */
static void files_are_not_given_up(void **state)
{
	for (unsigned zero = 0; zero < 2; zero++) {
		int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), fd = eventfd(0, EFD_CLOEXEC);
		tutti_signal_t follows = a_signal(1);
		const uint64_t one = 1;

		if (zero)
			close(STDIN_FILENO);
		assert_int_equal(tutti_signal_from_fd(device, follows, fd), 0);
		assert_int_equal(follows->waiters, 0);
		lost_by_failure(device, follows, tutti_signal_load(follows));
		look();
		assert_int_equal(tutti_signal_load(follows), 1);
		assert_int_equal(write(fd, &one, sizeof(one)), sizeof(one));
		look();
		assert_int_equal(tutti_signal_load(follows), 0);
		assert_int_equal(tutti_signal_destroy(device, follows), 0);
		dup2(input, STDIN_FILENO);
		close(input);
		close(fd);
	}
}

/* Nothing is called for a device that has had no handler, or that has none any more. */
static void none_yet(void **state)
{
	struct tutti_queue_options options = {.packets = 64};
	struct tutti_queue *queue;

	assert_int_equal(tutti_device_error_handler(NULL, on_death, NULL), -EINVAL);
	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	assert_null(device->events);
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	queue = a_queue(0, false);
	queue_error_take(device, &(struct tutti_fault){.code = TUTTI_ERROR_PACKET, .queue = (uint16_t)queue->id});
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(reported, 1);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	events_stop(device);
	assert_null(device->events);
	look();
}

/* ---- the thread that calls handlers ---- */

static uint64_t now; /* ns of CLOCK_MONOTONIC, which stands still; 0: the real time */
static struct timespec wall = {.tv_sec = 100, .tv_nsec = 995000000}, until; /* CLOCK_REALTIME stands still */
static bool released;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	if (clock == CLOCK_REALTIME)
		*time = wall;
	else if (clock == CLOCK_MONOTONIC && now)
		*time = (struct timespec){.tv_sec = (time_t)(now / 1000000000u), .tv_nsec = (long)(now % 1000000000u)};
	else
		return __real_clock_gettime(clock, time);
	return 0;
}

/* A handler that blocks goes on when somebody waits for it. */
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	tutti_store_release(&released, true);
	return __real_pthread_cond_wait(cond, mutex);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end)
{
	until = *end;
	return __wrap_pthread_cond_wait(cond, mutex);
}

static void wait_until_released(void)
{
	while (!tutti_load_acquire(&released))
		sched_yield();
}

static sigset_t mask_of_thread;
static bool running, returned;

static void blocks_until_released(struct told *told)
{
	pthread_sigmask(SIG_SETMASK, NULL, &mask_of_thread);
	tutti_store_release(&running, true);
	wait_until_released();
	tutti_store_release(&returned, true);
}

static unsigned wakes;

static void counts_wakes(struct tutti_device *of)
{
	wakes++;
}

static int open_threaded(void **state)
{
	int error = open_fake(state);

	transport.wake = counts_wakes;
	running = returned = released = false;
	now = 0;
	return error;
}

/*
 * When a handler has been removed it does not run any more. Whoever removes it looks again a hundredth of a second later,
 * at whichever time of a second that is. Signals of the program do not meet the thread that calls handlers.
 */
static void removing_waits(void **state)
{
	struct told told = {.does = blocks_until_released};
	sigset_t before, after;
	bool had_returned;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	wakes = 0;
	arm(&told, 1);
	assert_true(wakes > 0);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	tutti_signal_store(told.signal, 0);
	while (!tutti_load_acquire(&running))
		sched_yield();
	assert_int_equal(tutti_signal_handler_remove(device, told.signal, on_signal, &told), 0);
	had_returned = tutti_load_acquire(&returned);
	tutti_store_release(&released, true);
	assert_true(had_returned);
	assert_int_equal(until.tv_sec, 101);
	assert_int_equal(until.tv_nsec, 5000000);
	for (int number = 1; number < 32; number++) {
		assert_int_equal(sigismember(&after, number), sigismember(&before, number));
		if (number != SIGKILL && number != SIGSTOP)
			assert_int_equal(sigismember(&mask_of_thread, number), 1);
	}
	assert_gone(&told);
}

/* The same for the handler of the card's death, when another one is set. */
static void replacing_waits(void **state)
{
	bool had_returned;

	deaths = 0;
	death_returned = false;
	blocks = true;
	assert_int_equal(tutti_device_error_handler(device, on_death, &deaths), 0);
	device->status->state = TUTTI_STATE_CRASHED;
	while (!tutti_load_relaxed(&deaths))
		sched_yield();
	assert_int_equal(tutti_device_error_handler(device, NULL, NULL), 0);
	had_returned = tutti_load_acquire(&death_returned);
	tutti_store_release(&released, true);
	assert_true(had_returned);
}

static unsigned naps;
static uint64_t nap_ns;

static void naps_briefly(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	tutti_store_relaxed(&nap_ns, deadline - now);
	tutti_store_release(&naps, naps + 1);
	usleep(50);
}

/* What the thread sleeps for at most, once it knows what there is now. */
static uint64_t longest_nap(void)
{
	unsigned before = tutti_load_acquire(&naps);

	while (tutti_load_acquire(&naps) - before < 3)
		sched_yield();
	return tutti_load_relaxed(&nap_ns);
}

/*
 * Files and signals are looked at every millisecond while any have handlers, also if the first one comes late; a dead card
 * often enough to notice that the device is closed.
 */
static void looks_often_enough(void **state)
{
	struct told told = {0};

	now = 1000000000;
	blocks = false;
	transport.sleep = naps_briefly;
	assert_int_equal(tutti_device_error_handler(device, on_death, &deaths), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(longest_nap() == 100000000);
		arm(&told, 1);
		assert_true(longest_nap() == 1000000);
		tutti_signal_store(told.signal, 0);
		while (tutti_load_acquire(&told.calls) <= i)
			sched_yield();
		assert_int_equal(tutti_signal_destroy(device, told.signal), 0);
	}
	device->status->state = TUTTI_STATE_CRASHED; /* which interrupts no more */
	assert_true(longest_nap() == 20000000);
	events_stop(device);
	transport.sleep = sleep_card;
	now = 0;
}

static sem_t wakings;

static void wakes_one(struct tutti_device *of)
{
	sem_post(&wakings);
}

/* Nobody wakes a thread that sleeps for a card that is known to be dead, so it sleeps only for a short time. */
static void sleeps_until_woken(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	if (tutti_load_relaxed(&of->dead))
		sleep_card(of, seen, deadline);
	else
		while (sem_wait(&wakings))
			;
}

/* On a card that never interrupts, the thread is woken for whatever concerns it, and for the end. */
static void woken_for_everything(void **state)
{
	sem_init(&wakings, 0, 0);
	transport.wake = wakes_one;
	transport.sleep = sleeps_until_woken;
	deaths = 0;
	blocks = false;
	assert_int_equal(tutti_device_error_handler(device, NULL, NULL), 0);
	device->status->state = TUTTI_STATE_CRASHED;
	assert_int_equal(tutti_device_error_handler(device, on_death, &deaths), 0);
	while (!tutti_load_relaxed(&deaths))
		sched_yield();
	events_stop(device);
	assert_null(device->events);
	transport.wake = counts_wakes;
	transport.sleep = sleep_card;
	sem_destroy(&wakings);
}

static pthread_key_t ends_with_thread;
static unsigned drops;

static void on_end(void *context)
{
	sem_post(&wakings);
}

static void on_drop(void *context)
{
	drops++;
}

/* Stops the events as tutti_device_close() does. The pointer is cleared because the device no longer exists afterwards. */
static void closes(struct told *told)
{
	struct events *events = device->events;

	pthread_setspecific(ends_with_thread, told);
	events_stop(device);
	events->device = NULL;
}

/*
 * A handler that closes the device is the last one that is called. The drop callback is called for each handler that is
 * removed before its last call: for all other handlers, and for this one if it has asked to be called again. The event
 * thread ends and frees everything that is left.
 */
static void closed_by_a_handler(void **state)
{
	sem_init(&wakings, 0, 0);
	pthread_key_create(&ends_with_thread, on_end);
	for (unsigned i = 0; i < 4; i++) {
		struct told last = {.does = closes, .again = i & 1}, other = {0};
		struct handler wanted = {.fd = NO_FILE, .call = on_signal, .drop = i & 2 ? on_drop : NULL};

		drops = sequence = 0;
		other.signal = a_signal(1);
		last.signal = a_signal(0);
		wanted.watch = (struct signal_watch){.signal = other.signal, .condition = TUTTI_EQ};
		wanted.context = &other;
		assert_int_equal(handler_add(device, &wanted), 0);
		wanted.watch.signal = last.signal;
		wanted.context = &last;
		assert_int_equal(handler_add(device, &wanted), 0);
		while (sem_wait(&wakings))
			;
		assert_int_equal(sequence, 1);
		assert_int_equal(last.calls, 1);
		assert_int_equal(drops, i & 2 ? 1 + (i & 1) : 0);
		assert_null(device->events);
		assert_int_equal(other.signal->waiters, 0);
		device->watches = NULL; /* the list would have been freed with the device */
	}
	pthread_key_delete(ends_with_thread);
	sem_destroy(&wakings);
}

static void death_closes(struct tutti_device *of, int error, void *context)
{
	deaths++;
	closes(context);
}

/* The handler of the card's death can close the device, too. The event thread then ends and frees what is left. */
static void closed_by_a_death(void **state)
{
	struct told told = {0};

	sem_init(&wakings, 0, 0);
	pthread_key_create(&ends_with_thread, on_end);
	deaths = 0;
	assert_int_equal(tutti_device_error_handler(device, death_closes, &told), 0);
	device->status->state = TUTTI_STATE_CRASHED;
	while (sem_wait(&wakings))
		;
	assert_int_equal(deaths, 1);
	assert_null(device->events);
	pthread_key_delete(ends_with_thread);
	sem_destroy(&wakings);
}

static bool sleeps_now;

static void says_that_it_sleeps(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	tutti_store_release(&sleeps_now, true);
	while (sem_wait(&wakings))
		;
}

/* If nothing is due, tutti_queue_poll() neither wakes the event thread nor waits for it. */
static void polls_that_wake_nobody(void **state)
{
	struct tutti_queue *queue;

	sem_init(&wakings, 0, 0);
	sleeps_now = false;
	transport.wake = wakes_one;
	transport.sleep = says_that_it_sleeps;
	queue = a_queue(0, false);
	while (!tutti_load_acquire(&sleeps_now))
		sched_yield();
	transport.wake = counts_wakes;
	wakes = 0;
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(wakes, 0);
	transport.wake = wakes_one;
	assert_int_equal(tutti_queue_destroy(queue), 0);
	events_stop(device);
	transport.wake = counts_wakes;
	transport.sleep = sleep_card;
	sem_destroy(&wakings);
}

#define DETERMINISTIC(f) cmocka_unit_test_setup_teardown(f, open_deterministic, close_fake)
#define THREADED(f) cmocka_unit_test_setup_teardown(f, open_threaded, close_fake)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    DETERMINISTIC(once_in_a_pass),	 DETERMINISTIC(given_up),		 DETERMINISTIC(death),
	    DETERMINISTIC(removed_by_handlers), DETERMINISTIC(files_are_not_given_up), THREADED(removing_waits),
	    THREADED(replacing_waits),		 THREADED(looks_often_enough),	       THREADED(woken_for_everything),
	    DETERMINISTIC(none_yet),		 DETERMINISTIC(conditions),	       THREADED(closed_by_a_handler),
	    THREADED(closed_by_a_death),	 THREADED(polls_that_wake_nobody)};

	return cmocka_run_group_tests_name("SYS-56 handlers over a played card", tests, NULL, NULL);
}

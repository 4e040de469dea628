// SPDX-License-Identifier: MIT
/* SYS-43, SYS-56: signals: all operations under all their names, waits, groups, handlers. */
#include <pthread.h>
#include <time.h>

#include "hsa_test.h"

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Every order of an operation without result: value 12, operand 10. */
#define CHANGES(operation, result)                                                       \
	do {                                                                             \
		void (*const orders[])(hsa_signal_t, hsa_signal_value_t) = {             \
			hsa_signal_##operation##_relaxed, hsa_signal_##operation##_acquire, \
			hsa_signal_##operation##_scacquire, hsa_signal_##operation##_release, \
			hsa_signal_##operation##_screlease, hsa_signal_##operation##_acq_rel, \
			hsa_signal_##operation##_scacq_screl};                           \
		for (int i = 0; i < 7; i++) {                                            \
			hsa_signal_store_relaxed(signal, 12);                            \
			orders[i](signal, 10);                                           \
			assert_int_equal(hsa_signal_load_scacquire(signal), result);     \
		}                                                                        \
	} while (0)

static void operations_have_their_results(void **state)
{
	hsa_signal_t signal = new_signal(12);

	(void)state;
	CHANGES(add, 22);
	CHANGES(subtract, 2);
	CHANGES(and, 8);
	CHANGES(or, 14);
	CHANGES(xor, 6);
	hsa_signal_store_release(signal, -5);
	assert_int_equal(hsa_signal_load_acquire(signal), -5);
	hsa_signal_store_screlease(signal, INT64_MIN);
	assert_true(hsa_signal_load_relaxed(signal) == INT64_MIN);
	hsa_signal_silent_store_relaxed(signal, 4);
	assert_int_equal(hsa_signal_load_relaxed(signal), 4);
	hsa_signal_silent_store_screlease(signal, 3);
	assert_int_equal(hsa_signal_load_relaxed(signal), 3);
	OK(hsa_signal_destroy(signal));
}

static void exchanges_return_the_old_value(void **state)
{
	hsa_signal_value_t (*const exchanges[])(hsa_signal_t, hsa_signal_value_t) = {
		hsa_signal_exchange_relaxed, hsa_signal_exchange_acquire, hsa_signal_exchange_scacquire,
		hsa_signal_exchange_release, hsa_signal_exchange_screlease, hsa_signal_exchange_acq_rel,
		hsa_signal_exchange_scacq_screl};
	hsa_signal_value_t (*const swaps[])(hsa_signal_t, hsa_signal_value_t, hsa_signal_value_t) = {
		hsa_signal_cas_relaxed, hsa_signal_cas_acquire, hsa_signal_cas_scacquire, hsa_signal_cas_release,
		hsa_signal_cas_screlease, hsa_signal_cas_acq_rel, hsa_signal_cas_scacq_screl};
	hsa_signal_t signal = new_signal(0);

	(void)state;
	for (int i = 0; i < 7; i++) {
		hsa_signal_store_relaxed(signal, 40 + i);
		assert_int_equal(exchanges[i](signal, 7), 40 + i);
		assert_int_equal(swaps[i](signal, 8, 9), 7);
		assert_int_equal(hsa_signal_load_relaxed(signal), 7);
		assert_int_equal(swaps[i](signal, 7, 9), 7);
		assert_int_equal(hsa_signal_load_relaxed(signal), 9);
	}
	OK(hsa_signal_destroy(signal));
}

static void conditions_are_compared_signed(void **state)
{
	hsa_signal_t signal = new_signal(-3);

	(void)state;
	assert_int_equal(hsa_signal_wait_relaxed(signal, HSA_SIGNAL_CONDITION_EQ, -3, UINT64_MAX, HSA_WAIT_STATE_ACTIVE),
			 -3);
	assert_int_equal(hsa_signal_wait_acquire(signal, HSA_SIGNAL_CONDITION_LT, 0, UINT64_MAX, HSA_WAIT_STATE_ACTIVE),
			 -3);
	assert_int_equal(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_NE, 5, UINT64_MAX,
						   HSA_WAIT_STATE_BLOCKED), -3);
	assert_int_equal(hsa_signal_wait_relaxed(signal, HSA_SIGNAL_CONDITION_GTE, -3, UINT64_MAX,
						 HSA_WAIT_STATE_BLOCKED), -3);
	OK(hsa_signal_destroy(signal));
}

static void a_wait_ends_in_time(void **state)
{
	hsa_signal_t signal = new_signal(1);
	uint64_t frequency = 0;
	double start = seconds(), passed;

	(void)state;
	OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
	assert_int_equal(hsa_signal_wait_relaxed(signal, HSA_SIGNAL_CONDITION_EQ, 0, 0, HSA_WAIT_STATE_BLOCKED), 1);
	assert_int_equal(hsa_signal_wait_relaxed(signal, HSA_SIGNAL_CONDITION_EQ, 0, frequency / 20,
						 HSA_WAIT_STATE_BLOCKED), 1);
	passed = seconds() - start;
	assert_true(passed >= 0.049 && passed < 10);
	OK(hsa_signal_destroy(signal));
}

struct play {
	hsa_signal_t there, back;
	int rounds;
};

static void *answer(void *context)
{
	struct play *play = context;

	for (int i = 1; i <= play->rounds; i++) {
		hsa_signal_wait_scacquire(play->there, HSA_SIGNAL_CONDITION_EQ, i, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
		hsa_signal_store_screlease(play->back, i);
	}
	return NULL;
}

static void threads_play_ping_pong(void **state)
{
	struct play play = {new_signal(0), new_signal(0), 300};
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, answer, &play);
	for (int i = 1; i <= play.rounds; i++) {
		hsa_signal_store_screlease(play.there, i);
		assert_int_equal(hsa_signal_wait_scacquire(play.back, HSA_SIGNAL_CONDITION_EQ, i, UINT64_MAX,
							   HSA_WAIT_STATE_BLOCKED), i);
	}
	pthread_join(thread, NULL);
	OK(hsa_signal_destroy(play.there));
	OK(hsa_signal_destroy(play.back));
}

#define TURNS 20000

static void *change(void *context)
{
	hsa_signal_t signal = *(hsa_signal_t *)context;

	for (int i = 0; i < TURNS; i++) {
		hsa_signal_value_t old;

		hsa_signal_add_relaxed(signal, 3);
		hsa_signal_subtract_scacq_screl(signal, 1);
		do
			old = hsa_signal_load_relaxed(signal);
		while (hsa_signal_cas_relaxed(signal, old, old + 1) != old);
	}
	return NULL;
}

/* The card decrements the same signal meanwhile: every change counts, whoever makes it. */
static void no_change_is_lost(void **state)
{
	hsa_executable_t executable = load_code("test");
	struct kernel empty = kernel_of(executable, "empty");
	hsa_signal_t signal = new_signal(0);
	hsa_queue_t *queue[2];
	void *kernarg = fine_memory(64);
	pthread_t thread[3];

	(void)state;
	for (int q = 0; q < 2; q++)
		OK(hsa_queue_create(found.card, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue[q]));
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, change, &signal);
	for (int i = 0; i < 400; i++)
		launch(queue[i & 1], &empty, 1, 1, kernarg, signal);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	hsa_signal_subtract_relaxed(signal, 3 * TURNS * 3 - 400);
	wait_zero(signal);
	for (int q = 0; q < 2; q++)
		OK(hsa_queue_destroy(queue[q]));
	OK(hsa_executable_destroy(executable));
	OK(hsa_signal_destroy(signal));
}

static void *store_later(void *context)
{
	nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	hsa_signal_store_screlease(*(hsa_signal_t *)context, 77);
	return NULL;
}

static void a_group_waits_for_any(void **state)
{
	hsa_signal_t signals[3] = {new_signal(1), new_signal(2), new_signal(3)}, seen = {0};
	hsa_signal_condition_t conditions[3] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_GTE, HSA_SIGNAL_CONDITION_LT};
	hsa_signal_value_t values[3] = {0, 50, 0}, value = 0;
	hsa_signal_group_t group;
	pthread_t thread;

	(void)state;
	OK(hsa_signal_group_create(3, signals, 1, &found.host, &group));
	pthread_create(&thread, NULL, store_later, &signals[1]);
	OK(hsa_signal_group_wait_any_scacquire(group, conditions, values, HSA_WAIT_STATE_BLOCKED, &seen, &value));
	pthread_join(thread, NULL);
	assert_true(seen.handle == signals[1].handle);
	assert_int_equal(value, 77);
	hsa_signal_store_relaxed(signals[1], 0);
	hsa_signal_store_relaxed(signals[2], -9);
	OK(hsa_signal_group_wait_any_relaxed(group, conditions, values, HSA_WAIT_STATE_ACTIVE, &seen, &value));
	assert_true(seen.handle == signals[2].handle && value == -9);
	assert_int_equal(hsa_amd_signal_wait_any(3, signals, conditions, values, 0, HSA_WAIT_STATE_BLOCKED, &value), 2);
	hsa_signal_store_relaxed(signals[2], 9);
	assert_int_equal(hsa_amd_signal_wait_any(3, signals, conditions, values, 1000, HSA_WAIT_STATE_BLOCKED, &value),
			 UINT32_MAX);
	OK(hsa_signal_group_destroy(group));
	FAILS(INVALID_SIGNAL_GROUP, hsa_signal_group_destroy(group));
	for (int i = 0; i < 3; i++)
		OK(hsa_signal_destroy(signals[i]));
}

struct calls {
	hsa_signal_t done;
	int count;
	hsa_signal_value_t last;
};

static bool until_third(hsa_signal_value_t value, void *context)
{
	struct calls *calls = context;

	calls->last = value;
	hsa_signal_subtract_screlease(calls->done, 1);
	return ++calls->count < 3;
}

static void once(void *context)
{
	hsa_signal_store_screlease(*(hsa_signal_t *)context, 0);
}

static void handlers_are_called(void **state)
{
	struct calls calls = {.done = new_signal(3)};
	hsa_signal_t signal = new_signal(5), function = new_signal(1);

	(void)state;
	OK(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, until_third, &calls));
	assert_int_equal(calls.count, 0);
	hsa_signal_store_screlease(signal, -2);
	wait_zero(calls.done);
	assert_int_equal(calls.last, -2);
	nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	assert_int_equal(calls.count, 3);
	OK(hsa_amd_async_function(once, &function));
	wait_zero(function);
	OK(hsa_signal_destroy(signal));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_have_their_results), cmocka_unit_test(exchanges_return_the_old_value),
		cmocka_unit_test(conditions_are_compared_signed), cmocka_unit_test(a_wait_ends_in_time),
		cmocka_unit_test(threads_play_ping_pong),	 cmocka_unit_test(no_change_is_lost),
		cmocka_unit_test(a_group_waits_for_any),	 cmocka_unit_test(handlers_are_called),
	};

	return cmocka_run_group_tests(tests, found_all, found_done);
}

/* SPDX-License-Identifier: MIT */
/*
 * SYS-56: copies and fills that nobody waits for: what they depend on, what becomes of them and of others when one fails,
 * when the device is closed, when it dies; child processes.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "rig.h"

#include "device/device.h"

#define BYTES 4096u
#define BAD ((void *)0x7000000000ull) /* nothing is mapped there */

static uint8_t *buffer(uint8_t with)
{
	uint8_t *memory = rig_alloc(rig, BYTES);

	memset(memory, with, BYTES);
	return memory;
}

static bool all_are(const uint8_t *memory, uint8_t what)
{
	for (unsigned i = 0; i < BYTES; i++)
		if (memory[i] != what)
			return false;
	return true;
}

static int wait_for_zero(tutti_signal_t signal)
{
	return tutti_signal_wait(rig->device, signal, TUTTI_EQ, 0, RIG_WAIT, NULL);
}

/* In the order of a queue, behind seven signals and a kernel. */
static void in_a_queue(void **state)
{
	tutti_signal_t after[8] = { 0 }, done = rig_signal(rig, 2);
	uint8_t *from = buffer(1), *to = buffer(2), *filled = buffer(3);
	struct tutti_recording *recording;

	for (unsigned i = 0; i < 7; i++)
		after[i + (i > 2)] = rig_signal(rig, 1);
	assert_int_equal(tutti_copy_async(rig->queue, to, from, BYTES, after, 8, done), 0);
	assert_int_equal(tutti_fill_async(rig->queue, filled, 0x04040404, BYTES, NULL, 0, done), 0);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(tutti_signal_wait(rig->device, done, TUTTI_NE, 2, 300000, NULL), -ETIMEDOUT);
		tutti_signal_store(after[i], 0);
	}
	assert_int_equal(wait_for_zero(done), 0);
	assert_true(all_are(to, 1));
	assert_true(all_are(filled, 4));
	assert_int_equal(tutti_fill_async(rig->queue, filled + 1, 0, 4, NULL, 0, done), -EINVAL);
	assert_int_equal(tutti_fill_async(rig->queue, filled, 0, 5, NULL, 0, done), -EINVAL);
	assert_int_equal(tutti_copy_async(rig->queue, to, from, 5, NULL, 1, done), -EINVAL);
	assert_int_equal(tutti_record_begin(rig->queue), 0);
	assert_int_equal(tutti_copy_async(rig->queue, to, from, BYTES, NULL, 0, done), -EBUSY);
	assert_int_equal(tutti_record_end(rig->queue, &recording), 0);
	assert_int_equal(tutti_recording_destroy(recording), 0);
}

/* A bad address stops the queue; what is behind it waits for a reset. */
static void fails_in_a_queue(void **state)
{
	struct tutti_queue *queue = rig_queue(rig, 0);
	tutti_signal_t bad = rig_signal(rig, 1), behind = rig_signal(rig, 1);
	uint8_t *from = buffer(1), *to = buffer(2);

	assert_int_equal(tutti_copy_async(queue, BAD, from, BYTES, NULL, 0, bad), 0);
	assert_int_equal(tutti_copy_async(queue, to, from, BYTES, NULL, 0, behind), 0);
	assert_int_equal(wait_for_zero(bad), -EIO);
	assert_int_equal(wait_for_zero(behind), -EIO);
	assert_int_equal(tutti_copy_async(queue, to, from, BYTES, NULL, 0, behind), -EIO);
	assert_int_equal(tutti_queue_error(queue, NULL), TUTTI_ERROR_MEMORY_FAULT);
	assert_int_equal(tutti_queue_reset(queue), 0);
	assert_int_equal(wait_for_zero(behind), 0);
	assert_true(all_are(to, 1));
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* The first depends on what is set after the second has been made: no order but that of the signals. */
static void no_order(void **state)
{
	tutti_signal_t gate = rig_signal(rig, 1), first = rig_signal(rig, 1), second = rig_signal(rig, 1);
	uint8_t *a = buffer(1), *b = buffer(2), *c = buffer(3);

	assert_int_equal(tutti_device_copy(rig->device, c, b, BYTES, &second, 1, first), 0);
	assert_int_equal(tutti_device_copy(rig->device, b, a, BYTES, &gate, 1, second), 0);
	assert_int_equal(tutti_signal_wait(rig->device, first, TUTTI_EQ, 0, 3000000, NULL), -ETIMEDOUT);
	tutti_signal_store(gate, -3); /* not 0 */
	assert_int_equal(tutti_signal_wait(rig->device, first, TUTTI_EQ, 0, 3000000, NULL), -ETIMEDOUT);
	tutti_signal_store(gate, 0);
	assert_int_equal(wait_for_zero(first), 0);
	assert_true(all_are(c, 1));
}

/* Kernels and copies that depend on each other, through many signals. */
static void with_kernels(void **state)
{
	tutti_signal_t kernel = rig_signal(rig, 1), after[3], done = rig_signal(rig, 1);
	uint64_t *word = rig_alloc(rig, 64), *copy = rig_alloc(rig, 64);

	after[0] = kernel;
	after[1] = NULL;
	after[2] = rig_signal(rig, 1);
	assert_int_equal(tutti_device_copy(rig->device, copy, word, 8, after, 3, done), 0);
	assert_int_equal(tutti_device_fill(rig->device, word + 1, 7, 8, NULL, 0, after[2]), 0);
	rig_launch(rig, rig->queue, "poke", 1, 1, rig_args(rig, word, 99, 0), kernel);
	assert_int_equal(wait_for_zero(done), 0);
	assert_int_equal(*copy, 99);
	assert_int_equal(word[1], 0x700000007);
}

/* Of a thousand, in a ring of 256, every tenth has a bad address. */
static void some_fail(void **state)
{
	enum { COPIES = 1000 };
	tutti_signal_t good = rig_signal(rig, COPIES - COPIES / 10), bad[COPIES / 10];
	uint8_t *from = buffer(1), *to = buffer(2);

	for (unsigned i = 0; i < COPIES; i++) {
		if (i % 10 == 5)
			bad[i / 10] = rig_signal(rig, 1);
		assert_int_equal(tutti_device_copy(rig->device, i % 10 == 5 ? BAD : to, from, BYTES, NULL, 0,
						   i % 10 == 5 ? bad[i / 10] : good), 0);
	}
	assert_int_equal(wait_for_zero(good), 0);
	for (unsigned i = 0; i < COPIES / 10; i++) {
		assert_int_equal(wait_for_zero(bad[i]), -EIO);
		assert_int_equal(tutti_signal_load(bad[i]), TUTTI_SIGNAL_CANCELLED);
		assert_int_equal(tutti_signal_wait(rig->device, bad[i], TUTTI_LT, 1, 0, NULL), 0);
		tutti_signal_destroy(rig->device, bad[i]);
	}
	assert_true(all_are(to, 1));
}

/* What depends on a copy that has failed fails as well; the signal can be used again. */
static void failure_spreads(void **state)
{
	tutti_signal_t bad = rig_signal(rig, 1), next = rig_signal(rig, 1), last = rig_signal(rig, 1);
	struct tutti_queue *queue = rig_queue(rig, 0);
	uint8_t *from = buffer(1), *to = buffer(2);

	assert_int_equal(tutti_device_copy(rig->device, to, from, BYTES, &bad, 1, next), 0);
	assert_int_equal(tutti_device_copy(rig->device, from, BAD, BYTES, NULL, 0, bad), 0);
	assert_int_equal(wait_for_zero(next), -EIO);
	assert_true(tutti_signal_load(next) < TUTTI_SIGNAL_FAILED);
	assert_true(all_are(to, 2));
	/* a queue that stops */
	assert_int_equal(tutti_device_copy(rig->device, to, from, BYTES, &last, 1, NULL), 0);
	tutti_signal_store(next, 1);
	tutti_signal_store(bad, 1);
	assert_int_equal(tutti_device_copy(rig->device, to, from, BYTES, &bad, 1, next), 0);
	rig_launch(rig, queue, "trap", 1, 1, rig_args(rig, NULL, 0, 0), bad);
	assert_int_equal(wait_for_zero(next), -EIO);
	assert_true(all_are(to, 2));
	tutti_signal_store(next, 1);
	assert_int_equal(tutti_device_copy(rig->device, to, from, BYTES, NULL, 0, next), 0);
	assert_int_equal(wait_for_zero(next), 0);
	assert_true(all_are(to, 1));
	assert_int_equal(tutti_signal_destroy(rig->device, last), 0); /* its copy never comes */
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

struct copier_thread {
	pthread_t thread;
	struct tutti_device *device;
	uint8_t *from, *to;
	tutti_signal_t done;
	int error;
	unsigned copies;
};

static void *copy_until_error(void *context)
{
	struct copier_thread *me = context;

	do {
		me->error = tutti_device_copy(me->device, me->to, me->from, 64, NULL, 0, NULL);
		tutti_store_release(&me->copies, me->copies + 1);
	} while (!me->error);
	return NULL;
}

static void *wait_for_ever(void *context)
{
	struct copier_thread *me = context;

	me->error = tutti_signal_wait(me->device, me->done, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL);
	return NULL;
}

/* While two threads copy, one waits for a copy that never starts; the device is closed, or dies first. */
static void closed_meanwhile(void **state)
{
	for (unsigned dies = 0; dies < 2; dies++) {
		struct copier_thread copier[3] = { 0 };
		struct tutti_device *device;
		tutti_signal_t never;
		uint8_t *memory;

		assert_int_equal(tutti_device_open(&(struct tutti_device_options){ .name = rig_transport() }, &device), 0);
		assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, BYTES, (void **)&memory), 0);
		assert_int_equal(tutti_signal_create(device, 1, &never), 0);
		for (unsigned i = 0; i < 3; i++) {
			copier[i].device = device;
			copier[i].from = memory;
			copier[i].to = memory + 1024 * (i + 1);
			assert_int_equal(tutti_signal_create(device, 1, &copier[i].done), 0);
		}
		assert_int_equal(tutti_device_copy(device, memory, memory + 2048, 8, &never, 1, copier[2].done), 0);
		pthread_create(&copier[2].thread, NULL, wait_for_ever, &copier[2]);
		for (unsigned i = 0; i < 2; i++)
			pthread_create(&copier[i].thread, NULL, copy_until_error, &copier[i]);
		while (tutti_load_acquire(&copier[0].copies) < 100 || tutti_load_acquire(&copier[1].copies) < 100)
			usleep(1000);
		if (dies) {
			device_fail(device, "a test");
			for (unsigned i = 0; i < 3; i++)
				pthread_join(copier[i].thread, NULL);
		}
		assert_int_equal(tutti_device_close(device), 0);
		for (unsigned i = 0; i < 3; i++) {
			if (!dies)
				pthread_join(copier[i].thread, NULL);
			assert_true(copier[i].error == -EIO || (copier[i].error == -EINVAL && !dies));
		}
	}
}

/* ---- child processes -------------------------------------------------- */

static int use_device(struct tutti_device *device)
{
	tutti_signal_t done;
	uint8_t *memory;
	int error = tutti_signal_create(device, 1, &done);

	if (!error)
		error = tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, BYTES, (void **)&memory);
	if (error)
		return error;
	memory[0] = 5;
	error = tutti_device_copy(device, memory + 64, memory, 8, NULL, 0, done);
	if (!error)
		error = tutti_signal_wait(device, done, TUTTI_EQ, 0, RIG_WAIT, NULL);
	return error ? error : memory[64] == 5 ? 0 : -1;
}

/* Handles of the parent are stale in the child, which may open a device of its own. Result: a number for each failure. */
static int child(tutti_signal_t signal)
{
	struct tutti_device *device;

	alarm(RIG_SECONDS);
	if (tutti_signal_wait(rig->device, signal, TUTTI_EQ, 7, TUTTI_WAIT_FOREVER, NULL) != -EINVAL)
		return 1;
	if (tutti_queue_destroy(rig->queue) != -EINVAL || tutti_device_close(rig->device) != -EINVAL)
		return 2;
	if (tutti_device_copy(rig->device, NULL, NULL, 0, NULL, 0, NULL) != -EINVAL)
		return 3;
	tutti_signal_store(signal, 3);
	if (strcmp(rig_transport(), "emulator"))
		return 0;
	if (tutti_device_open(&(struct tutti_device_options){ .name = rig_transport() }, &device))
		return 4;
	if (use_device(device))
		return 5;
	return tutti_device_close(device) ? 6 : 0;
}

static void *copies_on(void *context)
{
	struct copier_thread *me = context;

	while (!tutti_load_acquire(&me->copies))
		me->error |= use_device(me->device);
	return NULL;
}

static bool never(tutti_signal_t signal, int64_t value, int error, void *context)
{
	_exit(50);
}

/* Another thread is anywhere inside the library, a handler is armed, and its condition holds in the child. */
static void forks(void **state)
{
	struct copier_thread busy = { .device = rig->device };
	tutti_signal_t signal = rig_signal(rig, 1);

	assert_int_equal(tutti_signal_handler(rig->device, signal, TUTTI_EQ, 3, never, NULL), 0);
	pthread_create(&busy.thread, NULL, copies_on, &busy);
	for (unsigned i = 0; i < 20; i++) {
		int status;
		pid_t pid;

		usleep(500);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid)
			_exit(child(signal));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	tutti_store_release(&busy.copies, 1);
	pthread_join(busy.thread, NULL);
	assert_int_equal(busy.error, 0);
	assert_int_equal(tutti_signal_handler_remove(rig->device, signal, never, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_a_queue),	cmocka_unit_test(fails_in_a_queue), cmocka_unit_test(no_order),
		cmocka_unit_test(with_kernels), cmocka_unit_test(some_fail),	    cmocka_unit_test(failure_spreads),
		cmocka_unit_test(closed_meanwhile), cmocka_unit_test(forks),
	};

	return cmocka_run_group_tests_name("SYS-56 asynchronous copies", tests, rig_group_open, rig_group_close);
}

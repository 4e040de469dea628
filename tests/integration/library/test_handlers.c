/* SPDX-License-Identifier: MIT */
/*
 * SYS-56: handlers of signals and error callbacks, where they meet queues that stop, destroying, closing, other devices;
 * waits for several signals; eventfds.
 */
#include <pthread.h>
#include <sys/eventfd.h>

#include "rig.h"

#include "device/device.h"

/* What a handler has been told, and what it is to do. */
struct told {
	sem_t called;
	unsigned calls;
	int64_t value;
	int error;
	pthread_t thread;
	unsigned again; /* calls after which it stays armed */
	tutti_signal_t destroy;
	struct tutti_queue *queue;
	struct tutti_device *close;
	int result;
	sem_t *wait;
};

static bool handler(tutti_signal_t signal, int64_t value, int error, void *context)
{
	struct told *seen = context;
	bool again;

	if (seen->wait)
		sem_wait(seen->wait);
	seen->value = value;
	seen->error = error;
	seen->thread = pthread_self();
	if (seen->queue)
		seen->result |= tutti_queue_destroy(seen->queue);
	if (seen->destroy)
		seen->result |= tutti_signal_destroy(rig->device, seen->destroy);
	if (seen->close)
		seen->result |= tutti_device_close(seen->close);
	again = seen->calls < seen->again;
	tutti_store_release(&seen->calls, seen->calls + 1);
	sem_post(&seen->called); /* the test may end now, and @context with it */
	return again;
}

static struct told seen_new(void)
{
	struct told seen = { 0 };

	sem_init(&seen.called, 0, 0);
	return seen;
}

static void arm(tutti_signal_t signal, enum tutti_condition condition, int64_t value, struct told *seen)
{
	assert_int_equal(tutti_signal_handler(rig->device, signal, condition, value, handler, seen), 0);
}

static struct tutti_device *another_device(void)
{
	struct tutti_device *device;

	assert_int_equal(tutti_device_open(&(struct tutti_device_options){ .name = rig_transport() }, &device), 0);
	return device;
}

/* By the card, and by the host; no thread waits. */
static void called_once(void **state)
{
	tutti_signal_t done = rig_signal(rig, 1), host = rig_signal(rig, 1);
	struct told first = seen_new(), second = seen_new();

	arm(done, TUTTI_EQ, 0, &first);
	arm(host, TUTTI_LT, -5, &second);
	rig_launch(rig, rig->queue, "empty", 1, 1, rig_args(rig, NULL, 0, 0), done);
	rig_sem_wait(&first.called);
	assert_int_equal(first.value, 0);
	assert_int_equal(first.error, 0);
	assert_false(pthread_equal(first.thread, pthread_self()));
	tutti_signal_store(host, -5);
	tutti_signal_subtract(host, 1);
	rig_sem_wait(&second.called);
	assert_int_equal(second.value, -6);
	assert_true(pthread_equal(first.thread, second.thread));
	tutti_signal_store(host, -7);
	usleep(5000);
	assert_int_equal(tutti_load_acquire(&second.calls), 1);
	assert_int_equal(tutti_signal_handler_remove(rig->device, host, handler, &second), -ENOENT);
	assert_int_equal(done->waiters + host->waiters, 0);
}

static void stays_armed(void **state)
{
	tutti_signal_t signal = rig_signal(rig, 0);
	struct told seen = seen_new();

	seen.again = 3;
	arm(signal, TUTTI_NE, 0, &seen);
	arm(signal, TUTTI_EQ, 12345, &seen);
	tutti_signal_store(signal, 1);
	for (unsigned i = 0; i < 4; i++)
		rig_sem_wait(&seen.called);
	usleep(5000);
	assert_int_equal(tutti_load_acquire(&seen.calls), 4);
	assert_int_equal(tutti_signal_handler_remove(rig->device, signal, NULL, NULL), 0);
	tutti_signal_store(signal, 12345);
	usleep(5000);
	assert_int_equal(tutti_load_acquire(&seen.calls), 4);
}

/* A handler that is due all the time does not keep others from being called. */
static void fair(void **state)
{
	tutti_signal_t always = rig_signal(rig, 0), signal = rig_signal(rig, 1);
	struct told busy = seen_new(), seen = seen_new();

	busy.again = UINT32_MAX;
	arm(signal, TUTTI_EQ, 0, &seen);
	arm(always, TUTTI_EQ, 0, &busy);
	rig_sem_wait(&busy.called);
	tutti_signal_store(signal, 0);
	rig_sem_wait(&seen.called);
	assert_int_equal(tutti_signal_destroy(rig->device, always), 0);
}

/* Of a queue that stops: of the packet that failed, and of one behind it. Another queue's handler is not affected. */
static void stopped_queue(void **state)
{
	struct tutti_queue *queue = rig_queue(rig, 0);
	tutti_signal_t bad = rig_signal(rig, 1), behind = rig_signal(rig, 1), other = rig_signal(rig, 1);
	struct told failed = seen_new(), lost = seen_new(), good = seen_new();

	failed.again = 10;
	arm(bad, TUTTI_EQ, 0, &failed);
	arm(behind, TUTTI_EQ, 0, &lost);
	arm(other, TUTTI_EQ, 0, &good);
	rig_launch(rig, queue, "trap", 1, 1, rig_args(rig, NULL, 0, 0), bad);
	rig_launch(rig, queue, "empty", 1, 1, rig_args(rig, NULL, 0, 0), behind);
	rig_sem_wait(&failed.called);
	rig_sem_wait(&lost.called);
	assert_int_equal(failed.error, -EIO);
	assert_int_equal(failed.value, 1);
	assert_int_equal(lost.error, -EIO);
	rig_launch(rig, rig->queue, "empty", 1, 1, rig_args(rig, NULL, 0, 0), other);
	rig_sem_wait(&good.called);
	assert_int_equal(good.error, 0);
	/* after a reset the packet behind runs, and a new handler is told so */
	assert_int_equal(tutti_queue_reset(queue), 0);
	arm(behind, TUTTI_EQ, 0, &good);
	rig_sem_wait(&good.called);
	assert_int_equal(good.error, 0);
	assert_int_equal(failed.calls, 1);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* The queue whose packet it was, and the signal itself. */
static void handler_destroys(void **state)
{
	tutti_signal_t signal = rig_signal(rig, 1), other = rig_signal(rig, 1);
	struct told seen = seen_new(), never = seen_new();
	sem_t submitted; /* until then the queue must exist */

	sem_init(&submitted, 0, 0);
	seen.wait = &submitted;
	seen.queue = rig_queue(rig, 0);
	seen.destroy = signal;
	seen.again = 5;
	arm(other, TUTTI_EQ, 0, &never);
	arm(signal, TUTTI_EQ, 77, &never);
	arm(signal, TUTTI_EQ, 0, &seen);
	rig_launch(rig, seen.queue, "empty", 1, 1, rig_args(rig, NULL, 0, 0), signal);
	sem_post(&submitted);
	rig_sem_wait(&seen.called);
	assert_int_equal(seen.result, 0);
	assert_int_equal(tutti_signal_destroy(rig->device, signal), -EINVAL);
	assert_int_equal(tutti_signal_destroy(rig->device, other), 0);
	usleep(5000);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(never.calls, 0);
}

/* When the signal is gone, the handler has returned. */
static void destroy_waits(void **state)
{
	tutti_signal_t signal = rig_signal(rig, 0);
	struct told seen = seen_new();
	sem_t gate;

	sem_init(&gate, 0, 0);
	seen.wait = &gate;
	arm(signal, TUTTI_EQ, 0, &seen);
	usleep(5000);
	sem_post(&gate);
	assert_int_equal(tutti_signal_destroy(rig->device, signal), 0);
	assert_in_range(seen.calls, 0, 1);
	usleep(5000);
	assert_int_equal(seen.calls, sem_trywait(&gate) ? 1 : 0);
}

static void handler_closes(void **state)
{
	for (unsigned i = 0; i < 20; i++) {
		struct told seen = seen_new();
		tutti_signal_t signal;

		seen.close = another_device();
		assert_int_equal(tutti_signal_create(seen.close, 1, &signal), 0);
		assert_int_equal(tutti_signal_handler(seen.close, signal, TUTTI_EQ, 0, handler, &seen), 0);
		assert_int_equal(tutti_signal_handler(seen.close, signal, TUTTI_EQ, 9, handler, &seen), 0);
		tutti_signal_store(signal, 0);
		rig_sem_wait(&seen.called);
		assert_int_equal(seen.result, 0);
		assert_int_equal(tutti_device_close(seen.close), -EINVAL);
	}
}

/* In another thread, at any moment. What waits, waits no longer; what has been armed is not called afterwards. */
static void closed_elsewhere(void **state)
{
	for (unsigned i = 0; i < 20; i++) {
		struct tutti_device *device = another_device();
		struct told seen = seen_new();
		tutti_signal_t signal;
		unsigned calls;

		seen.again = UINT32_MAX;
		assert_int_equal(tutti_signal_create(device, 0, &signal), 0);
		assert_int_equal(tutti_signal_handler(device, signal, TUTTI_EQ, 0, handler, &seen), 0);
		if (i % 2)
			rig_sem_wait(&seen.called);
		assert_int_equal(tutti_device_close(device), 0);
		calls = tutti_load_acquire(&seen.calls);
		usleep(2000);
		assert_int_equal(tutti_load_acquire(&seen.calls), calls);
	}
}

static void on_stop(struct tutti_queue *queue, const struct tutti_fault *fault, void *context)
{
	struct told *seen = context;

	sem_wait(seen->wait);
	seen->error = (int)fault->code;
	seen->thread = pthread_self();
	seen->result = seen->queue ? tutti_queue_destroy(queue) : tutti_device_close(tutti_queue_device(queue));
	sem_post(&seen->called);
}

static void stop_and_see(struct tutti_device *device, struct told *seen)
{
	const struct tutti_queue_options options = { .error = on_stop, .context = seen };
	union tutti_packet bad = { .agent = { .header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, true, 0, 0), .type = 999 } };
	struct tutti_queue *queue;
	sem_t submitted; /* until then queue and device must exist */

	sem_init(&submitted, 0, 0);
	seen->wait = &submitted;
	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	assert_int_equal(tutti_queue_submit(queue, &bad), 0);
	sem_post(&submitted);
	rig_sem_wait(&seen->called);
	assert_int_equal(seen->error, TUTTI_ERROR_AGENT);
	assert_false(pthread_equal(seen->thread, pthread_self()));
	assert_int_equal(seen->result, 0);
}

/* Nobody waits and nobody polls. */
static void error_callbacks(void **state)
{
	struct tutti_device *device = another_device();
	struct told destroys = seen_new(), closes = seen_new();

	destroys.queue = rig->queue;
	stop_and_see(device, &destroys);
	stop_and_see(device, &closes);
	assert_int_equal(tutti_device_close(device), -EINVAL);
}

static void on_death(struct tutti_device *device, int error, void *context)
{
	struct told *seen = context;

	seen->error = error;
	tutti_store_release(&seen->calls, seen->calls + 1);
	if (seen->close)
		seen->result = tutti_device_close(device);
	sem_post(&seen->called);
}

/* The device dies: its error callback comes first, handlers are told, two threads that wait end. */
static void death(void **state)
{
	for (unsigned closes = 0; closes < 2; closes++) {
		struct tutti_device *device = another_device();
		struct told dead = seen_new(), seen = seen_new();
		tutti_signal_t signal;

		dead.close = closes ? device : NULL;
		assert_int_equal(tutti_signal_create(device, 1, &signal), 0);
		assert_int_equal(tutti_device_error_handler(device, on_death, &dead), 0);
		assert_int_equal(tutti_signal_handler(device, signal, TUTTI_EQ, 0, handler, &seen), 0);
		device_fail(device, "a test");
		rig_sem_wait(&dead.called);
		assert_int_equal(dead.error, -EIO);
		if (closes) {
			assert_int_equal(dead.result, 0);
			continue;
		}
		rig_sem_wait(&seen.called);
		assert_int_equal(seen.error, -EIO);
		assert_int_equal(tutti_signal_handler(device, signal, TUTTI_EQ, 0, handler, &seen), 0);
		rig_sem_wait(&seen.called);
		assert_int_equal(tutti_load_acquire(&dead.calls), 1);
		assert_int_equal(tutti_device_error_handler(device, on_death, &dead), 0);
		rig_sem_wait(&dead.called);
		assert_int_equal(tutti_device_close(device), 0);
	}
}

/* Two devices: their handlers have threads of their own, so that one may wait for the other. */
static void two_devices(void **state)
{
	struct tutti_device *device = another_device();
	struct told first = seen_new(), second = seen_new();
	tutti_signal_t signal, mine = rig_signal(rig, 1);
	sem_t gate;

	sem_init(&gate, 0, 0);
	first.wait = &gate;
	assert_int_equal(tutti_signal_create(device, 1, &signal), 0);
	assert_int_equal(tutti_signal_handler(device, signal, TUTTI_EQ, 0, handler, &first), 0);
	arm(mine, TUTTI_EQ, 0, &second);
	assert_int_equal(tutti_signal_handler(rig->device, signal, TUTTI_EQ, 0, handler, &first), -EINVAL);
	tutti_signal_store(signal, 0);
	usleep(2000);
	tutti_signal_store(mine, 0);
	rig_sem_wait(&second.called);
	sem_post(&gate);
	rig_sem_wait(&first.called);
	assert_false(pthread_equal(first.thread, second.thread));
	assert_int_equal(tutti_device_close(device), 0);
}

/* A deterministic device has one thread: handlers are called from its waits. */
static void deterministic(void **state)
{
	struct tutti_device_options options = { .name = "emulator", .deterministic = true };
	struct told seen = seen_new();
	tutti_signal_t signal, other;
	struct tutti_device *device;

	rig_needs_emulator();
	assert_int_equal(tutti_device_open(&options, &device), 0);
	assert_int_equal(tutti_signal_create(device, 1, &signal), 0);
	assert_int_equal(tutti_signal_create(device, 1, &other), 0);
	assert_int_equal(tutti_signal_handler(device, signal, TUTTI_EQ, 0, handler, &seen), 0);
	tutti_signal_store(signal, 0);
	usleep(3000);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(tutti_signal_wait(device, other, TUTTI_EQ, 0, 0, NULL), -ETIMEDOUT);
	assert_int_equal(seen.calls, 1);
	assert_true(pthread_equal(seen.thread, pthread_self()));
	assert_int_equal(tutti_device_close(device), 0);
}

/* Nor does anybody else drive it, so each look makes some progress: a program that only looks comes to an end. */
static void deterministic_looks(void **state)
{
	struct rig *one;
	tutti_signal_t done;
	unsigned looks = 0;

	rig_needs_emulator();
	one = rig_deterministic("gpc 2\n");
	done = rig_signal(one, 1);
	rig_launch(one, one->queue, "empty", 64, 64, NULL, done);
	while (tutti_signal_wait(one->device, done, TUTTI_EQ, 0, 0, NULL) == -ETIMEDOUT)
		assert_true(++looks < 100000);
	assert_int_equal(tutti_signal_load(done), 0);
	rig_close(one);
}

/* ---- several signals -------------------------------------------------- */

#define SIGNALS 20u

static void make_waits(struct tutti_wait *waits, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		waits[i] = (struct tutti_wait){ .signal = rig_signal(rig, 1), .condition = TUTTI_EQ };
}

static void *store_late(void *context)
{
	usleep(20000);
	tutti_signal_store(context, 0);
	return NULL;
}

static void any_of(unsigned count)
{
	struct tutti_wait waits[SIGNALS];
	pthread_t thread;
	size_t index = 99;

	make_waits(waits, count);
	assert_int_equal(tutti_signal_wait_any(rig->device, waits, count, 0, &index), -ETIMEDOUT);
	assert_int_equal(tutti_signal_wait_any(rig->device, waits, count, 2000000, NULL), -ETIMEDOUT);
	assert_int_equal(index, 99);
	assert_int_equal(waits[0].seen, 1);
	pthread_create(&thread, NULL, store_late, waits[count - 1].signal);
	assert_int_equal(tutti_signal_wait_any(rig->device, waits, count, RIG_WAIT, &index), 0);
	assert_int_equal(index, count - 1);
	assert_int_equal(waits[index].seen, 0);
	pthread_join(thread, NULL);
	rig_launch(rig, rig->queue, "empty", 1, 1, rig_args(rig, NULL, 0, 0), waits[0].signal);
	rig_wait(rig, waits[0].signal);
	assert_int_equal(tutti_signal_wait_any(rig->device, waits, count, RIG_WAIT, &index), 0);
	assert_int_equal(index, 0);
}

static void any(void **state)
{
	struct tutti_wait waits[2];

	any_of(1);
	any_of(3);
	any_of(SIGNALS);
	make_waits(waits, 2);
	assert_int_equal(tutti_signal_wait_any(rig->device, waits, 0, 0, NULL), -EINVAL);
	assert_int_equal(tutti_signal_wait_any(rig->device, NULL, 1, 0, NULL), -EINVAL);
	waits[1].condition = 4;
	assert_int_equal(tutti_signal_wait_any(rig->device, waits, 2, 0, NULL), -EINVAL);
	waits[1] = (struct tutti_wait){ 0 };
	assert_int_equal(tutti_signal_wait_any(rig->device, waits, 2, 0, NULL), -EINVAL);
}

/* Each has to be met, but not at the same time. */
static void all_of(unsigned count)
{
	struct tutti_wait waits[SIGNALS];
	pthread_t thread[SIGNALS];

	make_waits(waits, count);
	waits[0].value = 1;
	assert_int_equal(tutti_signal_wait_all(rig->device, waits, count, 1000000), count == 1 ? 0 : -ETIMEDOUT);
	for (unsigned i = 1; i < count; i++)
		pthread_create(&thread[i], NULL, store_late, waits[i].signal);
	assert_int_equal(tutti_signal_wait_all(rig->device, waits, count, RIG_WAIT), 0);
	for (unsigned i = 1; i < count; i++) {
		assert_int_equal(waits[i].seen, 0);
		pthread_join(thread[i], NULL);
	}
}

static void all(void **state)
{
	all_of(1);
	all_of(4);
	all_of(SIGNALS);
}

/* Any of them goes on while one condition can still be met; all of them does not. */
static void several_lost(void **state)
{
	struct tutti_queue *queue = rig_queue(rig, 0);
	struct tutti_wait waits[2];
	pthread_t thread;
	size_t index;

	make_waits(waits, 2);
	rig_launch(rig, queue, "trap", 1, 1, rig_args(rig, NULL, 0, 0), waits[0].signal);
	assert_int_equal(tutti_signal_wait_all(rig->device, waits, 2, RIG_WAIT), -EIO);
	assert_int_equal(tutti_signal_wait_any(rig->device, waits, 2, 2000000, NULL), -ETIMEDOUT);
	assert_int_equal(tutti_signal_wait_any(rig->device, waits, 1, RIG_WAIT, NULL), -EIO);
	assert_int_equal(tutti_signal_wait_any(rig->device, waits, 1, 0, NULL), -EIO);
	pthread_create(&thread, NULL, store_late, waits[1].signal);
	assert_int_equal(tutti_signal_wait_any(rig->device, waits, 2, RIG_WAIT, &index), 0);
	assert_int_equal(index, 1);
	pthread_join(thread, NULL);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* ---- wake-ups and files ----------------------------------------------- */

/* Every change of a signal by the host wakes the threads that sleep, if there are any. */
static void stores_wake(void **state)
{
	tutti_signal_t signal = rig_signal(rig, 1);
	uint64_t before = rig->device->transport->interrupts(rig->device);

	rig_needs_emulator();
	for (unsigned waiters = 0; waiters < 2; waiters++) {
		signal->waiters = waiters;
		tutti_signal_store(signal, 5);
		tutti_signal_add(signal, 5);
		tutti_signal_subtract(signal, 1);
		tutti_signal_exchange(signal, 6);
		tutti_signal_cas(signal, 6, 7);
		tutti_signal_cas(signal, 6, 8); /* changes nothing */
		tutti_signal_and(signal, 3);
		tutti_signal_or(signal, 8);
		tutti_signal_xor(signal, 1);
		tutti_signal_store_silent(signal, 0);
		assert_in_range(rig->device->transport->interrupts(rig->device) - before, waiters * 8, waiters * 8 + 2);
	}
	signal->waiters = 0;
}

static uint64_t count_of(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) < 0 ? 0 : count;
}

static void eventfds(void **state)
{
	int fd = eventfd(0, 0), other = eventfd(0, EFD_NONBLOCK), pipes[2];
	tutti_signal_t signal = rig_signal(rig, 1), follows = rig_signal(rig, 2), bad = rig_signal(rig, 1);
	struct tutti_queue *queue = rig_queue(rig, 0);
	const uint64_t one = 1;

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(tutti_signal_to_eventfd(rig->device, signal, TUTTI_EQ, 0, -1), -EBADF);
	assert_int_equal(tutti_signal_to_eventfd(rig->device, signal, TUTTI_EQ, 0, pipes[0]), -EINVAL);
	assert_int_equal(tutti_signal_from_fd(rig->device, signal, -1), -EBADF);
	if (!rig->device->transport->sync_file)
		assert_int_equal(tutti_signal_to_sync_file(queue, signal, &pipes[0]), -ENOTSUP);
	assert_int_equal(tutti_signal_to_eventfd(rig->device, signal, TUTTI_EQ, 0, fd), 0);
	rig_launch(rig, rig->queue, "empty", 1, 1, rig_args(rig, NULL, 0, 0), signal);
	assert_int_equal(count_of(fd), 1);
	/* a queue that stops is told as well */
	assert_int_equal(tutti_signal_to_eventfd(rig->device, bad, TUTTI_EQ, 0, fd), 0);
	rig_launch(rig, queue, "trap", 1, 1, rig_args(rig, NULL, 0, 0), bad);
	assert_int_equal(count_of(fd), 1);
	assert_int_equal(tutti_signal_load(bad), 1);
	/* the other way round, with a file that the program closes at once */
	assert_int_equal(tutti_signal_from_fd(rig->device, follows, other), 0);
	assert_int_equal(tutti_signal_wait(rig->device, follows, TUTTI_EQ, 1, 5000000, NULL), -ETIMEDOUT);
	assert_int_equal(write(other, &one, sizeof(one)), sizeof(one));
	close(other);
	assert_int_equal(tutti_signal_wait(rig->device, follows, TUTTI_EQ, 1, RIG_WAIT, NULL), 0);
	assert_int_equal(tutti_signal_from_fd(rig->device, follows, pipes[0]), 0);
	assert_int_equal(tutti_signal_destroy(rig->device, follows), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	close(pipes[0]), close(pipes[1]), close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(called_once),	    cmocka_unit_test(stays_armed),
		cmocka_unit_test(fair),		    cmocka_unit_test(stopped_queue),
		cmocka_unit_test(handler_destroys), cmocka_unit_test(destroy_waits),
		cmocka_unit_test(handler_closes),   cmocka_unit_test(closed_elsewhere),
		cmocka_unit_test(error_callbacks),  cmocka_unit_test(death),
		cmocka_unit_test(two_devices),	    cmocka_unit_test(deterministic),
		cmocka_unit_test(deterministic_looks),
		cmocka_unit_test(any),		    cmocka_unit_test(all),
		cmocka_unit_test(several_lost),	    cmocka_unit_test(stores_wake),
		cmocka_unit_test(eventfds),
	};

	return cmocka_run_group_tests_name("SYS-56 handlers, waits for several", tests, rig_group_open, rig_group_close);
}

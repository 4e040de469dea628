/* SPDX-License-Identifier: MIT */
/* Signals, several queues, several producers: PKT-01, PKT-04, REL-07, SYS-09, SYS-40, TSK-14. */
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "rig.h"

#define T(name, function) { name, function, NULL, NULL, NULL }

struct feeder {
	pthread_t thread;
	struct tutti_queue *queue;
	tutti_signal_t signal;
	struct tutti_dispatch_packet packet;
	unsigned packets;
	int error;
};

static void *feed(void *context)
{
	struct feeder *me = context;
	union tutti_packet packet = { .dispatch = me->packet };
	unsigned i;

	for (i = 0; i < me->packets && !me->error; i++)
		me->error = tutti_queue_submit(me->queue, &packet);
	return NULL;
}

#define HOST_SUBTRACTS 500000

static void *subtract(void *context)
{
	tutti_signal_t signal = context;
	unsigned i;

	for (i = 0; i < HOST_SUBTRACTS; i++)
		tutti_signal_add(signal, -1);
	return NULL;
}

static struct tutti_dispatch_packet empty_packet(tutti_signal_t signal)
{
	struct tutti_kernel kernel = rig_kernel(rig, "empty");
	struct tutti_launch launch = { .kernel = &kernel, .grid = { 1 }, .workgroup = { 1 }, .signal = signal,
				       .kernarg = rig_args(rig, NULL, 0, 0) };
	struct tutti_dispatch_packet packet;

	assert_int_equal(tutti_launch_packet(&launch, &packet), 0);
	return packet;
}

static void two_queues_and_host(void **state)
{
	enum { EACH = 250000 };
	tutti_signal_t signal = rig_signal(rig, 2 * EACH + HOST_SUBTRACTS);
	struct feeder feeder[2] = { { 0 } };
	pthread_t host;
	unsigned i;

	for (i = 0; i < 2; i++) {
		feeder[i].queue = rig_queue(rig, 0);
		feeder[i].packet = empty_packet(signal);
		feeder[i].packets = EACH;
	}
	pthread_create(&host, NULL, subtract, signal);
	for (i = 0; i < 2; i++)
		pthread_create(&feeder[i].thread, NULL, feed, &feeder[i]);
	assert_int_equal(tutti_signal_wait(rig->device, signal, TUTTI_EQ, 0, 120000000000ull, NULL), 0);
	for (i = 0; i < 2; i++) {
		pthread_join(feeder[i].thread, NULL);
		assert_int_equal(feeder[i].error, 0);
		assert_int_equal(tutti_queue_drain(feeder[i].queue, RIG_WAIT), 0);
		tutti_queue_destroy(feeder[i].queue);
	}
	pthread_join(host, NULL);
	usleep(10000);
	assert_int_equal(tutti_signal_load(signal), 0); /* exact: nothing is added later */
}

/* A packet of another queue has run meanwhile, and still nothing has happened. */
static bool held_back(tutti_signal_t done, struct tutti_queue *other)
{
	tutti_signal_t passed = rig_signal(rig, 1);

	rig_launch(rig, other, "empty", 1, 1, rig_args(rig, NULL, 0, 0), passed);
	rig_wait(rig, passed);
	tutti_signal_destroy(rig->device, passed);
	return tutti_signal_load(done) == 1;
}

/* All 3^5 combinations of: no signal, signal at 0, signal at 1. */
static void truth_table(unsigned type)
{
	struct tutti_queue *queue = rig_queue(rig, 0), *other = rig_queue(rig, 0);
	tutti_signal_t deps[5], done = rig_signal(rig, 1);

	for (unsigned i = 0; i < 5; i++)
		deps[i] = rig_signal(rig, 0);
	for (unsigned code = 0; code < 243; code++) {
		union tutti_packet p = { .barrier.header = tutti_header(type, true, TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM),
					 .barrier.signal = (uintptr_t)done };
		unsigned zeros = 0, ones = 0, digits = code;

		for (unsigned i = 0; i < 5; i++, digits /= 3) {
			tutti_signal_store(deps[i], digits % 3 == 2);
			p.barrier.dependency[i] = digits % 3 ? (uintptr_t)deps[i] : 0;
			zeros += digits % 3 == 1;
			ones += digits % 3 == 2;
		}
		if (type == TUTTI_PACKET_BARRIER_OR && !zeros && !ones)
			continue; /* nothing to wait for: not defined by HSA */
		tutti_signal_store(done, 1);
		assert_int_equal(tutti_queue_submit(queue, &p), 0);
		if (type == TUTTI_PACKET_BARRIER_AND ? ones > 0 : zeros == 0) {
			assert_true(held_back(done, other));
			for (unsigned i = 0; i < 5; i++)
				tutti_signal_store(deps[i], 0);
		}
		rig_wait(rig, done);
	}
	tutti_queue_destroy(queue);
	tutti_queue_destroy(other);
}

static void barrier_and(void **state)
{
	truth_table(TUTTI_PACKET_BARRIER_AND);
}

static void barrier_or(void **state)
{
	truth_table(TUTTI_PACKET_BARRIER_OR);
}

static void several_producers(void **state)
{
	enum { PRODUCERS = 4, EACH = 10000 };
	tutti_signal_t signal = rig_signal(rig, PRODUCERS * EACH);
	struct tutti_queue_options o = { .multi = true, .packets = 64 };
	uint64_t *word = rig_alloc(rig, 64);
	struct feeder feeder[PRODUCERS] = { { 0 } };
	struct tutti_kernel kernel = rig_kernel(rig, "count");
	struct tutti_queue *queue;
	unsigned i;

	assert_int_equal(tutti_queue_create(rig->device, &o, &queue), 0);
	for (i = 0; i < PRODUCERS; i++) {
		feeder[i].queue = queue;
		feeder[i].packet = empty_packet(signal);
		feeder[i].packet.kernel_object = kernel.object;
		feeder[i].packet.private_bytes = kernel.private_bytes;
		feeder[i].packet.kernarg = (uintptr_t)rig_args(rig, word, 1ull << (16 * i), 0);
		feeder[i].packets = EACH;
		pthread_create(&feeder[i].thread, NULL, feed, &feeder[i]);
	}
	assert_int_equal(tutti_signal_wait(rig->device, signal, TUTTI_EQ, 0, 120000000000ull, NULL), 0);
	for (i = 0; i < PRODUCERS; i++) {
		pthread_join(feeder[i].thread, NULL);
		assert_int_equal(feeder[i].error, 0);
		assert_int_equal((*word >> (16 * i)) & 0xffff, EACH);
	}
	assert_int_equal(tutti_queue_drain(queue, RIG_WAIT), 0);
	assert_int_equal(*queue->read_index, PRODUCERS * EACH);
	tutti_queue_destroy(queue);
}

struct strict {
	struct tutti_queue *queue;
	union tutti_packet packet;
	int error;
};

/* after this call the thread may only read, write and exit: any other system call kills the process */
static void *submit_strictly(void *context)
{
	struct strict *me = context;
	unsigned i;

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) {
		me->error = -1;
		return NULL;
	}
	for (i = 0; i < 100; i++)
		me->error |= tutti_queue_submit(me->queue, &me->packet);
	syscall(SYS_exit, 0);
	return NULL;
}

static void no_system_call(void **state)
{
	tutti_signal_t signal = rig_signal(rig, 100);
	struct tutti_queue *queue = rig_queue(rig, 0);
	struct strict strict = { .queue = queue, .packet = { .dispatch = empty_packet(signal) } };
	const uint32_t *asleep = queue->asleep;
	pthread_attr_t attr;
	pthread_t thread;

	queue->asleep = NULL; /* the kick of a sleeping card is the one exception */
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &attr, submit_strictly, &strict);
	while (tutti_load_acquire(queue->write_index) < 100)
		usleep(1000);
	usleep(20000);
	queue->asleep = asleep;
	assert_int_equal(strict.error, 0);
	tutti_queue_ring(queue, 99);
	rig_wait(rig, signal);
	tutti_queue_destroy(queue);
}

static void wait_conditions(void **state)
{
	tutti_signal_t signal = rig_signal(rig, 5);
	int64_t seen = 0;
	uint64_t start;

	assert_int_equal(tutti_signal_wait(rig->device, signal, TUTTI_EQ, 5, 0, &seen), 0);
	assert_int_equal(seen, 5);
	assert_int_equal(tutti_signal_wait(rig->device, signal, TUTTI_NE, 4, 0, NULL), 0);
	assert_int_equal(tutti_signal_wait(rig->device, signal, TUTTI_LT, 6, 0, NULL), 0);
	assert_int_equal(tutti_signal_wait(rig->device, signal, TUTTI_GTE, 5, 0, NULL), 0);
	assert_int_equal(tutti_signal_wait(rig->device, signal, TUTTI_LT, 5, 0, NULL), -ETIMEDOUT);
	start = rig_ns();
	assert_int_equal(tutti_signal_wait(rig->device, signal, TUTTI_EQ, 0, 50000000, NULL), -ETIMEDOUT);
	assert_in_range(rig_ns() - start, 45000000, 2000000000);
	tutti_signal_store(signal, -7);
	assert_int_equal(tutti_signal_load(signal), -7);
	tutti_signal_destroy(rig->device, signal);
}

static void *late_store(void *context)
{
	usleep(30000);
	tutti_signal_add(context, -1);
	return NULL;
}

static void host_wakes_host(void **state)
{
	tutti_signal_t signal = rig_signal(rig, 1);
	pthread_t thread;

	pthread_create(&thread, NULL, late_store, signal);
	rig_wait(rig, signal);
	pthread_join(thread, NULL);
}

static void *waiter(void *context)
{
	return (void *)(intptr_t)tutti_signal_wait(rig->device, context, TUTTI_EQ, 0, RIG_WAIT, NULL);
}

static void many_waiters(void **state)
{
	uint64_t *words = rig_alloc(rig, 64);
	tutti_signal_t signal = rig_signal(rig, 1);
	pthread_t thread[8];
	unsigned i;
	void *result;

	rig_launch(rig, rig->queue, "gate", 1, 1,
		   rig_args(rig, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), signal);
	for (i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, waiter, signal);
	usleep(50000);
	tutti_store_release(&words[1], 1);
	for (i = 0; i < 8; i++) {
		pthread_join(thread[i], &result);
		assert_null(result);
	}
}

/* no thread calls the library, so the card's own threads must do the work */
static void card_works_by_itself(void **state)
{
	tutti_signal_t signal = rig_signal(rig, 1);
	unsigned i;

	for (i = 0; i < 20; i++) {
		unsigned ms = 0;

		tutti_signal_store(signal, 1);
		rig_launch(rig, rig->queue, "empty", 64, 64, rig_args(rig, NULL, 0, 0), signal);
		while (tutti_signal_load(signal) && ms++ < 5000)
			usleep(1000);
		assert_int_equal(tutti_signal_load(signal), 0);
		usleep(i * 500);
	}
}

static void two_queues_at_once(void **state)
{
	struct tutti_queue *other = rig_queue(rig, 0);
	uint64_t *a = rig_alloc(rig, 64), *b = rig_alloc(rig, 64);
	tutti_signal_t signal = rig_signal(rig, 2);

	/* each ends when the other has started: both end only if they run at the same time */
	rig_launch(rig, rig->queue, "gate", 64, 64, rig_args(rig, &a[0], (uintptr_t)&b[0], (uintptr_t)&a[2]), signal);
	rig_launch(rig, other, "gate", 64, 64, rig_args(rig, &b[0], (uintptr_t)&a[0], (uintptr_t)&b[2]), signal);
	rig_wait(rig, signal);
	assert_int_equal(a[2] + b[2], 2);
	tutti_queue_destroy(other);
}

static void many_queues(void **state)
{
	enum { QUEUES = 100 };
	static struct tutti_queue *queue[QUEUES];
	uint64_t *word = rig_alloc(rig, 64);
	tutti_signal_t signal = rig_signal(rig, QUEUES * 10);
	unsigned i, k;

	for (i = 0; i < QUEUES; i++)
		queue[i] = rig_queue(rig, 0);
	for (k = 0; k < 10; k++)
		for (i = 0; i < QUEUES; i++)
			rig_launch(rig, queue[i], "count", 10, 5, rig_args(rig, word, 1, 0), signal);
	rig_wait(rig, signal);
	assert_int_equal(*word, QUEUES * 100);
	for (i = 0; i < QUEUES; i++)
		tutti_queue_destroy(queue[i]);
}

static void ring_in_card_memory(void **state)
{
	struct tutti_queue_options o = { .ring = TUTTI_MEMORY_CARD, .packets = 64 };
	uint64_t *cell = rig_alloc(rig, 64), expect = 0;
	tutti_signal_t signal = rig_signal(rig, 300);
	struct tutti_queue *queue;
	unsigned i;

	assert_int_equal(tutti_queue_create(rig->device, &o, &queue), 0);
	for (i = 0; i < 300; i++) {
		rig_launch(rig, queue, "step", 1, 1, rig_args(rig, cell, 3, i), signal);
		expect = expect * 3 + i;
	}
	rig_wait(rig, signal);
	assert_int_equal(*cell, expect);
	tutti_queue_destroy(queue);
}

static void signals_in_card_memory(void **state)
{
	struct tutti_signal *signal;

	assert_int_equal(tutti_memory_alloc(rig->device, TUTTI_MEMORY_CARD, 64, (void **)&signal), 0);
	signal->value = 100;
	for (unsigned i = 0; i < 100; i++)
		rig_launch(rig, rig->queue, "empty", 1, 1, rig_args(rig, NULL, 0, 0), signal);
	rig_wait(rig, signal);
}

static void queues_come_and_go(void **state)
{
	uint64_t *word = rig_alloc(rig, 64), *args = rig_args(rig, word, 1, 0);
	unsigned i;

	for (i = 0; i < 300; i++) {
		struct tutti_queue *queue = rig_queue(rig, i % 2 ? TUTTI_QUEUE_EXTENDED : 0);
		tutti_signal_t signal = rig_signal(rig, 1);

		rig_launch(rig, queue, "count", 4, 4, args, signal);
		if (i % 3)
			rig_wait(rig, signal);
		tutti_queue_destroy(queue); /* sometimes with work in flight */
		if (i % 3)
			tutti_signal_destroy(rig->device, signal);
	}
	rig_run(rig, "count", 4, 4, args);
	assert_in_range(*word, 200 * 4 + 4, 300 * 4 + 4);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("PKT-04, REL-07: two queues and the host decrement one signal, exactly", two_queues_and_host),
		T("PKT-03, REL-07: barrier-AND, truth table 3^5, beside another queue", barrier_and),
		T("PKT-03, REL-07: barrier-OR, truth table 3^5, beside another queue", barrier_or),
		T("PKT-01, REL-07: four producers on one queue", several_producers),
		T("PKT-01, SYS-40: the submit path makes no system call", no_system_call),
		T("SYS-41: conditions and timeouts of waiting", wait_conditions),
		T("SYS-41: the host can wake a waiter", host_wakes_host),
		T("SYS-40: several threads wait for one signal", many_waiters),
		T("SYS-02, SYS-10: the card works when nobody calls", card_works_by_itself),
		T("TSK-14: kernels of two queues run at the same time", two_queues_at_once),
		T("TSK-14, SYS-41: a hundred queues", many_queues),
		T("SYS-09: ring in card memory", ring_in_card_memory),
		T("SYS-09: signal in card memory", signals_in_card_memory),
		T("SYS-08, REL-07: queues come and go, doorbells are used again", queues_come_and_go),
	};

	return cmocka_run_group_tests_name("signal", tests, rig_group_open, rig_group_close);
}

/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Recordings that take each other's references away, over a transport that plays the card (PKT-10, PKT-22). */
#include <unistd.h>

/* So that whatever is done between two locks meets what another thread does there. */
#define AFTER_UNLOCK() usleep(1)
/* Handlers may replay; then a replay of another recording may be waiting for room in the same thread. */
static _Thread_local _Bool in_handler;
#define MAY_NEST(mutex) in_handler
#include "lock_check.h"
#include "rt_rig.h"

#define KERNELS 5 /* of a recording; two recordings do not fit together */

static const uint64_t first_kernarg[] = {1000, 2000};

/* Recording number @r has kernels, and arguments, of its own. */
static struct tutti_recording *a_recording(struct tutti_queue *queue, unsigned r)
{
	struct tutti_recording *recording;

	assert_int_equal(tutti_record_begin(queue), 0);
	for (unsigned i = 0; i < KERNELS; i++) {
		struct tutti_launch launch = a_launch(r * KERNELS + i, first_kernarg[r] + i, NULL);

		assert_int_equal(tutti_dispatch(queue, &launch), 0);
	}
	assert_int_equal(tutti_record_end(queue, &recording), 0);
	return recording;
}

/* What has run is what was recorded, each of recording @r @times[r] times. */
static void assert_ran(const unsigned times[2])
{
	unsigned ran[2][KERNELS] = {0};

	assert_true(fake.n <= LOG);
	for (unsigned i = 0; i < fake.n; i++) {
		unsigned r = fake.ran[i].kernarg >= first_kernarg[1];
		uint64_t k = fake.ran[i].kernarg - first_kernarg[r];

		assert_true(k < KERNELS);
		assert_int_equal(fake.ran[i].kernel_object, 0x10000 + 64 * (r * KERNELS + k));
		ran[r][k]++;
	}
	for (unsigned r = 0; r < 2; r++)
		for (unsigned k = 0; k < KERNELS; k++)
			assert_int_equal(ran[r][k], times[r]);
}

static void *replay_often(void *context)
{
	uintptr_t failed = 0;

	for (unsigned i = 0; i < 400; i++)
		failed += tutti_replay(context) != 0;
	return (void *)failed;
}

/* Two threads, each with a recording of its own, on one queue. */
static void one_queue(void **state)
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, true);
	struct tutti_recording *recording[] = {a_recording(queue, 0), a_recording(queue, 1)};
	pthread_t thread[2];
	void *failed;

	for (unsigned r = 0; r < 2; r++)
		pthread_create(&thread[r], NULL, replay_often, recording[r]);
	for (unsigned r = 0; r < 2; r++) {
		pthread_join(thread[r], &failed);
		assert_null(failed);
	}
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(reported, 0);
	assert_ran((unsigned[]){400, 400});
	for (unsigned r = 0; r < 2; r++)
		tutti_recording_destroy(recording[r]);
	tutti_queue_destroy(queue);
}

/* Two queues that share their references, of which the card serves now one and now the other. */
static struct two_queues {
	struct tutti_queue *queue[2];
	struct tutti_recording *recording[2];
} two_queues(bool multi)
{
	struct tutti_queue_options options = {
	    .packets = 64, .flags = TUTTI_QUEUE_EXTENDED, .multi = multi, .error = on_error};
	struct two_queues two;

	for (unsigned q = 0; q < 2; q++) {
		assert_int_equal(tutti_queue_create(device, &options, &two.queue[q]), 0);
		options.rsb = tutti_queue_rsb(two.queue[q]);
		two.recording[q] = a_recording(two.queue[q], q);
	}
	reported = 0;
	return two;
}

static void replay_times(struct tutti_recording *recording, unsigned times)
{
	while (times--)
		assert_int_equal(tutti_replay(recording), 0);
}

static void all_run(const struct two_queues *two)
{
	fake.deaf = false;
	for (unsigned q = 0; q < 2; q++)
		if (two->queue[q])
			assert_int_equal(tutti_queue_drain(two->queue[q], TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(reported, 0);
	fake.deaf = true;
}

/* Packets that are still in the ring keep their references, whatever comes into the other ring meanwhile. */
static void shared_references(void **state)
{
	struct two_queues two = two_queues(false);
	unsigned packets;

	fake.deaf = true;
	replay_times(two.recording[0], 3);
	replay_times(two.recording[1], 2);
	replay_times(two.recording[0], 1);
	all_run(&two);
	assert_ran((unsigned[]){4, 2});
	/* when the first queue has nothing to do, the second one gets the references, and keeps them in turn */
	replay_times(two.recording[1], 1);
	packets = fake.packets;
	all_run(&two);
	assert_int_equal(fake.packets - packets, KERNELS);
	replay_times(two.recording[1], 3);
	replay_times(two.recording[0], 2);
	packets = fake.packets;
	all_run(&two);
	assert_int_equal(fake.packets - packets, 3 + 2 * KERNELS);
	assert_ran((unsigned[]){6, 6});
	for (unsigned q = 0; q < 2; q++) {
		assert_int_equal(tutti_queue_destroy(two.queue[q]), 0);
		assert_int_equal(tutti_recording_destroy(two.recording[q]), 0);
	}
}

/* Packets outlive their recording, but not their queue. */
static void references_that_are_left(void **state)
{
	struct two_queues two = two_queues(false);
	unsigned packets;

	fake.deaf = true;
	replay_times(two.recording[0], 3);
	assert_int_equal(tutti_recording_destroy(two.recording[0]), 0);
	replay_times(two.recording[1], 3);
	all_run(&two);
	assert_ran((unsigned[]){3, 3});
	two.recording[0] = a_recording(two.queue[0], 0);
	replay_times(two.recording[0], 3);
	assert_int_equal(tutti_queue_destroy(two.queue[0]), 0);
	two.queue[0] = NULL;
	replay_times(two.recording[1], 3);
	packets = fake.packets;
	all_run(&two);
	assert_int_equal(fake.packets - packets, KERNELS + 2);
	assert_ran((unsigned[]){3, 6});
	assert_int_equal(tutti_recording_destroy(two.recording[0]), 0);
	assert_int_equal(tutti_recording_destroy(two.recording[1]), 0);
	assert_int_equal(tutti_queue_destroy(two.queue[1]), 0);
}

/* In the form in which each packet stores its reference anew. */
static void stored_anew(void **state)
{
	struct two_queues two = two_queues(true);

	fake.deaf = true;
	for (unsigned q = 0; q < 2; q++)
		assert_int_equal(tutti_recording_form(two.recording[q], TUTTI_REPLAY_REFERENCE), 0);
	replay_times(two.recording[0], 2);
	assert_int_equal(tutti_recording_form(two.recording[0], TUTTI_REPLAY_CONDENSED), 0);
	replay_times(two.recording[0], 2);
	replay_times(two.recording[1], 3);
	all_run(&two);
	assert_ran((unsigned[]){4, 3});
	for (unsigned q = 0; q < 2; q++) {
		assert_int_equal(tutti_queue_destroy(two.queue[q]), 0);
		assert_int_equal(tutti_recording_destroy(two.recording[q]), 0);
	}
}

/* A replay of far more packets than fit into the ring at once. */
static struct tutti_recording *a_long_recording(struct tutti_queue *queue)
{
	struct tutti_recording *recording;

	assert_int_equal(tutti_record_begin(queue), 0);
	for (unsigned i = 0; i < 200 * KERNELS; i++) {
		struct tutti_launch launch = a_launch(i % KERNELS, 100000 + i, NULL);

		assert_int_equal(tutti_dispatch(queue, &launch), 0);
	}
	assert_int_equal(tutti_record_end(queue, &recording), 0);
	assert_true(tutti_recording_packets(recording) > 128);
	return recording;
}

static struct tutti_recording *other;

static void *replay_once(void *context)
{
	assert_int_equal(tutti_replay(other), 0);
	return context;
}

static pthread_t other_thread;
static unsigned others;

static _Thread_local bool replaying; /* in this thread; the event thread sleeps, too */

/* The ring is full: now another thread replays, or a handler of this one does. */
static void another_thread_comes(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	if (replaying && !others++) {
		pthread_create(&other_thread, NULL, replay_once, NULL);
		usleep(20000);
		fake.deaf = false;
	}
	sleep_card(of, seen, deadline);
}

static void a_handler_comes(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	if (replaying && !others++) {
		in_handler = true;
		fake.deaf = false;
		assert_int_equal(tutti_replay(other), 0);
		in_handler = false;
	}
	sleep_card(of, seen, deadline);
}

static void between_parts(bool multi, void (*comes)(struct tutti_device *, uint64_t, uint64_t))
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, multi);
	struct tutti_recording *recording = a_long_recording(queue);
	unsigned ran = 0;

	other = a_recording(queue, 1);
	replay_times(recording, 1);
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	others = fake.n = 0;
	fake.deaf = true;
	transport.sleep = comes;
	replaying = true;
	replay_times(recording, 1);
	replaying = false;
	transport.sleep = sleep_card;
	if (comes == another_thread_comes)
		pthread_join(other_thread, NULL);
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(reported, 0);
	assert_true(others >= 1);
	assert_int_equal(fake.n, 201 * KERNELS);
	for (unsigned i = 0; i < fake.n; i++) {
		const struct tutti_dispatch_packet *p = &fake.ran[i];

		if (p->kernarg >= 100000)
			assert_int_equal(p->kernel_object, 0x10000 + 64 * ((p->kernarg - 100000) % KERNELS));
		else
			assert_int_equal(p->kernel_object, 0x10000 + 64 * (KERNELS + p->kernarg - first_kernarg[1]));
		ran += p->kernarg >= 100000;
	}
	assert_int_equal(ran, 200 * KERNELS);
	assert_int_equal(tutti_recording_destroy(recording), 0);
	assert_int_equal(tutti_recording_destroy(other), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* A replay waits for room for its second half, while another one wants its references. */
static void between_parts_a_thread(void **state)
{
	between_parts(true, another_thread_comes);
}

static void between_parts_a_handler(void **state)
{
	between_parts(false, a_handler_comes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {T(one_queue),   T(shared_references),      T(references_that_are_left),
					   T(stored_anew), T(between_parts_a_thread), T(between_parts_a_handler)};

	return cmocka_run_group_tests_name("PKT-10, PKT-22 references of several recordings", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Copies and fills of no queue, with the times they take, over a played card (SYS-56). */
#define AFTER_UNLOCK() note_unlock()
static void note_unlock(void);

#include "lock_check.h"
#include "queue/lost.h"
#include "rt_rig.h"
#include "tutti/record_api.h"

#define MANY 700u

static uint8_t from[MANY], to[MANY];

static _Thread_local tutti_signal_t noted; /* by this thread, whenever it has unlocked a mutex */
static _Thread_local int64_t noted_value;

static void note_unlock(void)
{
	if (noted)
		noted_value = tutti_signal_load(noted);
}

static tutti_signal_t a_signal(int64_t value)
{
	tutti_signal_t signal;

	assert_int_equal(tutti_signal_create(device, value, &signal), 0);
	return signal;
}

static void assert_done(tutti_signal_t signal)
{
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_LT, 1, TUTTI_WAIT_FOREVER, NULL), 0);
	assert_int_equal(tutti_signal_load(signal), 0);
}

/* When they are asked for, the times go into the signal, and the copy lies between them. */
static void times(void **state)
{
	tutti_signal_t done = a_signal(1);

	memset(from, 7, sizeof(from));
	assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 0, done), 0);
	assert_done(done);
	assert_int_equal(fake.packets, 1);
	assert_int_equal(done->start_time | done->end_time, 0);
	assert_int_equal(tutti_device_copy_times(device, true), 0);
	tutti_signal_store(done, 1);
	assert_int_equal(tutti_device_copy(device, to, from, MANY, NULL, 0, done), 0);
	assert_done(done);
	assert_memory_equal(to, from, MANY);
	assert_int_equal(done->start_time, 1);
	assert_int_equal(done->end_time, 2);
	assert_int_equal(fake.packets, 4);
	/* who has no signal gets no times */
	assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 0, NULL), 0);
	tutti_signal_store(done, 1);
	assert_int_equal(tutti_device_fill(device, to, 0x01020304, 8, NULL, 0, done), 0);
	assert_done(done);
	assert_int_equal(fake.packets, 8);
	assert_int_equal(done->end_time, 4);
	assert_int_equal(*(uint32_t *)(to + 4), 0x01020304);
	assert_int_equal(tutti_device_copy_times(device, false), 0);
	tutti_signal_store(done, 1);
	assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 0, done), 0);
	assert_done(done);
	assert_int_equal(fake.packets, 9);
	assert_int_equal(tutti_device_copy_times(NULL, true), -EINVAL);
	tutti_signal_destroy(device, done);
}

/* One that fails cancels its signal, with times or without, and the others go on. */
static void one_fails(void **state)
{
	for (unsigned timed = 0; timed < 2; timed++) {
		tutti_signal_t bad = a_signal(1), good = a_signal(2);

		assert_int_equal(tutti_device_copy_times(device, timed), 0);
		assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 0, good), 0);
		assert_int_equal(tutti_device_copy(device, to, from, BAD_BYTES, NULL, 0, bad), 0);
		assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 0, good), 0);
		assert_done(good);
		tutti_signal_wait(device, bad, TUTTI_LT, TUTTI_SIGNAL_FAILED, TUTTI_WAIT_FOREVER, NULL);
		assert_true(tutti_signal_load(bad) < TUTTI_SIGNAL_FAILED);
		assert_int_equal(tutti_signal_wait(device, bad, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL), -EIO);
		tutti_signal_destroy(device, good);
		tutti_signal_destroy(device, bad);
	}
}

static bool failing; /* the other thread is about to take the lock */

static void *fails_one(void *signal)
{
	noted = signal;
	tutti_store_release(&failing, true);
	lost_by_failure(device, signal, TUTTI_SIGNAL_CANCELLED);
	return noted_value == TUTTI_SIGNAL_CANCELLED ? signal : NULL;
}

/*
 * Whoever sees that it has failed may destroy the signal at once. So the value is the last that is written, while those who
 * watch the signal cannot go on.
 */
static void failed_signals_are_left_alone(void **state)
{
	tutti_signal_t signal = a_signal(1);
	pthread_t thread;
	void *written; /* before the lock was given back */

	tutti_store_release(&failing, false);
	pthread_mutex_lock(&device->lock);
	assert_int_equal(pthread_create(&thread, NULL, fails_one, signal), 0);
	while (!tutti_load_acquire(&failing))
		sched_yield();
	usleep(5000);
	assert_int_equal(tutti_signal_load(signal), 1);
	assert_int_equal(signal->event, 0);
	pthread_mutex_unlock(&device->lock);
	pthread_join(thread, &written);
	assert_non_null(written);
	assert_int_equal(tutti_signal_load(signal), TUTTI_SIGNAL_CANCELLED);
	assert_int_equal(signal->event, SIGNAL_ABANDONED);
	signal->flags |= TUTTI_SIGNAL_SPLIT; /* what the card has done to it is not part of the value */
	signal->card_done = 3;
	lost_by_failure(device, signal, TUTTI_SIGNAL_CANCELLED);
	assert_int_equal(tutti_signal_load(signal), TUTTI_SIGNAL_CANCELLED);
	tutti_signal_destroy(device, signal);
}

static bool waited;

/* The card goes on as soon as the thread that makes copies waits for it. */
static void waits_for_the_card(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	if (pthread_equal(pthread_self(), test_thread)) {
		waited = true;
		fake.deaf = false;
	}
	sleep_card(of, seen, deadline);
}

/*
 * Who sees that a copy with times has failed may destroy its signal, and gets another one in the same place: the card does
 * not write the time there, nor count it down. So it is, too, if the ring has room for a part of the packets only.
 */
static void failed_times_are_not_taken(void **state)
{
	static const unsigned before[] = {0, 253, 254, 255, 256};

	transport.sleep = waits_for_the_card;
	assert_int_equal(tutti_device_copy_times(device, true), 0);
	for (unsigned i = 0; i < sizeof(before) / sizeof(*before); i++) {
		tutti_signal_t bad = a_signal(1), next, good = a_signal(1);

		fake.deaf = true;
		for (unsigned n = 0; n < before[i]; n++)
			assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 0, NULL), 0);
		assert_int_equal(tutti_device_copy(device, to, from, BAD_BYTES, NULL, 0, bad), 0);
		fake.deaf = false;
		assert_int_equal(
		    tutti_signal_wait(device, bad, TUTTI_LT, TUTTI_SIGNAL_FAILED, TUTTI_WAIT_FOREVER, NULL), 0);
		assert_int_equal(tutti_signal_destroy(device, bad), 0);
		next = a_signal(1);
		assert_ptr_equal(next, bad);
		assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 0, good), 0);
		assert_done(good);
		assert_true(good->end_time > good->start_time);
		assert_int_equal(tutti_signal_load(next), 1);
		assert_int_equal(next->end_time, 0);
		tutti_signal_destroy(device, next);
		tutti_signal_destroy(device, good);
	}
	transport.sleep = sleep_card;
}

/* One that has no signal fails without anybody knowing; its slot in the ring is used again. */
static void nobody_asks(void **state)
{
	tutti_signal_t good = a_signal(1);

	for (unsigned i = 0; i < 600; i++)
		assert_int_equal(tutti_device_copy(device, to, from, i % 3 ? BAD_BYTES : 8, NULL, 0, NULL), 0);
	assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 0, good), 0);
	assert_done(good);
	tutti_signal_destroy(device, good);
}

/* More than the ring has room for. */
static void many(void **state)
{
	tutti_signal_t done = a_signal(MANY);

	for (unsigned i = 0; i < MANY; i++)
		from[i] = (uint8_t)(i * 7);
	memset(to, 0, sizeof(to));
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(tutti_device_copy(device, to + i, from + i, 1, NULL, 0, done), 0);
	assert_done(done);
	assert_memory_equal(to, from, MANY);
	assert_int_equal(fake.packets, MANY);
	tutti_signal_destroy(device, done);
}

/* The ring takes as many as it has slots before anybody has to wait for the card. */
static void ring_is_used_up(void **state)
{
	tutti_signal_t done = a_signal(257);

	waited = false;
	fake.deaf = true;
	transport.sleep = waits_for_the_card;
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 0, done), 0);
	assert_false(waited);
	assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 0, done), 0);
	assert_true(waited);
	transport.sleep = sleep_card;
	assert_done(done);
	tutti_signal_destroy(device, done);
}

/* Dependencies may be NULL, 0 already, or become 0 later; the copy is made behind the last of them, whichever it is. */
static void dependencies(void **state)
{
	for (unsigned last = 0; last < 3; last++) {
		tutti_signal_t after[] = {a_signal(2), NULL, a_signal(0), a_signal(-3), a_signal(1)},
			       done = a_signal(1);
		static const unsigned waits[] = {0, 3, 4};
		unsigned before = fake.packets;

		assert_int_equal(tutti_device_copy(device, to, from, 8, after, 5, done), 0);
		for (unsigned i = 0; i < 3; i++)
			if (i != last)
				tutti_signal_store(after[waits[i]], 0);
		assert_int_equal(tutti_signal_wait(device, done, TUTTI_EQ, 0, 3000000, NULL), -ETIMEDOUT);
		assert_int_equal(fake.packets, before);
		tutti_signal_store(after[waits[last]], 0);
		assert_done(done);
		for (unsigned i = 0; i < 5; i++)
			tutti_signal_destroy(device, after[i]);
		tutti_signal_destroy(device, done);
	}
}

/* A dependency that has failed fails the copy, on whichever side of the limit it is seen. */
static void failed_dependency(void **state)
{
	static const struct {
		int64_t value;
		bool fails;
	} rows[] = {
	    {TUTTI_SIGNAL_CANCELLED, true}, {TUTTI_SIGNAL_FAILED - 1, true}, {TUTTI_SIGNAL_FAILED, false}, {-1, false}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		tutti_signal_t after = a_signal(rows[i].value), done = a_signal(1);

		assert_int_equal(tutti_device_copy(device, to, from, 8, &after, 1, done), 0);
		if (rows[i].fails) {
			assert_int_equal(
			    tutti_signal_wait(device, done, TUTTI_LT, TUTTI_SIGNAL_FAILED, TUTTI_WAIT_FOREVER, NULL),
			    0);
		} else {
			assert_int_equal(tutti_signal_wait(device, done, TUTTI_LT, 1, 3000000, NULL), -ETIMEDOUT);
			tutti_signal_store(after, 0);
			assert_done(done);
		}
		tutti_signal_destroy(device, after);
		tutti_signal_destroy(device, done);
	}
}

/* If no dependency is left to wait for, the packet is in the ring when the call returns, and no handler is set. */
static void nothing_to_wait_for(void **state)
{
	tutti_signal_t zero = a_signal(0), done = a_signal(1);
	const tutti_signal_t none[] = {NULL, zero, zero, NULL}, *after[] = {NULL, none, none + 1, none};
	static const size_t counts[] = {0, 1, 1, 4};

	for (unsigned i = 0; i < 4; i++) {
		const union tutti_packet *slot;

		fake.deaf = true;
		tutti_signal_store(done, 1);
		assert_int_equal(tutti_device_copy(device, to, from, 8 + i, after[i], counts[i], done), 0);
		assert_int_equal(zero->waiters, 0);
		slot = fake.queue[0].ring + i;
		assert_int_equal(slot->agent.header & 0xff, TUTTI_PACKET_AGENT_DISPATCH);
		assert_int_equal(slot->agent.arg[2], 8 + i);
		fake.deaf = false;
		assert_done(done);
	}
	tutti_signal_destroy(device, zero);
	tutti_signal_destroy(device, done);
}

/* While the card has no queue left for copies, each copy fails. Copies work as soon as another queue has been destroyed. */
static void no_queue_left(void **state)
{
	struct tutti_queue *queue[8];
	tutti_signal_t done = a_signal(1);

	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(tutti_queue_create(device, NULL, &queue[i]), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 0, done), -ENOSPC);
	assert_int_equal(tutti_signal_load(done), 1);
	assert_int_equal(tutti_queue_destroy(queue[3]), 0);
	assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 0, done), 0);
	assert_done(done);
	tutti_signal_destroy(device, done);
}

static bool woken;

/* In the thread that calls handlers: nobody else fails a copy for its dependency. */
static void wakes(struct tutti_device *of)
{
	if (!pthread_equal(pthread_self(), test_thread))
		tutti_store_release(&woken, true);
}

/* A thread that sleeps until the copy is done is woken when the copy fails. */
static void failure_wakes(void **state)
{
	tutti_signal_t after = a_signal(TUTTI_SIGNAL_CANCELLED), done = a_signal(1);

	woken = false;
	transport.wake = wakes;
	device_list_add(device);
	assert_int_equal(tutti_device_copy(device, to, from, 8, &after, 1, done), 0);
	while (tutti_signal_load(done) >= TUTTI_SIGNAL_FAILED)
		sched_yield();
	tutti_signal_destroy(device, after); /* waits until the handler of the dependency has returned */
	assert_true(tutti_load_acquire(&woken));
	device_list_remove(device);
	transport.wake = wake_sleepers;
	tutti_signal_destroy(device, done);
}

static void refused(void **state)
{
	static uint64_t words[8] __attribute__((aligned(64)));
	tutti_signal_t good = a_signal(0), foreign = (tutti_signal_t)words, after[] = {good, foreign};

	assert_int_equal(tutti_device_copy(device, to, from, 8, NULL, 1, good), -EINVAL);
	assert_int_equal(tutti_device_copy(device, to, from, 8, after, 2, good), -EINVAL);
	assert_int_equal(tutti_device_copy(device, to, from, 8, &after[1], 1, good), -EINVAL);
	assert_int_equal(tutti_device_copy(device, to, from, 8, after, 1, foreign), -EINVAL);
	assert_int_equal(tutti_device_copy(device, to, from, 8, after, SIZE_MAX / 2 / sizeof(*after) + 1, NULL),
			 -EINVAL);
	assert_int_equal(tutti_device_fill(device, to, 1, 8, after, 2, good), -EINVAL);
	for (unsigned odd = 1; odd < 4; odd++) {
		assert_int_equal(tutti_device_fill(device, (uint8_t *)words + odd, 1, 8, NULL, 0, NULL), -EINVAL);
		assert_int_equal(tutti_device_fill(device, words, 1, 8 + odd, NULL, 0, NULL), -EINVAL);
	}
	assert_int_equal(fake.packets, 0);
	device->status->state = TUTTI_STATE_CRASHED;
	assert_int_equal(tutti_device_copy(device, to, from, 8, after, 1, good), -EIO);
	tutti_signal_destroy(device, good);
}

/* The same in a queue: dependencies are barriers of five signals each, and none is left out. */
static void in_a_queue(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	tutti_signal_t after[12];

	for (unsigned i = 0; i < 12; i++)
		after[i] = i % 4 == 3 ? NULL : a_signal(0);
	for (unsigned count = 0; count <= 12; count++) {
		uint64_t first = *queue->write_index;
		unsigned named = 0, signals = count - count / 4;

		fake.deaf = true;
		assert_int_equal(tutti_copy_async(queue, to, from, 8, after, count, NULL), 0);
		assert_int_equal(*queue->write_index - first, 1 + (signals + 4) / 5);
		for (uint64_t i = first; i + 1 < *queue->write_index; i++) {
			const struct tutti_barrier_packet *barrier = &tutti_queue_slot(queue, i)->barrier;

			assert_int_equal(barrier->header & 0xff, TUTTI_PACKET_BARRIER_AND);
			for (unsigned k = 0; k < 5; k++)
				named += barrier->dependency[k] != 0;
		}
		assert_int_equal(named, signals);
		fake.deaf = false;
		assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	}
	assert_int_equal(tutti_copy_async(queue, to, from, 8, NULL, 0, NULL), 0);
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	for (unsigned odd = 1; odd < 4; odd++) {
		assert_int_equal(tutti_fill_async(queue, to + odd, 1, 8, NULL, 0, NULL), -EINVAL);
		assert_int_equal(tutti_fill_async(queue, to, 1, 8 + odd, NULL, 0, NULL), -EINVAL);
	}
	for (unsigned i = 0; i < 12; i++)
		tutti_signal_destroy(device, after[i]);
}

/*
 * Copies and fills that are refused leave the ring of the queue unchanged. They are refused if an argument is invalid, and
 * if the queue is recording or has stopped.
 */
static void refused_in_a_queue(void **state)
{
	static uint64_t words[8] __attribute__((aligned(64)));
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	tutti_signal_t good = a_signal(0), foreign = (tutti_signal_t)words, after[] = {good, foreign};
	const int errors[] = {-EBUSY, -EIO};

	assert_int_equal(tutti_copy_async(NULL, to, from, 8, NULL, 0, NULL), -EINVAL);
	assert_int_equal(tutti_fill_async(NULL, to, 1, 8, NULL, 0, NULL), -EINVAL);
	assert_int_equal(tutti_copy_async(queue, to, from, 8, NULL, 1, NULL), -EINVAL);
	assert_int_equal(tutti_copy_async(queue, to, from, 8, after, 2, NULL), -EINVAL);
	assert_int_equal(tutti_copy_async(queue, to, from, 8, after, 1, foreign), -EINVAL);
	assert_int_equal(tutti_fill_async(queue, to, 1, 8, after, 2, NULL), -EINVAL);
	assert_int_equal(tutti_fill_async(queue, to, 1, 8, after, 1, foreign), -EINVAL);
	assert_int_equal(tutti_record_begin(queue), 0); /* copies cannot be recorded */
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(tutti_copy_async(queue, to, from, 8, after, 1, good), errors[i]);
		assert_int_equal(tutti_fill_async(queue, to, 1, 8, after, 1, good), errors[i]);
		if (!i) {
			struct tutti_recording *recording;

			assert_int_equal(tutti_record_end(queue, &recording), 0);
			assert_int_equal(tutti_recording_destroy(recording), 0);
			queue_error_take(device, &(struct tutti_fault){.code = TUTTI_ERROR_PACKET,
								       .queue = (uint16_t)queue->id});
		}
	}
	assert_true(*queue->write_index == 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	tutti_signal_destroy(device, good);
}

static unsigned lost_signals(struct tutti_queue *queue)
{
	unsigned n = 0;

	for (const struct lost_signal *lost = queue_of(queue)->lost_signals; lost; lost = lost->next)
		n++;
	return n;
}

static uint64_t memory_in_use(void)
{
	struct tutti_pool pool;

	assert_int_equal(tutti_memory_pool(device, TUTTI_MEMORY_SYSTEM, &pool), 0);
	return pool.used;
}

/*
 * A copy that has failed leaves its signal, which the card may still change, until the queue is destroyed; all others share
 * one.
 */
static void waited_for(void **state)
{
	uint64_t used = memory_in_use();
	struct tutti_queue *queue = a_queue(0, false);
	tutti_signal_t first = queue_of(queue)->copy_signal, second;

	from[0] = 5;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(tutti_copy(queue, to, from, 8), 0);
	assert_int_equal(to[0], 5);
	assert_ptr_equal(queue_of(queue)->copy_signal, first);
	assert_int_equal(tutti_copy(queue, to, from, 0), 0);
	assert_int_equal(fake.packets, 3);
	for (unsigned failed = 1; failed <= 3; failed++) {
		assert_int_equal(tutti_copy(queue, to, from, BAD_BYTES), -EIO);
		assert_int_equal(tutti_copy(queue, to, from, 8), -EIO); /* the queue has stopped */
		assert_int_equal(tutti_queue_reset(queue), 0);
		from[0]++;
		assert_int_equal(tutti_copy(queue, to, from, 8), 0);
		assert_int_equal(to[0], from[0]);
		second = queue_of(queue)->copy_signal;
		assert_ptr_not_equal(second, first);
		assert_int_equal(tutti_copy(queue, to, from, 8), 0);
		assert_ptr_equal(queue_of(queue)->copy_signal, second);
		assert_true(lost_signals(queue) >= failed);
		assert_ptr_equal(queue_of(queue)->lost_signals->signal == second, 0);
		first = second;
	}
	assert_int_equal(tutti_copy(NULL, to, from, 8), -EINVAL);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_true(memory_in_use() == used);
	assert_int_equal(tutti_copy(queue, to, from, 8), -EINVAL);
}

/* Behind a packet that fails a copy fails as well, and a reset does not make it happen after all. */
static void withdrawn(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	struct tutti_launch bad = a_launch(0, 0, NULL), good = a_launch(1, 0, NULL);
	const union tutti_packet *slot;

	kernel[0].object = BAD_KERNEL;
	assert_int_equal(tutti_dispatch(queue, &bad), 0);
	memset(from, 1, 8);
	memset(to, 0, 8);
	assert_int_equal(tutti_copy(queue, to, from, 8), -EIO);
	slot = tutti_queue_slot(queue, 1);
	assert_int_equal(slot->word[0], tutti_header(TUTTI_PACKET_BARRIER_AND, true, TUTTI_SCOPE_NONE, TUTTI_SCOPE_NONE));
	for (unsigned i = 1; i < 16; i++)
		assert_int_equal(slot->word[i], 0);
	assert_int_equal(tutti_queue_slot(queue, 2)->word[0], TUTTI_PACKET_INVALID); /* nor is anything else changed */
	assert_int_equal(tutti_queue_reset(queue), 0);
	assert_int_equal(tutti_dispatch(queue, &good), 0);
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(fake.packets, 3);
	assert_int_equal(fake.n, 1);
	assert_int_equal(to[0], 0);
	/* one that has failed itself has been taken: its slot belongs to whoever comes next */
	assert_int_equal(tutti_copy(queue, to, from, BAD_BYTES), -EIO);
	assert_int_equal(tutti_queue_slot(queue, 3)->word[0], TUTTI_PACKET_INVALID);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* One for which the queue that has stopped has no room is not made either, and leaves the packets in the ring alone. */
static void no_room_in_a_stopped_queue(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	struct tutti_launch launch = a_launch(0, 0, NULL);
	struct tutti_fault fault = {.code = TUTTI_ERROR_PACKET, .queue = (uint16_t)queue->id};
	tutti_signal_t first = queue_of(queue)->copy_signal;

	fake.deaf = true;
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(tutti_dispatch(queue, &launch), 0);
	queue_error_take(device, &fault);
	assert_int_equal(tutti_copy(queue, to, from, 8), -EIO);
	assert_int_equal(*queue->write_index, 64);
	assert_int_equal(tutti_queue_reset(queue), 0);
	fake.deaf = false;
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(fake.n, 64);
	assert_int_equal(tutti_copy(queue, to, from, 8), 0);
	assert_ptr_equal(queue_of(queue)->copy_signal, first); /* no packet has named it, so it is still good */
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

static int open_deterministic(void **state)
{
	int error = open_fake(state);

	device->deterministic = true;
	return error;
}

/* When a copy that has failed returns, the error has been reported, although no other thread could do that. */
static void reported_by_the_copy(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);

	assert_int_equal(tutti_copy(queue, to, from, BAD_BYTES), -EIO);
	assert_int_equal(reported, 1);
	assert_int_equal(tutti_queue_reset(queue), 0);
	assert_int_equal(tutti_copy(queue, to, from, 8), 0);
	assert_int_equal(reported, 1);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

#define DETERMINISTIC(f) cmocka_unit_test_setup_teardown(f, open_deterministic, close_fake)

int main(void)
{
	static const struct CMUnitTest tests[] = {T(times),
						  T(one_fails),
						  T(failed_signals_are_left_alone),
						  T(nobody_asks),
						  T(many),
						  T(ring_is_used_up),
						  T(dependencies),
						  T(failed_dependency),
						  T(failure_wakes),
						  T(refused),
						  T(no_queue_left),
						  T(in_a_queue),
						  T(refused_in_a_queue),
						  T(waited_for),
						  T(withdrawn),
						  T(no_room_in_a_stopped_queue),
						  DETERMINISTIC(nothing_to_wait_for),
						  DETERMINISTIC(one_fails),
						  DETERMINISTIC(failed_times_are_not_taken),
						  DETERMINISTIC(nobody_asks),
						  DETERMINISTIC(reported_by_the_copy)};

	return cmocka_run_group_tests_name("SYS-56 copies of no queue over a played card", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Signals, waits for them, and what they leave behind; queues that are reset, inactive or gone (PKT-04, SYS-41,
 * SYS-56). */
#include "lock_check.h"
#include "queue/lost.h"
#include "rt_rig.h"

static tutti_signal_t a_signal(int64_t value)
{
	tutti_signal_t signal;

	assert_int_equal(tutti_signal_create(device, value, &signal), 0);
	return signal;
}

/* Cards that cannot do atomic operations across the bus count in a word of their own. */
static void kinds(void **state)
{
	tutti_signal_t signal = a_signal(-5);

	assert_int_equal(signal->flags, 0);
	assert_int_equal(tutti_signal_load(signal), -5);
	tutti_signal_destroy(device, signal);
	device->known.features &= ~(uint64_t)TUTTI_FEATURE_PCIE_ATOMICS;
	signal = a_signal(7);
	assert_int_equal(signal->flags, TUTTI_SIGNAL_SPLIT);
	signal->card_done = 3;
	assert_int_equal(tutti_signal_load(signal), 4);
	assert_int_equal(tutti_signal_destroy(device, signal), 0);
	assert_int_equal(tutti_signal_destroy(device, signal), -EINVAL);
	assert_int_equal(tutti_signal_destroy(device, NULL), 0);
	assert_int_equal(tutti_signal_create(device, 0, NULL), -EINVAL);
}

/* Every condition, for waits of one and of several, at values around the limit. */
static void conditions(void **state)
{
	tutti_signal_t signal = a_signal(0);

	for (int64_t value = -2; value <= 2; value++)
		for (unsigned condition = TUTTI_EQ; condition <= TUTTI_GTE; condition++) {
			const bool holds[] = {value == 0, value != 0, value < 0, value >= 0};
			struct tutti_wait wait[2] = {{.signal = signal, .condition = condition},
						     {.signal = signal, .condition = TUTTI_EQ, .value = 99}};
			const int want = holds[condition] ? 0 : -ETIMEDOUT;
			int64_t seen = 77;
			size_t which = 9;

			tutti_signal_store(signal, value);
			assert_int_equal(tutti_signal_wait(device, signal, condition, 0, 0, &seen), want);
			assert_int_equal(seen, value);
			assert_int_equal(tutti_signal_wait_any(device, wait, 2, 0, &which), want);
			assert_int_equal(which, want ? 9 : 0);
			assert_int_equal(wait[0].seen, value);
			assert_int_equal(tutti_signal_wait_all(device, wait, 1, 0), want);
			assert_int_equal(tutti_signal_wait_all(device, wait, 2, 0), -ETIMEDOUT);
			assert_int_equal(tutti_signal_wait(device, signal, condition, 0, 2000000, NULL), want);
			assert_int_equal(signal->waiters, 0); /* nobody sleeps any more */
		}
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_GTE + 1, 0, 0, NULL), -EINVAL);
	assert_int_equal(tutti_signal_wait_all(device, NULL, 1, 0), -EINVAL);
	assert_int_equal(tutti_signal_wait_all(device, &(struct tutti_wait){.signal = signal}, 0, 0), -EINVAL);
	assert_int_equal(
	    tutti_signal_wait_all(device, &(struct tutti_wait){.signal = signal, .condition = TUTTI_GTE + 1}, 1, 0),
	    -EINVAL);
	tutti_signal_destroy(device, signal);
}

/* A look without waiting tells that the card is dead, and that nothing will come any more. */
static void looks(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	tutti_signal_t signal = a_signal(2);
	struct tutti_launch bad = a_launch(0, 0, signal), good = a_launch(1, 0, signal);

	kernel[0].object = BAD_KERNEL;
	assert_int_equal(tutti_dispatch(queue, &bad), 0);
	assert_int_equal(tutti_dispatch(queue, &good), 0);
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_EQ, 0, 0, NULL), -ETIMEDOUT);
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), -EIO);
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_EQ, 0, 0, NULL), -EIO);
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL), -EIO);
	assert_null(device->watches);
	/* after a reset the packet behind the bad one runs: the signal can change again */
	*queue->doorbell = 77;
	assert_int_equal(tutti_queue_reset(queue), 0);
	assert_int_equal(*queue->doorbell, *queue->write_index - 1);
	assert_int_equal(device->stopped, 0);
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_EQ, 1, TUTTI_WAIT_FOREVER, NULL), 0);
	device->status->state = TUTTI_STATE_CRASHED;
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_EQ, 0, 0, NULL), -EIO);
	tutti_signal_destroy(device, signal);
}

#define SEVERAL 17u

/* Of several, whichever it is: one that holds, all that hold, and those that nothing will change any more. */
static void several(void **state)
{
	for (unsigned count = 1; count <= SEVERAL; count += count < 9 ? 1 : 8) {
		struct tutti_wait wait[SEVERAL + 1];
		size_t which;

		for (unsigned i = 0; i <= count; i++)
			wait[i] = (struct tutti_wait){.signal = a_signal(1), .condition = TUTTI_EQ, .seen = 77};
		for (unsigned i = 0; i < count; i++) {
			which = 99;
			assert_int_equal(tutti_signal_wait_any(device, wait, count, 0, &which), -ETIMEDOUT);
			assert_int_equal(which, 99);
			tutti_signal_store(wait[i].signal, 0);
			assert_int_equal(tutti_signal_wait_any(device, wait, count, 0, &which), 0);
			assert_int_equal(which, i);
			assert_int_equal(tutti_signal_wait_any(device, wait, count, 1000000, NULL), 0);
			assert_int_equal(tutti_signal_wait_all(device, wait, count, 0), count == 1 ? 0 : -ETIMEDOUT);
			for (unsigned k = 0; k < count; k++)
				assert_int_equal(wait[k].seen, k != i);
			lost_by_failure(device, wait[i].signal, tutti_signal_load(wait[i].signal)); /* of what holds already nothing is lost */
			assert_int_equal(tutti_signal_wait_all(device, wait, count, 0), count == 1 ? 0 : -ETIMEDOUT);
			tutti_signal_store(wait[i].signal, 1);
			lost_by_failure(device, wait[i].signal, tutti_signal_load(wait[i].signal));
			assert_int_equal(tutti_signal_wait_all(device, wait, count, 0), -EIO);
			assert_int_equal(tutti_signal_wait_any(device, wait, count, 0, NULL), count == 1 ? -EIO : -ETIMEDOUT);
			tutti_signal_store(wait[i].signal, 1);
		}
		for (unsigned i = 0; i < count; i++)
			tutti_signal_store(wait[i].signal, 0);
		assert_int_equal(tutti_signal_wait_all(device, wait, count, 0), 0);
		for (unsigned i = 0; i < count; i++) {
			tutti_signal_store(wait[i].signal, 1);
			assert_int_equal(tutti_signal_wait_all(device, wait, count, 0), -ETIMEDOUT);
			tutti_signal_store(wait[i].signal, 0);
		}
		for (unsigned i = 0; i < count; i++) {
			tutti_signal_store(wait[i].signal, 1);
			lost_by_failure(device, wait[i].signal, tutti_signal_load(wait[i].signal));
		}
		assert_int_equal(tutti_signal_wait_any(device, wait, count, 0, NULL), -EIO);
		assert_int_equal(tutti_signal_wait_any(device, wait, count, TUTTI_WAIT_FOREVER, NULL), -EIO);
		assert_int_equal(wait[count].seen, 77);
		assert_null(device->watches);
		for (unsigned i = 0; i <= count; i++)
			tutti_signal_destroy(device, wait[i].signal);
	}
}

static tutti_signal_t fails_meanwhile;

static bool poll_fails(struct tutti_device *of)
{
	if (fails_meanwhile)
		lost_by_failure(device, fails_meanwhile, TUTTI_SIGNAL_CANCELLED);
	fails_meanwhile = NULL;
	return poll_card(of);
}

/* What has failed may be just what is waited for: then the wait is for the others, also if it has failed just now. */
static void failure_is_enough(void **state)
{
	struct tutti_wait wait[] = {{.signal = a_signal(1), .condition = TUTTI_LT, .value = 1},
				    {.signal = a_signal(1), .condition = TUTTI_LT, .value = 1}};

	transport.poll = poll_fails;
	fails_meanwhile = wait[0].signal;
	assert_int_equal(tutti_signal_wait_all(device, wait, 2, 0), -ETIMEDOUT);
	assert_null(fails_meanwhile);
	fails_meanwhile = wait[1].signal;
	assert_int_equal(tutti_signal_wait_all(device, wait, 2, TUTTI_WAIT_FOREVER), 0);
	transport.poll = poll_card;
	for (unsigned i = 0; i < 2; i++)
		tutti_signal_destroy(device, wait[i].signal);
}

/* What the card has sent is taken by whoever waits, also if what is waited for holds at once. */
static void takes_what_was_sent(void **state)
{
	struct tutti_queue_options options = {.packets = 64};
	static struct tutti_signal foreign __attribute__((aligned(64)));
	tutti_signal_t signal = a_signal(0);
	struct tutti_queue *queue;

	assert_int_equal(tutti_queue_create(device, &options, &queue), 0); /* nobody else looks */
	fake.pending = (struct tutti_fault){.code = TUTTI_ERROR_PACKET, .queue = (uint16_t)queue->id};
	fake.fault = true;
	assert_int_equal(queue_stopped(queue_of(queue)), 0);
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_EQ, 0, 0, NULL), 0);
	assert_int_equal(queue_stopped(queue_of(queue)), TUTTI_ERROR_PACKET);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(tutti_signal_wait(NULL, signal, TUTTI_EQ, 0, 0, NULL), -EINVAL);
	assert_int_equal(tutti_signal_wait(device, &foreign, TUTTI_EQ, 0, 0, NULL), -EINVAL);
	assert_int_equal(tutti_signal_wait(device, NULL, TUTTI_EQ, 0, 0, NULL), -EINVAL);
	assert_int_equal(tutti_signal_wait_any(NULL, &(struct tutti_wait){.signal = signal}, 1, 0, NULL), -EINVAL);
	assert_int_equal(tutti_signal_wait_any(device, &(struct tutti_wait){.signal = &foreign}, 1, 0, NULL), -EINVAL);
	assert_int_equal(tutti_signal_wait_all(NULL, &(struct tutti_wait){.signal = signal}, 1, 0), -EINVAL);
	assert_int_equal(tutti_signal_wait_all(device, &(struct tutti_wait){.signal = signal}, SIZE_MAX / 2, 0), -EINVAL);
	tutti_signal_destroy(device, signal);
}

static tutti_signal_t slept_for[SEVERAL];
static unsigned sleeping, sleeps;

/* Whoever sleeps has said so in each of the signals. */
static void sleeps_once(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	for (unsigned i = 0; i < SEVERAL; i++)
		assert_int_equal(slept_for[i]->waiters, i < sleeping);
	for (unsigned i = 0; i < sleeping; i++)
		tutti_signal_store_silent(slept_for[i], 0);
	sleeps++;
}

/* Signals that a thread sleeps for say so, so that the card interrupts, and no others. */
static void sleepers_are_counted(void **state)
{
	struct tutti_wait wait[SEVERAL];

	transport.sleep = sleeps_once;
	sleeps = 0;
	for (unsigned i = 0; i < SEVERAL; i++)
		slept_for[i] = a_signal(1);
	for (sleeping = 1; sleeping <= SEVERAL; sleeping++) {
		for (unsigned i = 0; i < SEVERAL; i++) {
			tutti_signal_store_silent(slept_for[i], 1);
			wait[i] = (struct tutti_wait){.signal = slept_for[i], .condition = TUTTI_EQ};
		}
		assert_int_equal(tutti_signal_wait_all(device, wait, sleeping, TUTTI_WAIT_FOREVER), 0);
		assert_int_equal(sleeps, sleeping);
	}
	transport.sleep = sleep_card;
	for (unsigned i = 0; i < SEVERAL; i++)
		assert_int_equal(tutti_signal_destroy(device, slept_for[i]), 0);
}

/* A thread that drives the card does no more of that than it waits for. */
static void drives_no_further(void **state)
{
	struct tutti_queue_options options = {.packets = 64};
	tutti_signal_t first = a_signal(1), second = a_signal(2);
	struct tutti_launch launch = a_launch(0, 0, first);
	struct tutti_queue *queue;

	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	assert_int_equal(tutti_dispatch(queue, &launch), 0);
	launch.signal = second;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(tutti_dispatch(queue, &launch), 0);
	assert_int_equal(tutti_signal_wait(device, first, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL), 0);
	assert_int_equal(fake.n, 1);
	assert_int_equal(tutti_signal_wait(device, second, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	tutti_signal_destroy(device, first);
	tutti_signal_destroy(device, second);
}

static unsigned runs;
static tutti_signal_t run_completes;

static bool one_step(struct tutti_device *of, bool (*done)(void *), void *context)
{
	assert_false(done(context)); /* the card asks before each step */
	assert_true(done(context));  /* no more than one */
	runs++;
	if (run_completes)
		tutti_signal_store(run_completes, 0);
	return false;
}

static bool completes(tutti_signal_t signal, int64_t value, int error, void *context)
{
	tutti_signal_store(context, 0);
	return false;
}

/* A look does not drive the card, unless time passes only then; what handlers do meanwhile it sees. */
static void looks_drive_if_nobody_else_does(void **state)
{
	tutti_signal_t signal = a_signal(1), due = a_signal(0);

	device->run = one_step;
	runs = 0;
	run_completes = NULL;
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_EQ, 0, 0, NULL), -ETIMEDOUT);
	assert_int_equal(runs, 0);
	device->deterministic = true;
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_EQ, 0, 0, NULL), -ETIMEDOUT);
	assert_int_equal(runs, 1);
	run_completes = signal;
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_EQ, 0, 0, NULL), 0);
	assert_int_equal(runs, 2);
	run_completes = NULL;
	tutti_signal_store(signal, 1);
	assert_int_equal(tutti_signal_handler(device, due, TUTTI_EQ, 0, completes, signal), 0);
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_EQ, 0, 0, NULL), 0);
	tutti_signal_destroy(device, due);
	tutti_signal_destroy(device, signal);
}

static unsigned called[3];

static bool counts(tutti_signal_t signal, int64_t value, int error, void *context)
{
	called[(uintptr_t)context]++;
	return true;
}

static bool counts_others(tutti_signal_t signal, int64_t value, int error, void *context)
{
	return counts(signal, value, error, context);
}

/* A handler is removed by its signal, its function and its context together; each call removes all that match. */
static void handlers(void **state)
{
	tutti_signal_t a = a_signal(1), b = a_signal(1);

	for (uintptr_t i = 0; i < 3; i++)
		assert_int_equal(tutti_signal_handler(device, a, TUTTI_EQ, 0, counts, (void *)i), 0);
	assert_int_equal(tutti_signal_handler(device, a, TUTTI_EQ, 0, counts, (void *)1), 0);
	assert_int_equal(tutti_signal_handler(device, b, TUTTI_EQ, 0, counts, (void *)1), 0);
	assert_int_equal(tutti_signal_handler(device, a, TUTTI_EQ, 0, counts_others, (void *)1), 0);
	assert_int_equal(a->waiters, 5);
	assert_int_equal(b->waiters, 1);
	assert_int_equal(tutti_signal_handler_remove(device, b, counts, (void *)2), -ENOENT);
	assert_int_equal(tutti_signal_handler_remove(device, a, counts, (void *)1), 0);
	assert_int_equal(a->waiters, 3);
	assert_int_equal(b->waiters, 1);
	assert_int_equal(tutti_signal_handler_remove(device, a, counts, (void *)1), -ENOENT);
	assert_int_equal(tutti_signal_handler_remove(device, a, counts_others, (void *)1), 0);
	assert_int_equal(a->waiters, 2);
	assert_int_equal(tutti_signal_handler_remove(device, a, NULL, NULL), 0);
	assert_int_equal(a->waiters, 0);
	assert_int_equal(tutti_signal_handler(device, a, TUTTI_GTE + 1, 0, counts, NULL), -EINVAL);
	assert_int_equal(tutti_signal_handler(device, a, TUTTI_EQ, 0, NULL, NULL), -EINVAL);
	assert_int_equal(called[0] + called[1] + called[2], 0);
	tutti_signal_destroy(device, a);
	tutti_signal_destroy(device, b); /* with its handler */
	assert_null(device->watches);
	assert_null(device->events->handlers);
}

/* A queue that is inactive takes nothing, is not reset, and is destroyed once. */
static void inactive(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	struct tutti_launch launch = a_launch(0, 0, NULL);

	assert_int_equal(tutti_queue_inactivate(queue), 0);
	assert_false(fake.made[queue->id]);
	assert_int_equal(tutti_queue_inactivate(queue), 0);
	assert_int_equal(tutti_queue_error(queue, NULL), TUTTI_ERROR_CANCELLED);
	assert_int_equal(tutti_dispatch(queue, &launch), -EIO);
	assert_int_equal(tutti_queue_reset(queue), -EINVAL);
	assert_int_equal(device->stopped, 1);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(device->stopped, 0);
	assert_int_equal(tutti_queue_destroy(queue), -EINVAL);
}

static int refuses_to_go(struct tutti_device *device, unsigned queue)
{
	return -ETIMEDOUT;
}

/* What the card may still use is not given to anybody else: the ring, the number, the doorbell. */
static void never_gone(void **state)
{
	struct tutti_queue *queue = a_queue(0, false), *next;
	const union tutti_packet *ring = queue->ring;
	unsigned id = queue->id;

	transport.queue_destroy = refuses_to_go;
	assert_int_equal(tutti_queue_destroy(queue), 0);
	transport.queue_destroy = card_queue_destroy;
	next = a_queue(0, false);
	assert_int_not_equal(next->id, id);
	assert_ptr_not_equal(next->ring, ring);
	assert_int_equal(tutti_queue_destroy(next), 0);
	fake.made[id] = false;
}

static struct tutti_queue *crowded;
static int reserved = 1;

static void *reserves_one(void *context)
{
	int error = tutti_queue_reserve(crowded, 1, context);

	tutti_store_release(&reserved, error);
	return NULL;
}

/*
 * A producer that waits for room when the queue stops gives its slot back, but not before those behind it have done so.
 * If the queue is reset before that, it waits on, and gets the slot that it had.
 */
static void runs_again(void **state)
{
	struct tutti_launch launch = a_launch(0, 0, NULL);
	union tutti_packet packet;
	uint64_t index = 0, other;
	pthread_t thread;

	crowded = a_queue(0, true);
	fake.deaf = true;
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(tutti_dispatch(crowded, &launch), 0);
	pthread_create(&thread, NULL, reserves_one, &index);
	while (tutti_load_relaxed(crowded->write_index) != 65)
		sched_yield();
	other = __atomic_fetch_add(crowded->write_index, 1, __ATOMIC_RELAXED); /* by another producer */
	fake.pending = (struct tutti_fault){.code = TUTTI_ERROR_PACKET, .queue = (uint16_t)crowded->id, .packet = 0};
	tutti_store_release(&fake.fault, true);
	while (!queue_stopped(queue_of(crowded)))
		sched_yield();
	usleep(20000);
	assert_int_equal(tutti_load_acquire(&reserved), 1);
	fake.deaf = false;
	assert_int_equal(tutti_queue_reset(crowded), 0);
	pthread_join(thread, NULL);
	assert_int_equal(reserved, 0);
	assert_int_equal(index, 64);
	assert_int_equal(other, 65);
	assert_int_equal(tutti_launch_packet(&launch, &packet.dispatch), 0);
	for (; index <= other; index++) {
		memcpy(&tutti_queue_slot(crowded, index)->word[1], &packet.word[1], sizeof(packet) - 4);
		tutti_queue_publish(crowded, index, packet.word[0]);
	}
	tutti_queue_ring(crowded, other);
	assert_int_equal(tutti_queue_drain(crowded, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(fake.n, 66);
	tutti_queue_destroy(crowded);
}

static pthread_t destroyer;
static bool destroying;

static void *destroys(void *queue)
{
	return (void *)(intptr_t)tutti_queue_destroy(queue);
}

/* Another thread destroys the queue while one waits. */
static void destroyed_in_sleep(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	if (pthread_equal(pthread_self(), test_thread) && !destroying) {
		destroying = true;
		pthread_create(&destroyer, NULL, destroys, crowded);
	}
	sleep_card(of, seen, deadline);
}

/* Whoever waits for something of a queue waits no longer when another thread destroys it. */
static void destroyed_meanwhile(void **state)
{
	struct tutti_launch launch = a_launch(0, 0, NULL);
	uint8_t from[8] = {0}, to[8];
	uint64_t index;
	void *result;

	fake.deaf = true;
	transport.sleep = destroyed_in_sleep;
	for (unsigned call = 0; call < 4; call++) {
		crowded = a_queue(0, call == 1);
		destroying = false;
		for (unsigned i = 0; i < 63 + (call < 2); i++)
			assert_int_equal(tutti_dispatch(crowded, &launch), 0);
		if (call < 2)
			assert_int_equal(tutti_queue_reserve(crowded, 1, &index), -EIO);
		else if (call == 2)
			assert_int_equal(tutti_queue_drain(crowded, TUTTI_WAIT_FOREVER), -EIO);
		else
			assert_int_equal(tutti_copy(crowded, to, from, sizeof(to)), -EIO);
		pthread_join(destroyer, &result);
		assert_null(result);
	}
	transport.sleep = sleep_card;
}

static unsigned asked, naps;

/* It can fill the ring up to the slot that its thread will fill. Nothing else that it asks can come to an end. */
static bool asks_for_more(tutti_signal_t signal, int64_t value, int error, void *context)
{
	struct tutti_launch launch = a_launch(0, 0, NULL);
	uint8_t from[8] = {0}, to[8];

	fake.deaf = false;
	for (unsigned i = 0; i < 63; i++)
		assert_int_equal(tutti_dispatch(crowded, &launch), 0);
	assert_int_equal(tutti_dispatch(crowded, &launch), -EBUSY);
	assert_int_equal(tutti_queue_drain(crowded, TUTTI_WAIT_FOREVER), -EBUSY);
	assert_int_equal(tutti_copy(crowded, to, from, sizeof(to)), -EBUSY);
	assert_true(*crowded->write_index == 128);
	asked++;
	return false;
}

/* Whoever waits for ever is told that the card has died. */
static void dies_in_the_end(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	if (++naps == 100)
		device->status->state = TUTTI_STATE_CRASHED;
}

/* A handler does not wait for room for which its own thread waits: in a launch, or in a copy, which is one at a time. */
static void handlers_in_a_full_ring(void **state)
{
	struct tutti_launch launch = a_launch(0, 0, NULL);
	tutti_signal_t due = a_signal(0);
	uint8_t from[8] = {7}, to[8] = {0};

	device->deterministic = true;
	transport.sleep = dies_in_the_end;
	for (unsigned call = 0; call < 4; call++) {
		crowded = a_queue(0, call & 1);
		fake.deaf = true;
		for (unsigned i = 0; i < 64; i++)
			assert_int_equal(tutti_dispatch(crowded, &launch), 0);
		assert_int_equal(tutti_signal_handler(device, due, TUTTI_EQ, 0, asks_for_more, NULL), 0);
		if (call < 2)
			assert_int_equal(tutti_dispatch(crowded, &launch), 0);
		else
			assert_int_equal(tutti_copy(crowded, to, from, sizeof(to)), 0);
		assert_int_equal(asked, call + 1);
		assert_int_equal(tutti_queue_drain(crowded, TUTTI_WAIT_FOREVER), 0);
		assert_int_equal(*crowded->read_index, 128);
		assert_int_equal(tutti_queue_destroy(crowded), 0);
	}
	transport.sleep = sleep_card;
	assert_int_equal(to[0], 7);
	tutti_signal_destroy(device, due);
}

static void assert_refused(struct tutti_queue *queue)
{
	struct tutti_fault fault;

	assert_int_equal(tutti_queue_inactivate(queue), -EINVAL);
	assert_int_equal(tutti_queue_reset(queue), -EINVAL);
	assert_int_equal(tutti_queue_poll(queue), -EINVAL);
	assert_int_equal(tutti_queue_error(queue, &fault), -EINVAL);
	assert_int_equal(tutti_queue_drain(queue, 0), -EINVAL);
	assert_int_equal(tutti_queue_wait_room(queue, 0, 1), -EINVAL);
}

/* An error that the card has sent of a queue is seen by whoever asks, and is not taken for one of the next queue. */
static void late_errors(void **state)
{
	struct tutti_queue_options options = {.packets = 64};
	struct tutti_queue *queue, *next;
	struct tutti_fault fault = {0};

	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	fake.pending = (struct tutti_fault){.code = TUTTI_ERROR_GRID, .queue = (uint16_t)queue->id, .packet = 5};
	fake.fault = true;
	assert_int_equal(tutti_queue_error(queue, &fault), TUTTI_ERROR_GRID);
	assert_int_equal(fault.packet, 5);
	fake.fault = true;
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(tutti_queue_create(device, &options, &next), 0);
	assert_int_equal(next->id, 0);
	assert_int_equal(tutti_queue_poll(next), 0);
	assert_int_equal(tutti_queue_error(next, NULL), 0);
	assert_int_equal(tutti_queue_destroy(next), 0);
	assert_refused(next);
	assert_refused(NULL);
}

/* A queue goes with what is recorded for it, be it finished or not. */
static void recordings_of_a_queue(void **state)
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	struct tutti_launch launch = a_launch(0, 0, NULL);
	struct tutti_recording *done;

	assert_int_equal(tutti_record_begin(queue), 0);
	assert_int_equal(tutti_dispatch(queue, &launch), 0);
	assert_int_equal(tutti_record_end(queue, &done), 0);
	assert_int_equal(tutti_recording_packets(done), 1);
	for (unsigned i = 0; i < 3; i++) { /* the doorbell tells of the newest packet */
		*queue->doorbell = 77;
		assert_int_equal(tutti_replay(done), 0);
		assert_int_equal(*queue->doorbell, *queue->write_index - 1);
	}
	assert_int_equal(tutti_record_begin(queue), 0);
	assert_int_equal(tutti_dispatch(queue, &launch), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(tutti_replay(done), -EINVAL);
	assert_int_equal(tutti_recording_form(done, TUTTI_REPLAY_PLAIN), 0);
	assert_int_equal(tutti_recording_set_kernarg(done, 0, NULL), 0);
	assert_int_equal(tutti_recording_set_kernarg(done, 1, NULL), -EINVAL);
	assert_int_equal(tutti_replay(done), -EINVAL);
	assert_int_equal(tutti_recording_destroy(done), 0);
	assert_int_equal(tutti_recording_destroy(done), -EINVAL);
}

/* A queue that stops loses the references of its recordings, which send them anew, whichever entries they have. */
static void replays_after_a_stop(void **state)
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	struct tutti_launch bad = a_launch(19, 0, NULL);
	struct tutti_recording *recording;

	assert_int_equal(tutti_record_begin(queue), 0);
	for (unsigned i = 0; i < 24; i++) { /* eight kernels, and so all entries */
		struct tutti_launch launch = a_launch(i % 8, i, NULL);

		assert_int_equal(tutti_dispatch(queue, &launch), 0);
	}
	assert_int_equal(tutti_record_end(queue, &recording), 0);
	kernel[19].object = BAD_KERNEL;
	for (unsigned round = 0; round < 3; round++) {
		assert_int_equal(tutti_replay(recording), 0);
		assert_int_equal(tutti_replay(recording), 0);
		assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
		assert_int_equal(fake.n, 48 * (round + 1));
		assert_int_equal(tutti_dispatch(queue, &bad), 0);
		tutti_queue_drain(queue, TUTTI_WAIT_FOREVER);
		assert_int_equal(tutti_queue_poll(queue), 0);
		assert_int_equal(tutti_replay(recording), -EIO);
		assert_int_equal(tutti_queue_reset(queue), 0);
	}
	assert_int_equal(reported, 3);
	assert_int_equal(tutti_recording_destroy(recording), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {T(kinds),
						  T(conditions),
						  T(looks),
						  T(several),
						  T(failure_is_enough),
						  T(takes_what_was_sent),
						  T(sleepers_are_counted),
						  T(drives_no_further),
						  T(looks_drive_if_nobody_else_does),
						  T(handlers),
						  T(inactive),
						  T(never_gone),
						  T(runs_again),
						  T(destroyed_meanwhile),
						  T(handlers_in_a_full_ring),
						  T(late_errors),
						  T(recordings_of_a_queue),
						  T(replays_after_a_stop)};

	return cmocka_run_group_tests_name("PKT-04, SYS-41, SYS-56 signals and waits over a played card", tests, NULL,
					   NULL);
}

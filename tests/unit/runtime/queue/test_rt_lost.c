/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Which signals nothing will change any more when a queue stops or goes, slot by slot of its ring (SYS-56). */
#include "lock_check.h"
#include "queue/lost.h"
#include "rt_rig.h"

#define SLOTS	  64u
#define NO_PACKET (UINT64_MAX / 2)

static tutti_signal_t signals[SLOTS + 1];
static struct signal_watch watch[SLOTS + 1];

static int open_card(void **state)
{
	int error = open_fake(state);

	fake.deaf = true; /* packets stay where they are; the tests say how far the card is */
	for (unsigned i = 0; i <= SLOTS && !error; i++)
		error = tutti_signal_create(device, 1, &signals[i]);
	return error;
}

/* Launches number @first to @last - 1, each with the signal of its slot. */
static void fill(struct tutti_queue *queue, uint64_t first, uint64_t last)
{
	for (; first < last; first++) {
		struct tutti_launch launch = a_launch(0, 0, signals[first % SLOTS]);

		assert_int_equal(tutti_dispatch(queue, &launch), 0);
	}
}

/* The card stops the queue at packet @failed, and has taken those before @taken. */
static void stop(struct tutti_queue *queue, uint64_t taken, uint64_t failed)
{
	struct tutti_fault fault = {.code = TUTTI_ERROR_PACKET, .queue = (uint16_t)queue->id, .packet = failed};

	*(uint64_t *)queue->read_index = taken;
	queue_error_take(device, &fault);
}

static void watch_all(void)
{
	memset(watch, 0, sizeof(watch));
	for (unsigned i = 0; i <= SLOTS; i++) {
		watch[i].signal = signals[i];
		watch_begin(device, &watch[i]);
	}
}

static void unwatch_all(void)
{
	for (unsigned i = 0; i <= SLOTS; i++)
		watch_end(device, &watch[i]);
	assert_null(device->watches);
}

/* Those of slots @first to @last - 1, and no others. */
static void assert_lost(unsigned first, unsigned last)
{
	for (unsigned i = 0; i <= SLOTS; i++)
		if (watch_lost(&watch[i]) != (i >= first && i < last))
			fail_msg("signal %u is %s, lost are to be %u to %u", i, watch_lost(&watch[i]) ? "lost" : "not lost",
				 first, last);
}

/* A wait that is under way when the queue stops, and one that begins afterwards. */
static void assert_stop_loses(struct tutti_queue *queue, uint64_t taken, uint64_t failed, unsigned first, unsigned last)
{
	watch_all();
	assert_lost(0, 0);
	stop(queue, taken, failed);
	assert_lost(first, last);
	unwatch_all();
	watch_all();
	assert_lost(first, last);
	unwatch_all();
}

/* The packet that has failed and all behind it, wherever in the ring it is. */
static void every_place_in_the_ring(void **state)
{
	for (unsigned taken = 1; taken <= SLOTS; taken++) {
		struct tutti_queue *queue = a_queue(0, false);

		fill(queue, 0, SLOTS);
		assert_stop_loses(queue, taken, taken - 1, taken - 1, SLOTS);
		assert_int_equal(tutti_queue_reset(queue), 0);
		watch_all();
		assert_lost(0, 0);
		unwatch_all();
		assert_int_equal(tutti_queue_destroy(queue), 0);
	}
}

/* No packet has failed: only what has not been taken is lost. Of an empty queue that is nothing. */
static void no_failed_packet(void **state)
{
	for (unsigned taken = 0; taken <= SLOTS; taken += 16) {
		struct tutti_queue *queue = a_queue(0, false);

		fill(queue, 0, SLOTS);
		assert_stop_loses(queue, taken, NO_PACKET, taken, SLOTS);
		assert_int_equal(tutti_queue_destroy(queue), 0);
	}
}

/* The slot of the packet that has failed says its signal until another packet may be written there. */
static void ring_comes_round(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	union tutti_packet *slot = tutti_queue_slot(queue, 0);
	uint64_t index;

	fill(queue, 0, SLOTS - 1);
	assert_stop_loses(queue, 1, 0, 0, SLOTS - 1);
	__atomic_fetch_add(queue->write_index, 1, __ATOMIC_RELAXED); /* the last slot is reserved, but not written */
	watch_all();
	assert_lost(0, SLOTS - 1);
	unwatch_all();
	index = __atomic_fetch_add(queue->write_index, 1, __ATOMIC_RELAXED);
	assert_int_equal(index, SLOTS);
	for (uint8_t type = TUTTI_PACKET_VENDOR; type <= TUTTI_PACKET_INVALID; type++) { /* the packet is being written */
		slot->word[0] = type;
		slot->dispatch.signal = (uintptr_t)signals[SLOTS];
		watch_all();
		assert_lost(1, SLOTS - 1);
		unwatch_all();
	}
	slot->word[0] = TUTTI_PACKET_KERNEL_DISPATCH;
	watch_all();
	assert_true(watch_lost(&watch[SLOTS]));
	assert_false(watch_lost(&watch[0]));
	unwatch_all();
	*queue->write_index += 5; /* by producers that wait for room: the ring holds no more packets than before */
	watch_all();
	assert_true(watch_lost(&watch[SLOTS]));
	assert_true(watch_lost(&watch[1]));
	unwatch_all();
	*queue->write_index = SLOTS;
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

static void visit_last(struct queue *queue, void (*visit)(void *context, uint64_t signal), void *context)
{
	visit(context, (uintptr_t)signals[SLOTS]);
}

/* What stands in a condensed packet at the place of a signal is none; what it launches is known to its recording. */
static void condensed(void **state)
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);

	fill(queue, 0, 4);
	for (unsigned i = 0; i < 3; i++)
		tutti_queue_slot(queue, i)->word[0] = TUTTI_PACKET_CONDENSED;
	assert_stop_loses(queue, 1, 0, 3, 4);
	queue_of(queue)->each_recorded = visit_last;
	watch_all();
	assert_true(watch_lost(&watch[3]));
	assert_true(watch_lost(&watch[SLOTS]));
	assert_false(watch_lost(&watch[0]));
	unwatch_all();
	queue_of(queue)->each_recorded = NULL;
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* One that goes on by itself after an error owes what it owed before. */
static void recovers(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);

	queue_of(queue)->recovers = true;
	fill(queue, 0, SLOTS);
	assert_stop_loses(queue, 1, 0, 0, 0);
	/* and another one that has stopped does not make it lose anything either */
	stop(a_queue(0, false), 0, NO_PACKET);
	watch_all();
	assert_lost(0, 0);
	unwatch_all();
}

/* Whatever failed, waits for its signal are in vain; those for others are not. A packet that names it owes it again. */
static void failure(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);

	watch_all();
	lost_by_failure(device, signals[9], tutti_signal_load(signals[9]));
	assert_lost(9, 10);
	unwatch_all();
	watch_all();
	assert_lost(9, 10);
	unwatch_all();
	fill(queue, 9, 10); /* launches that name it are to change it */
	assert_int_equal(signals[9]->event, 0);
	watch_all();
	assert_lost(0, 0);
	unwatch_all();
	/* what owed it already when it was abandoned still does, unless it has stopped */
	lost_by_failure(device, signals[9], tutti_signal_load(signals[9]));
	watch_all();
	assert_lost(0, 0);
	unwatch_all();
	stop(queue, 1, 0);
	watch_all();
	assert_lost(9, 10);
	unwatch_all();
}

/* Destroying a queue loses what it owes, and what it has named while somebody waits; a later wait knows the former only. */
static void destroyed(void **state)
{
	static const unsigned taken[] = {0, 1, SLOTS / 2, SLOTS - 1, SLOTS};

	for (unsigned i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
		struct tutti_queue *queue = a_queue(0, false);

		device->abandons = false;
		fill(queue, 0, SLOTS);
		*(uint64_t *)queue->read_index = taken[i];
		watch_all();
		assert_int_equal(tutti_queue_destroy(queue), 0);
		assert_lost(0, SLOTS);
		unwatch_all();
		assert_int_equal(device->abandons, taken[i] < SLOTS);
		watch_all();
		assert_lost(taken[i], SLOTS);
		unwatch_all();
		for (unsigned k = 0; k < SLOTS; k++)
			tutti_signal_store(signals[k], 1); /* which the application may do, and wait again */
		watch_all();
		assert_lost(0, 0);
		unwatch_all();
	}
}

/* What another queue has named lately may still come from there, unless that one has stopped. Whatever slot it was in. */
static void named_by_another(void **state)
{
	for (unsigned slot = 0; slot < SLOTS; slot += 21) {
		for (unsigned stopped = 0; stopped < 2; stopped++) {
			struct tutti_queue *queue = a_queue(0, false), *other = a_queue(0, false);

			*other->write_index = *(uint64_t *)other->read_index = slot;
			fill(queue, 0, SLOTS);
			fill(other, slot, slot + 1);
			*(uint64_t *)queue->read_index = SLOTS;
			*(uint64_t *)other->read_index = slot + 1;
			if (stopped)
				stop(other, slot + 1, NO_PACKET);
			watch_all();
			assert_int_equal(tutti_queue_destroy(queue), 0);
			for (unsigned i = 0; i < SLOTS; i++)
				assert_int_equal(watch_lost(&watch[i]), stopped || i != slot);
			unwatch_all();
			assert_int_equal(tutti_queue_destroy(other), 0);
		}
	}
}

/* Signals in the application's own memory are not written to when their queue goes: they may be gone as well. */
static void foreign(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	struct tutti_launch launch = a_launch(0, 0, NULL);
	struct tutti_signal *own;

	assert_int_equal(memory_alloc(device, TUTTI_MEMORY_SYSTEM, TUTTI_PAGE_SIZE, (void **)&own), 0);
	memset(own, 0, sizeof(*own));
	launch.signal = own;
	assert_int_equal(tutti_dispatch(queue, &launch), 0);
	fill(queue, 1, 2);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(own->event, 0);
	assert_int_equal(signals[1]->event, SIGNAL_ABANDONED);
}

/* As a program does that writes packets itself, whatever has become of the queue. */
static void put(struct tutti_queue *queue, tutti_signal_t signal)
{
	struct tutti_launch launch = a_launch(0, 0, signal);
	union tutti_packet packet;
	uint64_t index;

	assert_int_equal(tutti_launch_packet(&launch, &packet.dispatch), 0);
	assert_int_equal(tutti_queue_put(queue, &packet, &index), 0);
}

static struct tutti_queue *late_queue;
static bool inactivates;
static unsigned sleeps;

/* While the thread of the test sleeps, others stop the queue and write a packet into it. */
static void written_too_late(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	if (!pthread_equal(pthread_self(), test_thread)) {
		sleep_card(of, seen, deadline);
		return;
	}
	sleeps++;
	if (sleeps == 1 && inactivates)
		assert_int_equal(tutti_queue_inactivate(late_queue), 0);
	else if (sleeps == 1)
		stop(late_queue, 0, NO_PACKET);
	else if (sleeps == 2)
		put(late_queue, signals[0]);
	else if (sleeps == 100)
		tutti_signal_store(signals[0], 0); /* nobody has told the thread */
}

/* A packet that comes to a queue that has stopped already is lost, also for those that have waited before. */
static void written_after_the_stop(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		late_queue = a_queue(0, true);
		inactivates = i;
		sleeps = 0;
		transport.sleep = written_too_late;
		assert_int_equal(tutti_signal_wait(device, signals[0], TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL), -EIO);
		transport.sleep = sleep_card;
		assert_int_equal(tutti_queue_destroy(late_queue), 0);
	}
}

static unsigned calls;

static bool told(tutti_signal_t signal, int64_t value, int error, void *context)
{
	assert_int_equal(error, -EIO);
	calls++;
	return true;
}

/* So it is for a handler, which is called from waits here. */
static void handlers_after_the_stop(void **state)
{
	struct tutti_queue *queue;

	device->deterministic = true;
	queue = a_queue(0, false);
	calls = 0;
	assert_int_equal(tutti_signal_handler(device, signals[0], TUTTI_EQ, 0, told, NULL), 0);
	assert_int_equal(tutti_queue_inactivate(queue), 0);
	assert_int_equal(tutti_signal_wait(device, signals[1], TUTTI_EQ, 0, 0, NULL), -ETIMEDOUT);
	assert_int_equal(calls, 0);
	put(queue, signals[0]);
	assert_int_equal(tutti_signal_wait(device, signals[1], TUTTI_EQ, 0, 0, NULL), -ETIMEDOUT);
	assert_int_equal(calls, 1);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

#define L(f) cmocka_unit_test_setup_teardown(f, open_card, close_fake)

int main(void)
{
	static const struct CMUnitTest tests[] = {L(every_place_in_the_ring), L(no_failed_packet), L(ring_comes_round),
						  L(condensed), L(recovers), L(failure), L(destroyed),
						  L(named_by_another), L(foreign),
						  L(written_after_the_stop), L(handlers_after_the_stop)};

	return cmocka_run_group_tests_name("SYS-56 signals that nothing will change any more", tests, NULL, NULL);
}

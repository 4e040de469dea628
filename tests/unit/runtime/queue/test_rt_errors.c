/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Errors of queues: which are kept, and that each is reported once, whatever happens meanwhile (SYS-41, SYS-56). */
#include "lock_check.h"
#include "rt_rig.h"

static struct tutti_queue *queue[3];
static unsigned told[3], wakes;
static uint32_t last_code;
static uint64_t last_packet;
static enum { NOTHING, DESTROYS_ITSELF, DESTROYS_NEXT, STOPS_AGAIN } callback_does;
static const bool open_still;

static void fault(unsigned q, uint32_t code, uint64_t packet)
{
	struct tutti_fault fault = {.code = (uint16_t)code, .queue = (uint16_t)q, .packet = packet};

	queue_error_take(device, &fault);
}

static void on_fault(struct tutti_queue *of, const struct tutti_fault *fault, void *context)
{
	unsigned i = of == queue[0] ? 0 : of == queue[1] ? 1 : 2;

	assert_ptr_equal(context, &told[i]);
	told[i]++;
	last_code = fault->code;
	last_packet = fault->packet;
	if (callback_does == DESTROYS_ITSELF)
		assert_int_equal(tutti_queue_destroy(of), 0);
	else if (callback_does == DESTROYS_NEXT && i == 0)
		assert_int_equal(tutti_queue_destroy(queue[1]), 0);
	else if (callback_does == STOPS_AGAIN && told[i] == 1)
		assert_int_equal(queue_restart(queue_of(of)), 0);
}

static void count_wake(struct tutti_device *device)
{
	wakes++;
}

/* No thread reports errors here: the test decides when that happens. */
static int open_queues(void **state)
{
	int error = open_fake(state);

	transport.wake = count_wake;
	memset(told, 0, sizeof(told));
	callback_does = NOTHING;
	for (unsigned i = 0; i < 3 && !error; i++) {
		error = tutti_queue_create(device, NULL, &queue[i]);
		queue_of(queue[i])->error.callback = on_fault;
		queue_of(queue[i])->error.context = &told[i];
	}
	return error;
}

static void assert_told(unsigned first, unsigned second, unsigned third)
{
	queue_error_deliver(device, &open_still);
	assert_int_equal(told[0], first);
	assert_int_equal(told[1], second);
	assert_int_equal(told[2], third);
	assert_int_equal(device->errors, 0);
}

/* The first error of a queue is kept until the queue runs again. Errors of queues that do not exist are ignored. */
static void first_one_counts(void **state)
{
	struct tutti_fault found = {0};

	assert_told(0, 0, 0);
	fault(TUTTI_MAX_QUEUES, 3, 0);
	fault(UINT16_MAX, 3, 0);
	fault(7, 3, 0);
	assert_int_equal(device->errors + device->stopped, 0);
	wakes = 0;
	fault(1, 3, 55);
	assert_int_equal(wakes, 1); /* the thread that reports errors has work */
	assert_int_equal(device->errors, 1);
	fault(1, 4, 66);
	assert_int_equal(device->errors, 1);
	assert_int_equal(device->stopped, 1);
	assert_int_equal(tutti_queue_error(queue[1], &found), 3);
	assert_int_equal(found.packet, 55);
	assert_int_equal(tutti_queue_error(queue[0], &found), 0);
	assert_int_equal(found.packet, 55); /* there is no error, so nothing is written */
	assert_told(0, 1, 0);
	assert_int_equal(last_packet, 55);
	assert_told(0, 1, 0);
	assert_int_equal(queue_restart(queue_of(queue[1])), 0);
	assert_int_equal(device->stopped, 0);
	assert_int_equal(tutti_queue_error(queue[1], NULL), 0);
	fault(1, 0, 77); /* a fault without a cause is given one */
	assert_int_equal(tutti_queue_error(queue[1], NULL), TUTTI_ERROR_PACKET);
	assert_told(0, 2, 0);
	assert_int_equal(last_packet, 77);
}

/* Several errors are reported one by one. One that has been cleared, or whose queue is destroyed first, is not. */
static void several(void **state)
{
	for (unsigned i = 0; i < 3; i++)
		fault(i, 2 + i, i);
	assert_int_equal(device->errors, 3);
	assert_int_equal(device->stopped, 3);
	assert_int_equal(queue_restart(queue_of(queue[1])), 0);
	assert_int_equal(device->errors, 2);
	assert_told(1, 0, 1);
	fault(1, 5, 5);
	assert_int_equal(tutti_queue_destroy(queue[1]), 0);
	assert_int_equal(device->errors, 0);
	assert_told(1, 0, 1);
	assert_int_equal(device->stopped, 2);
	for (unsigned i = 0; i < 3; i += 2)
		assert_int_equal(tutti_queue_destroy(queue[i]), 0);
	assert_int_equal(device->stopped, 0);
	for (unsigned i = 0; i < 3; i++)
		fault(i, 5, 5); /* of queues that have gone */
	assert_int_equal(device->errors + device->stopped, 0);
}

/* An inactive queue has stopped, whether it had stopped before or not, and reports nothing. */
static void inactive(void **state)
{
	fault(0, 4, 4);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(tutti_queue_inactivate(queue[i]), 0);
		assert_int_equal(device->stopped, i + 1);
	}
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(tutti_queue_error(queue[i], NULL), TUTTI_ERROR_CANCELLED);
	fault(1, 4, 4);
	assert_told(0, 0, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(tutti_queue_destroy(queue[i]), 0);
	assert_int_equal(device->stopped, 0);
}

/* A callback may destroy its own queue or another one, and may restart its queue. */
static void callbacks(void **state)
{
	callback_does = STOPS_AGAIN;
	fault(2, 3, 8);
	assert_told(0, 0, 1);
	assert_int_equal(device->stopped, 0);
	fault(2, 3, 9);
	assert_told(0, 0, 2);
	assert_int_equal(last_packet, 9);
	callback_does = DESTROYS_NEXT;
	fault(0, 3, 1);
	fault(1, 3, 1);
	assert_told(1, 0, 2);
	callback_does = DESTROYS_ITSELF;
	assert_int_equal(queue_restart(queue_of(queue[0])), 0);
	assert_int_equal(queue_restart(queue_of(queue[2])), 0);
	fault(0, 3, 1);
	fault(2, 3, 1);
	assert_told(2, 0, 3);
	assert_int_equal(device->stopped, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(tutti_queue_destroy(queue[i]), -EINVAL);
}

static bool gone;

static void *destroys(void *of)
{
	assert_int_equal(tutti_queue_destroy(of), 0);
	tutti_store_release(&gone, true);
	return NULL;
}

static pthread_t destroyer;

/* Another thread has begun to destroy the queue, but cannot end before this callback does. */
static void waited_for(struct tutti_queue *of, const struct tutti_fault *fault, void *context)
{
	pthread_create(&destroyer, NULL, destroys, of);
	while (tutti_load_relaxed(&device->queue_error[of->id]))
		sched_yield();
	for (unsigned i = 0; i < 100; i++)
		sched_yield();
	assert_false(tutti_load_acquire(&gone));
}

static void destroyed_during_its_callback(void **state)
{
	gone = false;
	queue_of(queue[1])->error.callback = waited_for;
	fault(1, 3, 3);
	queue_error_deliver(device, &open_still);
	pthread_join(destroyer, NULL);
	assert_true(gone);
	assert_int_equal(device->errors + device->stopped, 0);
}

static struct tutti_queue *made_again;

/* A callback that destroys its queue may make others, until one of them gets the memory of the first. */
static void makes_it_again(struct tutti_queue *of, const struct tutti_fault *fault, void *context)
{
	assert_int_equal(tutti_queue_destroy(of), 0);
	while (!tutti_queue_create(device, NULL, &made_again) && made_again != of)
		assert_int_equal(tutti_queue_destroy(made_again), 0);
}

static void made_again_in_its_callback(void **state)
{
	queue_of(queue[1])->error.callback = makes_it_again;
	fault(1, 3, 3);
	queue_error_deliver(device, &open_still);
	assert_ptr_equal(made_again, queue[1]);
	assert_int_equal(queue_of(made_again)->error.busy, 0); /* the callback of the one before was not its own */
	assert_int_equal(tutti_queue_destroy(made_again), 0);
}

static bool closed;

static void closes(struct tutti_queue *of, const struct tutti_fault *fault, void *context)
{
	on_fault(of, fault, context);
	closed = true;
}

/* A callback that closes the device is the last one that is called, and the device is not accessed afterwards. */
static void closed_by_a_callback(void **state)
{
	closed = false;
	queue_of(queue[1])->error.callback = closes;
	for (unsigned i = 0; i < 3; i++)
		fault(i, 3, 3);
	queue_error_deliver(device, &closed);
	assert_int_equal(told[0] + told[1], 2);
	assert_int_equal(told[2], 0);
	assert_int_equal(queue_of(queue[1])->error.busy, 1); /* unchanged: in real use its memory is freed by now */
	queue_of(queue[1])->error.busy = 0;
	queue_error_deliver(device, &open_still);
	assert_int_equal(told[2], 1);
}

static void *polls(void *of)
{
	assert_int_equal(tutti_queue_poll(of), 0);
	return NULL;
}

static void others_poll(struct tutti_queue *of, const struct tutti_fault *fault, void *context)
{
	pthread_t thread;

	on_fault(of, fault, context);
	pthread_create(&thread, NULL, polls, queue[2]);
	pthread_join(thread, NULL);
}

/*
 * On a deterministic card, a thread that waits or polls calls the callbacks that are due. Another thread that polls
 * meanwhile does not wait until all of them have been called, since the first thread may be waiting for it.
 */
static void nobody_waits_for_callbacks(void **state)
{
	device->deterministic = true;
	assert_int_equal(events_start(device), 0);
	queue_of(queue[0])->error.callback = others_poll;
	fault(0, 3, 3);
	fault(1, 3, 3);
	assert_int_equal(tutti_queue_poll(queue[2]), 0);
	assert_told(1, 1, 0);
}

#define Q(f) cmocka_unit_test_setup_teardown(f, open_queues, close_fake)

int main(void)
{
	static const struct CMUnitTest tests[] = {Q(first_one_counts), Q(several), Q(inactive), Q(callbacks),
						  Q(destroyed_during_its_callback), Q(made_again_in_its_callback),
						  Q(closed_by_a_callback), Q(nobody_waits_for_callbacks)};

	return cmocka_run_group_tests_name("SYS-41, SYS-56 errors of queues", tests, NULL, NULL);
}

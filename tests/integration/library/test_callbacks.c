/* SPDX-License-Identifier: MIT */
/*
 * SYS-56, SYS-58: a function of the application that the library calls destroys a queue or closes the device, while
 * another thread is in a call on it that waits for this very function to return. Neither waits for ever, and whoever
 * holds on to what has gone is told so.
 */
#include <pthread.h>

#include "rig.h"

#include "device/device.h"
#include "queue/queue.h"

#define ROUNDS 5u

/**
 * struct scene - who calls what.
 * @inside: posted by the callback, which then waits until the other thread's call is counted
 * @call: what the other thread does meanwhile, and what it may answer
 */
struct scene {
	struct tutti_device *device;
	struct tutti_queue *queue;
	tutti_signal_t signal;
	bool closes; /* the callback closes the device; otherwise it destroys the queue */
	sem_t inside, over;
	int (*call)(struct scene *scene);
	bool about_queue;
	int result, answer;
};

/* In the thread that calls handlers and error callbacks. */
static void strike(struct scene *scene)
{
	struct handle *handle = scene->about_queue ? &queue_of(scene->queue)->handle : &scene->device->handle;

	sem_post(&scene->inside);
	while (!tutti_load_acquire(&handle->calls))
		usleep(100);
	usleep(5000); /* it has begun; now it very probably waits */
	scene->result = scene->closes ? tutti_device_close(scene->device) : tutti_queue_destroy(scene->queue);
	sem_post(&scene->over);
}

static bool handler(tutti_signal_t signal, int64_t value, int error, void *context)
{
	strike(context);
	return false;
}

static void on_stop(struct tutti_queue *queue, const struct tutti_fault *fault, void *context)
{
	strike(context);
}

static void on_death(struct tutti_device *device, int error, void *context)
{
	strike(context);
}

static int polls(struct scene *scene)
{
	return tutti_queue_poll(scene->queue);
}

static int resets(struct scene *scene)
{
	return tutti_queue_reset(scene->queue);
}

static int destroys(struct scene *scene)
{
	return tutti_queue_destroy(scene->queue);
}

static int replaces(struct scene *scene)
{
	return tutti_device_error_handler(scene->device, NULL, NULL);
}

static int removes(struct scene *scene)
{
	return tutti_signal_handler_remove(scene->device, scene->signal, handler, scene);
}

static int forgets(struct scene *scene)
{
	return tutti_signal_destroy(scene->device, scene->signal);
}

static void set_up(struct scene *scene)
{
	const struct tutti_queue_options options = { .error = on_stop, .context = scene };
	const struct tutti_device_options own = { .name = rig_transport() };

	assert_int_equal(tutti_device_open(&own, &scene->device), 0);
	assert_int_equal(tutti_queue_create(scene->device, &options, &scene->queue), 0);
	assert_int_equal(tutti_signal_create(scene->device, 1, &scene->signal), 0);
	sem_init(&scene->inside, 0, 0);
	sem_init(&scene->over, 0, 0);
}

enum cause { HANDLER, STOP, DEATH };

static void play(enum cause cause, bool closes, int (*call)(struct scene *scene))
{
	const union tutti_packet bad = {
		.agent = { .header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, true, 0, 0), .type = 999 }
	};

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct scene scene = { .closes = closes, .call = call, .about_queue = call == polls || call == resets };

		set_up(&scene);
		if (cause == HANDLER) {
			assert_int_equal(tutti_signal_handler(scene.device, scene.signal, TUTTI_EQ, 0, handler, &scene), 0);
			tutti_signal_store(scene.signal, 0);
		} else if (cause == STOP) {
			assert_int_equal(tutti_queue_submit(scene.queue, &bad), 0);
		} else {
			assert_int_equal(tutti_device_error_handler(scene.device, on_death, &scene), 0);
			device_fail(scene.device, "a test");
		}
		rig_sem_wait(&scene.inside);
		scene.answer = call(&scene);
		rig_sem_wait(&scene.over);
		assert_int_equal(scene.result, 0);
		if (call == polls)
			assert_int_equal(scene.answer, -EIO);
		if (call == destroys || call == replaces || call == forgets)
			assert_int_equal(scene.answer, 0);
		if (!closes)
			assert_int_equal(tutti_device_close(scene.device), 0);
		else
			assert_int_equal(tutti_device_close(scene.device), -EINVAL);
	}
}

static void a_poll(void **state)
{
	play(HANDLER, false, polls);
	play(HANDLER, true, polls);
	play(STOP, false, polls);
	play(STOP, true, polls);
}

static void a_reset(void **state)
{
	play(HANDLER, false, resets);
	play(HANDLER, true, resets);
}

static void a_queue_is_destroyed(void **state)
{
	play(STOP, true, destroys);
}

static void an_error_handler_is_replaced(void **state)
{
	play(DEATH, true, replaces);
}

static void a_handler_is_removed(void **state)
{
	play(HANDLER, true, removes);
	play(HANDLER, true, forgets);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_poll), cmocka_unit_test(a_reset), cmocka_unit_test(a_queue_is_destroyed),
		cmocka_unit_test(an_error_handler_is_replaced), cmocka_unit_test(a_handler_is_removed)
	};

	return cmocka_run_group_tests_name("SYS-56, SYS-58 callbacks that end what others wait for", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
#include "queue/event.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "device/queue_error.h"
#include "device/wait.h"
#include "queue/handler.h"

#define NAP_NS	    100000000ull /* without handlers of signals only interrupts count */
#define DEAD_NAP_NS 20000000ull
#define PAUSE_NS    10000000

/* Whose handlers this thread is calling. */
static _Thread_local const struct events *serving;

bool events_here(const struct tutti_device *device)
{
	return serving && serving == device->events;
}

bool events_may_close(const struct tutti_device *device)
{
	return !events_here(device) || (serving->threaded && serving->calling);
}

/* True if the device has been closed meanwhile. */
static bool tell_dead(struct events *events)
{
	void (*dead)(struct tutti_device *, int, void *) = NULL;

	if (!device_dead(events->device))
		return false;
	pthread_mutex_lock(&events->lock);
	if (!events->dead_told)
		dead = events->dead;
	events->dead_told |= dead != NULL;
	events->dead_running = dead != NULL;
	pthread_mutex_unlock(&events->lock);
	if (dead)
		dead(events->device, -EIO, events->dead_context);
	if (events->closed)
		return true;
	pthread_mutex_lock(&events->lock);
	events->dead_running = false;
	pthread_cond_broadcast(&events->changed);
	pthread_mutex_unlock(&events->lock);
	return false;
}

/* Calls what is due. The device may be gone afterwards: see events->closed. */
static void serve(struct events *events)
{
	const struct events *outer = serving;
	uint64_t asked;

	pthread_mutex_lock(&events->lock);
	asked = events->asked;
	pthread_mutex_unlock(&events->lock);
	serving = events;
	__atomic_store_n(&events->calling, true, __ATOMIC_SEQ_CST); /* before an error stops to count as undelivered */
	queue_error_deliver(events->device, &events->closed);
	if (!events->closed && !tell_dead(events))
		handlers_serve(events);
	__atomic_store_n(&events->calling, false, __ATOMIC_RELEASE);
	serving = outer;
	if (events->closed)
		return;
	pthread_mutex_lock(&events->lock);
	events->answered = asked;
	pthread_cond_broadcast(&events->changed);
	pthread_mutex_unlock(&events->lock);
}

/* In the waits of a deterministic device, one thread at a time. */
static void serve_in_wait(struct tutti_device *device)
{
	struct events *events = device->events;

	if (__atomic_exchange_n(&events->busy, true, __ATOMIC_ACQUIRE))
		return;
	serve(events);
	__atomic_store_n(&events->busy, false, __ATOMIC_RELEASE);
}

struct event_wait {
	struct wait wait;
	struct events *events;
};

/* The first handler ends a wait whose naps are too long for it. */
static bool something_due(const struct wait *wait)
{
	struct events *events = ((const struct event_wait *)wait)->events;
	bool due;

	pthread_mutex_lock(&events->lock);
	due = events->stop || events->asked != events->answered || (events->handlers && wait->nap_ns) ||
	      handlers_due(events);
	pthread_mutex_unlock(&events->lock);
	return due || tutti_load_acquire(&wait->device->errors);
}

static bool stops(struct events *events)
{
	bool stop;

	pthread_mutex_lock(&events->lock);
	stop = events->stop;
	pthread_mutex_unlock(&events->lock);
	return stop;
}

/* A card that has died wakes nobody. */
static void nap(struct tutti_device *device)
{
	device->transport->sleep(device, device->transport->interrupts(device), time_ns() + DEAD_NAP_NS);
}

static void *event_loop(void *context)
{
	struct events *events = context;
	struct tutti_device *device = events->device;
	struct event_wait wait = {.wait = {.device = device, .satisfied = something_due, .passive = true},
				  .events = events};

	serving = events;
	while (!stops(events)) {
		wait.wait.deliver = handlers_any(events);
		wait.wait.nap_ns = wait.wait.deliver ? 0 : NAP_NS;
		if (wait_for(&wait.wait, wait.wait.deliver ? NAP_NS : TUTTI_WAIT_FOREVER) == -EIO)
			nap(device);
		serve(events);
		if (events->closed) {
			free(events);
			return NULL;
		}
	}
	return NULL;
}

static int start_thread(struct events *events)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&events->thread, NULL, event_loop, events);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	events->threaded = !error;
	return -error;
}

static int start(struct tutti_device *device)
{
	struct events *events = calloc(1, sizeof(*events));
	int error = 0;

	if (!events)
		return -ENOMEM;
	events->device = device;
	pthread_mutex_init(&events->lock, NULL);
	pthread_cond_init(&events->changed, NULL);
	if (!device->deterministic)
		error = start_thread(events);
	if (error) {
		free(events);
		return error;
	}
	tutti_store_release(&device->events, events);
	if (device->deterministic)
		tutti_store_release(&device->serve, serve_in_wait);
	return 0;
}

int events_start(struct tutti_device *device)
{
	int error = 0;

	if (tutti_load_acquire(&device->events))
		return 0;
	pthread_mutex_lock(&device->start_lock);
	if (!device->events)
		error = start(device);
	pthread_mutex_unlock(&device->start_lock);
	return error;
}

void events_pause(struct events *events)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PAUSE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&events->changed, &events->lock, &until);
}

int events_flush(struct tutti_device *device, const struct handle *object)
{
	struct events *events = tutti_load_acquire(&device->events);
	uint64_t asked;
	bool live = true;

	if (!events || !events->threaded || events_here(device))
		return 0;
	if (!__atomic_load_n(&device->errors, __ATOMIC_SEQ_CST) && !__atomic_load_n(&events->calling, __ATOMIC_SEQ_CST))
		return 0;
	pthread_mutex_lock(&events->lock);
	asked = ++events->asked;
	pthread_mutex_unlock(&events->lock);
	device->transport->wake(device);
	pthread_mutex_lock(&events->lock);
	while (events->answered < asked && !events->stop && (live = handle_live(object)))
		events_pause(events);
	pthread_mutex_unlock(&events->lock);
	return live ? 0 : -EIO;
}

void events_stop(struct tutti_device *device)
{
	struct events *events = device->events;

	if (!events)
		return;
	pthread_mutex_lock(&events->lock);
	events->stop = true;
	pthread_cond_broadcast(&events->changed);
	pthread_mutex_unlock(&events->lock);
	device->transport->wake(device);
	if (events->threaded && !events_here(device))
		pthread_join(events->thread, NULL);
	handlers_forget(device, NULL);
	if (events_here(device)) { /* a callback closes the device */
		pthread_detach(events->thread);
		events->closed = true;
	} else {
		pthread_cond_destroy(&events->changed);
		pthread_mutex_destroy(&events->lock);
		free(events);
	}
	device->serve = NULL;
	device->events = NULL;
}

int tutti_device_error_handler(struct tutti_device *device,
			       void (*handler)(struct tutti_device *device, int error, void *context), void *context)
{
	CALL_SCOPE(call);
	struct events *events;
	int error;

	if (!device_call(&call, device))
		return -EINVAL;
	error = events_start(device);
	if (error)
		return error;
	events = device->events;
	pthread_mutex_lock(&events->lock);
	while (events->dead_running && !events_here(device) && !tutti_load_acquire(&device->callback_closes))
		events_pause(events);
	events->dead = handler;
	events->dead_context = context;
	events->dead_told = false;
	pthread_mutex_unlock(&events->lock);
	device->transport->wake(device);
	return 0;
}

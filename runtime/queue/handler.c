// SPDX-License-Identifier: MIT
/*
 * Handlers of signals. The event thread goes over the list again and again, and calls each that is due once in a pass,
 * so that none is forgotten for others that are due all the time. The list may change during a call.
 */
#include "queue/handler.h"

#include <poll.h>
#include <stdlib.h>

#include "queue/queue.h"

static bool readable(int fd)
{
	struct pollfd ask = {.fd = fd, .events = POLLIN};

	return poll(&ask, 1, 0) > 0;
}

static bool is_due(struct tutti_device *device, struct handler *handler)
{
	bool lost = handler->fd < 0 && watch_lost_now(device, &handler->watch);
	/* Whoever gives up a signal stores its last value first, so it is looked at last. */
	bool holds = handler->fd >= 0 ? readable(handler->fd) : watch_holds(&handler->watch);

	handler->error = holds ? 0 : -EIO;
	return holds || lost || tutti_load_relaxed(&device->dead);
}

bool handlers_due(const struct events *events)
{
	for (struct handler *handler = events->handlers; handler; handler = handler->next)
		if (is_due(events->device, handler))
			return true;
	return false;
}

bool handlers_any(struct events *events)
{
	bool any;

	pthread_mutex_lock(&events->lock);
	any = events->handlers != NULL;
	pthread_mutex_unlock(&events->lock);
	return any;
}

/* While it is armed the card interrupts for each decrement, and the host wakes the event thread at each change. */
static void count(struct handler *handler, uint32_t change)
{
	if (handler->fd < 0)
		__atomic_fetch_add(&handler->watch.signal->waiters, change, __ATOMIC_SEQ_CST);
}

int handler_add(struct tutti_device *device, const struct handler *wanted)
{
	struct handler *handler;
	struct events *events;
	int error = events_start(device);

	if (error)
		return error;
	handler = malloc(sizeof(*handler));
	if (!handler)
		return -ENOMEM;
	*handler = *wanted;
	events = device->events;
	watch_begin(device, &handler->watch);
	count(handler, 1);
	pthread_mutex_lock(&events->lock);
	handler->next = events->handlers;
	events->handlers = handler;
	pthread_mutex_unlock(&events->lock);
	device->transport->wake(device);
	return 0;
}

/* The caller holds events->lock. */
static void unlink_handler(struct events *events, const struct handler *handler)
{
	struct handler **at;

	for (at = &events->handlers; *at != handler;)
		at = &(*at)->next;
	*at = handler->next;
}

static void release(struct tutti_device *device, struct handler *handler, bool dropped)
{
	watch_end(device, &handler->watch);
	if (dropped && handler->drop)
		handler->drop(handler->context);
	free(handler);
}

static bool matches(const struct handler *handler, tutti_signal_t signal, tutti_signal_fn call, const void *context)
{
	if (signal && handler->watch.signal != signal)
		return false;
	return !call || (handler->call == call && handler->context == context);
}

/* The caller holds events->lock. Removes one of them; @taken is NULL if it is being called and goes when it returns. */
static bool take_one(struct events *events, tutti_signal_t signal, tutti_signal_fn call, const void *context,
		     struct handler **taken)
{
	for (struct handler *handler = events->handlers; handler; handler = handler->next) {
		if (handler->removed || !matches(handler, signal, call, context))
			continue;
		count(handler, -1u);
		*taken = handler == events->current ? NULL : handler;
		if (*taken)
			unlink_handler(events, handler);
		else
			handler->removed = true;
		return true;
	}
	return false;
}

/* A handler that closes the device waits for this thread, so it is not waited for. */
static void wait_for_current(struct events *events, tutti_signal_t signal, tutti_signal_fn call, const void *context)
{
	pthread_mutex_lock(&events->lock);
	while (events->current && matches(events->current, signal, call, context) &&
	       !tutti_load_acquire(&events->device->callback_closes))
		events_pause(events);
	pthread_mutex_unlock(&events->lock);
}

static unsigned remove_all(struct tutti_device *device, tutti_signal_t signal, tutti_signal_fn call,
			   const void *context)
{
	struct events *events = tutti_load_acquire(&device->events);
	struct handler *taken;
	unsigned n = 0;
	bool found;

	if (!events)
		return 0;
	do {
		pthread_mutex_lock(&events->lock);
		found = take_one(events, signal, call, context, &taken);
		pthread_mutex_unlock(&events->lock);
		n += found;
		if (found && taken)
			release(device, taken, true);
	} while (found);
	if (!events_here(device))
		wait_for_current(events, signal, call, context);
	return n;
}

void handlers_forget(struct tutti_device *device, tutti_signal_t signal)
{
	remove_all(device, signal, NULL, NULL);
}

static struct handler *next_due(struct events *events)
{
	for (struct handler *handler = events->handlers; handler; handler = handler->next)
		if (handler->pass != events->pass && is_due(events->device, handler))
			return handler;
	return NULL;
}

/* The caller holds events->lock, which is released during the call. False if the device has been closed by it. */
static bool call_one(struct events *events, struct handler *handler)
{
	bool again;

	handler->pass = events->pass;
	events->current = handler;
	pthread_mutex_unlock(&events->lock);
	again = handler->call(handler->watch.signal, handler->watch.seen, handler->error, handler->context);
	again &= !handler->error;
	if (events->closed) {
		if (again && handler->drop)
			handler->drop(handler->context);
		free(handler);
		return false;
	}
	pthread_mutex_lock(&events->lock);
	events->current = NULL;
	pthread_cond_broadcast(&events->changed);
	if (again && !handler->removed)
		return true;
	if (!handler->removed)
		count(handler, -1u);
	unlink_handler(events, handler);
	pthread_mutex_unlock(&events->lock);
	release(events->device, handler, again);
	pthread_mutex_lock(&events->lock);
	return true;
}

void handlers_serve(struct events *events)
{
	struct handler *handler;

	pthread_mutex_lock(&events->lock);
	events->pass++;
	while ((handler = next_due(events)))
		if (!call_one(events, handler))
			return;
	pthread_mutex_unlock(&events->lock);
}

int tutti_signal_handler(struct tutti_device *device, tutti_signal_t signal, enum tutti_condition condition,
			 int64_t value, tutti_signal_fn handler, void *context)
{
	CALL_SCOPE(call);
	const struct handler wanted = {
	    .watch = {.signal = signal, .value = value, .condition = (uint8_t)condition},
	    .fd = NO_FILE,
	    .call = handler,
	    .context = context,
	};

	if (!device_call(&call, device) || !signal_ok(device, signal) || (unsigned)condition > TUTTI_GTE || !handler)
		return -EINVAL;
	return handler_add(device, &wanted);
}

int tutti_signal_handler_remove(struct tutti_device *device, tutti_signal_t signal, tutti_signal_fn handler,
				void *context)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device) || !signal_ok(device, signal))
		return -EINVAL;
	return remove_all(device, signal, handler, context) ? 0 : -ENOENT;
}

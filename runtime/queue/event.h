/* SPDX-License-Identifier: MIT */
/**
 * DOC: The event thread of a device, which calls handlers of signals and error callbacks (SYS-56)
 *
 * It is started when the first of them is set. A deterministic device has none: handlers are called from waits there,
 * so that the same calls give the same counters. A callback may close the device; the thread then frees what is left
 * and ends.
 */
#ifndef TUTTI_QUEUE_EVENT_H
#define TUTTI_QUEUE_EVENT_H

#include "device/device.h"

struct handler;

/**
 * struct events - what is to be called for a device, and the thread that does it.
 * @threaded: there is a thread
 * @busy: handlers are being called; of a deterministic device: by a thread that waits
 * @calling: the event thread is inside a function of the application
 * @stop: the device is being closed
 * @closed: a callback has closed the device, of which nothing is left
 * @asked, @answered: how many times all that is due had to be called, and has been
 * @handlers, @current, @pass: handlers of signals, the one that is being called, and passes over all of them
 * @dead, @dead_context, @dead_told: whom to tell that the device has died
 * @changed: signalled when a handler has returned, when @answered changes and when @stop is set
 */
struct events {
	struct tutti_device *device;
	pthread_t thread;
	bool threaded, busy, calling, stop, closed;
	pthread_mutex_t lock; /* protects the fields below, and @stop */
	pthread_cond_t changed;
	uint64_t asked, answered;
	struct handler *handlers, *current;
	uint64_t pass;
	void (*dead)(struct tutti_device *device, int error, void *context);
	void *dead_context;
	bool dead_told, dead_running;
};

/** events_start() - there is something to be called, so there has to be a thread. 0, -ENOMEM, -EAGAIN. */
int events_start(struct tutti_device *device);
/**
 * events_flush() - return when what is due now has been called, unless this thread is calling it.
 * @object: what the caller makes its call on
 *
 * Return: 0; -EIO: a callback is destroying @object, and waits for that call to end.
 */
int events_flush(struct tutti_device *device, const struct handle *object);
/** events_pause() - wait until something has changed, or for a moment. The caller holds events->lock. */
void events_pause(struct events *events);
/** events_here() - is this thread calling the handlers of the device? */
bool events_here(const struct tutti_device *device);
/** events_may_close() - may this thread close the device now? */
bool events_may_close(const struct tutti_device *device);
/** events_stop() - forget all handlers, end the thread. Nothing of the device has been torn down yet. */
void events_stop(struct tutti_device *device);

#endif

// SPDX-License-Identifier: MIT
#include "device/queue_error.h"

#include <sched.h>

/* The queue whose callback this thread is running; the callback may destroy this very queue. */
static _Thread_local struct queue_error *delivering;

/* The caller holds device->lock. */
static void not_due(struct tutti_device *device, struct queue_error *error)
{
	if (error->undelivered)
		__atomic_fetch_sub(&device->errors, 1, __ATOMIC_RELAXED);
	error->undelivered = false;
}

/* The caller holds device->lock. */
static void runs_again(struct tutti_device *device, struct queue_error *error)
{
	not_due(device, error);
	device->stopped -= error->stopped != 0;
	tutti_store_release(&error->stopped, 0);
}

void queue_error_add(struct tutti_device *device, unsigned id, struct queue_error *error)
{
	pthread_mutex_lock(&device->lock);
	device->queue_error[id] = error;
	pthread_mutex_unlock(&device->lock);
}

void queue_error_remove(struct tutti_device *device, unsigned id, struct queue_error *error)
{
	pthread_mutex_lock(&device->lock);
	device->queue_error[id] = NULL;
	runs_again(device, error);
	while (error->busy > (delivering == error) && !tutti_load_acquire(&device->callback_closes)) {
		pthread_mutex_unlock(&device->lock);
		sched_yield();
		pthread_mutex_lock(&device->lock);
	}
	pthread_mutex_unlock(&device->lock);
	if (delivering == error)
		delivering = NULL;
}

void queue_error_take(struct tutti_device *device, const struct tutti_fault *fault)
{
	struct queue_error *error;

	if (fault->queue >= TUTTI_MAX_QUEUES)
		return;
	pthread_mutex_lock(&device->lock);
	error = device->queue_error[fault->queue];
	if (error && !error->stopped) {
		error->fault = *fault;
		tutti_store_release(&error->stopped, fault->code ? fault->code : TUTTI_ERROR_PACKET);
		error->undelivered = true;
		__atomic_fetch_add(&device->errors, 1, __ATOMIC_RELAXED);
		device->stopped++;
		if (error->halt)
			error->halt(error->queue);
	}
	pthread_mutex_unlock(&device->lock);
	device->transport->wake(device); /* waits for its packets end, and its callback is due */
}

static struct queue_error *next_due(struct tutti_device *device)
{
	for (unsigned i = 0; device->errors && i < TUTTI_MAX_QUEUES; i++)
		if (device->queue_error[i] && device->queue_error[i]->undelivered)
			return device->queue_error[i];
	return NULL;
}

/* The caller holds device->lock, which is released during the callback. False if the callback has closed the device. */
static bool deliver(struct tutti_device *device, struct queue_error *error, const bool *closed)
{
	struct tutti_fault fault = error->fault;
	struct queue_error *outer = delivering;

	not_due(device, error);
	error->busy++;
	pthread_mutex_unlock(&device->lock);
	delivering = error;
	if (error->callback)
		error->callback(error->queue, &fault, error->context);
	if (!*closed) {
		pthread_mutex_lock(&device->lock);
		if (delivering == error) /* otherwise the callback has destroyed the queue */
			error->busy--;
	}
	delivering = outer;
	return !*closed;
}

void queue_error_deliver(struct tutti_device *device, const bool *closed)
{
	struct queue_error *error;

	if (!tutti_load_acquire(&device->errors))
		return;
	pthread_mutex_lock(&device->lock);
	while ((error = next_due(device)))
		if (!deliver(device, error, closed))
			return;
	pthread_mutex_unlock(&device->lock);
}

uint32_t queue_error_get(struct tutti_device *device, const struct queue_error *error,
			 struct tutti_fault *fault)
{
	uint32_t code;

	pthread_mutex_lock(&device->lock);
	code = error->stopped;
	if (code && fault)
		*fault = error->fault;
	pthread_mutex_unlock(&device->lock);
	return code;
}

void queue_error_clear(struct tutti_device *device, struct queue_error *error)
{
	pthread_mutex_lock(&device->lock);
	runs_again(device, error);
	pthread_mutex_unlock(&device->lock);
}

void queue_error_end(struct tutti_device *device, struct queue_error *error)
{
	pthread_mutex_lock(&device->lock);
	not_due(device, error);
	device->stopped += error->stopped == 0;
	/* No packet has failed, so the fault names none that can be in the ring. */
	error->fault = (struct tutti_fault){.code = TUTTI_ERROR_CANCELLED, .packet = UINT64_MAX / 2};
	tutti_store_release(&error->stopped, TUTTI_ERROR_CANCELLED);
	pthread_mutex_unlock(&device->lock);
}

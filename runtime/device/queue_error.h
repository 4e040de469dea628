/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_DEVICE_QUEUE_ERROR_H
#define TUTTI_DEVICE_QUEUE_ERROR_H

#include "device/device.h"

/**
 * struct queue_error - whether a queue has stopped, why, and whom to tell. Part of each queue.
 * @stopped: TUTTI_ERROR_*, or 0 while the queue runs. Written under device->lock, read without it
 * @fault, @undelivered: the fault record, and whether the callback still has to be called. Under device->lock
 * @busy: number of threads inside the callback. Under device->lock
 * @callback: the application's function, called once for each stop, with no lock held; may be NULL
 * @halt: called under device->lock when the queue stops: what its owner knows of the card's state is no longer
 *	true, and some waits are in vain; may be NULL
 */
struct queue_error {
	struct tutti_queue *queue;
	uint32_t stopped;
	uint32_t busy;
	bool undelivered;
	struct tutti_fault fault;
	void (*callback)(struct tutti_queue *queue, const struct tutti_fault *fault, void *context);
	void *context;
	void (*halt)(struct tutti_queue *queue);
};

/** queue_error_add() - register @error as the place where errors of queue @id are recorded. */
void queue_error_add(struct tutti_device *device, unsigned id, struct queue_error *error);
/**
 * queue_error_remove() - undo queue_error_add(); returns when no other thread is inside the callback, unless it closes the
 * device.
 */
void queue_error_remove(struct tutti_device *device, unsigned id, struct queue_error *error);
/** queue_error_take() - record that the card has reported a stopped queue. */
void queue_error_take(struct tutti_device *device, const struct tutti_fault *fault);
/**
 * queue_error_deliver() - call the callbacks of errors not delivered yet. The caller must hold no lock.
 * @closed: becomes true when a callback closes the device, of which nothing is left then
 */
void queue_error_deliver(struct tutti_device *device, const bool *closed);
/** queue_error_get() - TUTTI_ERROR_* and, if @fault is not NULL, the fault record; 0 while the queue runs. */
uint32_t queue_error_get(struct tutti_device *device, const struct queue_error *error,
			 struct tutti_fault *fault);
/** queue_error_clear() - forget the error, because the queue runs again. */
void queue_error_clear(struct tutti_device *device, struct queue_error *error);
/** queue_error_end() - the queue is stopped for good, with TUTTI_ERROR_CANCELLED; nobody is told. */
void queue_error_end(struct tutti_device *device, struct queue_error *error);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_DEVICE_QUEUE_ERROR_H
#define TUTTI_DEVICE_QUEUE_ERROR_H

#include "device/device.h"

/**
 * struct queue_error - whether a queue has stopped, why, and who is to be told. Part of each queue.
 * @stopped: TUTTI_ERROR_*, 0 = it runs. Changed under device->lock, read without
 * @fault, @undelivered: the record, and whether the callback has still to be called. device->lock
 * @busy: threads inside the callback. device->lock
 * @callback: the application's, called once for each stop, with no lock held; may be NULL
 * @forget: what the queue's owner holds of the card's state is void now; called under device->lock; may be
 * NULL
 */
struct queue_error {
	struct tutti_queue *queue;
	uint32_t stopped;
	uint32_t busy;
	bool undelivered;
	struct tutti_fault fault;
	void (*callback)(struct tutti_queue *queue, const struct tutti_fault *fault, void *context);
	void *context;
	void (*forget)(struct tutti_queue *queue);
};

/** queue_error_add() - from now on errors of queue @id belong to @error. */
void queue_error_add(struct tutti_device *device, unsigned id, struct queue_error *error);
/** queue_error_remove() - undo; returns when no other thread is inside the callback. */
void queue_error_remove(struct tutti_device *device, unsigned id, struct queue_error *error);
/** queue_error_take() - the card tells of a stopped queue. */
void queue_error_take(struct tutti_device *device, const struct tutti_fault *fault);
/** queue_error_deliver() - call the callbacks that are due. No lock may be held. */
void queue_error_deliver(struct tutti_device *device);
/** queue_error_get() - TUTTI_ERROR_* and, if @fault is not NULL, the record; 0 while the queue runs. */
uint32_t queue_error_get(struct tutti_device *device, const struct queue_error *error,
			 struct tutti_fault *fault);
/** queue_error_clear() - the queue goes on. */
void queue_error_clear(struct tutti_device *device, struct queue_error *error);

#endif

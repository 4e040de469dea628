/* SPDX-License-Identifier: MIT */
/**
 * DOC: Copies and fills that the card makes while the program goes on (spec SYS-56)
 *
 * There are two kinds. Those of a queue are packets of it: they come after its earlier packets, and when one fails the
 * queue stops. Those of the device belong to no queue and wait for nothing but the signals they are told to: each starts
 * when these have been 0, whatever becomes of the others. When one fails, its completion signal becomes
 * TUTTI_SIGNAL_CANCELLED, which is negative, and waits for the signal that are not content with this end with -EIO.
 *
 * A dependency whose value is negative below TUTTI_SIGNAL_FAILED is work that has failed. A copy of the device that
 * depends on it fails, too.
 */
#ifndef TUTTI_COPY_API_H
#define TUTTI_COPY_API_H

#include "signal_api.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_queue;

/**
 * tutti_copy() - let the card copy memory, and wait for it.
 * @queue: queue; the copy starts when all its earlier packets have finished
 * @to: any address the card can write
 * @from: any address the card can read
 * @bytes: size; the areas must not overlap
 *
 * Return: 0; -EIO: the queue has stopped (an address may be bad), or the device has died; -EBUSY: called by a handler
 * while its thread waits for room in @queue (tutti_signal_handler()).
 */
int tutti_copy(struct tutti_queue *queue, void *to, const void *from, size_t bytes);

/**
 * tutti_copy_async() - let the card copy memory, in the order of a queue.
 * @queue: queue; the copy starts when all its earlier packets have finished
 * @to: any address the card can write
 * @from: any address the card can read
 * @bytes: size; the areas must not overlap
 * @after: signals that must have been 0 before; NULL among them is fine
 * @count: how many
 * @done: decremented by 1 when the copy is complete; may be NULL
 *
 * It returns when the packets are in the ring (one, and another for each five signals), and waits while the ring is
 * full.
 *
 * Return: 0; -EINVAL: no queue, or something is no signal; -EIO: the queue has stopped or the device has died; -EBUSY: a
 * recording is being made on the queue.
 */
int tutti_copy_async(struct tutti_queue *queue, void *to, const void *from, size_t bytes, const tutti_signal_t *after,
		     size_t count, tutti_signal_t done);

/**
 * tutti_fill_async() - let the card fill memory, in the order of a queue; otherwise as tutti_copy_async().
 * @queue: queue
 * @to: start, a multiple of 4
 * @pattern: 32 bits that are repeated
 * @bytes: size, a multiple of 4; -EINVAL otherwise
 * @after: signals that must have been 0 before
 * @count: how many
 * @done: decremented by 1 when it is complete; may be NULL
 */
int tutti_fill_async(struct tutti_queue *queue, void *to, uint32_t pattern, size_t bytes, const tutti_signal_t *after,
		     size_t count, tutti_signal_t done);

/**
 * tutti_device_copy() - let the card copy memory, in no queue's order.
 * @device: device
 * @to: any address the card can write
 * @from: any address the card can read
 * @bytes: size; the areas must not overlap
 * @after: signals that must have been 0 before; NULL among them is fine
 * @count: how many
 * @done: decremented by 1 when the copy is complete, or TUTTI_SIGNAL_CANCELLED when it has failed; may be NULL
 *
 * It never waits. The signals must exist until the copy has completed.
 *
 * Return: 0; -EINVAL: no device, or something is no signal; -EIO: the device has died; -ENOMEM; -EAGAIN: no thread;
 * -ENOSPC: the card has no queue left.
 */
int tutti_device_copy(struct tutti_device *device, void *to, const void *from, size_t bytes,
		      const tutti_signal_t *after, size_t count, tutti_signal_t done);

/**
 * tutti_device_copy_times() - have copies and fills of the device write when they began and ended into their signals.
 * @device: device
 * @take: from now on or no longer
 *
 * The times are those of kernels of queues with TUTTI_QUEUE_PROFILE: start_time and end_time of struct tutti_signal.
 * Each copy with a signal becomes three packets. Return: 0, -EINVAL.
 */
int tutti_device_copy_times(struct tutti_device *device, bool take);

/** tutti_device_fill() - let the card fill memory, in no queue's order; see tutti_fill_async(), tutti_device_copy(). */
int tutti_device_fill(struct tutti_device *device, void *to, uint32_t pattern, size_t bytes,
		      const tutti_signal_t *after, size_t count, tutti_signal_t done);

#ifdef __cplusplus
}
#endif

#endif

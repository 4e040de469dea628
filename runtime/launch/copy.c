// SPDX-License-Identifier: MIT
/* Copies and fills in the order of a queue; those of no queue are in queue/copier.c. */
#include <stdlib.h>

#include "device/wait.h"
#include "queue/copier.h"
#include "queue/queue.h"

struct copy_wait {
	struct wait wait;
	struct queue *queue;
};

static void copy_sleeps(const struct wait *wait, int change)
{
	const struct queue *queue = ((const struct copy_wait *)wait)->queue;

	__atomic_fetch_add(&queue->copy_signal->waiters, (uint32_t)change, __ATOMIC_SEQ_CST);
}

static bool copied(const struct wait *wait)
{
	const struct queue *queue = ((const struct copy_wait *)wait)->queue;

	return tutti_signal_load(queue->copy_signal) <= 0 || queue_stopped(queue);
}

/*
 * The queue has stopped at a packet before the copy. After a reset the copy would still run, when nobody expects it,
 * so it is turned into a packet that does nothing. The card cannot have taken it, because a copy waits for all
 * earlier packets; and the card reads it again only after a reset, which first clears the error under the same lock.
 */
static void withdraw(struct queue *queue, uint64_t index)
{
	pthread_mutex_lock(&queue->device->lock);
	if (queue->error.stopped && queue->error.fault.packet < index)
		copier_withdraw(queue, index);
	pthread_mutex_unlock(&queue->device->lock);
}

/* The card may still decrement this signal, so the next copy gets another one. */
static int replace_signal(struct queue *queue)
{
	struct lost_signal *lost = malloc(sizeof(*lost));
	tutti_signal_t fresh;
	int error = lost ? tutti_signal_create(queue->device, 0, &fresh) : -ENOMEM;

	if (error) {
		free(lost);
		return error;
	}
	*lost = (struct lost_signal){.next = queue->lost_signals, .signal = queue->copy_signal};
	queue->lost_signals = lost;
	queue->copy_signal = fresh;
	return 0;
}

/* The caller holds copy_lock. */
static int copy(struct queue *queue, void *to, const void *from, size_t bytes)
{
	union tutti_packet packet = copier_packet(TUTTI_AGENT_COPY, to, (uintptr_t)from, bytes, queue->copy_signal);
	struct copy_wait wait = {
	    .wait = {.device = queue->device,
		     .satisfied = copied,
		     .sleeps = copy_sleeps,
		     .handle = &queue->handle},
	    .queue = queue,
	};
	uint64_t index;
	int error;

	tutti_signal_store(queue->copy_signal, 1);
	error = tutti_queue_put(&queue->public, &packet, &index);
	if (error)
		return error;
	error = wait_for(&wait.wait, TUTTI_WAIT_FOREVER);
	if (!error && tutti_signal_load(queue->copy_signal) > 0)
		error = -EIO;
	if (error) {
		withdraw(queue, index);
		queue->copy_signal_lost = true;
	}
	return error;
}

/* Copies of a queue run one at a time, because they share the queue's signal for copies. */
int tutti_copy(struct tutti_queue *public, void *to, const void *from, size_t bytes)
{
	CALL_SCOPE(call);
	struct queue *queue = queue_of(public);
	int error = 0;

	if (!queue_call(&call, public))
		return -EINVAL;
	if (!bytes)
		return 0;
	if (queue_waits_here(queue))
		return -EBUSY;
	pthread_mutex_lock(&queue->copy_lock);
	if (queue->copy_signal_lost)
		error = replace_signal(queue);
	if (!error) {
		queue->copy_signal_lost = false;
		error = copy(queue, to, from, bytes);
	}
	pthread_mutex_unlock(&queue->copy_lock);
	if (error)
		device_poll(queue->device);
	return error;
}

/* Packets that hold the queue up until the signals have been 0. */
static int put_dependencies(struct tutti_queue *public, const tutti_signal_t *after, size_t count)
{
	union tutti_packet packet;
	unsigned n = 0;
	uint64_t index;
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		if (!n)
			packet = (union tutti_packet){
			    .barrier.header = tutti_header(TUTTI_PACKET_BARRIER_AND, false, TUTTI_SCOPE_NONE, TUTTI_SCOPE_NONE)};
		if (after[i])
			packet.barrier.dependency[n++] = (uintptr_t)after[i];
		if (n == 5 || (n && i + 1 == count)) {
			error = tutti_queue_put(public, &packet, &index);
			n = 0;
		}
	}
	return error;
}

static int put(struct tutti_queue *public, unsigned type, void *to, uint64_t what, size_t bytes,
	       const tutti_signal_t *after, size_t count, tutti_signal_t done)
{
	CALL_SCOPE(call);
	struct queue *queue = queue_of(public);
	union tutti_packet packet;
	uint64_t index;
	int error;

	if (!queue_call(&call, public) || !copier_signals_ok(queue->device, after, count, done))
		return -EINVAL;
	if (queue->recording)
		return -EBUSY;
	if (queue_stopped(queue))
		return -EIO;
	packet = copier_packet(type, to, what, bytes, done);
	error = put_dependencies(public, after, count);
	return error ? error : tutti_queue_put(public, &packet, &index);
}

int tutti_copy_async(struct tutti_queue *public, void *to, const void *from, size_t bytes, const tutti_signal_t *after,
		     size_t count, tutti_signal_t done)
{
	return put(public, TUTTI_AGENT_COPY, to, (uintptr_t)from, bytes, after, count, done);
}

int tutti_fill_async(struct tutti_queue *public, void *to, uint32_t pattern, size_t bytes, const tutti_signal_t *after,
		     size_t count, tutti_signal_t done)
{
	if (((uintptr_t)to | bytes) & 3)
		return -EINVAL;
	return put(public, TUTTI_AGENT_FILL, to, pattern, bytes, after, count, done);
}

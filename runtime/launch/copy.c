// SPDX-License-Identifier: MIT
#include "device/wait.h"
#include "queue/queue.h"

struct copy_wait {
	struct wait wait;
	struct queue *queue;
};

static bool copied(const struct wait *wait)
{
	const struct queue *queue = ((const struct copy_wait *)wait)->queue;

	return tutti_signal_load(queue->copy_signal) <= 0 || queue_stopped(queue);
}

/* One copy of a queue at a time: they share the queue's own signal. */
int tutti_copy(struct tutti_queue *public, void *to, const void *from, size_t bytes)
{
	struct queue *queue = queue_of(public);
	union tutti_packet packet = {.agent = {
					 .header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, true,
								TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM),
					 .type = TUTTI_AGENT_COPY,
					 .arg = {(uintptr_t)to, (uintptr_t)from, bytes},
					 .signal = (uintptr_t)queue->copy_signal,
				     }};
	struct copy_wait wait = {
	    .wait = {.device = queue->device, .satisfied = copied, .waiters = &queue->copy_signal->waiters},
	    .queue = queue,
	};
	int error;

	if (!bytes)
		return 0;
	pthread_mutex_lock(&queue->copy_lock);
	tutti_signal_store(queue->copy_signal, 1);
	error = tutti_queue_submit(public, &packet);
	if (!error)
		error = wait_for(&wait.wait, TUTTI_WAIT_FOREVER);
	if (!error && tutti_signal_load(queue->copy_signal) > 0)
		error = -EIO;
	pthread_mutex_unlock(&queue->copy_lock);
	if (error)
		device_poll(queue->device); /* callbacks only without the lock */
	return error;
}

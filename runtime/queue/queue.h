/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_QUEUE_H
#define TUTTI_RUNTIME_QUEUE_H

#include "device/queue_error.h"
#include "queue/rsb.h"

/** struct queue_words - words shared with the card, each on a cache line of its own. */
struct queue_words {
	uint64_t write_index __attribute__((aligned(64)));
	uint64_t read_index __attribute__((aligned(64)));
};

/**
 * struct queue - a queue; what is behind its public part.
 * @recording: dispatches go there instead; changed by the thread that records
 * @recordings: finished ones of this queue. device->lock
 * @forget_recordings: set with the first recording: the queue goes away, they can only be destroyed now
 * @users: what names this queue without owning it. device->lock
 * @copy_signal, @copy_lock: of tutti_copy(), one at a time
 * @copy_signal_lost: a copy has failed, and the card may still count its signal down. copy_lock
 * @lost_signals: such signals, until the queue is destroyed. copy_lock
 */
struct queue {
	struct tutti_queue public;
	struct tutti_device *device;
	struct tutti_rsb_object *rsb;
	bool own_rsb;
	struct queue_error error;
	struct queue_words *words;
	struct tutti_recording *recording;
	struct tutti_recording *recordings;
	void (*forget_recordings)(struct queue *queue);
	struct queue_user *users;
	tutti_signal_t copy_signal;
	bool copy_signal_lost;
	struct lost_signal *lost_signals;
	pthread_mutex_t copy_lock;
};

/**
 * struct queue_user - part of something that uses a queue which may be destroyed before it.
 * @queue: NULL = none, or it has been destroyed. Changed under device->lock
 */
struct queue_user {
	struct queue *queue;
	struct queue_user *next;
};

/** struct lost_signal - a signal that must not be used again while the queue lives. */
struct lost_signal {
	struct lost_signal *next;
	tutti_signal_t signal;
};

static inline struct queue *queue_of(struct tutti_queue *queue)
{
	return (struct queue *)queue;
}

/** queue_use() - @user uses @queue from now on, and no other; NULL = none any more. */
void queue_use(struct tutti_device *device, struct queue_user *user, struct queue *queue);

/** queue_stopped() - TUTTI_ERROR_*, 0 while the queue runs. Cheap, any thread. */
static inline uint32_t queue_stopped(const struct queue *queue)
{
	return tutti_load_relaxed(&queue->error.stopped);
}

#endif

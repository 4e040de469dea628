/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_QUEUE_H
#define TUTTI_RUNTIME_QUEUE_H

#include "device/queue_error.h"
#include "memory/memory.h"
#include "queue/rsb.h"

/** struct queue_words - the words shared with the card, each in a cache line of its own. */
struct queue_words {
	uint64_t write_index __attribute__((aligned(64)));
	uint64_t read_index __attribute__((aligned(64)));
};

/**
 * struct queue - a queue: its public part, and what only the library sees.
 * @recording: if not NULL, dispatches are added to it instead of the ring; changed only by the thread that records
 * @recordings: finished recordings of this queue. Under device->lock
 * @owed, @owed_last: signals that recordings no longer know. Under device->lock
 * @each_recorded: set with the first recording; visits the signals of recordings whose packets are not all done.
 *	Called under device->lock
 * @forget_recordings: set with the first recording; called when the queue is destroyed, after which its recordings can
 *	only be destroyed
 * @users: objects that refer to this queue without owning it. Under device->lock
 * @inactive, @left: tutti_queue_inactivate() has been called; whether the card had answered, -errno if not
 * @recovers: the library lets it go on after an error, so that waits for its other packets are not in vain
 * @copy_signal, @copy_lock: used by tutti_copy(), one call at a time
 * @copy_signal_lost: a copy has failed, and the card may still decrement its signal. Under copy_lock
 * @lost_signals: signals of failed copies, kept until the queue is destroyed. Under copy_lock
 */
struct queue {
	struct tutti_queue public;
	struct handle handle;
	struct tutti_device *device;
	struct tutti_rsb_object *rsb;
	bool recovers, inactive;
	int left;
	struct queue_error error;
	struct queue_words *words;
	struct tutti_recording *recording;
	struct tutti_recording *recordings;
	struct owed *owed, *owed_last;
	void (*each_recorded)(struct queue *queue, void (*visit)(void *context, uint64_t signal), void *context);
	void (*forget_recordings)(struct queue *queue);
	struct queue_user *users;
	tutti_signal_t copy_signal;
	bool copy_signal_lost;
	struct lost_signal *lost_signals;
	pthread_mutex_t copy_lock;
};

/**
 * struct queue_user - embedded in objects that refer to a queue which may be destroyed before them.
 * @queue: NULL if there is none, or if it has been destroyed. Changed under device->lock,
 *	read without it by those who then begin a call on the queue
 * @gone: it has been destroyed
 */
struct queue_user {
	struct queue *queue;
	bool gone;
	struct queue_user *next;
};

/** struct lost_signal - a signal that must not be reused while the queue exists. */
struct lost_signal {
	struct lost_signal *next;
	tutti_signal_t signal;
};

static inline struct queue *queue_of(struct tutti_queue *queue)
{
	return (struct queue *)queue;
}

/** queue_live() - is @queue a queue? For functions that only look. */
static inline bool queue_live(struct tutti_queue *queue)
{
	return queue && handle_live(&queue_of(queue)->handle);
}

/** queue_call() - begin a call of the application on @queue; false if that is no queue. */
static inline bool queue_call(struct call *call, struct tutti_queue *queue)
{
	return call_begin(call, queue ? &queue_of(queue)->handle : NULL);
}

/** queue_waits_here() - has this thread come from a handler that it has called while it waits for room in @queue? */
bool queue_waits_here(const struct queue *queue);
/** queue_restart() - tutti_queue_reset() without delivering anything. */
int queue_restart(struct queue *queue);
/** queue_destroy() - destroy a queue whose life has ended, or one that is left when its device is closed. */
void queue_destroy(struct queue *queue);
/** signal_ok() - is it a signal, or one that the application keeps in allocated or locked memory? */
static inline bool signal_ok(struct tutti_device *device, tutti_signal_t signal)
{
	return __builtin_expect(memory_object(device, signal), 1) ||
	       (!((uintptr_t)signal & 63) && memory_holds(device, signal, sizeof(*signal)));
}

/** signal_take() - may a packet name it? One that has been destroyed would be memory that belongs to somebody else. */
static inline bool signal_take(struct tutti_device *device, tutti_signal_t signal)
{
	if (!signal)
		return true;
	if (__builtin_expect(!signal_ok(device, signal), 0))
		return false;
	if (__builtin_expect(tutti_load_relaxed(&device->abandons), 0))
		tutti_store_relaxed(&signal->event, 0);
	return true;
}

/** signal_free() - destroy a signal if it is one; false if not. */
bool signal_free(struct tutti_device *device, tutti_signal_t signal);

/** queue_use() - let @user refer to @queue instead of any earlier one; to none if @queue is NULL. */
void queue_use(struct tutti_device *device, struct queue_user *user, struct queue *queue);

/** queue_stopped() - TUTTI_ERROR_*, or 0 while the queue runs. Cheap, callable from any thread. */
static inline uint32_t queue_stopped(const struct queue *queue)
{
	return tutti_load_relaxed(&queue->error.stopped);
}

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Signals: making them, changing them, waiting for them, being called when they change
 *
 * What a signal is stands in tutti/signal.h. All operations on its value are atomic and have acquire and release order,
 * so that each of them serves as any of HSA's relaxed, acquire and release forms. They work in the same way on whole and
 * on split signals. A change by the host wakes host threads that sleep until the signal changes, at once; one that is about
 * to fall asleep at that very moment looks again within a millisecond.
 *
 * On a split signal an operation that uses the old value (all but load, store, add and subtract) and a decrement by the
 * card at the same time take effect one after the other, the operation first. (spec SYS-56)
 */
#ifndef TUTTI_SIGNAL_API_H
#define TUTTI_SIGNAL_API_H

#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>

#include "barrier.h"
#include "signal.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_device;
struct tutti_queue;

/** typedef tutti_signal_t - a signal. Its address is also its handle in packets; NULL is no signal. */
typedef struct tutti_signal *tutti_signal_t;

/** enum tutti_condition - what a wait compares the value of a signal with: ==, !=, <, >= (signed). */
enum tutti_condition { TUTTI_EQ, TUTTI_NE, TUTTI_LT, TUTTI_GTE };

#define TUTTI_WAIT_FOREVER UINT64_MAX

/**
 * tutti_signal_create() - make a signal, in host memory.
 * @device: device
 * @value: its first value. A packet that names the signal decrements it by 1 when it completes.
 * @signal: gets the signal
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int tutti_signal_create(struct tutti_device *device, int64_t value, tutti_signal_t *signal);

/**
 * tutti_signal_destroy() - destroy a signal that no packet, kernel or thread will use any more. NULL is fine.
 *
 * Handlers of it are removed, as tutti_signal_handler_remove() does.
 *
 * Return: 0; -EINVAL: it is no signal of @device.
 */
int tutti_signal_destroy(struct tutti_device *device, tutti_signal_t signal);

/* ---- waiting ---------------------------------------------------------- */

/**
 * tutti_signal_wait() - wait until the value of a signal meets a condition.
 * @device: device
 * @signal: signal
 * @condition: how to compare
 * @value: what to compare with
 * @timeout_ns: longest wait in nanoseconds from now; 0 = look once; TUTTI_WAIT_FOREVER
 * @seen: gets the value that was read last, in case of an error too; may be NULL
 *
 * While it waits, text of kernels is printed.
 *
 * A queue that stops does not change the signals of the packet that failed and of those behind it, which the card has
 * not taken. Waits for them end with -EIO, as long as the queue is stopped: tutti_queue_error() says why it is. The
 * same is true when the queue is destroyed before packets that name the signal are done, until tutti_signal_store() or
 * another launch. A condition that holds is not affected.
 *
 * Return: 0; -ETIMEDOUT: time is over; -EIO: the device has died or is being closed, or a queue that should change the
 * signal has stopped or is gone; -EINVAL: no signal of @device, or no such condition.
 */
int tutti_signal_wait(struct tutti_device *device, tutti_signal_t signal, enum tutti_condition condition,
		      int64_t value, uint64_t timeout_ns, int64_t *seen);

/**
 * struct tutti_wait - one of several signals to wait for.
 * @signal: signal
 * @condition: how to compare, enum tutti_condition
 * @value: what to compare with
 * @seen: set by the wait: the value that was read last; of a condition that has been met, the value that met it
 */
struct tutti_wait {
	tutti_signal_t signal;
	uint32_t condition;
	uint32_t pad;
	int64_t value;
	int64_t seen;
};

/**
 * tutti_signal_wait_any() - wait until one of several signals meets its condition.
 * @device: device
 * @waits: the signals and conditions; a signal may be there more than once
 * @count: how many, at least 1
 * @timeout_ns: as for tutti_signal_wait()
 * @index: gets which of them it is, the first one if there are several; may be NULL
 *
 * Return: as tutti_signal_wait(); -EIO only if none of the conditions can be met any more; -ENOMEM.
 */
int tutti_signal_wait_any(struct tutti_device *device, struct tutti_wait *waits, size_t count, uint64_t timeout_ns,
			  size_t *index);

/**
 * tutti_signal_wait_all() - wait until each of several signals has met its condition, though not at the same time.
 * @device: device
 * @waits: as for tutti_signal_wait_any()
 * @count: how many, at least 1
 * @timeout_ns: as for tutti_signal_wait(), for all of them together
 *
 * Return: as tutti_signal_wait(); -EIO as soon as one of the conditions cannot be met any more; -ENOMEM.
 */
int tutti_signal_wait_all(struct tutti_device *device, struct tutti_wait *waits, size_t count, uint64_t timeout_ns);

/* ---- handlers --------------------------------------------------------- */

/**
 * typedef tutti_signal_fn - called when a condition holds.
 * @signal: the signal
 * @value: its value when the condition held
 * @error: 0; -EIO: the condition cannot be met any more, as for tutti_signal_wait(). That is the last call
 * @context: of tutti_signal_handler()
 *
 * It may do anything, also destroy the signal, a queue or the device.
 *
 * Return: true to be called again when the condition holds, which may be at once.
 */
typedef bool (*tutti_signal_fn)(tutti_signal_t signal, int64_t value, int error, void *context);

/**
 * tutti_signal_handler() - have a function called when a signal meets a condition.
 * @device: device
 * @signal: signal
 * @condition: how to compare
 * @value: what to compare with
 * @handler: function
 * @context: given to @handler
 *
 * Handlers, error callbacks of queues and of the device are called by one thread, the device's event thread, one after
 * the other. It is started when the first of them is set. A device that was opened as deterministic has no such
 * thread: they are called from waits and from tutti_queue_poll(). A signal may have several handlers. When the device is
 * closed they are forgotten without a call.
 *
 * Handlers, and the printf() handler, may be called by a thread that waits for room in the ring of a queue. Such a handler
 * must not wait for the same queue: tutti_copy() and tutti_queue_drain() return -EBUSY. So does a function that submits
 * packets for which there can be no room before the handler returns; in a queue with several producers it returns only
 * when no other thread has reserved packets behind them.
 *
 * Return: 0; -EINVAL: no signal of @device, no such condition, no function; -ENOMEM; -EAGAIN: no thread.
 */
int tutti_signal_handler(struct tutti_device *device, tutti_signal_t signal, enum tutti_condition condition,
			 int64_t value, tutti_signal_fn handler, void *context);

/**
 * tutti_signal_handler_remove() - take back what tutti_signal_handler() has set.
 * @device: device
 * @signal: signal
 * @handler: function; NULL: all of the signal
 * @context: as it was given, if there is a @handler
 *
 * When it returns the handler is not running and will not be called, unless this is called by the handler itself.
 *
 * Return: 0; -ENOENT: there is none (any more); -EINVAL.
 */
int tutti_signal_handler_remove(struct tutti_device *device, tutti_signal_t signal, tutti_signal_fn handler,
				void *context);

/**
 * tutti_signal_to_eventfd() - add 1 to an eventfd, once, when a signal meets a condition or cannot meet it any more.
 * @device: device
 * @signal: signal
 * @condition: how to compare
 * @value: what to compare with
 * @fd: eventfd; it may be closed afterwards
 *
 * Return: as tutti_signal_handler(); -EBADF: no file; -EINVAL: not an eventfd.
 */
int tutti_signal_to_eventfd(struct tutti_device *device, tutti_signal_t signal, enum tutti_condition condition,
			    int64_t value, int fd);

/**
 * tutti_signal_from_fd() - subtract 1 from a signal, once, when a file becomes readable.
 * @device: device
 * @signal: signal
 * @fd: an eventfd, or a sync_file of any driver; it may be closed afterwards. Nothing is read from it
 *
 * The event thread looks about every millisecond.
 *
 * Return: 0; -EINVAL: no signal of @device; -EBADF: no file; -ENOMEM; -EAGAIN: no thread.
 */
int tutti_signal_from_fd(struct tutti_device *device, tutti_signal_t signal, int fd);

/**
 * tutti_signal_to_sync_file() - a sync_file, for other drivers, that is signalled when a signal has been 0.
 * @queue: queue; a packet of it waits for the signal, and with it all that come later
 * @signal: signal
 * @fd: gets the file
 *
 * The file's status is an error when the queue stops or is destroyed before, or when the driver's longest time for fences
 * is over.
 *
 * Return: 0; -ENOTSUP: the card is not behind a driver; -EINVAL: no queue, or no signal of its device; -EIO: the queue
 * has stopped; -EBUSY: a recording is being made on the queue; or what the driver says.
 */
int tutti_signal_to_sync_file(struct tutti_queue *queue, tutti_signal_t signal, int *fd);

/* ---- operations on the value ------------------------------------------ */

/** tutti_signal_wake() - wake the threads that wait for a signal; applications need not call it. */
void tutti_signal_wake(tutti_signal_t signal);

/*
 * Whether somebody sleeps is read before the value is changed: whoever sees the new value may destroy the signal, or close
 * the device, so that the signal must not be touched afterwards.
 */
static inline uint32_t tutti_signal_sleepers(const struct tutti_signal *signal)
{
	return tutti_load_relaxed(&signal->waiters);
}

/** tutti_signal_put() - write a value, and nothing else of the signal; whoever sees it may destroy the signal. */
static inline void tutti_signal_put(struct tutti_signal *signal, int64_t value)
{
	uint64_t stored = (uint64_t)value;

	if (signal->flags & TUTTI_SIGNAL_SPLIT)
		stored += (uint64_t)tutti_load_relaxed(&signal->card_done);
	tutti_store_release(&signal->value, (int64_t)stored);
}

/** tutti_signal_store_silent() - tutti_signal_store() that wakes nobody; waits notice it within a few milliseconds. */
static inline void tutti_signal_store_silent(tutti_signal_t signal, int64_t value)
{
	if (__builtin_expect(!signal, 0))
		return;
	tutti_store_relaxed(&signal->event, 0); /* packets of a queue that has gone concern the old value */
	tutti_signal_put(signal, value);
}

/**
 * tutti_signal_store() - set the value of a signal; nothing if it is NULL.
 *
 * When the card decrements a split signal at the same time, that counts against the new value.
 */
static inline void tutti_signal_store(tutti_signal_t signal, int64_t value)
{
	uint32_t sleepers;

	if (__builtin_expect(!signal, 0))
		return;
	sleepers = tutti_signal_sleepers(signal);
	tutti_signal_store_silent(signal, value);
	if (__builtin_expect(sleepers, 0))
		tutti_signal_wake(signal);
}

/** tutti_signal_add() - add @delta to the value of a signal, if not NULL. */
static inline void tutti_signal_add(tutti_signal_t signal, int64_t delta)
{
	uint32_t sleepers;

	if (__builtin_expect(!signal, 0))
		return;
	sleepers = tutti_signal_sleepers(signal);
	__atomic_fetch_add(&signal->value, delta, __ATOMIC_ACQ_REL);
	if (__builtin_expect(sleepers, 0))
		tutti_signal_wake(signal);
}

/** tutti_signal_subtract() - subtract @delta from the value of a signal, if not NULL. */
static inline void tutti_signal_subtract(tutti_signal_t signal, int64_t delta)
{
	uint32_t sleepers;

	if (__builtin_expect(!signal, 0))
		return;
	sleepers = tutti_signal_sleepers(signal);
	__atomic_fetch_sub(&signal->value, delta, __ATOMIC_ACQ_REL);
	if (__builtin_expect(sleepers, 0))
		tutti_signal_wake(signal);
}

/**
 * tutti_signal_replace() - one attempt to replace a value that has been read by another one.
 * @signal: signal, not NULL
 * @old: value that was read; gets the present one if that differs
 * @value: new value
 *
 * It is what the operations below are made of, and any other one can be.
 *
 * Return: true if the value has been replaced.
 */
static inline bool tutti_signal_replace(tutti_signal_t signal, int64_t *old, int64_t value)
{
	int64_t word, done = 0;
	bool split = signal->flags & TUTTI_SIGNAL_SPLIT;
	uint32_t sleepers = tutti_signal_sleepers(signal);

	if (split)
		done = tutti_load_acquire(&signal->card_done);
	word = tutti_load_acquire(&signal->value);
	if ((int64_t)((uint64_t)word - (uint64_t)done) != *old ||
	    (split && tutti_load_acquire(&signal->card_done) != done) ||
	    !__atomic_compare_exchange_n(&signal->value, &word, (int64_t)((uint64_t)value + (uint64_t)done), false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		*old = tutti_signal_load(signal);
		return false;
	}
	if (__builtin_expect(sleepers, 0))
		tutti_signal_wake(signal);
	return true;
}

/** tutti_signal_exchange() - set the value of a signal. Return: the old one; 0 if @signal is NULL. */
static inline int64_t tutti_signal_exchange(tutti_signal_t signal, int64_t value)
{
	int64_t old = tutti_signal_load(signal);

	if (__builtin_expect(!signal, 0))
		return 0;
	tutti_store_relaxed(&signal->event, 0);
	while (!tutti_signal_replace(signal, &old, value))
		;
	return old;
}

/** tutti_signal_cas() - set the value of a signal if it is @expected. Return: the old one; 0 if @signal is NULL. */
static inline int64_t tutti_signal_cas(tutti_signal_t signal, int64_t expected, int64_t value)
{
	int64_t old = tutti_signal_load(signal);

	if (__builtin_expect(!signal, 0))
		return 0;
	while (old == expected && !tutti_signal_replace(signal, &old, value))
		;
	return old;
}

/** tutti_signal_and() - and @mask to the value of a signal, if not NULL. */
static inline void tutti_signal_and(tutti_signal_t signal, int64_t mask)
{
	int64_t old = tutti_signal_load(signal);

	while (signal && !tutti_signal_replace(signal, &old, old & mask))
		;
}

/** tutti_signal_or() - or @mask to the value of a signal, if not NULL. */
static inline void tutti_signal_or(tutti_signal_t signal, int64_t mask)
{
	int64_t old = tutti_signal_load(signal);

	while (signal && !tutti_signal_replace(signal, &old, old | mask))
		;
}

/** tutti_signal_xor() - exclusive-or @mask to the value of a signal, if not NULL. */
static inline void tutti_signal_xor(tutti_signal_t signal, int64_t mask)
{
	int64_t old = tutti_signal_load(signal);

	while (signal && !tutti_signal_replace(signal, &old, old ^ mask))
		;
}

#ifdef __cplusplus
}
#endif

#endif

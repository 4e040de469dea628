/* SPDX-License-Identifier: MIT */
/**
 * DOC: An open card, as every unit of the library sees it
 *
 * Lock order, outermost first; a thread that holds one of these locks may take only those listed below it:
 *
 *   queue.copy_lock         serializes the tutti_copy() calls of a queue
 *   tutti_device.start_lock see there
 *   copier.lock             the queue of copies that belong to no queue of the application
 *   memory.lock             pools and locked memory; held while the transport maps and unmaps
 *   channel.lock            the kernel channel, in transports without a driver; events are handled with it held
 *   drm_card.lock           in the transport drm: backing of the pools, and how many errors of each queue are known
 *   tutti_device.lock       queues, their errors, ids
 *   tutti_rsb_object.lock   which recordings own the entries of a reference state buffer
 *
 * All other locks (print, trace, events, page tables, those of the other transports) are innermost: no other lock is taken
 * under them.
 * Only copy_lock, copier.lock and memory.lock may be held while a thread waits for the card. No lock is held during a
 * callback of the application.
 */
#ifndef TUTTI_DEVICE_H
#define TUTTI_DEVICE_H

#include <errno.h>
#include <pthread.h>

#include "base/handle.h"
#include "device/transport.h"
#include "tutti.h"
#include "tutti/contract.h"

#define ID_WORDS(n) (((n) + 63) / 64)

/**
 * struct device_time - what tutti_device_time() remembers between calls.
 * @beat_time: the card's timer at the newest heartbeat
 * @host_ns: when the host saw that heartbeat
 * @given: the newest time returned; later calls never return less
 */
struct device_time {
	uint64_t beat_time, host_ns, given;
};

/**
 * struct tutti_device - an open card.
 * @run: transport->run, cached here for the launch path
 * @bar, @control, @status: the control window, or the parts of it that the transport can show
 * @known: discovery data, read once when the card is opened
 * @boot_sequence: number of the boot of the firmware this process talks to; a different one means that the card has been
 *	booted again
 * @private: the transport's own state
 * @memory, @print, @trace: state of the units of these names; NULL while they are not in use
 * @dead: set once and never cleared; read by device_dead()
 * @errors: number of queues whose error has not been delivered yet
 * @callback_closes: a callback of the event thread is closing the device, so nobody waits for that callback any more
 * @serve: calls the handlers that are due, in waits; NULL if a thread does that, or if there are none
 * @start_lock: held while one of the following two is started
 * @events, @copier: state of the units of these names; NULL until they are used first
 * @copy_times: copies of the device write their times into their signals
 * @next: the next open device
 * @stopped: number of queues that have stopped
 * @watches: conditions of signals that somebody waits for
 * @executables: loaded code
 * @abandons: queues have been destroyed that owed something to signals. Never cleared; read without the lock
 */
struct tutti_device {
	struct handle handle;
	const struct transport *transport;
	bool (*run)(struct tutti_device *device, bool (*done)(void *), void *context);
	uint8_t *bar;
	struct tutti_control *control;
	struct tutti_status *status;
	uint32_t boot_sequence;
	bool deterministic;
	void *private;
	struct memory *memory;
	struct print *print;
	struct trace *trace;
	uint32_t trace_lost; /* status.trace_lost as last read */
	bool dead, said_dead, callback_closes;
	uint32_t errors;
	void (*serve)(struct tutti_device *device);
	pthread_mutex_t start_lock;
	struct events *events;
	struct copier *copier;
	bool copy_times;
	struct tutti_device *next;

	pthread_mutex_t lock; /* protects the fields below, except @known */
	struct queue_error *queue_error[TUTTI_MAX_QUEUES];
	uint32_t stopped;
	struct signal_watch *watches;
	struct tutti_executable *executables;
	bool abandons;
	uint64_t queue_ids[ID_WORDS(TUTTI_MAX_QUEUES)];
	uint64_t rsb_ids[ID_WORDS(TUTTI_MAX_RSBS)];
	struct device_time time;

	struct tutti_discovery known;
};

static inline struct handle *device_handle(struct tutti_device *device)
{
	return device ? &device->handle : NULL;
}

/** device_live() - is @device an open device? For functions that only look. */
static inline bool device_live(const struct tutti_device *device)
{
	return device && handle_live(&device->handle);
}

/** device_call() - begin a call of the application on @device; false if that is no open device. */
static inline bool device_call(struct call *call, struct tutti_device *device)
{
	return call_begin(call, device_handle(device));
}

/** device_dead() - is the card lost, so that it will not answer any more? Says why on stderr, once. */
bool device_dead(struct tutti_device *device);
/** device_fail() - declare the card dead. */
void device_fail(struct tutti_device *device, const char *why);
/** device_poll() - take what the card has sent, print what kernels print. 0 or -EIO. */
int device_poll(struct tutti_device *device);
/** device_list_add() - the device is open: device_wake_all() wakes its threads. device_list_remove() undoes it. */
void device_list_add(struct tutti_device *device);
void device_list_remove(struct tutti_device *device);
/** device_wake_all() - let all threads that sleep for any device look again. */
void device_wake_all(void);
/** device_state_name() - name of a value of status.state. */
const char *device_state_name(uint32_t state);
/** contract_holds() - do @who, which speaks versions @min to @max of the contract, and the library match? Says both if not. */
bool contract_holds(const char *who, uint32_t min, uint32_t max);
/** id_take() - take the lowest free id below @limit, or -ENOSPC. id_give() returns it. */
int id_take(struct tutti_device *device, uint64_t *ids, unsigned limit);
void id_give(struct tutti_device *device, uint64_t *ids, unsigned id);

/** device_pending() - has the card sent something that nobody has taken yet? */
static inline bool device_pending(const struct tutti_device *device)
{
	return device->transport->pending(device);
}

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: An open card, as every unit of the library sees it
 *
 * Locks, outermost first; whoever holds one takes only those behind it:
 *
 *   queue.copy_lock         one tutti_copy() of a queue at a time
 *   memory.lock             pools and locked memory; held while the transport maps and unmaps
 *   channel.lock            the kernel channel, in transports without a driver; events are taken with it held
 *   tutti_device.lock       queues, their errors, ids
 *   tutti_rsb_object.lock   who owns the entries of a reference state buffer
 *
 * All other locks (print, trace, page tables, the drm transport's) are taken last and alone. No lock but copy_lock
 * and memory.lock is held while somebody waits for the card. No lock is held while the application is called back,
 * with one exception: a copy that waits for room in its ring delivers errors with copy_lock held, so a callback must
 * not copy on the queue that has failed.
 */
#ifndef TUTTI_DEVICE_H
#define TUTTI_DEVICE_H

#include <errno.h>
#include <pthread.h>

#include "device/transport.h"
#include "tutti.h"
#include "tutti/contract.h"

#define ID_WORDS(n) (((n) + 63) / 64)

/** struct device_time - newest heartbeat's timer value, when the host saw it, newest answer. */
struct device_time {
	uint64_t beat_time, host_ns, given;
};

/**
 * struct tutti_device - an open card.
 * @run: transport->run, at hand for the launch path
 * @bar, @control, @status: the control window, or what the transport shows of it
 * @known: discovery data as read at open
 * @boot_sequence: of the firmware this process talks to; another one means that somebody has booted the card
 * anew
 * @private: the transport's own state
 * @memory, @print, @trace: of the units of that name; NULL while they are not in use
 * @dead: set once, never cleared; read by device_dead()
 * @errors: queues whose error is not delivered yet
 */
struct tutti_device {
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
	bool dead, said_dead;
	uint32_t errors;

	pthread_mutex_t lock; /* what follows */
	struct queue_error *queue_error[TUTTI_MAX_QUEUES];
	uint64_t queue_ids[ID_WORDS(TUTTI_MAX_QUEUES)];
	uint64_t rsb_ids[ID_WORDS(TUTTI_MAX_RSBS)];
	struct device_time time;

	struct tutti_discovery known;
};

/** device_dead() - the card will not answer any more. Says why on stderr, once. */
bool device_dead(struct tutti_device *device);
/** device_fail() - declare the card dead. */
void device_fail(struct tutti_device *device, const char *why);
/** device_poll() - take what the card has sent; errors to their callbacks; print. 0 or -EIO. */
int device_poll(struct tutti_device *device);
/** device_state_name() - of status.state. */
const char *device_state_name(uint32_t state);
/** id_take() - lowest free id below @limit, or -ENOSPC. id_give() - back again. */
int id_take(struct tutti_device *device, uint64_t *ids, unsigned limit);
void id_give(struct tutti_device *device, uint64_t *ids, unsigned id);

/** device_pending() - the card has sent something that nobody has taken. */
static inline bool device_pending(const struct tutti_device *device)
{
	return device->transport->pending(device);
}

#endif

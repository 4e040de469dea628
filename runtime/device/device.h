/* SPDX-License-Identifier: MIT */
/**
 * DOC: Inside of the library: units and who owns what
 *
 *   device.c     open, close, ids, death            transport*.c  how a card is reached
 *   boot.c       firmware image, versions           channel.c     kernel channel
 *   memory.c     pools on arena.c, locked memory    context.c     page tables of the process
 *   signal.c     signals                            wait.c        the one waiting loop
 *   queue.c      queues                             rsb.c         reference state buffers
 *   loader.c     code objects (elf_check.c checks them)   launch.c      dispatch and copy
 *   record.c     recordings (condense.c packs)      packet*.c     packet and message tables
 *   trace.c      trace ring, TUTTI_TRACE
 *
 * Locks, outermost first: recording > device->lock > memory->lock; channel->lock
 * is never held while another is taken, except device->lock by an event.
 */
#ifndef TUTTI_DEVICE_H
#define TUTTI_DEVICE_H

#include <errno.h>
#include <pthread.h>

#include "memory/arena.h"
#include "transport/bare/channel.h"
#include "transport/bare/pagetable.h"
#include "transport/transport.h"
#include "tutti.h"
#include "tutti/contract.h"

#define ID_WORDS(n) (((n) + 63) / 64)

/** struct memory - the pools (memory.c). */
struct memory {
	pthread_mutex_t lock; /* arenas and locked list */
	struct arena system, card, code;
	struct locked *locked;
};

/** struct print - kernel printf (print.c). */
struct print {
	pthread_mutex_t lock; /* one reader */
	struct tutti_print_ring *ring;
	void (*handler)(void *context, const char *text, size_t bytes);
	void *context;
	uint64_t lost;
};

/** struct device_time - newest heartbeat's timer value, when the host saw it, newest answer. */
struct device_time {
	uint64_t beat_time, host_ns, given;
};

/** struct tutti_device - an open card. */
struct tutti_device {
	const struct transport *transport;
	bool (*run)(struct tutti_device *device, bool (*done)(void *), void *context);
	uint8_t *bar;
	struct tutti_control *control;
	struct tutti_status *status;
	bool deterministic;
	bool dead;	 /* set once, never cleared; read by device_dead() */
	uint32_t errors; /* queues whose error is not delivered yet */
	struct channel channel;
	struct memory memory;
	struct print print;
	struct trace *trace;	 /* TUTTI_TRACE, else NULL */
	uint32_t trace_lost;	 /* status.trace_lost as last read */
	void *private; /* the transport's */
	uint32_t asid;
	uint32_t boot_sequence;

	pthread_mutex_t lock; /* what follows */
	struct queue *queue[TUTTI_MAX_QUEUES];
	uint64_t queue_ids[ID_WORDS(TUTTI_MAX_QUEUES)];
	uint64_t rsb_ids[ID_WORDS(TUTTI_MAX_RSBS)];
	bool said_dead;
	struct device_time time;

	struct tutti_discovery known; /* as read at open */
};

/* device.c */
/** device_dead() - the card will not answer any more. Says why on stderr, once. */
bool device_dead(struct tutti_device *device);
/** device_fail() - declare the card dead. */
void device_fail(struct tutti_device *device, const char *why);
/** device_poll() - events off the channel, errors to their callbacks, print. 0 or -EIO. */
int device_poll(struct tutti_device *device);
/** device_state_name() - of status.state. */
const char *device_state_name(uint32_t state);
/** id_take() - lowest free id below @limit, or -ENOSPC. id_give() - back again. */
int id_take(struct tutti_device *device, uint64_t *ids, unsigned limit);
void id_give(struct tutti_device *device, uint64_t *ids, unsigned id);
/** device_request() - message with up to three arguments; reply's value to @value. */
int device_request(struct tutti_device *device, unsigned type, uint64_t arg0, uint64_t arg1, uint64_t arg2,
		   uint64_t *value);

static inline void device_kick(struct tutti_device *device)
{
	device->transport->kick(device);
}

/* boot.c */
int device_boot(struct tutti_device *device, const struct tutti_device_options *options);
int device_check_discovery(struct tutti_device *device, size_t bar_bytes);

/* memory.c */
int memory_init(struct tutti_device *device);
void memory_fini(struct tutti_device *device);
/** memory_code_alloc() - pages for code, not mapped yet. */
void *memory_code_alloc(struct tutti_device *device, size_t bytes);
void memory_code_free(struct tutti_device *device, void *address);

/* print.c */
int print_init(struct tutti_device *device);
void print_fini(struct tutti_device *device);
void print_flush(struct tutti_device *device);

/* error.c */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

static inline void print_poll(struct tutti_device *device)
{
	const struct tutti_print_ring *ring = device->print.ring;

	if (ring && __builtin_expect(__atomic_load_n(&ring->ready, __ATOMIC_RELAXED) != ring->tail, 0))
		print_flush(device);
}

#endif

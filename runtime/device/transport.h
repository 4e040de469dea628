/* SPDX-License-Identifier: MIT */
/**
 * DOC: Transports: how the library reaches a card (spec SYS-42)
 *
 * Everything above this table is the same for every kind of card. The table lies below those who use it; its
 * implementations lie in transport/. Functions return 0 or -errno unless they say otherwise.
 */
#ifndef TUTTI_TRANSPORT_H
#define TUTTI_TRANSPORT_H

#include "tutti.h"
#include "tutti/message.h"
#include "tutti/profile.h"

struct tutti_device;

/* What a mapping allows */
#define MAP_READ    1u
#define MAP_WRITE   2u
#define MAP_EXECUTE 4u

/**
 * struct transport_queue - a queue as the card is told about it.
 * @id: its number on this device, which is also its doorbell's
 * @rsb: number of its reference state buffer; only with TUTTI_QUEUE_RSB in @flags
 * @timeout_ms: hang limit of its kernels; 0 = none
 */
struct transport_queue {
	unsigned id, rsb;
	uint32_t flags;
	const union tutti_packet *ring;
	const uint64_t *read_index;
	uint8_t size_log2, priority;
	uint32_t timeout_ms;
};

/** struct transport_fit - how much of a launch runs at once: answer of transport.occupancy. */
struct transport_fit {
	uint32_t cgas, ctas, sms;
};

/**
 * struct transport - one kind of card.
 * @name: as in struct tutti_device_options, before a ':'
 * @traces: the window's trace ring and its controls can be reached (tutti/trace_api.h)
 * @write_combined: the host's stores to card memory may arrive in another order than they were made
 *
 * Life, in this order:
 * @present: is there such a card? Decides the default device
 * @open: fill device->bar, ->known (discovery), ->control, ->status; boot the card
 * @start: make the address space; what was mapped before becomes visible to the card. @print_ring: of the
 *process's kernels
 * @stop: take the address space from the card; its queues are gone. NULL: @close does it
 * @close: undo @open; nothing of the device is in use any more
 *
 * Waiting:
 * @kick: the card said it sleeps and has something to do
 * @run: drive the card in the calling thread until @done, or for about a
 *	millisecond; true = nothing left to do. NULL: the card runs by itself
 * @interrupts: interrupts seen so far
 * @sleep: until another interrupt than @seen, at most until @deadline (monotonic ns)
 * @pending: the card has sent something that nobody has taken. Cheap, from any thread
 * @poll: take what the card has sent, errors of queues to queue_error_take(); true if there was something
 *
 * Memory:
 * @reserve: address range for a pool, whose parts map() backs
 * @back: let the host write to [address, + bytes) of a reserved range before it is mapped; NULL = it can
 *already
 * @map: make [address, + bytes) of a reserved range, or of host memory to be locked, visible to the card
 * @unmap: undo; when it returns the card does not touch it any more
 * @code_invalidate: new code lies at [address, + bytes): forget what was translated or cached of it
 *
 * Queues and reference state buffers, each by its number:
 * @queue_create, @queue_destroy: when destroy returns, nothing of the queue is in flight
 * @queue_reset: go on behind the packet that failed
 * @task_cancel: the task that packet @packet of the queue has made
 * @rsb_create, @rsb_destroy
 * @rsb_invalidate: forget entries, a bit mask
 * @rsb_read: copy the table to @copy, struct tutti_rsb in card memory
 *
 * Questions and settings:
 * @counters: bring the window's counters up to date
 * @sm_states: bring the window's table of SM states up to date
 * @sm_enable: let SMs [first, + count) take part or not
 * @policy_set, @policy_get: enum tutti_policy; @which tells values of one policy apart
 * @occupancy: how often does a launch with these needs fit?
 * @pci_address: as in tutti.h; NULL = on no bus
 * @profile: as tutti_profile_each(); NULL = this card's soft core does not count
 */
struct transport {
	const char *name;
	bool traces, write_combined;

	bool (*present)(void);
	int (*open)(struct tutti_device *device, const struct tutti_device_options *options);
	int (*start)(struct tutti_device *device, const struct tutti_print_ring *print_ring);
	void (*stop)(struct tutti_device *device);
	void (*close)(struct tutti_device *device);

	void (*kick)(struct tutti_device *device);
	bool (*run)(struct tutti_device *device, bool (*done)(void *), void *context);
	uint64_t (*interrupts)(struct tutti_device *device);
	void (*sleep)(struct tutti_device *device, uint64_t seen, uint64_t deadline);
	bool (*pending)(const struct tutti_device *device);
	bool (*poll)(struct tutti_device *device);

	int (*reserve)(struct tutti_device *device, enum tutti_memory pool, void **base, size_t *bytes);
	int (*back)(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool);
	int (*map)(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool,
		   unsigned access);
	int (*unmap)(struct tutti_device *device, void *address, size_t bytes);
	int (*code_invalidate)(struct tutti_device *device, const void *address, size_t bytes);

	int (*queue_create)(struct tutti_device *device, const struct transport_queue *queue);
	int (*queue_destroy)(struct tutti_device *device, unsigned queue);
	int (*queue_reset)(struct tutti_device *device, unsigned queue);
	int (*task_cancel)(struct tutti_device *device, unsigned queue, uint64_t packet);
	int (*rsb_create)(struct tutti_device *device, unsigned rsb, bool in_memory);
	int (*rsb_destroy)(struct tutti_device *device, unsigned rsb);
	int (*rsb_invalidate)(struct tutti_device *device, unsigned rsb, uint32_t entries);
	int (*rsb_read)(struct tutti_device *device, unsigned rsb, struct tutti_rsb *copy);

	int (*counters)(struct tutti_device *device);
	int (*sm_states)(struct tutti_device *device);
	int (*sm_enable)(struct tutti_device *device, unsigned first, unsigned count, bool enable);
	int (*policy_set)(struct tutti_device *device, unsigned policy, uint32_t value);
	int (*policy_get)(struct tutti_device *device, unsigned policy, uint32_t which, uint32_t *value);
	int (*occupancy)(struct tutti_device *device, const struct tutti_msg_occupancy *ask,
			 struct transport_fit *fit);
	int (*pci_address)(struct tutti_device *device, char *address, size_t bytes);
	int (*profile)(struct tutti_device *device, tutti_profile_fn each, void *context);
};

/* All there are; open/open.c says which is tried first. */
extern const struct transport transport_emulator;
extern const struct transport transport_drm;
extern const struct transport transport_xrt;

#endif

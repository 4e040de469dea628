/* SPDX-License-Identifier: MIT */
/**
 * DOC: Transports: how the library reaches a card (spec SYS-42)
 *
 * Everything above this table is the same for every kind of card. The table itself lives in device/, below the units
 * that call it; transport/ implements it. Functions return 0 or -errno unless they say otherwise.
 */
#ifndef TUTTI_TRANSPORT_H
#define TUTTI_TRANSPORT_H

#include "tutti.h"
#include "tutti/message.h"
#include "tutti/profile.h"
#include "tutti/trace.h"

struct tutti_device;

/* What the card may do with the pages of a mapping. */
#define MAP_READ    1u
#define MAP_WRITE   2u
#define MAP_EXECUTE 4u

/**
 * struct transport_queue - the properties of a queue that the card has to know.
 * @id: number of the queue on this device, and of its doorbell
 * @rsb: number of its reference state buffer; valid only with TUTTI_QUEUE_RSB in @flags
 * @timeout_ms: hang limit of its kernels in milliseconds; 0 means no limit
 */
struct transport_queue {
	unsigned id, rsb;
	uint32_t flags;
	const union tutti_packet *ring;
	const uint64_t *read_index;
	uint8_t size_log2, priority;
	uint32_t timeout_ms;
};

/** struct transport_fit - how much of a launch can run at once; the result of transport.occupancy. */
struct transport_fit {
	uint32_t cgas, ctas, sms;
};

/**
 * struct transport - one kind of card.
 * @name: what selects it in struct tutti_device_options, where ':' and a path may follow
 * @traces: the trace ring (tutti/trace_api.h) can be read, in the control window unless there is a @trace_read
 * @write_combined: the host's stores to card memory may reach it in another order than they were made in
 * @zeroed: card memory is zeroed when map() or back() backs it; else it holds anything, as after power-on
 * @discards: the pools are private memory of the process, so that madvise(MADV_DONTNEED) clears pages
 *
 * Opening and closing, called in this order:
 * @present: is there such a card? Used to choose the default device
 * @open: fill device->bar, ->known (discovery), ->control, ->status; boot the card
 * @start: create the address space; what was mapped before becomes visible to the card. Kernels of this process print
 *	to @print_ring
 * @stop: destroy the address space on the card, when its queues are gone. NULL if @close does this
 * @close: undo @open; nothing of the device is in use any more
 *
 * Waiting:
 * @kick: wake the card: it has announced that it sleeps, and now there is work for it
 * @run: drive the card in the calling thread until @done returns true, or for about a millisecond; returns true if
 *	there is nothing left to do. NULL if the card runs by itself
 * @interrupts: number of interrupts seen so far
 * @sleep: sleep until that number differs from @seen, at most until @deadline (CLOCK_MONOTONIC, nanoseconds)
 * @wake: let all threads in sleep() return, as an interrupt does. Takes innermost locks only
 * @pending: has the card sent something that nobody has taken? Cheap, callable from any thread
 * @poll: take what the card has sent and hand errors of queues to queue_error_take(); true if there was something
 *
 * Memory:
 * @reserve: reserve the address range of a pool; map() backs parts of it later
 * @back: let the host write to [address, address + bytes) of a reserved range before it is mapped; NULL if the host
 *	can do so anyway
 * @map: make [address, address + bytes) of a reserved range, or of host memory to be locked, visible to the card
 * @unmap: undo map(); when it returns, the card does not access the range any more
 * @code_invalidate: drop everything translated or cached of [address, address + bytes), which holds new code
 *
 * Queues and reference state buffers, each by its number:
 * @queue_create, @queue_destroy: when destroy returns, nothing of the queue is in flight
 * @queue_reset: continue after the packet that failed
 * @sync_file: a sync_file that is signalled when @packets packets of the queue have retired; NULL if there are none
 * @task_cancel: cancel the task that packet @packet of the queue has created
 * @rsb_create, @rsb_destroy: a reference state buffer, which lies in card memory if @in_memory
 * @rsb_invalidate: forget the entries of a bit mask
 * @rsb_read: copy the table of references to @copy, a struct tutti_rsb in card memory
 *
 * Queries and settings:
 * @counters: update the counters in the control window
 * @sm_states: update the table of SM states in the control window
 * @sm_enable: let SMs [first, first + count) take part in placement, or not
 * @policy_set, @policy_get: enum tutti_policy; @which selects among the values of one policy
 * @occupancy: how many times does a launch with these needs fit the card?
 * @trace_start: let the card write records of these kinds from now on, 0: none. NULL with @trace_read
 * @trace_read: take records out of the trace ring, and count those dropped since the last call; how many, or -errno.
 *	NULL if ring and controls are in the control window
 * @pci_address: as in tutti.h; NULL if the card is on no bus
 * @profile: as tutti_profile_each(); NULL if this card's soft core does not count instructions
 */
struct transport {
	const char *name;
	bool traces, write_combined, zeroed, discards;

	bool (*present)(void);
	int (*open)(struct tutti_device *device, const struct tutti_device_options *options);
	int (*start)(struct tutti_device *device, const struct tutti_print_ring *print_ring);
	void (*stop)(struct tutti_device *device);
	void (*close)(struct tutti_device *device);

	void (*kick)(struct tutti_device *device);
	bool (*run)(struct tutti_device *device, bool (*done)(void *), void *context);
	uint64_t (*interrupts)(struct tutti_device *device);
	void (*sleep)(struct tutti_device *device, uint64_t seen, uint64_t deadline);
	void (*wake)(struct tutti_device *device);
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
	int (*sync_file)(struct tutti_device *device, unsigned queue, uint64_t packets, int *fd);
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
	int (*trace_start)(struct tutti_device *device, uint32_t kinds);
	int (*trace_read)(struct tutti_device *device, struct tutti_trace *records, unsigned count, uint64_t *lost);
	int (*pci_address)(struct tutti_device *device, char *address, size_t bytes);
	int (*profile)(struct tutti_device *device, tutti_profile_fn each, void *context);
};

/* All transports; open/open.c decides which of them is tried first. */
extern const struct transport transport_emulator;
extern const struct transport transport_drm;
extern const struct transport transport_xrt;

#endif

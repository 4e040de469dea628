/* SPDX-License-Identifier: MIT */
/**
 * DOC: Transports: how the library reaches a card (spec SYS-42)
 *
 * Everything above this table is the same for every kind of card. The requests
 * are the kernel channel's messages: a transport inside the process hands them
 * to the firmware itself (channel.c), one over a kernel driver translates each
 * into the driver's call.
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
 * struct transport - one kind of card.
 * @name: as in struct tutti_device_options, before a ':'
 * @present: is there such a card? Decides the default device
 * @open: fill device->bar, ->known (discovery), ->control, ->status; boot
 * @close: undo @open; nothing of the device is in use any more
 * @kick: the card said it sleeps and has something to do
 * @run: drive the card in the calling thread until @done, or for about a
 *	millisecond; true = nothing left to do. NULL: the card runs by itself
 * @interrupts: interrupts seen so far
 * @sleep: until another interrupt than @seen, at most until @deadline (monotonic ns)
 * @request: send a message, wait for its reply (in place). 0 or -errno of reply or channel
 * @poll: take events off the channel; true if there were any
 * @reserve: address range of @bytes for a pool, backed on map(). 0 or -errno
 * @map: make [address, + bytes) of a reserved range (or locked memory) visible to the card
 * @pci_address: as in tutti.h; NULL = on no bus
 * @sm_states: bring the window's table of SM states up to date; NULL = the firmware does
 * @profile: as tutti_profile_each(); NULL = this card's soft core does not count
 * @unmap: undo; afterwards the card does not touch it any more
 */
struct transport {
	const char *name;
	bool (*present)(void);
	int (*open)(struct tutti_device *device, const struct tutti_device_options *options);
	void (*close)(struct tutti_device *device);
	void (*kick)(struct tutti_device *device);
	bool (*run)(struct tutti_device *device, bool (*done)(void *), void *context);
	uint64_t (*interrupts)(struct tutti_device *device);
	void (*sleep)(struct tutti_device *device, uint64_t seen, uint64_t deadline);
	int (*request)(struct tutti_device *device, struct tutti_message *message);
	bool (*poll)(struct tutti_device *device);
	int (*reserve)(struct tutti_device *device, enum tutti_memory pool, void **base, size_t *bytes);
	int (*map)(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool,
		   unsigned access);
	int (*unmap)(struct tutti_device *device, void *address, size_t bytes);
	int (*pci_address)(struct tutti_device *device, char *address, size_t bytes);
	int (*sm_states)(struct tutti_device *device);
	int (*profile)(struct tutti_device *device, tutti_profile_fn each, void *context);
};

extern const struct transport transport_emulator;
extern const struct transport transport_drm;
extern const struct transport transport_xrt;

#endif

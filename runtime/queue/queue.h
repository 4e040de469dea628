/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_QUEUE_H
#define TUTTI_RUNTIME_QUEUE_H

#include "device/device.h"

/** struct queue_words - words shared with the card, each on a cache line of its own. */
struct queue_words {
	uint64_t write_index __attribute__((aligned(64)));
	uint64_t read_index __attribute__((aligned(64)));
};

/**
 * struct queue - a queue; what is behind its public part.
 * @stopped: the card has stopped it; @fault tells why. device->lock
 * @undelivered: the callback has still to be called
 * @busy: callbacks that run now
 * @recording: dispatches go there instead; changed by the thread that records
 */
struct queue {
	struct tutti_queue public;
	struct tutti_device *device;
	struct tutti_rsb_object *rsb;
	bool own_rsb;
	uint32_t stopped;
	bool undelivered;
	uint32_t busy;
	struct tutti_fault fault;
	void (*error)(struct tutti_queue *queue, const struct tutti_fault *fault, void *context);
	void *context;
	struct queue_words *words;
	struct tutti_recording *recording;
	struct tutti_recording *recordings; /* finished ones; device->lock */
	tutti_signal_t copy_signal;	    /* of tutti_copy(), one at a time */
	pthread_mutex_t copy_lock;
};

static inline struct queue *queue_of(struct tutti_queue *queue)
{
	return (struct queue *)queue;
}

/** queue_take_error() - a QUEUE_ERROR event has come. queue_deliver_errors() - call the callbacks. */
void queue_take_error(struct tutti_device *device, const struct tutti_fault *fault);
void queue_deliver_errors(struct tutti_device *device);

/**
 * struct tutti_rsb_object - a reference state buffer and who uses its entries.
 * @epoch: changes whenever an entry changes hands
 * @owner: recording (by its number) that has stored the entry, 0 = free
 * @weight: kernels it serves; the least useful is replaced first
 */
struct tutti_rsb_object {
	struct tutti_device *device;
	pthread_mutex_t lock; /* all below */
	uint32_t id;
	uint32_t users;
	uint64_t epoch;
	uint64_t owner[TUTTI_REFERENCES];
	uint32_t weight[TUTTI_REFERENCES];
};

/** rsb_claim() - entries for @n references of recording @owner, least useful ones replaced. */
void rsb_claim(struct tutti_rsb_object *rsb, uint64_t owner, unsigned n, const uint32_t *weight,
	       uint8_t *entry);
/** rsb_holds() - @owner still has all of @entry[]; @epoch is brought up to date. */
bool rsb_holds(struct tutti_rsb_object *rsb, uint64_t owner, unsigned n, const uint8_t *entry,
	       uint64_t *epoch);
/** rsb_forget() - @owner's entries (0: everybody's in @entries) are stored no more. */
void rsb_forget(struct tutti_rsb_object *rsb, uint64_t owner, uint32_t entries);

#endif

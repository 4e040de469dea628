/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_RSB_H
#define TUTTI_RUNTIME_RSB_H

#include "device/device.h"
#include "tutti/reference.h"

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

/** rsb_claim() - entries for @n references of recording @owner, least useful ones replaced. Returns the epoch
 * of that. */
uint64_t rsb_claim(struct tutti_rsb_object *rsb, uint64_t owner, unsigned n, const uint32_t *weight,
		   uint8_t *entry);
/** rsb_holds() - @owner still has all of @entry[]; @epoch is brought up to date. */
bool rsb_holds(struct tutti_rsb_object *rsb, uint64_t owner, unsigned n, const uint8_t *entry,
	       uint64_t *epoch);
/** rsb_forget() - @owner's entries (0: everybody's in @entries) are stored no more. */
void rsb_forget(struct tutti_rsb_object *rsb, uint64_t owner, uint32_t entries);

#endif

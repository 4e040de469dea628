/* SPDX-License-Identifier: MIT */
/**
 * DOC: Cache of tensor descriptors, compiled into templates (spec TMA-18, TMA-19)
 *
 * Entries are tagged by address space and address. Acquire fences and changes of page
 * tables make all entries stale that were fetched before; a request
 * DESCRIPTOR_INVALIDATE does so with one of them. If there is a fence during the fetch, the
 * entry is good only for requests that had arrived before. An entry is not replaced while the
 * request that is being served uses it, nor before movers have taken all mover
 * descriptors that name its shape.
 */
#ifndef DESCRIPTOR_CACHE_H
#define DESCRIPTOR_CACHE_H

#include "core/counters.h"
#include "tensor/descriptor_compile.h"

#define DESCRIPTORS 8u
#define DESCRIPTOR_NONE 0xffffu /* never an address space */

struct descriptor {
	struct tensor_template t; /* during the fetch its memory receives the descriptor itself */
	uint32_t low, high;  /* its address */
	uint32_t age;        /* counters.acquires + descriptor_forgotten when it was fetched */
	uint32_t arrived;    /* tmau_arrived then */
	uint16_t asid;       /* its address space; DESCRIPTOR_NONE while the entry cannot be used */
	uint16_t wanted;     /* that of the descriptor that is being fetched; DESCRIPTOR_NONE if the data will be stale */
	bool fetching;
	bool late;           /* there was an acquire fence while it was fetched */
	uint8_t cause;       /* why the fetch failed; 0 if it did not */
	uint64_t fault;      /* the address at which it failed */
};

extern struct descriptor descriptor_entries[DESCRIPTORS];
extern uint32_t descriptor_forgotten; /* how often all of them were */

void descriptor_init(void);
/* Results of descriptor_fetch(). */
enum descriptor_state {
	DESCRIPTOR_COMES, /* an event FETCH will come, if only that of another descriptor for the same entry */
	DESCRIPTOR_BUSY,  /* the entry is in use until movers have taken the descriptors written so far */
	DESCRIPTOR_LATER, /* the command ring has no room; tmau_run() is called when it has */
};

/** descriptor_fetch() - fetch a descriptor that is not in the cache. */
enum descriptor_state descriptor_fetch(uint64_t address, unsigned asid);
/** descriptor_forget() - drop the descriptor at @address from the cache, or all of them if @address is 0. */
void descriptor_forget(uint64_t address, unsigned asid);
/** descriptor_event_fetch() - the fetch for entry @number has ended: compile the descriptor, unless it was forgotten meanwhile. */
void descriptor_event_fetch(unsigned number, const struct tutti_event *event);

/* The template of the request that is being served, which must not be replaced; NULL if there is none. */
extern struct tensor_template *descriptor_used;

static inline struct descriptor *descriptor_entry(uint32_t low)
{
	return &descriptor_entries[(low >> 7 ^ low >> 12) % DESCRIPTORS];
}

/** descriptor_is() - whether the descriptor at @address is in @d, which is descriptor_entry() of it. */
static inline bool descriptor_is(const struct descriptor *d, uint64_t address, unsigned asid)
{
	return likely(d->low == (uint32_t)address) && likely(d->high == (uint32_t)(address >> 32)) &&
	       likely(d->asid == asid) && likely(d->age == counters.acquires + descriptor_forgotten);
}

/** descriptor_find() - the entry of @address, or NULL. Its fetch may have failed, or its template have an error. */
static inline struct descriptor *descriptor_find(uint64_t address, unsigned asid)
{
	struct descriptor *d = descriptor_entry((uint32_t)address);

	return descriptor_is(d, address, asid) ? d : NULL;
}
/**
 * descriptor_late() - what descriptor_find() does not find because of an acquire fence while it was fetched, if the request that
 * is served next had arrived before that. Otherwise such requests could fetch their descriptors for ever, while kernels with
 * acquire fences start.
 */
struct descriptor *descriptor_late(uint64_t address, unsigned asid);

#endif

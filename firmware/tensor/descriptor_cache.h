/* SPDX-License-Identifier: MIT */
/**
 * DOC: Cache of tensor descriptors, as templates (spec TMA-18, TMA-19)
 *
 * Tagged by address space and address. An entry is as old as its fetch: acquire
 * fences and changed page tables make all older ones stale, a request
 * DESCRIPTOR_INVALIDATE one of them. An entry is not replaced while the request at
 * work uses it, nor while a mover has not yet taken a descriptor that names its shape.
 */
#ifndef DESCRIPTOR_CACHE_H
#define DESCRIPTOR_CACHE_H

#include "core/counters.h"
#include "tensor/descriptor_compile.h"

#define DESCRIPTORS 8u
#define DESCRIPTOR_NONE 1u /* no address: they are aligned */

struct descriptor {
	struct tensor_template t; /* while it is fetched: the tensor as it is in memory */
	uint32_t address;    /* low word; DESCRIPTOR_NONE while there is nothing to use */
	uint32_t tag;        /* high word | asid << 16 */
	uint32_t age;        /* counters.acquires + forgotten when it was fetched */
	uint32_t wanted;     /* address under way, DESCRIPTOR_NONE: what comes is stale */
	bool fetching;
	uint8_t cause;       /* the fetch failed */
	uint64_t fault;
};

struct descriptor_cache {
	struct descriptor entry[DESCRIPTORS];
	uint32_t forgotten;
};
extern struct descriptor_cache descriptor_cache;

void descriptor_init(void);
/* Results of descriptor_fetch(). */
enum descriptor_state {
	DESCRIPTOR_COMES, /* event FETCH comes, be it that of the place's last user */
	DESCRIPTOR_BUSY,  /* movers must first take what was written */
	DESCRIPTOR_LATER, /* no room for commands */
};

/** descriptor_fetch() - it is not there: bring it. */
enum descriptor_state descriptor_fetch(uint64_t address, unsigned asid);
/** descriptor_forget() - out of the cache; address 0: all. */
void descriptor_forget(uint64_t address, unsigned asid);
void descriptor_event_fetch(unsigned number, const struct tutti_event *event);

/* The request at work, which keeps its entry. */
extern struct tensor_template *descriptor_used;

static inline struct descriptor *descriptor_entry(uint32_t low)
{
	return &descriptor_cache.entry[(low >> 7 ^ low >> 12) % DESCRIPTORS];
}

/** descriptor_find() - the entry of @address, NULL: not there. Its template may have an error. */
static inline struct descriptor *descriptor_find(uint64_t address, unsigned asid)
{
	struct descriptor *d = descriptor_entry((uint32_t)address);

	if (d->address != (uint32_t)address || d->tag != ((uint32_t)(address >> 32) | asid << 16) ||
	    d->age != counters.acquires + descriptor_cache.forgotten)
		return NULL;
	return d;
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_CONTEXT_H
#define TUTTI_CONTEXT_H

#include "device/device.h"
#include "transport/bare/pagetable.h"

/**
 * struct context - an address space whose page tables this process maintains, for transports
 * without a kernel driver.
 * @lock: protects the page tables
 */
struct context {
	pthread_mutex_t lock;
	struct pagetable pagetable;
	uint32_t asid;
	bool created;
};

int context_init(struct context *context, uint32_t asid);
/** context_init_at() - the same with page tables in @bytes of zeroed memory that the card sees at bus address @bus. */
void context_init_at(struct context *context, uint32_t asid, void *memory, uint64_t bus, size_t bytes);
void context_fini(struct context *context);
/** context_create() - create the context on the card. context_destroy() needs its queues to be destroyed before. */
int context_create(struct tutti_device *device, struct context *context, const void *print_ring);
void context_destroy(struct tutti_device *device, struct context *context);
int context_map(struct context *context, const void *address, uint64_t bus, size_t bytes, unsigned access);
/** context_unmap() - unmap a range; returns when the card has dropped its translations. */
int context_unmap(struct tutti_device *device, struct context *context, const void *address, size_t bytes);
/** context_host_memory() - pointer to @bytes at host bus address @bus, or NULL if the page tables do not allow them. */
void *context_host_memory(const struct context *context, uint64_t bus, uint64_t bytes);

#endif

// SPDX-License-Identifier: MIT
#include "transport/bare/context.h"

#include "transport/bare/channel.h"

#define TABLES 16384u /* reserves 64 MiB of address space; pages are backed when they are used */

int context_init(struct context *context, uint32_t asid)
{
	*context = (struct context){.asid = asid};
	pthread_mutex_init(&context->lock, NULL);
	return pagetable_init(&context->pagetable, TABLES);
}

void context_init_at(struct context *context, uint32_t asid, void *memory, uint64_t bus, size_t bytes)
{
	*context = (struct context){.asid = asid};
	pthread_mutex_init(&context->lock, NULL);
	pagetable_init_at(&context->pagetable, memory, bus, bytes / TUTTI_PAGE_SIZE);
}

void context_fini(struct context *context)
{
	pagetable_fini(&context->pagetable);
	pthread_mutex_destroy(&context->lock);
}

int context_create(struct tutti_device *device, struct context *context, const void *print_ring)
{
	struct tutti_message message = {
	    .type = TUTTI_MSG_CONTEXT_CREATE,
	    .context =
		{
		    .asid = context->asid,
		    .root = pagetable_root(&context->pagetable),
		    .print_ring = (uintptr_t)print_ring,
		},
	};
	int error = channel_request(device, &message);

	context->created = !error;
	return error;
}

void context_destroy(struct tutti_device *device, struct context *context)
{
	if (context->created)
		channel_ask(device, TUTTI_MSG_CONTEXT_DESTROY, context->asid, 0, 0, NULL);
	context->created = false;
}

int context_map(struct context *context, const void *address, uint64_t bus, size_t bytes, unsigned access)
{
	uint64_t flags = TUTTI_PTE_R;
	int error;

	if (access & MAP_WRITE)
		flags |= TUTTI_PTE_W;
	if (access & MAP_EXECUTE)
		flags |= TUTTI_PTE_X;
	pthread_mutex_lock(&context->lock);
	error = pagetable_map(&context->pagetable, (uintptr_t)address, bus, bytes, flags);
	pthread_mutex_unlock(&context->lock);
	return error;
}

int context_unmap(struct tutti_device *device, struct context *context, const void *address, size_t bytes)
{
	int error;

	pthread_mutex_lock(&context->lock);
	error = pagetable_unmap(&context->pagetable, (uintptr_t)address, bytes);
	pthread_mutex_unlock(&context->lock);
	if (error || !context->created)
		return error;
	return channel_ask(device, TUTTI_MSG_TLB_INVALIDATE, context->asid, (uintptr_t)address, bytes, NULL);
}

void *context_host_memory(const struct context *context, uint64_t bus, uint64_t bytes)
{
	const struct pagetable *pagetable = &context->pagetable;
	uint64_t address = bus & ~TUTTI_BUS_HOST, tables = pagetable->tables * TUTTI_PAGE_SIZE;
	uint64_t at = address, end = address + bytes;

	if (end < address)
		return NULL;
	if (address - (uintptr_t)pagetable->pool < tables)
		return end - (uintptr_t)pagetable->pool <= tables ? (void *)(uintptr_t)address : NULL;
	while (at < end) {
		unsigned level;
		uint64_t pte = pagetable_walk(pagetable, at, &level);

		if (at >= TUTTI_VA_END || !pte || !(tutti_pte_bus(pte) & TUTTI_BUS_HOST))
			return NULL;
		at = (at | ((1ull << (12 + 9 * level)) - 1)) + 1;
	}
	return (void *)(uintptr_t)address;
}

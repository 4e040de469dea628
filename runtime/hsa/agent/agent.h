/* SPDX-License-Identifier: MIT */
/**
 * DOC: What exists from the start: two agents, one ISA, one wavefront, caches, and the regions of memory
 *
 * There are few of each and they never change, so a handle is the number of the thing plus a constant of its kind.
 * Handles of one kind, 0 and arbitrary numbers are no handles of another.
 */
#ifndef TUTTI_HSA_AGENT_H
#define TUTTI_HSA_AGENT_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>

#include "tutti.h"

#define HANDLE_AGENT	 0x4a00u
#define HANDLE_REGION	 0x4b00u
#define HANDLE_CACHE	 0x4c00u
#define HANDLE_ISA	 0x4d00u
#define HANDLE_WAVEFRONT 0x4e00u

/** enum agent - the host's processors, and the card. */
enum agent { AGENT_HOST, AGENT_CARD, AGENTS };

/** agent_of() - which one it is; AGENTS if none. */
enum agent agent_of(hsa_agent_t agent);
/** agent_handle() - its handle. */
hsa_agent_t agent_handle(enum agent agent);

/** agent_amd_info() - attributes of hsa_ext_amd.h. */
hsa_status_t agent_amd_info(enum agent agent, uint32_t attribute, void *value);

/** isa_handle() - the card's instruction set. */
hsa_isa_t isa_handle(void);
/** isa_valid() - is that its handle? */
bool isa_valid(hsa_isa_t isa);

/** timestamp_hz() - rate of HSA's clock, at most 400 MHz: the card's timer, divided. */
uint64_t timestamp_hz(void);
/** timestamp() - a time of the card's timer on that clock. */
uint64_t timestamp(uint64_t ticks);

/** extension_mask() - the extensions that the library has (extension/), a bit for each; @agent has them. */
void extension_mask(enum agent agent, uint8_t mask[128]);

/**
 * struct region - a kind of memory.
 * @agent: whose it is
 * @segment: HSA_REGION_SEGMENT_*
 * @flags: HSA_REGION_GLOBAL_FLAG_*
 * @memory: what an allocation becomes
 * @allocates: the host may allocate in it
 * @of_card: hsa_agent_iterate_regions() of the card visits it, since kernels use it
 * @pool: hsa_amd_agent_iterate_memory_pools() of @agent visits it
 */
struct region {
	enum agent agent;
	uint32_t segment;
	uint32_t flags;
	enum tutti_memory memory;
	bool allocates, of_card, pool;
};

#define REGION_GRANULE 4096u

/** region_of() - NULL if there is no such region. */
const struct region *region_of(uint64_t handle);
/** region_bytes() - its size. */
uint64_t region_bytes(const struct region *region);
/** region_allocation_max() - largest allocation; 0 if the host cannot allocate in it. */
uint64_t region_allocation_max(const struct region *region);
/** region_handle() - handle of the region number @i, 0 behind the last. */
uint64_t region_handle(unsigned i);
/** region_allocate() - what hsa_memory_allocate() and hsa_amd_memory_pool_allocate() do. */
hsa_status_t region_allocate(const struct region *region, size_t size, void **address);

#endif

// SPDX-License-Identifier: MIT
/*
 * Regions of memory, which hsa_ext_amd.h calls memory pools. All of it has the same address on host and card and is
 * coherent, card memory too, as far as the aperture reaches; but the specification wants card memory to be
 * coarse-grained, since atomic operations of the host do not reach it.
 */
#include <unistd.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"

#define FINE   HSA_REGION_GLOBAL_FLAG_FINE_GRAINED
#define COARSE HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED

static const struct region regions[] = {
	{AGENT_HOST, HSA_REGION_SEGMENT_GLOBAL, FINE, TUTTI_MEMORY_SYSTEM, true, true, true},
	{AGENT_HOST, HSA_REGION_SEGMENT_GLOBAL, FINE | HSA_REGION_GLOBAL_FLAG_KERNARG, TUTTI_MEMORY_SYSTEM, true, true,
	 true},
	{AGENT_HOST, HSA_REGION_SEGMENT_GLOBAL, COARSE, TUTTI_MEMORY_SYSTEM, true, false, true},
	{AGENT_CARD, HSA_REGION_SEGMENT_GLOBAL, COARSE, TUTTI_MEMORY_CARD, true, true, true},
	{AGENT_CARD, HSA_REGION_SEGMENT_READONLY, 0, TUTTI_MEMORY_CARD, true, true, false},
	{AGENT_CARD, HSA_REGION_SEGMENT_GROUP, 0, TUTTI_MEMORY_CARD, false, true, true},
	{AGENT_CARD, HSA_REGION_SEGMENT_PRIVATE, 0, TUTTI_MEMORY_CARD, false, true, false},
};
#define REGIONS (sizeof(regions) / sizeof(*regions))

const struct region *region_of(uint64_t handle)
{
	return handle - HANDLE_REGION < REGIONS ? &regions[handle - HANDLE_REGION] : NULL;
}

uint64_t region_handle(unsigned i)
{
	return i < REGIONS ? HANDLE_REGION + i : 0;
}

static uint64_t system_bytes(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What programs can have of card memory: what the host sees of it, without the part that is reserved. */
static uint64_t card_bytes(const struct tutti_discovery *card)
{
	uint64_t visible = card->aperture_bytes < card->memory_bytes ? card->aperture_bytes : card->memory_bytes;

	return (visible - card->reserved_bytes) & ~(uint64_t)(REGION_GRANULE - 1);
}

uint64_t region_bytes(const struct region *region)
{
	const struct tutti_discovery *card = runtime_card();

	if (region->segment == HSA_REGION_SEGMENT_GROUP)
		return (uint64_t)card->shared_blocks * card->shared_block_bytes;
	if (region->segment == HSA_REGION_SEGMENT_PRIVATE)
		return card->private_bytes / TUTTI_WAVE_ITEMS;
	return region->memory == TUTTI_MEMORY_CARD ? card_bytes(card) : system_bytes();
}

uint64_t region_allocation_max(const struct region *region)
{
	return region->allocates ? region_bytes(region) : 0;
}

/* The host allocates no group memory, but a launch does: the specification asks for the largest that it can have. */
static hsa_status_t allocation_max(const struct region *region, void *value)
{
	if (region->segment == HSA_REGION_SEGMENT_GROUP)
		VALUE(size_t, region_bytes(region));
	VALUE(size_t, region_allocation_max(region));
}

hsa_status_t hsa_region_get_info(hsa_region_t handle, hsa_region_info_t attribute, void *value)
{
	const struct region *region = region_of(handle.handle);

	REQUIRE_INIT();
	REQUIRE(region, INVALID_REGION);
	REQUIRE(value, INVALID_ARGUMENT);
	switch ((uint32_t)attribute) {
	case HSA_REGION_INFO_SEGMENT:
		VALUE(hsa_region_segment_t, region->segment);
	case HSA_REGION_INFO_GLOBAL_FLAGS:
		REQUIRE(region->segment == HSA_REGION_SEGMENT_GLOBAL, INVALID_ARGUMENT);
		VALUE(uint32_t, region->flags);
	case HSA_REGION_INFO_SIZE:
		VALUE(size_t, region_bytes(region));
	case HSA_REGION_INFO_ALLOC_MAX_SIZE:
		return allocation_max(region, value);
	case HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE:
		REQUIRE(region->segment == HSA_REGION_SEGMENT_PRIVATE, INVALID_ARGUMENT);
		VALUE(uint32_t, region_bytes(region) * runtime_card()->workgroup_items);
	case HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED:
		VALUE(bool, region->allocates);
	case HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE:
	case HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT:
		VALUE(size_t, region->allocates ? REGION_GRANULE : 0);
	case HSA_AMD_REGION_INFO_HOST_ACCESSIBLE:
		VALUE(bool, region->allocates);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

hsa_status_t hsa_agent_iterate_regions(hsa_agent_t handle, hsa_status_t (*callback)(hsa_region_t region, void *data),
				       void *data)
{
	enum agent agent = agent_of(handle);
	hsa_status_t status = HSA_STATUS_SUCCESS;

	REQUIRE_INIT();
	REQUIRE(agent != AGENTS, INVALID_AGENT);
	REQUIRE(callback, INVALID_ARGUMENT);
	for (unsigned i = 0; i < REGIONS && status == HSA_STATUS_SUCCESS; i++)
		if (agent == AGENT_CARD ? regions[i].of_card : regions[i].agent == AGENT_HOST)
			status = callback((hsa_region_t){region_handle(i)}, data);
	return status;
}

hsa_status_t region_allocate(const struct region *region, size_t size, void **address)
{
	REQUIRE(address && size, INVALID_ARGUMENT);
	REQUIRE(size <= region_allocation_max(region), INVALID_ALLOCATION);
	size = (size + REGION_GRANULE - 1) & ~(size_t)(REGION_GRANULE - 1);
	return status_of(tutti_memory_alloc(runtime_device(), region->memory, size, address));
}

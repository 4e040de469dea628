// SPDX-License-Identifier: MIT
/* What hsa_ext_amd.h asks about memory that is there: who may use it, whose it is, and locking it. */
#include <errno.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"
#include "hsa/memory/note.h"

static bool agents_ok(unsigned count, const hsa_agent_t *agents)
{
	for (unsigned i = 0; i < count; i++)
		if (agent_of(agents[i]) == AGENTS)
			return false;
	return true;
}

/* Host and card use all memory from the start. */
hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t *agents, const uint32_t *flags,
					 const void *address)
{
	REQUIRE_INIT();
	REQUIRE(count && agents && !flags && address, INVALID_ARGUMENT);
	REQUIRE(agents_ok(count, agents), INVALID_AGENT);
	REQUIRE(!tutti_memory_info(runtime_device(), address, NULL, NULL, NULL), INVALID_ARGUMENT);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_lock(void *address, size_t size, hsa_agent_t *agents, int count, void **card_address)
{
	int error;

	REQUIRE_INIT();
	REQUIRE(address && size && card_address && count >= 0 && !agents == !count, INVALID_ARGUMENT);
	REQUIRE(agents_ok((unsigned)count, agents), INVALID_AGENT);
	error = tutti_memory_lock(runtime_device(), address, size);
	if (!error || error == -EEXIST)
		*card_address = address;
	return error == -EEXIST ? HSA_STATUS_SUCCESS : error == -EFAULT ? HSA_STATUS_ERROR_INVALID_ARGUMENT : status_of(error);
}

hsa_status_t hsa_amd_memory_lock_to_pool(void *address, size_t size, hsa_agent_t *agents, int count,
					 hsa_amd_memory_pool_t pool, uint32_t flags, void **card_address)
{
	const struct region *region = region_of(pool.handle);

	REQUIRE_INIT();
	if (!region || !region->pool || region->agent != AGENT_HOST)
		return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
	REQUIRE(!flags, INVALID_ARGUMENT);
	return hsa_amd_memory_lock(address, size, agents, count, card_address);
}

hsa_status_t hsa_amd_memory_unlock(void *address)
{
	REQUIRE_INIT();
	if (tutti_memory_unlock(runtime_device(), address))
		REQUIRE(!tutti_memory_info(runtime_device(), address, NULL, NULL, NULL), INVALID_ARGUMENT);
	return HSA_STATUS_SUCCESS;
}

/* Asked to lock an empty range, libtutti names its own memory as the reason before it says that the range is empty. */
static bool is_allocation(const void *address)
{
	return tutti_memory_lock(runtime_device(), (void *)(uintptr_t)address, 0) == -EEXIST;
}

static void describe(const void *address, hsa_amd_pointer_info_t *info)
{
	enum tutti_memory memory;
	void *start;
	size_t bytes;

	info->type = HSA_EXT_POINTER_TYPE_UNKNOWN;
	if (tutti_memory_info(runtime_device(), address, &start, &bytes, &memory))
		return;
	info->type = is_allocation(address) ? HSA_EXT_POINTER_TYPE_HSA : HSA_EXT_POINTER_TYPE_LOCKED;
	info->userData = note_userdata(start);
	info->agentBaseAddress = info->hostBaseAddress = start;
	info->sizeInBytes = bytes;
	info->agentOwner = agent_handle(memory == TUTTI_MEMORY_CARD ? AGENT_CARD : AGENT_HOST);
	info->global_flags = memory == TUTTI_MEMORY_CARD ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED
							 : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
}

hsa_status_t hsa_amd_pointer_info(const void *address, hsa_amd_pointer_info_t *info, void *(*allocate)(size_t),
				  uint32_t *count, hsa_agent_t **accessible)
{
	hsa_amd_pointer_info_t all = {.size = sizeof(all)};

	REQUIRE_INIT();
	REQUIRE(address && info && info->size >= sizeof(all) && !allocate == !(count && accessible), INVALID_ARGUMENT);
	describe(address, &all);
	if (allocate && all.type == HSA_EXT_POINTER_TYPE_UNKNOWN) {
		*count = 0;
		*accessible = NULL;
	} else if (allocate) {
		*accessible = allocate(AGENTS * sizeof(**accessible));
		REQUIRE(*accessible, OUT_OF_RESOURCES);
		for (*count = 0; *count < AGENTS; ++*count)
			(*accessible)[*count] = agent_handle(*count);
	}
	*info = all;
	return HSA_STATUS_SUCCESS;
}

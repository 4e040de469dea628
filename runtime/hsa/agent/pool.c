// SPDX-License-Identifier: MIT
/* Memory pools of hsa_ext_amd.h: the same regions under another name. */
#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"

#define INVALID_POOL ((hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL)

static const struct region *pool_of(hsa_amd_memory_pool_t pool)
{
	const struct region *region = region_of(pool.handle);

	return region && region->pool ? region : NULL;
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t handle,
						hsa_status_t (*callback)(hsa_amd_memory_pool_t pool, void *data),
						void *data)
{
	enum agent agent = agent_of(handle);
	hsa_status_t status = HSA_STATUS_SUCCESS;

	REQUIRE_INIT();
	REQUIRE(agent != AGENTS, INVALID_AGENT);
	REQUIRE(callback, INVALID_ARGUMENT);
	for (unsigned i = 0; region_handle(i) && status == HSA_STATUS_SUCCESS; i++) {
		const struct region *pool = pool_of((hsa_amd_memory_pool_t){region_handle(i)});

		if (pool && pool->agent == agent)
			status = callback((hsa_amd_memory_pool_t){region_handle(i)}, data);
	}
	return status;
}

/* The enumerations of both names have the same numbers where they mean the same. */
hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t handle, hsa_amd_memory_pool_info_t attribute,
					  void *value)
{
	const struct region *pool = pool_of(handle);

	REQUIRE_INIT();
	if (!pool)
		return INVALID_POOL;
	REQUIRE(value, INVALID_ARGUMENT);
	switch (attribute) {
	case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
		VALUE(bool, pool->allocates);
	case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
		VALUE(size_t, region_allocation_max(pool));
	case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
		VALUE(uint32_t, pool->flags);
	case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
	case HSA_AMD_MEMORY_POOL_INFO_SIZE:
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
		return hsa_region_get_info((hsa_region_t){handle.handle}, (hsa_region_info_t)attribute, value);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t handle, size_t size, uint32_t flags, void **address)
{
	const struct region *pool = pool_of(handle);

	REQUIRE_INIT();
	if (!pool)
		return INVALID_POOL;
	REQUIRE(!flags, INVALID_ARGUMENT);
	return region_allocate(pool, size, address);
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t handle, hsa_amd_memory_pool_t pool_handle,
						hsa_amd_agent_memory_pool_info_t attribute, void *value)
{
	const struct region *pool = pool_of(pool_handle);
	enum agent agent = agent_of(handle);
	bool far;

	REQUIRE_INIT();
	REQUIRE(agent != AGENTS, INVALID_AGENT);
	if (!pool)
		return INVALID_POOL;
	REQUIRE(value, INVALID_ARGUMENT);
	far = pool->agent != agent;
	switch (attribute) {
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
		VALUE(hsa_amd_memory_pool_access_t, pool->allocates || !far
							    ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
							    : HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
		VALUE(uint32_t, far);
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO:
		if (far)
			*(hsa_amd_memory_pool_link_info_t *)value = (hsa_amd_memory_pool_link_info_t){
				.atomic_support_64bit = runtime_card()->features & TUTTI_FEATURE_PCIE_ATOMICS,
				.coherent_support = true,
				.link_type = HSA_AMD_LINK_INFO_TYPE_PCIE,
			};
		return HSA_STATUS_SUCCESS;
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

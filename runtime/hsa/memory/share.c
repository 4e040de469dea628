// SPDX-License-Identifier: MIT
/*
 * Memory of other processes, of other drivers, and memory that moves. No transport can share or import memory yet, so
 * no handle is valid, and nothing can be given away: that resources for it are missing is what the headers have a status
 * for. Memory stays in the pool that it comes from.
 */
#include <hsa/hsa_ext_amd.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"

#define INVALID_POOL ((hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL)

hsa_status_t hsa_amd_ipc_memory_create(void *address, size_t bytes, hsa_amd_ipc_memory_t *handle)
{
	void *start;
	size_t there;

	REQUIRE_INIT();
	REQUIRE(address && handle, INVALID_ARGUMENT);
	REQUIRE(!tutti_memory_info(runtime_device(), address, &start, &there, NULL), INVALID_ARGUMENT);
	REQUIRE(start == address && bytes && bytes <= there, INVALID_ARGUMENT);
	return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t *handle, size_t bytes, uint32_t count,
				       const hsa_agent_t *agents, void **address)
{
	(void)handle, (void)bytes, (void)count, (void)agents, (void)address;
	REQUIRE_INIT();
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_ipc_memory_detach(void *address)
{
	(void)address;
	REQUIRE_INIT();
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* hsa_amd_signal_create() makes none that could be shared. */
hsa_status_t hsa_amd_ipc_signal_create(hsa_signal_t signal, hsa_amd_ipc_signal_t *handle)
{
	(void)signal, (void)handle;
	REQUIRE_INIT();
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_ipc_signal_attach(const hsa_amd_ipc_signal_t *handle, hsa_signal_t *signal)
{
	(void)handle, (void)signal;
	REQUIRE_INIT();
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_interop_map_buffer(uint32_t count, hsa_agent_t *agents, int file, uint32_t flags, size_t *bytes,
					void **address, size_t *metadata_bytes, const void **metadata)
{
	(void)count, (void)agents, (void)file, (void)flags, (void)bytes, (void)address, (void)metadata_bytes;
	(void)metadata;
	REQUIRE_INIT();
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_interop_unmap_buffer(void *address)
{
	(void)address;
	REQUIRE_INIT();
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static const struct region *pool_of(hsa_amd_memory_pool_t pool)
{
	const struct region *region = region_of(pool.handle);

	return region && region->pool ? region : NULL;
}

hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t from, hsa_amd_memory_pool_t to, bool *result)
{
	REQUIRE_INIT();
	REQUIRE_STATUS(pool_of(from) && pool_of(to), INVALID_POOL);
	REQUIRE(result, INVALID_ARGUMENT);
	*result = false;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_migrate(const void *address, hsa_amd_memory_pool_t to, uint32_t flags)
{
	const struct region *pool = pool_of(to);
	enum tutti_memory memory;

	REQUIRE_INIT();
	REQUIRE_STATUS(pool, INVALID_POOL);
	REQUIRE(!flags && !tutti_memory_info(runtime_device(), address, NULL, NULL, &memory), INVALID_ARGUMENT);
	return pool->allocates && pool->memory == memory ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* The attribute SVM_SUPPORTED says no: the card uses the program's own memory when it is locked. */
hsa_status_t hsa_amd_svm_attributes_set(void *address, size_t bytes, hsa_amd_svm_attribute_pair_t *list, size_t count)
{
	(void)address, (void)bytes, (void)list, (void)count;
	REQUIRE_INIT();
	return HSA_STATUS_ERROR;
}

hsa_status_t hsa_amd_svm_attributes_get(void *address, size_t bytes, hsa_amd_svm_attribute_pair_t *list, size_t count)
{
	return hsa_amd_svm_attributes_set(address, bytes, list, count);
}

hsa_status_t hsa_amd_svm_prefetch_async(void *address, size_t bytes, hsa_agent_t agent, uint32_t count,
					const hsa_signal_t *after, hsa_signal_t done)
{
	(void)agent, (void)after, (void)done;
	return hsa_amd_svm_attributes_set(address, bytes, NULL, count);
}

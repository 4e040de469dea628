// SPDX-License-Identifier: MIT
/* The card tells nothing about caches, so no handle is one. */
#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t agent, hsa_status_t (*callback)(hsa_cache_t cache, void *data),
				      void *data)
{
	(void)data;
	REQUIRE_INIT();
	REQUIRE(agent_of(agent) != AGENTS, INVALID_AGENT);
	REQUIRE(callback, INVALID_ARGUMENT);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_cache_get_info(hsa_cache_t cache, hsa_cache_info_t attribute, void *value)
{
	(void)cache;
	(void)attribute;
	(void)value;
	REQUIRE_INIT();
	return HSA_STATUS_ERROR_INVALID_CACHE;
}

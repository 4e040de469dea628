// SPDX-License-Identifier: MIT
/* All memory that host and card share is coherent. */
#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"

hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t *type)
{
	REQUIRE_INIT();
	REQUIRE(agent_of(agent) == AGENT_CARD, INVALID_AGENT);
	REQUIRE(type, INVALID_ARGUMENT);
	*type = HSA_AMD_COHERENCY_TYPE_COHERENT;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type)
{
	REQUIRE_INIT();
	REQUIRE(agent_of(agent) == AGENT_CARD, INVALID_AGENT);
	REQUIRE(type == HSA_AMD_COHERENCY_TYPE_COHERENT, INVALID_ARGUMENT);
	return HSA_STATUS_SUCCESS;
}

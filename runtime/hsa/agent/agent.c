// SPDX-License-Identifier: MIT
#include "hsa/agent/agent.h"

#include <string.h>
#include <unistd.h>

#include "hsa/base/runtime.h"

/* Numbers that HSA asks for and the card does not have. */
#define FBARRIERS 32u /* the least that the specification allows; there are barriers for all that fit an SM */

enum agent agent_of(hsa_agent_t agent)
{
	return agent.handle - HANDLE_AGENT < AGENTS ? (enum agent)(agent.handle - HANDLE_AGENT) : AGENTS;
}

hsa_agent_t agent_handle(enum agent agent)
{
	return (hsa_agent_t){HANDLE_AGENT + agent};
}

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data), void *data)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	REQUIRE_INIT();
	REQUIRE(callback, INVALID_ARGUMENT);
	for (unsigned i = 0; i < AGENTS && status == HSA_STATUS_SUCCESS; i++)
		status = callback(agent_handle(i), data);
	return status;
}

/* What has the same answer for both. */
static hsa_status_t common_info(enum agent agent, hsa_agent_info_t attribute, void *value)
{
	switch (attribute) {
	case HSA_AGENT_INFO_VENDOR_NAME:
		return value_text(value, 64, agent == AGENT_CARD ? "Tutti" : "CPU");
	case HSA_AGENT_INFO_MACHINE_MODEL:
		VALUE(hsa_machine_model_t, HSA_MACHINE_MODEL_LARGE);
	case HSA_AGENT_INFO_PROFILE:
		VALUE(hsa_profile_t, HSA_PROFILE_FULL);
	case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
		VALUE(hsa_default_float_rounding_mode_t, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
	case HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
		VALUE(uint32_t, 0); /* others than the default one, of which there are none */
	case HSA_AGENT_INFO_FAST_F16_OPERATION:
		VALUE(bool, false);
	case HSA_AGENT_INFO_NODE:
		VALUE(uint32_t, agent);
	case HSA_AGENT_INFO_DEVICE:
		VALUE(hsa_device_type_t, agent == AGENT_CARD ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU);
	case HSA_AGENT_INFO_CACHE_SIZE:
		memset(value, 0, 4 * sizeof(uint32_t));
		return HSA_STATUS_SUCCESS;
	case HSA_AGENT_INFO_EXTENSIONS:
		extension_mask(agent, value);
		return HSA_STATUS_SUCCESS;
	case HSA_AGENT_INFO_VERSION_MAJOR:
		VALUE(uint16_t, 1);
	case HSA_AGENT_INFO_VERSION_MINOR:
		VALUE(uint16_t, 1);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

static hsa_status_t card_info(hsa_agent_info_t attribute, void *value)
{
	const struct tutti_discovery *card = runtime_card();
	const hsa_dim3_t grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
	uint16_t *workgroup = value;

	switch (attribute) {
	case HSA_AGENT_INFO_NAME:
		return value_text(value, 64, "tutti-sm1");
	case HSA_AGENT_INFO_FEATURE:
		VALUE(hsa_agent_feature_t,
		      (unsigned)HSA_AGENT_FEATURE_KERNEL_DISPATCH | (unsigned)HSA_AGENT_FEATURE_AGENT_DISPATCH);
	case HSA_AGENT_INFO_WAVEFRONT_SIZE:
		VALUE(uint32_t, TUTTI_WAVE_ITEMS);
	case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
		workgroup[0] = workgroup[1] = workgroup[2] = (uint16_t)card->workgroup_items;
		return HSA_STATUS_SUCCESS;
	case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
		VALUE(uint32_t, card->workgroup_items);
	case HSA_AGENT_INFO_GRID_MAX_DIM:
		*(hsa_dim3_t *)value = grid;
		return HSA_STATUS_SUCCESS;
	case HSA_AGENT_INFO_GRID_MAX_SIZE:
		VALUE(uint32_t, UINT32_MAX);
	case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
		VALUE(uint32_t, FBARRIERS);
	case HSA_AGENT_INFO_QUEUES_MAX:
		VALUE(uint32_t, card->max_queues);
	case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
		VALUE(uint32_t, card->ring_packets_min);
	case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
		VALUE(uint32_t, card->ring_packets_max);
	case HSA_AGENT_INFO_QUEUE_TYPE:
		VALUE(hsa_queue_type32_t, HSA_QUEUE_TYPE_MULTI);
	case HSA_AGENT_INFO_ISA:
		*(hsa_isa_t *)value = isa_handle();
		return HSA_STATUS_SUCCESS;
	default:
		return common_info(AGENT_CARD, attribute, value);
	}
}

/* The host's processors launch nothing and have no queues. */
static hsa_status_t host_info(hsa_agent_info_t attribute, void *value)
{
	switch (attribute) {
	case HSA_AGENT_INFO_NAME:
		return value_text(value, 64, "host");
	case HSA_AGENT_INFO_FEATURE:
		VALUE(uint32_t, 0);
	case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
		memset(value, 0, 3 * sizeof(uint16_t));
		return HSA_STATUS_SUCCESS;
	case HSA_AGENT_INFO_GRID_MAX_DIM:
		memset(value, 0, sizeof(hsa_dim3_t));
		return HSA_STATUS_SUCCESS;
	case HSA_AGENT_INFO_WAVEFRONT_SIZE:
	case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
	case HSA_AGENT_INFO_GRID_MAX_SIZE:
	case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
	case HSA_AGENT_INFO_QUEUES_MAX:
	case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
	case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
	case HSA_AGENT_INFO_QUEUE_TYPE:
		VALUE(uint32_t, 0);
	case HSA_AGENT_INFO_ISA:
		*(hsa_isa_t *)value = (hsa_isa_t){0};
		return HSA_STATUS_SUCCESS;
	default:
		return common_info(AGENT_HOST, attribute, value);
	}
}

hsa_status_t hsa_agent_get_info(hsa_agent_t handle, hsa_agent_info_t attribute, void *value)
{
	enum agent agent = agent_of(handle);

	REQUIRE_INIT();
	REQUIRE(agent != AGENTS, INVALID_AGENT);
	REQUIRE(value, INVALID_ARGUMENT);
	if ((uint32_t)attribute >= HSA_AMD_AGENT_INFO_CHIP_ID)
		return agent_amd_info(agent, attribute, value);
	return agent == AGENT_CARD ? card_info(attribute, value) : host_info(attribute, value);
}

hsa_status_t hsa_agent_get_exception_policies(hsa_agent_t agent, hsa_profile_t profile, uint16_t *mask)
{
	REQUIRE_INIT();
	REQUIRE(agent_of(agent) != AGENTS, INVALID_AGENT);
	REQUIRE(mask && (profile == HSA_PROFILE_BASE || profile == HSA_PROFILE_FULL), INVALID_ARGUMENT);
	*mask = 0; /* floating-point exceptions neither stop a kernel nor are they recorded */
	return HSA_STATUS_SUCCESS;
}

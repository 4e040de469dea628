// SPDX-License-Identifier: MIT
#include <string.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"

hsa_isa_t isa_handle(void)
{
	return (hsa_isa_t){HANDLE_ISA};
}

bool isa_valid(hsa_isa_t isa)
{
	return isa.handle == HANDLE_ISA;
}

static bool wavefront_valid(hsa_wavefront_t wavefront)
{
	return wavefront.handle == HANDLE_WAVEFRONT;
}

hsa_status_t hsa_isa_from_name(const char *name, hsa_isa_t *isa)
{
	REQUIRE_INIT();
	REQUIRE(name && isa, INVALID_ARGUMENT);
	REQUIRE(!strcmp(name, TUTTI_CODE_ISA), INVALID_ISA_NAME);
	*isa = isa_handle();
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*callback)(hsa_isa_t isa, void *data), void *data)
{
	REQUIRE_INIT();
	REQUIRE(agent_of(agent) != AGENTS, INVALID_AGENT);
	REQUIRE(callback, INVALID_ARGUMENT);
	return agent_of(agent) == AGENT_CARD ? callback(isa_handle(), data) : HSA_STATUS_SUCCESS;
}

static hsa_status_t bools(void *value, unsigned count, unsigned mask)
{
	for (unsigned i = 0; i < count; i++)
		((bool *)value)[i] = mask >> i & 1;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t limit_info(hsa_isa_info_t attribute, void *value)
{
	const struct tutti_discovery *card = runtime_card();
	const hsa_dim3_t grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

	switch (attribute) {
	case HSA_ISA_INFO_CALL_CONVENTION_COUNT:
		VALUE(uint32_t, 1);
	case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE:
		VALUE(uint32_t, TUTTI_WAVE_ITEMS);
	case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT:
		VALUE(uint32_t, card->peus * card->peu_waves);
	case HSA_ISA_INFO_WORKGROUP_MAX_DIM:
		for (unsigned d = 0; d < 3; d++)
			((uint16_t *)value)[d] = (uint16_t)card->workgroup_items;
		return HSA_STATUS_SUCCESS;
	case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
		VALUE(uint32_t, card->workgroup_items);
	case HSA_ISA_INFO_GRID_MAX_DIM:
		*(hsa_dim3_t *)value = grid;
		return HSA_STATUS_SUCCESS;
	case HSA_ISA_INFO_GRID_MAX_SIZE:
		VALUE(uint64_t, UINT32_MAX);
	case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
		VALUE(uint32_t, 32);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value)
{
	REQUIRE_INIT();
	REQUIRE(isa_valid(isa), INVALID_ISA);
	REQUIRE(value, INVALID_ARGUMENT);
	switch (attribute) {
	case HSA_ISA_INFO_NAME_LENGTH:
		VALUE(uint32_t, sizeof(TUTTI_CODE_ISA));
	case HSA_ISA_INFO_NAME:
		memcpy(value, TUTTI_CODE_ISA, sizeof(TUTTI_CODE_ISA));
		return HSA_STATUS_SUCCESS;
	case HSA_ISA_INFO_MACHINE_MODELS:
		return bools(value, 2, 1u << HSA_MACHINE_MODEL_LARGE);
	case HSA_ISA_INFO_PROFILES:
		return bools(value, 2, 1u << HSA_PROFILE_BASE | 1u << HSA_PROFILE_FULL);
	case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
	case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
		return bools(value, 3, 1u << HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
	case HSA_ISA_INFO_FAST_F16_OPERATION:
		VALUE(bool, false);
	default:
		return limit_info(attribute, value);
	}
}

hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index, void *value)
{
	REQUIRE_INIT();
	REQUIRE(isa_valid(isa), INVALID_ISA);
	REQUIRE(value, INVALID_ARGUMENT);
	/* The index names a call convention, of which there is one. */
	if (attribute == HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE ||
	    attribute == HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT)
		REQUIRE(!index, INVALID_INDEX);
	return hsa_isa_get_info_alt(isa, attribute, value);
}

hsa_status_t hsa_isa_get_exception_policies(hsa_isa_t isa, hsa_profile_t profile, uint16_t *mask)
{
	REQUIRE_INIT();
	REQUIRE(isa_valid(isa), INVALID_ISA);
	REQUIRE(mask && (profile == HSA_PROFILE_BASE || profile == HSA_PROFILE_FULL), INVALID_ARGUMENT);
	*mask = 0;
	return HSA_STATUS_SUCCESS;
}

/* RISC-V's multiply-add rounds once; subnormal numbers are never flushed to zero. */
hsa_status_t hsa_isa_get_round_method(hsa_isa_t isa, hsa_fp_type_t type, hsa_flush_mode_t flush,
				      hsa_round_method_t *method)
{
	REQUIRE_INIT();
	REQUIRE(isa_valid(isa), INVALID_ISA);
	REQUIRE(method && (flush == HSA_FLUSH_MODE_FTZ || flush == HSA_FLUSH_MODE_NON_FTZ), INVALID_ARGUMENT);
	REQUIRE(type == HSA_FP_TYPE_16 || type == HSA_FP_TYPE_32 || type == HSA_FP_TYPE_64, INVALID_ARGUMENT);
	*method = HSA_ROUND_METHOD_SINGLE;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t isa,
					hsa_status_t (*callback)(hsa_wavefront_t wavefront, void *data), void *data)
{
	REQUIRE_INIT();
	REQUIRE(isa_valid(isa), INVALID_ISA);
	REQUIRE(callback, INVALID_ARGUMENT);
	return callback((hsa_wavefront_t){HANDLE_WAVEFRONT}, data);
}

hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute, void *value)
{
	REQUIRE_INIT();
	REQUIRE(wavefront_valid(wavefront), INVALID_WAVEFRONT);
	REQUIRE(value && attribute == HSA_WAVEFRONT_INFO_SIZE, INVALID_ARGUMENT);
	VALUE(uint32_t, TUTTI_WAVE_ITEMS);
}

hsa_status_t hsa_isa_compatible(hsa_isa_t code, hsa_isa_t agent, bool *result)
{
	REQUIRE_INIT();
	REQUIRE(isa_valid(code) && isa_valid(agent), INVALID_ISA);
	REQUIRE(result, INVALID_ARGUMENT);
	*result = true;
	return HSA_STATUS_SUCCESS;
}

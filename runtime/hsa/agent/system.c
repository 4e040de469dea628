// SPDX-License-Identifier: MIT
#include <string.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/include/hsa/hsa_ven_tutti.h"

#define TIMESTAMP_HZ_MAX 400000000u /* the specification's limit */

static uint64_t timestamp_divisor(void)
{
	uint64_t hz = runtime_card()->timer_hz, divisor = 1;

	while (divisor < hz && (hz / divisor > TIMESTAMP_HZ_MAX || hz % divisor))
		divisor++;
	return divisor;
}

uint64_t timestamp_hz(void)
{
	return runtime_card()->timer_hz / timestamp_divisor();
}

uint64_t timestamp(uint64_t ticks)
{
	return ticks / timestamp_divisor();
}

void extension_mask(enum agent agent, uint8_t mask[128])
{
	static const uint16_t offered[] = {HSA_EXTENSION_FINALIZER, HSA_EXTENSION_TUTTI};

	memset(mask, 0, 128);
	for (size_t i = 0; agent == AGENT_CARD && i < sizeof(offered) / sizeof(*offered); i++)
		mask[offered[i] / 8] |= 1u << offered[i] % 8;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value)
{
	REQUIRE_INIT();
	REQUIRE(value, INVALID_ARGUMENT);
	switch (attribute) {
	case HSA_SYSTEM_INFO_VERSION_MAJOR:
		VALUE(uint16_t, 1);
	case HSA_SYSTEM_INFO_VERSION_MINOR:
		VALUE(uint16_t, 1);
	case HSA_SYSTEM_INFO_TIMESTAMP:
		VALUE(uint64_t, timestamp(tutti_device_time(runtime_device())));
	case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
		VALUE(uint64_t, timestamp_hz());
	case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
		VALUE(uint64_t, UINT64_MAX);
	case HSA_SYSTEM_INFO_ENDIANNESS:
		VALUE(hsa_endianness_t, HSA_ENDIANNESS_LITTLE);
	case HSA_SYSTEM_INFO_MACHINE_MODEL:
		VALUE(hsa_machine_model_t, HSA_MACHINE_MODEL_LARGE);
	case HSA_SYSTEM_INFO_EXTENSIONS:
		extension_mask(AGENT_CARD, value);
		return HSA_STATUS_SUCCESS;
	case HSA_AMD_SYSTEM_INFO_BUILD_VERSION:
		VALUE(const char *, "tutti");
	case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED:
	case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
		VALUE(bool, false);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

// SPDX-License-Identifier: MIT
/*
 * Extensions of the HSA runtime. hsa_ext_amd.h is none in the sense of these functions: its functions are exported.
 * None of the others is offered yet.
 */
#include <string.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"

static const struct {
	uint16_t extension;
	const char *name;
} names[] = {
	{HSA_EXTENSION_FINALIZER, "HSA_EXTENSION_FINALIZER"},
	{HSA_EXTENSION_IMAGES, "HSA_EXTENSION_IMAGES"},
	{HSA_EXTENSION_PERFORMANCE_COUNTERS, "HSA_EXTENSION_PERFORMANCE_COUNTERS"},
	{HSA_EXTENSION_PROFILING_EVENTS, "HSA_EXTENSION_PROFILING_EVENTS"},
	{HSA_EXTENSION_AMD_PROFILER, "HSA_EXTENSION_AMD_PROFILER"},
	{HSA_EXTENSION_AMD_LOADER, "HSA_EXTENSION_AMD_LOADER"},
	{HSA_EXTENSION_AMD_AQLPROFILE, "HSA_EXTENSION_AMD_AQLPROFILE"},
};

static const char *name_of(uint16_t extension)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].extension == extension)
			return names[i].name;
	return NULL;
}

void extension_mask(uint8_t mask[128])
{
	memset(mask, 0, 128);
}

hsa_status_t hsa_extension_get_name(uint16_t extension, const char **name)
{
	REQUIRE_INIT();
	REQUIRE(name && name_of(extension), INVALID_ARGUMENT);
	*name = name_of(extension);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor, bool *result)
{
	(void)major;
	(void)minor;
	REQUIRE_INIT();
	REQUIRE(result && name_of(extension), INVALID_ARGUMENT);
	*result = false;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major, uint16_t *minor, bool *result)
{
	REQUIRE_INIT();
	REQUIRE(minor, INVALID_ARGUMENT);
	return hsa_system_extension_supported(extension, major, 0, result);
}

hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major, uint16_t minor,
					   bool *result)
{
	REQUIRE_INIT();
	REQUIRE(agent_of(agent) != AGENTS, INVALID_AGENT);
	return hsa_system_extension_supported(extension, major, minor, result);
}

hsa_status_t hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major,
						 uint16_t *minor, bool *result)
{
	REQUIRE_INIT();
	REQUIRE(agent_of(agent) != AGENTS, INVALID_AGENT);
	return hsa_system_major_extension_supported(extension, major, minor, result);
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t bytes, void *table)
{
	(void)major;
	(void)bytes;
	REQUIRE_INIT();
	REQUIRE(table && name_of(extension), INVALID_ARGUMENT);
	return HSA_STATUS_ERROR; /* the extension has a name, but is not offered */
}

hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor, void *table)
{
	(void)minor;
	return hsa_system_get_major_extension_table(extension, major, 0, table);
}

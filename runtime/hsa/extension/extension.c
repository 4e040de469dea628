// SPDX-License-Identifier: MIT
/*
 * Extensions of the HSA runtime that have a table of functions. hsa_ext_amd.h is none of them: its functions are
 * exported.
 */
#include <hsa/hsa_ext_finalize.h>
#include <string.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/extension/tutti.h"

static const hsa_ext_finalizer_1_00_pfn_t finalizer = {
	.hsa_ext_program_create = hsa_ext_program_create,
	.hsa_ext_program_destroy = hsa_ext_program_destroy,
	.hsa_ext_program_add_module = hsa_ext_program_add_module,
	.hsa_ext_program_iterate_modules = hsa_ext_program_iterate_modules,
	.hsa_ext_program_get_info = hsa_ext_program_get_info,
	.hsa_ext_program_finalize = hsa_ext_program_finalize,
};

static const hsa_ven_tutti_1_00_pfn_t tutti = {
	.hsa_ven_tutti_queue_create = extended_queue_create,
	.hsa_ven_tutti_record_begin = record_begin,
	.hsa_ven_tutti_record_dispatch = record_dispatch,
	.hsa_ven_tutti_record_end = record_end,
	.hsa_ven_tutti_recording_destroy = recording_destroy,
	.hsa_ven_tutti_recording_packets = recording_packets,
	.hsa_ven_tutti_recording_set_kernarg = recording_set_kernarg,
	.hsa_ven_tutti_recording_set_grid = recording_set_grid,
	.hsa_ven_tutti_recording_set_signal = recording_set_signal,
	.hsa_ven_tutti_replay = recording_replay,
	.hsa_ven_tutti_task_create = task_create,
	.hsa_ven_tutti_task_destroy = task_destroy,
	.hsa_ven_tutti_task_address = task_address,
	.hsa_ven_tutti_task_counters = task_counters,
	.hsa_ven_tutti_tensor_tiled = tensor_tiled,
	.hsa_ven_tutti_tensor_im2col = tensor_im2col,
};

/**
 * struct extension - one that has a number.
 * @table: its functions, version 1.0; NULL if the library does not have it
 * @bytes: size of the table
 */
struct extension {
	uint16_t number;
	const char *name;
	const void *table;
	size_t bytes;
};

static const struct extension extensions[] = {
	{HSA_EXTENSION_FINALIZER, "HSA_EXTENSION_FINALIZER", &finalizer, sizeof(finalizer)},
	{HSA_EXTENSION_TUTTI, "HSA_EXTENSION_TUTTI", &tutti, sizeof(tutti)},
	{HSA_EXTENSION_IMAGES, "HSA_EXTENSION_IMAGES", NULL, 0},
	{HSA_EXTENSION_PERFORMANCE_COUNTERS, "HSA_EXTENSION_PERFORMANCE_COUNTERS", NULL, 0},
	{HSA_EXTENSION_PROFILING_EVENTS, "HSA_EXTENSION_PROFILING_EVENTS", NULL, 0},
	{HSA_EXTENSION_AMD_PROFILER, "HSA_EXTENSION_AMD_PROFILER", NULL, 0},
	{HSA_EXTENSION_AMD_LOADER, "HSA_EXTENSION_AMD_LOADER", NULL, 0},
	{HSA_EXTENSION_AMD_AQLPROFILE, "HSA_EXTENSION_AMD_AQLPROFILE", NULL, 0},
};

static const struct extension *find(uint16_t number)
{
	for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++)
		if (extensions[i].number == number)
			return &extensions[i];
	return NULL;
}

hsa_status_t hsa_extension_get_name(uint16_t number, const char **name)
{
	const struct extension *extension = find(number);

	REQUIRE_INIT();
	REQUIRE(name && extension, INVALID_ARGUMENT);
	*name = extension->name;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_extension_supported(uint16_t number, uint16_t major, uint16_t minor, bool *result)
{
	const struct extension *extension = find(number);

	REQUIRE_INIT();
	REQUIRE(result && extension, INVALID_ARGUMENT);
	*result = extension->table && major == 1 && minor == 0;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_major_extension_supported(uint16_t number, uint16_t major, uint16_t *minor, bool *result)
{
	hsa_status_t status;

	REQUIRE_INIT();
	REQUIRE(minor, INVALID_ARGUMENT);
	status = hsa_system_extension_supported(number, major, 0, result);
	if (status == HSA_STATUS_SUCCESS && *result)
		*minor = 0;
	return status;
}

/* They are the card's: the host's agent launches nothing. */
hsa_status_t hsa_agent_extension_supported(uint16_t number, hsa_agent_t agent, uint16_t major, uint16_t minor,
					   bool *result)
{
	hsa_status_t status;

	REQUIRE_INIT();
	REQUIRE(agent_of(agent) != AGENTS, INVALID_AGENT);
	status = hsa_system_extension_supported(number, major, minor, result);
	if (status == HSA_STATUS_SUCCESS)
		*result &= agent_of(agent) == AGENT_CARD;
	return status;
}

hsa_status_t hsa_agent_major_extension_supported(uint16_t number, hsa_agent_t agent, uint16_t major, uint16_t *minor,
						 bool *result)
{
	hsa_status_t status;

	REQUIRE_INIT();
	REQUIRE(agent_of(agent) != AGENTS, INVALID_AGENT);
	status = hsa_system_major_extension_supported(number, major, minor, result);
	if (status == HSA_STATUS_SUCCESS)
		*result &= agent_of(agent) == AGENT_CARD;
	return status;
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t number, uint16_t major, size_t bytes, void *table)
{
	const struct extension *extension = find(number);

	REQUIRE_INIT();
	REQUIRE(table && extension, INVALID_ARGUMENT);
	if (!extension->table || major != 1)
		return HSA_STATUS_ERROR; /* it has a name, but is not offered, or not in this version */
	memcpy(table, extension->table, bytes < extension->bytes ? bytes : extension->bytes);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_extension_table(uint16_t number, uint16_t major, uint16_t minor, void *table)
{
	REQUIRE_INIT();
	REQUIRE(table && find(number), INVALID_ARGUMENT);
	return minor ? HSA_STATUS_ERROR : hsa_system_get_major_extension_table(number, major, SIZE_MAX, table);
}

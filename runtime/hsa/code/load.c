// SPDX-License-Identifier: MIT
/* Loading code objects into executables, from readers and, as HSA 1.0 did, from code objects. */
#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/code/code.h"

/* What both forms ask of the executable. */
static hsa_status_t may_load(hsa_executable_t handle)
{
	hsa_executable_state_t state;
	hsa_status_t status = hsa_executable_get_info(handle, HSA_EXECUTABLE_INFO_STATE, &state);

	if (status == HSA_STATUS_SUCCESS && state == HSA_EXECUTABLE_STATE_FROZEN)
		return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	return status;
}

/* Both forms for an agent: the code is in a reader or in a code object. */
static hsa_status_t load_for(hsa_executable_t executable, hsa_agent_t agent, enum object_kind kind, uint64_t handle)
{
	hsa_status_t status = may_load(executable);
	const struct code *code;

	if (status != HSA_STATUS_SUCCESS)
		return status;
	REQUIRE(agent_of(agent) != AGENTS, INVALID_AGENT);
	code = object_find(kind, handle);
	if (!code)
		return kind == OBJECT_READER ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER
					     : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	REQUIRE(agent_of(agent) == AGENT_CARD, INCOMPATIBLE_ARGUMENTS); /* the host executes none of our code */
	return executable_load(executable.handle, code->bytes, code->size);
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
						   hsa_code_object_reader_t reader, const char *options,
						   hsa_loaded_code_object_t *loaded)
{
	hsa_status_t status = load_for(executable, agent, OBJECT_READER, reader.handle);

	(void)options;
	if (status == HSA_STATUS_SUCCESS && loaded)
		loaded->handle = reader.handle; /* of use to no function yet */
	return status;
}

/* A program code object holds variables for all agents and no kernel. tuttic makes none. */
hsa_status_t hsa_executable_load_program_code_object(hsa_executable_t executable, hsa_code_object_reader_t reader,
						     const char *options, hsa_loaded_code_object_t *loaded)
{
	hsa_status_t status = may_load(executable);

	(void)options;
	(void)loaded;
	if (status != HSA_STATUS_SUCCESS)
		return status;
	REQUIRE(object_find(OBJECT_READER, reader.handle), INVALID_CODE_OBJECT_READER);
	return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
}

hsa_status_t hsa_executable_load_code_object(hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_t code,
					     const char *options)
{
	(void)options;
	return load_for(executable, agent, OBJECT_CODE_OBJECT, code.handle);
}

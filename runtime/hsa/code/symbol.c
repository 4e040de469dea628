// SPDX-License-Identifier: MIT
#include <string.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/code/code.h"

/* A kernarg segment is a multiple of this. */
#define KERNARG_GRANULE 16u
#define ALIGNMENT_MAX	4096u

static hsa_status_t kernel_info(const struct symbol *symbol, uint32_t attribute, void *value)
{
	const struct tutti_kernel *kernel = &symbol->kernel;

	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
		VALUE(uint64_t, kernel->object);
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
		VALUE(uint32_t, (kernel->kernarg_bytes + KERNARG_GRANULE - 1) & ~(KERNARG_GRANULE - 1));
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
		VALUE(uint32_t, kernel->kernarg_align);
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
		VALUE(uint32_t, kernel->group_bytes);
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
		VALUE(uint32_t, kernel->private_bytes);
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
		VALUE(bool, false);
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
		VALUE(uint32_t, 0);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

/* The source's alignment is not kept; the address shows one that is as good. */
static uint32_t alignment(uint64_t address)
{
	return address & (ALIGNMENT_MAX - 1) ? 1u << __builtin_ctzll(address) : ALIGNMENT_MAX;
}

static hsa_status_t variable_info(const struct symbol *symbol, uint32_t attribute, void *value)
{
	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
		VALUE(uint64_t, symbol->address);
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
		VALUE(hsa_variable_allocation_t,
		      symbol->program ? HSA_VARIABLE_ALLOCATION_PROGRAM : HSA_VARIABLE_ALLOCATION_AGENT);
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
		VALUE(hsa_variable_segment_t, symbol->segment);
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
		VALUE(uint32_t, alignment(symbol->address));
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
		VALUE(uint32_t, symbol->bytes);
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
		VALUE(bool, !symbol->writable);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

hsa_status_t symbol_info(const struct symbol *symbol, uint32_t attribute, void *value)
{
	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
		VALUE(hsa_symbol_kind_t,
		      symbol->kind == TUTTI_SYMBOL_KERNEL ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE);
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
		VALUE(uint32_t, strlen(symbol->name));
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
		memcpy(value, symbol->name, strlen(symbol->name)); /* without a NUL */
		return HSA_STATUS_SUCCESS;
	case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
		VALUE(uint32_t, 0);
	case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
		return HSA_STATUS_SUCCESS;
	case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
		*(hsa_agent_t *)value = symbol->program ? (hsa_agent_t){0} : agent_handle(AGENT_CARD);
		return HSA_STATUS_SUCCESS;
	case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
		VALUE(hsa_symbol_linkage_t, symbol->global ? HSA_SYMBOL_LINKAGE_PROGRAM : HSA_SYMBOL_LINKAGE_MODULE);
	case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
		VALUE(bool, true);
	default:
		return symbol->kind == TUTTI_SYMBOL_KERNEL ? kernel_info(symbol, attribute, value)
							   : variable_info(symbol, attribute, value);
	}
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t handle, hsa_executable_symbol_info_t attribute,
					    void *value)
{
	const struct symbol *symbol = object_find(OBJECT_SYMBOL, handle.handle);

	REQUIRE_INIT();
	REQUIRE(symbol, INVALID_EXECUTABLE_SYMBOL);
	REQUIRE(value, INVALID_ARGUMENT);
	return symbol_info(symbol, attribute, value);
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t executable, const char *name, const hsa_agent_t *agent,
					       hsa_executable_symbol_t *handle)
{
	const struct symbol *symbol;

	REQUIRE_INIT();
	REQUIRE(object_find(OBJECT_EXECUTABLE, executable.handle), INVALID_EXECUTABLE);
	REQUIRE(name && handle, INVALID_ARGUMENT);
	REQUIRE(!agent || agent_of(*agent) != AGENTS, INVALID_AGENT);
	symbol = executable_symbol(executable.handle, name, !agent);
	REQUIRE(symbol && (!agent || agent_of(*agent) == AGENT_CARD), INVALID_SYMBOL_NAME);
	handle->handle = symbol->object.handle;
	return HSA_STATUS_SUCCESS;
}

/* In HSA 1.0 an agent is always given, and means nothing when the symbol is the same for all. */
hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable, const char *module, const char *name,
				       hsa_agent_t agent, int32_t convention, hsa_executable_symbol_t *handle)
{
	hsa_status_t status;

	(void)module;
	(void)convention;
	status = hsa_executable_get_symbol_by_name(executable, name, agent.handle ? &agent : NULL, handle);
	if (status == HSA_STATUS_ERROR_INVALID_SYMBOL_NAME && agent.handle)
		status = hsa_executable_get_symbol_by_name(executable, name, NULL, handle);
	return status;
}

typedef hsa_status_t (*symbol_callback)(hsa_executable_t executable, hsa_executable_symbol_t symbol, void *data);
typedef hsa_status_t (*agent_symbol_callback)(hsa_executable_t executable, hsa_agent_t agent,
					      hsa_executable_symbol_t symbol, void *data);

/**
 * struct iteration - what the three functions that visit symbols differ in.
 * @agent: whose symbols; the host has none
 * @program: also those that are the same for all agents
 * @callback, @agent_callback: one of them is called
 */
struct iteration {
	enum agent agent;
	bool program;
	symbol_callback callback;
	agent_symbol_callback agent_callback;
	void *data;
};

static hsa_status_t iterate(hsa_executable_t executable, const struct iteration *how)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	REQUIRE_INIT();
	REQUIRE(object_find(OBJECT_EXECUTABLE, executable.handle), INVALID_EXECUTABLE);
	REQUIRE(how->agent != AGENTS, INVALID_AGENT);
	REQUIRE(how->callback || how->agent_callback, INVALID_ARGUMENT);
	for (const struct symbol *s = executable_symbols(executable.handle); s && status == HSA_STATUS_SUCCESS; s = s->next) {
		const hsa_executable_symbol_t symbol = {s->object.handle};

		if (s->program ? !how->program : how->agent != AGENT_CARD)
			continue;
		status = how->callback ? how->callback(executable, symbol, how->data)
				       : how->agent_callback(executable, agent_handle(how->agent), symbol, how->data);
	}
	return status;
}

hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t executable, symbol_callback callback, void *data)
{
	return iterate(executable, &(struct iteration){AGENT_CARD, true, callback, NULL, data});
}

hsa_status_t hsa_executable_iterate_program_symbols(hsa_executable_t executable, symbol_callback callback, void *data)
{
	return iterate(executable, &(struct iteration){AGENT_HOST, true, callback, NULL, data});
}

hsa_status_t hsa_executable_iterate_agent_symbols(hsa_executable_t executable, hsa_agent_t agent,
						  agent_symbol_callback callback, void *data)
{
	return iterate(executable, &(struct iteration){agent_of(agent), false, NULL, callback, data});
}

// SPDX-License-Identifier: MIT
#include "hsa/base/status.h"

#include <errno.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>

#include "hsa/base/runtime.h"

struct status_text {
	uint32_t status;
	const char *text;
};

#define TEXT(name, text)     {HSA_STATUS_##name, "HSA_STATUS_" #name ": " text}
#define EXT_TEXT(name, text) {HSA_EXT_STATUS_##name, "HSA_EXT_STATUS_" #name ": " text}

static const struct status_text texts[] = {
	TEXT(SUCCESS, "success"),
	TEXT(INFO_BREAK, "the iteration was ended by its callback"),
	TEXT(ERROR, "an error without further description"),
	TEXT(ERROR_INVALID_ARGUMENT, "an argument does not satisfy what the function asks for"),
	TEXT(ERROR_INVALID_QUEUE_CREATION, "the agent does not make such queues"),
	TEXT(ERROR_INVALID_ALLOCATION, "such memory cannot be allocated"),
	TEXT(ERROR_INVALID_AGENT, "no such agent"),
	TEXT(ERROR_INVALID_REGION, "no such memory region"),
	TEXT(ERROR_INVALID_SIGNAL, "no such signal"),
	TEXT(ERROR_INVALID_QUEUE, "no such queue"),
	TEXT(ERROR_OUT_OF_RESOURCES, "memory or places of the card are used up"),
	TEXT(ERROR_INVALID_PACKET_FORMAT, "a packet has an unknown type or bad fields"),
	TEXT(ERROR_RESOURCE_FREE, "a resource cannot be freed"),
	TEXT(ERROR_NOT_INITIALIZED, "hsa_init() has not been called"),
	TEXT(ERROR_REFCOUNT_OVERFLOW, "hsa_init() has been called too often"),
	TEXT(ERROR_INCOMPATIBLE_ARGUMENTS, "the arguments do not go together"),
	TEXT(ERROR_INVALID_INDEX, "the index is out of range"),
	TEXT(ERROR_INVALID_ISA, "no such instruction set architecture"),
	TEXT(ERROR_INVALID_ISA_NAME, "no instruction set architecture has this name"),
	TEXT(ERROR_INVALID_CODE_OBJECT, "not a valid code object"),
	TEXT(ERROR_INVALID_EXECUTABLE, "no such executable"),
	TEXT(ERROR_FROZEN_EXECUTABLE, "the executable is frozen"),
	TEXT(ERROR_INVALID_SYMBOL_NAME, "no symbol has this name"),
	TEXT(ERROR_VARIABLE_ALREADY_DEFINED, "the variable is defined already"),
	TEXT(ERROR_VARIABLE_UNDEFINED, "a variable is not defined"),
	TEXT(ERROR_EXCEPTION, "a kernel raised an exception"),
	TEXT(ERROR_INVALID_CODE_SYMBOL, "no such symbol of a code object"),
	TEXT(ERROR_INVALID_EXECUTABLE_SYMBOL, "no such symbol of an executable"),
	TEXT(ERROR_INVALID_FILE, "not an open, readable file"),
	TEXT(ERROR_INVALID_CODE_OBJECT_READER, "no such code object reader"),
	TEXT(ERROR_INVALID_CACHE, "no such cache"),
	TEXT(ERROR_INVALID_WAVEFRONT, "no such wavefront"),
	TEXT(ERROR_INVALID_SIGNAL_GROUP, "no such signal group"),
	TEXT(ERROR_INVALID_RUNTIME_STATE, "the runtime is not in a state that allows this"),
	TEXT(ERROR_FATAL, "the card or its queue cannot be used any more"),
	TEXT(ERROR_INVALID_MEMORY_POOL, "no such memory pool"),
	TEXT(ERROR_MEMORY_APERTURE_VIOLATION, "an access outside of all apertures"),
	TEXT(ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction"),
	TEXT(ERROR_MEMORY_FAULT, "an access to memory was refused"),
	TEXT(CU_MASK_REDUCED, "fewer compute units than asked for"),
	EXT_TEXT(ERROR_INVALID_PROGRAM, "no such HSAIL program"),
	EXT_TEXT(ERROR_INVALID_MODULE, "not a valid HSAIL module"),
	EXT_TEXT(ERROR_INCOMPATIBLE_MODULE, "the module is for another machine model or profile"),
	EXT_TEXT(ERROR_MODULE_ALREADY_INCLUDED, "the program includes the module already"),
	EXT_TEXT(ERROR_SYMBOL_MISMATCH, "declaration and definition of a symbol do not go together"),
	EXT_TEXT(ERROR_FINALIZATION_FAILED, "the registry has no code for this program"),
	EXT_TEXT(ERROR_DIRECTIVE_MISMATCH, "the control directives contradict each other"),
	EXT_TEXT(ERROR_IMAGE_FORMAT_UNSUPPORTED, "there are no images of this format"),
	EXT_TEXT(ERROR_IMAGE_SIZE_UNSUPPORTED, "there are no images of this size"),
	EXT_TEXT(ERROR_IMAGE_PITCH_UNSUPPORTED, "there are no images with such rows"),
	EXT_TEXT(ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED, "there are no such samplers"),
};

hsa_status_t hsa_status_string(hsa_status_t status, const char **text)
{
	REQUIRE_INIT();
	REQUIRE(text, INVALID_ARGUMENT);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].status == (uint32_t)status) {
			*text = texts[i].text;
			return HSA_STATUS_SUCCESS;
		}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t status_of(int error)
{
	switch (error) {
	case 0:
		return HSA_STATUS_SUCCESS;
	case -EINVAL:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	case -ENOMEM:
	case -ENOSPC:
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	case -ENOEXEC:
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	default:
		return HSA_STATUS_ERROR;
	}
}

hsa_status_t status_of_fault(uint32_t code)
{
	switch (code) {
	case TUTTI_ERROR_DIMENSIONS:
	case TUTTI_ERROR_WORKGROUP:
	case TUTTI_ERROR_GRID:
		return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
	case TUTTI_ERROR_GROUP_MEMORY:
	case TUTTI_ERROR_PRIVATE_MEMORY:
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	case TUTTI_ERROR_CODE_OBJECT:
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	case TUTTI_ERROR_PACKET:
	case TUTTI_ERROR_TMD:
	case TUTTI_ERROR_AGENT:
		return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
	case TUTTI_ERROR_KERNEL_TRAP:
	case TUTTI_ERROR_CGA:
	case TUTTI_ERROR_TENSOR:
	case TUTTI_ERROR_TIMEOUT:
		return HSA_STATUS_ERROR_EXCEPTION;
	case TUTTI_ERROR_MEMORY_FAULT:
	case TUTTI_ERROR_RING_FAULT:
	case TUTTI_ERROR_MEMORY:
		return (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT;
	default:
		return HSA_STATUS_ERROR;
	}
}

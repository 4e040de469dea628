// SPDX-License-Identifier: MIT
/* Code objects and their symbols as HSA 1.0 had them, before there were readers. */
#include <stdlib.h>
#include <string.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/code/code.h"

static struct code *code_find(hsa_code_object_t handle)
{
	return object_find(OBJECT_CODE_OBJECT, handle.handle);
}

hsa_status_t hsa_code_object_deserialize(void *bytes, size_t size, const char *options, hsa_code_object_t *handle)
{
	void *copy;

	(void)options;
	REQUIRE_INIT();
	REQUIRE(bytes && size && handle, INVALID_ARGUMENT);
	copy = malloc(size);
	REQUIRE(copy, OUT_OF_RESOURCES);
	memcpy(copy, bytes, size);
	handle->handle = code_add(OBJECT_CODE_OBJECT, copy, size, copy);
	REQUIRE(handle->handle, OUT_OF_RESOURCES);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_serialize(hsa_code_object_t handle,
				       hsa_status_t (*allocate)(size_t size, hsa_callback_data_t data, void **address),
				       hsa_callback_data_t data, const char *options, void **bytes, size_t *size)
{
	const struct code *code = code_find(handle);
	hsa_status_t status;

	(void)options;
	REQUIRE_INIT();
	REQUIRE(code, INVALID_CODE_OBJECT);
	REQUIRE(allocate && bytes && size, INVALID_ARGUMENT);
	status = allocate(code->size, data, bytes);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	memcpy(*bytes, code->bytes, code->size);
	*size = code->size;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_destroy(hsa_code_object_t handle)
{
	REQUIRE_INIT();
	REQUIRE(code_remove(OBJECT_CODE_OBJECT, handle.handle), INVALID_CODE_OBJECT);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_get_info(hsa_code_object_t handle, hsa_code_object_info_t attribute, void *value)
{
	REQUIRE_INIT();
	REQUIRE(code_find(handle), INVALID_CODE_OBJECT);
	REQUIRE(value, INVALID_ARGUMENT);
	switch (attribute) {
	case HSA_CODE_OBJECT_INFO_VERSION:
		return value_text(value, 64, "1.0");
	case HSA_CODE_OBJECT_INFO_TYPE:
		VALUE(hsa_code_object_type_t, HSA_CODE_OBJECT_TYPE_PROGRAM);
	case HSA_CODE_OBJECT_INFO_ISA:
		*(hsa_isa_t *)value = isa_handle();
		return HSA_STATUS_SUCCESS;
	case HSA_CODE_OBJECT_INFO_MACHINE_MODEL:
		VALUE(hsa_machine_model_t, HSA_MACHINE_MODEL_LARGE);
	case HSA_CODE_OBJECT_INFO_PROFILE:
		VALUE(hsa_profile_t, HSA_PROFILE_FULL);
	case HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
		VALUE(hsa_default_float_rounding_mode_t, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

/* The symbols are those of a copy that is loaded for the purpose. */
static hsa_status_t view(struct code *code)
{
	hsa_status_t status;
	uint64_t handle;

	if (code->view)
		return HSA_STATUS_SUCCESS;
	handle = executable_new(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, HSA_EXECUTABLE_STATE_UNFROZEN);
	REQUIRE(handle, OUT_OF_RESOURCES);
	status = executable_load(handle, code->bytes, code->size);
	if (status == HSA_STATUS_SUCCESS)
		code->view = handle;
	else
		hsa_executable_destroy((hsa_executable_t){handle});
	return status;
}

hsa_status_t hsa_code_object_get_symbol(hsa_code_object_t handle, const char *name, hsa_code_symbol_t *out)
{
	struct code *code = code_find(handle);
	const struct symbol *symbol;
	hsa_status_t status;

	REQUIRE_INIT();
	REQUIRE(code, INVALID_CODE_OBJECT);
	REQUIRE(name && out, INVALID_ARGUMENT);
	status = view(code);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	symbol = executable_symbol(code->view, name, false);
	REQUIRE(symbol, INVALID_SYMBOL_NAME);
	out->handle = symbol->object.handle;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_get_symbol_from_name(hsa_code_object_t handle, const char *module, const char *name,
						  hsa_code_symbol_t *out)
{
	(void)module;
	return hsa_code_object_get_symbol(handle, name, out);
}

hsa_status_t hsa_code_object_iterate_symbols(hsa_code_object_t handle,
					     hsa_status_t (*callback)(hsa_code_object_t code, hsa_code_symbol_t symbol,
								      void *data),
					     void *data)
{
	struct code *code = code_find(handle);
	hsa_status_t status;

	REQUIRE_INIT();
	REQUIRE(code, INVALID_CODE_OBJECT);
	REQUIRE(callback, INVALID_ARGUMENT);
	status = view(code);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	for (const struct symbol *s = executable_symbols(code->view); s && status == HSA_STATUS_SUCCESS; s = s->next)
		status = callback(handle, (hsa_code_symbol_t){s->object.handle}, data);
	return status;
}

/* Nothing of a code object has an address or an agent. */
hsa_status_t hsa_code_symbol_get_info(hsa_code_symbol_t handle, hsa_code_symbol_info_t attribute, void *value)
{
	const struct symbol *symbol = object_find(OBJECT_SYMBOL, handle.handle);

	REQUIRE_INIT();
	REQUIRE(symbol, INVALID_CODE_SYMBOL);
	REQUIRE(value && (uint32_t)attribute <= HSA_CODE_SYMBOL_INFO_KERNEL_CALL_CONVENTION, INVALID_ARGUMENT);
	return symbol_info(symbol, attribute, value);
}

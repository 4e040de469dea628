// SPDX-License-Identifier: MIT
/*
 * The finalizer extension without a compiler: a program is one module, which has been compiled before and is found in
 * the registry by its content.
 */
#include <hsa/hsa_ext_finalize.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/code/code.h"
#include "hsa/extension/registry.h"

#define REQUIRE_EXT(condition, status) REQUIRE_STATUS(condition, HSA_EXT_STATUS_ERROR_##status)
#define CALL_CONVENTIONS 1 /* HSA_ISA_INFO_CALL_CONVENTION_COUNT */

struct program {
	struct object object;
	hsa_machine_model_t machine_model;
	hsa_profile_t profile;
	hsa_default_float_rounding_mode_t rounding;
	size_t count;
	const void **modules;
};

static struct program *program_find(hsa_ext_program_t handle)
{
	return object_find(OBJECT_PROGRAM, handle.handle);
}

static void program_free(struct object *object)
{
	struct program *program = (struct program *)object;

	free(program->modules);
	free(program);
}

hsa_status_t hsa_ext_program_create(hsa_machine_model_t machine_model, hsa_profile_t profile,
				    hsa_default_float_rounding_mode_t rounding, const char *options,
				    hsa_ext_program_t *handle)
{
	struct program *program;

	(void)options;
	REQUIRE_INIT();
	REQUIRE((unsigned)machine_model <= HSA_MACHINE_MODEL_LARGE && (unsigned)profile <= HSA_PROFILE_FULL &&
			(unsigned)rounding <= HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR && handle,
		INVALID_ARGUMENT);
	program = calloc(1, sizeof(*program));
	REQUIRE(program, OUT_OF_RESOURCES);
	program->machine_model = machine_model;
	program->profile = profile;
	program->rounding = rounding;
	program->object.destroy = program_free;
	object_add(&program->object, OBJECT_PROGRAM, 0);
	handle->handle = program->object.handle;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ext_program_destroy(hsa_ext_program_t handle)
{
	struct program *program;

	REQUIRE_INIT();
	program = object_remove(OBJECT_PROGRAM, handle.handle);
	REQUIRE_EXT(program, INVALID_PROGRAM);
	program_free(&program->object);
	return HSA_STATUS_SUCCESS;
}

static bool includes(const struct program *program, const void *module)
{
	for (size_t i = 0; i < program->count; i++)
		if (program->modules[i] == module)
			return true;
	return false;
}

hsa_status_t hsa_ext_program_add_module(hsa_ext_program_t handle, hsa_ext_module_t start)
{
	struct program *program = program_find(handle);
	struct module module;
	const void **modules;

	REQUIRE_INIT();
	REQUIRE_EXT(program, INVALID_PROGRAM);
	REQUIRE_EXT(start && module_read(start, &module), INVALID_MODULE);
	REQUIRE_EXT(module.machine_model == program->machine_model && module.profile == program->profile,
		    INCOMPATIBLE_MODULE);
	REQUIRE_EXT(!includes(program, start), MODULE_ALREADY_INCLUDED);
	modules = realloc(program->modules, (program->count + 1) * sizeof(*modules));
	REQUIRE(modules, OUT_OF_RESOURCES);
	program->modules = modules;
	modules[program->count++] = start;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ext_program_iterate_modules(hsa_ext_program_t handle,
					     hsa_status_t (*callback)(hsa_ext_program_t program,
								      hsa_ext_module_t module, void *data),
					     void *data)
{
	const struct program *program = program_find(handle);
	hsa_status_t status = HSA_STATUS_SUCCESS;

	REQUIRE_INIT();
	REQUIRE_EXT(program, INVALID_PROGRAM);
	REQUIRE(callback, INVALID_ARGUMENT);
	for (size_t i = 0; i < program->count && status == HSA_STATUS_SUCCESS; i++)
		status = callback(handle, (hsa_ext_module_t)(uintptr_t)program->modules[i], data);
	return status;
}

hsa_status_t hsa_ext_program_get_info(hsa_ext_program_t handle, hsa_ext_program_info_t attribute, void *value)
{
	const struct program *program = program_find(handle);

	REQUIRE_INIT();
	REQUIRE_EXT(program, INVALID_PROGRAM);
	REQUIRE(value, INVALID_ARGUMENT);
	switch (attribute) {
	case HSA_EXT_PROGRAM_INFO_MACHINE_MODEL:
		VALUE(hsa_machine_model_t, program->machine_model);
	case HSA_EXT_PROGRAM_INFO_PROFILE:
		VALUE(hsa_profile_t, program->profile);
	case HSA_EXT_PROGRAM_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
		VALUE(hsa_default_float_rounding_mode_t, program->rounding);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

/* Fields whose bit is clear must be 0. What the bits ask for the code has been compiled with, or not at all. */
static bool directives_ok(const hsa_ext_control_directives_t *directives)
{
	static const hsa_ext_control_directives_t none;

	return directives->control_directives_mask || !memcmp(directives, &none, sizeof(none));
}

hsa_status_t hsa_ext_program_finalize(hsa_ext_program_t handle, hsa_isa_t isa, int32_t call_convention,
				      hsa_ext_control_directives_t directives, const char *options,
				      hsa_code_object_type_t type, hsa_code_object_t *code_object)
{
	const struct program *program = program_find(handle);
	struct module module;
	size_t bytes;
	void *code;

	(void)options;
	REQUIRE_INIT();
	REQUIRE_EXT(program, INVALID_PROGRAM);
	REQUIRE(isa_valid(isa), INVALID_ISA);
	REQUIRE(code_object && type == HSA_CODE_OBJECT_TYPE_PROGRAM, INVALID_ARGUMENT);
	REQUIRE(call_convention >= HSA_EXT_FINALIZER_CALL_CONVENTION_AUTO && call_convention < CALL_CONVENTIONS,
		INVALID_ARGUMENT);
	REQUIRE_EXT(directives_ok(&directives), DIRECTIVE_MISMATCH);
	REQUIRE_EXT(program->count == 1 && module_read(program->modules[0], &module) &&
			    registry_find(&module, &code, &bytes),
		    FINALIZATION_FAILED);
	code_object->handle = code_add(OBJECT_CODE_OBJECT, code, bytes, code);
	REQUIRE(code_object->handle, OUT_OF_RESOURCES);
	return HSA_STATUS_SUCCESS;
}

// SPDX-License-Identifier: MIT
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"
#include "hsa/code/code.h"

/**
 * struct part - a code object that has been loaded.
 * @code: NULL as long as it waits for definitions of variables
 * @bytes, @size: a copy of it meanwhile
 */
struct part {
	struct part *next;
	struct tutti_executable *code;
	void *bytes;
	size_t size;
};

struct executable {
	struct object object;
	pthread_mutex_t lock;
	hsa_profile_t profile;
	hsa_default_float_rounding_mode_t rounding;
	hsa_executable_state_t state;
	struct part *parts;
	struct symbol *symbols;
};

static struct executable *executable_find(uint64_t handle)
{
	return object_find(OBJECT_EXECUTABLE, handle);
}

static void symbols_free(struct symbol *symbol)
{
	while (symbol) {
		struct symbol *next = symbol->next;

		object_remove(OBJECT_SYMBOL, symbol->object.handle);
		free(symbol->name);
		free(symbol);
		symbol = next;
	}
}

static void executable_free(struct object *object)
{
	struct executable *executable = (struct executable *)object;
	struct part *part = executable->parts;

	while (part) {
		struct part *next = part->next;

		tutti_executable_destroy(part->code);
		free(part->bytes);
		free(part);
		part = next;
	}
	symbols_free(executable->symbols);
	pthread_mutex_destroy(&executable->lock);
	free(executable);
}

/* Symbols go with their executable. */
static void symbol_stays(struct object *object)
{
	(void)object;
}

static bool symbol_add(struct executable *executable, const struct symbol *like, const char *name)
{
	struct symbol **end = &executable->symbols, *symbol = malloc(sizeof(*symbol));

	if (!symbol)
		return false;
	*symbol = *like;
	symbol->next = NULL;
	symbol->name = strdup(name);
	if (!symbol->name) {
		free(symbol);
		return false;
	}
	symbol->object.destroy = symbol_stays;
	object_add(&symbol->object, OBJECT_SYMBOL, 0);
	while (*end)
		end = &(*end)->next;
	*end = symbol;
	return true;
}

struct take {
	struct executable *executable;
	struct tutti_executable *code;
};

static int take_symbol(const struct tutti_symbol *from, void *context)
{
	const struct take *take = context;
	struct symbol symbol = {
		.kind = from->kind,
		.global = from->global,
		.writable = from->writable,
		.segment = HSA_VARIABLE_SEGMENT_GLOBAL,
		.address = from->address,
		.bytes = from->bytes,
	};

	if (from->kind == TUTTI_SYMBOL_KERNEL)
		tutti_executable_kernel(take->code, from->name, &symbol.kernel);
	return symbol_add(take->executable, &symbol, from->name) ? 0 : -ENOMEM;
}

/* What the application has defined so far, for the loader. NULL if there is no memory. */
static struct tutti_external *externals_of(const struct executable *executable, size_t *count)
{
	struct tutti_external *externals;
	size_t n = 1;

	for (const struct symbol *symbol = executable->symbols; symbol; symbol = symbol->next)
		n += symbol->defined;
	externals = calloc(n, sizeof(*externals));
	*count = 0;
	if (!externals)
		return NULL;
	for (const struct symbol *symbol = executable->symbols; symbol; symbol = symbol->next)
		if (symbol->defined)
			externals[(*count)++] =
				(struct tutti_external){symbol->name, (void *)(uintptr_t)symbol->address};
	return externals;
}

/* Loads a part, or returns -ENOLINK if a variable is not defined. */
static int part_load(struct executable *executable, struct part *part, const void *bytes, size_t size)
{
	struct take take = {.executable = executable};
	size_t count;
	struct tutti_external *externals = externals_of(executable, &count);
	int error = -ENOMEM;

	if (externals)
		error = tutti_executable_load_with(runtime_device(), bytes, size, externals, count, &part->code, NULL);
	free(externals);
	take.code = part->code;
	return error ? error : tutti_executable_symbols(part->code, take_symbol, &take);
}

/* Variables may be defined after the code that uses them has been loaded, until the executable is frozen. */
static int part_postpone(struct part *part, const void *bytes, size_t size)
{
	part->bytes = malloc(size);
	if (!part->bytes)
		return -ENOMEM;
	memcpy(part->bytes, bytes, size);
	part->size = size;
	return 0;
}

hsa_status_t executable_load(uint64_t handle, const void *bytes, size_t size)
{
	struct executable *executable = executable_find(handle);
	struct part *part = calloc(1, sizeof(*part));
	int error;

	REQUIRE(part, OUT_OF_RESOURCES);
	pthread_mutex_lock(&executable->lock);
	error = part_load(executable, part, bytes, size);
	if (error == -ENOLINK)
		error = part_postpone(part, bytes, size);
	if (error) {
		tutti_executable_destroy(part->code);
		free(part);
	} else {
		part->next = executable->parts;
		executable->parts = part;
	}
	pthread_mutex_unlock(&executable->lock);
	return status_of(error);
}

/* The caller holds the lock. Returns -ENOLINK if variables are not defined. */
static int load_postponed(struct executable *executable)
{
	int error = 0;

	for (struct part *part = executable->parts; part && !error; part = part->next) {
		if (!part->bytes)
			continue;
		error = part_load(executable, part, part->bytes, part->size);
		if (!error) {
			free(part->bytes);
			part->bytes = NULL;
		}
	}
	return error;
}

uint64_t executable_new(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding, hsa_executable_state_t state)
{
	struct executable *executable = calloc(1, sizeof(*executable));

	if (!executable)
		return 0;
	pthread_mutex_init(&executable->lock, NULL);
	executable->profile = profile;
	executable->rounding = rounding;
	executable->state = state;
	executable->object.destroy = executable_free;
	object_add(&executable->object, OBJECT_EXECUTABLE, 0);
	return executable->object.handle;
}

static bool profile_ok(hsa_profile_t profile)
{
	return profile == HSA_PROFILE_BASE || profile == HSA_PROFILE_FULL;
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding,
				       const char *options, hsa_executable_t *handle)
{
	(void)options;
	REQUIRE_INIT();
	REQUIRE(profile_ok(profile) && (unsigned)rounding <= HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR && handle,
		INVALID_ARGUMENT);
	handle->handle = executable_new(profile, rounding, HSA_EXECUTABLE_STATE_UNFROZEN);
	REQUIRE(handle->handle, OUT_OF_RESOURCES);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t state, const char *options,
				   hsa_executable_t *handle)
{
	(void)options;
	REQUIRE_INIT();
	REQUIRE(profile_ok(profile) && (unsigned)state <= HSA_EXECUTABLE_STATE_FROZEN && handle, INVALID_ARGUMENT);
	handle->handle = executable_new(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, state);
	REQUIRE(handle->handle, OUT_OF_RESOURCES);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_destroy(hsa_executable_t handle)
{
	struct executable *executable;

	REQUIRE_INIT();
	executable = object_remove(OBJECT_EXECUTABLE, handle.handle);
	REQUIRE(executable, INVALID_EXECUTABLE);
	executable_free(&executable->object);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t handle, const char *options)
{
	struct executable *executable = executable_find(handle.handle);
	int error;

	(void)options;
	REQUIRE_INIT();
	REQUIRE(executable, INVALID_EXECUTABLE);
	REQUIRE(executable->state == HSA_EXECUTABLE_STATE_UNFROZEN, FROZEN_EXECUTABLE);
	pthread_mutex_lock(&executable->lock);
	error = load_postponed(executable);
	if (!error)
		executable->state = HSA_EXECUTABLE_STATE_FROZEN;
	pthread_mutex_unlock(&executable->lock);
	return error == -ENOLINK ? HSA_STATUS_ERROR_VARIABLE_UNDEFINED : status_of(error);
}

hsa_status_t hsa_executable_get_info(hsa_executable_t handle, hsa_executable_info_t attribute, void *value)
{
	const struct executable *executable = executable_find(handle.handle);

	REQUIRE_INIT();
	REQUIRE(executable, INVALID_EXECUTABLE);
	REQUIRE(value, INVALID_ARGUMENT);
	switch (attribute) {
	case HSA_EXECUTABLE_INFO_PROFILE:
		VALUE(hsa_profile_t, executable->profile);
	case HSA_EXECUTABLE_INFO_STATE:
		VALUE(hsa_executable_state_t, executable->state);
	case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
		VALUE(hsa_default_float_rounding_mode_t, executable->rounding);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

/* Everything has been checked when it was loaded, but for variables that are not defined yet. */
hsa_status_t hsa_executable_validate(hsa_executable_t handle, uint32_t *result)
{
	const struct executable *executable = executable_find(handle.handle);

	REQUIRE_INIT();
	REQUIRE(executable, INVALID_EXECUTABLE);
	REQUIRE(result, INVALID_ARGUMENT);
	*result = 0;
	for (const struct part *part = executable->parts; part; part = part->next)
		*result |= part->bytes != NULL;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_validate_alt(hsa_executable_t handle, const char *options, uint32_t *result)
{
	(void)options;
	return hsa_executable_validate(handle, result);
}

struct symbol *executable_symbols(uint64_t handle)
{
	return executable_find(handle)->symbols;
}

/* "&foo", "foo.kd" and "foo" are the same kernel; a variable may be called "&v". */
static bool has_name(const struct symbol *symbol, const char *name)
{
	size_t length;

	name += *name == '&';
	length = strlen(name);
	if (symbol->kind == TUTTI_SYMBOL_KERNEL && length > 3 && !strcmp(name + length - 3, ".kd"))
		length -= 3;
	return !strncmp(symbol->name, name, length) && !symbol->name[length];
}

struct symbol *executable_symbol(uint64_t handle, const char *name, bool program)
{
	for (struct symbol *symbol = executable_symbols(handle); symbol; symbol = symbol->next)
		if (symbol->program == program && has_name(symbol, name))
			return symbol;
	return NULL;
}

/* A variable that the application has. */
static hsa_status_t define(uint64_t handle, const char *name, void *address, bool program,
			   hsa_variable_segment_t segment)
{
	struct executable *executable = executable_find(handle);
	const struct symbol symbol = {
		.kind = TUTTI_SYMBOL_VARIABLE,
		.defined = true,
		.program = program,
		.global = true,
		.writable = segment == HSA_VARIABLE_SEGMENT_GLOBAL,
		.segment = segment,
		.address = (uintptr_t)address,
	};
	hsa_status_t status = HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;

	REQUIRE(executable, INVALID_EXECUTABLE);
	REQUIRE(name, INVALID_ARGUMENT);
	name += *name == '&';
	REQUIRE(*name, INVALID_SYMBOL_NAME);
	REQUIRE(executable->state == HSA_EXECUTABLE_STATE_UNFROZEN, FROZEN_EXECUTABLE);
	pthread_mutex_lock(&executable->lock);
	if (!executable_symbol(handle, name, false) && !executable_symbol(handle, name, true))
		status = symbol_add(executable, &symbol, name) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	pthread_mutex_unlock(&executable->lock);
	return status;
}

hsa_status_t hsa_executable_global_variable_define(hsa_executable_t executable, const char *name, void *address)
{
	REQUIRE_INIT();
	return define(executable.handle, name, address, true, HSA_VARIABLE_SEGMENT_GLOBAL);
}

hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable, hsa_agent_t agent,
							 const char *name, void *address)
{
	REQUIRE_INIT();
	REQUIRE(executable_find(executable.handle), INVALID_EXECUTABLE);
	REQUIRE(agent_of(agent) != AGENTS, INVALID_AGENT);
	return define(executable.handle, name, address, false, HSA_VARIABLE_SEGMENT_GLOBAL);
}

hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t executable, hsa_agent_t agent, const char *name,
						     void *address)
{
	REQUIRE_INIT();
	REQUIRE(executable_find(executable.handle), INVALID_EXECUTABLE);
	REQUIRE(agent_of(agent) != AGENTS, INVALID_AGENT);
	return define(executable.handle, name, address, false, HSA_VARIABLE_SEGMENT_READONLY);
}

// SPDX-License-Identifier: MIT
/*
 * SYS-43: each error that the specification lists for a function. hsa.sh compares the list of what is tried here
 * (HSA_ERRORS_LIST names the file) with the comments of Debian's headers, so that none is left out.
 */
#include <fcntl.h>
#include <hsa/hsa_ext_finalize.h>
#include <unistd.h>

#include "errors.h"

static uint8_t value[256];
static bool yes;
static uint16_t number;

static hsa_status_t any_callback(void)
{
	return HSA_STATUS_SUCCESS;
}
/* A callback of any type, which is not called. */
#define CALLBACK ((void *)any_callback)

static void system_and_agents(void **state)
{
	hsa_agent_t card = found.card;

	(void)state;
	E(hsa_status_string, ERROR_INVALID_ARGUMENT, (HSA_STATUS_SUCCESS, NULL));
	E(hsa_status_string, ERROR_INVALID_ARGUMENT, (0x7fff, (const char **)value));
	E(hsa_system_get_info, ERROR_INVALID_ARGUMENT, (HSA_SYSTEM_INFO_TIMESTAMP, NULL));
	E(hsa_system_get_info, ERROR_INVALID_ARGUMENT, (99, value));
	E(hsa_extension_get_name, ERROR_INVALID_ARGUMENT, (HSA_EXTENSION_IMAGES, NULL));
	E(hsa_extension_get_name, ERROR_INVALID_ARGUMENT, (999, (const char **)value));
	E(hsa_system_extension_supported, ERROR_INVALID_ARGUMENT, (999, 1, 0, &yes));
	E(hsa_system_extension_supported, ERROR_INVALID_ARGUMENT, (HSA_EXTENSION_IMAGES, 1, 0, NULL));
	E(hsa_system_major_extension_supported, ERROR_INVALID_ARGUMENT, (999, 1, &number, &yes));
	E(hsa_system_major_extension_supported, ERROR_INVALID_ARGUMENT, (HSA_EXTENSION_IMAGES, 1, NULL, &yes));
	E(hsa_system_major_extension_supported, ERROR_INVALID_ARGUMENT, (HSA_EXTENSION_IMAGES, 1, &number, NULL));
	E(hsa_system_get_extension_table, ERROR_INVALID_ARGUMENT, (999, 1, 0, value));
	E(hsa_system_get_extension_table, ERROR_INVALID_ARGUMENT, (HSA_EXTENSION_IMAGES, 1, 0, NULL));
	E(hsa_system_get_major_extension_table, ERROR_INVALID_ARGUMENT, (999, 1, 8, value));
	E(hsa_system_get_major_extension_table, ERROR_INVALID_ARGUMENT, (HSA_EXTENSION_IMAGES, 1, 8, NULL));
	E(hsa_iterate_agents, ERROR_INVALID_ARGUMENT, (NULL, NULL));
	EACH(hsa_agent_t, hsa_agent_get_info, ERROR_INVALID_AGENT, (bad, HSA_AGENT_INFO_NAME, value));
	E(hsa_agent_get_info, ERROR_INVALID_ARGUMENT, (card, HSA_AGENT_INFO_NAME, NULL));
	E(hsa_agent_get_info, ERROR_INVALID_ARGUMENT, (card, 77, value));
	EACH(hsa_agent_t, hsa_agent_get_exception_policies, ERROR_INVALID_AGENT, (bad, HSA_PROFILE_FULL, &number));
	E(hsa_agent_get_exception_policies, ERROR_INVALID_ARGUMENT, (card, 7, &number));
	E(hsa_agent_get_exception_policies, ERROR_INVALID_ARGUMENT, (card, HSA_PROFILE_FULL, NULL));
	EACH(hsa_agent_t, hsa_agent_extension_supported, ERROR_INVALID_AGENT, (HSA_EXTENSION_IMAGES, bad, 1, 0, &yes));
	E(hsa_agent_extension_supported, ERROR_INVALID_ARGUMENT, (999, card, 1, 0, &yes));
	E(hsa_agent_extension_supported, ERROR_INVALID_ARGUMENT, (HSA_EXTENSION_IMAGES, card, 1, 0, NULL));
	EACH(hsa_agent_t, hsa_agent_major_extension_supported, ERROR_INVALID_AGENT,
	     (HSA_EXTENSION_IMAGES, bad, 1, &number, &yes));
	E(hsa_agent_major_extension_supported, ERROR_INVALID_ARGUMENT, (HSA_EXTENSION_IMAGES, card, 1, NULL, &yes));
	EACH(hsa_agent_t, hsa_agent_iterate_caches, ERROR_INVALID_AGENT, (bad, CALLBACK, NULL));
	E(hsa_agent_iterate_caches, ERROR_INVALID_ARGUMENT, (card, NULL, NULL));
	EACH(hsa_cache_t, hsa_cache_get_info, ERROR_INVALID_CACHE, (bad, HSA_CACHE_INFO_SIZE, value));
	EACH(hsa_agent_t, hsa_agent_iterate_regions, ERROR_INVALID_AGENT, (bad, CALLBACK, NULL));
	E(hsa_agent_iterate_regions, ERROR_INVALID_ARGUMENT, (card, NULL, NULL));
	EACH(hsa_agent_t, hsa_agent_iterate_isas, ERROR_INVALID_AGENT, (bad, CALLBACK, NULL));
	E(hsa_agent_iterate_isas, ERROR_INVALID_ARGUMENT, (card, NULL, NULL));
	assert_int_equal(end(), 0);
}

static hsa_status_t take_wavefront(hsa_wavefront_t wavefront, void *data)
{
	*(hsa_wavefront_t *)data = wavefront;
	return HSA_STATUS_SUCCESS;
}

static void instruction_sets(void **state)
{
	hsa_wavefront_t wavefront = {0};
	hsa_isa_t isa = {0};
	hsa_round_method_t method;

	(void)state;
	OK(hsa_agent_get_info(found.card, HSA_AGENT_INFO_ISA, &isa));
	OK(hsa_isa_iterate_wavefronts(isa, take_wavefront, &wavefront));
	E(hsa_isa_from_name, ERROR_INVALID_ISA_NAME, ("amdgcn-amd-amdhsa--gfx900", &isa));
	E(hsa_isa_from_name, ERROR_INVALID_ARGUMENT, (NULL, &isa));
	E(hsa_isa_from_name, ERROR_INVALID_ARGUMENT, ("x", NULL));
	EACH(hsa_isa_t, hsa_isa_get_info_alt, ERROR_INVALID_ISA, (bad, HSA_ISA_INFO_NAME_LENGTH, value));
	E(hsa_isa_get_info_alt, ERROR_INVALID_ARGUMENT, (isa, 99, value));
	E(hsa_isa_get_info_alt, ERROR_INVALID_ARGUMENT, (isa, HSA_ISA_INFO_NAME_LENGTH, NULL));
	EACH(hsa_isa_t, hsa_isa_get_info, ERROR_INVALID_ISA, (bad, HSA_ISA_INFO_NAME_LENGTH, 0, value));
	E(hsa_isa_get_info, ERROR_INVALID_INDEX, (isa, HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE, 1, value));
	E(hsa_isa_get_info, ERROR_INVALID_ARGUMENT, (isa, 99, 0, value));
	EACH(hsa_isa_t, hsa_isa_get_exception_policies, ERROR_INVALID_ISA, (bad, HSA_PROFILE_FULL, &number));
	E(hsa_isa_get_exception_policies, ERROR_INVALID_ARGUMENT, (isa, 5, &number));
	E(hsa_isa_get_exception_policies, ERROR_INVALID_ARGUMENT, (isa, HSA_PROFILE_FULL, NULL));
	EACH(hsa_isa_t, hsa_isa_get_round_method, ERROR_INVALID_ISA,
	     (bad, HSA_FP_TYPE_32, HSA_FLUSH_MODE_NON_FTZ, &method));
	E(hsa_isa_get_round_method, ERROR_INVALID_ARGUMENT, (isa, 3, HSA_FLUSH_MODE_NON_FTZ, &method));
	E(hsa_isa_get_round_method, ERROR_INVALID_ARGUMENT, (isa, HSA_FP_TYPE_32, 5, &method));
	E(hsa_isa_get_round_method, ERROR_INVALID_ARGUMENT, (isa, HSA_FP_TYPE_32, HSA_FLUSH_MODE_NON_FTZ, NULL));
	EACH(hsa_isa_t, hsa_isa_iterate_wavefronts, ERROR_INVALID_ISA, (bad, CALLBACK, NULL));
	E(hsa_isa_iterate_wavefronts, ERROR_INVALID_ARGUMENT, (isa, NULL, NULL));
	EACH(hsa_wavefront_t, hsa_wavefront_get_info, ERROR_INVALID_WAVEFRONT, (bad, HSA_WAVEFRONT_INFO_SIZE, value));
	E(hsa_wavefront_get_info, ERROR_INVALID_ARGUMENT, (wavefront, 9, value));
	E(hsa_wavefront_get_info, ERROR_INVALID_ARGUMENT, (wavefront, HSA_WAVEFRONT_INFO_SIZE, NULL));
	EACH(hsa_isa_t, hsa_isa_compatible, ERROR_INVALID_ISA, (bad, isa, &yes));
	EACH(hsa_isa_t, hsa_isa_compatible, ERROR_INVALID_ISA, (isa, bad, &yes));
	E(hsa_isa_compatible, ERROR_INVALID_ARGUMENT, (isa, isa, NULL));
	assert_int_equal(end(), 0);
}

static void memory(void **state)
{
	void *address = value;

	(void)state;
	EACH(hsa_region_t, hsa_region_get_info, ERROR_INVALID_REGION, (bad, HSA_REGION_INFO_SIZE, value));
	E(hsa_region_get_info, ERROR_INVALID_ARGUMENT, (found.fine, 3, value));
	E(hsa_region_get_info, ERROR_INVALID_ARGUMENT, (found.fine, HSA_REGION_INFO_SIZE, NULL));
	EACH(hsa_region_t, hsa_memory_allocate, ERROR_INVALID_REGION, (bad, 64, &address));
	E(hsa_memory_allocate, ERROR_INVALID_REGION, ((hsa_region_t){found.card.handle}, 64, &address));
	E(hsa_memory_allocate, ERROR_INVALID_ALLOCATION, (found.group, 64, &address));
	E(hsa_memory_allocate, ERROR_INVALID_ALLOCATION, (found.local, SIZE_MAX, &address));
	E(hsa_memory_allocate, ERROR_INVALID_ARGUMENT, (found.fine, 0, &address));
	E(hsa_memory_allocate, ERROR_INVALID_ARGUMENT, (found.fine, 64, NULL));
	E(hsa_memory_copy, ERROR_INVALID_ARGUMENT, (NULL, value, 1));
	E(hsa_memory_copy, ERROR_INVALID_ARGUMENT, (value, NULL, 1));
	EACH(hsa_agent_t, hsa_memory_assign_agent, ERROR_INVALID_AGENT, (value, bad, HSA_ACCESS_PERMISSION_RW));
	E(hsa_memory_assign_agent, ERROR_INVALID_ARGUMENT, (NULL, found.card, HSA_ACCESS_PERMISSION_RW));
	E(hsa_memory_assign_agent, ERROR_INVALID_ARGUMENT, (value, found.card, 0));
	E(hsa_memory_register, ERROR_INVALID_ARGUMENT, (NULL, 4096));
	E(hsa_memory_register, ERROR_INVALID_ARGUMENT, (value, 0));
	assert_int_equal(end(), 0);
}

static void signals(void **state)
{
	hsa_agent_t twice[2] = {found.card, found.card};
	hsa_signal_t signal = new_signal(1), none = {0}, no_signal = {(uintptr_t)value & ~63ull};
	hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_EQ;
	hsa_signal_value_t one = 1;
	volatile hsa_signal_value_t *pointer;
	hsa_signal_group_t group;

	(void)state;
	E(hsa_signal_create, ERROR_INVALID_ARGUMENT, (1, 0, NULL, NULL));
	E(hsa_signal_create, ERROR_INVALID_ARGUMENT, (1, 1, NULL, &signal));
	E(hsa_signal_create, ERROR_INVALID_ARGUMENT, (1, 2, twice, &signal));
	E(hsa_signal_destroy, ERROR_INVALID_ARGUMENT, (none));
	E(hsa_signal_destroy, ERROR_INVALID_SIGNAL, (no_signal));
	OK(hsa_signal_group_create(1, &signal, 0, NULL, &group));
	E(hsa_signal_group_create, ERROR_INVALID_ARGUMENT, (0, &signal, 0, NULL, &group));
	E(hsa_signal_group_create, ERROR_INVALID_ARGUMENT, (1, NULL, 0, NULL, &group));
	E(hsa_signal_group_create, ERROR_INVALID_ARGUMENT, (1, &signal, 1, NULL, &group));
	E(hsa_signal_group_create, ERROR_INVALID_ARGUMENT, (1, &signal, 0, NULL, NULL));
	EACH(hsa_signal_group_t, hsa_signal_group_wait_any_scacquire, ERROR_INVALID_SIGNAL_GROUP,
	     (bad, &condition, &one, HSA_WAIT_STATE_ACTIVE, &signal, &one));
	E(hsa_signal_group_wait_any_scacquire, ERROR_INVALID_ARGUMENT,
	  (group, NULL, &one, HSA_WAIT_STATE_ACTIVE, &signal, &one));
	E(hsa_signal_group_wait_any_scacquire, ERROR_INVALID_ARGUMENT,
	  (group, &condition, NULL, HSA_WAIT_STATE_ACTIVE, &signal, &one));
	E(hsa_signal_group_wait_any_scacquire, ERROR_INVALID_ARGUMENT,
	  (group, &condition, &one, HSA_WAIT_STATE_ACTIVE, NULL, &one));
	OK(hsa_signal_group_destroy(group));
	E(hsa_signal_group_destroy, ERROR_INVALID_SIGNAL_GROUP, (group));
	E(hsa_amd_signal_create, ERROR_INVALID_ARGUMENT, (1, 0, NULL, 0, NULL));
	E(hsa_amd_signal_create, ERROR_INVALID_ARGUMENT, (1, 0, NULL, 1 << 20, &signal));
	E(hsa_amd_signal_async_handler, ERROR_INVALID_SIGNAL, (none, HSA_SIGNAL_CONDITION_EQ, 0, CALLBACK, NULL));
	E(hsa_amd_signal_async_handler, ERROR_INVALID_SIGNAL, (no_signal, HSA_SIGNAL_CONDITION_EQ, 0, CALLBACK, NULL));
	E(hsa_amd_signal_async_handler, ERROR_INVALID_ARGUMENT, (signal, HSA_SIGNAL_CONDITION_EQ, 0, NULL, NULL));
	E(hsa_amd_signal_async_handler, ERROR_INVALID_ARGUMENT, (signal, 4, 0, CALLBACK, NULL));
	E(hsa_amd_async_function, ERROR_INVALID_ARGUMENT, (NULL, NULL));
	E(hsa_amd_signal_value_pointer, ERROR_INVALID_ARGUMENT, (none, &pointer));
	E(hsa_amd_signal_value_pointer, ERROR_INVALID_ARGUMENT, (signal, NULL));
	OK(hsa_signal_destroy(signal));
	assert_int_equal(end(), 0);
}

static void queues(void **state)
{
	hsa_signal_t bell = new_signal(0), none = {0};
	volatile hsa_signal_value_t *pointer;
	hsa_queue_t *queue = NULL, *other = NULL, no_queue;
	uint32_t most = 0;

	(void)state;
	OK(hsa_agent_get_info(found.card, HSA_AGENT_INFO_QUEUE_MAX_SIZE, &most));
	OK(hsa_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &queue));
	EACH(hsa_agent_t, hsa_queue_create, ERROR_INVALID_AGENT, (bad, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &other));
	E(hsa_queue_create, ERROR_INVALID_QUEUE_CREATION, (found.host, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &other));
	E(hsa_queue_create, ERROR_INVALID_QUEUE_CREATION,
	  (found.card, 16, HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL, 0, 0, &other));
	E(hsa_queue_create, ERROR_INVALID_ARGUMENT, (found.card, 0, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &other));
	E(hsa_queue_create, ERROR_INVALID_ARGUMENT, (found.card, 24, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &other));
	E(hsa_queue_create, ERROR_INVALID_ARGUMENT, (found.card, 2 * most, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &other));
	E(hsa_queue_create, ERROR_INVALID_ARGUMENT, (found.card, 16, 9, NULL, NULL, 0, 0, &other));
	E(hsa_queue_create, ERROR_INVALID_ARGUMENT, (found.card, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, NULL));
	E(hsa_soft_queue_create, ERROR_INVALID_ARGUMENT, (found.fine, 0, HSA_QUEUE_TYPE_SINGLE, 2, bell, &other));
	E(hsa_soft_queue_create, ERROR_INVALID_ARGUMENT, (found.fine, 6, HSA_QUEUE_TYPE_SINGLE, 2, bell, &other));
	E(hsa_soft_queue_create, ERROR_INVALID_ARGUMENT, (found.fine, 8, 9, 2, bell, &other));
	E(hsa_soft_queue_create, ERROR_INVALID_ARGUMENT, (found.fine, 8, HSA_QUEUE_TYPE_SINGLE, 2, none, &other));
	E(hsa_soft_queue_create, ERROR_INVALID_ARGUMENT, (found.fine, 8, HSA_QUEUE_TYPE_SINGLE, 2, bell, NULL));
	E(hsa_amd_signal_value_pointer, ERROR_INVALID_SIGNAL, (queue->doorbell_signal, &pointer));
	E(hsa_signal_destroy, ERROR_INVALID_SIGNAL, (queue->doorbell_signal));
	E(hsa_queue_inactivate, ERROR_INVALID_ARGUMENT, (NULL));
	E(hsa_queue_inactivate, ERROR_INVALID_QUEUE, (&no_queue));
	E(hsa_queue_destroy, ERROR_INVALID_ARGUMENT, (NULL));
	E(hsa_queue_destroy, ERROR_INVALID_QUEUE, (&no_queue));
	E(hsa_amd_profiling_set_profiler_enabled, ERROR_INVALID_ARGUMENT, (NULL, 1));
	E(hsa_amd_profiling_set_profiler_enabled, ERROR_INVALID_QUEUE, (&no_queue, 1));
	OK(hsa_queue_destroy(queue));
	E(hsa_queue_destroy, ERROR_INVALID_QUEUE, (queue));
	E(hsa_amd_register_system_event_handler, ERROR_INVALID_ARGUMENT, (NULL, NULL));
	OK(hsa_amd_register_system_event_handler(CALLBACK, NULL));
	E(hsa_amd_register_system_event_handler, ERROR, (CALLBACK, NULL));
	assert_int_equal(end(), 0);
}

static hsa_code_object_reader_t reader_of(const char *name)
{
	hsa_code_object_reader_t reader = {0};
	int file = open(code_path(name), O_RDONLY);

	OK(hsa_code_object_reader_create_from_file(file, &reader));
	close(file);
	return reader;
}

static void executables(void **state)
{
	hsa_code_object_reader_t reader = reader_of("external"), other;
	hsa_executable_t executable = {0}, frozen = load_code("test");
	hsa_loaded_code_object_t loaded;
	uint32_t result = 7;
	char *x = fine_memory(64);

	(void)state;
	E(hsa_code_object_reader_create_from_file, ERROR_INVALID_FILE, (-1, &other));
	E(hsa_code_object_reader_create_from_file, ERROR_INVALID_ARGUMENT, (0, NULL));
	E(hsa_code_object_reader_create_from_memory, ERROR_INVALID_ARGUMENT, (NULL, 5, &other));
	E(hsa_code_object_reader_create_from_memory, ERROR_INVALID_ARGUMENT, (value, 0, &other));
	E(hsa_code_object_reader_create_from_memory, ERROR_INVALID_ARGUMENT, (value, 5, NULL));
	E(hsa_executable_create, ERROR_INVALID_ARGUMENT, (9, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, &executable));
	E(hsa_executable_create, ERROR_INVALID_ARGUMENT, (HSA_PROFILE_FULL, 9, NULL, &executable));
	E(hsa_executable_create, ERROR_INVALID_ARGUMENT, (HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, NULL));
	E(hsa_executable_create_alt, ERROR_INVALID_ARGUMENT, (9, 0, NULL, &executable));
	E(hsa_executable_create_alt, ERROR_INVALID_ARGUMENT, (HSA_PROFILE_FULL, 0, NULL, NULL));
	OK(hsa_executable_create(HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, &executable));
	EACH(hsa_executable_t, hsa_executable_load_agent_code_object, ERROR_INVALID_EXECUTABLE,
	     (bad, found.card, reader, NULL, &loaded));
	E(hsa_executable_load_agent_code_object, ERROR_FROZEN_EXECUTABLE, (frozen, found.card, reader, NULL, &loaded));
	EACH(hsa_agent_t, hsa_executable_load_agent_code_object, ERROR_INVALID_AGENT, (executable, bad, reader, NULL, NULL));
	EACH(hsa_code_object_reader_t, hsa_executable_load_agent_code_object, ERROR_INVALID_CODE_OBJECT_READER,
	     (executable, found.card, bad, NULL, NULL));
	E(hsa_executable_load_agent_code_object, ERROR_INCOMPATIBLE_ARGUMENTS, (executable, found.host, reader, NULL, NULL));
	OK(hsa_code_object_reader_create_from_memory(value, sizeof(value), &other));
	E(hsa_executable_load_agent_code_object, ERROR_INVALID_CODE_OBJECT, (executable, found.card, other, NULL, NULL));
	EACH(hsa_executable_t, hsa_executable_load_program_code_object, ERROR_INVALID_EXECUTABLE, (bad, reader, NULL, NULL));
	E(hsa_executable_load_program_code_object, ERROR_FROZEN_EXECUTABLE, (frozen, reader, NULL, NULL));
	E(hsa_executable_load_program_code_object, ERROR_INVALID_CODE_OBJECT_READER,
	  (executable, (hsa_code_object_reader_t){0}, NULL, NULL));
	E(hsa_executable_load_program_code_object, ERROR_INCOMPATIBLE_ARGUMENTS, (executable, reader, NULL, NULL));
	OK(hsa_executable_load_agent_code_object(executable, found.card, reader, NULL, &loaded));
	OK(hsa_code_object_reader_destroy(reader));
	E(hsa_code_object_reader_destroy, ERROR_INVALID_CODE_OBJECT_READER, (reader));
	EACH(hsa_executable_t, hsa_executable_validate, ERROR_INVALID_EXECUTABLE, (bad, &result));
	E(hsa_executable_validate, ERROR_INVALID_ARGUMENT, (executable, NULL));
	EACH(hsa_executable_t, hsa_executable_validate_alt, ERROR_INVALID_EXECUTABLE, (bad, NULL, &result));
	E(hsa_executable_validate_alt, ERROR_INVALID_ARGUMENT, (executable, NULL, NULL));
	OK(hsa_executable_validate(executable, &result));
	assert_int_not_equal(result, 0);
	EACH(hsa_executable_t, hsa_executable_freeze, ERROR_INVALID_EXECUTABLE, (bad, NULL));
	E(hsa_executable_freeze, ERROR_VARIABLE_UNDEFINED, (executable, NULL));
	E(hsa_executable_freeze, ERROR_FROZEN_EXECUTABLE, (frozen, NULL));
	EACH(hsa_executable_t, hsa_executable_get_info, ERROR_INVALID_EXECUTABLE, (bad, HSA_EXECUTABLE_INFO_STATE, value));
	E(hsa_executable_get_info, ERROR_INVALID_ARGUMENT, (executable, 9, value));
	E(hsa_executable_get_info, ERROR_INVALID_ARGUMENT, (executable, HSA_EXECUTABLE_INFO_STATE, NULL));
	EACH(hsa_executable_t, hsa_executable_global_variable_define, ERROR_INVALID_EXECUTABLE, (bad, "v", x));
	E(hsa_executable_global_variable_define, ERROR_INVALID_ARGUMENT, (executable, NULL, x));
	E(hsa_executable_global_variable_define, ERROR_INVALID_SYMBOL_NAME, (executable, "", x));
	E(hsa_executable_global_variable_define, ERROR_FROZEN_EXECUTABLE, (frozen, "v", x));
	OK(hsa_executable_global_variable_define(executable, "external_factor", x));
	E(hsa_executable_global_variable_define, ERROR_VARIABLE_ALREADY_DEFINED, (executable, "external_factor", x));
	EACH(hsa_executable_t, hsa_executable_agent_global_variable_define, ERROR_INVALID_EXECUTABLE,
	     (bad, found.card, "v", x));
	EACH(hsa_agent_t, hsa_executable_agent_global_variable_define, ERROR_INVALID_AGENT, (executable, bad, "v", x));
	E(hsa_executable_agent_global_variable_define, ERROR_INVALID_ARGUMENT, (executable, found.card, NULL, x));
	E(hsa_executable_agent_global_variable_define, ERROR_INVALID_SYMBOL_NAME, (executable, found.card, "", x));
	E(hsa_executable_agent_global_variable_define, ERROR_FROZEN_EXECUTABLE, (frozen, found.card, "v", x));
	E(hsa_executable_agent_global_variable_define, ERROR_VARIABLE_ALREADY_DEFINED,
	  (executable, found.card, "external_factor", x));
	EACH(hsa_executable_t, hsa_executable_readonly_variable_define, ERROR_INVALID_EXECUTABLE, (bad, found.card, "v", x));
	EACH(hsa_agent_t, hsa_executable_readonly_variable_define, ERROR_INVALID_AGENT, (executable, bad, "v", x));
	E(hsa_executable_readonly_variable_define, ERROR_INVALID_ARGUMENT, (executable, found.card, NULL, x));
	E(hsa_executable_readonly_variable_define, ERROR_INVALID_SYMBOL_NAME, (executable, found.card, "", x));
	E(hsa_executable_readonly_variable_define, ERROR_FROZEN_EXECUTABLE, (frozen, found.card, "v", x));
	E(hsa_executable_readonly_variable_define, ERROR_VARIABLE_ALREADY_DEFINED,
	  (executable, found.card, "external_factor", x));
	OK(hsa_executable_readonly_variable_define(executable, found.card, "external_table", x));
	OK(hsa_executable_freeze(executable, NULL));
	OK(hsa_executable_destroy(executable));
	E(hsa_executable_destroy, ERROR_INVALID_EXECUTABLE, (executable));
	OK(hsa_executable_destroy(frozen));
	assert_int_equal(end(), 0);
}

static void symbols(void **state)
{
	hsa_executable_t executable = load_code("test");
	hsa_executable_symbol_t symbol;
	hsa_agent_t card = found.card;

	(void)state;
	EACH(hsa_executable_t, hsa_executable_get_symbol_by_name, ERROR_INVALID_EXECUTABLE, (bad, "empty", &card, &symbol));
	E(hsa_executable_get_symbol_by_name, ERROR_INVALID_SYMBOL_NAME, (executable, "no such", &card, &symbol));
	E(hsa_executable_get_symbol_by_name, ERROR_INVALID_SYMBOL_NAME, (executable, "empty", NULL, &symbol));
	E(hsa_executable_get_symbol_by_name, ERROR_INVALID_ARGUMENT, (executable, NULL, &card, &symbol));
	E(hsa_executable_get_symbol_by_name, ERROR_INVALID_ARGUMENT, (executable, "empty", &card, NULL));
	EACH(hsa_executable_t, hsa_executable_get_symbol, ERROR_INVALID_EXECUTABLE, (bad, NULL, "empty", card, 0, &symbol));
	E(hsa_executable_get_symbol, ERROR_INVALID_SYMBOL_NAME, (executable, NULL, "no such", card, 0, &symbol));
	E(hsa_executable_get_symbol, ERROR_INVALID_ARGUMENT, (executable, NULL, NULL, card, 0, &symbol));
	E(hsa_executable_get_symbol, ERROR_INVALID_ARGUMENT, (executable, NULL, "empty", card, 0, NULL));
	OK(hsa_executable_get_symbol(executable, NULL, "&empty", card, 0, &symbol));
	E(hsa_executable_symbol_get_info, ERROR_INVALID_EXECUTABLE_SYMBOL, ((hsa_executable_symbol_t){0}, 0, value));
	E(hsa_executable_symbol_get_info, ERROR_INVALID_ARGUMENT, (symbol, 99, value));
	E(hsa_executable_symbol_get_info, ERROR_INVALID_ARGUMENT, (symbol, 0, NULL));
	E(hsa_executable_symbol_get_info, ERROR_INVALID_ARGUMENT,
	  (symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, value));
	EACH(hsa_executable_t, hsa_executable_iterate_symbols, ERROR_INVALID_EXECUTABLE, (bad, CALLBACK, NULL));
	E(hsa_executable_iterate_symbols, ERROR_INVALID_ARGUMENT, (executable, NULL, NULL));
	EACH(hsa_executable_t, hsa_executable_iterate_program_symbols, ERROR_INVALID_EXECUTABLE, (bad, CALLBACK, NULL));
	E(hsa_executable_iterate_program_symbols, ERROR_INVALID_ARGUMENT, (executable, NULL, NULL));
	EACH(hsa_executable_t, hsa_executable_iterate_agent_symbols, ERROR_INVALID_EXECUTABLE, (bad, card, CALLBACK, NULL));
	E(hsa_executable_iterate_agent_symbols, ERROR_INVALID_ARGUMENT, (executable, card, NULL, NULL));
	OK(hsa_executable_destroy(executable));
	E(hsa_executable_symbol_get_info, ERROR_INVALID_EXECUTABLE_SYMBOL, (symbol, 0, value));
	assert_int_equal(end(), 0);
}

static hsa_status_t give_memory(size_t size, hsa_callback_data_t data, void **address)
{
	(void)data;
	*address = malloc(size);
	return HSA_STATUS_SUCCESS;
}

/* HSA 1.0: the code object of a file is deserialized, loaded, and asked for its symbols. */
static void code_objects(void **state)
{
	static uint8_t file[1 << 20];
	int opened = open(code_path("test"), O_RDONLY);
	size_t size = (size_t)read(opened, file, sizeof(file)), again = 0;
	hsa_code_object_t code = {0}, none = {0};
	hsa_executable_t executable;
	hsa_code_symbol_t symbol;
	void *copy = NULL;

	(void)state;
	close(opened);
	E(hsa_code_object_deserialize, ERROR_INVALID_ARGUMENT, (NULL, size, NULL, &code));
	E(hsa_code_object_deserialize, ERROR_INVALID_ARGUMENT, (file, 0, NULL, &code));
	E(hsa_code_object_deserialize, ERROR_INVALID_ARGUMENT, (file, size, NULL, NULL));
	OK(hsa_code_object_deserialize(file, size, NULL, &code));
	OK(hsa_executable_create(HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, &executable));
	E(hsa_executable_load_code_object, ERROR_INVALID_EXECUTABLE, ((hsa_executable_t){0}, found.card, code, NULL));
	E(hsa_executable_load_code_object, ERROR_INVALID_AGENT, (executable, (hsa_agent_t){0}, code, NULL));
	E(hsa_executable_load_code_object, ERROR_INVALID_CODE_OBJECT, (executable, found.card, none, NULL));
	E(hsa_executable_load_code_object, ERROR_INCOMPATIBLE_ARGUMENTS, (executable, found.host, code, NULL));
	OK(hsa_executable_load_code_object(executable, found.card, code, NULL));
	OK(hsa_executable_freeze(executable, NULL));
	E(hsa_executable_load_code_object, ERROR_FROZEN_EXECUTABLE, (executable, found.card, code, NULL));
	assert_true(kernel_of(executable, "empty").object != 0);
	E(hsa_code_object_get_info, ERROR_INVALID_CODE_OBJECT, (none, HSA_CODE_OBJECT_INFO_TYPE, value));
	E(hsa_code_object_get_info, ERROR_INVALID_ARGUMENT, (code, 9, value));
	E(hsa_code_object_get_info, ERROR_INVALID_ARGUMENT, (code, HSA_CODE_OBJECT_INFO_TYPE, NULL));
	E(hsa_code_object_get_symbol, ERROR_INVALID_CODE_OBJECT, (none, "empty", &symbol));
	E(hsa_code_object_get_symbol, ERROR_INVALID_SYMBOL_NAME, (code, "no such", &symbol));
	E(hsa_code_object_get_symbol, ERROR_INVALID_ARGUMENT, (code, NULL, &symbol));
	E(hsa_code_object_get_symbol, ERROR_INVALID_ARGUMENT, (code, "empty", NULL));
	E(hsa_code_object_get_symbol_from_name, ERROR_INVALID_CODE_OBJECT, (none, NULL, "empty", &symbol));
	E(hsa_code_object_get_symbol_from_name, ERROR_INVALID_SYMBOL_NAME, (code, NULL, "no such", &symbol));
	E(hsa_code_object_get_symbol_from_name, ERROR_INVALID_ARGUMENT, (code, NULL, NULL, &symbol));
	E(hsa_code_object_iterate_symbols, ERROR_INVALID_CODE_OBJECT, (none, CALLBACK, NULL));
	E(hsa_code_object_iterate_symbols, ERROR_INVALID_ARGUMENT, (code, NULL, NULL));
	OK(hsa_code_object_get_symbol(code, "empty", &symbol));
	OK(hsa_code_symbol_get_info(symbol, HSA_CODE_SYMBOL_INFO_NAME, value));
	assert_memory_equal(value, "empty", 5);
	E(hsa_code_symbol_get_info, ERROR_INVALID_CODE_SYMBOL, ((hsa_code_symbol_t){0}, 0, value));
	E(hsa_code_symbol_get_info, ERROR_INVALID_ARGUMENT, (symbol, 22, value));
	E(hsa_code_symbol_get_info, ERROR_INVALID_ARGUMENT, (symbol, 0, NULL));
	E(hsa_code_object_serialize, ERROR_INVALID_CODE_OBJECT,
	  (none, give_memory, (hsa_callback_data_t){0}, NULL, &copy, &again));
	E(hsa_code_object_serialize, ERROR_INVALID_ARGUMENT, (code, NULL, (hsa_callback_data_t){0}, NULL, &copy, &again));
	OK(hsa_code_object_serialize(code, give_memory, (hsa_callback_data_t){0}, NULL, &copy, &again));
	assert_true(again == size && !memcmp(copy, file, size));
	free(copy);
	OK(hsa_code_object_destroy(code));
	E(hsa_code_object_destroy, ERROR_INVALID_CODE_OBJECT, (code));
	OK(hsa_executable_destroy(executable));
	assert_int_equal(end(), 0);
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data)
{
	*(hsa_amd_memory_pool_t *)data = pool;
	return HSA_STATUS_INFO_BREAK;
}

static void programs(void **state)
{
	hsa_ext_control_directives_t none = {0};
	hsa_ext_program_t program = {0};
	hsa_code_object_t code;

	(void)state;
	E(hsa_ext_program_create, ERROR_INVALID_ARGUMENT, (2, HSA_PROFILE_FULL, 0, NULL, &program));
	E(hsa_ext_program_create, ERROR_INVALID_ARGUMENT, (HSA_MACHINE_MODEL_LARGE, 2, 0, NULL, &program));
	E(hsa_ext_program_create, ERROR_INVALID_ARGUMENT, (HSA_MACHINE_MODEL_LARGE, HSA_PROFILE_FULL, 3, NULL, &program));
	E(hsa_ext_program_create, ERROR_INVALID_ARGUMENT, (HSA_MACHINE_MODEL_LARGE, HSA_PROFILE_FULL, 0, NULL, NULL));
	OK(hsa_ext_program_create(HSA_MACHINE_MODEL_LARGE, HSA_PROFILE_FULL, 0, NULL, &program));
	E(hsa_ext_program_iterate_modules, ERROR_INVALID_ARGUMENT, (program, NULL, NULL));
	E(hsa_ext_program_get_info, ERROR_INVALID_ARGUMENT, (program, 3, value));
	E(hsa_ext_program_get_info, ERROR_INVALID_ARGUMENT, (program, HSA_EXT_PROGRAM_INFO_PROFILE, NULL));
	EACH(hsa_isa_t, hsa_ext_program_finalize, ERROR_INVALID_ISA, (program, bad, 0, none, NULL, 0, &code));
	OK(hsa_ext_program_destroy(program));
	assert_int_equal(end(), 0);
}

static void amd_extension(void **state)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	hsa_amd_profiling_dispatch_time_t time;
	hsa_amd_memory_pool_t pool = {0};
	hsa_agent_t card = found.card, none = {0};
	hsa_signal_t signal = new_signal(1), no_signal = {0};
	uint32_t *x = fine_memory(4096);
	uint64_t tick;
	void *address;

	(void)state;
	assert_int_equal(hsa_amd_agent_iterate_memory_pools(found.host, take_pool, &pool), HSA_STATUS_INFO_BREAK);
	EACH(hsa_agent_t, hsa_amd_agent_iterate_memory_pools, ERROR_INVALID_AGENT, (bad, CALLBACK, NULL));
	E(hsa_amd_agent_iterate_memory_pools, ERROR_INVALID_ARGUMENT, (card, NULL, NULL));
	EACH(hsa_amd_memory_pool_t, hsa_amd_memory_pool_allocate, ERROR_INVALID_MEMORY_POOL, (bad, 64, 0, &address));
	E(hsa_amd_memory_pool_allocate, ERROR_INVALID_ALLOCATION, (pool, SIZE_MAX, 0, &address));
	E(hsa_amd_memory_pool_allocate, ERROR_INVALID_ARGUMENT, (pool, 0, 0, &address));
	E(hsa_amd_memory_pool_allocate, ERROR_INVALID_ARGUMENT, (pool, 64, 0, NULL));
	E(hsa_amd_agents_allow_access, ERROR_INVALID_ARGUMENT, (0, &card, NULL, x));
	E(hsa_amd_agents_allow_access, ERROR_INVALID_ARGUMENT, (1, NULL, NULL, x));
	E(hsa_amd_agents_allow_access, ERROR_INVALID_ARGUMENT, (1, &card, &(uint32_t){0}, x));
	E(hsa_amd_agents_allow_access, ERROR_INVALID_ARGUMENT, (1, &card, NULL, NULL));
	E(hsa_amd_memory_async_copy, ERROR_INVALID_AGENT, (x, none, x + 64, card, 64, 0, NULL, signal));
	E(hsa_amd_memory_async_copy, ERROR_INVALID_AGENT, (x, card, x + 64, none, 64, 0, NULL, signal));
	E(hsa_amd_memory_async_copy, ERROR_INVALID_SIGNAL, (x, card, x + 64, card, 64, 0, NULL, no_signal));
	E(hsa_amd_memory_async_copy, ERROR_INVALID_ARGUMENT, (NULL, card, x, card, 64, 0, NULL, signal));
	E(hsa_amd_memory_async_copy, ERROR_INVALID_ARGUMENT, (x, card, NULL, card, 64, 0, NULL, signal));
	E(hsa_amd_memory_async_copy, ERROR_INVALID_ARGUMENT, (x, card, x + 64, card, 64, 1, NULL, signal));
	E(hsa_amd_memory_async_copy, ERROR_INVALID_ARGUMENT, (x, card, x + 64, card, 64, 0, &signal, signal));
	E(hsa_amd_memory_fill, ERROR_INVALID_ARGUMENT, (NULL, 1, 1));
	E(hsa_amd_memory_fill, ERROR_INVALID_ALLOCATION, (x, 1, 1025));
	E(hsa_amd_memory_fill, ERROR_INVALID_ALLOCATION, ((void *)0x1000, 1, 1));
	E(hsa_amd_memory_lock, ERROR_INVALID_AGENT, (value, 64, &none, 1, &address));
	E(hsa_amd_memory_lock, ERROR_INVALID_ARGUMENT, (NULL, 64, &card, 1, &address));
	E(hsa_amd_memory_lock, ERROR_INVALID_ARGUMENT, (value, 0, &card, 1, &address));
	E(hsa_amd_memory_lock, ERROR_INVALID_ARGUMENT, (value, 64, NULL, 1, &address));
	E(hsa_amd_memory_lock, ERROR_INVALID_ARGUMENT, (value, 64, &card, 1, NULL));
	E(hsa_amd_memory_lock_to_pool, ERROR_INVALID_AGENT, (value, 64, &none, 1, pool, 0, &address));
	E(hsa_amd_memory_lock_to_pool, ERROR_INVALID_ARGUMENT, (value, 0, &card, 1, pool, 0, &address));
	EACH(hsa_amd_memory_pool_t, hsa_amd_memory_lock_to_pool, ERROR_INVALID_MEMORY_POOL,
	     (value, 64, &card, 1, bad, 0, &address));
	E(hsa_amd_pointer_info, ERROR_INVALID_ARGUMENT, (NULL, &info, NULL, NULL, NULL));
	E(hsa_amd_pointer_info, ERROR_INVALID_ARGUMENT, (x, NULL, NULL, NULL, NULL));
	E(hsa_amd_profiling_get_dispatch_time, ERROR_INVALID_AGENT, (none, signal, &time));
	E(hsa_amd_profiling_get_dispatch_time, ERROR_INVALID_SIGNAL, (card, no_signal, &time));
	E(hsa_amd_profiling_get_dispatch_time, ERROR_INVALID_ARGUMENT, (card, signal, NULL));
	E(hsa_amd_profiling_convert_tick_to_system_domain, ERROR_INVALID_AGENT, (none, 1, &tick));
	E(hsa_amd_profiling_convert_tick_to_system_domain, ERROR_INVALID_ARGUMENT, (card, 1, NULL));
	OK(hsa_signal_destroy(signal));
	assert_int_equal(end(), 0);
}

static void amd_sharing(void **state)
{
	hsa_amd_memory_pool_t pool = {0};
	hsa_agent_t card = found.card;
	hsa_signal_t signal = new_signal(1);
	hsa_amd_coherency_type_t type;
	hsa_queue_t *queue = NULL;
	uint32_t *x = fine_memory(4096), mask[2] = {0};

	(void)state;
	assert_int_equal(hsa_amd_agent_iterate_memory_pools(found.host, take_pool, &pool), HSA_STATUS_INFO_BREAK);
	OK(hsa_queue_create(card, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
	E(hsa_amd_ipc_memory_create, ERROR_INVALID_ARGUMENT, (NULL, 64, (hsa_amd_ipc_memory_t *)value));
	E(hsa_amd_ipc_memory_create, ERROR_INVALID_ARGUMENT, (x + 1, 64, (hsa_amd_ipc_memory_t *)value));
	E(hsa_amd_ipc_memory_create, ERROR_INVALID_ARGUMENT, (x, 4097, (hsa_amd_ipc_memory_t *)value));
	E(hsa_amd_ipc_memory_create, ERROR_INVALID_ARGUMENT, (x, 64, NULL));
	E(hsa_amd_ipc_memory_attach, ERROR_INVALID_ARGUMENT,
	  ((hsa_amd_ipc_memory_t *)value, 64, 1, &card, (void **)value));
	E(hsa_amd_ipc_memory_detach, ERROR_INVALID_ARGUMENT, (x));
	E(hsa_amd_ipc_signal_create, ERROR_INVALID_ARGUMENT, (signal, (hsa_amd_ipc_signal_t *)value));
	E(hsa_amd_ipc_signal_attach, ERROR_INVALID_ARGUMENT, ((hsa_amd_ipc_signal_t *)value, &signal));
	E(hsa_amd_interop_map_buffer, ERROR_INVALID_ARGUMENT,
	  (1, &card, 0, 0, (size_t *)value, (void **)value, NULL, NULL));
	EACH(hsa_amd_memory_pool_t, hsa_amd_memory_pool_can_migrate, ERROR_INVALID_MEMORY_POOL, (pool, bad, &yes));
	E(hsa_amd_memory_pool_can_migrate, ERROR_INVALID_ARGUMENT, (pool, pool, NULL));
	EACH(hsa_amd_memory_pool_t, hsa_amd_memory_migrate, ERROR_INVALID_MEMORY_POOL, (x, bad, 0));
	E(hsa_amd_memory_migrate, ERROR_INVALID_ARGUMENT, (x, pool, 1));
	E(hsa_amd_memory_migrate, ERROR_INVALID_ARGUMENT, (value, pool, 0));
	EACH(hsa_agent_t, hsa_amd_coherency_get_type, ERROR_INVALID_AGENT, (bad, &type));
	E(hsa_amd_coherency_get_type, ERROR_INVALID_ARGUMENT, (card, NULL));
	EACH(hsa_agent_t, hsa_amd_coherency_set_type, ERROR_INVALID_AGENT, (bad, HSA_AMD_COHERENCY_TYPE_COHERENT));
	E(hsa_amd_coherency_set_type, ERROR_INVALID_ARGUMENT, (card, HSA_AMD_COHERENCY_TYPE_NONCOHERENT));
	E(hsa_amd_pointer_info_set_userdata, ERROR_INVALID_ARGUMENT, (value, NULL));
	E(hsa_amd_register_deallocation_callback, ERROR_INVALID_ALLOCATION, (value, CALLBACK, NULL));
	E(hsa_amd_register_deallocation_callback, ERROR_INVALID_ARGUMENT, (x, NULL, NULL));
	E(hsa_amd_deregister_deallocation_callback, ERROR_INVALID_ARGUMENT, (x, CALLBACK));
	E(hsa_amd_profiling_get_async_copy_time, ERROR_INVALID_SIGNAL,
	  (signal, (hsa_amd_profiling_async_copy_time_t *)value));
	E(hsa_amd_profiling_get_async_copy_time, ERROR_INVALID_ARGUMENT, (signal, NULL));
	E(hsa_amd_queue_cu_set_mask, ERROR_INVALID_QUEUE, (NULL, 32, mask));
	E(hsa_amd_queue_cu_set_mask, ERROR_INVALID_ARGUMENT, (queue, 31, mask));
	E(hsa_amd_queue_cu_set_mask, ERROR_INVALID_ARGUMENT, (queue, 32, NULL));
	E(hsa_amd_queue_cu_get_mask, ERROR_INVALID_QUEUE, (NULL, 32, mask));
	E(hsa_amd_queue_cu_get_mask, ERROR_INVALID_ARGUMENT, (queue, 0, mask));
	E(hsa_amd_queue_cu_get_mask, ERROR_INVALID_ARGUMENT, (queue, 32, NULL));
	E(hsa_amd_queue_set_priority, ERROR_INVALID_QUEUE, ((hsa_queue_t *)value, HSA_AMD_QUEUE_PRIORITY_NORMAL));
	E(hsa_amd_queue_set_priority, ERROR_INVALID_ARGUMENT, (queue, 3));
	OK(hsa_queue_destroy(queue));
	assert_int_equal(end(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(system_and_agents), cmocka_unit_test(instruction_sets), cmocka_unit_test(memory),
		cmocka_unit_test(signals),	     cmocka_unit_test(queues),		 cmocka_unit_test(executables),
		cmocka_unit_test(symbols),	     cmocka_unit_test(code_objects),	 cmocka_unit_test(amd_extension),
		cmocka_unit_test(programs),	     cmocka_unit_test(amd_sharing),
	};

	return errors_run(tests);
}

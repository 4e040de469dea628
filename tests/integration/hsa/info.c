// SPDX-License-Identifier: MIT
/* SYS-43: what system, agents, ISA, regions and pools say of themselves, by the limits of the specification. */
#include <time.h>

#include "hsa_test.h"

#define IS_POWER_OF_2(n) ((n) && !((n) & ((n) - 1)))

static void the_system(void **state)
{
	uint64_t frequency = 0, first = 0, last = 0, wait = 0;
	hsa_machine_model_t model = -1;
	hsa_endianness_t endianness = -1;
	uint8_t extensions[128];

	(void)state;
	OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
	assert_in_range(frequency, 1000000, 400000000);
	OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &first));
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &last));
	assert_true(last > first);
	OK(hsa_system_get_info(HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT, &wait));
	assert_true(wait > 0);
	OK(hsa_system_get_info(HSA_SYSTEM_INFO_MACHINE_MODEL, &model));
	assert_int_equal(model, HSA_MACHINE_MODEL_LARGE);
	OK(hsa_system_get_info(HSA_SYSTEM_INFO_ENDIANNESS, &endianness));
	assert_int_equal(endianness, HSA_ENDIANNESS_LITTLE);
	OK(hsa_system_get_info(HSA_SYSTEM_INFO_EXTENSIONS, extensions));
}

static uint32_t number(hsa_agent_t agent, uint32_t attribute)
{
	uint32_t value = 0;

	OK(hsa_agent_get_info(agent, attribute, &value));
	return value;
}

static void the_card(void **state)
{
	uint16_t workgroup[3];
	hsa_dim3_t grid;
	char name[64];

	(void)state;
	assert_int_equal(found.agents, 2);
	memset(name, 'x', sizeof(name));
	OK(hsa_agent_get_info(found.card, HSA_AGENT_INFO_NAME, name));
	for (size_t i = strlen(name); i < sizeof(name); i++)
		assert_int_equal(name[i], 0);
	assert_int_equal(number(found.card, HSA_AGENT_INFO_FEATURE),
			 (unsigned)HSA_AGENT_FEATURE_KERNEL_DISPATCH | (unsigned)HSA_AGENT_FEATURE_AGENT_DISPATCH);
	assert_true(IS_POWER_OF_2(number(found.card, HSA_AGENT_INFO_WAVEFRONT_SIZE)));
	assert_in_range(number(found.card, HSA_AGENT_INFO_WAVEFRONT_SIZE), 1, 256);
	OK(hsa_agent_get_info(found.card, HSA_AGENT_INFO_WORKGROUP_MAX_DIM, workgroup));
	OK(hsa_agent_get_info(found.card, HSA_AGENT_INFO_GRID_MAX_DIM, &grid));
	for (int d = 0; d < 3; d++) {
		assert_in_range(workgroup[d], 1, number(found.card, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE));
		assert_true((&grid.x)[d] >= workgroup[d]);
		assert_true((&grid.x)[d] <= number(found.card, HSA_AGENT_INFO_GRID_MAX_SIZE));
	}
	assert_true(number(found.card, HSA_AGENT_INFO_FBARRIER_MAX_SIZE) >= 32);
	assert_true(IS_POWER_OF_2(number(found.card, HSA_AGENT_INFO_QUEUE_MAX_SIZE)));
	assert_true(IS_POWER_OF_2(number(found.card, HSA_AGENT_INFO_QUEUE_MIN_SIZE)));
	assert_int_equal(number(found.card, HSA_AGENT_INFO_QUEUE_TYPE), HSA_QUEUE_TYPE_MULTI);
	assert_true(number(found.card, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT) > 0);
}

/* Every attribute of the enumeration has an answer, for both agents. */
static void no_attribute_is_missing(void **state)
{
	uint8_t value[128];
	hsa_agent_t agents[2] = {found.host, found.card};

	(void)state;
	for (int a = 0; a < 2; a++) {
		for (uint32_t i = HSA_AGENT_INFO_NAME; i <= HSA_AGENT_INFO_FAST_F16_OPERATION; i++)
			OK(hsa_agent_get_info(agents[a], i, value));
		for (uint32_t i = HSA_AMD_AGENT_INFO_CHIP_ID; i <= HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT; i++)
			OK(hsa_agent_get_info(agents[a], i, value));
		FAILS(INVALID_ARGUMENT, hsa_agent_get_info(agents[a], 25, value));
		FAILS(INVALID_ARGUMENT, hsa_agent_get_info(agents[a], 0xafff, value));
	}
}

static hsa_status_t stop_at_first(hsa_agent_t agent, void *data)
{
	(void)agent;
	++*(int *)data;
	return HSA_STATUS_INFO_BREAK;
}

static void an_iteration_ends_when_its_callback_says_so(void **state)
{
	int calls = 0;

	(void)state;
	assert_int_equal(hsa_iterate_agents(stop_at_first, &calls), HSA_STATUS_INFO_BREAK);
	assert_int_equal(calls, 1);
}

static hsa_status_t take_isa(hsa_isa_t isa, void *data)
{
	*(hsa_isa_t *)data = isa;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_wavefront(hsa_wavefront_t wavefront, void *data)
{
	*(hsa_wavefront_t *)data = wavefront;
	return HSA_STATUS_SUCCESS;
}

static void the_isa(void **state)
{
	hsa_isa_t isa = {0}, same = {1}, of_agent = {2};
	hsa_wavefront_t wavefront;
	uint32_t length = 0, size = 0;
	uint64_t grid = 0;
	char name[100];
	bool modes[3] = {0}, compatible = false;

	(void)state;
	OK(hsa_agent_iterate_isas(found.card, take_isa, &isa));
	OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length));
	OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name));
	assert_int_equal(strlen(name) + 1, length);
	OK(hsa_isa_from_name(name, &same));
	OK(hsa_agent_get_info(found.card, HSA_AGENT_INFO_ISA, &of_agent));
	assert_true(isa.handle == same.handle && isa.handle == of_agent.handle);
	OK(hsa_isa_compatible(isa, same, &compatible));
	assert_true(compatible);
	OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES, modes));
	assert_true(modes[0] || modes[1] || modes[2]);
	OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_GRID_MAX_SIZE, &grid));
	assert_true(grid >= UINT32_MAX);
	OK(hsa_isa_iterate_wavefronts(isa, take_wavefront, &wavefront));
	OK(hsa_wavefront_get_info(wavefront, HSA_WAVEFRONT_INFO_SIZE, &size));
	assert_int_equal(size, number(found.card, HSA_AGENT_INFO_WAVEFRONT_SIZE));
	size = 0;
	OK(hsa_isa_get_info(isa, HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE, 0, &size));
	assert_int_equal(size, number(found.card, HSA_AGENT_INFO_WAVEFRONT_SIZE));
}

static size_t region_size(hsa_region_t region, uint32_t attribute)
{
	size_t value = 0;

	OK(hsa_region_get_info(region, attribute, &value));
	return value;
}

static void the_mandatory_regions(void **state)
{
	hsa_region_t usable[] = {found.fine, found.kernarg, found.local};
	bool allowed = false;

	(void)state;
	assert_true(found.readonly.handle && found.group.handle && found.private.handle);
	for (int i = 0; i < 3; i++) {
		assert_true(usable[i].handle);
		OK(hsa_region_get_info(usable[i], HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED, &allowed));
		assert_true(allowed);
		assert_true(IS_POWER_OF_2(region_size(usable[i], HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT)));
		assert_true(region_size(usable[i], HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE) > 0);
		assert_in_range(region_size(usable[i], HSA_REGION_INFO_ALLOC_MAX_SIZE), 1,
				region_size(usable[i], HSA_REGION_INFO_SIZE));
	}
	assert_true(region_size(found.group, HSA_REGION_INFO_SIZE) >= 32768);
	OK(hsa_region_get_info(found.group, HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED, &allowed));
	assert_false(allowed);
}

static void memory_is_usable_and_aligned(void **state)
{
	hsa_region_t usable[] = {found.fine, found.kernarg, found.local, found.readonly};

	(void)state;
	for (int i = 0; i < 4; i++) {
		size_t alignment = region_size(usable[i], HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT);
		char *a = NULL, *b = NULL, text[16] = "";

		OK(hsa_memory_allocate(usable[i], 1, (void **)&a));
		OK(hsa_memory_allocate(usable[i], 100000, (void **)&b));
		assert_true(a && b && !((uintptr_t)a % alignment) && !((uintptr_t)b % alignment));
		OK(hsa_memory_copy(b + 99990, "from host", 10));
		OK(hsa_memory_copy(a, b + 99990, 10));
		OK(hsa_memory_copy(text, a, 10));
		assert_string_equal(text, "from host");
		OK(hsa_memory_assign_agent(b, found.card, HSA_ACCESS_PERMISSION_RW));
		OK(hsa_memory_free(a));
		OK(hsa_memory_free(b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_system),
		cmocka_unit_test(the_card),
		cmocka_unit_test(no_attribute_is_missing),
		cmocka_unit_test(an_iteration_ends_when_its_callback_says_so),
		cmocka_unit_test(the_isa),
		cmocka_unit_test(the_mandatory_regions),
		cmocka_unit_test(memory_is_usable_and_aligned),
	};

	return cmocka_run_group_tests(tests, found_all, found_done);
}

// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <unistd.h>

#include "hsa_test.h"

struct found found;

const uint64_t bad_handles[BAD_HANDLES] = {0, 1, 0xdeadbeefdeadbeef, UINT64_MAX};

static hsa_status_t take_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type = -1;
	hsa_status_t status = hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);

	(void)data;
	found.agents++;
	if (type == HSA_DEVICE_TYPE_CPU)
		found.host = agent;
	else
		found.card = agent;
	return status;
}

static void take_global(hsa_region_t region)
{
	uint32_t flags = 0;

	hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags);
	if (flags & HSA_REGION_GLOBAL_FLAG_KERNARG)
		found.kernarg = region;
	else if (flags & HSA_REGION_GLOBAL_FLAG_FINE_GRAINED)
		found.fine = region;
	else
		found.local = region;
}

static hsa_status_t take_region(hsa_region_t region, void *data)
{
	hsa_region_segment_t segment = -1;
	hsa_status_t status = hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment);

	(void)data;
	if (segment == HSA_REGION_SEGMENT_GLOBAL)
		take_global(region);
	else if (segment == HSA_REGION_SEGMENT_READONLY)
		found.readonly = region;
	else if (segment == HSA_REGION_SEGMENT_GROUP)
		found.group = region;
	else if (segment == HSA_REGION_SEGMENT_PRIVATE)
		found.private = region;
	return status;
}

/* What has been found decides nothing here: the tests say what is missing. */
int found_all(void **state)
{
	(void)state;
	if (hsa_init() || hsa_iterate_agents(take_agent, NULL))
		return -1;
	return hsa_agent_iterate_regions(found.card, take_region, NULL);
}

int found_done(void **state)
{
	(void)state;
	hsa_shut_down();
	return 0;
}

const char *code_path(const char *name)
{
	static char path[4096];
	const char *out = getenv("TUTTI_OUT");

	snprintf(path, sizeof(path), "%s/tests/integration/kernels/%s.tco", out ? out : "build", name);
	return path;
}

hsa_executable_t load_code(const char *name)
{
	int file = open(code_path(name), O_RDONLY);
	hsa_code_object_reader_t reader;
	hsa_executable_t executable = {0};

	assert_true(file >= 0);
	OK(hsa_code_object_reader_create_from_file(file, &reader));
	OK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
	OK(hsa_executable_load_agent_code_object(executable, found.card, reader, NULL, NULL));
	OK(hsa_executable_freeze(executable, NULL));
	OK(hsa_code_object_reader_destroy(reader));
	close(file);
	return executable;
}

struct kernel kernel_of(hsa_executable_t executable, const char *name)
{
	hsa_executable_symbol_t symbol = {0};
	struct kernel kernel = {0};

	OK(hsa_executable_get_symbol_by_name(executable, name, &found.card, &symbol));
	OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel.object));
	OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel.group));
	OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
					  &kernel.private));
	OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
					  &kernel.kernarg));
	assert_true(kernel.object != 0);
	return kernel;
}

hsa_kernel_dispatch_packet_t dispatch_packet(const struct kernel *kernel, uint32_t items, uint16_t workgroup,
					     void *kernarg, hsa_signal_t signal)
{
	return (hsa_kernel_dispatch_packet_t){
		.header = HSA_PACKET_TYPE_INVALID,
		.setup = 1,
		.workgroup_size_x = workgroup,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = items,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.private_segment_size = kernel->private,
		.group_segment_size = kernel->group,
		.kernel_object = kernel->object,
		.kernarg_address = kernarg,
		.completion_signal = signal,
	};
}

void put(hsa_queue_t *queue, uint64_t index, const void *packet, uint16_t header)
{
	char *slot = (char *)queue->base_address + (index & (queue->size - 1)) * 64;
	uint32_t first;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		usleep(100);
	memcpy(slot + 4, (const char *)packet + 4, 60);
	memcpy(&first, packet, 4);
	__atomic_store_n((uint32_t *)slot, (first & 0xffff0000u) | header, __ATOMIC_RELEASE);
}

uint64_t launch(hsa_queue_t *queue, const struct kernel *kernel, uint32_t items, uint16_t workgroup, void *kernarg,
		hsa_signal_t signal)
{
	hsa_kernel_dispatch_packet_t packet = dispatch_packet(kernel, items, workgroup, kernarg, signal);
	uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);

	put(queue, index, &packet, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 1));
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
	return index;
}

hsa_signal_t new_signal(hsa_signal_value_t value)
{
	hsa_signal_t signal = {0};

	OK(hsa_signal_create(value, 0, NULL, &signal));
	assert_true(signal.handle != 0);
	return signal;
}

void wait_zero(hsa_signal_t signal)
{
	uint64_t frequency = 0;

	OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
	assert_int_equal(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, 20 * frequency,
						   HSA_WAIT_STATE_BLOCKED), 0);
}

void *fine_memory(size_t bytes)
{
	void *memory = NULL;

	OK(hsa_memory_allocate(found.fine, bytes, &memory));
	assert_non_null(memory);
	memset(memory, 0, bytes);
	return memory;
}

void pokes(hsa_executable_t executable, const char *name, uint64_t value)
{
	struct word *args = fine_memory(sizeof(*args));
	struct kernel poke = kernel_of(executable, name);
	hsa_signal_t done = new_signal(1);
	hsa_queue_t *queue = NULL;

	*args = (struct word){fine_memory(8), value};
	OK(hsa_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
	launch(queue, &poke, 1, 1, args, done);
	wait_zero(done);
	assert_int_equal(*args->word, value);
	OK(hsa_queue_destroy(queue));
}

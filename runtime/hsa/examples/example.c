// SPDX-License-Identifier: MIT
#include "example.h"

#include <fcntl.h>
#include <libgen.h>
#include <unistd.h>

void check(hsa_status_t status, const char *what)
{
	const char *text = "?";

	if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK)
		return;
	hsa_status_string(status, &text);
	fprintf(stderr, "%s: %s\n", what, text);
	exit(1);
}

static hsa_status_t take_agent(hsa_agent_t agent, void *data)
{
	struct example *example = data;
	hsa_device_type_t type;

	CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_CPU)
		example->host = agent;
	else if (type == HSA_DEVICE_TYPE_GPU && !example->card.handle)
		example->card = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_region(hsa_region_t region, void *data)
{
	struct example *example = data;
	hsa_region_segment_t segment;
	uint32_t flags = 0;

	CHECK(hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment));
	if (segment == HSA_REGION_SEGMENT_GLOBAL)
		CHECK(hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags));
	if (flags & HSA_REGION_GLOBAL_FLAG_KERNARG)
		example->kernarg = region;
	return HSA_STATUS_SUCCESS;
}

/* The first global pool of an agent. */
static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_segment_t segment;

	CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	*(hsa_amd_memory_pool_t *)data = pool;
	return HSA_STATUS_INFO_BREAK;
}

static void load(struct example *example, const char *program)
{
	char folder[4000], path[4096];
	hsa_code_object_reader_t reader;
	int file;

	snprintf(folder, sizeof(folder), "%s", program);
	snprintf(path, sizeof(path), "%s/kernels.tco", dirname(folder));
	file = open(path, O_RDONLY);
	if (file < 0) {
		perror(path);
		exit(1);
	}
	CHECK(hsa_code_object_reader_create_from_file(file, &reader));
	CHECK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
					&example->executable));
	CHECK(hsa_executable_load_agent_code_object(example->executable, example->card, reader, NULL, NULL));
	CHECK(hsa_executable_freeze(example->executable, NULL));
	CHECK(hsa_code_object_reader_destroy(reader));
	close(file);
}

void example_begin(struct example *example, const char *program)
{
	*example = (struct example){0};
	CHECK(hsa_init());
	CHECK(hsa_iterate_agents(take_agent, example));
	if (!example->card.handle || !example->host.handle) {
		fprintf(stderr, "%s: no card, or no host\n", program);
		exit(1);
	}
	CHECK(hsa_agent_iterate_regions(example->card, take_region, example));
	CHECK(hsa_amd_agent_iterate_memory_pools(example->host, take_pool, &example->system));
	CHECK(hsa_amd_agent_iterate_memory_pools(example->card, take_pool, &example->local));
	load(example, program);
}

struct kernel example_kernel(const struct example *example, const char *name)
{
	hsa_executable_symbol_t symbol;
	struct kernel kernel = {0};

	CHECK(hsa_executable_get_symbol_by_name(example->executable, name, &example->card, &symbol));
	CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel.object));
	CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel.group));
	CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
					     &kernel.private));
	CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
					     &kernel.kernarg));
	return kernel;
}

hsa_queue_t *example_queue(const struct example *example, void (*callback)(hsa_status_t, hsa_queue_t *, void *),
			   void *data)
{
	hsa_queue_t *queue;

	CHECK(hsa_queue_create(example->card, 64, HSA_QUEUE_TYPE_MULTI, callback, data, UINT32_MAX, UINT32_MAX, &queue));
	return queue;
}

void *example_arguments(const struct example *example, size_t bytes)
{
	void *memory;

	CHECK(hsa_memory_allocate(example->kernarg, bytes, &memory));
	return memory;
}

hsa_signal_t example_signal(hsa_signal_value_t value)
{
	hsa_signal_t signal;

	CHECK(hsa_signal_create(value, 0, NULL, &signal));
	return signal;
}

void example_wait(hsa_signal_t signal)
{
	/* A wait may return early, as the specification says. */
	while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) > 0)
		;
}

void submit(hsa_queue_t *queue, const void *packet, uint16_t header)
{
	uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
	char *slot = (char *)queue->base_address + (index & (queue->size - 1)) * 64;
	uint32_t first;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		usleep(10);
	memcpy(slot + 4, (const char *)packet + 4, 60);
	memcpy(&first, packet, sizeof(first));
	__atomic_store_n((uint32_t *)(void *)slot, first | header, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

void launch(hsa_queue_t *queue, const struct kernel *kernel, uint32_t items, uint16_t workgroup, void *arguments,
	    hsa_signal_t done)
{
	const hsa_kernel_dispatch_packet_t packet = {
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
		.kernarg_address = arguments,
		.completion_signal = done,
	};

	submit(queue, &packet, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH));
}

// SPDX-License-Identifier: MIT
/*
 * The time from a launch to its end as a program sees it, through the HSA runtime and through libtutti, in turns on two
 * cards of the same kind. Prints the two medians in microseconds and the median of their ratios.
 */
#include <fcntl.h>
#include <hsa/hsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tutti.h"

#define LAUNCHES 2000u
#define ROUNDS	 11u

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void must(int status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "hsa_launch: %s: %d\n", what, status);
	exit(1);
}

static struct {
	hsa_agent_t card;
	hsa_region_t kernarg;
	hsa_queue_t *queue;
	hsa_signal_t done;
	uint64_t object;
	void *arguments;
} hsa;

static hsa_status_t take_card(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	(void)data;
	must(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent");
	if (type == HSA_DEVICE_TYPE_GPU)
		hsa.card = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_kernarg(hsa_region_t region, void *data)
{
	hsa_region_segment_t segment;
	uint32_t flags = 0;

	(void)data;
	must(hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment), "region");
	if (segment == HSA_REGION_SEGMENT_GLOBAL)
		must(hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags), "region");
	if (flags & HSA_REGION_GLOBAL_FLAG_KERNARG)
		hsa.kernarg = region;
	return HSA_STATUS_SUCCESS;
}

static void hsa_load(const char *path)
{
	hsa_code_object_reader_t reader;
	hsa_executable_t executable;
	hsa_executable_symbol_t symbol;

	must(hsa_code_object_reader_create_from_file(open(path, O_RDONLY), &reader), path);
	must(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable),
	     "executable");
	must(hsa_executable_load_agent_code_object(executable, hsa.card, reader, NULL, NULL), "load");
	must(hsa_executable_freeze(executable, NULL), "freeze");
	must(hsa_executable_get_symbol_by_name(executable, "tool_empty", &hsa.card, &symbol), "symbol");
	must(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &hsa.object), "kernel");
}

static void hsa_begin(const char *path)
{
	must(hsa_init(), "init");
	must(hsa_iterate_agents(take_card, NULL), "agents");
	must(hsa_agent_iterate_regions(hsa.card, take_kernarg, NULL), "regions");
	must(hsa_queue_create(hsa.card, 256, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &hsa.queue), "queue");
	must(hsa_signal_create(1, 0, NULL, &hsa.done), "signal");
	must(hsa_memory_allocate(hsa.kernarg, 64, &hsa.arguments), "memory");
	hsa_load(path);
}

static void hsa_launch(void)
{
	uint64_t index = hsa_queue_add_write_index_relaxed(hsa.queue, 1);
	hsa_kernel_dispatch_packet_t *packet = hsa.queue->base_address;
	const uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER |
				HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
				HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;

	packet += index & (hsa.queue->size - 1);
	packet->workgroup_size_x = packet->workgroup_size_y = packet->workgroup_size_z = 1;
	packet->reserved0 = 0;
	packet->grid_size_x = packet->grid_size_y = packet->grid_size_z = 1;
	packet->private_segment_size = 1024;
	packet->group_segment_size = 0;
	packet->kernel_object = hsa.object;
	packet->kernarg_address = hsa.arguments;
	packet->reserved2 = 0;
	packet->completion_signal = hsa.done;
	hsa_signal_store_relaxed(hsa.done, 1);
	__atomic_store_n((uint32_t *)(void *)packet, header | 1u << 16, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(hsa.queue->doorbell_signal, (hsa_signal_value_t)index);
	hsa_signal_wait_scacquire(hsa.done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
}

static struct {
	struct tutti_device *device;
	struct tutti_queue *queue;
	struct tutti_kernel kernel;
	tutti_signal_t done;
	void *arguments;
} own;

static void own_begin(const char *path)
{
	struct tutti_executable *executable;

	must(tutti_device_open(NULL, &own.device), "open");
	must(tutti_queue_create(own.device, NULL, &own.queue), "queue");
	must(tutti_signal_create(own.device, 1, &own.done), "signal");
	must(tutti_memory_alloc(own.device, TUTTI_MEMORY_SYSTEM, 64, &own.arguments), "memory");
	must(tutti_executable_load_file(own.device, path, &executable, NULL), path);
	must(tutti_executable_kernel(executable, "tool_empty", &own.kernel), "kernel");
}

static void own_launch(void)
{
	const struct tutti_launch launch = {
		.kernel = &own.kernel, .grid = {1}, .workgroup = {1}, .kernarg = own.arguments, .signal = own.done,
		.barrier = true, .acquire = TUTTI_SCOPE_SYSTEM, .release = TUTTI_SCOPE_SYSTEM};

	tutti_signal_store(own.done, 1);
	must(tutti_dispatch(own.queue, &launch), "dispatch");
	must(tutti_signal_wait(own.device, own.done, TUTTI_LT, 1, TUTTI_WAIT_FOREVER, NULL), "wait");
}

/* Microseconds of one launch, the mean of many. */
static double measure(void (*launch)(void))
{
	double start = seconds();

	for (unsigned i = 0; i < LAUNCHES; i++)
		launch();
	return (seconds() - start) * 1e6 / LAUNCHES;
}

static int compare(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(void)
{
	double through_hsa[ROUNDS], through_own[ROUNDS], ratio[ROUNDS];

	hsa_begin(HSA_KERNELS);
	own_begin(HSA_KERNELS);
	for (unsigned r = 0; r < ROUNDS; r++) {
		through_hsa[r] = measure(hsa_launch);
		through_own[r] = measure(own_launch);
		ratio[r] = through_hsa[r] / through_own[r];
	}
	qsort(through_hsa, ROUNDS, sizeof(double), compare);
	qsort(through_own, ROUNDS, sizeof(double), compare);
	qsort(ratio, ROUNDS, sizeof(double), compare);
	printf("%.3f %.3f %.3f\n", through_hsa[ROUNDS / 2], through_own[ROUNDS / 2], ratio[ROUNDS / 2]);
	return 0;
}

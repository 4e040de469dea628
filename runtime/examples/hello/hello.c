/* SPDX-License-Identifier: MIT */
/* The smallest program: one kernel that prints. */
#include "example.h"

int main(int argc, char **argv)
{
	struct tutti_device *device;
	struct tutti_executable *executable;
	struct tutti_kernel kernel;
	struct tutti_queue *queue;
	tutti_signal_t done;
	void *args;

	example_no_arguments(argc, argv);
	CHECK(tutti_device_open(NULL, &device));
	executable = example_load(device, "hello.tco");
	CHECK(tutti_executable_kernel(executable, "hello", &kernel));
	CHECK(tutti_queue_create(device, NULL, &queue));
	CHECK(tutti_signal_create(device, 1, &done));
	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, kernel.kernarg_bytes, &args));
	strcpy(args, "hello");

	const struct tutti_launch launch = {
		.kernel = &kernel,
		.grid = { 256 },
		.workgroup = { 64 },
		.kernarg = args,
		.signal = done,
		.acquire = TUTTI_SCOPE_SYSTEM,
		.release = TUTTI_SCOPE_SYSTEM,
	};
	CHECK(tutti_dispatch(queue, &launch));
	CHECK(example_wait(queue, done));
	tutti_device_flush_print(device);

	tutti_memory_free(device, args);
	tutti_signal_destroy(device, done);
	tutti_queue_destroy(queue);
	tutti_executable_destroy(executable);
	tutti_device_close(device);
	return 0;
}

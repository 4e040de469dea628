/* SPDX-License-Identifier: MIT */
/* c = a + b on the card, checked on the CPU. */
#include "example.h"

#define COUNT 100000u

struct args {
	const float *a, *b;
	float *sum;
};

int main(int argc, char **argv)
{
	struct tutti_device *device;
	struct tutti_executable *executable;
	struct tutti_kernel kernel;
	struct tutti_queue *queue;
	struct args *args;
	tutti_signal_t done;
	float *a, *b, *sum;
	unsigned wrong = 0;

	example_no_arguments(argc, argv);
	CHECK(tutti_device_open(NULL, &device));
	executable = example_load(device, "vector_add.tco");
	CHECK(tutti_executable_kernel(executable, "vector_add", &kernel));
	CHECK(tutti_queue_create(device, NULL, &queue));
	CHECK(tutti_signal_create(device, 1, &done));
	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, COUNT * sizeof(*a), (void **)&a));
	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, COUNT * sizeof(*b), (void **)&b));
	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, COUNT * sizeof(*sum), (void **)&sum));
	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*args), (void **)&args));
	for (unsigned i = 0; i < COUNT; i++) {
		a[i] = (float)i;
		b[i] = 1.0f / (float)(i + 1);
	}
	*args = (struct args){ a, b, sum };

	const struct tutti_launch launch = {
		.kernel = &kernel,
		.grid = { COUNT },
		.workgroup = { 256 },
		.kernarg = args,
		.signal = done,
		.acquire = TUTTI_SCOPE_SYSTEM,
		.release = TUTTI_SCOPE_SYSTEM,
	};
	CHECK(tutti_dispatch(queue, &launch));
	CHECK(example_wait(queue, done));

	for (unsigned i = 0; i < COUNT; i++)
		wrong += sum[i] != a[i] + b[i];
	printf("vector_add: %u elements, %u wrong\n", COUNT, wrong);

	tutti_memory_free(device, a);
	tutti_memory_free(device, b);
	tutti_memory_free(device, sum);
	tutti_memory_free(device, args);
	tutti_signal_destroy(device, done);
	tutti_queue_destroy(queue);
	tutti_executable_destroy(executable);
	tutti_device_close(device);
	return wrong != 0;
}

/* SPDX-License-Identifier: MIT */
/* c = a b with tiles in shared memory, checked on the CPU. */
#include "example.h"
#include "matmul.h"

#define N 128u

static float *matrix(struct tutti_device *device)
{
	void *memory;

	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, N * N * sizeof(float), &memory));
	return memory;
}

static unsigned count_wrong(const float *a, const float *b, const float *c)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < N; i++)
		for (unsigned j = 0; j < N; j++) {
			float sum = 0.0f;

			for (unsigned k = 0; k < N; k++)
				sum += a[i * N + k] * b[k * N + j];
			wrong += sum != c[i * N + j];
		}
	return wrong;
}

int main(int argc, char **argv)
{
	struct tutti_device *device;
	struct tutti_executable *executable;
	struct tutti_kernel kernel;
	struct tutti_queue *queue;
	struct matmul_args *args;
	tutti_signal_t done;
	float *a, *b, *c;
	unsigned wrong;

	example_no_arguments(argc, argv);
	CHECK(tutti_device_open(NULL, &device));
	executable = example_load(device, "matmul.tco");
	CHECK(tutti_executable_kernel(executable, "matmul", &kernel));
	CHECK(tutti_queue_create(device, NULL, &queue));
	CHECK(tutti_signal_create(device, 1, &done));
	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*args), (void **)&args));
	a = matrix(device);
	b = matrix(device);
	c = matrix(device);
	for (unsigned i = 0; i < N * N; i++) {
		a[i] = (float)(i % 101) / 101.0f;
		b[i] = (float)(i % 89) / 89.0f;
	}
	*args = (struct matmul_args){ a, b, c, N };

	const struct tutti_launch launch = {
		.kernel = &kernel,
		.grid = { N, N },
		.workgroup = { TILE, TILE },
		.kernarg = args,
		.signal = done,
		.acquire = TUTTI_SCOPE_SYSTEM,
		.release = TUTTI_SCOPE_SYSTEM,
	};
	CHECK(tutti_dispatch(queue, &launch));
	CHECK(example_wait(queue, done));
	wrong = count_wrong(a, b, c);
	printf("matmul: %u x %u, %u wrong\n", N, N, wrong);

	tutti_memory_free(device, a);
	tutti_memory_free(device, b);
	tutti_memory_free(device, c);
	tutti_memory_free(device, args);
	tutti_signal_destroy(device, done);
	tutti_queue_destroy(queue);
	tutti_executable_destroy(executable);
	tutti_device_close(device);
	return wrong != 0;
}

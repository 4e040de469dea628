/* SPDX-License-Identifier: MIT */
/* c = a b by tensor requests, with single workgroups and with CGAs that multicast tiles, checked on the CPU. */
#include "example.h"
#include "gemm.h"

#define M 120u
#define N 100u
#define K 112u

static float *matrix(struct tutti_device *device, uint32_t rows, uint32_t columns, unsigned seed)
{
	void *memory;
	float *x;

	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, rows * columns * sizeof(float), &memory));
	x = memory;
	for (uint32_t i = 0; i < rows * columns; i++)
		x[i] = seed ? (float)(int)(i * seed % 17) - 8 : 0;
	return x;
}

/* A descriptor of @x as tiles of TILE x TILE. */
static struct tutti_tensor *tiles_of(struct tutti_device *device, const float *x, uint32_t rows, uint32_t columns)
{
	struct tutti_tiled tiled = {
		.tensor = { .base = x, .type = TUTTI_F32, .rank = 2, .size = { columns, rows },
			    .swizzle = TUTTI_SWIZZLE_128 },
		.box = { TILE, TILE },
	};
	enum tutti_tensor_error error;
	struct tutti_tensor *tensor;

	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, sizeof(*tensor), (void **)&tensor));
	error = tutti_tensor_encode_tiled(tensor, &tiled);
	if (error) {
		fprintf(stderr, "%s\n", tutti_tensor_strerror(error));
		exit(1);
	}
	return tensor;
}

static unsigned count_wrong(const float *a, const float *b, const float *c)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < M; i++)
		for (unsigned j = 0; j < N; j++) {
			float sum = 0;

			for (unsigned k = 0; k < K; k++)
				sum += a[i * K + k] * b[k * N + j];
			wrong += sum != c[i * N + j];
		}
	return wrong;
}

/* Return: bytes that the card's copy engines have read and written. */
static uint64_t run(struct tutti_queue *queue, struct tutti_executable *executable, const char *name,
		    struct gemm_args *args)
{
	struct tutti_device *device = tutti_queue_device(queue);
	uint64_t before[TUTTI_COUNTERS], after[TUTTI_COUNTERS];
	struct tutti_kernel kernel;
	tutti_signal_t done;
	struct tutti_launch launch = {
		.kernel = &kernel,
		.grid = { (N + TILE - 1) / TILE * WAVES * 32, (M + TILE - 1) / TILE },
		.workgroup = { WAVES * 32, 1 },
		.kernarg = args,
		.acquire = TUTTI_SCOPE_SYSTEM,
		.release = TUTTI_SCOPE_SYSTEM,
	};

	CHECK(tutti_executable_kernel(executable, name, &kernel));
	CHECK(tutti_signal_create(device, 1, &done));
	CHECK(tutti_device_counters(device, before));
	launch.signal = done;
	CHECK(tutti_dispatch(queue, &launch));
	CHECK(example_wait(queue, done));
	CHECK(tutti_device_counters(device, after));
	tutti_signal_destroy(device, done);
	return after[TUTTI_COUNTER_MOVER_BYTES] - before[TUTTI_COUNTER_MOVER_BYTES];
}

int main(int argc, char **argv)
{
	static const char *const kernels[] = { "gemm", "gemm_cga" };
	struct tutti_device *device;
	struct tutti_executable *executable;
	struct tutti_queue *queue;
	struct gemm_args *args;
	unsigned wrong, all_wrong = 0;

	example_no_arguments(argc, argv);
	CHECK(tutti_device_open(NULL, &device));
	executable = example_load(device, "gemm.tco");
	CHECK(tutti_queue_create(device, NULL, &queue));
	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*args), (void **)&args));

	float *a = matrix(device, M, K, 7), *b = matrix(device, K, N, 5), *c = matrix(device, M, N, 0);

	*args = (struct gemm_args){ tiles_of(device, a, M, K), tiles_of(device, b, K, N), tiles_of(device, c, M, N), K };
	for (unsigned i = 0; i < 2; i++) {
		memset(c, 0, M * N * sizeof(*c));
		uint64_t bytes = run(queue, executable, kernels[i], args);

		wrong = count_wrong(a, b, c);
		all_wrong += wrong;
		printf("%s: %u x %u x %u, %llu bytes of global memory touched, %u wrong\n", kernels[i], M, N, K,
		       (unsigned long long)bytes, wrong);
	}
	tutti_queue_destroy(queue);
	tutti_executable_destroy(executable);
	tutti_device_close(device);
	return all_wrong != 0;
}

/* SPDX-License-Identifier: MIT */
/* A gradient summed over workgroups by reduction stores, checked on the CPU. */
#include "example.h"
#include "gradient.h"

#define ALL_SAMPLES 1000u

static void *card_memory(struct tutti_device *device, size_t bytes)
{
	void *memory;

	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, bytes, &memory));
	return memory;
}

static struct tutti_tensor *view(struct tutti_device *device, const float *base, unsigned rank, uint32_t rows,
				 uint32_t box_rows)
{
	struct tutti_tensor *tensor = card_memory(device, sizeof(*tensor));
	struct tutti_tiled tiled = {
		.tensor = { .base = base, .type = TUTTI_F32, .rank = rank, .size = { FEATURES, rows } },
		.box = { FEATURES, box_rows },
	};
	enum tutti_tensor_error error = tutti_tensor_encode_tiled(tensor, &tiled);

	if (error) {
		fprintf(stderr, "%s\n", tutti_tensor_strerror(error));
		exit(1);
	}
	return tensor;
}

int main(int argc, char **argv)
{
	struct tutti_device *device;
	struct tutti_executable *executable;
	struct tutti_kernel kernel;
	struct tutti_queue *queue;
	struct gradient_args *args;
	tutti_signal_t done;
	unsigned wrong = 0;

	example_no_arguments(argc, argv);
	CHECK(tutti_device_open(NULL, &device));
	executable = example_load(device, "gradient.tco");
	CHECK(tutti_executable_kernel(executable, "gradient", &kernel));
	CHECK(tutti_queue_create(device, NULL, &queue));
	CHECK(tutti_signal_create(device, 1, &done));
	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*args), (void **)&args));

	float *x = card_memory(device, ALL_SAMPLES * FEATURES * sizeof(float));
	float *error = card_memory(device, ALL_SAMPLES * sizeof(float));
	float *gradient = card_memory(device, FEATURES * sizeof(float));

	for (unsigned i = 0; i < ALL_SAMPLES; i++) {
		error[i] = (float)(i % 9) - 4;
		for (unsigned f = 0; f < FEATURES; f++)
			x[i * FEATURES + f] = (float)((i * 7 + f * 3) % 11) - 5;
	}
	*args = (struct gradient_args){ view(device, x, 2, ALL_SAMPLES, SAMPLES), view(device, gradient, 1, 1, 1), error,
					ALL_SAMPLES };
	CHECK(tutti_dispatch(queue, &(struct tutti_launch){
		.kernel = &kernel, .grid = { (ALL_SAMPLES + SAMPLES - 1) / SAMPLES * 32 }, .workgroup = { 32 },
		.kernarg = args, .signal = done, .acquire = TUTTI_SCOPE_SYSTEM, .release = TUTTI_SCOPE_SYSTEM }));
	CHECK(example_wait(queue, done));
	for (unsigned f = 0; f < FEATURES; f++) {
		float sum = 0;

		for (unsigned i = 0; i < ALL_SAMPLES; i++)
			sum += error[i] * x[i * FEATURES + f];
		wrong += sum != gradient[f];
	}
	printf("gradient: %u samples, %u features, %u wrong\n", ALL_SAMPLES, FEATURES, wrong);

	tutti_signal_destroy(device, done);
	tutti_queue_destroy(queue);
	tutti_executable_destroy(executable);
	tutti_device_close(device);
	return wrong != 0;
}

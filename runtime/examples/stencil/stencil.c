/* SPDX-License-Identifier: MIT */
/* Jacobi steps on a grid, from one buffer to the other and back, checked on the CPU. */
#include "example.h"
#include "stencil.h"

#define WIDTH_POINTS 100u
#define HEIGHT_POINTS 70u
#define STEPS 10u

static struct tutti_tensor *view(struct tutti_device *device, const float *grid, uint32_t box_x, uint32_t box_y)
{
	struct tutti_tiled tiled = {
		.tensor = { .base = grid, .type = TUTTI_F32, .rank = 2, .size = { WIDTH_POINTS, HEIGHT_POINTS } },
		.box = { box_x, box_y },
	};
	struct tutti_tensor *tensor;
	enum tutti_tensor_error error;

	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, sizeof(*tensor), (void **)&tensor));
	error = tutti_tensor_encode_tiled(tensor, &tiled);
	if (error) {
		fprintf(stderr, "%s\n", tutti_tensor_strerror(error));
		exit(1);
	}
	return tensor;
}

static float point(const float *grid, unsigned x, unsigned y)
{
	return x < WIDTH_POINTS && y < HEIGHT_POINTS ? grid[y * WIDTH_POINTS + x] : 0;
}

static void step(float *to, const float *from)
{
	for (unsigned y = 0; y < HEIGHT_POINTS; y++)
		for (unsigned x = 0; x < WIDTH_POINTS; x++)
			to[y * WIDTH_POINTS + x] = 0.25f * (point(from, x - 1, y) + point(from, x + 1, y) +
							    point(from, x, y - 1) + point(from, x, y + 1));
}

int main(int argc, char **argv)
{
	static float want[2][WIDTH_POINTS * HEIGHT_POINTS];
	struct tutti_device *device;
	struct tutti_executable *executable;
	struct tutti_kernel kernel;
	struct tutti_queue *queue;
	struct stencil_args *args;
	tutti_signal_t done;
	float *grid[2];
	unsigned wrong = 0;

	example_no_arguments(argc, argv);
	CHECK(tutti_device_open(NULL, &device));
	executable = example_load(device, "stencil.tco");
	CHECK(tutti_executable_kernel(executable, "stencil", &kernel));
	CHECK(tutti_queue_create(device, NULL, &queue));
	CHECK(tutti_signal_create(device, STEPS, &done));
	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, 2 * sizeof(*args), (void **)&args));
	for (unsigned i = 0; i < 2; i++)
		CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, sizeof(want[0]), (void **)&grid[i]));
	for (unsigned i = 0; i < WIDTH_POINTS * HEIGHT_POINTS; i++)
		grid[0][i] = want[0][i] = (float)(i * 37 % 101);
	for (unsigned i = 0; i < 2; i++)
		args[i] = (struct stencil_args){ view(device, grid[i], TILE + 2 * HALO_X, TILE + 2 * HALO_Y),
						 view(device, grid[!i], TILE, TILE) };
	for (unsigned i = 0; i < STEPS; i++) {
		CHECK(tutti_dispatch(queue, &(struct tutti_launch){
			.kernel = &kernel,
			.grid = { (WIDTH_POINTS + TILE - 1) / TILE * 128, (HEIGHT_POINTS + TILE - 1) / TILE },
			.workgroup = { 128, 1 }, .kernarg = &args[i % 2], .signal = done, .barrier = true,
			.acquire = TUTTI_SCOPE_SYSTEM, .release = TUTTI_SCOPE_SYSTEM }));
		step(want[!(i % 2)], want[i % 2]);
	}
	CHECK(example_wait(queue, done));
	for (unsigned i = 0; i < WIDTH_POINTS * HEIGHT_POINTS; i++)
		wrong += grid[STEPS % 2][i] != want[STEPS % 2][i];
	printf("stencil: %u steps on %u x %u, %u wrong\n", STEPS, WIDTH_POINTS, HEIGHT_POINTS, wrong);

	tutti_signal_destroy(device, done);
	tutti_queue_destroy(queue);
	tutti_executable_destroy(executable);
	tutti_device_close(device);
	return wrong != 0;
}

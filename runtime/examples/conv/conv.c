/* SPDX-License-Identifier: MIT */
/* 3 x 3 convolution with stride, dilation and padding, by im2col loads, checked on the CPU. */
#include "conv.h"
#include "example.h"

#define IMAGES 3
#define HEIGHT 14
#define WIDTH 9
#define CHANNELS_IN 40
#define CHANNELS_OUT 20
#define TAPS 3
#define STRIDE 2
#define DILATION 2
#define PADDING 2
#define OUT(size) (((size) + 2 * PADDING - (TAPS - 1) * DILATION - 1) / STRIDE + 1)

static void *card_memory(struct tutti_device *device, size_t bytes)
{
	void *memory;

	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, bytes, &memory));
	return memory;
}

static float *numbers(struct tutti_device *device, uint32_t n, unsigned seed)
{
	float *x = card_memory(device, n * sizeof(*x));

	for (uint32_t i = 0; i < n && seed; i++)
		x[i] = (float)(int)(i * seed % 13) - 6;
	return x;
}

static void good(enum tutti_tensor_error error)
{
	if (!error)
		return;
	fprintf(stderr, "%s\n", tutti_tensor_strerror(error));
	exit(1);
}

static struct tutti_tensor *input(struct tutti_device *device, const float *x)
{
	struct tutti_tensor *tensor = card_memory(device, sizeof(*tensor));
	const int upper = PADDING - (TAPS - 1) * DILATION;

	good(tutti_tensor_encode_im2col(tensor, &(struct tutti_im2col){
		.tensor = { .base = x, .type = TUTTI_F32, .rank = 4, .size = { CHANNELS_IN, WIDTH, HEIGHT, IMAGES },
			    .traversal = { 1, STRIDE, STRIDE, 1 }, .swizzle = TUTTI_SWIZZLE_128 },
		.lower = { -PADDING, -PADDING }, .upper = { upper, upper }, .channels = CHANNELS, .pixels = PIXELS }));
	return tensor;
}

static struct tutti_tensor *filters(struct tutti_device *device, const float *w)
{
	struct tutti_tensor *tensor = card_memory(device, sizeof(*tensor));

	good(tutti_tensor_encode_tiled(tensor, &(struct tutti_tiled){
		.tensor = { .base = w, .type = TUTTI_F32, .rank = 3, .size = { CHANNELS_IN, TAPS * TAPS, CHANNELS_OUT },
			    .swizzle = TUTTI_SWIZZLE_128 },
		.box = { CHANNELS, 1, FILTERS } }));
	return tensor;
}

static struct tutti_tensor *output(struct tutti_device *device, float *y)
{
	struct tutti_tensor *tensor = card_memory(device, sizeof(*tensor));

	good(tutti_tensor_encode_tiled(tensor, &(struct tutti_tiled){
		.tensor = { .base = y, .type = TUTTI_F32, .rank = 2,
			    .size = { CHANNELS_OUT, IMAGES * OUT(HEIGHT) * OUT(WIDTH) } },
		.box = { FILTERS, PIXELS } }));
	return tensor;
}

static float direct(const float *x, const float *w, int n, int p, int q, int k)
{
	float sum = 0;

	for (int r = 0; r < TAPS; r++)
		for (int s = 0; s < TAPS; s++) {
			int h = p * STRIDE + r * DILATION - PADDING, v = q * STRIDE + s * DILATION - PADDING;

			for (int c = 0; h >= 0 && h < HEIGHT && v >= 0 && v < WIDTH && c < CHANNELS_IN; c++)
				sum += x[((n * HEIGHT + h) * WIDTH + v) * CHANNELS_IN + c] *
				       w[((k * TAPS + r) * TAPS + s) * CHANNELS_IN + c];
		}
	return sum;
}

static unsigned count_wrong(const float *x, const float *w, const float *y)
{
	unsigned wrong = 0;

	for (int n = 0; n < IMAGES; n++)
		for (int p = 0; p < OUT(HEIGHT); p++)
			for (int q = 0; q < OUT(WIDTH); q++)
				for (int k = 0; k < CHANNELS_OUT; k++)
					wrong += direct(x, w, n, p, q, k) !=
						 y[((n * OUT(HEIGHT) + p) * OUT(WIDTH) + q) * CHANNELS_OUT + k];
	return wrong;
}

int main(int argc, char **argv)
{
	struct tutti_device *device;
	struct tutti_executable *executable;
	struct tutti_kernel kernel;
	struct tutti_queue *queue;
	struct conv_args *args;
	tutti_signal_t done;
	uint32_t pixels = IMAGES * OUT(HEIGHT) * OUT(WIDTH);
	unsigned wrong;

	example_no_arguments(argc, argv);
	CHECK(tutti_device_open(NULL, &device));
	executable = example_load(device, "conv.tco");
	CHECK(tutti_executable_kernel(executable, "conv", &kernel));
	CHECK(tutti_queue_create(device, NULL, &queue));
	CHECK(tutti_signal_create(device, 1, &done));
	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*args), (void **)&args));

	float *x = numbers(device, IMAGES * HEIGHT * WIDTH * CHANNELS_IN, 7);
	float *w = numbers(device, CHANNELS_OUT * TAPS * TAPS * CHANNELS_IN, 5);
	float *y = numbers(device, pixels * CHANNELS_OUT, 0);
	const struct tutti_launch launch = {
		.kernel = &kernel,
		.grid = { (pixels + PIXELS - 1) / PIXELS * WAVES * 32, (CHANNELS_OUT + FILTERS - 1) / FILTERS },
		.workgroup = { WAVES * 32, 1 },
		.kernarg = args,
		.signal = done,
		.acquire = TUTTI_SCOPE_SYSTEM,
		.release = TUTTI_SCOPE_SYSTEM,
	};

	*args = (struct conv_args){
		.x = input(device, x), .w = filters(device, w), .y = output(device, y), .dimensions = 2,
		.channels = CHANNELS_IN, .taps = { TAPS, TAPS, 1 }, .size = { OUT(WIDTH), OUT(HEIGHT), 1 },
		.stride = { STRIDE, STRIDE }, .dilation = { DILATION, DILATION }, .lower = { -PADDING, -PADDING },
	};
	CHECK(tutti_dispatch(queue, &launch));
	CHECK(example_wait(queue, done));
	wrong = count_wrong(x, w, y);
	printf("conv: %u images of %u x %u, %u to %u channels, %u wrong\n", IMAGES, HEIGHT, WIDTH, CHANNELS_IN,
	       CHANNELS_OUT, wrong);

	tutti_signal_destroy(device, done);
	tutti_queue_destroy(queue);
	tutti_executable_destroy(executable);
	tutti_device_close(device);
	return wrong != 0;
}

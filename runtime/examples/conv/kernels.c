/* SPDX-License-Identifier: MIT */
#include "tutti/tmau.h"

#include "conv.h"

/*
 * Convolution as a matrix product, without writing the matrix of input pixels to memory: for each position of the
 * filter and each group of channels, an im2col load fetches the column of input pixels that is needed. The position in
 * the filter is its offset from one base pixel, and pixels outside of the tensor are the padding.
 */
#define X_BYTES (PIXELS * CHANNELS * sizeof(float))
#define W_TILE X_BYTES
#define W_BYTES (FILTERS * CHANNELS * sizeof(float))
#define Y_TILE (W_TILE + W_BYTES)
#define BARRIER (Y_TILE + PIXELS * FILTERS * sizeof(float))

static const float *atom_at(const uint8_t *tile, uint32_t row, uint32_t atom)
{
	return (const float *)(tile + row * 128 + (atom ^ (row & 7)) * 16);
}

/* Each wave computes every WAVES-th pixel. */
static void multiply(float sum[PIXELS / WAVES][FILTERS])
{
	const uint8_t *x = tutti_shared(uint8_t, 0), *w = tutti_shared(uint8_t, W_TILE);

	for (uint32_t p = 0; p < PIXELS / WAVES; p++)
		for (uint32_t k = 0; k < FILTERS; k++)
			for (uint32_t atom = 0; atom < CHANNELS / 4; atom++) {
				const float *a = atom_at(x, p * WAVES + tutti_wave()->wave, atom), *b = atom_at(w, k, atom);

				sum[p][k] += a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
			}
}

/* Where output pixel @number lies in the input, at filter position 0: W, H, D, image. */
static void base_pixel(const struct conv_args *args, uint32_t number, int32_t base[4])
{
	for (uint32_t d = 0; d < args->dimensions; d++) {
		base[d] = args->lower[d] + (int32_t)(number % args->size[d]) * args->stride[d];
		number /= args->size[d];
	}
	base[args->dimensions] = (int32_t)number;
}

struct step { uint32_t c, tap[3], position; };

static void load(const struct conv_args *args, const struct step *s, const int32_t base[4], uint32_t k)
{
	uint64_t *barrier = tutti_shared(uint64_t, BARRIER);
	uint8_t *x = tutti_shared(uint8_t, 0), *w = tutti_shared(uint8_t, W_TILE);
	uint16_t offset = tutti_im2col_offset(args->dimensions + 2, s->tap[0] * (uint32_t)args->dilation[0],
					      s->tap[1] * (uint32_t)args->dilation[1],
					      s->tap[2] * (uint32_t)args->dilation[2]);

	tutti_mbarrier_arrive_expect(barrier, X_BYTES + W_BYTES);
	if (args->dimensions == 2)
		tutti_load_im2col(args->x, x, barrier, offset, (int32_t)s->c, base[0], base[1], base[2]);
	else
		tutti_load_im2col(args->x, x, barrier, offset, (int32_t)s->c, base[0], base[1], base[2], base[3]);
	tutti_load_tile(args->w, w, barrier, (int32_t)s->c, (int32_t)s->position, (int32_t)k);
}

/* The next position of the filter; after the last one, the next group of channels. Return: false when all are done. */
static bool advance(const struct conv_args *args, struct step *s)
{
	s->position++;
	for (uint32_t d = 0; d < args->dimensions; d++) {
		if (++s->tap[d] < args->taps[d])
			return true;
		s->tap[d] = 0;
	}
	s->position = 0;
	s->c += CHANNELS;
	return s->c < args->channels;
}

TUTTI_KERNEL(conv, struct conv_args, .group_bytes = BARRIER + 8, .flags = TUTTI_KERNEL_BARRIER, .barriers = 1,
	     .workgroup = { WAVES * 32, 1, 1 })
{
	uint32_t first = tutti_cta_id(0) * PIXELS, k = tutti_cta_id(1) * FILTERS, phase = 0;
	float sum[PIXELS / WAVES][FILTERS] = { 0 }, *y = tutti_shared(float, Y_TILE);
	struct step step = { 0 };
	int32_t base[4];

	base_pixel(args, first, base);
	tutti_one_sync(tutti_all_waves())
		tutti_mbarrier_init(tutti_shared(uint64_t, BARRIER), 1);
	do {
		if (tutti_first_wave())
			load(args, &step, base, k);
		tutti_mbarrier_wait(tutti_shared(uint64_t, BARRIER), phase++);
		multiply(sum);
		tutti_barrier();
	} while (advance(args, &step));
	for (uint32_t p = 0; p < PIXELS / WAVES; p++)
		for (uint32_t i = 0; i < FILTERS; i++)
			y[(p * WAVES + tutti_wave()->wave) * FILTERS + i] = sum[p][i];
	tutti_one_sync(tutti_all_waves()) {
		tutti_store_tile(args->y, y, (int32_t)k, (int32_t)first);
		tutti_wait_all();
	}
}

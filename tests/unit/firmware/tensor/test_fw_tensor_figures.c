// SPDX-License-Identifier: MIT
/*
 * TMA-13, TMA-15: figures 8b..8k and 9a..9d of the TMAU source, with the check numbers of the annex. Pixel p of the
 * NHWC tensor holds p + 1 in its first channel, so that fill is recognised; sums and first and last pixels are compared.
 */
#include "tensor_oracle.h"

#define BASE 0x123450000ull
#define CHANNELS 64u
#define N 64u

/* 16-bit elements: pixel number + 1, and in other channels the channel mixed in. */
static uint8_t pixels(uint64_t address)
{
	uint64_t element = (address - BASE) / 2;
	uint16_t p = (uint16_t)(element / CHANNELS + 1), c = (uint16_t)(element % CHANNELS);

	p = (uint16_t)(c ? p * 3 + c * 0x101 : p);
	return (uint8_t)(p >> 8 * (address & 1));
}

static uint32_t pixel_number(unsigned n, int h, int w, unsigned height, unsigned width)
{
	return (n * height + (uint32_t)h) * width + (uint32_t)w;
}

struct found {
	unsigned fill;
	uint64_t sum; /* of the numbers of the pixels that are there */
};

/* What lies in shared memory: elements of channel 0, one every @channels. */
static struct found look(const uint8_t *shared, unsigned count, unsigned channels)
{
	struct found f = { 0 };

	for (unsigned i = 0; i < count; i++) {
		uint16_t value = *(const uint16_t *)(shared + 2u * i * channels);

		if (!value) {
			f.fill++;
			continue;
		}
		f.sum += value - 1u;
	}
	return f;
}

static struct tutti_tensor nhwc(unsigned mode, unsigned height, unsigned width)
{
	struct tutti_tensor d = { .base = BASE, .type = TUTTI_U16, .rank = 4, .mode = (uint8_t)mode,
				  .size_less_1 = { CHANNELS - 1, width - 1, height - 1, N - 1 },
				  .stride = { 2 * CHANNELS, 2 * CHANNELS * width, 2ull * CHANNELS * width * height },
				  .traversal = { 1, 1, 1, 1, 1 } };
	return d;
}

static struct tutti_tensor_request load(const struct tutti_tensor *d, int n, int h, int w)
{
	return (struct tutti_tensor_request){ .descriptor = card_descriptor_new(3, d), .op = TUTTI_COPY_LOAD, .mode = d->mode,
					      .rank = 4, .flags = TUTTI_REQUEST_TENSOR, .coordinate = { 0, w, h, n },
					      .barrier = 0, .shared = 1024 };
}

struct im2col {
	const char *figure;
	unsigned height, width;
	int lower, upper;
	unsigned step, pixels, channels;
	int h, w; /* base pixel, in image 7 */
	unsigned dilation;
	unsigned image_7;        /* base pixels in image 7 */
	unsigned fill[3][3];     /* by filter position r, s */
	uint64_t sum[3];         /* at (0, 0), (1, 1), (2, 2) */
	int first[3][2], last[3][2]; /* h, w; the last in image 8 */
};

static const struct im2col figures[] = {
	{ "8b", 14, 9, -1, -1, 1, 64, 8, 7, 4, 1, 49, { { 15, 9, 15 }, { 7, 0, 7 }, { 15, 9, 15 } }, { 47872, 63392, 48939 },
	  { { 7, 4 }, { 8, 5 }, { 9, 6 } }, { { 0, 4 }, { 1, 5 }, { 2, 6 } } },
	{ "8c", 14, 9, 0, -2, 1, 64, 8, 7, 4, 1, 31, { { 0 } }, { 63940, 64580, 65220 },
	  { { 7, 4 }, { 8, 5 }, { 9, 6 } }, { { 4, 4 }, { 5, 5 }, { 6, 6 } } },
	{ "8f", 14, 9, -1, -1, 2, 32, 16, 7, 5, 1, 12, { { 10, 5, 11 }, { 6, 0, 7 }, { 6, 0, 7 } }, { 22178, 32552, 25690 },
	  { { 7, 5 }, { 8, 6 }, { 9, 7 } }, { { 5, 7 }, { 6, 8 }, { 7, 9 } } },
	{ "8g", 13, 8, -1, -1, 2, 32, 16, 7, 5, 1, 9, { { 11, 4, 4 }, { 8, 0, 0 }, { 11, 4, 4 } }, { 17871, 27432, 24376 },
	  { { 7, 5 }, { 8, 6 }, { 9, 7 } }, { { 9, 3 }, { 10, 4 }, { 11, 5 } } },
	{ "8j", 14, 9, -2, -2, 1, 64, 16, 6, 3, 2, 49, { { 25, 15, 27 }, { 14, 0, 14 }, { 28, 18, 28 } },
	  { 37572, 63392, 36308 }, { { 6, 3 }, { 8, 5 }, { 10, 7 } }, { { -1, 3 }, { 1, 5 }, { 3, 7 } } },
};

static struct found column_at(const struct im2col *f, struct tutti_tensor *d, unsigned r, unsigned s)
{
	struct tutti_tensor_request q = load(d, 7, f->h, f->w);

	q.offset = (uint16_t)(s * f->dilation | r * f->dilation << 8);
	oracle_compare(d, &q);
	assert_int_equal(card.moved, f->pixels * f->channels * 2);
	return look(card.shared + 1024, f->pixels, f->channels);
}

/* Channel 0 of pixel @i of the column. */
static unsigned element(const struct im2col *f, unsigned i)
{
	return *(uint16_t *)(card.shared + 1024 + 2 * i * f->channels);
}

static unsigned expected(const struct im2col *f, unsigned image, const int *at)
{
	if (at[0] < 0 || at[0] >= (int)f->height || at[1] < 0 || at[1] >= (int)f->width)
		return 0;
	return pixel_number(image, at[0], at[1], f->height, f->width) + 1;
}

static void columns(void **state)
{
	card_boot();
	card.memory = pixels;
	for (const struct im2col *f = figures; f < figures + sizeof(figures) / sizeof(figures[0]); f++) {
		struct tutti_tensor d = nhwc(TUTTI_IM2COL, f->height, f->width);

		d.traversal[1] = d.traversal[2] = (uint8_t)f->step;
		for (unsigned i = 0; i < 2; i++) {
			d.column.lower[i] = (int16_t)f->lower;
			d.column.upper[i] = (int16_t)f->upper;
		}
		d.column.channels = (uint16_t)f->channels;
		d.column.pixels = (uint16_t)f->pixels;
		for (unsigned r = 0; r < 3; r++)
			for (unsigned s = 0; s < 3; s++) {
				struct found found = column_at(f, &d, r, s);

				assert_int_equal(found.fill, f->fill[r][s]);
				if (r != s)
					continue;
				assert_int_equal(found.sum, f->sum[r]);
				assert_int_equal(element(f, 0), expected(f, 7, f->first[r]));
				assert_int_equal(element(f, f->pixels - 1), expected(f, 8, f->last[r]));
				if (r == 1) { /* nothing is filled there */
					assert_true(element(f, f->image_7 - 1) <= 8 * f->height * f->width);
					assert_true(element(f, f->image_7) > 8 * f->height * f->width);
				}
			}
	}
}

/* Asymmetric offsets, and the end of the batch. */
static void more_of_8b(void **state)
{
	const struct im2col *f = figures;
	struct tutti_tensor d = nhwc(TUTTI_IM2COL, 14, 9);
	struct tutti_tensor_request q;
	struct found found;

	card_boot();
	card.memory = pixels;
	d.column.lower[0] = d.column.lower[1] = d.column.upper[0] = d.column.upper[1] = -1;
	d.column.channels = 8;
	d.column.pixels = 64;
	found = column_at(f, &d, 0, 2);
	assert_int_equal(found.fill, 15);
	assert_int_equal(found.sum, 47985);
	found = column_at(f, &d, 2, 0);
	assert_int_equal(found.fill, 15);
	assert_int_equal(found.sum, 48826);
	q = load(&d, 63, 7, 4);
	q.offset = 0x0101;
	oracle_compare(&d, &q);
	found = look(card.shared + 1024, 64, 8);
	assert_int_equal(found.fill, 15);
	assert_int_equal(*(uint16_t *)(card.shared + 1024 + 48 * 16) != 0, 1);
	assert_int_equal(*(uint16_t *)(card.shared + 1024 + 49 * 16), 0);
}

struct tile {
	const char *figure;
	unsigned box, step;
	int origin;
	unsigned pixels, fill;
	uint64_t sum;
	unsigned part, distance;            /* sub-tile of each filter position, and their distance */
	unsigned part_fill[3];
	uint64_t part_sum[3];
};

static const struct tile tiles_of[] = {
	{ "8d", 10, 1, -1, 100, 28, 2556, 8, 1, { 15, 0, 8 }, { 1323, 2016, 2240 } },
	{ "8e", 8, 1, 0, 64, 0, 2016, 6, 1, { 0, 0, 0 }, { 810, 1134, 1458 } },
	{ "8h", 10, 2, -1, 25, 9, 576, 0, 0, { 0 }, { 0 } },
	{ "8k", 12, 1, -2, 144, 64, 3160, 8, 2, { 28, 0, 16 }, { 810, 2016, 2328 } },
};

static void sub_tile(const struct tile *f, unsigned position)
{
	unsigned fill = 0, at = position * f->distance, n = (f->box + f->step - 1) / f->step;
	uint64_t sum = 0;

	for (unsigned y = at; y < at + f->part; y++)
		for (unsigned x = at; x < at + f->part; x++) {
			uint16_t value = *(uint16_t *)(card.shared + 1024 + 16 * (y * n + x));

			fill += !value;
			sum += value ? value - 1u : 0;
		}
	assert_int_equal(fill, f->part_fill[position]);
	assert_int_equal(sum, f->part_sum[position]);
}

static void tiles(void **state)
{
	card_boot();
	card.memory = pixels;
	for (const struct tile *f = tiles_of; f < tiles_of + 4; f++) {
		struct tutti_tensor d = nhwc(TUTTI_TILE, 14, 8);
		struct tutti_tensor_request q;
		struct found found;

		d.box[0] = 8;
		d.box[1] = d.box[2] = (uint16_t)f->box;
		d.box[3] = 1;
		d.traversal[1] = d.traversal[2] = (uint8_t)f->step;
		for (unsigned fill = TUTTI_FILL_ZERO; fill <= TUTTI_FILL_CONSTANT; fill++) {
			d.fill = (uint8_t)fill;
			d.type = fill == TUTTI_FILL_NAN ? TUTTI_F16 : TUTTI_U16;
			d.constant = 0xbeef;
			q = load(&d, 0, f->origin, f->origin);
			oracle_compare(&d, &q);
			assert_int_equal(card.moved, f->pixels * 16);
			assert_int_equal(card.filled, f->fill * 16);
		}
		d.fill = TUTTI_FILL_ZERO;
		d.type = TUTTI_U16;
		q = load(&d, 0, f->origin, f->origin);
		oracle_compare(&d, &q);
		found = look(card.shared + 1024, f->pixels, 8);
		assert_int_equal(found.fill, f->fill);
		assert_int_equal(found.sum, f->sum);
		for (unsigned position = 0; f->part && position < 3; position++)
			sub_tile(f, position);
	}
}

/* Figures 9a..9d: a tensor of 1 x 10 x 10 x 64; every cell of 16 bytes holds its number. */
static uint8_t cells(uint64_t address)
{
	return (uint8_t)((address - BASE) / 16 >> 8 * (address & 1));
}

static unsigned cell_at(uint32_t offset)
{
	return *(uint16_t *)(card.shared + offset);
}

static void swizzle(void **state)
{
	static const struct { unsigned cell, at; } known[] = { { 0, 0 }, { 8, 144 }, { 56, 1008 }, { 72, 1168 }, { 80, 1312 },
							       { 88, 1456 }, { 799, 12736 } };
	static const char *const table[] = { "01234567", "10325476", "23016745", "32107654", "45670123", "54761032",
					     "67452301", "76543210" };
	struct tutti_tensor d = nhwc(TUTTI_TILE, 10, 10);

	card_boot();
	card.memory = cells;
	d.size_less_1[3] = 0;
	d.swizzle = TUTTI_SWIZZLE_128;
	d.box[0] = 64;
	d.box[1] = d.box[2] = 10;
	d.box[3] = 1;
	for (uint32_t at = 0; at < 8192; at += at < 1024 ? 128 : 1024) {
		struct tutti_tensor_request q = load(&d, 0, 0, 0);

		q.shared = at;
		oracle_compare(&d, &q);
		/* the phase follows the offset in the CTA's memory */
		for (unsigned cell = 0; cell < 800; cell++) {
			uint32_t row = cell / 8 + at / 128;

			assert_int_equal(cell_at(128 * row + 16 * ((cell % 8) ^ (row & 7))), cell);
		}
		if (at)
			continue;
		for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			assert_int_equal(cell_at(known[i].at), known[i].cell);
		for (unsigned row = 0; row < 8; row++)
			for (unsigned bank = 0; bank < 8; bank++)
				assert_int_equal(cell_at(128 * row + 16 * bank), 8 * row + (unsigned)(table[row][bank] - '0'));
	}
}

/* Figure 9d: eight pixels of a row, one group of channels, lie in eight different sub-banks: one clock. */
static void banks(void **state)
{
	struct tutti_tensor d = nhwc(TUTTI_TILE, 10, 10);
	struct tutti_tensor_request q;
	unsigned bank[800];

	card_boot();
	card.memory = cells;
	d.size_less_1[3] = 0;
	d.swizzle = TUTTI_SWIZZLE_128;
	d.box[0] = 64;
	d.box[1] = d.box[2] = 10;
	d.box[3] = 1;
	q = load(&d, 0, 0, 0);
	q.shared = 0;
	oracle_compare(&d, &q);
	for (uint32_t at = 0; at < 12800; at += 16)
		bank[cell_at(at)] = at / 16 % 8;
	for (unsigned r = 0; r < 3; r++)
		for (unsigned s = 0; s < 3; s++)
			for (unsigned h = 0; h < 8; h++)
				for (unsigned group = 0; group < 8; group++) {
					unsigned seen = 0;

					for (unsigned w = s; w < s + 8; w++)
						seen |= 1u << bank[((h + r) * 10 + w) * 8 + group];
					assert_int_equal(seen, 0xff);
				}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TMA-13 figures 8b 8c 8f 8g 8j", columns),
		RIG_TEST("TMA-13 figure 8b", more_of_8b),
		RIG_TEST("TMA-13 figures 8d 8e 8h 8k", tiles),
		RIG_TEST("TMA-15 figure 9a", swizzle),
		RIG_TEST("TMA-15 figures 9b 9c 9d", banks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

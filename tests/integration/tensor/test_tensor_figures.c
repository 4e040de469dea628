/* SPDX-License-Identifier: MIT */
/* The worked examples of the source, figures 8b to 8k and 9a to 9d, with their check numbers. */
#include "tensor_jobs.h"

#define IMAGES 64u

/** struct image - a tensor of 2-byte elements, N H W C, whose pixel p holds p + 1. */
struct image {
	uint32_t h, w, c;
	uint16_t *data;
	struct tutti_tensor *tensor;
	enum tutti_fill fill;
	bool by_channel; /* element values show their channels, too */
};

static struct tensor_job *job;

static int open_all(void **state)
{
	jobs_open(state);
	job = rig_alloc(rig, sizeof(*job));
	job->in = rig_alloc(rig, JOB_SHARED);
	job->out = rig_alloc(rig, JOB_SHARED);
	return 0;
}

static uint16_t element(const struct image *m, uint32_t pixel, uint32_t channel)
{
	return m->by_channel ? (uint16_t)(pixel * m->c + channel + 1) : (uint16_t)(pixel + 1);
}

static void image_make(struct image *m, uint32_t h, uint32_t w, enum tutti_fill fill, bool by_channel)
{
	*m = (struct image){ h, w, 64, rig_alloc(rig, IMAGES * h * w * 64 * 2), rig_alloc(rig, 128), fill, by_channel };
	for (uint32_t p = 0; p < IMAGES * h * w; p++)
		for (uint32_t c = 0; c < 64; c++)
			m->data[p * 64 + c] = element(m, p, c);
}

static void image_free(struct image *m)
{
	tutti_memory_free(rig->device, m->data);
	tutti_memory_free(rig->device, m->tensor);
}

static struct tutti_tensor_view view(const struct image *m, uint32_t traversal)
{
	return (struct tutti_tensor_view){
		.base = m->data, .type = m->fill == TUTTI_FILL_NAN ? TUTTI_F16 : TUTTI_U16, .rank = 4,
		.size = { m->c, m->w, m->h, IMAGES }, .traversal = { 1, traversal, traversal, 1 },
		.fill = m->fill, .constant = 0xc0de };
}

static uint16_t fill_of(const struct image *m)
{
	return m->fill == TUTTI_FILL_NAN ? TUTTI_FILL_NAN_LANE : m->fill == TUTTI_FILL_CONSTANT ? 0xc0de : 0;
}

/* Load what @m->tensor says at (c, w, h, n). Return: the elements in shared memory. */
static const uint16_t *load(const struct image *m, int32_t c, int32_t w, int32_t h, int32_t n, uint16_t offset)
{
	struct tutti_tensor_request *r = &job->request;

	*r = (struct tutti_tensor_request){
		.descriptor = (uintptr_t)m->tensor, .op = TUTTI_COPY_LOAD, .mode = m->tensor->mode, .rank = 4,
		.flags = TUTTI_REQUEST_TENSOR, .coordinate = { c, w, h, n }, .offset = offset,
		.barrier = JOB_SHARED - 8 };
	job->shared_bytes = JOB_SHARED;
	job->expect = tutti_tensor_box_bytes(m->tensor);
	jobs_run(job, 1);
	return (const uint16_t *)job->out;
}

/* A pixel of shared memory; -1: filled, in all its channels alike. */
static int32_t pixel_at(const struct image *m, const uint16_t *at, uint32_t channels)
{
	int32_t p = at[0] == fill_of(m) ? -1 : m->by_channel ? 0 : at[0] - 1;

	for (uint32_t k = 0; !m->by_channel && k < channels; k++)
		assert_int_equal(at[k], p < 0 ? fill_of(m) : p + 1);
	return p;
}

/* ---- im2col ------------------------------------------------------------------ */

struct place { int n, h, w; };

struct column {
	const char *figure;
	uint32_t h, w;
	int32_t lower, upper;
	uint32_t traversal, pixels, channels, dilation;
	struct place base;
	uint32_t fill[9];         /* filled pixels, for the nine offsets */
	struct { uint32_t h, w, fill, sum; struct place first, last; } check[5];
	struct { uint32_t h, w, seven, eight; } images; /* where nothing is filled */
};

static const struct column columns[] = {
	{ "8b", 14, 9, -1, -1, 1, 64, 8, 1, { 7, 7, 4 }, { 15, 9, 15, 7, 0, 7, 15, 9, 15 },
	  { { 0, 0, 15, 47872, { 7, 7, 4 }, { 8, 0, 4 } }, { 1, 1, 0, 63392, { 7, 8, 5 }, { 8, 1, 5 } },
	    { 2, 2, 15, 48939, { 7, 9, 6 }, { 8, 2, 6 } }, { 0, 2, 15, 47985, { 7, 7, 6 }, { 8, 0, 6 } },
	    { 2, 0, 15, 48826, { 7, 9, 4 }, { 8, 2, 4 } } }, { 1, 1, 49, 15 } },
	{ "8c", 14, 9, 0, -2, 1, 64, 8, 1, { 7, 7, 4 }, { 0 },
	  { { 0, 0, 0, 63940, { 7, 7, 4 }, { 8, 4, 4 } }, { 1, 1, 0, 64580, { 7, 8, 5 }, { 8, 5, 5 } },
	    { 2, 2, 0, 65220, { 7, 9, 6 }, { 8, 6, 6 } } }, { 1, 1, 31, 33 } },
	{ "8f", 14, 9, -1, -1, 2, 32, 16, 1, { 7, 7, 5 }, { 10, 5, 11, 6, 0, 7, 6, 0, 7 },
	  { { 0, 0, 10, 22178, { 7, 7, 5 }, { 8, 5, 7 } }, { 1, 1, 0, 32552, { 7, 8, 6 }, { 8, 6, 8 } },
	    { 2, 2, 7, 25690, { 7, 9, 7 }, { 8, 7, 9 } } }, { 1, 1, 12, 20 } },
	{ "8g", 13, 8, -1, -1, 2, 32, 16, 1, { 7, 7, 5 }, { 11, 4, 4, 8, 0, 0, 11, 4, 4 },
	  { { 0, 0, 11, 17871, { 7, 7, 5 }, { 8, 9, 3 } }, { 1, 1, 0, 27432, { 7, 8, 6 }, { 8, 10, 4 } },
	    { 2, 2, 4, 24376, { 7, 9, 7 }, { 8, 11, 5 } } }, { 1, 1, 9, 23 } },
	{ "8j", 14, 9, -2, -2, 1, 64, 16, 2, { 7, 6, 3 }, { 25, 15, 27, 14, 0, 14, 28, 18, 28 },
	  { { 0, 0, 25, 37572, { 7, 6, 3 }, { 8, -1, 3 } }, { 2, 2, 0, 63392, { 7, 8, 5 }, { 8, 1, 5 } },
	    { 4, 4, 28, 36308, { 7, 10, 7 }, { 8, 3, 7 } } }, { 2, 2, 49, 15 } },
};

static void describe_column(const struct image *m, const struct column *f)
{
	struct tutti_im2col t = { view(m, f->traversal), { f->lower, f->lower }, { f->upper, f->upper }, f->channels,
				  f->pixels };

	assert_int_equal(tutti_tensor_encode_im2col(m->tensor, &t), 0);
}

static const uint16_t *load_column(const struct image *m, const struct column *f, uint32_t h, uint32_t w)
{
	return load(m, 0, f->base.w, f->base.h, f->base.n, (uint16_t)(w | h << 8));
}

static void check_place(const struct image *m, const struct place *at, int32_t pixel)
{
	bool inside = at->h >= 0 && at->h < (int)m->h && at->w >= 0 && at->w < (int)m->w;

	assert_int_equal(pixel, inside ? (at->n * (int)m->h + at->h) * (int)m->w + at->w : -1);
}

static void check_column(const struct column *f, enum tutti_fill fill)
{
	struct image m;

	image_make(&m, f->h, f->w, fill, false);
	describe_column(&m, f);
	for (unsigned i = 0; i < 5 && f->check[i].sum; i++) {
		const uint16_t *at = load_column(&m, f, f->check[i].h, f->check[i].w);
		uint32_t filled = 0, sum = 0;

		for (uint32_t p = 0; p < f->pixels; p++) {
			int32_t pixel = pixel_at(&m, at + p * f->channels, f->channels);

			filled += pixel < 0;
			sum += pixel < 0 ? 0 : (uint32_t)pixel;
		}
		assert_int_equal(filled, f->check[i].fill);
		assert_int_equal(sum, f->check[i].sum);
		check_place(&m, &f->check[i].first, pixel_at(&m, at, f->channels));
		check_place(&m, &f->check[i].last, pixel_at(&m, at + (f->pixels - 1) * f->channels, f->channels));
	}
	image_free(&m);
}

/* All nine offsets; images; elements of every channel, against the walk. */
static void check_offsets(const struct column *f)
{
	static struct oracle_element elements[2048];
	struct image m;
	uint32_t filled, seven = 0, eight = 0, size;

	image_make(&m, f->h, f->w, TUTTI_FILL_ZERO, true);
	describe_column(&m, f);
	for (uint32_t i = 0; i < 9; i++) {
		uint32_t h = i / 3 * f->dilation, w = i % 3 * f->dilation;
		const uint16_t *at = load_column(&m, f, h, w);
		size_t n = oracle_elements(m.tensor, (const int32_t[]){ 0, f->base.w, f->base.h, f->base.n, 0 },
					   (uint16_t)(w | h << 8), elements, &size);

		filled = 0;
		assert_int_equal(n, f->pixels * f->channels);
		for (size_t k = 0; k < n; k++) {
			uint64_t address = elements[k].address;
			size_t index = (address - (uintptr_t)m.data) / 2, image = index / m.c / (m.h * m.w);

			assert_int_equal(at[k], address ? m.data[index] : 0);
			filled += !address;
			if (h == f->images.h && w == f->images.w) {
				seven += address && image == 7;
				eight += address && image == 8;
			}
		}
		assert_int_equal(filled, f->fill[i] * f->channels);
	}
	assert_int_equal(seven, f->images.seven * f->channels);
	assert_int_equal(eight, f->images.eight * f->channels);
	image_free(&m);
}

static void figures_im2col(void **state)
{
	for (unsigned i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		check_column(&columns[i], TUTTI_FILL_ZERO);
		check_column(&columns[i], TUTTI_FILL_CONSTANT);
		check_column(&columns[i], TUTTI_FILL_NAN);
		check_offsets(&columns[i]);
	}
}

/*
 * 8b at the last image: pixels behind the batch are filled; 8j at offset 2, 2 equals 8b at 1, 1; also counts rows and
 * columns.
 */
static void figures_texts(void **state)
{
	struct column end = columns[0];
	struct image m;
	uint16_t kept[64];
	const uint16_t *at;
	uint32_t rows = 0, columns_taken = 0;

	image_make(&m, 14, 9, TUTTI_FILL_ZERO, false);
	end.base.n = 63;
	describe_column(&m, &end);
	at = load_column(&m, &end, 1, 1);
	for (uint32_t p = 0; p < 64; p++)
		assert_int_equal(pixel_at(&m, at + 8 * p, 8) < 0, p >= 49);
	describe_column(&m, &columns[0]);
	at = load_column(&m, &columns[0], 1, 1);
	for (uint32_t p = 0; p < 64; p++)
		kept[p] = at[8 * p];
	describe_column(&m, &columns[4]);
	at = load_column(&m, &columns[4], 2, 2);
	for (uint32_t p = 0; p < 64; p++)
		assert_int_equal(at[16 * p], kept[p]);
	/* 8f, in filter position (1, 1): rows -1 and 12 of the box are rows 0 and 13 of the image */
	describe_column(&m, &columns[2]);
	at = load_column(&m, &columns[2], 1, 1);
	for (uint32_t p = 0; p < 32; p++) {
		uint32_t pixel = (uint32_t)pixel_at(&m, at + 16 * p, 16);

		rows |= 1u << pixel / 9 % 14;
		columns_taken |= 1u << pixel % 9;
	}
	assert_true(rows & 1);
	assert_false(rows >> 13);
	assert_true(columns_taken & 1 && columns_taken >> 8);
	image_free(&m);
	/* 8g: top and bottom row, but never the last column */
	image_make(&m, 13, 8, TUTTI_FILL_ZERO, false);
	describe_column(&m, &columns[3]);
	at = load_column(&m, &columns[3], 1, 1);
	rows = columns_taken = 0;
	for (uint32_t p = 0; p < 32; p++) {
		uint32_t pixel = (uint32_t)pixel_at(&m, at + 16 * p, 16);

		rows |= 1u << pixel / 8 % 13;
		columns_taken |= 1u << pixel % 8;
	}
	assert_true(rows & 1 && rows >> 12);
	assert_false(columns_taken >> 7);
	image_free(&m);
}

/* ---- tiles ------------------------------------------------------------------- */

struct tile {
	const char *figure;
	uint32_t box, traversal;
	int32_t origin;
	uint32_t side, fill, sum;                             /* elements along w and h, pixels filled, sum of the others */
	uint32_t part;                                        /* side of the sub-tile of a filter position */
	struct { uint32_t at, fill, sum; } sub[3];
};

static const struct tile tile_figures[] = {
	{ "8d", 10, 1, -1, 10, 28, 2556, 8, { { 0, 15, 1323 }, { 1, 0, 2016 }, { 2, 8, 2240 } } },
	{ "8e", 8, 1, 0, 8, 0, 2016, 6, { { 0, 0, 810 }, { 1, 0, 1134 }, { 2, 0, 1458 } } },
	{ "8h", 10, 2, -1, 5, 9, 576, 0, { { 0 } } },
	{ "8k", 12, 1, -2, 12, 64, 3160, 8, { { 0, 28, 810 }, { 2, 0, 2016 }, { 4, 16, 2328 } } },
};

static void sum_pixels(const struct image *m, const uint16_t *at, const struct tile *f, uint32_t first, uint32_t side,
		       uint32_t *filled, uint32_t *sum)
{
	*filled = *sum = 0;
	for (uint32_t y = first; y < first + side; y++)
		for (uint32_t x = first; x < first + side; x++) {
			int32_t p = pixel_at(m, at + (y * f->side + x) * 8, 8);
			int32_t h = f->origin + (int32_t)(y * f->traversal), w = f->origin + (int32_t)(x * f->traversal);

			check_place(m, &(struct place){ 0, h, w }, p);
			*filled += p < 0;
			*sum += p < 0 ? 0 : (uint32_t)p;
		}
}

static void check_tile(const struct tile *f, enum tutti_fill fill)
{
	struct image m;
	struct tutti_tiled t;
	const uint16_t *at;
	uint32_t filled, sum;

	image_make(&m, 14, 8, fill, false);
	t = (struct tutti_tiled){ view(&m, f->traversal), { 8, f->box, f->box, 1 } };
	assert_int_equal(tutti_tensor_encode_tiled(m.tensor, &t), 0);
	at = load(&m, 0, f->origin, f->origin, 0, 0);
	assert_int_equal(job->expect, f->side * f->side * 16);
	sum_pixels(&m, at, f, 0, f->side, &filled, &sum);
	assert_int_equal(filled, f->fill);
	assert_int_equal(sum, f->sum);
	for (unsigned i = 0; f->part && i < 3; i++) {
		sum_pixels(&m, at, f, f->sub[i].at, f->part, &filled, &sum);
		assert_int_equal(filled, f->sub[i].fill);
		assert_int_equal(sum, f->sub[i].sum);
	}
	image_free(&m);
}

static void figures_tile(void **state)
{
	for (unsigned i = 0; i < sizeof(tile_figures) / sizeof(tile_figures[0]); i++)
		for (unsigned fill = TUTTI_FILL_ZERO; fill <= TUTTI_FILL_CONSTANT; fill++)
			check_tile(&tile_figures[i], fill);
}

/* ---- swizzle ------------------------------------------------------------------ */

static const uint16_t cells_at[][2] = { { 0, 0 }, { 8, 144 }, { 56, 1008 }, { 72, 1168 }, { 80, 1312 }, { 88, 1456 },
					{ 799, 12736 } };
static const char *const table_9a[] = { "01234567", "10325476", "23016745", "32107654", "45670123", "54761032",
					"67452301", "76543210" };

/* Where cell (row, group) lies: its byte in shared memory after @first. */
static uint32_t find_cell(const uint16_t *shared, uint32_t first, uint32_t cell)
{
	for (uint32_t at = 0; at < 12800; at += 16)
		if (shared[(first + at) / 2] == cell * 8 + 1)
			return at;
	fail_msg("cell %u is not there", cell);
	return 0;
}

static void check_views(const uint16_t *shared, uint32_t first)
{
	static uint32_t place[800];

	for (uint32_t cell = 0; cell < 800; cell++)
		place[cell] = first + find_cell(shared, first, cell);
	for (uint32_t r = 0; r < 3; r++)
		for (uint32_t s = 0; s < 3; s++)
			for (uint32_t h = 0; h < 8; h++)
				for (uint32_t group = 0; group < 8; group++) {
					uint32_t banks = 0;

					for (uint32_t w = s; w < s + 8; w++)
						banks |= 1u << place[((h + r) * 10 + w) * 8 + group] / 16 % 8;
					assert_int_equal(banks, 0xff); /* one clock */
				}
}

static void figures_swizzle_on(uint32_t first)
{
	struct tutti_tiled t = { { .type = TUTTI_U16, .rank = 4, .size = { 64, 10, 10, 1 },
				   .swizzle = TUTTI_SWIZZLE_128 }, { 64, 10, 10, 1 } };
	struct image m = { .data = rig_alloc(rig, 12800), .tensor = rig_alloc(rig, 128) };
	const uint16_t *at;

	for (uint32_t i = 0; i < 6400; i++)
		m.data[i] = (uint16_t)(i + 1);
	t.tensor.base = m.data;
	assert_int_equal(tutti_tensor_encode_tiled(m.tensor, &t), 0);
	job->request = (struct tutti_tensor_request){
		.descriptor = (uintptr_t)m.tensor, .op = TUTTI_COPY_LOAD, .rank = 4, .flags = TUTTI_REQUEST_TENSOR,
		.shared = first, .barrier = JOB_SHARED - 8 };
	job->expect = 12800;
	job->shared_bytes = JOB_SHARED;
	jobs_run(job, 1);
	at = (const uint16_t *)job->out;
	for (uint32_t row = 0; row < 100; row++)
		for (uint32_t k = 0; k < 8; k++) {
			uint32_t phase = (row + first / 128) & 7;

			assert_int_equal(find_cell(at, first, row * 8 + k),
					 row * 128 + 16u * (uint32_t)(table_9a[phase][k] - '0'));
		}
	for (unsigned i = 0; !first && i < sizeof(cells_at) / sizeof(cells_at[0]); i++)
		assert_int_equal(find_cell(at, 0, cells_at[i][0]), cells_at[i][1]);
	check_views(at, first);
	image_free(&m);
}

static void figures_swizzle(void **state)
{
	figures_swizzle_on(0);
	for (uint32_t j = 0; j < 8; j++)
		figures_swizzle_on(1024 * (j % 3) + 128 * j);
}

/* Two workgroups on one SM: the shared memory of one of them does not begin at a multiple of 1024. */
static void figures_phase(void **state)
{
	struct tutti_executable *usual_code = code;
	struct rig *usual = rig;
	struct tutti_tiled t = { { .type = TUTTI_U16, .rank = 2, .size = { 64, 64 }, .swizzle = TUTTI_SWIZZLE_128 },
				 { 64, 64 } };
	struct tensor_job *two;
	struct args_tensor *args;
	struct image m = { 0 };
	bool odd = false;

	jobs_open_on(rig_topology("gpc 1\nshared_blocks 256\nshared_block_bytes 128\n"));
	two = rig_alloc(rig, 2 * sizeof(*two));
	args = rig_alloc(rig, sizeof(*args));
	m.data = rig_alloc(rig, 8192);
	m.tensor = rig_alloc(rig, 128);
	for (uint32_t i = 0; i < 4096; i++)
		m.data[i] = (uint16_t)(i + 1);
	t.tensor.base = m.data;
	assert_int_equal(tutti_tensor_encode_tiled(m.tensor, &t), 0);
	args->job = two;
	for (unsigned i = 0; i < 2; i++) {
		two[i] = (struct tensor_job){ .in = rig_alloc(rig, 16384), .out = rig_alloc(rig, 16384),
					      .shared_bytes = 8192 + 128, .expect = 8192 };
		two[i].request = (struct tutti_tensor_request){
			.descriptor = (uintptr_t)m.tensor, .op = TUTTI_COPY_LOAD, .rank = 2,
			.flags = TUTTI_REQUEST_TENSOR, .barrier = 8192 };
	}
	jobs_kernel("tensor_job", 2, 32, 8192 + 128, args);
	for (unsigned i = 0; i < 2; i++) {
		odd |= two[i].shared % 1024 != 0;
		for (uint32_t at = 0; at < 8192; at++)
			assert_int_equal(((uint8_t *)two[i].out)[oracle_swizzle(TUTTI_SWIZZLE_128, at)],
					 ((uint8_t *)m.data)[at]);
	}
	assert_true(odd);
	jobs_close(state);
	rig = usual;
	code = usual_code;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "TMA-13 TMA-12: figures 8b, 8c, 8f, 8g, 8j: columns", figures_im2col, NULL, NULL, NULL },
		{ "TMA-13: what the text says of figures 8b, 8f, 8g, 8j", figures_texts, NULL, NULL, NULL },
		{ "TMA-13 TMA-08 TMA-09: figures 8d, 8e, 8h, 8k: tiles", figures_tile, NULL, NULL, NULL },
		{ "TMA-15: figures 9a to 9d: cells of a swizzled tile", figures_swizzle, NULL, NULL, NULL },
		{ "TMA-15: rows count from the workgroup's memory, not the SM's", figures_phase, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("TMAU figures", tests, open_all, jobs_close);
}

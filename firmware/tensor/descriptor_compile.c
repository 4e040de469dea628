// SPDX-License-Identifier: MIT
#include "tensor/descriptor_compile.h"

#define STRIDE_END_HIGH (1u << 8) /* high word of 2^40, below which strides must be */
#define BOX_MAX 256u
#define PIXELS_MAX 1024u
#define TRAVERSAL_MAX 8u
#define COORDINATE_END 0x80000000u
#define TOO_FAR (~0ull)

/* ---- the rules, in the order in which the runtime's encoder reports them */

static unsigned check_form(const struct tutti_tensor *d, uint32_t sum)
{
	if (d->version != TUTTI_TENSOR_VERSION)
		return TUTTI_TENSOR_ERROR_VERSION;
	if (sum)
		return TUTTI_TENSOR_ERROR_CHECK;
	if (d->pad0[0] | d->pad0[1] | d->pad0[2] | d->pad3 | d->pad2 || d->pad1[0] | d->pad1[1])
		return TUTTI_TENSOR_ERROR_RESERVED;
	if (d->type >= TUTTI_TENSOR_TYPES)
		return TUTTI_TENSOR_ERROR_TYPE;
	if (d->mode > TUTTI_IM2COL)
		return TUTTI_TENSOR_ERROR_MODE;
	if (d->interleave > TUTTI_INTERLEAVE_32)
		return TUTTI_TENSOR_ERROR_INTERLEAVE;
	if (d->swizzle > TUTTI_SWIZZLE_128)
		return TUTTI_TENSOR_ERROR_SWIZZLE;
	if (d->fill > TUTTI_FILL_CONSTANT)
		return TUTTI_TENSOR_ERROR_FILL;
	if (d->promotion > 3)
		return TUTTI_TENSOR_ERROR_PROMOTION;
	return TUTTI_TENSOR_ERROR_NONE;
}

static unsigned check_rank(const struct tutti_tensor *d)
{
	if (!d->rank || d->rank > TUTTI_TENSOR_RANK)
		return TUTTI_TENSOR_ERROR_RANK;
	if (d->mode == TUTTI_IM2COL && d->rank < 3)
		return TUTTI_TENSOR_ERROR_RANK_IM2COL;
	if (d->interleave && d->rank < 3)
		return TUTTI_TENSOR_ERROR_RANK_INTERLEAVE;
	if (d->interleave == TUTTI_INTERLEAVE_32 && d->swizzle != TUTTI_SWIZZLE_32)
		return TUTTI_TENSOR_ERROR_SWIZZLE_INTERLEAVE;
	if (d->fill == TUTTI_FILL_NAN && !tutti_type_is_float(d->type))
		return TUTTI_TENSOR_ERROR_FILL_TYPE;
	return TUTTI_TENSOR_ERROR_NONE;
}

static unsigned check_strides(const struct tutti_tensor *d)
{
	uint32_t mask = d->interleave == TUTTI_INTERLEAVE_32 ? 31 : 15;
	unsigned i;

	if ((uint32_t)d->base & mask)
		return TUTTI_TENSOR_ERROR_BASE;
	for (i = 0; i + 1 < d->rank; i++) {
		if ((uint32_t)d->stride[i] & mask)
			return TUTTI_TENSOR_ERROR_STRIDE;
		if ((uint32_t)(d->stride[i] >> 32) >= STRIDE_END_HIGH)
			return TUTTI_TENSOR_ERROR_STRIDE_LARGE;
	}
	return TUTTI_TENSOR_ERROR_NONE;
}

static unsigned check_traversal(const struct tutti_tensor *d)
{
	unsigned i;

	for (i = d->interleave ? 0 : 1; i < d->rank; i++)
		if (!d->traversal[i] || d->traversal[i] > TRAVERSAL_MAX)
			return TUTTI_TENSOR_ERROR_TRAVERSAL;
	return TUTTI_TENSOR_ERROR_NONE;
}

/* Check the dense bytes of dimension 0. @error is for sizes that 16 does not divide, @error + 1 for the swizzle. */
static unsigned check_row(const struct tutti_tensor *d, uint32_t elements, unsigned error)
{
	uint32_t bytes = elements << tutti_type_shift(d->type);

	if (d->interleave)
		return TUTTI_TENSOR_ERROR_NONE;
	if (bytes & 15)
		return error;
	if (d->swizzle && bytes > 16u << d->swizzle)
		return error + 1;
	return TUTTI_TENSOR_ERROR_NONE;
}

static unsigned check_box(const struct tutti_tensor *d)
{
	unsigned i;

	for (i = 0; i < d->rank; i++)
		if (d->box[i] - 1u >= BOX_MAX)
			return TUTTI_TENSOR_ERROR_BOX;
	return check_row(d, d->box[0], TUTTI_TENSOR_ERROR_BOX_BYTES);
}

static const uint8_t corner_bits[SETUP_SPATIAL] = { 16, 8, 5 };

static unsigned check_column(const struct tutti_tensor *d)
{
	unsigned n = d->rank - 2u, i;
	int32_t end = 1 << (corner_bits[n - 1] - 1);

	for (i = 0; i < n; i++)
		if (d->column.lower[i] < -end || d->column.lower[i] >= end || d->column.upper[i] < -end ||
		    d->column.upper[i] >= end)
			return TUTTI_TENSOR_ERROR_CORNER;
	for (i = 0; i < n; i++) {
		int32_t shrunk = d->column.lower[i] - d->column.upper[i];

		if (shrunk > 0 && d->size_less_1[i + 1] < (uint32_t)shrunk)
			return TUTTI_TENSOR_ERROR_BOUNDING_BOX;
	}
	if (d->column.pixels - 1u >= PIXELS_MAX)
		return TUTTI_TENSOR_ERROR_PIXELS;
	if (d->column.channels - 1u >= BOX_MAX)
		return TUTTI_TENSOR_ERROR_CHANNELS;
	return check_row(d, d->column.channels, TUTTI_TENSOR_ERROR_CHANNEL_BYTES);
}

/* @stride, which is below 2^47, times @n; TOO_FAR if that is 2^47 or more. */
static uint64_t times(uint64_t stride, uint32_t n)
{
	uint64_t low = (uint64_t)(uint32_t)stride * n, high = (uint64_t)(uint32_t)(stride >> 32) * n;

	return high >> 15 || low >> 47 ? TOO_FAR : low + (high << 32);
}

/*
 * Compute the sizes and strides of the coordinates, then the distance of the tensor's end from its base. If that is
 * within the address space, no sum of stride times coordinate inside the tensor can overflow.
 */
static unsigned compile_strides(struct tensor_template *t, const struct tutti_tensor *d)
{
	unsigned shift = tutti_type_shift(d->type), i;
	uint32_t unit = 1u << shift;
	uint64_t extent = (uint64_t)d->size_less_1[0] * unit + unit; /* a shift of 64 bits would be a call */

	t->last[0] = d->size_less_1[0];
	t->stride[0] = 1u << shift;
	for (i = 1; i < d->rank; i++) {
		t->last[i] = d->size_less_1[i];
		t->stride[i] = d->stride[i - 1];
	}
	if (d->interleave) {
		uint64_t plane = times(t->stride[d->rank - 2], t->last[d->rank - 2]);

		t->last[0] = (uint32_t)((extent - 1) >> (d->interleave + 3));
		t->stride[0] = plane == TOO_FAR ? plane : plane + t->stride[d->rank - 2];
		extent = t->last[0] && t->stride[0] >= TUTTI_VA_END ? TOO_FAR :
			 t->last[0] ? times(t->stride[0], t->last[0]) : 0;
		if (extent != TOO_FAR)
			extent += 8u << d->interleave;
	}
	for (i = 1; extent <= TUTTI_VA_END && i < d->rank; i++) {
		uint64_t part = times(t->stride[i], t->last[i]);

		extent = part == TOO_FAR ? part : extent + part;
	}
	if (d->base > TUTTI_VA_END || extent > TUTTI_VA_END - d->base)
		return TUTTI_TENSOR_ERROR_EXTENT;
	t->base = d->base;
	t->flat = (uint32_t)(d->base >> 32) == (uint32_t)((d->base + extent - 1) >> 32);
	return TUTTI_TENSOR_ERROR_NONE;
}

static void compile_shape(struct tensor_template *t, const struct tutti_tensor *d)
{
	static const int8_t paths[TUTTI_TENSOR_RANK + 1] = { 0, 1, 0, -1, 2, 3 };
	unsigned shift = tutti_type_shift(d->type), i;
	uint32_t low = (uint32_t)d->constant, high = (uint32_t)(d->constant >> 32);

	if (d->fill == TUTTI_FILL_ZERO)
		low = high = 0;
	if (d->fill == TUTTI_FILL_NAN)
		low = high = TUTTI_FILL_NAN_LANE * 0x10001u;
	if (shift == 0)
		low = (low & 0xff) * 0x01010101u;
	if (shift == 1)
		low = (low & 0xffff) * 0x10001u;
	if (shift < 3)
		high = low;
	t->shape.fill = low | (uint64_t)high << 32;
	t->shape.unit = (uint16_t)(d->interleave ? 8u << d->interleave : 1u << shift);
	t->shape.type = d->type;
	t->shape.swizzle = d->swizzle;
	t->shape.promotion = d->promotion;
	for (i = 0; i < TUTTI_MOVE_DIMENSIONS; i++)
		t->shape.count[i] = 1;
	t->rank = d->rank;
	t->path = paths[d->rank];
	t->pixels = 0;
	t->origin = (uint8_t)(d->interleave ? 0 : 15u >> shift);
	t->reductions = (uint16_t)tutti_tensor_reductions(d->type);
	for (i = 0; i < TUTTI_TENSOR_RANK; i++)
		t->step[i] = 1;
}

/* Return: one descriptor describes a tile inside the tensor */
static bool compile_tile(struct tensor_template *t, const struct tutti_tensor *d)
{
	uint64_t bytes = t->shape.unit;
	unsigned i;

	for (i = 0; i < t->rank; i++) {
		uint32_t step = i || d->interleave ? d->traversal[i] : 1, n = d->box[i];
		uint32_t span, limit;

		if (step != 1)
			n = (n + step - 1) / step;
		span = (n - 1) * step;
		limit = t->last[i] - span + 1;
		t->step[i] = (uint8_t)step;
		t->count[i] = (uint16_t)n;
		t->span[i] = (uint16_t)span;
		t->limit[i] = span > t->last[i] || !t->flat ? 0 : !limit || limit > COORDINATE_END ? COORDINATE_END : limit;
		if (i == TUTTI_MOVE_DIMENSIONS)
			break;
		bytes *= n;
		t->shape.count[i] = (uint16_t)n;
		t->shape.stride[i] = !i && !d->interleave ? t->shape.unit : t->stride[i] * step;
	}
	t->slice = bytes;
	t->total = t->rank <= TUTTI_MOVE_DIMENSIONS ? bytes : bytes * t->count[TUTTI_MOVE_DIMENSIONS];
	t->bytes = t->total < SETUP_BYTES_MAX ? (uint32_t)t->total : SETUP_BYTES_MAX;
	return t->rank <= TUTTI_MOVE_DIMENSIONS;
}

/* Return: no turn is a long one */
static bool compile_column(struct tensor_template *t, const struct tutti_tensor *d)
{
	unsigned n = t->rank - 2u, i;
	bool whole = true;

	t->count[0] = t->shape.count[0] = d->column.channels;
	t->shape.stride[0] = d->interleave ? t->stride[0] : t->shape.unit;
	t->pixels = d->column.pixels;
	t->storable = true;
	for (i = 0; i < n; i++) {
		int32_t lower = d->column.lower[i], upper = d->column.upper[i];
		uint64_t range = (uint64_t)((int64_t)t->last[i + 1] + upper - lower);
		uint32_t step = d->traversal[i + 1], turn;

		t->lower[i] = (int16_t)lower;
		t->range[i] = range < SETUP_RANGE_MAX ? (uint32_t)range : SETUP_RANGE_MAX;
		t->step[i + 1] = (uint8_t)step;
		t->shape.stride[i + 1] = t->stride[i + 1] * step;
		t->storable = t->storable && lower >= 0 && upper <= 0;
		turn = step == 1 ? t->range[i] : t->range[i] / step;
		if (turn >= PIXELS_MAX)
			whole = false;
		t->count[i + 1] = (uint16_t)(turn < PIXELS_MAX ? turn + 1 : SETUP_TURN_LONG);
		t->span[i + 1] = (uint16_t)(turn * step);
	}
	for (i = 0; i < t->rank; i++)
		if (t->last[i] > SETUP_LAST_MAX)
			t->last[i] = SETUP_LAST_MAX;
	if (n < SETUP_SPATIAL)
		t->shape.stride[n + 1] = t->stride[n + 1];
	t->slice = t->count[0] * t->shape.unit;
	t->total = t->slice * t->pixels;
	t->bytes = (uint32_t)t->total;
	t->path = SETUP_PATH_COLUMN;
	return whole;
}

static unsigned compile(struct tensor_template *t, const struct tutti_tensor *d, uint32_t sum)
{
	unsigned error = check_form(d, sum);

	if (!error)
		error = check_rank(d);
	if (!error)
		error = check_strides(d);
	if (!error)
		error = compile_strides(t, d);
	if (!error)
		error = check_traversal(d);
	if (!error)
		error = d->mode == TUTTI_TILE ? check_box(d) : check_column(d);
	if (error)
		return error;
	compile_shape(t, d);
	t->match = (uint32_t)d->mode << 8 | (uint32_t)d->rank << 16;
	if ((d->mode == TUTTI_TILE ? compile_tile(t, d) : compile_column(t, d)) && t->flat)
		t->plain = t->match;
	return TUTTI_TENSOR_ERROR_NONE;
}

uint32_t descriptor_copy(struct tutti_tensor *to, const void *from)
{
	const uint32_t *f = from;
	uint32_t *t = (uint32_t *)to, *end = t + sizeof(*to) / 4, sum = 0;

	for (; t != end; t += 8, f += 8) {
#pragma GCC unroll 8
		for (unsigned i = 0; i < 8; i++) {
			t[i] = f[i];
			sum += f[i];
		}
	}
	return sum;
}

COLD void descriptor_compile(struct tensor_template *t, const struct tutti_tensor *tensor, uint32_t sum)
{
	t->match = TENSOR_NO_MATCH;
	t->plain = TENSOR_NOT_PLAIN;
	t->error = (uint8_t)compile(t, tensor, sum);
}

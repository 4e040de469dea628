// SPDX-License-Identifier: MIT
/*
 * Building, checking and describing tensor descriptors (spec TMA-05, TMA-06, TMA-11).
 * This file is compiled for both host and card, so it uses nothing of the C library but memcpy.
 */
#include <stdbool.h>
#include <string.h>

#include "tutti/mmu.h"
#include "tutti/tensor_api.h"

#define STRIDE_END (1ull << 40)
#define SIZE_MAX_ELEMENTS (1ull << 32)
#define BOX_MAX 256u
#define PIXELS_MAX 1024u
#define TRAVERSAL_MAX 8u

uint32_t tutti_tensor_type_bytes(unsigned type)
{
	return type < TUTTI_TENSOR_TYPES ? 1u << tutti_type_shift(type) : 0;
}

const char *tutti_tensor_strerror(enum tutti_tensor_error error)
{
#define TEXT(name, text) [TUTTI_TENSOR_ERROR_##name] = text,
	static const char *const texts[TUTTI_TENSOR_ERRORS] = { TUTTI_TENSOR_ERROR_LIST(TEXT) };
#undef TEXT

	return (unsigned)error < TUTTI_TENSOR_ERRORS ? texts[error] : "unknown error";
}

static uint32_t sum(const struct tutti_tensor *tensor)
{
	const uint32_t *word = (const uint32_t *)tensor;
	uint32_t n = 0;

	for (unsigned i = 0; i < sizeof(*tensor) / 4; i++)
		n += word[i];
	return n;
}

void tutti_tensor_seal(struct tutti_tensor *tensor)
{
	tensor->check = 0;
	tensor->check = -sum(tensor);
}

uint32_t tutti_tensor_box_bytes(const struct tutti_tensor *tensor)
{
	uint64_t bytes = tensor->interleave ? 8u << tensor->interleave : tutti_tensor_type_bytes(tensor->type);

	if (tensor->mode == TUTTI_IM2COL)
		return (uint32_t)bytes * tensor->column.channels * tensor->column.pixels;
	for (unsigned d = 0; d < tensor->rank; d++) {
		uint32_t step = d || tensor->interleave ? tensor->traversal[d] : 1;

		bytes *= (tensor->box[d] + step - 1) / step;
	}
	return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

/* ---- checks ------------------------------------------------------------ */

static enum tutti_tensor_error check_form(const struct tutti_tensor *t)
{
	if ((uintptr_t)t & 63)
		return TUTTI_TENSOR_ERROR_PLACE;
	if (t->version != TUTTI_TENSOR_VERSION)
		return TUTTI_TENSOR_ERROR_VERSION;
	if (sum(t))
		return TUTTI_TENSOR_ERROR_CHECK;
	if (t->pad0[0] | t->pad0[1] | t->pad0[2] | t->pad3 | t->pad2 || t->pad1[0] | t->pad1[1])
		return TUTTI_TENSOR_ERROR_RESERVED;
	if (t->type >= TUTTI_TENSOR_TYPES)
		return TUTTI_TENSOR_ERROR_TYPE;
	if (t->mode > TUTTI_IM2COL)
		return TUTTI_TENSOR_ERROR_MODE;
	if (t->interleave > TUTTI_INTERLEAVE_32)
		return TUTTI_TENSOR_ERROR_INTERLEAVE;
	if (t->swizzle > TUTTI_SWIZZLE_128)
		return TUTTI_TENSOR_ERROR_SWIZZLE;
	if (t->fill > TUTTI_FILL_CONSTANT)
		return TUTTI_TENSOR_ERROR_FILL;
	if (t->promotion > 3)
		return TUTTI_TENSOR_ERROR_PROMOTION;
	return TUTTI_TENSOR_ERROR_NONE;
}

static enum tutti_tensor_error check_rank(const struct tutti_tensor *t)
{
	if (!t->rank || t->rank > TUTTI_TENSOR_RANK)
		return TUTTI_TENSOR_ERROR_RANK;
	if (t->mode == TUTTI_IM2COL && t->rank < 3)
		return TUTTI_TENSOR_ERROR_RANK_IM2COL;
	if (t->interleave && t->rank < 3)
		return TUTTI_TENSOR_ERROR_RANK_INTERLEAVE;
	if (t->interleave == TUTTI_INTERLEAVE_32 && t->swizzle != TUTTI_SWIZZLE_32)
		return TUTTI_TENSOR_ERROR_SWIZZLE_INTERLEAVE;
	if (t->fill == TUTTI_FILL_NAN && !tutti_type_is_float(t->type))
		return TUTTI_TENSOR_ERROR_FILL_TYPE;
	return TUTTI_TENSOR_ERROR_NONE;
}

/* The end of the tensor may be at most TUTTI_VA_END. It divides, because products of up to 72 bits would wrap. */
static bool extent_ok(const struct tutti_tensor *t)
{
	uint64_t row = (t->size_less_1[0] + 1ull) << tutti_type_shift(t->type), slice = 8u << t->interleave;
	uint64_t first = t->interleave ? slice : row, left;

	if (t->base > TUTTI_VA_END || first > TUTTI_VA_END - t->base)
		return false;
	left = TUTTI_VA_END - t->base - first;
	for (unsigned d = 1; d < t->rank; d++) {
		if (t->stride[d - 1] && t->size_less_1[d] > left / t->stride[d - 1])
			return false;
		left -= t->stride[d - 1] * t->size_less_1[d];
	}
	if (t->interleave && row > slice) {
		uint64_t size = t->size_less_1[t->rank - 2] + 1ull, stride = t->stride[t->rank - 3];
		uint64_t more = (row + slice - 1) / slice - 1;

		if (stride && (size > left / stride || more > left / (stride * size)))
			return false;
	}
	return true;
}

static enum tutti_tensor_error check_tensor(const struct tutti_tensor *t)
{
	uint64_t unit = t->interleave == TUTTI_INTERLEAVE_32 ? 32 : 16;

	if (t->base % unit)
		return TUTTI_TENSOR_ERROR_BASE;
	for (unsigned d = 0; d + 1 < t->rank; d++) {
		if (t->stride[d] % unit)
			return TUTTI_TENSOR_ERROR_STRIDE;
		if (t->stride[d] >= STRIDE_END)
			return TUTTI_TENSOR_ERROR_STRIDE_LARGE;
	}
	if (!extent_ok(t))
		return TUTTI_TENSOR_ERROR_EXTENT;
	for (unsigned d = t->interleave ? 0 : 1; d < t->rank; d++)
		if (!t->traversal[d] || t->traversal[d] > TRAVERSAL_MAX)
			return TUTTI_TENSOR_ERROR_TRAVERSAL;
	return TUTTI_TENSOR_ERROR_NONE;
}

/* Checks a row of dimension 0 in shared memory; a bad swizzle gives the error code that follows @error. */
static enum tutti_tensor_error check_row(const struct tutti_tensor *t, uint32_t elements,
					 enum tutti_tensor_error error)
{
	uint32_t bytes = elements << tutti_type_shift(t->type);

	if (t->interleave)
		return TUTTI_TENSOR_ERROR_NONE;
	if (bytes % 16)
		return error;
	if (t->swizzle && bytes > 16u << t->swizzle)
		return error + 1;
	return TUTTI_TENSOR_ERROR_NONE;
}

static enum tutti_tensor_error check_box(const struct tutti_tensor *t)
{
	for (unsigned d = 0; d < t->rank; d++)
		if (!t->box[d] || t->box[d] > BOX_MAX)
			return TUTTI_TENSOR_ERROR_BOX;
	return check_row(t, t->box[0], TUTTI_TENSOR_ERROR_BOX_BYTES);
}

static enum tutti_tensor_error check_column(const struct tutti_tensor *t)
{
	unsigned n = t->rank - 2u;
	int32_t end = 1 << (16 / n - 1);

	for (unsigned d = 0; d < n; d++)
		if (t->column.lower[d] < -end || t->column.lower[d] >= end || t->column.upper[d] < -end ||
		    t->column.upper[d] >= end)
			return TUTTI_TENSOR_ERROR_CORNER;
	for (unsigned d = 0; d < n; d++)
		if ((int64_t)t->size_less_1[d + 1] + t->column.upper[d] < t->column.lower[d])
			return TUTTI_TENSOR_ERROR_BOUNDING_BOX;
	if (!t->column.pixels || t->column.pixels > PIXELS_MAX)
		return TUTTI_TENSOR_ERROR_PIXELS;
	if (!t->column.channels || t->column.channels > BOX_MAX)
		return TUTTI_TENSOR_ERROR_CHANNELS;
	return check_row(t, t->column.channels, TUTTI_TENSOR_ERROR_CHANNEL_BYTES);
}

enum tutti_tensor_error tutti_tensor_check(const struct tutti_tensor *tensor)
{
	enum tutti_tensor_error error = check_form(tensor);

	if (!error)
		error = check_rank(tensor);
	if (!error)
		error = check_tensor(tensor);
	if (!error)
		error = tensor->mode == TUTTI_TILE ? check_box(tensor) : check_column(tensor);
	return error;
}

/* ---- encoders ---------------------------------------------------------- */

/* Stride in bytes of dimension @d + 1 in a tensor without gaps. */
static uint64_t dense_stride(const struct tutti_tensor *t, const struct tutti_tensor_view *view, unsigned d)
{
	uint64_t slice = t->interleave ? 8u << t->interleave : 0, channels = view->size[0] << tutti_type_shift(t->type);

	if (!d)
		return slice ? slice : channels;
	if (!slice || d + 2u < view->rank)
		return t->stride[d - 1] * view->size[d];
	return t->stride[d - 1] * view->size[d] * ((channels + slice - 1) / slice); /* stride from image to image */
}

static enum tutti_tensor_error encode_sizes(struct tutti_tensor *t, const struct tutti_tensor_view *view)
{
	for (unsigned d = 0; d < t->rank; d++) {
		uint32_t step = d || t->interleave ? view->traversal[d] : 1; /* see TMA-06 */

		if (!view->size[d] || view->size[d] > SIZE_MAX_ELEMENTS)
			return TUTTI_TENSOR_ERROR_SIZE;
		if (step > TRAVERSAL_MAX)
			return TUTTI_TENSOR_ERROR_TRAVERSAL;
		t->size_less_1[d] = (uint32_t)(view->size[d] - 1);
		t->traversal[d] = step ? (uint8_t)step : 1;
	}
	for (unsigned d = 0; d + 1u < t->rank; d++)
		t->stride[d] = view->stride[d] == TUTTI_STRIDE_BROADCAST ? 0 :
			       view->stride[d] ? view->stride[d] : dense_stride(t, view, d);
	return TUTTI_TENSOR_ERROR_NONE;
}

/* Only values that do not fit into the descriptor are refused here; tutti_tensor_check() checks the rest. */
static enum tutti_tensor_error encode_view(struct tutti_tensor *t, const struct tutti_tensor_view *view)
{
	if ((unsigned)view->type >= TUTTI_TENSOR_TYPES)
		return TUTTI_TENSOR_ERROR_TYPE;
	if ((unsigned)view->interleave > TUTTI_INTERLEAVE_32)
		return TUTTI_TENSOR_ERROR_INTERLEAVE;
	if ((unsigned)view->swizzle > TUTTI_SWIZZLE_128)
		return TUTTI_TENSOR_ERROR_SWIZZLE;
	if ((unsigned)view->fill > TUTTI_FILL_CONSTANT)
		return TUTTI_TENSOR_ERROR_FILL;
	if (view->promotion > 3)
		return TUTTI_TENSOR_ERROR_PROMOTION;
	if (view->rank > TUTTI_TENSOR_RANK)
		return TUTTI_TENSOR_ERROR_RANK;
	t->base = (uintptr_t)view->base;
	t->version = TUTTI_TENSOR_VERSION;
	t->type = (uint8_t)view->type;
	t->rank = (uint8_t)view->rank;
	t->interleave = (uint8_t)view->interleave;
	t->swizzle = (uint8_t)view->swizzle;
	t->fill = (uint8_t)view->fill;
	t->promotion = (uint8_t)view->promotion;
	t->constant = view->fill == TUTTI_FILL_CONSTANT ? view->constant : 0;
	return encode_sizes(t, view);
}

/* The checks see @t, a copy that is always aligned, so the alignment of @tensor is checked here. */
static enum tutti_tensor_error finish(struct tutti_tensor *tensor, struct tutti_tensor *t)
{
	enum tutti_tensor_error error;

	if ((uintptr_t)tensor & 63)
		return TUTTI_TENSOR_ERROR_PLACE;
	tutti_tensor_seal(t);
	error = tutti_tensor_check(t);
	if (!error)
		memcpy(tensor, t, sizeof(*t));
	return error;
}

enum tutti_tensor_error tutti_tensor_encode_tiled(struct tutti_tensor *tensor, const struct tutti_tiled *tiled)
{
	struct tutti_tensor t __attribute__((aligned(64))) = { .mode = TUTTI_TILE };
	enum tutti_tensor_error error = encode_view(&t, &tiled->tensor);

	if (error)
		return error;
	for (unsigned d = 0; d < t.rank; d++) {
		if (tiled->box[d] > BOX_MAX)
			return TUTTI_TENSOR_ERROR_BOX;
		t.box[d] = (uint16_t)tiled->box[d];
	}
	return finish(tensor, &t);
}

enum tutti_tensor_error tutti_tensor_encode_im2col(struct tutti_tensor *tensor, const struct tutti_im2col *im2col)
{
	struct tutti_tensor t __attribute__((aligned(64))) = { .mode = TUTTI_IM2COL };
	enum tutti_tensor_error error = encode_view(&t, &im2col->tensor);

	if (error)
		return error;
	if (im2col->channels > BOX_MAX)
		return TUTTI_TENSOR_ERROR_CHANNELS;
	if (im2col->pixels > PIXELS_MAX)
		return TUTTI_TENSOR_ERROR_PIXELS;
	t.column.channels = (uint16_t)im2col->channels;
	t.column.pixels = (uint16_t)im2col->pixels;
	for (unsigned d = 0; d + 2 < t.rank; d++) {
		t.column.lower[d] = (int16_t)im2col->lower[d];
		t.column.upper[d] = (int16_t)im2col->upper[d];
		if (t.column.lower[d] != im2col->lower[d] || t.column.upper[d] != im2col->upper[d])
			return TUTTI_TENSOR_ERROR_CORNER;
	}
	return finish(tensor, &t);
}

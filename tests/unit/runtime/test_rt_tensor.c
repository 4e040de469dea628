/* SPDX-License-Identifier: MIT */
/* Tensor descriptors: every rule at its border, by its own error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tutti/tensor_api.h"

static struct tutti_tensor made __attribute__((aligned(64)));

static struct tutti_tiled tile(void)
{
	return (struct tutti_tiled){
		.tensor = { .base = (void *)0x10000, .type = TUTTI_F32, .rank = 5, .size = { 64, 32, 16, 8, 4 } },
		.box = { 16, 4, 3, 2, 1 },
	};
}

static struct tutti_im2col column(unsigned rank)
{
	return (struct tutti_im2col){
		.tensor = { .base = (void *)0x10000, .type = TUTTI_F16, .rank = rank, .size = { 64, 9, 14, 6, 4 } },
		.lower = { -1, -1, -1 }, .upper = { -1, -1, -1 }, .channels = 8, .pixels = 64,
	};
}

#define BAD_TILE(expected, change)                                                      \
	do {                                                                            \
		struct tutti_tiled t = tile();                                          \
		memset(&made, 0x55, sizeof(made));                                      \
		change;                                                                 \
		assert_string_equal(tutti_tensor_strerror(tutti_tensor_encode_tiled(&made, &t)), \
				    tutti_tensor_strerror(TUTTI_TENSOR_ERROR_##expected)); \
		if (TUTTI_TENSOR_ERROR_##expected)                                      \
			assert_int_equal(made.base, 0x5555555555555555ull);             \
	} while (0)
#define GOOD_TILE(change) BAD_TILE(NONE, change)

#define BAD_COLUMN(expected, rank, change)                                              \
	do {                                                                            \
		struct tutti_im2col t = column(rank);                                   \
		change;                                                                 \
		assert_string_equal(tutti_tensor_strerror(tutti_tensor_encode_im2col(&made, &t)), \
				    tutti_tensor_strerror(TUTTI_TENSOR_ERROR_##expected)); \
	} while (0)
#define GOOD_COLUMN(rank, change) BAD_COLUMN(NONE, rank, change)

static void fields(void **state)
{
	struct tutti_tiled t = tile();

	t.tensor.stride[1] = 1 << 20;
	t.tensor.stride[2] = TUTTI_STRIDE_BROADCAST;
	t.tensor.traversal[1] = 3;
	t.tensor.fill = TUTTI_FILL_CONSTANT;
	t.tensor.constant = 0x3f800000;
	t.tensor.promotion = 2;
	assert_int_equal(tutti_tensor_encode_tiled(&made, &t), 0);
	assert_int_equal(made.base, 0x10000);
	assert_int_equal(made.rank, 5);
	assert_int_equal(made.mode, TUTTI_TILE);
	assert_int_equal(made.stride[0], 256);     /* dense */
	assert_int_equal(made.stride[1], 1 << 20); /* given */
	assert_int_equal(made.stride[2], 0);
	assert_int_equal(made.stride[3], 0);       /* dense on top of a broadcast */
	assert_int_equal(made.size_less_1[0], 63);
	assert_int_equal(made.size_less_1[4], 3);
	assert_int_equal(made.traversal[0], 1);
	assert_int_equal(made.traversal[1], 3);
	assert_int_equal(made.constant, 0x3f800000);
	assert_int_equal(made.promotion, 2);
	assert_int_equal(tutti_tensor_check(&made), 0);
	assert_int_equal(tutti_tensor_box_bytes(&made), 16 * 2 * 3 * 2 * 1 * 4);
}

/* A box may be described that is larger than any shared memory, and does not become a small one. */
static void large_boxes(void **state)
{
	struct tutti_tiled t = tile();

	for (unsigned d = 0; d < 5; d++)
		t.tensor.size[d] = t.box[d] = 256;
	assert_int_equal(tutti_tensor_encode_tiled(&made, &t), 0);
	assert_int_equal(tutti_tensor_box_bytes(&made), UINT32_MAX);
	t.box[4] = t.box[3] = 1;
	t.box[2] = 64;
	assert_int_equal(tutti_tensor_encode_tiled(&made, &t), 0);
	assert_int_equal(tutti_tensor_box_bytes(&made), 64u * 256 * 256 * 4);
	t.box[4] = t.box[2] = 256;
	t.box[0] = 252; /* that is no power of two */
	assert_int_equal(tutti_tensor_encode_tiled(&made, &t), 0);
	assert_int_equal(tutti_tensor_box_bytes(&made), UINT32_MAX);
}

static void dense_interleaved(void **state)
{
	struct tutti_im2col t = column(4);

	t.tensor.interleave = TUTTI_INTERLEAVE_16; /* 8 channels a slice */
	t.tensor.size[0] = 60;
	assert_int_equal(tutti_tensor_encode_im2col(&made, &t), 0);
	assert_int_equal(made.stride[0], 16);
	assert_int_equal(made.stride[1], 16 * 9);
	assert_int_equal(made.stride[2], 16 * 9 * 14 * 8);
}

static void types(void **state)
{
	static const uint8_t bytes[TUTTI_TENSOR_TYPES] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };
	struct tutti_tensor good __attribute__((aligned(64)));

	for (unsigned type = 0; type < TUTTI_TENSOR_TYPES; type++) {
		assert_int_equal(tutti_tensor_type_bytes(type), bytes[type]);
		GOOD_TILE(t.tensor.type = type);
		if (type < TUTTI_F16)
			BAD_TILE(FILL_TYPE, (t.tensor.type = type, t.tensor.fill = TUTTI_FILL_NAN));
		else
			GOOD_TILE((t.tensor.type = type, t.tensor.fill = TUTTI_FILL_NAN));
	}
	assert_int_equal(tutti_tensor_type_bytes(TUTTI_TENSOR_TYPES), 0);
	BAD_TILE(TYPE, t.tensor.type = TUTTI_TENSOR_TYPES);
	BAD_TILE(TYPE, t.tensor.type = 256 + TUTTI_F32); /* would fit after it has been cut to a byte */
	GOOD_TILE((void)t);
	good = made;
	for (unsigned type = TUTTI_TENSOR_TYPES; type < 256; type++) { /* by hand */
		assert_int_equal(tutti_tensor_type_bytes(type), 0);
		made = good;
		made.type = (uint8_t)type;
		tutti_tensor_seal(&made);
		assert_int_equal(tutti_tensor_check(&made), TUTTI_TENSOR_ERROR_TYPE);
	}
}

static void ranks(void **state)
{
	BAD_TILE(RANK, t.tensor.rank = 0);
	for (unsigned rank = 1; rank <= 5; rank++)
		GOOD_TILE(t.tensor.rank = rank);
	BAD_TILE(RANK, t.tensor.rank = 6);
	BAD_TILE(RANK_INTERLEAVE, (t.tensor.rank = 2, t.tensor.interleave = TUTTI_INTERLEAVE_16));
	GOOD_TILE((t.tensor.rank = 3, t.tensor.interleave = TUTTI_INTERLEAVE_16));
}

static void sizes(void **state)
{
	for (unsigned d = 0; d < 5; d++) {
		BAD_TILE(SIZE, t.tensor.size[d] = 0);
		BAD_TILE(SIZE, t.tensor.size[d] = (1ull << 32) + 1);
	}
	GOOD_TILE((t.tensor.rank = 1, t.tensor.size[0] = 1ull << 32));
	assert_int_equal(made.size_less_1[0], UINT32_MAX);
	GOOD_TILE(t.tensor.size[4] = 1);
}

static void strides(void **state)
{
	for (unsigned d = 0; d < 4; d++) {
		BAD_TILE(STRIDE, t.tensor.stride[d] = 8);
		BAD_TILE(STRIDE_LARGE, t.tensor.stride[d] = 1ull << 40);
	}
	GOOD_TILE(t.tensor.stride[3] = (1ull << 40) - 16);
	BAD_TILE(STRIDE, (t.tensor.rank = 2, t.tensor.size[0] = 63)); /* dense rows of 252 bytes */
	GOOD_TILE((t.tensor.rank = 1, t.tensor.stride[0] = 8));       /* not used */
#define INTERLEAVE_32 t.tensor.interleave = TUTTI_INTERLEAVE_32, t.tensor.swizzle = TUTTI_SWIZZLE_32
	BAD_TILE(STRIDE, (INTERLEAVE_32, t.tensor.stride[1] = 48));
	GOOD_TILE((INTERLEAVE_32, t.tensor.stride[1] = 64));
}

static void bases(void **state)
{
	BAD_TILE(BASE, t.tensor.base = (void *)0x10008);
	GOOD_TILE(t.tensor.base = (void *)0x10010);
	GOOD_TILE((t.tensor.interleave = TUTTI_INTERLEAVE_16, t.tensor.base = (void *)0x10010));
	BAD_TILE(BASE, (INTERLEAVE_32, t.tensor.base = (void *)0x10010));
	GOOD_TILE((INTERLEAVE_32, t.tensor.base = (void *)0x10020));
}

static void boxes(void **state)
{
	for (unsigned d = 0; d < 5; d++) {
		BAD_TILE(BOX, t.box[d] = 0);
		BAD_TILE(BOX, t.box[d] = 257);
		BAD_TILE(BOX, t.box[d] = 65536);
		BAD_TILE(BOX, t.box[d] = 65536 + 16); /* would be valid if cut to 16 bits */
		GOOD_TILE(t.box[d] = 256);
	}
	BAD_TILE(BOX_BYTES, t.box[0] = 3);
	GOOD_TILE((t.tensor.interleave = TUTTI_INTERLEAVE_16, t.box[0] = 3));
	for (unsigned swizzle = TUTTI_SWIZZLE_32; swizzle <= TUTTI_SWIZZLE_128; swizzle++) {
		uint32_t most = (16u << swizzle) / 4;

		GOOD_TILE((t.tensor.swizzle = swizzle, t.box[0] = most));
		BAD_TILE(BOX_SWIZZLE, (t.tensor.swizzle = swizzle, t.box[0] = most + 4));
	}
}

static void traversals(void **state)
{
	for (unsigned d = 1; d < 5; d++) {
		GOOD_TILE(t.tensor.traversal[d] = 8);
		BAD_TILE(TRAVERSAL, t.tensor.traversal[d] = 9);
	}
	GOOD_TILE(t.tensor.traversal[0] = 8);
	assert_int_equal(tutti_tensor_box_bytes(&made), 16 * 4 * 3 * 2 * 4); /* dimension 0's is ignored, ... */
	GOOD_TILE(t.tensor.traversal[0] = 9);                                 /* ... whatever it is, ... */
	GOOD_TILE(t.tensor.traversal[0] = 256);
	GOOD_TILE(t.tensor.traversal[0] = UINT32_MAX);
	assert_int_equal(tutti_tensor_box_bytes(&made), 16 * 4 * 3 * 2 * 4);
	GOOD_COLUMN(4, t.tensor.traversal[0] = 9);
	GOOD_TILE((t.tensor.interleave = TUTTI_INTERLEAVE_16, t.tensor.traversal[0] = 8));
	assert_int_equal(made.traversal[0], 8);
	BAD_TILE(TRAVERSAL, (t.tensor.interleave = TUTTI_INTERLEAVE_16, t.tensor.traversal[0] = 256 + 1));
	BAD_COLUMN(TRAVERSAL, 4, (t.tensor.interleave = TUTTI_INTERLEAVE_16, t.tensor.traversal[0] = 9));
	BAD_TILE(TRAVERSAL, (t.tensor.interleave = TUTTI_INTERLEAVE_16, t.tensor.traversal[0] = 9)); /* ... or not */
	/* in a finished descriptor 0 is wrong as well */
	GOOD_TILE((void)t);
	made.traversal[2] = 0;
	tutti_tensor_seal(&made);
	assert_int_equal(tutti_tensor_check(&made), TUTTI_TENSOR_ERROR_TRAVERSAL);
}

static void choices(void **state)
{
	BAD_TILE(INTERLEAVE, t.tensor.interleave = 3);
	BAD_TILE(SWIZZLE, t.tensor.swizzle = 4);
	BAD_TILE(FILL, t.tensor.fill = 3);
	BAD_TILE(PROMOTION, t.tensor.promotion = 4);
	for (unsigned promotion = 0; promotion < 4; promotion++) {
		GOOD_TILE(t.tensor.promotion = promotion);
		assert_int_equal(made.promotion, promotion);
	}
	for (unsigned swizzle = 0; swizzle < 4; swizzle++) {
		GOOD_TILE((t.tensor.interleave = TUTTI_INTERLEAVE_16, t.tensor.swizzle = swizzle));
		if (swizzle == TUTTI_SWIZZLE_32)
			GOOD_TILE((t.tensor.interleave = TUTTI_INTERLEAVE_32, t.tensor.swizzle = swizzle));
		else
			BAD_TILE(SWIZZLE_INTERLEAVE,
				 (t.tensor.interleave = TUTTI_INTERLEAVE_32, t.tensor.swizzle = swizzle));
	}
}

static void column_ranks(void **state)
{
	BAD_COLUMN(RANK_IM2COL, 2, (void)t);
	for (unsigned rank = 3; rank <= 5; rank++)
		GOOD_COLUMN(rank, (void)t);
	BAD_COLUMN(RANK, 6, (void)t);
}

static void corners(void **state)
{
	static const int32_t end[] = { 0, 0, 0, 32768, 128, 16 };

	for (unsigned rank = 3; rank <= 5; rank++)
		for (unsigned d = 0; d < rank - 2; d++) {
			GOOD_COLUMN(rank, (t.lower[d] = -end[rank], t.upper[d] = end[rank] - 1));
			GOOD_COLUMN(rank, (t.lower[d] = end[rank] - 1, t.upper[d] = -end[rank],
					   t.tensor.size[d + 1] = 2u * (uint32_t)end[rank]));
			BAD_COLUMN(BOUNDING_BOX, rank, (t.lower[d] = end[rank] - 1, t.upper[d] = -end[rank],
							t.tensor.size[d + 1] = 2u * (uint32_t)end[rank] - 1));
			BAD_COLUMN(CORNER, rank, t.lower[d] = -end[rank] - 1);
			BAD_COLUMN(CORNER, rank, t.lower[d] = end[rank]);
			BAD_COLUMN(CORNER, rank, t.upper[d] = -end[rank] - 1);
			BAD_COLUMN(CORNER, rank, t.upper[d] = end[rank]);
		}
	GOOD_COLUMN(3, t.lower[1] = 1 << 20); /* not used */
}

static void column_sizes(void **state)
{
	BAD_COLUMN(PIXELS, 4, t.pixels = 0);
	GOOD_COLUMN(4, t.pixels = 1024);
	assert_int_equal(tutti_tensor_box_bytes(&made), 1024 * 8 * 2);
	BAD_COLUMN(PIXELS, 4, t.pixels = 1025);
	BAD_COLUMN(CHANNELS, 4, t.channels = 0);
	GOOD_COLUMN(4, t.channels = 256);
	BAD_COLUMN(CHANNELS, 4, t.channels = 257);
	BAD_COLUMN(CHANNELS, 4, t.channels = 65536 + 8);
	BAD_COLUMN(CHANNEL_BYTES, 4, t.channels = 4);
	for (unsigned swizzle = TUTTI_SWIZZLE_32; swizzle <= TUTTI_SWIZZLE_128; swizzle++) {
		GOOD_COLUMN(4, (t.tensor.swizzle = swizzle, t.channels = 8u << swizzle));
		BAD_COLUMN(CHANNEL_SWIZZLE, 4, (t.tensor.swizzle = swizzle, t.channels = (8u << swizzle) + 8));
	}
}

/* What only a kernel that builds descriptors by hand can do wrong. */
static void by_hand(void **state)
{
	struct tutti_tensor good __attribute__((aligned(64)));

	assert_int_equal(tutti_tensor_encode_tiled(&good, &(struct tutti_tiled){
		.tensor = { .base = (void *)64, .type = TUTTI_U8, .rank = 1, .size = { 64 } }, .box = { 16 } }), 0);
#define BY_HAND(expected, change)                                             \
	do {                                                                  \
		made = good;                                                  \
		change;                                                       \
		tutti_tensor_seal(&made);                                     \
		assert_int_equal(tutti_tensor_check(&made), TUTTI_TENSOR_ERROR_##expected); \
	} while (0)
	BY_HAND(NONE, made.base = 1 << 20);
	BY_HAND(VERSION, made.version = TUTTI_TENSOR_VERSION + 1);
	BY_HAND(RESERVED, made.pad2 = 1);
	BY_HAND(MODE, made.mode = 2);
	BY_HAND(RANK, made.rank = 6);
	BY_HAND(RANK, made.rank = 0);
	BY_HAND(NONE, made.base = (1ull << 47) - 64);
	BY_HAND(EXTENT, made.base = (1ull << 47) - 48);
	BY_HAND(EXTENT, made.base = ~63ull);
	BY_HAND(NONE, (made.rank = 2, made.box[1] = made.traversal[1] = 1, made.stride[0] = 1ull << 39,
		       made.size_less_1[1] = 254));
	BY_HAND(EXTENT, (made.rank = 2, made.box[1] = made.traversal[1] = 1, made.stride[0] = 1ull << 39,
			 made.size_less_1[1] = 256));
	BY_HAND(BOX, made.box[0] = 0);
	for (unsigned i = 0; i < 3; i++)
		BY_HAND(RESERVED, made.pad0[i] = 1);
	BY_HAND(RESERVED, made.pad1[0] = 1);
	BY_HAND(RESERVED, made.pad1[1] = 1);
	BY_HAND(RESERVED, made.pad3 = 1);
	BY_HAND(INTERLEAVE, made.interleave = 3);
	BY_HAND(SWIZZLE, made.swizzle = 4);
	BY_HAND(FILL, made.fill = 3);
	BY_HAND(NONE, made.promotion = 3);
	BY_HAND(PROMOTION, made.promotion = 4);
	made = good;
	made.base += 16;
	assert_int_equal(tutti_tensor_check(&made), TUTTI_TENSOR_ERROR_CHECK);
	assert_int_equal(tutti_tensor_check((const struct tutti_tensor *)((const char *)&made + 32)),
			 TUTTI_TENSOR_ERROR_PLACE);
	assert_int_equal(tutti_tensor_encode_tiled((struct tutti_tensor *)((char *)&made + 16),
						   &(struct tutti_tiled){ .tensor = { .type = TUTTI_U8, .rank = 1,
							   .size = { 64 } }, .box = { 16 } }),
			 TUTTI_TENSOR_ERROR_PLACE);
}

/* How far elements lie from the base: each dimension adds to the others, up to the end of the address space. */
static void extents(void **state)
{
	const uint64_t end = 1ull << 47, stride = 1ull << 32;
	struct tutti_tensor good __attribute__((aligned(64)));

	assert_int_equal(tutti_tensor_encode_tiled(&good, &(struct tutti_tiled){
		.tensor = { .base = (void *)64, .type = TUTTI_U8, .rank = 3, .size = { 64, 8, 8 },
			    .stride = { stride, 8 * stride } }, .box = { 16, 1, 1 } }), 0);
	BY_HAND(NONE, made.base = end - 63 * stride - 64); /* up to the last byte */
	BY_HAND(EXTENT, made.base = end - 63 * stride - 48);
	BY_HAND(NONE, (made.base = end - 63 * stride - 64, made.size_less_1[1]--));
	BY_HAND(EXTENT, (made.base = end - 63 * stride - 64, made.size_less_1[1]++));
	BY_HAND(EXTENT, (made.base = end - 63 * stride - 64, made.size_less_1[2]++));
	BY_HAND(EXTENT, (made.base = end - 63 * stride - 64, made.size_less_1[0] += 16));
	BY_HAND(EXTENT, made.base = end);
	BY_HAND(EXTENT, made.base = end + 16);
	/* slices of interleaved channels: 16 bytes each, one behind the other as images of rows are */
	assert_int_equal(tutti_tensor_encode_tiled(&good, &(struct tutti_tiled){
		.tensor = { .base = (void *)64, .type = TUTTI_U8, .rank = 3, .size = { 40, 8, 4 },
			    .interleave = TUTTI_INTERLEAVE_16 }, .box = { 1, 1, 1 } }), 0);
	assert_int_equal(good.stride[0], 16);
	assert_int_equal(good.stride[1], 16 * 8 * 3); /* three slices, the last of them of eight channels */
	BY_HAND(NONE, made.stride[0] = 1ull << 39);
	made = good;
}

/*
 * The number of bytes from the start of a tensor to its end, by TMA-16. The channels of an interleaved tensor are split into
 * slices, whose distance is the whole extent of dimension rank - 2.
 */
static unsigned __int128 bytes_of(const struct tutti_tensor *t)
{
	uint64_t row = (t->size_less_1[0] + 1ull) * tutti_tensor_type_bytes(t->type), slice = 8u << t->interleave, slices;
	unsigned __int128 bytes = row;

	for (unsigned d = 1; d < t->rank; d++)
		bytes += (unsigned __int128)t->size_less_1[d] * t->stride[d - 1];
	if (!t->interleave)
		return bytes;
	slices = (row + slice - 1) / slice;
	return bytes - row + slice + (unsigned __int128)(slices - 1) * t->stride[t->rank - 3] * (t->size_less_1[t->rank - 2] + 1ull);
}

static uint64_t draw(uint64_t n)
{
	return ((uint64_t)rand() << 31 ^ (uint64_t)rand()) % n;
}

/* Draws a rank, sizes of any magnitude, and strides of any magnitude that are multiples of @unit. */
static void draw_extent(struct tutti_tensor *t, uint64_t unit)
{
	t->rank = (uint8_t)(3 + draw(3));
	for (unsigned d = 0; d < 5; d++)
		t->size_less_1[d] = (uint32_t)draw(draw(4) ? 70 : draw(2) ? 1 << 12 : 1ull << 32);
	for (unsigned d = 0; d < 4; d++)
		t->stride[d] = d + 1 < t->rank && draw(8) ? draw(draw(4) ? 1 << 20 : (1ull << 40) / unit) * unit % (1ull << 40) : 0;
}

/* A tensor may end at the end of the address space but not one unit later, whichever of its parts lies last. */
static void ends_of_tensors(void **state)
{
	const uint64_t end = 1ull << 47;
	unsigned fitting = 0;

	srand(5);
	for (unsigned round = 0; round < 30000; round++) {
		const unsigned interleave = round % 3;
		const uint64_t unit = interleave == TUTTI_INTERLEAVE_32 ? 32 : 16;
		struct tutti_tensor good __attribute__((aligned(64)));
		struct tutti_tiled t = tile();
		unsigned __int128 bytes;
		bool fits;

		t.tensor.type = draw(2) ? TUTTI_U8 : TUTTI_F32;
		t.tensor.interleave = (enum tutti_interleave)interleave;
		t.tensor.swizzle = interleave == TUTTI_INTERLEAVE_32 ? TUTTI_SWIZZLE_32 : TUTTI_SWIZZLE_NONE;
		assert_int_equal(tutti_tensor_encode_tiled(&good, &t), 0);
		draw_extent(&good, unit);
		bytes = bytes_of(&good);
		fits = bytes <= end;
		fitting += fits;
		good.base = fits ? (end - (uint64_t)bytes) / unit * unit : 0;
		made = good;
		tutti_tensor_seal(&made);
		assert_int_equal(tutti_tensor_check(&made), fits ? TUTTI_TENSOR_ERROR_NONE : TUTTI_TENSOR_ERROR_EXTENT);
		BY_HAND(EXTENT, made.base += unit);
	}
	assert_in_range(fitting, 5000, 29000);
}

/* A box takes as much shared memory as the elements, or slices of channels, that are loaded, counted one by one here. */
static void bytes_of_boxes(void **state)
{
	srand(6);
	for (unsigned round = 0; round < 2000; round++) {
		struct tutti_tiled t = tile();
		uint32_t bytes;

		t.tensor.rank = 3 + (unsigned)draw(3);
		t.tensor.interleave = (enum tutti_interleave)draw(3);
		t.tensor.swizzle = t.tensor.interleave == TUTTI_INTERLEAVE_32 ? TUTTI_SWIZZLE_32 : TUTTI_SWIZZLE_NONE;
		t.box[0] = 4 * (1 + (uint32_t)draw(6));
		bytes = t.tensor.interleave ? 8u << t.tensor.interleave : 4;
		for (unsigned d = 0; d < 5; d++) {
			uint32_t steps = 0;

			t.tensor.traversal[d] = (uint32_t)draw(9);
			if (d)
				t.box[d] = 1 + (uint32_t)draw(9);
			for (uint32_t at = 0; at < t.box[d]; steps++)
				at += (d || t.tensor.interleave) && t.tensor.traversal[d] ? t.tensor.traversal[d] : 1;
			bytes *= d < t.tensor.rank ? steps : 1;
		}
		assert_int_equal(tutti_tensor_encode_tiled(&made, &t), 0);
		assert_int_equal(tutti_tensor_box_bytes(&made), bytes);
	}
}

/* A descriptor lies at a multiple of 64 bytes. */
static void places(void **state)
{
	struct tutti_tiled t = tile();
	uint8_t room[3 * sizeof(struct tutti_tensor)] __attribute__((aligned(64)));

	for (unsigned bit = 0; bit < 6; bit++)
		assert_int_equal(tutti_tensor_encode_tiled((struct tutti_tensor *)(void *)(room + (1u << bit)), &t),
				 TUTTI_TENSOR_ERROR_PLACE);
	assert_int_equal(tutti_tensor_encode_tiled((struct tutti_tensor *)(void *)(room + 64), &t), 0);
}

/* Slices of interleaved tensors that are full, and that are not. */
static void slices(void **state)
{
	for (unsigned channels = 1; channels <= 40; channels++) {
		GOOD_TILE((t.tensor.type = TUTTI_U8, t.tensor.rank = 4, t.tensor.interleave = TUTTI_INTERLEAVE_16,
			   t.tensor.size[0] = channels, t.tensor.size[1] = 5, t.tensor.size[2] = 7, t.tensor.size[3] = 3,
			   t.tensor.stride[0] = t.tensor.stride[1] = t.tensor.stride[2] = 0));
		assert_int_equal(made.stride[0], 16);
		assert_int_equal(made.stride[1], 16 * 5);
		assert_int_equal(made.stride[2], 16 * 5 * 7 * ((channels + 15) / 16));
	}
}

static void texts(void **state)
{
	for (unsigned a = 0; a < TUTTI_TENSOR_ERRORS; a++)
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(tutti_tensor_strerror(a), tutti_tensor_strerror(b));
	assert_string_equal(tutti_tensor_strerror(TUTTI_TENSOR_ERRORS), "unknown error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "TMA-05: fields of a tile descriptor, dense strides", fields, NULL, NULL, NULL },
		{ "TMA-16: dense strides of an interleaved tensor", dense_interleaved, NULL, NULL, NULL },
		{ "TMA-06: thirteen types; NaN fill only for float types", types, NULL, NULL, NULL },
		{ "TMA-06: rank 1..5, interleave from 3", ranks, NULL, NULL, NULL },
		{ "TMA-06: sizes 1..2^32", sizes, NULL, NULL, NULL },
		{ "TMA-06: strides", strides, NULL, NULL, NULL },
		{ "TMA-06 TMA-07: base", bases, NULL, NULL, NULL },
		{ "TMA-06: box", boxes, NULL, NULL, NULL },
		{ "TMA-06: traversal strides 1..8", traversals, NULL, NULL, NULL },
		{ "TMA-06: interleave, swizzle, fill, promotion", choices, NULL, NULL, NULL },
		{ "TMA-11: im2col has rank 3..5", column_ranks, NULL, NULL, NULL },
		{ "TMA-11: corners fit 16, 8, 5 bits", corners, NULL, NULL, NULL },
		{ "TMA-06 TMA-11: channels per pixel, pixels per column", column_sizes, NULL, NULL, NULL },
		{ "TMA-05: descriptors made by hand: version, check word, place", by_hand, NULL, NULL, NULL },
		{ "TMA-06: where elements lie", extents, NULL, NULL, NULL },
		{ "TMA-06, TMA-16: tensors that end with the address space", ends_of_tensors, NULL, NULL, NULL },
		{ "TMA-06: bytes of boxes, counted one by one", bytes_of_boxes, NULL, NULL, NULL },
		{ "TMA-06: bytes of boxes too large to be counted", large_boxes, NULL, NULL, NULL },
		{ "TMA-05: where descriptors lie", places, NULL, NULL, NULL },
		{ "TMA-16: slices of interleaved tensors", slices, NULL, NULL, NULL },
		{ "TMA-06: every error has its own text", texts, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("SYS-41 tensor descriptors", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Making tensor descriptors
 *
 * The same functions on the host (libtutti) and in kernels (libtutti-device). A
 * descriptor is plain memory: 128 bytes, 64-byte aligned, anywhere the card can
 * read. Dimension 0 is the innermost one. Who knows CUDA's cuTensorMapEncodeTiled
 * and cuTensorMapEncodeIm2col finds their parameters and limits here.
 *
 *	static const struct tutti_tiled tiles = {
 *		.tensor = { .type = TUTTI_F32, .rank = 2, .size = { 512, 256 } },
 *		.box = { 32, 16 },
 *	};
 *
 *	tiles.tensor.base = a;
 *	error = tutti_tensor_encode_tiled(descriptor, &tiles);
 */
#ifndef TUTTI_TENSOR_API_H
#define TUTTI_TENSOR_API_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TUTTI_STRIDE_BROADCAST UINT64_MAX /* a stride of 0 bytes: every step reads the same elements */

/**
 * struct tutti_tensor_view - what both modes need to know. Zero = default.
 * @base: address of element 0
 * @size: elements of each dimension, 1 .. 2^32
 * @stride: bytes between elements of dimensions 1.. ; 0 = densely packed
 * @traversal: step of each dimension, 1..8; 0 = 1
 * @constant: fill value for TUTTI_FILL_CONSTANT, in the low bytes
 */
struct tutti_tensor_view {
	const void *base;
	enum tutti_tensor_type type;
	unsigned rank;
	uint64_t size[TUTTI_TENSOR_RANK];
	uint64_t stride[TUTTI_TENSOR_RANK - 1];
	uint32_t traversal[TUTTI_TENSOR_RANK];
	enum tutti_interleave interleave;
	enum tutti_swizzle swizzle;
	enum tutti_fill fill;
	unsigned promotion; /* 0, 1 = 64, 2 = 128, 3 = 256 bytes */
	uint64_t constant;
};

/**
 * struct tutti_tiled - tile mode.
 * @box: elements a request covers, 1..256 each; ceil(box / traversal) are moved
 */
struct tutti_tiled {
	struct tutti_tensor_view tensor;
	uint32_t box[TUTTI_TENSOR_RANK];
};

/**
 * struct tutti_im2col - im2col mode: NWC, NHWC or NDHWC, dimension 0 = C.
 * @lower: lower corner of the bounding box, W H D: -padding
 * @upper: upper corner, from the tensor's last element: padding - (taps - 1) * dilation
 * @channels: per pixel, 1..256
 * @pixels: per column, 1..1024
 */
struct tutti_im2col {
	struct tutti_tensor_view tensor;
	int32_t lower[TUTTI_TENSOR_RANK - 2];
	int32_t upper[TUTTI_TENSOR_RANK - 2];
	uint32_t channels;
	uint32_t pixels;
};

/** tutti_tensor_encode_tiled() - fill @tensor for tile mode. Nothing is written if the result is an error. */
enum tutti_tensor_error tutti_tensor_encode_tiled(struct tutti_tensor *tensor, const struct tutti_tiled *tiled);
/** tutti_tensor_encode_im2col() - fill @tensor for im2col mode. Nothing is written if the result is an error. */
enum tutti_tensor_error tutti_tensor_encode_im2col(struct tutti_tensor *tensor, const struct tutti_im2col *im2col);
/** tutti_tensor_check() - every rule the card checks, in a finished descriptor. */
enum tutti_tensor_error tutti_tensor_check(const struct tutti_tensor *tensor);
/** tutti_tensor_seal() - make the check word fit; after every change of a field. */
void tutti_tensor_seal(struct tutti_tensor *tensor);
/** tutti_tensor_strerror() - text for an error. */
const char *tutti_tensor_strerror(enum tutti_tensor_error error);
/** tutti_tensor_type_bytes() - size of an element, 0 for an unknown type. */
uint32_t tutti_tensor_type_bytes(unsigned type);
/** tutti_tensor_box_bytes() - bytes one request moves: what to expect on its barrier. */
uint32_t tutti_tensor_box_bytes(const struct tutti_tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Making tensor descriptors
 *
 * A tensor descriptor tells the card's tensor memory access unit how a tensor lies in
 * memory and which box of it one request moves; it is what CUDA calls a tensor map.
 * It is plain memory: 128 bytes, 64-byte aligned, anywhere the card can read. The same
 * functions exist on the host (libtutti) and in kernels. Dimension 0 is the innermost
 * one. Parameters and limits are those of CUDA's cuTensorMapEncodeTiled() and
 * cuTensorMapEncodeIm2col().
 *
 *	struct tutti_tiled tiled = {
 *		.tensor = { .base = a, .type = TUTTI_F32, .rank = 2, .size = { 512, 256 } },
 *		.box = { 32, 16 },
 *	};
 *
 *	error = tutti_tensor_encode_tiled(descriptor, &tiled);
 *
 * Shared memory. The elements of a box, or the channels of the pixels of a column, follow each other without gaps. A
 * swizzle does not change this: it exchanges 16-byte pieces within each 128 bytes of shared memory, by bits 7 and up
 * of the offset in shared memory. So where the bytes of dimension 0 are fewer than the swizzle is wide, they are not
 * padded to its width: rows are packed, and several share 128 bytes. With 32 bytes in dimension 0 and
 * TUTTI_SWIZZLE_128, for instance, byte b of row r lies at offset a = start + 32 r + b, swizzled to
 * a ^ (a >> 3 & 0x70), and rows 4 k to 4 k + 3 of a box at a multiple of 128 share a line.
 *
 * Interleave. Dimension 0 of boxes, channels per pixel and coordinates counts slices of 16 or 32 bytes, where CUDA's
 * functions count channels: 64 channels of two bytes with TUTTI_INTERLEAVE_16 are 8 here. Only size[0] counts
 * channels in both. A slice takes the place of an element in shared memory, that is, the slices of a pixel follow each
 * other.
 *
 * (spec TMA-05, TMA-06, TMA-11)
 */
#ifndef TUTTI_TENSOR_API_H
#define TUTTI_TENSOR_API_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/** TUTTI_STRIDE_BROADCAST - a stride of 0 bytes: every step along the dimension reads the same elements. */
#define TUTTI_STRIDE_BROADCAST UINT64_MAX

/**
 * struct tutti_tensor_view - the tensor, for both modes; what is zero gets its default.
 * @base: address of element 0, a multiple of 16 (32 with TUTTI_INTERLEAVE_32)
 * @type: type of its elements
 * @rank: number of dimensions, 1 to 5
 * @size: elements along each dimension, 1 to 2^32
 * @stride: bytes from one element to the next along dimensions 1 and up, multiples of 16 below 2^40;
 *	0 = densely packed
 * @traversal: step along each dimension, 1 to 8; 0 = 1; without interleave, that of dimension 0 is ignored
 * @interleave: are channels stored in slices of 16 or 32 bytes?
 * @swizzle: order of 16-byte pieces in shared memory; see "Shared memory" above
 * @fill: what is loaded for elements outside the tensor
 * @promotion: bytes to bring into the card's cache at once: 0 = as needed, 1 = 64, 2 = 128, 3 = 256
 * @constant: the fill value for TUTTI_FILL_CONSTANT, in its low bytes
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
	unsigned promotion;
	uint64_t constant;
};

/**
 * struct tutti_tiled - tile mode.
 * @tensor: the tensor
 * @box: elements that one request covers along each dimension, 1 to 256; box / traversal of them, rounded up, are moved
 */
struct tutti_tiled {
	struct tutti_tensor_view tensor;
	uint32_t box[TUTTI_TENSOR_RANK];
};

/**
 * struct tutti_im2col - im2col mode, for tensors NWC, NHWC or NDHWC, dimension 0 being C.
 * @tensor: the tensor
 * @lower: lower corner of the bounding box along W, H, D, from the tensor's first element: -padding
 * @upper: upper corner, from the tensor's last element: padding - (taps - 1) * dilation
 * @channels: channels of each pixel, 1 to 256
 * @pixels: pixels that one request moves, 1 to 1024
 */
struct tutti_im2col {
	struct tutti_tensor_view tensor;
	int32_t lower[TUTTI_TENSOR_RANK - 2];
	int32_t upper[TUTTI_TENSOR_RANK - 2];
	uint32_t channels;
	uint32_t pixels;
};

/**
 * tutti_tensor_encode_tiled() - make a descriptor for tile mode.
 * @tensor: gets the descriptor; not written in case of an error
 * @tiled: tensor and box
 *
 * Return: TUTTI_TENSOR_ERROR_NONE (0), or the rule of tensor.h that is broken.
 */
enum tutti_tensor_error tutti_tensor_encode_tiled(struct tutti_tensor *tensor, const struct tutti_tiled *tiled);

/** tutti_tensor_encode_im2col() - make a descriptor for im2col mode; otherwise as tutti_tensor_encode_tiled(). */
enum tutti_tensor_error tutti_tensor_encode_im2col(struct tutti_tensor *tensor, const struct tutti_im2col *im2col);

/** tutti_tensor_check() - check a finished descriptor as the card does. Return: the rule that is broken, or 0. */
enum tutti_tensor_error tutti_tensor_check(const struct tutti_tensor *tensor);

/** tutti_tensor_seal() - make the check word fit, after fields of a descriptor were changed by hand. */
void tutti_tensor_seal(struct tutti_tensor *tensor);

/** tutti_tensor_strerror() - static text for an error; never NULL. */
const char *tutti_tensor_strerror(enum tutti_tensor_error error);

/** tutti_tensor_type_bytes() - bytes of an element (enum tutti_tensor_type); 0 for an unknown type. */
uint32_t tutti_tensor_type_bytes(unsigned type);

/**
 * tutti_tensor_box_bytes() - bytes that one request moves, which is what its mbarrier has to expect.
 *
 * Return: UINT32_MAX if there are more, which no memory of a workgroup holds.
 */
uint32_t tutti_tensor_box_bytes(const struct tutti_tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
#ifndef CONV_H
#define CONV_H

#include <stdint.h>

#include "tutti/tensor.h"

#define PIXELS 32   /* output pixels of a workgroup */
#define CHANNELS 32 /* input channels that one step takes: 128 bytes, as wide as the swizzle */
#define FILTERS 16  /* output channels of a workgroup */
#define WAVES 4

/*
 * y = x * w, for tensors N (D) H W C and filters K (T) R S C. All arrays of sizes are in the order W, H, D. x: im2col
 * descriptor of PIXELS x CHANNELS; w: rank 3 (C, filter position, K), box CHANNELS x 1 x FILTERS; y: rank 2 (K, pixel),
 * box FILTERS x PIXELS.
 */
struct conv_args {
	const struct tutti_tensor *x, *w, *y;
	uint32_t dimensions; /* 2 or 3 */
	uint32_t channels;
	uint32_t taps[3];    /* size of the filter */
	uint32_t size[3];    /* size of an output image */
	int32_t stride[3], dilation[3], lower[3];
};

#endif

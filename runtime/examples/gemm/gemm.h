/* SPDX-License-Identifier: MIT */
#ifndef GEMM_H
#define GEMM_H

#include <stdint.h>

#include "tutti/tensor.h"

#define TILE 32  /* rows, columns and depth of a step: a row of floats is 128 bytes, as wide as the swizzle */
#define WAVES 4
#define STAGES 2

/* c = a b; a is m x k, b is k x n, all tiled by boxes of TILE x TILE with the 128-byte swizzle. */
struct gemm_args {
	const struct tutti_tensor *a, *b, *c;
	uint32_t k;
};

#endif

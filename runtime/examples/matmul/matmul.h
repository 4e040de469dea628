/* SPDX-License-Identifier: MIT */
#ifndef MATMUL_H
#define MATMUL_H

#include <stdint.h>

#define TILE 16

/* Square matrices, row after row; n is a multiple of TILE. */
struct matmul_args {
	const float *a, *b;
	float *c;
	uint32_t n;
};

#endif

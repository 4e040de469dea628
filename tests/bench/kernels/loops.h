/* SPDX-License-Identifier: MIT */
/* PERF-13: the loops that are compared, as C for both the card and the host. */
#ifndef BENCH_KERNELS_LOOPS_H
#define BENCH_KERNELS_LOOPS_H

#include <stdint.h>

struct saxpy_args {
	const float *x;
	float *y;
	float a;
};

struct matmul_args {
	const float *a, *b;
	float *c;
	uint32_t n;
};

/**
 * struct dot_args - a dot product, computed several times.
 * @rounds: times that DOT_ITEMS products are added up
 */
struct dot_args {
	const float *a, *b;
	float *sum;
	uint32_t rounds;
};

/* Products of a round, and the instructions that each of them takes (loops.c). */
#define DOT_ITEMS	 1024u
#define DOT_INSTRUCTIONS 8u

static inline float matmul_element(const struct matmul_args *args, uint32_t row, uint32_t column)
{
	float sum = 0;

	for (uint32_t k = 0; k < args->n; k++)
		sum += args->a[row * args->n + k] * args->b[k * args->n + column];
	return sum;
}

#endif

// SPDX-License-Identifier: MIT
/* The loops of PERF-13 as gcc -O2 without vectors makes them (build.mk). */
#include "loops_host.h"

void saxpy_on_host(const struct saxpy_args *args, uint32_t n)
{
	const float *x = args->x, a = args->a;
	float *y = args->y;

	for (uint32_t i = 0; i < n; i++)
		y[i] = a * x[i] + y[i];
}

void matmul_on_host(const struct matmul_args *args)
{
	for (uint32_t row = 0; row < args->n; row++)
		for (uint32_t column = 0; column < args->n; column++)
			args->c[row * args->n + column] = matmul_element(args, row, column);
}

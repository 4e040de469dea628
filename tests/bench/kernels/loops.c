// SPDX-License-Identifier: MIT
/* PERF-13: kernels whose time is compared with the same C on the host. */
#include "loops.h"
#include "tutti/device.h"

TUTTI_KERNEL(saxpy, struct saxpy_args)
{
	const float *x = args->x, a = args->a;
	float *y = args->y;

	tutti_for_each_item(item) {
		uint32_t i = tutti_global_id(item, 0);

		y[i] = a * x[i] + y[i];
	}
}

TUTTI_KERNEL(matmul, struct matmul_args)
{
	tutti_for_each_item(item) {
		uint32_t column = tutti_global_id(item, 0), row = tutti_global_id(item, 1);

		args->c[row * args->n + column] = matmul_element(args, row, column);
	}
}

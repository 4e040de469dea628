/* SPDX-License-Identifier: MIT */
#include "tutti/device.h"

struct args {
	const float *a, *b;
	float *sum;
};

/* One work-item per element; the grid is exactly as large as the vectors. */
TUTTI_KERNEL(vector_add, struct args)
{
	tutti_for_each_item(item) {
		uint32_t i = tutti_global_id(item, 0);

		args->sum[i] = args->a[i] + args->b[i];
	}
}

/* SPDX-License-Identifier: MIT */
/* The kernels that the HSA examples launch. The programs themselves include no header of Tutti. */
#include "tutti/device.h"

struct copy_args {
	const uint32_t *from;
	uint32_t *to;
	uint64_t count;
};

TUTTI_KERNEL(vector_copy, struct copy_args)
{
	tutti_for_each_item(item) {
		uint32_t i = tutti_global_id(item, 0);

		if (i < args->count)
			args->to[i] = args->from[i];
	}
}

struct combine_args {
	uint64_t *out;
	const uint64_t *a, *b;
	uint64_t times_a, times_b;
};

/* One work-item: a node of a graph. */
TUTTI_KERNEL(combine, struct combine_args)
{
	*args->out = *args->a * args->times_a + *args->b * args->times_b;
}

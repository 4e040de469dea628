// SPDX-License-Identifier: MIT
/* A kernel with variables that the program defines when it loads it, and some of its own. */
#include "tutti/device.h"

extern int32_t external_factor;
extern const int32_t external_table[4];
int32_t own_offset = 1000;
const int32_t own_constant[2] = {5, 7};

struct scale_args {
	int32_t *x;
};

TUTTI_KERNEL(scale_external, struct scale_args)
{
	tutti_for_each_item(item) {
		uint64_t i = tutti_global_id(item, 0);

		args->x[i] = args->x[i] * external_factor + external_table[i & 3] + own_offset + own_constant[i & 1];
	}
}

/* SPDX-License-Identifier: MIT */
#include "tutti/device.h"

#include "matmul.h"

/*
 * c = a b, one TILE x TILE tile of c per workgroup. The waves load tiles of a and b into shared memory together, and
 * use each element TILE times.
 */
TUTTI_KERNEL(matmul, struct matmul_args, .group_bytes = 2 * TILE * TILE * sizeof(float),
	     .flags = TUTTI_KERNEL_BARRIER, .barriers = 1, .workgroup = { TILE, TILE, 1 })
{
	float *tile_a = tutti_shared(float, 0);
	float *tile_b = tile_a + TILE * TILE;
	const uint32_t n = args->n;

	for (uint32_t k0 = 0; k0 < n; k0 += TILE) {
		tutti_for_each_item(item) {
			uint32_t x = tutti_local_id(item, 0), y = tutti_local_id(item, 1);

			tile_a[item] = args->a[tutti_global_id(item, 1) * n + k0 + x];
			tile_b[item] = args->b[(k0 + y) * n + tutti_global_id(item, 0)];
		}
		tutti_barrier();
		tutti_for_each_item(item) {
			const float *a = tile_a + tutti_local_id(item, 1) * TILE;
			const float *b = tile_b + tutti_local_id(item, 0);
			float *c = &args->c[tutti_global_id(item, 1) * n + tutti_global_id(item, 0)];
			float sum = k0 ? *c : 0.0f;

			for (uint32_t k = 0; k < TILE; k++)
				sum += a[k] * b[k * TILE];
			*c = sum;
		}
		tutti_barrier();
	}
}

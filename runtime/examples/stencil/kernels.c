/* SPDX-License-Identifier: MIT */
#include "tutti/tmau.h"

#include "stencil.h"

#define WIDTH (TILE + 2 * HALO_X)
#define IN_BYTES (WIDTH * (TILE + 2 * HALO_Y) * sizeof(float))
#define BARRIER (IN_BYTES + TILE * TILE * sizeof(float))

/*
 * One load fetches the tile with its halo. Beyond the edges of the grid it gives zeros, and stores write nothing there.
 */
TUTTI_KERNEL(stencil, struct stencil_args, .group_bytes = BARRIER + 8, .flags = TUTTI_KERNEL_BARRIER, .barriers = 1,
	     .workgroup = { 128, 1, 1 })
{
	int32_t x = (int32_t)tutti_cta_id(0) * TILE, y = (int32_t)tutti_cta_id(1) * TILE;
	float *in = tutti_shared(float, 0), *out = tutti_shared(float, IN_BYTES);
	uint64_t *barrier = tutti_shared(uint64_t, BARRIER);

	tutti_one_sync(tutti_all_waves()) {
		tutti_mbarrier_init(barrier, 1);
		tutti_mbarrier_arrive_expect(barrier, IN_BYTES);
		tutti_load_tile(args->from, in, barrier, x - HALO_X, y - HALO_Y);
	}
	tutti_mbarrier_wait(barrier, 0);
	for (uint32_t row = tutti_wave()->wave; row < TILE; row += tutti_wave()->waves)
		for (uint32_t i = 0; i < TILE; i++) {
			const float *p = &in[(row + HALO_Y) * WIDTH + i + HALO_X];

			out[row * TILE + i] = 0.25f * (p[-1] + p[1] + p[-WIDTH] + p[WIDTH]);
		}
	tutti_one_sync(tutti_all_waves()) {
		tutti_store_tile(args->to, out, x, y);
		tutti_wait_all();
	}
}

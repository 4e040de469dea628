/* SPDX-License-Identifier: MIT */
#include "tutti/tmau.h"

#include "gemm.h"

/*
 * A tile of c per workgroup. Tiles of a and b come into a ring of stages while the
 * waves work on earlier ones; wave 0 asks for them. Beyond the edges of the matrices zeros
 * come, and nothing goes.
 */
#define TILE_BYTES (TILE * TILE * sizeof(float))
#define C_TILE (STAGES * 2 * TILE_BYTES)
#define BARRIERS (C_TILE + TILE_BYTES)
#define GROUP_BYTES (BARRIERS + 2 * TUTTI_PIPELINE_BYTES(STAGES))

/* Four floats at column 4 @atom of a row: atoms of 16 bytes lie swizzled, so that columns are not all in one bank. */
static float *atom_at(uint8_t *tile, uint32_t row, uint32_t atom)
{
	return (float *)(tile + row * 128 + (atom ^ (row & 7)) * 16);
}

/* A wave has TILE / WAVES rows of the sum. */
static void multiply(float sum[TILE / WAVES][TILE], uint8_t *a, uint8_t *b)
{
	uint32_t first = tutti_wave()->wave * (TILE / WAVES);

	for (uint32_t k = 0; k < TILE; k++) {
		for (uint32_t r = 0; r < TILE / WAVES; r++) {
			float x = atom_at(a, first + r, k / 4)[k % 4];

			for (uint32_t atom = 0; atom < TILE / 4; atom++) {
				const float *y = atom_at(b, k, atom);

				for (uint32_t i = 0; i < 4; i++)
					sum[r][4 * atom + i] += x * y[i];
			}
		}
	}
}

static void store(const struct gemm_args *args, float sum[TILE / WAVES][TILE], uint32_t n, uint32_t m)
{
	uint8_t *tile = tutti_shared(uint8_t, C_TILE);
	uint32_t first = tutti_wave()->wave * (TILE / WAVES);

	for (uint32_t r = 0; r < TILE / WAVES; r++)
		for (uint32_t c = 0; c < TILE; c++)
			atom_at(tile, first + r, c / 4)[c % 4] = sum[r][c];
	tutti_one_sync(tutti_all_waves()) {
		tutti_store_tile(args->c, tile, (int32_t)n, (int32_t)m);
		tutti_wait_all();
	}
}

static void load(const struct gemm_args *args, struct tutti_pipeline *stages, uint32_t k, uint32_t n, uint32_t m)
{
	uint8_t *tiles = tutti_shared(uint8_t, stages->stage * 2 * TILE_BYTES);
	uint64_t *full = tutti_pipeline_acquire(stages, 2 * TILE_BYTES);

	tutti_load_tile(args->a, tiles, full, (int32_t)k, (int32_t)m);
	tutti_load_tile(args->b, tiles + TILE_BYTES, full, (int32_t)n, (int32_t)k);
	tutti_pipeline_advance(stages);
}

TUTTI_KERNEL(gemm, struct gemm_args, .group_bytes = GROUP_BYTES, .flags = TUTTI_KERNEL_BARRIER, .barriers = 1,
	     .workgroup = { WAVES * 32, 1, 1 })
{
	uint64_t *barriers = tutti_shared(uint64_t, BARRIERS);
	struct tutti_pipeline fill = tutti_pipeline(barriers, STAGES), use = fill;
	uint32_t n = tutti_cta_id(0) * TILE, m = tutti_cta_id(1) * TILE, asked = 0;
	float sum[TILE / WAVES][TILE] = { 0 };

	tutti_one_sync(tutti_all_waves())
		tutti_pipeline_init(barriers, STAGES, WAVES);
	for (uint32_t k = 0; k < args->k; k += TILE) {
		for (; tutti_first_wave() && asked < args->k && asked < k + STAGES * TILE; asked += TILE)
			load(args, &fill, asked, n, m);
		tutti_pipeline_wait(&use);
		multiply(sum, tutti_shared(uint8_t, use.stage * 2 * TILE_BYTES),
			 tutti_shared(uint8_t, (use.stage * 2 + 1) * TILE_BYTES));
		tutti_pipeline_release(&use);
	}
	store(args, sum, n, m);
}

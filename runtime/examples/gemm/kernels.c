/* SPDX-License-Identifier: MIT */
#include "tutti/cga.h"
#include "tutti/tmau.h"

#include "gemm.h"

/*
 * Each workgroup computes one tile of c. Tiles of a and b are loaded into a ring of stages while the waves work on
 * earlier ones; wave 0 makes the requests. Beyond the edges of the matrices loads give zeros, and stores write nothing.
 */
#define TILE_BYTES (TILE * TILE * sizeof(float))
#define C_TILE (STAGES * 2 * TILE_BYTES)
#define BARRIERS (C_TILE + TILE_BYTES) /* barriers "full", then "empty": of a, and of b where it has its own */
#define GROUP_BYTES (BARRIERS + 3 * STAGES * sizeof(uint64_t))

/*
 * Four floats at column 4 @atom of a row. The swizzle exchanges the 16-byte atoms of a row, so that the atoms of a
 * column lie in different banks.
 */
static float *atom_at(uint8_t *tile, uint32_t row, uint32_t atom)
{
	return (float *)(tile + row * 128 + (atom ^ (row & 7)) * 16);
}

/* Each wave computes TILE / WAVES rows of the tile. */
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

/*
 * The same by CGAs of 2 x 2: workgroups in a row need the same tile of a, those in a column the same tile of b. One of
 * them loads it for both, so half as many bytes are read. A stage may be filled again when the waves of both workgroups
 * have told the loader so, by a barrier in the loader's shared memory; each stage has one for its tile of a and one for
 * its tile of b.
 */
struct shares {
	uint64_t *full, *empty_a, *empty_b; /* [STAGES] */
	uint32_t rank_a, rank_b;            /* who loads */
	uint16_t mask_a, mask_b;            /* for whom */
};

static struct shares share(void)
{
	uint32_t x = tutti_cga_cta(0), y = tutti_cga_cta(1);
	uint64_t *barriers = tutti_shared(uint64_t, BARRIERS);

	return (struct shares){
		.full = barriers, .empty_a = barriers + STAGES, .empty_b = barriers + 2 * STAGES,
		.rank_a = tutti_cga_rank_at(0, y, 0), .rank_b = tutti_cga_rank_at(x, 0, 0),
		.mask_a = (uint16_t)(1u << tutti_cga_rank_at(0, y, 0) | 1u << tutti_cga_rank_at(1, y, 0)),
		.mask_b = (uint16_t)(1u << tutti_cga_rank_at(x, 0, 0) | 1u << tutti_cga_rank_at(x, 1, 0)),
	};
}

static void load_shared(const struct gemm_args *args, const struct shares *s, uint32_t step, uint32_t n, uint32_t m)
{
	uint32_t stage = step % STAGES, round = step / STAGES, k = step * TILE;
	uint8_t *tiles = tutti_shared(uint8_t, stage * 2 * TILE_BYTES);

	tutti_mbarrier_arrive_expect(&s->full[stage], 2 * TILE_BYTES);
	if (s->rank_a == tutti_cga_rank()) {
		tutti_mbarrier_wait(&s->empty_a[stage], round + 1); /* of the round before; the first wait ends at once */
		tutti_multicast_tile(args->a, s->mask_a, tiles, &s->full[stage], (int32_t)k, (int32_t)m);
	}
	if (s->rank_b == tutti_cga_rank()) {
		tutti_mbarrier_wait(&s->empty_b[stage], round + 1);
		tutti_multicast_tile(args->b, s->mask_b, tiles + TILE_BYTES, &s->full[stage], (int32_t)n, (int32_t)k);
	}
}

TUTTI_KERNEL(gemm_cga, struct gemm_args, TUTTI_CGA(2, 2, 1), .group_bytes = GROUP_BYTES,
	     .flags = TUTTI_KERNEL_BARRIER, .barriers = 1, .workgroup = { WAVES * 32, 1, 1 })
{
	const struct shares s = share();
	uint32_t n = tutti_cta_id(0) * TILE, m = tutti_cta_id(1) * TILE, asked = 0, steps = (args->k + TILE - 1) / TILE;
	float sum[TILE / WAVES][TILE] = { 0 };

	for (uint32_t i = 0; tutti_first_wave() && i < STAGES; i++) {
		tutti_mbarrier_init(&s.full[i], 1);
		tutti_mbarrier_init(&s.empty_a[i], 2 * WAVES);
		tutti_mbarrier_init(&s.empty_b[i], 2 * WAVES);
	}
	tutti_cga_barrier();
	for (uint32_t step = 0; step < steps; step++) {
		uint32_t stage = step % STAGES;

		for (; tutti_first_wave() && asked < steps && asked < step + STAGES; asked++)
			load_shared(args, &s, asked, n, m);
		tutti_mbarrier_wait(&s.full[stage], step / STAGES);
		multiply(sum, tutti_shared(uint8_t, stage * 2 * TILE_BYTES),
			 tutti_shared(uint8_t, (stage * 2 + 1) * TILE_BYTES));
		tutti_mbarrier_arrive(tutti_map_rank(&s.empty_a[stage], s.rank_a));
		tutti_mbarrier_arrive(tutti_map_rank(&s.empty_b[stage], s.rank_b));
	}
	store(args, sum, n, m);
	tutti_cga_barrier();
}

// SPDX-License-Identifier: MIT
/* The distributed rasteriser against a reference that counts CTAs one by one, and against plain division. */
#include <stdio.h>

#include "sm_rig.h"

static uint32_t seed;

static uint32_t roll(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)seed * n) >> 32);
}

struct naive {
	uint32_t digit[TUTTI_CGA_LEVELS + 1][3];
};

/* One CTA further, as one counts by hand. */
static void naive_next(struct naive *naive, const struct tutti_cga_shape *level, const uint32_t outer[3])
{
	for (unsigned l = 0; l <= TUTTI_CGA_LEVELS; l++) {
		const uint32_t size[3] = {l < 4 ? level[l].x : outer[0], l < 4 ? level[l].y : outer[1],
					  l < 4 ? level[l].z : outer[2]};

		if (l < 4 && level[l].kind == TUTTI_CGA_NONE)
			continue;
		for (unsigned d = 0; d < 3; d++) {
			if (++naive->digit[l][d] < size[d])
				return;
			naive->digit[l][d] = 0;
		}
	}
}

static void naive_place(const struct naive *naive, const struct tutti_cga_shape *level, const uint32_t groups[3],
			struct raster_place *place)
{
	uint64_t at[3] = {0}, size[3] = {1, 1, 1}, rank = 0, ctas = 1;

	for (unsigned l = 0; l <= TUTTI_CGA_LEVELS; l++) {
		uint64_t in = 0, volume = 1;

		if (l < 4 && level[l].kind == TUTTI_CGA_NONE)
			continue;
		for (unsigned d = 0; d < 3; d++) {
			uint32_t extent = l == 4 ? 1 : d == 0 ? level[l].x : d == 1 ? level[l].y : level[l].z;

			at[d] += size[d] * naive->digit[l][d];
			size[d] *= extent;
			in += volume * naive->digit[l][d];
			volume *= extent;
		}
		if (l < 4 && level[l].kind <= TUTTI_CGA_GPC)
			rank += ctas * in;
		ctas *= volume;
	}
	place->x = (uint32_t)at[0];
	place->y = (uint32_t)at[1];
	place->z = (uint32_t)at[2];
	place->index = (uint32_t)(at[0] + groups[0] * (at[1] + (uint64_t)groups[1] * at[2]));
	place->rank = (uint32_t)rank;
}

static void same(const struct raster_place *a, const struct raster_place *b)
{
	assert_int_equal(a->x, b->x);
	assert_int_equal(a->y, b->y);
	assert_int_equal(a->z, b->z);
	assert_int_equal(a->index, b->index);
	assert_int_equal(a->rank, b->rank);
}

/* Grids with every set of levels used, CTAs dealt to SMs at random, SMs that join late. */
static void against_counting(void **unused)
{
	seed = 7;
	for (unsigned round = 0; round < 1500; round++) {
		struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = {{0}};
		uint32_t outer[3] = {1 + roll(5), 1 + roll(4), 1 + roll(3)}, groups[3];
		struct rasteriser sm[5];
		struct raster_shape shape;
		struct naive naive = {{{0}}};
		uint64_t base = roll(100000), total;
		unsigned joined = 2;

		memcpy(groups, outer, sizeof(groups));
		for (unsigned l = 0; l < TUTTI_CGA_LEVELS; l++) {
			if (!(round >> l & 1))
				continue;
			level[l] = (struct tutti_cga_shape){(uint16_t)(1 + roll(3)), (uint16_t)(1 + roll(3)),
							    (uint16_t)(1 + roll(2)), (uint16_t)(l + 1)};
			groups[0] *= level[l].x;
			groups[1] *= level[l].y;
			groups[2] *= level[l].z;
		}
		total = (uint64_t)groups[0] * groups[1] * groups[2];
		assert_true(raster_shape_init(&shape, groups, level));
		for (unsigned i = 0; i < joined; i++)
			rasteriser_start(&sm[i], &shape, 0, base);
		for (uint64_t n = 0; n < total && n < 3000; n++) {
			unsigned i = roll(joined);
			struct raster_place at, want;

			if (joined < 5 && !roll(10))
				rasteriser_start(&sm[joined++], &shape, (uint32_t)n, base + n);
			naive_place(&naive, level, groups, &want);
			naive_next(&naive, level, outer);
			if (roll(3))
				continue; /* an SM that only counts */
			rasteriser_advance(&sm[i], &shape, base + n);
			rasteriser_place(&sm[i], &shape, &at);
			same(&at, &want);
		}
	}
}

/* Figure 12: the same 18 x 12 x 1 CTAs as plain grid, GPC_CGAs, GPU_CGAs and both. */
static void figure_12(void **unused)
{
	static const struct tutti_cga_shape grid[4][TUTTI_CGA_LEVELS] = {
		{{0}},
		{{3, 2, 1, TUTTI_CGA_GPC}},
		{{9, 6, 1, TUTTI_CGA_GPU}},
		{{3, 2, 1, TUTTI_CGA_GPC}, {3, 3, 1, TUTTI_CGA_GPU}},
	};
	const uint32_t groups[3] = {18, 12, 1};

	for (unsigned g = 0; g < 4; g++) {
		struct raster_shape shape;
		struct rasteriser raster;
		struct raster_place at;
		uint8_t seen[216] = {0};

		assert_true(raster_shape_init(&shape, groups, grid[g]));
		rasteriser_start(&raster, &shape, 0, 0);
		for (unsigned n = 0; n < 216; n++) {
			rasteriser_advance(&raster, &shape, n);
			rasteriser_place(&raster, &shape, &at);
			assert_true(at.x < 18 && at.y < 12 && at.z == 0 && at.index == at.x + 18 * at.y);
			assert_int_equal(seen[at.index]++, 0);
			if (g == 1 && at.x == 7 && at.y == 3)
				assert_int_equal(at.rank, 4);
			if (g == 1 || g == 3)
				assert_int_equal(at.rank, n % 6);
			if (g == 2 || g == 3) { /* one GPU_CGA after the other */
				assert_int_equal(at.x / 9, n / 54 % 2);
				assert_int_equal(at.y / 6, n / 108);
			}
		}
	}
}

/* Grids of nearly 2^32 CTAs, steps of up to 2^32 - 1, counters that pass 2^32: against division. */
static void borders(void **unused)
{
	static const uint32_t grid[][3] = {
		{0xffffffffu, 1, 1}, {1, 65535, 65535}, {65536, 65535, 1}, {0x80000000u, 1, 1}, {3, 65521, 21845},
		{0xffffffffu, 65535, 65535},
	};

	seed = 99;
	for (unsigned g = 0; g < sizeof(grid) / sizeof(*grid); g++) {
		uint64_t total = (uint64_t)grid[g][0] * grid[g][1], base = 0xfffffff0ull;
		struct rasteriser raster;
		struct raster_shape shape;
		uint64_t n = 0;

		total = total * grid[g][2] > 0xffffffffull || total > 0xffffffffull ? 0xffffffffull : total * grid[g][2];
		assert_true(raster_shape_init(&shape, grid[g], NULL));
		rasteriser_start(&raster, &shape, 0, base);
		for (unsigned step = 0; step < 2000; step++) {
			uint64_t left = total - 1 - n;
			struct raster_place at;

			if (!left || !roll(100)) { /* a late joiner */
				n = step & 1 ? total - 1 : (uint64_t)roll(0xffffffffu) % total;
				rasteriser_start(&raster, &shape, (uint32_t)n, base + n);
			} else if (roll(3)) {
				n += 1 + roll((uint32_t)(left < 100 ? left : 100));
			} else {
				n += 1 + (((uint64_t)roll(0xffffffffu) * left) >> 32);
			}
			if (n > total - 1)
				n = total - 1;
			rasteriser_advance(&raster, &shape, base + n);
			rasteriser_place(&raster, &shape, &at);
			assert_int_equal(at.index, (uint32_t)n);
			assert_int_equal(at.x, n % grid[g][0]);
			assert_int_equal(at.y, n / grid[g][0] % grid[g][1]);
			assert_int_equal(at.z, n / grid[g][0] / grid[g][1]);
		}
	}
}

/* Nested, with steps of any size, over the border of 2^32 launches. */
static void nested_borders(void **unused)
{
	static const struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = {
		{3, 2, 1, TUTTI_CGA_CPC}, {2, 1, 2, TUTTI_CGA_GPC}, {1, 5, 1, TUTTI_CGA_UGPU}, {7, 1, 3, TUTTI_CGA_GPU}};
	const uint32_t groups[3] = {42 * 1000, 10 * 100, 6 * 10};
	const uint32_t size[5][3] = {{3, 2, 1}, {2, 1, 2}, {1, 5, 1}, {7, 1, 3}, {1000, 100, 10}};
	uint64_t total = (uint64_t)groups[0] * groups[1] * groups[2], base = 1ull << 40;
	struct rasteriser raster;
	struct raster_shape shape;
	uint64_t n = 0;

	seed = 5;
	assert_true(total < 0xffffffffull);
	assert_true(raster_shape_init(&shape, groups, level));
	rasteriser_start(&raster, &shape, 0, base);
	for (unsigned step = 0; n < total; step++, n += 1 + roll(step % 7 ? 50 : 30000000)) {
		uint64_t rest = n, at3[3] = {0}, unit[3] = {1, 1, 1};
		struct raster_place at;

		for (unsigned l = 0; l < 5; l++) {
			for (unsigned d = 0; d < 3; d++) {
				at3[d] += unit[d] * (rest % size[l][d]);
				rest /= size[l][d];
				unit[d] *= size[l][d];
			}
		}
		rasteriser_advance(&raster, &shape, base + n);
		rasteriser_place(&raster, &shape, &at);
		assert_int_equal(at.x, at3[0]);
		assert_int_equal(at.y, at3[1]);
		assert_int_equal(at.z, at3[2]);
		assert_int_equal(at.rank, n % 24);
	}
}

static void bad_shapes(void **unused)
{
	static const uint32_t groups[3] = {12, 4, 2};
	static const struct tutti_cga_shape bad[][TUTTI_CGA_LEVELS] = {
		{{5, 1, 1, TUTTI_CGA_GPC}}, {{0, 1, 1, TUTTI_CGA_GPC}}, {{24, 1, 1, TUTTI_CGA_GPC}},
		{{3, 1, 1, TUTTI_CGA_CPC}, {3, 1, 1, TUTTI_CGA_GPC}}, {{65535, 65535, 65535, 1}, {65535, 65535, 65535, 4}},
		{{1, 1, 3, TUTTI_CGA_GPU}},
	};
	struct raster_shape shape;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(raster_shape_init(&shape, groups, bad[i]));
	for (unsigned d = 0; d < 3; d++) {
		static const struct tutti_cga_shape no_level[TUTTI_CGA_LEVELS];
		uint32_t empty[3] = {12, 4, 2};

		empty[d] = 0;
		assert_false(raster_shape_init(&shape, empty, NULL));
		assert_false(raster_shape_init(&shape, empty, no_level));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{"CGA-19, CGA-20, CGA-21, CGA-22: coordinates and ranks of nested grids, against counting",
		 against_counting, NULL, NULL, NULL},
		{"CGA-02, CGA-21: the four grids of figure 12 cover the same CTAs", figure_12, NULL, NULL, NULL},
		{"CGA-19, CGA-20: grids of 2^32 CTAs, counts and steps at the borders", borders, NULL, NULL, NULL},
		{"CGA-20, CGA-21: steps of any size through four levels", nested_borders, NULL, NULL, NULL},
		{"CGA-02: levels that do not divide the grid, and empty grids, are refused", bad_shapes, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* link: -DTUTTI_DEVICE_HOST -Iruntime/kernel-sdk/include */
/* What the device headers compute from the wave information block, against the rasteriser that fills it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emulator/sm/rasteriser.h"
#include "tutti/cga.h"
#include "tutti/work.h"

static struct tutti_wave_info wave;
static uint64_t asked, argument;
static int64_t answer;

const struct tutti_wave_info *tutti_host_wave(void)
{
	return &wave;
}

int64_t tutti_host_service(uint64_t number, uint64_t a0, uint64_t a1)
{
	asked = number;
	argument = a0;
	return answer;
}

/* The wave information block of a CTA, as the SMs fill it in. */
static void fill(const struct raster_shape *shape, const struct tutti_cga_shape *level, const uint32_t groups[3],
		 const struct raster_place *at)
{
	uint32_t size[3] = {1, 1, 1};

	memset(&wave, 0, sizeof(wave));
	memcpy(wave.groups, groups, sizeof(wave.groups));
	memcpy(wave.cga_level, level, sizeof(wave.cga_level));
	wave.cga_ctas = 1;
	for (unsigned i = 0; i < shape->identity; i++)
		for (unsigned d = 0; d < 3; d++) {
			size[d] *= shape->extent[i][d];
			wave.cga_ctas *= shape->extent[i][d];
		}
	wave.cta[0] = at->x;
	wave.cta[1] = at->y;
	wave.cta[2] = at->z;
	wave.cta_linear = at->index;
	wave.cga_rank = at->rank;
	for (unsigned d = 0; d < 3; d++) {
		wave.cga_size[d] = (uint16_t)size[d];
		wave.cga[d] = wave.cta[d] / size[d];
	}
}

static void coordinates(void **unused)
{
	static const struct tutti_cga_shape level[][TUTTI_CGA_LEVELS] = {
		{{0}},
		{{3, 2, 1, TUTTI_CGA_GPC}},
		{{0}, {3, 2, 1, TUTTI_CGA_GPC}, {0}, {2, 3, 2, TUTTI_CGA_GPU}},
		{{3, 1, 2, TUTTI_CGA_CPC}, {1, 2, 1, TUTTI_CGA_GPC}, {2, 1, 1, TUTTI_CGA_UGPU}, {1, 3, 1, TUTTI_CGA_GPU}},
		{{2, 2, 2, TUTTI_CGA_GPU}},
	};
	const uint32_t groups[3] = {18, 12, 4};

	for (unsigned k = 0; k < sizeof(level) / sizeof(*level); k++) {
		struct raster_shape shape;
		struct rasteriser raster;
		struct raster_place at;

		assert_true(raster_shape_init(&shape, groups, level[k]));
		rasteriser_start(&raster, &shape, 0, 0);
		for (unsigned n = 0; n < 18 * 12 * 4; n++) {
			uint32_t cga[3];

			rasteriser_advance(&raster, &shape, n);
			rasteriser_place(&raster, &shape, &at);
			fill(&shape, level[k], groups, &at);
			assert_int_equal(tutti_cga_levels(), shape.levels);
			assert_int_equal(tutti_cga_ctas(), tutti_cga_size(0) * tutti_cga_size(1) * tutti_cga_size(2));
			assert_int_equal(tutti_cga_rank(), n % tutti_cga_ctas());
			for (unsigned d = 0; d < 3; d++) {
				for (unsigned l = 0; l < shape.levels; l++)
					assert_int_equal(tutti_cga_place(l, d), raster.inner[l][d]);
				assert_int_equal(tutti_cga_place(shape.levels, d), raster.outer[d]);
				assert_int_equal(tutti_cga_id(d) * tutti_cga_size(d) + tutti_cga_cta(d), wave.cta[d]);
				cga[d] = tutti_cga_id(d);
				assert_true(cga[d] < tutti_cga_count(d));
			}
			assert_int_equal(tutti_cga_rank_at(tutti_cga_cta(0), tutti_cga_cta(1), tutti_cga_cta(2)),
					 tutti_cga_rank());
			assert_int_equal(tutti_cga_linear(),
					 cga[0] + tutti_cga_count(0) * (cga[1] + tutti_cga_count(1) * cga[2]));
		}
	}
}

static void pointers(void **unused)
{
	float *mine;

	memset(&wave, 0, sizeof(wave));
	wave.shared = TUTTI_WAVE_SHARED + 0x43000;
	wave.shared_bytes = 4096;
	wave.cga_rank = 3;
	wave.cga_ctas = 8;
	mine = tutti_shared(float, 100);
	assert_int_equal((uintptr_t)tutti_map_rank(mine, 5), TUTTI_WAVE_DSMEM + (5 << 24) + 100);
	assert_ptr_equal(tutti_map_rank(mine, 7), tutti_dsmem(float, 7, 100));
	assert_int_equal(tutti_rank_of(mine), 3);
	assert_int_equal(tutti_rank_of(tutti_map_rank(mine, 5)), 5);
	assert_int_equal(tutti_rank_of(tutti_dsmem(char, 8, 0)), ~0u);
	assert_int_equal(tutti_rank_of(&wave), ~0u);
	assert_int_equal((uintptr_t)tutti_lmem(int, 12), TUTTI_WAVE_LMEM + 12);
	wave.lmem = ~0u;
	assert_false(tutti_has_lmem());
	wave.lmem = 0;
	assert_true(tutti_has_lmem());
}

static void services(void **unused)
{
	tutti_cga_barrier();
	assert_int_equal(asked, TUTTI_SERVICE_CGA_BARRIER);
	tutti_cga_arrive();
	assert_int_equal(asked, TUTTI_SERVICE_CGA_ARRIVE);
	tutti_cga_wait();
	assert_int_equal(asked, TUTTI_SERVICE_CGA_WAIT);
}

struct item {
	uint64_t turn, value, more;
};

/* A queue of 8, filled and emptied many times: order, fullness, numbers beyond 2^32. */
static void work_queue(void **unused)
{
	static struct item slot[8];
	struct tutti_work_queue queue = {.base = (uintptr_t)slot, .items = 8, .item_bytes = sizeof(struct item)};
	struct tutti_tmd tmd = {.queue = (uintptr_t)&queue};
	uint64_t put = 0x1fffffff8ull, taken = put;

	queue.write_index = put;
	for (unsigned i = 0; i < 8; i++)
		slot[i].turn = put + i;
	for (unsigned round = 0; round < 100; round++) {
		unsigned n = 1 + round % 8;

		for (unsigned i = 0; i < n; i++, put++) {
			uint64_t item[2] = {put * 3, ~put};

			asked = 0;
			assert_int_equal(tutti_work_put(&tmd, item), 0);
			assert_int_equal(asked, TUTTI_SERVICE_QUEUE_NOTIFY);
			assert_int_equal(argument, (uintptr_t)&tmd);
		}
		assert_int_equal(queue.write_index, put);
		if (n == 8) {
			uint64_t item[2] = {0, 0};

			asked = 0;
			assert_int_equal(tutti_work_put(&tmd, item), -TUTTI_ENOSPC);
			assert_int_equal(asked, 0);
		}
		wave.work_first = taken;
		wave.work_items = n;
		for (unsigned i = n; i-- > 0;) { /* in any order */
			uint64_t *item = tutti_work_item(&queue, i);

			assert_int_equal(item[-1], taken + i + 1);
			assert_int_equal(item[0], (taken + i) * 3);
			assert_int_equal(item[1], ~(taken + i));
			tutti_work_done(&queue, i);
		}
		taken += n;
	}
}

static void child_tasks(void **unused)
{
	struct tutti_signal signal = {.value = 3};
	struct tutti_tmd tmd;

	tutti_task_grid(&tmd, 0x1000, &wave, 1000, 64, &signal);
	answer = -TUTTI_EBUSY;
	assert_int_equal(tutti_task_create(&tmd), -TUTTI_EBUSY);
	assert_int_equal(asked, TUTTI_SERVICE_TASK);
	assert_int_equal(argument, (uintptr_t)&tmd);
	assert_int_equal(tmd.magic, TUTTI_TMD_MAGIC);
	assert_int_equal(tmd.grid[0], 1000);
	assert_int_equal(tmd.grid[2], 1);
	assert_int_equal(tmd.signal, (uintptr_t)&signal);
	assert_int_equal(tutti_signal_wait(&signal, 4), 3);
	signal.flags = TUTTI_SIGNAL_SPLIT;
	signal.card_done = 5;
	assert_int_equal(tutti_signal_wait(&signal, 1), -2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{"SYS-07, CGA-21, TSK-15: coordinates, sizes and ranks at every level", coordinates, NULL, NULL, NULL},
		{"SYS-07, CGA-24: pointers into other CTAs' shared memory", pointers, NULL, NULL, NULL},
		{"SYS-07, CGA-25: barrier, arriving, waiting", services, NULL, NULL, NULL},
		{"SYS-07, TSK-10: a work queue filled and emptied by kernels", work_queue, NULL, NULL, NULL},
		{"SYS-07, TSK-11: child tasks and their signals", child_tasks, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

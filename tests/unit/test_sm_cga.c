// SPDX-License-Identifier: MIT
/* CGAs in the SM array without firmware: launch, ids, barrier, DSMEM, order of exit. */
#include <stdio.h>

#include "sm_rig.h"
#include "sm_cga_kernels.h"

#define SMS 16u /* two GPCs of 8 */
#define ALL 0xffu
#define PARAMETER(data) ((data)[61440 / 8 + 1])

static struct tutti_card *card;
static uint64_t *data; /* line of CTA i at data[8 * i] */
static uint32_t sequence;

static int setup_mode(enum tutti_card_mode mode, unsigned workers)
{
	card = rig_create(mode, workers, SMS);
	memcpy(rig_map(card, 1, CODE, 4096, RX), sm_cga_kernels, sizeof(sm_cga_kernels));
	data = rig_map(card, 1, DATA, 65536, RW);
	data[61440 / 8] = DATA;
	return 0;
}

static int setup(void **mode)
{
	return setup_mode(TUTTI_CARD_DETERMINISTIC, 0);
}

static int setup_threads(void **mode)
{
	return setup_mode(TUTTI_CARD_FAST, 3);
}

static int teardown(void **unused)
{
	rig_destroy(card);
	return 0;
}

/* Grid of @ctas in a row, in CGAs of @size, in task slot @slot. */
static void cga_state(unsigned slot, uint32_t entry, uint32_t ctas, uint32_t size, uint32_t waves)
{
	struct tutti_task_state state = rig_state(1, entry, ctas, waves);

	state.shared_bytes = 2000;
	state.shared_blocks = 1;
	state.cga_x = (uint16_t)size;
	state.cga_y = state.cga_z = 1;
	sm_array_state(card->array, slot, &state, NULL, NULL, 0);
}

static int cga_send(unsigned slot, unsigned flags, unsigned gpc, unsigned id, unsigned repeat, uint32_t mask)
{
	uint32_t words[4] = {(sequence & 0xffff) | id << 16 | gpc << 24, ~0u, repeat | 1u << 24, mask};

	return sm_array_launch(card->array, slot, TUTTI_LAUNCH_CGA | flags, words, 4);
}

/* A whole CGA: @repeat CTAs on each SM of @mask. */
static int cga_launch_one(unsigned slot, unsigned gpc, unsigned id, unsigned repeat, uint32_t mask)
{
	sequence++;
	return cga_send(slot, TUTTI_LAUNCH_END_OF_CGA, gpc, id, repeat, mask);
}

static void finish(unsigned slot, unsigned gpc, unsigned id, unsigned done)
{
	rig_until(card, slot, done);
	assert_int_equal(sm_array_flush(card->array, gpc, id, ALL), 0);
}

/* CGA-19, CGA-21, CGA-23, TSK-15: CTAs know id, rank, coordinates and CGA without having been told. */
static void identity(void **unused)
{
	struct tutti_task_state state = rig_state(1, C_IDS, 36, 1);
	unsigned id = 0;

	state.groups_x = 6 * 3;
	state.groups_y = 6 * 2;
	state.grid_x = state.groups_x * 32;
	state.grid_y = state.groups_y;
	state.cga_x = 3;
	state.cga_y = 2;
	state.cga_z = 1;
	sm_array_state(card->array, 4, &state, NULL, NULL, 0);
	for (unsigned n = 0; n < 36; n++) {
		unsigned gpc = n % 2;

		assert_int_equal(cga_launch_one(4, gpc, id, 1, 0x3f << (n % 3)), 0);
		finish(4, gpc, id, 6 * (n + 1));
		for (unsigned r = 0; r < 6; r++) {
			uint64_t x = n % 6 * 3 + r % 3, y = n / 6 * 2 + r / 3;
			const uint64_t *line = &data[8 * (x + 18 * y)];

			assert_int_equal(line[0], r | 6ull << 32);
			assert_int_equal(line[1], id | (uint64_t)gpc << 32);
			assert_int_equal(line[2], x | y << 20);
			assert_int_equal(line[3], (n % 6) | (uint64_t)(n / 6) << 20);
			assert_int_equal(line[4], ~0u);
			assert_int_equal(line[7], 8 * gpc + n % 3 + r);
		}
		id = (id + 5) % 32;
	}
	/* CTA (7, 3, 0) of the figure */
	assert_int_equal(data[8 * (7 + 18 * 3)] & 0xff, 4);
}

/* CGA-16: several launches make one CGA; it starts as a whole, with the last of them. */
static void staged(void **unused)
{
	cga_state(0, C_IDS, 8, 4, 1);
	sequence = 9;
	assert_int_equal(cga_send(0, 0, 0, 3, 1, 3), 0);
	for (unsigned i = 0; i < 100; i++)
		rig_step(card);
	assert_int_equal(card->done[0], 0);
	assert_true(sm_array_busy(card->array));
	assert_int_equal(cga_send(0, TUTTI_LAUNCH_END_OF_CGA, 0, 3, 2, 4), 0);
	finish(0, 0, 3, 4);
	for (unsigned r = 0; r < 4; r++) {
		assert_int_equal(data[8 * r] & 0xff, r);
		assert_int_equal(data[8 * r + 7], r < 2 ? r : 2);
	}
}

/* CGA-16: what would mix CGAs, or start a part of one, is refused. */
static void malformed(void **unused)
{
	cga_state(0, C_IDS, 64, 4, 1);
	assert_int_equal(cga_launch_one(0, 2, 0, 1, 15), -EINVAL); /* no such GPC */
	teardown(NULL);
	setup(NULL);
	cga_state(0, C_IDS, 64, 4, 1);
	assert_int_equal(cga_launch_one(0, 0, 32, 1, 15), -EINVAL); /* no such id */
	teardown(NULL);
	setup(NULL);
	cga_state(0, C_IDS, 64, 4, 1);
	assert_int_equal(cga_launch_one(0, 0, 0, 1, 7), -EINVAL); /* too few CTAs */
	teardown(NULL);
	setup(NULL);
	cga_state(0, C_IDS, 64, 4, 1);
	assert_int_equal(cga_launch_one(0, 0, 0, 1, 31), -EINVAL); /* too many */
	teardown(NULL);
	setup(NULL);
	cga_state(0, C_IDS, 64, 4, 1);
	assert_int_equal(cga_launch_one(0, 0, 0, 1, 0x107), -EINVAL); /* SM of another GPC */
	teardown(NULL);
	setup(NULL);
	cga_state(0, C_IDS, 64, 4, 1);
	assert_int_equal(cga_send(0, 0, 0, 0, 1, 1), 0);
	sequence++;
	assert_int_equal(cga_send(0, 0, 0, 1, 1, 1), -EINVAL); /* another one in between */
	teardown(NULL);
	setup(NULL);
	cga_state(0, C_IDS, 64, 0, 1);
	assert_int_equal(cga_launch_one(0, 0, 0, 1, 1), -EINVAL); /* the grid has no CGAs */
	teardown(NULL);
	setup(NULL);
	cga_state(0, C_IDS, 64, 3, 1); /* does not divide the grid */
	assert_int_equal(cga_launch_one(0, 0, 0, 1, 7), -EINVAL);
	teardown(NULL);
	setup(NULL);
	cga_state(0, C_IDS, 64, 32, 1); /* larger than a CGA may be */
	assert_int_equal(cga_launch_one(0, 0, 0, 4, ALL), -EINVAL);
}

/* CGA-24, CGA-25: a ring of CTAs that write into each other's shared memory between barriers. */
static void ring(void **unused)
{
	static const struct { unsigned size, repeat; uint32_t mask; } shape[] = {
		{2, 1, 0x81}, {8, 1, ALL}, {8, 4, 0x11}, {16, 2, ALL}, {1, 1, 4}, {5, 5, 1},
	};

	for (unsigned i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		unsigned before = card->done[i];

		cga_state(i, C_RING, shape[i].size, shape[i].size, 2);
		memset(data, 0, 8192);
		assert_int_equal(cga_launch_one(i, i % 2, 7 * i % 32, shape[i].repeat, shape[i].mask), 0);
		finish(i, i % 2, 7 * i % 32, before + shape[i].size);
		for (unsigned c = 0; c < shape[i].size; c++)
			assert_int_equal(data[8 * c], 0);
	}
	assert_int_equal(card->faults + card->cga_faults, 0);
}

/* CGA-25: many CGAs at once, on all engines: a wave at a barrier keeps nobody else from running. */
static void many_rings(void **unused)
{
	for (unsigned round = 0; round < 20; round++) {
		cga_state(0, C_RING, 64, 4, 4);
		memset(data, 0, 8192);
		for (unsigned i = 0; i < 16; i++)
			assert_int_equal(cga_launch_one(0, i % 2, i, 1, i & 2 ? 0xf0 : 0x0f), 0);
		rig_until(card, 0, 64 * (round + 1));
		for (unsigned i = 0; i < 16; i++)
			assert_int_equal(sm_array_flush(card->array, i % 2, i, ALL), 0);
		for (unsigned c = 0; c < 64; c++)
			assert_int_equal(data[8 * c], 0);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(identity, setup, teardown),
	cmocka_unit_test_setup_teardown(staged, setup, teardown),
	cmocka_unit_test_setup_teardown(malformed, setup, teardown),
	cmocka_unit_test_setup_teardown(ring, setup, teardown),
	cmocka_unit_test_setup_teardown(many_rings, setup, teardown),
	cmocka_unit_test_setup_teardown(many_rings, setup_threads, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}

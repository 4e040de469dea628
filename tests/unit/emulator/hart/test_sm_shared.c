// SPDX-License-Identifier: MIT
/* Where the shared memory of CTAs lies: each has its own, on SMs of every size, however much the throttle state gives. */
#include "sm_cga_rig.h"

#include "emulator/base/window.h"

#define SOME 4u

static void open_card(uint32_t blocks, uint32_t block_bytes)
{
	card = calloc(1, sizeof(*card));
	card->config.mode = TUTTI_CARD_DETERMINISTIC;
	card->limits = (struct tutti_discovery){.sms = SOME,
						.task_slots = 32,
						.peus = 4,
						.peu_waves = 8,
						.scalar_blocks = 32,
						.vector_blocks = 32,
						.shared_blocks = blocks,
						.shared_block_bytes = block_bytes,
						.barriers = 16,
						.cta_slots = 32,
						.tmau_requests = 4};
	rig_gpcs(&card->limits);
	assert_int_equal(sm_array_create(card, &card->array), 0);
	memcpy(rig_map(card, 1, CODE, 4096, RX), sm_cga_kernels, sizeof(sm_cga_kernels));
	data = rig_map(card, 1, DATA, 65536, RW);
	data[61440 / 8] = DATA;
}

static void launch(uint32_t blocks, uint32_t bytes)
{
	struct tutti_task_state state = rig_state(1, C_STAY, 64, 1);

	state.shared_blocks = (uint16_t)blocks;
	state.shared_bytes = bytes;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, SOME), 0);
	idle();
}

/* Fill the memory of each CTA with a number of its own, and look whether all of it is still there. */
static unsigned filled(uint64_t bytes)
{
	unsigned n = 0;

	for (unsigned look = 0; look < 2; look++)
		for (unsigned i = 0; i < SOME * 32; i++) {
			struct sm_shared shared;

			if (!card->array->cta[i].used)
				continue;
			assert_int_equal(sm_array_shared(card->array, i, SM_SELF, &shared), 0);
			assert_int_equal(shared.bytes, bytes);
			if (!look)
				memset(shared.base, (int)i + 1, bytes);
			for (uint64_t b = 0; b < bytes; b += b + 64 < bytes ? 64 : 1)
				assert_int_equal(shared.base[b], (uint8_t)(i + 1));
			n += look;
		}
	return n;
}

static void apart(void **unused)
{
	static const struct {
		uint32_t blocks, block_bytes;
	} sizes[] = {{64, 2048}, {256, 2048}, {1, 4096}, {3, 16}, {255, 16}, {256, 16}, {7, 1024}};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint32_t blocks = sizes[i].blocks, bytes = sizes[i].block_bytes, most;

		open_card(blocks, bytes);
		/* all of an SM for one CTA */
		launch(blocks, blocks * bytes);
		assert_int_equal(filled((uint64_t)blocks * bytes), SOME);
		data[7] = 1;
		rig_until(card, 0, SOME);
		data[7] = 0;
		/* and all that a throttle state can give: more than that is refused */
		for (most = 256; most > blocks && sm_array_throttle(card->array, most, (uint32_t[]){0xf}, 1); most--)
			;
		assert_int_equal(sm_array_throttle(card->array, most + 1, (uint32_t[]){0xf}, 1), -EINVAL);
		launch(most, most * bytes);
		assert_int_equal(filled((uint64_t)most * bytes), SOME);
		data[7] = 1;
		rig_until(card, 0, 2 * SOME);
		/* a block for each of many */
		assert_int_equal(sm_array_throttle(card->array, 0, (uint32_t[]){0xf}, 1), 0);
		data[7] = 0;
		for (unsigned n = 0; n < (blocks < 8 ? blocks : 8); n++)
			launch(1, bytes);
		assert_int_equal(filled(bytes), SOME * (blocks < 8 ? blocks : 8));
		teardown(NULL);
	}
}

/* SMs have no more than all of them together, and than there are blocks that can be counted. */
static void most(void **unused)
{
	static const struct {
		uint16_t sms, blocks;
		uint32_t most;
	} rows[] = {{1, 64, 64}, {3, 64, 192}, {4, 64, 256}, {5, 64, 256}, {1024, 64, 256}, {1024, 256, 256}, {7, 1, 7}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct tutti_discovery limits = {.sms = rows[i].sms, .shared_blocks = rows[i].blocks};

		assert_int_equal(window_shared_most(&limits), rows[i].most);
	}
}

/* A throttled SM has all its blocks free, and the table says so at once. */
static void in_table(void **unused)
{
	static struct tutti_sm_state table[SOME];

	open_card(64, 2048);
	sm_array_table(card->array, table);
	assert_int_equal(table[2].shared_blocks, 64);
	assert_int_equal(table[2].shared_free, 64);
	assert_int_equal(sm_array_throttle(card->array, 200, (uint32_t[]){1u << 2}, 1), 0);
	for (unsigned look = 0; look < 2; look++) {
		sm_array_table(card->array, table);
		for (unsigned i = 0; i < SOME; i++) {
			assert_int_equal(table[i].shared_blocks, i == 2 ? 200 : 64);
			assert_int_equal(table[i].shared_free, i == 2 ? 200 : 64);
		}
	}
	assert_int_equal(sm_array_throttle(card->array, 0, (uint32_t[]){1u << 2}, 1), 0);
	sm_array_table(card->array, table);
	assert_int_equal(table[2].shared_blocks, 64);
	assert_int_equal(table[2].shared_free, 64);
	teardown(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-52, TSK-07: the shared memory of each CTA is its own", apart, NULL, NULL, NULL},
	    {"TSK-07: how much shared memory an SM can have", most, NULL, NULL, NULL},
	    {"TSK-07, RES-01: throttled SMs in the table", in_table, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SM: shared memory", tests, NULL, NULL);
}

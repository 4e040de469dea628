// SPDX-License-Identifier: MIT
/* The information that a wave finds about itself (TSK-15): every field, in grids of one to three dimensions. */
#include "sm_rig.h"

/*
 * Copies the wave's information to out + 256 * (cta_linear * waves + wave):
 *	ld s0, 0(a0); lwu t1, 84(tp); lwu t2, 32(tp); mul t1, t1, t2; lwu t2, 28(tp); add t1, t1, t2; slli t1, t1, 8
 *	add s0, s0, t1; li t3, 31; mv t4, tp
 *	1: ld t5, 0(t4); sd t5, 0(s0); addi t4, t4, 8; addi s0, s0, 8; addi t3, t3, -1; bnez t3, 1b; ret
 */
static const uint32_t copies[] = {
	0x00053403, 0x05426303, 0x02026383, 0x02730333, 0x01c26383, 0x00730333, 0x00831313, 0x00640433, 0x01f00e13,
	0x00020e93, 0x000ebf03, 0x01e43023, 0x008e8e93, 0x00840413, 0xfffe0e13, 0xfe0e16e3, 0x00008067,
};
#define COPIES 0x800u
#define RECORD 256u
#define SMS 12u /* GPCs of 8 and 4 */

struct shape {
	uint32_t grid[3], workgroup[3];
};

static uint32_t at_least(uint32_t a, uint32_t b, uint32_t least)
{
	return a / b + !!(a % b) > least ? a / b + !!(a % b) : least;
}

static struct tutti_task_state state_of(const struct shape *shape)
{
	uint32_t items = shape->workgroup[0] * shape->workgroup[1] * shape->workgroup[2];
	struct tutti_task_state state = rig_state(1, COPIES, 1, at_least(items, 32, 1));

	state.grid_x = shape->grid[0];
	state.grid_y = shape->grid[1];
	state.grid_z = shape->grid[2];
	state.workgroup_x = (uint16_t)shape->workgroup[0];
	state.workgroup_y = (uint16_t)shape->workgroup[1];
	state.workgroup_z = (uint16_t)shape->workgroup[2];
	state.groups_x = at_least(shape->grid[0], shape->workgroup[0], 1);
	state.groups_y = at_least(shape->grid[1], shape->workgroup[1], 1);
	state.groups_z = at_least(shape->grid[2], shape->workgroup[2], 1);
	state.dimensions = shape->grid[2] > 1 ? 3 : shape->grid[1] > 1 ? 2 : 1;
	state.shared_bytes = 3000;
	state.shared_blocks = 2;
	state.queue = 77;
	state.packet = 0x123456789abcull;
	state.tmd = 0xfedcba987650ull;
	return state;
}

/* How many of the @grid work-items of one dimension a workgroup has that begins at item @first. */
static uint16_t extent(uint32_t grid, uint32_t workgroup, uint32_t number)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < workgroup; i++)
		n += number * workgroup + i < grid;
	return (uint16_t)n;
}

static void expect(struct tutti_card *card, const struct shape *shape, const struct tutti_task_state *state, unsigned number,
		   unsigned wave, const struct tutti_wave_info *got)
{
	const uint32_t groups[3] = {state->groups_x, state->groups_y, state->groups_z};
	uint32_t at[3] = {number % groups[0], number / groups[0] % groups[1], number / groups[0] / groups[1]}, items = 1;
	struct tutti_wave_info want = {
		.kernarg = DATA + 61440, .shared_bytes = 3000, .first_item = 32 * wave, .wave = wave, .waves = state->waves,
		.cta_linear = number, .sm = number % SMS, .queue = 77, .dimensions = state->dimensions, .cga_ctas = 1,
		.gpc = number % SMS / 8, .tmd = state->tmd, .packet = state->packet, .lmem = ~0u, .time = 4321,
		.cga_size = {1, 1, 1},
	};

	want.shared = TUTTI_WAVE_SHARED + number % SMS * card->array->shared_stride + number / SMS * 4096;
	for (unsigned d = 0; d < 3; d++) {
		want.cta[d] = want.cga[d] = at[d];
		want.groups[d] = groups[d];
		want.grid[d] = shape->grid[d];
		want.workgroup[d] = (uint16_t)shape->workgroup[d];
		want.extent[d] = extent(shape->grid[d], shape->workgroup[d], at[d]);
		items *= want.extent[d];
	}
	want.items = items <= 32 * wave ? 0 : items - 32 * wave < 32 ? items - 32 * wave : 32;
	assert_memory_equal(got, &want, sizeof(want));
}

/* Launch all workgroups, on one SM after the other. */
static void launch(struct tutti_card *card, const struct tutti_task_state *state)
{
	unsigned n = state->groups_x * state->groups_y * state->groups_z, before = card->done[0];

	sm_array_state(card->array, 0, 0, state, NULL, NULL, 0);
	if (n >= SMS)
		assert_int_equal(rig_launch(card, 0, n / SMS, SMS), 0);
	if (n % SMS)
		assert_int_equal(rig_launch(card, 0, 1, n % SMS), 0);
	rig_until(card, 0, before + n);
}

static void every_field(void **unused)
{
	static const struct shape shapes[] = {
		{{100, 1, 1}, {64, 1, 1}},   {{64, 1, 1}, {32, 1, 1}}, {{50, 7, 5}, {8, 3, 2}}, {{33, 9, 3}, {16, 4, 1}},
		{{32, 4, 2}, {16, 2, 2}},    {{1, 1, 1}, {1, 1, 1}},   {{5, 40, 1}, {5, 33, 1}}, {{3, 2, 20}, {2, 1, 17}},
		{{129, 1, 1}, {128, 1, 1}},
	};
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, SMS);
	uint64_t *data = rig_context(card, 1);
	const uint8_t *records = (const uint8_t *)data;

	memcpy(card->map[0].host + COPIES, copies, sizeof(copies));
	card->virtual_time = 4321;
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct tutti_task_state state = state_of(&shapes[i]);
		unsigned ctas = state.groups_x * state.groups_y * state.groups_z;

		assert_true(ctas * state.waves <= 61440 / RECORD);
		memset(data, 0xa5, 61440);
		data[61440 / 8] = DATA;
		launch(card, &state);
		for (unsigned cta = 0; cta < ctas; cta++)
			for (unsigned wave = 0; wave < state.waves; wave++)
				expect(card, &shapes[i], &state, cta, wave,
				       (const void *)(records + (cta * state.waves + wave) * RECORD));
	}
	rig_destroy(card);
}

/* Fields that only some tasks have are not left over for waves of the next task. */
static void nothing_is_left(void **unused)
{
	static const struct shape shape = {{3, 1, 1}, {1, 1, 1}};
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, SMS);
	const struct tutti_task_state state = state_of(&shape);
	uint64_t *data = rig_context(card, 1);
	const struct tutti_wave_info *got = (const void *)data;
	const uint32_t words[] = {3 | (uint32_t)TUTTI_GPC_NONE << 24, 5, 0x11223344, 0x55, 1000, 1 | 1u << 24, 7};

	memcpy(card->map[0].host + COPIES, copies, sizeof(copies));
	data[61440 / 8] = DATA;
	card->virtual_time = 4321;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(sm_array_launch(card->array, 0, TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA | TUTTI_LAUNCH_WORK, words, 7), 0);
	rig_until(card, 0, 3);
	for (unsigned i = 0; i < 3; i++) {
		got = (const void *)((const uint8_t *)data + i * RECORD);
		assert_int_equal(got->lmem, 5);
		assert_true(got->work_first == 0x5511223344u + 1000 * i);
		assert_int_equal(got->work_items, 1000);
	}
	launch(card, &state);
	for (unsigned i = 0; i < 3; i++)
		expect(card, &shape, &state, i, 0, (const void *)((const uint8_t *)data + i * RECORD));
	rig_destroy(card);
}

static void expect_place(const uint8_t *records, const struct shape *shape, const struct tutti_task_state *state,
			 unsigned number)
{
	unsigned cta = number / state->waves, wave = number % state->waves, items = 1;
	const struct tutti_wave_info *got = (const void *)(records + number * RECORD);
	const uint32_t at[3] = {cta % state->groups_x, cta / state->groups_x % state->groups_y,
				cta / state->groups_x / state->groups_y};

	assert_int_equal(got->cta_linear, cta);
	assert_int_equal(got->wave, wave);
	assert_int_equal(got->waves, state->waves);
	assert_int_equal(got->first_item, 32 * wave);
	for (unsigned d = 0; d < 3; d++) {
		assert_int_equal(got->cta[d], at[d]);
		items *= extent(shape->grid[d], shape->workgroup[d], at[d]);
	}
	assert_int_equal(got->items, items <= 32 * wave ? 0 : items - 32 * wave < 32 ? items - 32 * wave : 32);
}

/*
 * Of a task that is split each launch is one wave, from whichever wave on, as often as the state comes again; and what
 * follows in its slot and on its SMs has whole workgroups.
 */
static void split(void **unused)
{
	static const struct shape shape = {{150, 3, 1}, {30, 3, 1}}, whole = {{96, 1, 1}, {96, 1, 1}};
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, SMS);
	struct tutti_task_state state = state_of(&shape), after = state_of(&whole);
	uint64_t *data = rig_context(card, 1);
	const unsigned all = 5 * 3;
	unsigned done = 0;

	state.shared_blocks = after.shared_blocks = 0;
	memcpy(card->map[0].host + COPIES, copies, sizeof(copies));
	card->virtual_time = 4321;
	for (unsigned first = 0; first < all; first++)
		for (unsigned cut = first; cut < all; cut += 4) {
			memset(data, 0xa5, 61440);
			data[61440 / 8] = DATA;
			state.first = first;
			sm_array_state(card->array, 0, TUTTI_STATE_SPLIT, &state, NULL, NULL, 0);
			for (unsigned n = first; n < cut; n++)
				assert_int_equal(rig_launch(card, 0, 1, 1), 0);
			state.first = cut;
			sm_array_state(card->array, 0, TUTTI_STATE_SPLIT, &state, NULL, NULL, 0);
			for (unsigned n = cut; n < all;) { /* on one SM, then on several, with parts of a workgroup on each */
				unsigned sms = n % 4 + 1 > all - n ? all - n : n % 4 + 1;

				assert_int_equal(rig_launch(card, 0, 1, sms), 0);
				n += sms;
			}
			done += all - first;
			rig_until(card, 0, done);
			for (unsigned n = first; n < all; n++)
				expect_place((const uint8_t *)data, &shape, &state, n);
			if (first)
				assert_int_equal(((const uint8_t *)data)[(first - 1) * RECORD], 0xa5);
			sm_array_state(card->array, 0, 0, &after, NULL, NULL, 0);
			assert_int_equal(rig_launch(card, 0, 1, 1), 0);
			rig_until(card, 0, ++done);
			for (unsigned n = 0; n < 3; n++)
				expect_place((const uint8_t *)data, &whole, &after, n);
		}
	rig_destroy(card);
}

/* Waves that share anything are not split: launches are refused until there is a state that can be launched. */
static void refused_split(void **unused)
{
	static const struct shape shape = {{96, 1, 1}, {96, 1, 1}};
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, SMS);
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = {{1, 1, 1, TUTTI_CGA_GPC}};
	struct tutti_task_state good = state_of(&shape);
	uint64_t *data = rig_context(card, 1);
	unsigned done = 0;

	good.shared_blocks = 0;
	memcpy(card->map[0].host + COPIES, copies, sizeof(copies));
	data[61440 / 8] = DATA;
	for (unsigned i = 0; i < 4; i++) {
		struct tutti_task_state bad = good;

		if (i == 0)
			bad.shared_blocks = 1;
		if (i == 1)
			bad.barriers = 1;
		if (i == 2)
			bad.waves = 0;
		if (i == 3)
			bad.cga_x = bad.cga_y = bad.cga_z = 1;
		sm_array_state(card->array, 0, TUTTI_STATE_SPLIT, &bad, i == 3 ? level : NULL, NULL, 0);
		assert_true(rig_launch(card, 0, 1, 1) < 0);
		if (i != 2) { /* it may be launched whole */
			sm_array_state(card->array, 0, 0, &bad, i == 3 ? level : NULL, NULL, 0);
			assert_non_null(card->array->slot[0].task);
		}
		sm_array_state(card->array, 0, TUTTI_STATE_SPLIT, &good, NULL, NULL, 0);
		assert_int_equal(rig_launch(card, 0, 1, 1), 0);
		rig_until(card, 0, ++done);
	}
	rig_destroy(card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"TSK-15: what waves are told, in grids of one to three dimensions", every_field, NULL, NULL, NULL},
		{"TSK-15: work items and linear memory of one task are not told to the next", nothing_is_left, NULL, NULL, NULL},
		{"RES-07, TSK-15: what waves of a split task are told", split, NULL, NULL, NULL},
		{"RES-07: tasks that cannot be split", refused_split, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SM: wave information", tests, NULL, NULL);
}

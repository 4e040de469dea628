// SPDX-License-Identifier: MIT
/* SM array without waves: coordinates, resources, launches that must be refused, reports. */
#include <stdio.h>

#include "sm_rig.h"

static uint32_t seed = 12345;

static uint32_t roll(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)seed * n) >> 32);
}

/* CGA-19, CGA-20, CGA-22: SMs that get CTAs now and then, and late joiners, against plain division. */
static void coordinates_against_division(void **unused)
{
	for (unsigned round = 0; round < 300; round++) {
		uint32_t groups[3] = {1 + roll(round & 1 ? 5 : 3000), 1 + roll(40), 1 + roll(40)};
		uint64_t total = (uint64_t)groups[0] * groups[1] * groups[2], launched = roll(1000), base = launched;
		struct rasteriser sm[6];
		struct raster_shape shape;
		unsigned joined = 3;

		assert_true(raster_shape_init(&shape, groups, NULL));
		for (unsigned i = 0; i < joined; i++)
			rasteriser_start(&sm[i], &shape, 0, base);
		for (unsigned step = 0; step < 200; step++) {
			uint64_t index = launched - base;
			unsigned i = roll(joined);
			struct raster_place at;

			if (index >= total)
				break;
			if (joined < 6 && !roll(20))
				rasteriser_start(&sm[joined++], &shape, (uint32_t)index, launched);
			rasteriser_advance(&sm[i], &shape, launched);
			rasteriser_place(&sm[i], &shape, &at);
			assert_int_equal(at.index, index);
			assert_int_equal(at.x, index % groups[0]);
			assert_int_equal(at.y, index / groups[0] % groups[1]);
			assert_int_equal(at.z, index / groups[0] / groups[1]);
			launched += 1 + (roll(4) ? 0 : roll((uint32_t)(total / 50 + 1)));
		}
	}
}

static void blocks_first_fit(void **unused)
{
	for (unsigned round = 0; round < 200; round++) {
		unsigned n = 1 + roll(256), taken = 0;
		uint8_t model[256] = {0};
		struct { int first; unsigned need; } run[64];
		struct blocks blocks;

		blocks_init(&blocks, n);
		for (unsigned step = 0; step < 200; step++) {
			if (taken < 64 && roll(3)) {
				unsigned need = 1 + roll(n > 70 ? 70 : n), i = 0, length = 0;
				int first = blocks_take(&blocks, need), want = -1;

				for (; i < n && want < 0; i++) {
					length = model[i] ? 0 : length + 1;
					if (length == need)
						want = (int)(i + 1 - need);
				}
				assert_int_equal(first, want);
				if (first < 0)
					continue;
				memset(model + first, 1, need);
				run[taken].first = first;
				run[taken++].need = need;
			} else if (taken) {
				unsigned i = roll(taken);

				memset(model + run[i].first, 0, run[i].need);
				blocks_give(&blocks, (unsigned)run[i].first, run[i].need);
				run[i] = run[--taken];
			}
		}
	}
}

/* One shape: capacity is the least over the resources. */
static void capacity_of_one_shape(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);
	const struct tutti_discovery *limits = &card->limits;

	for (unsigned round = 0; round < 300; round++) {
		struct tutti_task_state state = {.waves = (uint16_t)(1 + roll(12)), .scalar_blocks = (uint16_t)roll(12),
			.vector_blocks = (uint16_t)roll(12), .shared_blocks = (uint16_t)roll(20),
			.barriers = (uint16_t)roll(3)};
		unsigned wave_slots = 8, fits = 0, want;
		struct task task = {.state = state};
		struct cta cta[33] = {{0}};

		if (state.scalar_blocks && 32u / state.scalar_blocks < wave_slots)
			wave_slots = 32u / state.scalar_blocks;
		if (state.vector_blocks && 32u / state.vector_blocks < wave_slots)
			wave_slots = 32u / state.vector_blocks;
		want = 4 * wave_slots / state.waves;
		if (state.shared_blocks && 64u / state.shared_blocks < want)
			want = 64u / state.shared_blocks;
		if (state.barriers && 16u / state.barriers < want)
			want = 16u / state.barriers;
		if (want > 32)
			want = 32;
		sm_init(&card->array->sm[0], limits);
		for (; fits < 33; fits++) {
			cta[fits].task = &task;
			cta[fits].waves = state.waves;
			cta[fits].number = fits;
			if (!sm_take(&card->array->sm[0], limits, &cta[fits]))
				break;
		}
		assert_int_equal(fits, want);
		for (unsigned i = 0; i < fits; i++)
			sm_give(&card->array->sm[0], &cta[i]);
		assert_int_equal(card->array->sm[0].cta_slots, 32);
		assert_int_equal(card->array->sm[0].barriers, 16);
		assert_true(card->array->sm[0].shared.free[0] == ~0ull);
		for (unsigned p = 0; p < 4; p++) {
			assert_int_equal(card->array->sm[0].peu[p].free_waves, 8);
			assert_int_equal(card->array->sm[0].peu[p].scalar.free[0], 0xffffffffu);
			assert_int_equal(card->array->sm[0].peu[p].vector.free[0], 0xffffffffu);
		}
	}
	rig_destroy(card);
}

/* RES-12: rotation over the PEUs; whatever the CTAs, totals of an SM's PEUs differ by at most one. */
static void rotated_split_is_balanced(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);
	struct sm *sm = &card->array->sm[0];

	for (unsigned round = 0; round < 200; round++) {
		unsigned total = 0, split = 0;

		sm_init(sm, &card->limits);
		sm->rotate = true;
		for (;;) {
			struct task task = {.state = {.waves = (uint16_t)(1 + roll(7)), .scalar_blocks = 1}};
			struct cta cta = {.task = &task, .waves = task.state.waves};
			unsigned most = 0, least = 8;

			if (!sm_take(sm, &card->limits, &cta))
				break;
			for (unsigned w = 0; w < task.state.waves; w++)
				assert_int_equal(sm_wave_slot(sm, &cta, w) / 8, (split + 1 + w) % 4);
			split = (split + task.state.waves) % 4;
			total += task.state.waves;
			assert_int_equal(sm->split, split);
			for (unsigned p = 0; p < 4; p++) {
				unsigned used = 8 - sm->peu[p].free_waves;

				most = used > most ? used : most;
				least = used < least ? used : least;
			}
			assert_true(most - least <= 1);
		}
		assert_true(total > 25); /* refused only where the part of a PEU did not fit */
		assert_int_equal(sm->split, split);
	}
	rig_destroy(card);
}

/* RES-12: SM_MODE sets for every SM whether it rotates, and the window, which is neither too short nor too long. */
static void modes(void **unused)
{
	static const struct {
		unsigned asked, window;
	} rows[] = {{0, 3}, {2, 3}, {3, 3}, {4, 4}, {10, 10}, {40, 40}, {41, 40}, {255, 40}};
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 3);

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		sm_array_mode(card->array, rows[i].asked << 8 | (i & 1 ? TUTTI_SM_ROTATE : 0));
		assert_int_equal(card->array->window, rows[i].window);
		for (unsigned sm = 0; sm < 3; sm++)
			assert_int_equal(card->array->sm[sm].rotate, i & 1);
	}
	rig_destroy(card);
}

/* RES-01, RES-03: the table says what is free, neighbours in neighbouring words. */
static void table_of_sm_states(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 2);
	struct tutti_sm_state *table = calloc(2, sizeof(*table));
	struct sm *sm = &card->array->sm[1];
	struct tutti_discovery limits = card->limits;

	for (unsigned round = 0; round < 200; round++) {
		struct task task[8];
		struct cta cta[8];
		unsigned n = 0, waves = 0, blocks[3] = {1 + roll(256), 1 + roll(256), 1 + roll(256)};

		limits.scalar_blocks = blocks[0];
		limits.vector_blocks = blocks[1];
		limits.shared_blocks = blocks[2];
		card->limits = limits;
		sm_init(sm, &limits);
		sm->rotate = round & 1;
		for (unsigned i = 0; i < 8; i++) {
			task[n].state = (struct tutti_task_state){.waves = (uint16_t)(1 + roll(3)),
				.scalar_blocks = (uint16_t)roll(9), .vector_blocks = (uint16_t)roll(30),
				.shared_blocks = (uint16_t)roll(60), .barriers = (uint16_t)roll(3)};
			cta[n].task = &task[n];
			cta[n].waves = task[n].state.waves;
			if (sm_take(sm, &limits, &cta[n]))
				waves += cta[n++].waves;
		}
		for (unsigned i = 0; i < n; i += 2)
			sm_give(sm, &cta[i]);
		sm_array_table(card->array, table);
		assert_int_equal(table[1].cta_slots, 32 - n / 2);
		assert_int_equal(table[1].barriers, sm->barriers);
		assert_int_equal(table[1].shared_blocks, blocks[2]); /* the total, whether free or not */
		assert_int_equal(table[1].split, round & 1 ? waves % 4 : 0);
		assert_int_equal(table[1].ctas, n); /* as many as have started */
		assert_int_equal(table[1].waves, waves);
		for (unsigned kind = 0; kind < 3; kind++) {
			unsigned words = tutti_map_words(blocks[kind]), set = 0;

			for (unsigned b = 0; b < words * 32; b++) {
				const struct blocks *have = kind == 2 ? &sm->shared : kind ? &sm->peu[3].vector : &sm->peu[3].scalar;
				const uint32_t *map = kind == 2 ? table[1].shared : kind ? table[1].peu[3].vector :
									       table[1].peu[3].scalar;

				assert_int_equal(map[b % words] >> (b / words) & 1, have->free[b / 64] >> (b % 64) & 1);
				set += map[b % words] >> (b / words) & 1;
			}
			assert_int_equal(set, kind == 2 ? table[1].shared_free : kind ? table[1].peu[3].vector_free :
										   table[1].peu[3].scalar_free);
		}
		assert_int_equal(table[1].peu[2].free_waves, sm->peu[2].free_waves);
	}
	free(table);
	rig_destroy(card);
}

static void overbooking_is_refused(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 2);
	struct tutti_task_state state;

	rig_context(card, 1);
	state = rig_state(1, K_EMPTY, 100, 4);
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 8, 2), 0); /* 32 of 32 wave slots */
	assert_int_equal(rig_launch(card, 0, 1, 1), -EINVAL);
	rig_until(card, 0, 16);
	assert_int_equal(rig_launch(card, 0, 1, 1), 0);
	rig_until(card, 0, 17);
	rig_destroy(card);
}

static void malformed_launches(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 40);
	uint32_t words[40] = {0};
	struct tutti_task_state state;

	rig_context(card, 1);
	state = rig_state(1, K_EMPTY, 100, 1);
	words[0] = 1 | 1u << 24;
	words[1] = 1;
	assert_int_equal(sm_array_launch(card->array, 0, 0, words, 2), -EINVAL);  /* no state */
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(sm_array_launch(card->array, 32, 0, words, 2), -EINVAL); /* no such slot */
	assert_int_equal(sm_array_launch(card->array, 0, 1, words, 2), -EINVAL);  /* CGA */
	assert_int_equal(sm_array_launch(card->array, 0, 0, words, 1), -EINVAL);  /* mask missing */
	words[0] = 1;
	assert_int_equal(sm_array_launch(card->array, 0, 0, words, 2), -EINVAL);  /* no mask words */
	words[0] = 1 | 31u << 16 | 2u << 24;
	assert_int_equal(sm_array_launch(card->array, 0, 0, words, 3), -EINVAL);  /* past the last SM */
	words[0] = 1 | 1u << 16 | 1u << 24;
	words[1] = 0x100;
	assert_int_equal(sm_array_launch(card->array, 0, 0, words, 2), -EINVAL);  /* SM 40 of 40 */
	state.entry += 4;
	words[0] = 1 | 1u << 24;
	words[1] = 2;
	sm_array_state(card->array, 0, 0, &state, NULL, words, 1); /* SM 0 ... */
	words[1] = 1u << 5;
	assert_int_equal(sm_array_launch(card->array, 0, 0, words, 2), -EINVAL);  /* ... but SM 5 */
	assert_false(sm_array_busy(card->array));
	for (unsigned round = 0; round < 20000; round++) {
		for (unsigned i = 0; i < 40; i++)
			words[i] = roll(3) ? seed : seed & 0x03000007;
		sm_array_launch(card->array, roll(3), 0, words, roll(41));
		if (!(round % 16))
			sm_array_reset(card->array);
	}
	rig_destroy(card);
}

/* A late joiner and an order that is not the identity: every CTA number exactly once. */
static void order_and_late_joiner(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 4);
	uint64_t *data = rig_context(card, 1);
	struct tutti_task_state state = rig_state(1, K_INDEX, 12, 1);
	uint32_t order[2] = {3 | 2 << 16, 1 | 0 << 16}, mask = 7, segment[2] = {2 | 1u << 24, 7};

	data[61440 / 8] = DATA;
	memset(data, 0xff, 8 * 16);
	sm_array_order(card->array, 0, order, 2);
	sm_array_state(card->array, 0, 0, &state, NULL, &mask, 1);
	assert_int_equal(sm_array_launch(card->array, 0, 0, segment, 2), 0);
	state.first = 6;
	mask = 8;
	sm_array_state(card->array, 0, 0, &state, NULL, &mask, 1);
	segment[0] = 1 | 1u << 24;
	segment[1] = 15;
	assert_int_equal(sm_array_launch(card->array, 0, 0, segment, 2), 0);
	segment[1] = 10;
	assert_int_equal(sm_array_launch(card->array, 0, 0, segment, 2), 0);
	rig_until(card, 0, 12);
	for (uint64_t i = 0; i < 12; i++)
		assert_int_equal(data[i], i);
	rig_destroy(card);
}

static void reports_are_few(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 160);
	struct tutti_task_state state;
	uint32_t words[3];

	rig_context(card, 1);
	state = rig_state(1, K_EMPTY, 160 * 32, 1);
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 32, 160), 0);
	while (sm_array_run(card->array))
		;
	sm_array_report(card->array);
	assert_int_equal(card->done[0], 160 * 32);
	assert_int_equal(card->events, 1);
	/* SM i gets i % 30 + 1: 30 different counts, 5 binary digits */
	for (unsigned i = 0; i < 160; i++) {
		words[0] = (i % 30 + 1) | i / 32 << 16 | 1u << 24;
		words[1] = 1u << (i % 32);
		assert_int_equal(sm_array_launch(card->array, 0, 0, words, 2), 0);
	}
	while (sm_array_run(card->array))
		;
	sm_array_report(card->array);
	assert_in_range(card->events, 2, 1 + 10);
	assert_false(sm_array_busy(card->array));
	rig_destroy(card);
}

/* How many events tell that SM i has ended first + i % different * step CTAs, for each of @sms SMs. */
static unsigned events_for(unsigned sms, unsigned first, unsigned different, unsigned step)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 160);
	struct tutti_task_state state = rig_state(1, K_EMPTY, 160 * 32, 1);
	unsigned events;

	rig_context(card, 1);
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	for (unsigned i = 0; i < sms; i++) {
		uint32_t words[] = {(first + i % different * step) | i / 32 << 16 | 1u << 24, 1u << (i % 32)};

		assert_int_equal(sm_array_launch(card->array, 0, 0, words, 2), 0);
	}
	while (sm_array_run(card->array))
		;
	sm_array_report(card->array);
	for (unsigned i = 0; i < 160; i++)
		assert_int_equal(card->done_at[0][i], i < sms ? first + i % different * step : 0);
	events = card->events;
	rig_destroy(card);
	return events;
}

/* One event for each different count, or for each binary digit of the counts if there are fewer of these. */
static void as_few_as_counts_or_digits(void **unused)
{
	assert_int_equal(events_for(1, 29, 1, 0), 1);
	assert_int_equal(events_for(160, 29, 1, 0), 1);
	assert_int_equal(events_for(160, 3, 2, 5), 2); /* 3 and 8, of 3 digits */
	assert_int_equal(events_for(31, 1, 31, 1), 5);
	assert_int_equal(events_for(160, 1, 31, 1), 5);
	assert_int_equal(events_for(160, 4, 7, 4), 3); /* 4, 8 ... 28 */
	assert_int_equal(events_for(2, 7, 2, 1), 2);   /* 7 and 8 */
}

/* Limits of an SM array: for each, the last value that is allowed, the first one that is not, and 0. */
static void limits_of_the_array(void **unused)
{
	static const struct {
		size_t offset;
		uint32_t most, peus, peu_waves;
		bool needed;
	} rows[] = {
		{offsetof(struct tutti_discovery, peus), 8, 1, 8, true},
		{offsetof(struct tutti_discovery, peu_waves), 64, 2, 8, true},
		{offsetof(struct tutti_discovery, peu_waves), 16, 8, 8, true},
		{offsetof(struct tutti_discovery, scalar_blocks), 256, 4, 8, false},
		{offsetof(struct tutti_discovery, vector_blocks), 256, 4, 8, false},
		{offsetof(struct tutti_discovery, shared_blocks), 256, 4, 8, false},
		{offsetof(struct tutti_discovery, task_slots), SM_SLOTS, 4, 8, false},
		{offsetof(struct tutti_discovery, cta_slots), 65535, 4, 8, true},
		{offsetof(struct tutti_discovery, gpcs), TUTTI_MAX_GPCS, 4, 8, false},
		{offsetof(struct tutti_discovery, cga_ids), 256, 4, 8, false},
		{offsetof(struct tutti_discovery, cga_ctas), CGA_RANKS, 4, 8, false},
	};
	struct tutti_card *card = calloc(1, sizeof(*card));

	card->config.mode = TUTTI_CARD_DETERMINISTIC;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (unsigned which = 0; which < 3; which++) {
			struct tutti_discovery limits = {.sms = 1, .task_slots = 2, .peus = rows[i].peus,
							 .peu_waves = rows[i].peu_waves, .cta_slots = 4, .shared_block_bytes = 16};
			uint32_t value = which == 2 ? 0 : rows[i].most + which;

			rig_gpcs(&limits);
			memcpy((char *)&limits + rows[i].offset, &value, 4);
			card->limits = limits;
			if (sm_array_create(card, &card->array) != (which == 1 || (!value && rows[i].needed) ? -EINVAL : 0))
				fail_msg("row %u, value %u", i, value);
			if (which != 1 && (value || !rows[i].needed))
				sm_array_destroy(card->array);
		}
	free(card);
}

static void largest_card(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1024);
	struct tutti_task_state state;

	rig_context(card, 1);
	state = rig_state(1, K_EMPTY, 1024 * 32, 1);
	sm_array_state(card->array, 31, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 31, 32, 1024), 0);
	rig_until(card, 31, 1024 * 32);
	rig_destroy(card);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coordinates_against_division),
		cmocka_unit_test(blocks_first_fit),
		cmocka_unit_test(capacity_of_one_shape),
		cmocka_unit_test(rotated_split_is_balanced),
		cmocka_unit_test(modes),
		cmocka_unit_test(table_of_sm_states),
		cmocka_unit_test(overbooking_is_refused),
		cmocka_unit_test(malformed_launches),
		cmocka_unit_test(order_and_late_joiner),
		cmocka_unit_test(reports_are_few),
		{"SYS-09: as few events as counts, or digits of these", as_few_as_counts_or_digits, NULL, NULL, NULL},
		cmocka_unit_test(limits_of_the_array),
		cmocka_unit_test(largest_card),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

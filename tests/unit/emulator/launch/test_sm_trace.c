// SPDX-License-Identifier: MIT
/*
 * The records that the trace unit makes of the launch channel: true numbers of free slots, messages and CTAs in order.
 */
#include "sm_rig.h"

#define SMS 20u
#define SLOTS 6u

static uint32_t seed = 4711;

static uint32_t roll(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)seed * n) >> 32);
}

static int launch_on(struct tutti_card *card, unsigned slot, unsigned sm, unsigned repeat)
{
	uint32_t words[2] = {repeat | (sm / 32) << 16 | 1u << 24, 1u << (sm % 32)};

	return sm_array_launch(card->array, slot, 0, words, 2);
}

/* Free slots of each SM as the records before the newest launch of @slot say. */
static void recorded_free(struct tutti_card *card, unsigned slot, uint8_t free_slots[SMS])
{
	unsigned seen = 0;

	assert_true(card->traces <= 1024);
	for (unsigned i = 0; i < card->traces; i++) {
		struct tutti_trace_free record;

		memcpy(&record, &card->trace[i], sizeof(record));
		if (record.kind != TUTTI_TRACE_FREE)
			continue;
		assert_int_equal(record.slot, slot);
		assert_int_equal(record.first, seen);
		memcpy(free_slots + seen, record.free, record.sms);
		seen += record.sms;
	}
	assert_int_equal(seen, SMS);
}

/* One record for each 16 SMs, and none about no SMs. */
static void records_of_free_slots(void **unused)
{
	for (unsigned sms = TUTTI_TRACE_SMS - 1; sms <= TUTTI_TRACE_SMS + 1; sms++) {
		struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, sms);
		struct tutti_task_state state = rig_state(1, K_EMPTY, 10, 1);

		rig_context(card, 1);
		card->trace_kinds = 1u << TUTTI_TRACE_FREE;
		sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
		assert_int_equal(sm_array_launch(card->array, 0, 0, NULL, 0), 0);
		assert_int_equal(card->traces, sms <= TUTTI_TRACE_SMS ? 1 : 2);
		rig_destroy(card);
	}
}

/* Random kernels beside others: as many CTAs as recorded fit, and not one more. */
static void free_slots(void **unused)
{
	for (unsigned round = 0; round < 40; round++) {
		struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, SMS);
		uint8_t free_now[SMS];
		unsigned slot;

		rig_context(card, 1);
		card->trace_kinds = 1u << TUTTI_TRACE_FREE;
		for (slot = 0; slot < SLOTS; slot++) {
			struct tutti_task_state state = rig_state(1, K_EMPTY, 100000, 1 + roll(8));

			state.scalar_blocks = (uint16_t)roll(9);
			state.vector_blocks = (uint16_t)roll(9);
			state.shared_blocks = (uint16_t)(roll(2) ? 0 : roll(24));
			state.barriers = (uint16_t)roll(3);
			sm_array_state(card->array, slot, 0, &state, NULL, NULL, 0);
			for (unsigned n = 1 + roll(30); n; n--) {
				unsigned sm = roll(SMS);

				/* an empty message tells what is free */
				card->traces = 0;
				assert_int_equal(sm_array_launch(card->array, slot, 0, NULL, 0), 0);
				recorded_free(card, slot, free_now);
				if (free_now[sm])
					assert_int_equal(launch_on(card, slot, sm, 1 + roll(free_now[sm])), 0);
			}
		}
		slot = SLOTS - 1;
		card->traces = 0;
		assert_int_equal(sm_array_launch(card->array, slot, 0, NULL, 0), 0);
		recorded_free(card, slot, free_now);
		for (unsigned sm = 0; sm < SMS; sm++)
			if (free_now[sm])
				assert_int_equal(launch_on(card, slot, sm, free_now[sm]), 0);
		for (unsigned sm = 0; sm < SMS; sm++)
			assert_int_equal(launch_on(card, slot, sm, 1), -EINVAL);
		rig_destroy(card);
	}
}

/* STATE, PLACE and CTA records of CGAs of 2 x 1 in a grid of 8 x 2. */
static void groups(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 16);
	struct tutti_task_state state = rig_state(1, K_EMPTY, 8, 2);
	unsigned cta = 0, i;

	rig_context(card, 1);
	state.groups_y = 2;
	state.grid_y = 2;
	state.cga_x = 2;
	state.cga_y = state.cga_z = 1;
	state.packet = 77;
	card->trace_kinds = 1u << TUTTI_TRACE_STATE | 1u << TUTTI_TRACE_PLACE | 1u << TUTTI_TRACE_CTA;
	sm_array_state(card->array, 5, 0, &state, NULL, NULL, 0);
	assert_int_equal(card->traces, 1);
	assert_int_equal(card->trace[0].kind, TUTTI_TRACE_STATE);
	assert_int_equal(card->trace[0].cta, 16);
	assert_int_equal(card->trace[0].sm, 2);
	assert_int_equal(card->trace[0].value, 2 | TUTTI_CGA_GPC << 24);
	for (i = 0; i < 8; i++) {
		uint32_t gpc = i % 2, id = i / 2;
		uint32_t words[] = {(100 + i) | id << 16 | gpc << 24, ~0u, 1 | 1u << 24, 3u << 2 * id};

		assert_int_equal(sm_array_launch(card->array, 5, TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA, words, 4), 0);
	}
	assert_int_equal(card->traces, 1 + 8 * 3);
	for (i = 1; i < card->traces; i++) {
		const struct tutti_trace *r = &card->trace[i];
		unsigned cga = (i - 1) / 3, x = cta % 8, y = cta / 8;

		assert_int_equal(r->slot, 5);
		assert_int_equal(r->queue, 3);
		assert_int_equal(r->packet, 77);
		if ((i - 1) % 3 == 0) {
			assert_int_equal(r->kind, TUTTI_TRACE_PLACE);
			assert_int_equal(r->cta, 2);
			assert_int_equal(r->sm, cga % 2);
			assert_int_equal(r->value, (100 + cga) | (cga / 2) << 16 | 3u << 24);
			continue;
		}
		assert_int_equal(r->kind, TUTTI_TRACE_CTA);
		assert_int_equal(r->cta, cta++);
		assert_int_equal(r->sm, 8 * (cga % 2) + 2 * (cga / 2) + (i - 1) % 3 - 1);
		assert_int_equal(r->value, 1 + x / 2 + 4 * y);
	}
	rig_destroy(card);
}

static void expect_record(const struct tutti_trace *got, struct tutti_trace want)
{
	assert_memory_equal(got, &want, sizeof(want));
}

/* From the state to the end of a CTA, or to its fault: all that records tell. */
static void life(void **unused)
{
	for (unsigned bad = 0; bad < 2; bad++) {
		struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, SMS);
		struct tutti_task_state state = rig_state(1, bad ? K_ILLEGAL : K_EMPTY, 50, 2);
		const struct tutti_trace common = {.queue = 3, .sm = 7, .slot = 4, .packet = 77, .cta = 20};
		struct tutti_trace want = common;

		rig_context(card, 1);
		state.first = 20;
		state.packet = 77;
		card->trace_kinds = ~0u & ~(1u << TUTTI_TRACE_FREE);
		sm_array_state(card->array, 4, 0, &state, NULL, NULL, 0);
		assert_int_equal(launch_on(card, 4, 7, 1), 0);
		for (unsigned i = 0; i < 5; i++)
			rig_step(card);
		assert_int_equal(card->traces, 6);
		expect_record(&card->trace[0], (struct tutti_trace){
			.kind = TUTTI_TRACE_STATE, .queue = 3, .sm = 2, .slot = 4, .packet = 77, .cta = 50});
		expect_record(&card->trace[1], (struct tutti_trace){
			.kind = TUTTI_TRACE_ENTRY, .queue = 3, .sm = 0xffff, .slot = 4, .packet = state.entry});
		expect_record(&card->trace[2], (struct tutti_trace){
			.kind = TUTTI_TRACE_PLACE, .queue = 3, .sm = 0xffff, .slot = 4, .packet = 77, .cta = 1});
		want.kind = TUTTI_TRACE_CTA;
		expect_record(&card->trace[3], want);
		want.kind = TUTTI_TRACE_RUN;
		want.value = 2; /* waves */
		expect_record(&card->trace[4], want);
		want.kind = bad ? TUTTI_TRACE_FAULT : TUTTI_TRACE_CTA_DONE;
		want.value = bad ? TUTTI_CAUSE_ILLEGAL : 1;
		expect_record(&card->trace[5], want);
		rig_destroy(card);
	}
}

/* A LAUNCH that gives work-items has a longer head, of which neither the number of CTAs nor the CGA depend. */
static void launches_with_work(void **unused)
{
	const uint32_t many = 5 | 1u << 24; /* work-items, so many that they look like the head of a segment */
	const uint32_t words[] = {1, many, many, 3 | 1u << 24, 0x11};
	const uint32_t whole[] = {9 | (uint32_t)TUTTI_GPC_NONE << 24, ~0u, 1, many, many, 2 | 1u << 24, 0x7};
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, SMS);
	struct tutti_task_state state = rig_state(1, K_EMPTY, 100, 1);
	const unsigned flags = TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA | TUTTI_LAUNCH_WORK;

	rig_context(card, 1);
	card->trace_kinds = 1u << TUTTI_TRACE_PLACE;
	sm_array_state(card->array, 4, 0, &state, NULL, NULL, 0);
	assert_int_equal(sm_array_launch(card->array, 4, TUTTI_LAUNCH_WORK, words, 5), 0);
	assert_int_equal(sm_array_launch(card->array, 4, flags, whole, 7), 0);
	rig_until(card, 4, 12);
	assert_int_equal(card->traces, 2);
	expect_record(&card->trace[0], (struct tutti_trace){
		.kind = TUTTI_TRACE_PLACE, .queue = 3, .sm = 0xffff, .slot = 4, .cta = 6});
	expect_record(&card->trace[1], (struct tutti_trace){
		.kind = TUTTI_TRACE_PLACE, .queue = 3, .sm = 0xffff, .slot = 4, .cta = 6, .value = 9 | flags << 24});
	rig_destroy(card);
}

/* Only requested kinds of records are written. */
static void off(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, SMS);
	struct tutti_task_state state = rig_state(1, K_EMPTY, 100, 1);

	rig_context(card, 1);
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 2, SMS), 0);
	assert_int_equal(card->traces, 0);
	card->trace_kinds = 1u << TUTTI_TRACE_CTA_DONE;
	rig_until(card, 0, 2 * SMS);
	assert_int_equal(card->traces, 2 * SMS);
	rig_destroy(card);
}

/* The record of a state tells how many CTAs the whole grid has, as far as its field can. */
static void sizes_of_grids(void **unused)
{
	static const struct {
		uint32_t x, y, z, told;
	} grids[] = {
		{7, 1, 1, 7}, {7, 5, 1, 35}, {7, 5, 3, 105}, {65536, 65535, 1, 0xffff0000u}, {65536, 65536, 1, UINT32_MAX},
		{65535, 65537, 1, UINT32_MAX}, {65535, 257, 256, UINT32_MAX}, {65536, 32768, 2, UINT32_MAX}, {UINT32_MAX, UINT32_MAX, 2, UINT32_MAX},
	};
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, SMS);

	card->trace_kinds = 1u << TUTTI_TRACE_STATE;
	for (unsigned i = 0; i < sizeof(grids) / sizeof(*grids); i++) {
		struct tutti_task_state state = rig_state(1, K_EMPTY, 1, 1 + i);

		state.groups_x = grids[i].x;
		state.groups_y = grids[i].y;
		state.groups_z = grids[i].z;
		card->traces = 0;
		sm_array_state(card->array, 5, 0, &state, NULL, NULL, 0);
		assert_int_equal(card->traces, 1);
		assert_int_equal(card->trace[0].slot, 5);
		assert_int_equal(card->trace[0].cta, grids[i].told);
		assert_int_equal(card->trace[0].sm, 1 + i); /* waves of each */
	}
	rig_destroy(card);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{"CGA-30, TSK-06: free slots in records are what SMs take", free_slots, NULL, NULL, NULL},
		{"SYS-13: how many records tell of free slots", records_of_free_slots, NULL, NULL, NULL},
		{"CGA-30, CGA-16: states, messages and CTAs of CGAs", groups, NULL, NULL, NULL},
		{"CGA-30: sizes of grids, up to the largest", sizes_of_grids, NULL, NULL, NULL},
		{"CGA-30: the life of a CTA", life, NULL, NULL, NULL},
		{"CGA-30, TSK-10: messages that give work-items", launches_with_work, NULL, NULL, NULL},
		{"CGA-30: only kinds that are wanted", off, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

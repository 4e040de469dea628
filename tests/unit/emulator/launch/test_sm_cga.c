// SPDX-License-Identifier: MIT
/* CGAs in the SM array without firmware: launch, ids, barrier, DSMEM, order of exit. */
#include <stdio.h>

#include "sm_cga_rig.h"

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
	sm_array_state(card->array, 4, 0, &state, NULL, NULL, 0);
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
	assert_int_equal(card->counter[TUTTI_COUNTER_CGAS], 36);
}

static void staged(void **unused)
{
	cga_state(0, C_IDS, 8, 4, 1);
	sequence = 9;
	assert_int_equal(cga_send(0, 0, 0, 3, 1, 3), 0);
	idle();
	assert_int_equal(card->done[0], 0);
	assert_true(sm_array_busy(card->array));
	assert_int_equal(cga_send(0, TUTTI_LAUNCH_END_OF_CGA, 0, 3, 2, 4), 0);
	finish(0, 0, 3, 4);
	for (unsigned r = 0; r < 4; r++) {
		assert_int_equal(data[8 * r] & 0xff, r);
		assert_int_equal(data[8 * r + 7], r < 2 ? r : 2);
	}
}

static void malformed(void **unused)
{
	cga_state(0, C_IDS, 64, 4, 1);
	assert_int_equal(cga_launch_one(0, 2, 0, 1, 15), -EINVAL); /* no such GPC */
	assert_int_equal(cga_send(0, 0, 2, 0, 1, 0), -EINVAL);     /* nor has it CGAs without CTAs */
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
	assert_int_equal(cga_send(0, 0, 0, 0, 1, 15), 0);
	sequence++;
	assert_int_equal(cga_send(0, 0, 0, 1, 1, 15), -EINVAL); /* another one before its end */
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

/* Launches of two parts of a nested CGA must not take each other's CTAs, also if the numbers are right in the end. */
static void mixed(void **unused)
{
	static const struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = {
		{3, 1, 1, TUTTI_CGA_GPC}, {2, 1, 1, TUTTI_CGA_GPU}};
	struct tutti_task_state state = rig_state(1, C_IDS, 12, 1);

	state.cga_x = 3;
	state.cga_y = state.cga_z = 1;
	sm_array_state(card->array, 0, 0, &state, level, NULL, 0);
	sequence++;
	assert_int_equal(cga_send(0, 0, 0, 1, 1, 3), 0);
	assert_int_equal(cga_send(0, 0, 1, 1, 1, 7), -EINVAL); /* its first CTA would have rank 2 */
}

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

static void leavers_and_split(void **unused)
{
	cga_state(0, C_LEAVERS, 8, 8, 3);
	assert_int_equal(cga_launch_one(0, 0, 1, 1, ALL), 0);
	finish(0, 0, 1, 8);
	for (unsigned c = 0; c < 8; c++)
		assert_int_equal(data[8 * c], !(c & 1));
	memset(data, 0, 4096);
	cga_state(1, C_SPLIT, 8, 8, 3);
	assert_int_equal(cga_launch_one(1, 0, 1, 1, ALL), 0);
	finish(1, 0, 1, 8);
	for (unsigned c = 0; c < 8; c++)
		assert_int_equal(data[8 * c], 1);
}

/* Rank 1 arrives and exits: the others still wait for each other. */
static void quitter(void **unused)
{
	cga_state(0, C_QUIT, 4, 4, 2);
	assert_int_equal(cga_launch_one(0, 0, 1, 1, 0xf), 0);
	finish(0, 0, 1, 4);
	assert_int_equal(data[0], 4); /* waves of ranks 2 and 3 had arrived before rank 0 continued */
}

static void alone(void **unused)
{
	struct tutti_task_state state = rig_state(1, C_SPLIT, 1, 3);

	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), 0);
	rig_until(card, 0, 1);
	assert_int_equal(data[0], 1);
	state.entry = CODE + C_AMO;
	state.shared_bytes = 16;
	state.shared_blocks = 1;
	data[254] = 0;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), 0);
	rig_until(card, 0, 2);
	assert_int_equal(data[0], 300);
	assert_int_equal(data[1], 300);
}

/* Run the @waves of one CTA, which has no CGA or is one: out[0] must be 1. */
static void meet(uint32_t entry, uint32_t waves, bool cga)
{
	struct tutti_task_state state = rig_state(1, entry, 1, waves);

	memset(card->done, 0, sizeof(card->done));
	memset(data, 0, 4096);
	if (cga) {
		cga_state(0, entry, 1, 1, waves);
		assert_int_equal(cga_launch_one(0, 0, 1, 1, 1), 0);
		finish(0, 0, 1, 1);
	} else {
		rig_launch_one(card, &state, 0);
		rig_until(card, 0, 1);
	}
	assert_int_equal(data[0], 1);
	assert_int_equal(card->faults, 0);
}

/* Waiting takes only the arrivals of others, and the barrier of the CTA is another one. */
static void arrivals(void **unused)
{
	for (unsigned cga = 0; cga < 2; cga++) {
		meet(C_APART, 2, cga);
		meet(C_BOTH, 2, cga);
		meet(C_GONE, 3, cga);
	}
}

static void misuse(void **unused)
{
	cga_state(0, C_TWICE, 1, 1, 1);
	assert_int_equal(cga_launch_one(0, 0, 0, 1, 1), 0);
	rig_until_fault(card);
	assert_int_equal(card->fault.word[0] >> 16 & 0xff, TUTTI_CAUSE_SERVICE);
	assert_int_equal(card->fault.word[2], CODE + C_TWICE_AT + 4);
	card->faults = 0;
	cga_state(1, C_UNARRIVED, 1, 1, 1);
	assert_int_equal(cga_launch_one(1, 0, 1, 1, 1), 0);
	rig_until_fault(card);
	assert_int_equal(card->fault.word[0] >> 16 & 0xff, TUTTI_CAUSE_SERVICE);
}

static void killed(void **unused)
{
	cga_state(0, C_SPIN, 64, 4, 4);
	for (unsigned id = 0; id < 4; id++)
		assert_int_equal(cga_launch_one(0, 0, id, 1, 0xf), 0);
	for (unsigned i = 0; i < 20; i++)
		rig_step(card);
	sequence++;
	assert_int_equal(cga_send(0, 0, 1, 9, 1, 3), 0);
	sm_array_kill(card->array, 0);
	rig_until(card, 0, 18);
	rig_step(card);
	assert_int_equal(card->killed[0], 1);
	assert_false(sm_array_busy(card->array));
	for (unsigned id = 0; id < 4; id++)
		assert_int_equal(sm_array_flush(card->array, 0, id, ALL), 0);
	assert_int_equal(sm_array_flush(card->array, 1, 9, ALL), 0);
	cga_state(0, C_RING, 4, 4, 1);
	assert_int_equal(cga_launch_one(0, 0, 2, 1, 0xf), 0);
	finish(0, 0, 2, 22);
	assert_int_equal(cga_launch_one(0, 1, 9, 1, 0xf), 0);
	finish(0, 1, 9, 26);
}

/* Killed while a part of it is staged: whichever id it has, that can be flushed and used again. */
static void killed_parts(void **unused)
{
	static const unsigned ids[][2] = {{0, 0}, {0, 1}, {0, 31}, {1, 0}, {1, 31}};

	for (unsigned i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		const unsigned gpc = ids[i][0], id = ids[i][1];

		cga_state(0, C_IDS, 64, 4, 1);
		sequence++;
		assert_int_equal(cga_send(0, 0, gpc, id, 1, 3), 0);
		assert_int_equal(sm_array_flush(card->array, gpc, id, ALL), -EINVAL);
		sm_array_kill(card->array, 0);
		rig_until(card, 0, 6 * i + 2);
		assert_int_equal(sm_array_flush(card->array, gpc, id, ALL), 0);
		cga_state(0, C_RING, 64, 4, 1);
		assert_int_equal(cga_launch_one(0, gpc, id, 1, 0xf), 0);
		finish(0, gpc, id, 6 * (i + 1));
	}
	assert_int_equal(card->faults + card->cga_faults, 0);
}

/* TSK-12: CTAs of other tasks that wait at a barrier, or whose CGA is not complete yet, are not touched. */
static void others_live_on(void **unused)
{
	/*
	 *	lwu t0, 100(tp); ld s0, 0(a0); beqz t0, 2f; 1: li a7, 4; ecall; ld t0, 2000(s0); beqz t0, 1b
	 * 2:	li a7, 32; ecall; li t0, 1; addi s0, s0, 2008; amoadd.d zero, t0, (s0); ret
	 */
	static const uint32_t rank_0_waits[] = {
		0x06426283, 0x00053403, 0x00028a63, 0x00400893, 0x00000073, 0x7d043283, 0xfe028ae3,
		0x02000893, 0x00000073, 0x00100293, 0x7d840413, 0x0054302f, 0x00008067,
	};

	memcpy(card->map[0].host + 0xc00, rank_0_waits, sizeof(rank_0_waits));
	cga_state(0, C_SPIN, 4, 4, 1);
	cga_state(1, 0xc00, 4, 4, 2);
	cga_state(2, C_IDS, 4, 4, 1);
	assert_int_equal(cga_launch_one(0, 0, 0, 1, 0xf0), 0);
	assert_int_equal(cga_launch_one(1, 0, 1, 1, 0xf), 0);
	idle();
	sequence++;
	assert_int_equal(cga_send(2, 0, 1, 2, 1, 3), 0);
	sm_array_kill(card->array, 0);
	rig_until(card, 0, 4);
	assert_int_equal(cga_send(2, TUTTI_LAUNCH_END_OF_CGA, 1, 2, 1, 0xc), 0);
	finish(2, 1, 2, 4);
	assert_int_equal(card->done[1], 0);
	__atomic_store_n(&data[250], 1, __ATOMIC_SEQ_CST);
	finish(1, 0, 1, 4);
	assert_int_equal(data[251], 8);
	assert_int_equal(card->faults + card->cga_faults + card->killed[1] + card->killed[2], 0);
	assert_false(sm_array_busy(card->array));
}

static void stuck(void **unused)
{
	card->stuck = 1 + 3;
	cga_state(0, C_RING, 64, 8, 1);
	cga_state(1, C_RING, 8, 8, 1);
	assert_int_equal(cga_launch_one(0, 0, 0, 1, ALL), 0);
	assert_int_equal(cga_launch_one(1, 1, 0, 1, ALL), 0);
	finish(1, 1, 0, 8);
	idle();
	assert_int_equal(card->done[0], 0);
	card->stuck = 0;
	sm_array_kill(card->array, 0);
	rig_until(card, 0, 8);
	assert_int_equal(card->killed[0], 1);
	assert_int_equal(sm_array_flush(card->array, 0, 0, ALL), 0);
}

static void completions(void **unused)
{
	unsigned before;

	cga_state(7, C_CLEAR, 12, 6, 1);
	sequence = 3;
	assert_int_equal(cga_send(7, 0, 1, 31, 1, 1 << 2 | 1 << 5), 0);
	assert_int_equal(cga_send(7, TUTTI_LAUNCH_END_OF_CGA, 1, 31, 2, 1 << 5 | 1 << 7), 0);
	while (sm_array_busy(card->array))
		sm_array_run(card->array);
	before = card->events;
	sm_array_report(card->array);
	assert_int_equal(card->done[7], 6);
	for (unsigned i = before, seen[8] = {0}; i < card->events; i++) {
		const struct tutti_event *event = &card->event[i];

		assert_int_equal(event->word[0], TUTTI_EVENT_CGA | 7 << 8 | 1 << 16 | 31u << 24);
		for (uint32_t bits = event->word[3]; bits; bits &= bits - 1)
			seen[__builtin_ctz(bits)] += event->word[1];
		if (i + 1 == card->events) {
			assert_int_equal(seen[2], 1);
			assert_int_equal(seen[5], 3);
			assert_int_equal(seen[7], 2);
		}
	}
}

static void order(void **unused)
{
	static const uint32_t words[] = {7 | 6u << 16, 5 | 4u << 16, 3 | 2u << 16, 1 | 0u << 16};

	sm_array_order(card->array, 0, words, 4);
	cga_state(0, C_IDS, 8, 4, 1);
	assert_int_equal(cga_launch_one(0, 0, 0, 1, 0xf), 0);
	finish(0, 0, 0, 4);
	for (unsigned r = 0; r < 4; r++)
		assert_int_equal(data[8 * r + 7], 7 - r);
	assert_int_equal(card->event[card->events - 1].word[3], 0xf);
}

static void spanning(void **unused)
{
	static const struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = {{8, 1, 1, TUTTI_CGA_GPU}};
	struct tutti_task_state state = rig_state(1, C_IDS, 8, 1);
	uint32_t words[] = {5 | (uint32_t)TUTTI_GPC_NONE << 24, 3, 1 | 1u << 24, 0x00ff};

	sm_array_state(card->array, 0, 0, &state, level, NULL, 0);
	words[3] = 0x003f;
	assert_int_equal(sm_array_launch(card->array, 0, TUTTI_LAUNCH_CGA, words, 4), 0);
	idle();
	assert_int_equal(card->done[0], 0);
	words[3] = 0xc000;
	assert_int_equal(sm_array_launch(card->array, 0, TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA, words, 4), 0);
	rig_until(card, 0, 8);
	for (unsigned c = 0; c < 8; c++) {
		assert_int_equal(data[8 * c], 1ull << 32);
		assert_int_equal(data[8 * c + 4], 3);
		assert_int_equal(data[8 * c + 7], c < 6 ? c : c + 8);
	}
}

static void nested(void **unused)
{
	static const struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = {
		{3, 1, 1, TUTTI_CGA_GPC}, {2, 2, 1, TUTTI_CGA_GPU}};
	struct tutti_task_state state = rig_state(1, C_IDS, 12, 1);

	state.groups_y = 2;
	state.grid_y = 2;
	state.cga_x = 3;
	state.cga_y = state.cga_z = 1;
	sm_array_state(card->array, 0, 0, &state, level, NULL, 0);
	for (unsigned outer = 0; outer < 2; outer++) {
		sequence++;
		for (unsigned i = 0; i < 4; i++) {
			assert_int_equal(card->done[0], 12 * outer);
			assert_int_equal(cga_send(0, i == 3 ? TUTTI_LAUNCH_END_OF_CGA : 0, i % 2, i, 1, 7), 0);
			if (i < 3)
				idle();
		}
		rig_until(card, 0, 12 * (outer + 1));
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(sm_array_flush(card->array, i % 2, i, ALL), 0);
	}
	for (unsigned n = 0; n < 24; n++) {
		unsigned x = n / 12 * 6 + n / 3 % 2 * 3 + n % 3, y = n / 6 % 2;
		const uint64_t *line = &data[8 * (x + 12 * y)];

		assert_int_equal(line[0], n % 3 | 3ull << 32);
		assert_int_equal(line[1], (n / 3 % 4) | (uint64_t)(n / 3 % 2) << 32);
		assert_int_equal(line[2], x | (uint64_t)y << 20);
		assert_int_equal(line[3], x / 3 | (uint64_t)y << 20);
	}
}

static const struct CMUnitTest tests[] = {
	CASE("CGA-19, CGA-21, CGA-23, TSK-15: CTAs know id, rank and coordinates without having been told", identity),
	CASE("CGA-16: several launches make one CGA, which starts as a whole", staged),
	CASE("CGA-16: what would mix CGAs, or start a part of one, is refused", malformed),
	CASE("CGA-16, CGA-19: parts of a nested CGA that would mix are refused", mixed),
	CASE("CGA-24, CGA-25: CTAs write into each other's shared memory between barriers", ring),
	CASE("CGA-25: a wave at a barrier keeps nobody else from running", many_rings),
	CASE_THREADS("CGA-25: a wave at a barrier keeps nobody else from running", many_rings),
	CASE("CGA-25: exited CTAs no longer count; arriving and waiting can be apart", leavers_and_split),
	CASE_THREADS("CGA-25: exited CTAs no longer count; arriving and waiting can be apart", leavers_and_split),
	CASE("CGA-25: who arrives and exits is not counted twice", quitter),
	CASE_THREADS("CGA-25: who arrives and exits is not counted twice", quitter),
	CASE("CGA-25: a CTA without a CGA is a CGA of one", alone),
	CASE("CGA-25: arrivals are all that is waited for, with a CGA and without", arrivals),
	CASE("CGA-25: arriving twice, or waiting without arriving, is an error", misuse),
	CASE("TSK-12, CGA-26: a killed CGA is reported and flushed like any other", killed),
	CASE_THREADS("TSK-12, CGA-26: a killed CGA is reported and flushed like any other", killed),
	CASE("TSK-12, CGA-26: parts of CGAs of any id are killed", killed_parts),
	CASE("TSK-12: a killed task leaves the CGAs of others alone", others_live_on),
	CASE_THREADS("TSK-12: a killed task leaves the CGAs of others alone", others_live_on),
	CASE("SYS-15: a stuck SM keeps its own CGA from ending, no other", stuck),
	CASE_THREADS("SYS-15: a stuck SM keeps its own CGA from ending, no other", stuck),
	CASE("CGA-26: completions name the CGA, SM by SM", completions),
	CASE("CGA-19: masks and completions follow the SM priority order inside a GPC", order),
	CASE("CGA-01, CGA-28: a CGA that spans GPCs starts as a whole, without ranks", spanning),
	CASE("CGA-02, CGA-16: a GPU_CGA of GPC_CGAs: ids of its parts, one start", nested),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}

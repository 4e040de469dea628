// SPDX-License-Identifier: MIT
/* The waves of a CTA, one of which follows the other on the same hart: what the next one finds, and what may come between. */
#include <stdio.h>

#include "sm_rig.h"

/* A wave takes the place of the one that ended before it, and finds nothing of it. */
static void waves_begin_alike(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 1, 2);
	uint64_t *data = rig_prepare(card, 1);
	struct tutti_task_state state = rig_state(1, K_FIRST, 6, 32);
	uint32_t runs = card->array->engine[0].runs;

	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	for (unsigned i = 1; i <= 3; i++) {
		data[1] = 0;
		assert_int_equal(rig_launch(card, 0, 1, 2), 0);
		rig_until(card, 0, 2 * i);
		assert_int_equal(data[0], 0);
		assert_int_equal(data[1], 0xffffffff);
	}
	assert_int_equal(card->counter[TUTTI_COUNTER_WAVES], 6 * 32);
	/* The timer thread sees each wave begin, and does not take many short ones for a long one. */
	assert_in_range(card->array->engine[0].runs - runs, 6 * 32, 6 * 32 + 8);
	rig_destroy(card);
}

/* SYS-12: other parts of the card have their turn between two waves of a CTA, too. */
static void turns_end_within_a_cta(void **unused)
{
	/* 200000 instructions, of the 262144 of a turn */
	static const uint32_t rounds[] = { 0x000182b7, 0x6a028293, 0xfff28293, 0xfe029ee3, 0x00008067 };
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 1, 1);
	struct tutti_task_state state = rig_state(1, 0x800, 1, 8);

	rig_prepare(card, 1);
	memcpy(card->map[0].host + 0x800, rounds, sizeof(rounds));
	rig_launch_one(card, &state, 0);
	for (unsigned turn = 1; turn <= 4; turn++) {
		rig_step(card);
		assert_int_equal(card->counter[TUTTI_COUNTER_WAVES], 2 * turn);
	}
	rig_until(card, 0, 1);
	rig_destroy(card);
}

/* SYS-15: armed while the first wave of a CTA runs, it hits the second one. */
static void injected_between_waves(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 1, 1);
	struct tutti_task_state state;

	rig_prepare(card, 1);
	state = rig_state(1, K_PRINT, 1, 4);
	card->print_traps = 1;
	rig_launch_one(card, &state, 0);
	rig_until_fault(card);
	assert_int_equal(card->fault.word[0] >> 16 & 0xff, TUTTI_CAUSE_ILLEGAL);
	assert_int_equal(card->fault.word[2], CODE + K_PRINT);
	assert_int_equal(card->array->cta[0].started, 1);
	rig_destroy(card);
}

#define CTAS 60u
#define AFTER 16u /* CTAs that start before a wave that has yielded goes on */

/* Compute in which order CTAs end if CTA i yields @yields[i] times: @place[i] is how many CTAs end before it. */
static void order_of(const uint64_t yields[CTAS], uint64_t place[CTAS])
{
	unsigned left[CTAS], waiting[CTAS * 4], first = 0, last = 0, next = 0, started = 0, ended = 0;

	for (unsigned i = 0; i < CTAS; i++)
		left[i] = (unsigned)yields[i];
	while (ended < CTAS) {
		bool resumes = first < last && (started >= AFTER || next == CTAS);
		unsigned cta = resumes ? waiting[first++] : next++;

		started = resumes ? 0 : started + 1;
		if (left[cta]) {
			left[cta]--;
			waiting[last++] = cta;
		} else {
			place[cta] = ended++;
		}
	}
}

/*
 * SYS-12: when 16 more CTAs have started, or all have, the wave that has waited longest since it yielded goes on. No wave is
 * passed over.
 */
static void those_that_give_way(void **unused)
{
	/*
	 *	ld s0, 0(a0); lwu t0, 84(tp); slli t0, t0, 3; add s1, s0, t0; ld s2, 1024(s1)
	 * 1:	beqz s2, 2f; li a7, 4; ecall; addi s2, s2, -1; j 1b
	 * 2:	addi s0, s0, 2040; li t1, 1; amoadd.d t2, t1, (s0); sd t2, 0(s1); ret
	 */
	static const uint32_t gives_way[] = {
		0x00053403, 0x05426283, 0x00329293, 0x005404b3, 0x4004b903, 0x00090a63, 0x00400893, 0x00000073, 0xfff90913,
		0xff1ff06f, 0x7f840413, 0x00100313, 0x006433af, 0x0074b023, 0x00008067,
	};
	uint32_t seed = 1;

	for (unsigned round = 0; round < 30; round++) {
		struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 1, 2);
		uint64_t *data = rig_prepare(card, 1), place[CTAS];
		struct tutti_task_state state = rig_state(1, 0x800, CTAS, 1);

		memcpy(card->map[0].host + 0x800, gives_way, sizeof(gives_way));
		for (unsigned i = 0; i < CTAS; i++) {
			seed = seed * 1664525u + 1013904223u;
			data[128 + i] = (seed >> 24) % (2 + round % 9) ? 0 : seed >> 16 & 3;
		}
		order_of(data + 128, place);
		sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
		assert_int_equal(rig_launch(card, 0, CTAS / 2, 2), 0);
		rig_until(card, 0, CTAS);
		assert_memory_equal(data, place, sizeof(place));
		rig_destroy(card);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waves_begin_alike),
		cmocka_unit_test(turns_end_within_a_cta),
		cmocka_unit_test(injected_between_waves),
		cmocka_unit_test(those_that_give_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

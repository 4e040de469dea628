// SPDX-License-Identifier: MIT
/* Waves on the SM array: services, atomics, faults, isolation, time slices, speed. */
#include <fenv.h>
#include <stdio.h>

#include "sm_rig.h"

static void index_of_every_cta(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 144);
	uint64_t *data = rig_prepare(card, 1);
	struct tutti_task_state state = rig_state(1, K_INDEX, 0, 1);

	state.groups_x = 36;
	state.groups_y = 10;
	state.groups_z = 8;
	sm_array_state(card->array, 2, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 2, 20, 144), 0);
	assert_true(sm_array_busy(card->array));
	rig_until(card, 2, 2880);
	assert_false(sm_array_busy(card->array));
	for (uint64_t i = 0; i < 2880; i++)
		assert_int_equal(data[i], i % 36 | i / 36 % 10 << 20 | i / 360 << 40);
	assert_int_equal(card->counter[TUTTI_COUNTER_WAVES], 2880);
	rig_destroy(card);
}

/* SYS-12: as soon as it is known that a CTA has ended. A worker hands CTAs over while it goes on with others. */
static void waves_are_counted_before_their_ctas_end(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 1);
	struct engine *worker = &card->array->engine[1];
	struct cta cta = { 0 };

	worker->waves = 3;
	worker->flush_tick = card->array->tick - 1; /* it has not handed anything over for a tick */
	engine_ended(worker, &cta);
	assert_int_equal(card->array->handed_count, 1);
	assert_int_equal(card->counter[TUTTI_COUNTER_WAVES], 3);
	cta_list_init(&worker->handed);
	card->array->handed_count = 0;
	rig_destroy(card);
}

/* SYS-12: whoever drives the card learns whether some wave ran, since that takes virtual time. */
static void runs_are_told(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);
	struct tutti_task_state ends = rig_state(1, K_EMPTY, 1, 1), spins = rig_state(1, K_SPIN, 1, 1);

	rig_prepare(card, 1);
	assert_false(sm_array_run(card->array));
	rig_launch_one(card, &ends, 0);
	assert_true(sm_array_run(card->array));
	rig_until(card, 0, 1);
	assert_false(sm_array_run(card->array));
	rig_launch_one(card, &spins, 1);
	for (unsigned i = 0; i < 3; i++)
		assert_true(sm_array_run(card->array));
	rig_destroy(card);
}

static void items_at_the_edge(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 4);
	uint64_t *data = rig_prepare(card, 1);
	struct tutti_task_state state = rig_state(1, K_ITEMS, 10, 4);

	state.grid_x = 1234; /* 9 * 128 + 82 */
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 2, 4), 0);
	assert_int_equal(rig_launch(card, 0, 1, 2), 0);
	rig_until(card, 0, 10);
	assert_int_equal(data[0], 1234);
	rig_destroy(card);
}

static void atomics_are_exact(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 2, 16);
	uint64_t *data = rig_prepare(card, 1);
	struct tutti_task_state state = rig_state(1, K_AMO, 512, 1);

	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 32, 16), 0);
	rig_until(card, 0, 512);
	assert_int_equal(data[0], 512000);
	assert_int_equal(data[1], 512000);
	rig_destroy(card);
}

static void barrier_of_32_waves(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 8);
	uint64_t *data = rig_prepare(card, 1);
	struct tutti_task_state state = rig_state(1, K_BARRIER, 8, 32);

	state.shared_blocks = 1;
	state.shared_bytes = 2048;
	state.barriers = 1;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 8), 0);
	rig_until(card, 0, 8);
	assert_int_equal(data[0], 0);
	assert_int_equal(card->counter[TUTTI_COUNTER_BARRIERS], 8 * 201);
	rig_destroy(card);
}

/* The last wave that others wait for at a barrier arrives or ends, whichever wave it is. */
static void barrier_ignores_ended_waves(void **unused)
{
	for (unsigned waves = 1; waves <= 9; waves++) {
		struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 1);
		struct tutti_task_state state = rig_state(1, K_EARLY, 1, waves);

		rig_prepare(card, 1);
		rig_launch_one(card, &state, 0);
		rig_until(card, 0, 1);
		assert_int_equal(card->counter[TUTTI_COUNTER_BARRIERS], 1);
		rig_destroy(card);
	}
}

/* SYS-07: of three waves one waits at a barrier and one ends; the first still waits for the third, which comes late. */
static void barrier_waits_for_late_waves(void **unused)
{
	/*
	 *	ld s0, 0(a0); lw t0, 28(tp); beqz t0, 3f; li t1, 1; beq t0, t1, 2f
	 *	li s1, 10; 1: li a7, 4; ecall; addi s1, s1, -1; bnez s1, 1b; li t1, 1; sd t1, 8(s0); j 3f
	 * 2:	li s1, 4; 4: li a7, 4; ecall; addi s1, s1, -1; bnez s1, 4b; ret
	 * 3:	li a7, 1; ecall; lw t0, 28(tp); bnez t0, 5f; ld t1, 8(s0); sd t1, 0(s0); 5: ret
	 */
	static const uint32_t late[] = {
		0x00053403, 0x01c22283, 0x04028263, 0x00100313, 0x02628263, 0x00a00493, 0x00400893, 0x00000073, 0xfff48493,
		0xfe049ae3, 0x00100313, 0x00643423, 0x01c0006f, 0x00400493, 0x00400893, 0x00000073, 0xfff48493, 0xfe049ae3,
		0x00008067, 0x00100893, 0x00000073, 0x01c22283, 0x00029663, 0x00843303, 0x00643023, 0x00008067,
	};

	for (unsigned mode = 0; mode < 2; mode++) {
		struct tutti_card *card = rig_create(mode ? TUTTI_CARD_FAST : TUTTI_CARD_DETERMINISTIC, mode, 1);
		uint64_t *data = rig_prepare(card, 1);
		struct tutti_task_state state = rig_state(1, 0x800, 1, 3);

		memcpy(card->map[0].host + 0x800, late, sizeof(late));
		rig_launch_one(card, &state, 0);
		rig_until(card, 0, 1);
		assert_int_equal(data[0], 1); /* what the late wave stored before the barrier */
		assert_int_equal(card->counter[TUTTI_COUNTER_BARRIERS], 1);
		rig_destroy(card);
	}
}

/* @pc exact, @address where known; afterwards the CTA can be killed and the SM is empty. */
static void fault_case(uint32_t entry, uint32_t at, unsigned cause, unsigned access, uint64_t address, uint64_t arg)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 2);
	uint64_t *data = rig_context(card, 1);
	struct tutti_task_state state = rig_state(1, entry, 1, 1);

	rig_map(card, 1, DATA + 0x100000, 4096, TUTTI_PTE_R);
	data[61440 / 8] = arg;
	rig_launch_one(card, &state, 5);
	rig_until_fault(card);
	assert_int_equal(card->fault.word[0] >> 8 & 0xff, 5);
	assert_int_equal(card->fault.word[0] >> 16 & 0xff, cause);
	assert_int_equal(card->fault.word[0] >> 24, access);
	assert_int_equal(card->fault.word[1], 0);
	assert_int_equal(card->fault.word[2] | (uint64_t)card->fault.word[3] << 32, CODE + at);
	if (address)
		assert_int_equal(card->fault.word[4] | (uint64_t)card->fault.word[5] << 32, address);
	assert_int_equal(card->done[5], 0);
	sm_array_kill(card->array, 5);
	sm_array_report(card->array);
	assert_int_equal(card->done[5], 1);
	assert_int_equal(card->killed[5], 1);
	assert_false(sm_array_busy(card->array));
	/* The SM goes on with others. */
	data[61440 / 8] = DATA;
	state = rig_state(1, K_SET, 1, 1);
	rig_launch_one(card, &state, 5);
	rig_until(card, 5, 2);
	assert_int_equal(data[0], 1);
	rig_destroy(card);
}

static void fault_of_load(void **unused)
{
	fault_case(K_LOAD, K_LOAD_AT, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, DATA + 65536, DATA + 65536 - 21 * 8);
}

static void fault_of_store(void **unused)
{
	fault_case(K_STORE, K_STORE_AT, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_WRITE, DATA + 65536, DATA + 65536 - 3 * 8);
}

static void fault_of_read_only(void **unused)
{
	fault_case(K_STORE, K_STORE + 4, TUTTI_CAUSE_PROTECTION, TUTTI_ACCESS_WRITE, DATA + 0x100000, DATA + 0x100000);
}

static void fault_of_jump(void **unused)
{
	fault_case(0x100000, 0x100000, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_EXECUTE, CODE + 0x100000, 0);
	fault_case(DATA - CODE, DATA - CODE, TUTTI_CAUSE_PROTECTION, TUTTI_ACCESS_EXECUTE, DATA, 0);
}

static void fault_of_null(void **unused)
{
	fault_case(K_LOAD, K_LOAD + 4, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, 0, 0);
}

static void fault_of_stack(void **unused)
{
	fault_case(K_STACK, K_STACK_AT, TUTTI_CAUSE_STACK, TUTTI_ACCESS_WRITE, 0, 0);
}

static void fault_of_instruction(void **unused)
{
	fault_case(K_ILLEGAL, K_ILLEGAL_AT, TUTTI_CAUSE_ILLEGAL, TUTTI_ACCESS_EXECUTE, CODE + K_ILLEGAL_AT, 0);
	fault_case(K_BREAK, K_BREAK_AT, TUTTI_CAUSE_BREAK, TUTTI_ACCESS_EXECUTE, CODE + K_BREAK_AT, 0);
	fault_case(K_CSR, K_CSR_AT, TUTTI_CAUSE_ILLEGAL, TUTTI_ACCESS_EXECUTE, CODE + K_CSR_AT, 0);
}

static void fault_of_abort(void **unused)
{
	fault_case(K_ABORT, K_ABORT_AT, TUTTI_CAUSE_ABORT, TUTTI_ACCESS_NONE, 77, 0);
}

static void fault_of_atomic(void **unused)
{
	fault_case(K_MISALIGNED, K_MISALIGNED_AT, TUTTI_CAUSE_ALIGNMENT, TUTTI_ACCESS_ATOMIC, DATA + 2, DATA);
	fault_case(K_AMO, K_AMO + 16, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_ATOMIC, 0x5000, 0x5000);
	fault_case(K_AMO, K_AMO + 16, TUTTI_CAUSE_PROTECTION, TUTTI_ACCESS_ATOMIC, DATA + 0x100000, DATA + 0x100000);
}

static void fault_of_own_information(void **unused)
{
	fault_case(K_INFO, K_INFO_AT, TUTTI_CAUSE_PROTECTION, TUTTI_ACCESS_WRITE, TUTTI_WAVE_INFO, 0);
}

static void floating_point(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 1);
	uint64_t *data = rig_prepare(card, 1);
	struct tutti_task_state state = rig_state(1, K_FLOAT, 1, 1);

	rig_launch_one(card, &state, 0);
	rig_until(card, 0, 1);
	assert_true(*(double *)data == 3.5);
	rig_destroy(card);
}

/* SYS-51: the rounding of the thread that drives the card is not that of its waves, and is as before after them. */
static void rounding_of_the_host(void **unused)
{
	/* out[0] = 1.0 / 3 */
	static const uint32_t third[] = { 0x00053403, 0x00100293, 0xd222f553, 0x00300293, 0xd222f5d3, 0x1ab57553, 0x00a43027,
					  0x00008067 };
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 1);
	uint64_t *data = rig_prepare(card, 1);
	struct tutti_task_state state = rig_state(1, 0x800, 1, 4);

	memcpy(card->map[0].host + 0x800, third, sizeof(third));
	fesetround(FE_UPWARD);
	rig_launch_one(card, &state, 0);
	rig_until(card, 0, 1);
	assert_int_equal(fegetround(), FE_UPWARD);
	fesetround(FE_TONEAREST);
	assert_true(data[0] == 0x3fd5555555555555);
	rig_destroy(card);
}

static void spinning_waves_do_not_block(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 4);
	uint64_t *data = rig_prepare(card, 1);
	struct tutti_task_state spin = rig_state(1, K_SPIN, 8, 1), set = rig_state(1, K_SET, 1, 1);
	uint32_t runs = card->array->engine[0].runs;

	sm_array_state(card->array, 0, 0, &spin, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 2, 4), 0);
	rig_step(card);
	/* Each keeps the engine for a tick at least, and two ticks end the step, however long they take on a busy machine. */
	assert_in_range(card->array->engine[0].runs - runs, 1, 4);
	sm_array_state(card->array, 1, 0, &set, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 1, 1, 4), 0);
	rig_until(card, 1, 4);
	assert_int_equal(data[0], 1);
	for (int i = 0; i < 20; i++)
		rig_step(card);
	assert_int_equal(card->done[0], 0);
	sm_array_kill(card->array, 0);
	sm_array_report(card->array);
	assert_int_equal(card->done[0], 8);
	assert_int_equal(card->killed[0], 1);
	assert_false(sm_array_busy(card->array));
	for (unsigned i = 0; i < card->events; i++) {
		const uint32_t *word = card->event[i].word;

		if ((word[0] & 0xff) == TUTTI_EVENT_KILLED) {
			assert_int_not_equal(word[1], ~0u);
			assert_in_range(word[2], CODE + K_SPIN, CODE + K_SPIN + 4);
		}
	}
	rig_destroy(card);
}

/* On a busy host much time may pass between a wave's choice and its first instruction: no time slice is lost by that. */
static void slow_start_keeps_its_time_slice(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 4);
	struct tutti_task_state spin = rig_state(1, K_SPIN, 8, 1);

	rig_prepare(card, 1);
	rig_launch_one(card, &spin, 0);
	card->slow_start_us = 100000; /* the timer goes to sleep after a fifth of it */
	alarm(60);
	rig_step(card); /* would not come back */
	alarm(0);
	assert_int_equal(card->done[0], 0);
	sm_array_kill(card->array, 0);
	sm_array_report(card->array);
	assert_int_equal(card->done[0], 1);
	rig_destroy(card);
}

static void yielding_wave_sees_later_cta(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 2);
	struct tutti_task_state wait, set;

	rig_prepare(card, 1);
	wait = rig_state(1, K_WAIT, 2, 1);
	set = rig_state(1, K_SET, 1, 1);
	sm_array_state(card->array, 0, 0, &wait, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 2), 0);
	for (int i = 0; i < 5; i++)
		rig_step(card);
	assert_int_equal(card->done[0], 0);
	rig_launch_one(card, &set, 1);
	rig_until(card, 0, 2);
	rig_destroy(card);
}

static void contexts_share_nothing(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 2);
	uint64_t *one = rig_prepare(card, 1), *two = rig_prepare(card, 2);
	struct tutti_task_state state = rig_state(1, K_PEEK, 2, 1);

	state.shared_blocks = 1;
	state.shared_bytes = 2048;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 2), 0);
	rig_until(card, 0, 2);
	state.asid = 2;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 2), 0);
	rig_until(card, 0, 4);
	assert_int_equal(two[0] | two[1], 0);
	assert_int_equal(one[0] | one[1], 0);
	/* Context 1 is destroyed, and another one gets its number. */
	sm_array_invalidate(card->array, 1, 0, 0);
	state.asid = 1;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 2), 0);
	rig_until(card, 0, 6);
	assert_int_equal(one[0] | one[1], 0);
	rig_destroy(card);
}

static void private_memory_is_private(void **unused)
{
	/* 8 SMs * 32 waves on one engine share 32 stack slots, and are more than allocated at first */
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 8);
	uint64_t *data = rig_prepare(card, 1);
	struct tutti_task_state state = rig_state(1, K_PRIVATE, 64, 4);

	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 8, 8), 0);
	rig_until(card, 0, 64);
	assert_int_equal(data[0], 0);
	rig_destroy(card);
}

static void invalidation_is_seen(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 1);
	uint64_t *data = rig_prepare(card, 1);
	struct tutti_task_state state = rig_state(1, K_SET, 1, 1);
	uint8_t *other = calloc(1, 65536);
	uint8_t *code = card->map[0].host;

	rig_launch_one(card, &state, 0);
	rig_until(card, 0, 1);
	assert_int_equal(data[0], 1);
	/* the data moves */
	card->map[1].host = other;
	((uint64_t *)other)[61440 / 8] = DATA;
	sm_array_invalidate(card->array, 1, DATA, 65536);
	rig_launch_one(card, &state, 0);
	rig_until(card, 0, 2);
	assert_int_equal(*(uint64_t *)other, 1);
	/* the code changes: 1 becomes 5 */
	*(uint32_t *)(code + K_SET + 4) = 0x00500293;
	sm_array_invalidate(card->array, 1, CODE, 4096);
	rig_launch_one(card, &state, 0);
	rig_until(card, 0, 3);
	assert_int_equal(*(uint64_t *)other, 5);
	card->map[1].host = (uint8_t *)data;
	free(other);
	rig_destroy(card);
}

/* Code of waves that are running changes, on the driving thread and on a worker: "j k_spin" becomes "ret". */
static void invalidation_of_running_code(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 4);
	struct tutti_task_state spin = rig_state(1, K_SPIN, 8, 1);

	rig_prepare(card, 1);
	sm_array_state(card->array, 0, 0, &spin, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 2, 4), 0);
	for (int i = 0; i < 10; i++)
		rig_step(card);
	assert_int_equal(card->done[0], 0);
	*(uint32_t *)(card->map[0].host + K_SPIN + 4) = 0x00008067;
	sm_array_invalidate(card->array, 1, CODE, 4096);
	rig_until(card, 0, 8);
	rig_destroy(card);
}

static void print_whole_or_lost(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 1);
	uint64_t *data = rig_prepare(card, 1);
	struct tutti_print_ring *ring = (struct tutti_print_ring *)(data + 1024);
	struct tutti_task_state state = rig_state(1, K_PRINT, 1, 1);

	ring->bytes = 16;
	memcpy((char *)(data + 61440 / 8) + 8, "hello\n", 6);
	/* k_print reads its text behind kernarg */
	card->print_va = DATA + 8192;
	for (unsigned i = 1; i <= 3; i++) {
		rig_launch_one(card, &state, 0);
		rig_until(card, 0, i);
		assert_int_equal((int64_t)data[0], i < 3 ? 0 : -TUTTI_ENOSPC);
	}
	assert_int_equal(ring->head, 12);
	assert_int_equal(ring->ready, 12);
	assert_int_equal(ring->lost, 6);
	ring->tail = 12;
	rig_launch_one(card, &state, 0);
	rig_until(card, 0, 4);
	assert_memory_equal((char *)(ring + 1), "o\nllo\nhello\nhell", 16);
	assert_int_equal(ring->head, 18);
	rig_destroy(card);
}

static void injected_faults(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 3);
	struct tutti_task_state state;

	rig_prepare(card, 1);
	state = rig_state(1, K_EMPTY, 3, 1);
	card->traps = 1;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 3), 0);
	rig_until(card, 0, 2);
	assert_int_equal(card->faults, 1);
	sm_array_kill(card->array, 0);
	rig_until(card, 0, 3);
	card->stuck = 2; /* SM 1 */
	assert_int_equal(rig_launch(card, 0, 1, 3), 0);
	rig_until(card, 0, 5);
	for (int i = 0; i < 5; i++)
		rig_step(card);
	assert_int_equal(card->done[0], 5);
	sm_array_kill(card->array, 0);
	rig_until(card, 0, 6);
	rig_destroy(card);
}

static void many_contexts(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 2);
	uint64_t *data[21];

	for (unsigned a = 1; a <= 20; a++)
		data[a] = rig_prepare(card, a);
	for (unsigned a = 1; a <= 20; a++) {
		struct tutti_task_state state = rig_state(a, K_AMO, 2, 1);

		sm_array_state(card->array, a, 0, &state, NULL, NULL, 0);
		assert_int_equal(rig_launch(card, a, 1, 2), 0);
	}
	for (unsigned a = 1; a <= 20; a++) {
		rig_until(card, a, 2);
		assert_int_equal(data[a][0], 2000);
	}
	rig_destroy(card);
}

/* Barriers, yields, slices: all counters and the order of events must repeat. */
static uint64_t deterministic_run(void)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 8);
	uint64_t hash = 14695981039346656037ull;
	struct tutti_task_state state;

	rig_prepare(card, 1);
	state = rig_state(1, K_BARRIER, 8, 16);
	state.shared_blocks = 1;
	state.shared_bytes = 2048;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 8), 0);
	state = rig_state(1, K_SPIN, 8, 1);
	sm_array_state(card->array, 1, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 1, 1, 8), 0);
	state = rig_state(1, K_AMO, 64, 1);
	sm_array_state(card->array, 2, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 2, 8, 8), 0);
	for (int i = 0; i < 60; i++)
		rig_step(card);
	assert_int_equal(card->done[0], 8);
	assert_int_equal(card->done[2], 64);
	sm_array_kill(card->array, 1);
	sm_array_report(card->array);
	for (unsigned i = 0; i < card->events; i++)
		for (unsigned k = 0; k < 8; k++)
			hash = (hash ^ card->event[i].word[k]) * 1099511628211ull;
	for (unsigned i = 0; i < TUTTI_COUNTERS; i++)
		hash = (hash ^ card->counter[i]) * 1099511628211ull;
	rig_destroy(card);
	return hash;
}

static void deterministic_twice(void **unused)
{
	uint64_t first = deterministic_run();

	assert_int_equal(deterministic_run(), first);
}

/* No test: prints costs, as TAP comments. */
static void speed(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_FAST, 1, 144);
	struct tutti_task_state state;
	double start = 0;
	unsigned before;

	rig_prepare(card, 1);
	state = rig_state(1, K_EMPTY, 144 * 32, 1);
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	for (unsigned round = 0; round < 20; round++) {
		if (round == 1)
			start = rig_ns();
		assert_int_equal(rig_launch(card, 0, 32, 144), 0);
		rig_until(card, 0, 144 * 32 * (round + 1));
	}
	printf("# empty CTA: %.0f ns (many at once)\n", (rig_ns() - start) / (19 * 144 * 32));
	start = rig_ns();
	before = card->done[0];
	for (unsigned i = 0; i < 100000; i++) {
		sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
		rig_launch(card, 0, 1, 1);
		rig_step(card);
	}
	assert_int_equal(card->done[0] - before, 100000);
	printf("# kernel of one empty CTA: %.0f ns (state, launch, run, report)\n", (rig_ns() - start) / 100000);
	state = rig_state(1, K_AMO, 32, 1);
	sm_array_state(card->array, 1, 0, &state, NULL, NULL, 0);
	start = rig_ns();
	rig_launch(card, 1, 32, 1);
	rig_until(card, 1, 32);
	printf("# atomic: %.0f ns (of amoadd + lr + sc)\n", (rig_ns() - start) / 32000 / 3);
	state = rig_state(1, K_BARRIER, 8, 32);
	state.shared_blocks = 1;
	state.shared_bytes = 2048;
	sm_array_state(card->array, 2, 0, &state, NULL, NULL, 0);
	for (unsigned round = 0; round < 3; round++) {
		start = rig_ns();
		rig_launch(card, 2, 1, 8);
		rig_until(card, 2, 8 * (round + 1));
	}
	printf("# barrier: %.0f ns for each of 32 waves\n", (rig_ns() - start) / (8 * 201 * 32));
	rig_destroy(card);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(index_of_every_cta),
		cmocka_unit_test(waves_are_counted_before_their_ctas_end),
		cmocka_unit_test(runs_are_told),
		cmocka_unit_test(items_at_the_edge),
		cmocka_unit_test(atomics_are_exact),
		cmocka_unit_test(barrier_of_32_waves),
		cmocka_unit_test(barrier_ignores_ended_waves),
		cmocka_unit_test(barrier_waits_for_late_waves),
		cmocka_unit_test(fault_of_load),
		cmocka_unit_test(fault_of_store),
		cmocka_unit_test(fault_of_read_only),
		cmocka_unit_test(fault_of_jump),
		cmocka_unit_test(fault_of_null),
		cmocka_unit_test(fault_of_stack),
		cmocka_unit_test(fault_of_instruction),
		cmocka_unit_test(fault_of_abort),
		cmocka_unit_test(fault_of_atomic),
		cmocka_unit_test(fault_of_own_information),
		cmocka_unit_test(floating_point),
		cmocka_unit_test(rounding_of_the_host),
		cmocka_unit_test(spinning_waves_do_not_block),
		cmocka_unit_test(slow_start_keeps_its_time_slice),
		cmocka_unit_test(yielding_wave_sees_later_cta),
		cmocka_unit_test(contexts_share_nothing),
		cmocka_unit_test(private_memory_is_private),
		cmocka_unit_test(invalidation_is_seen),
		cmocka_unit_test(invalidation_of_running_code),
		cmocka_unit_test(print_whole_or_lost),
		cmocka_unit_test(injected_faults),
		cmocka_unit_test(many_contexts),
		cmocka_unit_test(deterministic_twice),
		cmocka_unit_test(speed),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

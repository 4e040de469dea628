// SPDX-License-Identifier: MIT
/*
 * How many contexts an engine keeps a processor and memory for, and which of them make room for others; which stacks of
 * waves a context keeps.
 */
#include "sm_rig.h"
#include "emulator/hart/hart.h"
#include "emulator/hart/stack.h"
#include "tutti/wave.h"

static void run_context(struct tutti_card *card, unsigned asid, unsigned done)
{
	struct tutti_task_state state = rig_state(asid, K_EMPTY, 1, 1);

	rig_launch_one(card, &state, asid);
	rig_until(card, asid, done);
}

/* An engine keeps eight contexts. The one that has not run for longest makes room, unless waves of it are there. */
static void contexts_make_room(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);
	struct hart **harts = card->array->engine[0].hart;
	struct tutti_task_state wait = rig_state(1, K_WAIT, 1, 1);
	uint64_t *data = rig_prepare(card, 1);

	for (unsigned a = 2; a <= 12; a++)
		rig_prepare(card, a);
	rig_launch_one(card, &wait, 1);
	rig_step(card);
	for (unsigned a = 2; a <= 8; a++)
		run_context(card, a, 1);
	for (unsigned a = 1; a <= 8; a++)
		assert_non_null(harts[a]);
	run_context(card, 2, 2);
	for (unsigned a = 9; a <= 12; a++) { /* 3 to 6 go, as 1 runs and 2 has run again */
		run_context(card, a, 1);
		for (unsigned b = 1; b <= 12; b++)
			assert_int_equal(!!harts[b], b <= a && (b < 3 || b > a - 6));
		assert_int_equal(card->array->engine[0].hart_count, 8);
	}
	data[0] = 1;
	rig_until(card, 1, 1);
	rig_destroy(card);
}

/* Each live wave has an information block of its own, at a multiple of 256 bytes in the window that waves can read. */
static void blocks_of_waves(void **unused)
{
	enum { SMS = 128, WAVES = 32 * SMS };
	static bool seen[WAVES];
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, SMS);
	struct tutti_task_state wait = rig_state(1, K_WAIT, WAVES, 1);
	uint64_t *data = rig_prepare(card, 1);
	struct cpu_span span;
	struct hart *hart;
	unsigned n = 0;

	sm_array_state(card->array, 0, 0, &wait, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 32, SMS), 0);
	for (unsigned i = 0; i < 10; i++)
		rig_step(card);
	hart = card->array->engine[0].hart[1];
	for (unsigned i = 0; i < SMS * 32; i++) {
		const struct cta *cta = &card->array->cta[i];
		uint64_t at;
		struct mmu_fault fault;
		uint8_t block[sizeof(struct tutti_wave_info)];

		if (!cta->used || !cta->live)
			continue;
		at = (cta->live->info_va - TUTTI_WAVE_INFO) / 256;
		assert_int_equal(cta->live->info_va % 256, 0);
		assert_true(at < sizeof(seen) && !seen[at]);
		seen[at] = true;
		assert_ptr_equal(cta->live->info, (uint8_t *)hart->infos + 256 * at);
		assert_true(cta->live->regs.x[4] == cta->live->info_va);
		hart->current = cta->live;
		assert_true(hart_copy_in(hart, block, cta->live->info_va, sizeof(block), &fault));
		assert_int_equal(cta->live->info->cta_linear, cta->at.index);
		n++;
	}
	assert_int_equal(n, WAVES);
	assert_false(hart_code(hart, TUTTI_WAVE_INFO, &span));
	data[0] = 1;
	rig_until(card, 0, WAVES);
	rig_destroy(card);
}

/*
 * When a context is gone, the engine frees what it keeps for it, but not while one of its waves is running: the wave goes
 * on.
 */
static void contexts_that_go(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);
	struct tutti_task_state wait = rig_state(1, K_WAIT, 1, 1);
	struct hart **harts = card->array->engine[0].hart;
	uint64_t *data = rig_prepare(card, 1);

	rig_launch_one(card, &wait, 0);
	for (unsigned i = 0; i < 5; i++)
		rig_step(card);
	sm_array_invalidate(card->array, 1, 0, 0);
	assert_non_null(harts[1]);
	for (unsigned i = 0; i < 5; i++)
		rig_step(card);
	data[0] = 1;
	rig_until(card, 0, 1);
	sm_array_invalidate(card->array, 1, DATA, 4096); /* only a part of the context has changed */
	assert_non_null(harts[1]);
	sm_array_invalidate(card->array, 1, 0, 0);
	assert_null(harts[1]);
	assert_int_equal(card->array->engine[0].hart_count, 0);
	rig_destroy(card);
}

/*
 * A CTA that is being started keeps its context even while no wave of it is there, since its next ones find the CTA's shared
 * memory in it. The first CTA's instructions put the end of the run between two waves of the second one.
 */
static void contexts_of_begun_ctas(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 2);
	struct tutti_task_state state = rig_state(1, K_AMO, 2, 32);
	struct engine *engine = &card->array->engine[0];
	uint64_t *data = rig_prepare(card, 1);

	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 2), 0);
	rig_step(card);
	assert_non_null(engine->starting);
	assert_in_range(engine->starting->started, 1, 31);
	assert_int_equal(engine->hart[1]->live, 0);
	sm_array_invalidate(card->array, 1, 0, 0);
	assert_non_null(engine->hart[1]);
	rig_until(card, 0, 2);
	assert_int_equal(data[0], 2 * 32 * 1000);
	sm_array_invalidate(card->array, 1, 0, 0);
	assert_null(engine->hart[1]);
	rig_destroy(card);
}

/* Stacks have twice the size from class to class; a wave gets the smallest that is large enough. */
static void stack_sizes(void **unused)
{
	static const struct {
		uint32_t bytes;
		unsigned class;
	} rows[] = {{0, 0},	     {1, 0},	   {4096, 0},	      {4097, 1},	 {8192, 1},	   {8193, 2},
		    {256 << 10, 6}, {(256 << 10) + 1, 7}, {64 << 20, 14}, {(64 << 20) + 1, 14}, {~0u, 14}};
	struct stack_pool pool = {0};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(stack_class(rows[i].bytes), rows[i].class);
	for (unsigned class = 0; class < 8; class++) {
		struct stack *stack = stack_take(&pool, class);

		assert_int_equal(stack->bytes, 4096u << class);
		/* away from those of other classes, and with a gap below it that no other stack fills */
		assert_true(stack->va == TUTTI_WAVE_PRIVATE + ((uint64_t)class << 32) + stack->bytes);
		for (unsigned i = 0; i < stack->bytes; i++)
			assert_int_equal(stack->host[i], 0);
		assert_true(stack_give(&pool, stack));
		assert_ptr_equal(stack_take(&pool, class), stack);
		assert_true(stack_give(&pool, stack));
	}
	stack_pool_empty(&pool);
}

/* 64 stacks of each class are kept; memory that more waves needed at once goes back to the host. */
static void stacks_kept(void **unused)
{
	struct stack_pool pool = {0};
	struct stack *stacks[2][70];

	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 140; i++)
			stacks[i % 2][i / 2] = stack_take(&pool, i % 2 ? 3 : 0);
		for (unsigned i = 0; i < 140; i++)
			assert_int_equal(stack_give(&pool, stacks[i % 2][i / 2]), i / 2 < 64);
	}
	for (unsigned i = 0; i < 10; i++)
		stacks[0][i] = stack_take(&pool, 0);
	for (unsigned i = 0; i < 10; i++)
		assert_true(stack_give(&pool, stacks[0][i]));
	stacks[1][0] = stack_take(&pool, 1); /* one that was never needed before */
	assert_true(stack_give(&pool, stacks[1][0]));
	stack_pool_empty(&pool);
	for (unsigned c = 0; c < STACK_CLASSES; c++) {
		assert_null(pool.free[c]);
		assert_int_equal(pool.kept[c], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"SYS-12: which contexts an engine keeps", contexts_make_room, NULL, NULL, NULL},
		{"TSK-15: information blocks of waves", blocks_of_waves, NULL, NULL, NULL},
		{"SYS-52: contexts that are gone", contexts_that_go, NULL, NULL, NULL},
		{"SYS-52: contexts of CTAs that are being started", contexts_of_begun_ctas, NULL, NULL, NULL},
		{"SYS-52: sizes and places of stacks", stack_sizes, NULL, NULL, NULL},
		{"SYS-12: how many stacks are kept", stacks_kept, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SM: contexts", tests, NULL, NULL);
}

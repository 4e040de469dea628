// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* SM-to-SM access: sizes, atomics, errors by source and target, exit order, reuse of ids, linear memory. */
#include <stdio.h>

#include "lock_check.h"
#include "sm_cga_rig.h"

#define DSMEM(rank, offset) (TUTTI_WAVE_DSMEM + ((uint64_t)(rank) << 24) + (offset))

static void atomics(void **unused)
{
	cga_state(0, C_AMO, 8, 8, 4);
	for (unsigned round = 0; round < 5; round++) {
		/* one launch before it clears the words: same SMs, same segments */
		cga_state(1, C_CLEAR, 8, 8, 1);
		assert_int_equal(cga_launch_one(1, 0, 0, 1, ALL), 0);
		finish(1, 0, 0, 8 * (round + 1));
		cga_state(0, C_AMO, 8, 8, 4);
		assert_int_equal(cga_launch_one(0, 0, 0, 1, ALL), 0);
		finish(0, 0, 0, 8 * (round + 1));
		for (unsigned c = 0; c < 8; c++) {
			assert_int_equal(data[8 * c], 8 * 4 * 100);
			assert_int_equal(data[8 * c + 1], 8 * 4 * 100);
		}
	}
}

static void sizes(void **unused)
{
	const uint64_t v = 0x8182838485868788ull;
	uint64_t want = 0;

	want += (uint64_t)(int8_t)v + (uint8_t)v + (uint64_t)(int16_t)v + (uint16_t)v;
	want += (uint64_t)(int32_t)v + (uint32_t)v + v + (uint64_t)(int32_t)v + v;
	cga_state(0, C_SIZES, 4, 4, 1);
	assert_int_equal(cga_launch_one(0, 1, 5, 2, 0x81), 0);
	finish(0, 1, 5, 4);
	for (unsigned c = 0; c < 4; c++)
		assert_int_equal(data[8 * c], want);
}

/*
 * In the memory of its neighbour each rank fills a word with ones, stores 0 into a part of it and looks at the
 * whole, in all sizes; then it stores a word and looks at parts of that. What it sees goes to out + 64 * cta_linear.
 *
 *	ld s0, 0(a0); lwu t6, 84(tp); slli t6, t6, 6; add s0, s0, t6; lwu s1, 100(tp); xori s1, s1, 1
 *	li s2, 0x803000000000; slli t6, s1, 24; add s2, s2, t6; li t1, -1
 *	sd t1, 0(s2); sb zero, 3(s2); ld t2, 0(s2); sd t2, 0(s0)
 *	sd t1, 0(s2); sh zero, 2(s2); ld t2, 0(s2); sd t2, 8(s0)
 *	sd t1, 0(s2); sw zero, 2(s2); ld t2, 0(s2); sd t2, 16(s0); li t0, 0x8182838485868788; sd t0, 0(s2)
 *	lbu t2, 3(s2); sd t2, 24(s0); lhu t2, 3(s2); sd t2, 32(s0); lwu t2, 3(s2); sd t2, 40(s0)
 *	lb t2, 3(s2); sd t2, 48(s0); lh t2, 3(s2); sd t2, 56(s0); li a7, 32; ecall; ret
 */
static const uint32_t parts_kernel[] = {
	0x00053403, 0x05426f83, 0x006f9f93, 0x01f40433, 0x06426483, 0x0014c493, 0x00001937, 0x8039091b, 0x02491913,
	0x01849f93, 0x01f90933, 0xfff00313, 0x00693023, 0x000901a3, 0x00093383, 0x00743023, 0x00693023, 0x00091123,
	0x00093383, 0x00743423, 0x00693023, 0x00092123, 0x00093383, 0x00743823, 0xff0302b7, 0x5072829b, 0x00c29293,
	0x09128293, 0x00c29293, 0xb0d28293, 0x00f29293, 0x78828293, 0x00593023, 0x00394383, 0x00743c23, 0x00395383,
	0x02743023, 0x00396383, 0x02743423, 0x00390383, 0x02743823, 0x00391383, 0x02743c23, 0x02000893, 0x00000073,
	0x00008067,
};

/* An access touches its own bytes and no others. */
static void parts(void **unused)
{
	static const uint64_t want[] = {0xffffffff00ffffff, 0xffffffff0000ffff, 0xffff00000000ffff, 0x85,
					0x8485, 0x82838485, 0xffffffffffffff85, 0xffffffffffff8485};

	memcpy(card->map[0].host + 0xc00, parts_kernel, sizeof(parts_kernel));
	cga_state(0, 0xc00, 4, 4, 1);
	assert_int_equal(cga_launch_one(0, 1, 5, 2, 0x81), 0);
	finish(0, 1, 5, 4);
	for (unsigned c = 0; c < 4; c++)
		assert_memory_equal(&data[8 * c], want, sizeof(want));
}

/* A CGA of two whose rank 0 accesses @va; the rank 1 waits at the barrier. */
static void touch(uint32_t entry, uint64_t va)
{
	cga_state(0, entry, 2, 2, 1);
	PARAMETER(data) = va;
	assert_int_equal(cga_launch_one(0, 1, 9, 1, 0x12), 0);
}

/* Errors that the accessing SM finds: reported with wave, pc and address. */
static void source_finds(uint32_t entry, uint32_t pc, unsigned access, uint64_t va, unsigned cause)
{
	touch(entry, va);
	rig_until_fault(card);
	assert_int_equal(card->fault.word[0] >> 16, cause | access << 8);
	assert_int_equal(card->fault.word[1] & 0xffff, 9);
	assert_int_equal(card->fault.word[2] | (uint64_t)card->fault.word[3] << 32, CODE + pc);
	assert_int_equal(card->fault.word[4] | (uint64_t)card->fault.word[5] << 32, va);
	assert_int_equal(card->cga_faults, 0);
	card->faults = 0;
	sm_array_kill(card->array, 0);
	sm_array_report(card->array);
	assert_int_equal(sm_array_flush(card->array, 1, 9, ALL), 0);
}

static void source_errors(void **unused)
{
	static const struct {
		uint64_t va;
		unsigned cause;
	} bad[] = {
		{DSMEM(2, 0), TUTTI_CAUSE_CGA_RANK}, {DSMEM(16, 8), TUTTI_CAUSE_CGA_RANK},
		{DSMEM(255, 8), TUTTI_CAUSE_CGA_RANK}, {DSMEM(256, 8), TUTTI_CAUSE_CGA_RANK},
		{DSMEM(1, 0x800000), TUTTI_CAUSE_CGA_OFFSET}, {DSMEM(1, 0xfffff8), TUTTI_CAUSE_CGA_OFFSET},
		{TUTTI_WAVE_LMEM, TUTTI_CAUSE_UNMAPPED}, {TUTTI_WAVE_LMEM + 0x100000000ull, TUTTI_CAUSE_UNMAPPED},
		{0xffffffffffffff00ull, TUTTI_CAUSE_UNMAPPED},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		source_finds(C_LOAD, C_LOAD_AT, TUTTI_ACCESS_READ, bad[i].va, bad[i].cause);
		source_finds(C_STORE, C_STORE_AT, TUTTI_ACCESS_WRITE, bad[i].va, bad[i].cause);
	}
}

/* Errors that the accessed SM finds: there is no pc, the wave continues with zeros, and one report is enough. */
static void past_the_segment(void **unused)
{
	static const uint32_t offset[] = {2000, 1996, 2048, 65536};

	for (unsigned i = 0; i < sizeof(offset) / sizeof(*offset); i++) {
		unsigned before = card->events;

		touch(C_LOAD, DSMEM(1, offset[i]));
		data[0] = 0;
		finish(0, 1, 9, 2 * (i + 1));
		assert_int_equal(data[0], 1);
		assert_int_equal(card->cga_faults, i + 1);
		assert_int_equal(card->cga_fault.word[0],
				 TUTTI_EVENT_CGA_FAULT | 1 << 8 | 9 << 16 | TUTTI_CAUSE_CGA_SEGMENT << 24);
		assert_int_equal(card->cga_fault.word[1], 12);
		assert_int_equal(card->cga_fault.word[2], 1 | offset[i] << 8);
		/* before the CGA's completions, or it could not be attributed */
		assert_int_equal(card->event[before].word[0] & 0xff, TUTTI_EVENT_CGA_FAULT);
	}
	touch(C_LOAD, DSMEM(1, 1992)); /* the last word */
	finish(0, 1, 9, 10);
	assert_int_equal(card->cga_faults, 4);
}

static void exited(void **unused)
{
	cga_state(0, C_EXITED, 4, 4, 2);
	assert_int_equal(cga_launch_one(0, 0, 3, 1, 0xf), 0);
	rig_until(card, 0, 3);
	/* Order of exit: three CTAs have ended and their resources are free; the id is not. */
	assert_int_equal(card->array->sm[1].cta_slots, 32);
	assert_int_equal(sm_array_flush(card->array, 0, 3, ALL), -EINVAL);
	data[1] = 1;
	finish(0, 0, 3, 4);
	assert_int_equal(data[0], 1);
	assert_int_equal(card->cga_faults, 1);
	assert_int_equal(card->cga_fault.word[0], TUTTI_EVENT_CGA_FAULT | 3 << 16 | TUTTI_CAUSE_CGA_EXITED << 24);
	assert_int_equal(card->cga_fault.word[1], 1);
	assert_int_equal(card->cga_fault.word[2], 1);
}

/* The place of an ended CTA is taken by one of another CGA, which must not be affected. */
static void exited_and_replaced(void **unused)
{
	cga_state(0, C_EXITED, 2, 2, 1);
	assert_int_equal(cga_launch_one(0, 0, 3, 1, 3), 0);
	rig_until(card, 0, 1);
	cga_state(1, C_STAY, 2, 2, 1);
	assert_int_equal(cga_launch_one(1, 0, 4, 1, 3), 0);
	for (unsigned i = 0; i < 20; i++)
		rig_step(card);
	/* same segment: first fit on an SM that was empty */
	data[1] = 1;
	finish(0, 0, 3, 2);
	assert_int_equal(card->cga_faults, 1);
	assert_int_equal(card->done[1], 0);
	data[7] = 1;
	finish(1, 0, 4, 2);
	for (unsigned e = 0; e < card->array->engines; e++)
		for (struct hart *hart = card->array->engine[e].harts; hart; hart = hart->next)
			assert_int_not_equal(*(uint64_t *)(hart->shared + card->array->shared_stride), 7);
}

static void ids_are_not_reused_early(void **unused)
{
	cga_state(0, C_RING, 64, 4, 1);
	assert_int_equal(cga_launch_one(0, 0, 3, 1, 0x33), 0);
	rig_until(card, 0, 4);
	/* flushed in two parts: free after the second */
	assert_int_equal(sm_array_flush(card->array, 0, 3, 0x03), 0);
	assert_true(card->array->cga[3].used);
	assert_int_equal(sm_array_flush(card->array, 0, 3, 0xf0), 0);
	assert_false(card->array->cga[3].used);
	assert_int_equal(cga_launch_one(0, 0, 5, 1, 0x0f), 0);
	rig_until(card, 0, 8);
	assert_int_equal(sm_array_flush(card->array, 0, 5, 0xfe), 0); /* SM 0 is no different */
	assert_true(card->array->cga[5].used);
	assert_int_equal(sm_array_flush(card->array, 0, 5, 0x01), 0);
	assert_false(card->array->cga[5].used);
	assert_int_equal(cga_launch_one(0, 0, 3, 1, 0x0f), 0);
	rig_until(card, 0, 12);
	assert_int_equal(sm_array_flush(card->array, 0, 3, 0x07), 0);
	assert_int_equal(cga_launch_one(0, 0, 3, 1, 0x0f), -EINVAL);
}

/* A CGA that was killed before it began takes nothing from those that run on its SMs. */
static void killed_before_its_start(void **unused)
{
	cga_state(0, C_EXITED, 4, 4, 1);
	assert_int_equal(cga_launch_one(0, 0, 3, 1, 0xf), 0);
	rig_until(card, 0, 3);
	cga_state(1, C_STAY, 4, 4, 1);
	sequence++;
	assert_int_equal(cga_send(1, 0, 0, 4, 1, 0x7), 0);
	sm_array_kill(card->array, 1);
	finish(1, 0, 4, 3);
	cga_state(2, C_STAY, 4, 4, 1);
	assert_int_equal(cga_launch_one(2, 0, 5, 1, 0xf), 0);
	idle();
	data[1] = 1; /* rank 0 now reaches for rank 1, which has exited, and for nobody else */
	finish(0, 0, 3, 4);
	assert_int_equal(card->cga_faults, 1);
	assert_int_equal(card->cga_fault.word[0], TUTTI_EVENT_CGA_FAULT | 3 << 16 | TUTTI_CAUSE_CGA_EXITED << 24);
	data[7] = 1;
	finish(2, 0, 5, 4);
}

/* So it is with the waves in the upper half of the largest SM's wave slots. */
static void many_wave_slots(void **unused)
{
	card = calloc(1, sizeof(*card));
	card->config.mode = TUTTI_CARD_DETERMINISTIC;
	card->limits = (struct tutti_discovery){.sms = 4, .task_slots = 32, .peus = 8, .peu_waves = 16,
						.scalar_blocks = 32, .vector_blocks = 32, .shared_blocks = 64,
						.shared_block_bytes = 2048, .barriers = 16, .cta_slots = 32};
	rig_gpcs(&card->limits);
	assert_int_equal(sm_array_create(card, &card->array), 0);
	memcpy(rig_map(card, 1, CODE, 4096, RX), sm_cga_kernels, sizeof(sm_cga_kernels));
	data = rig_map(card, 1, DATA, 65536, RW);
	data[61440 / 8] = DATA;
	for (unsigned round = 0; round < 2; round++) {
		cga_state(0, C_RING, 12, 12, 40); /* three CTAs of 40 waves on each SM */
		memset(data, 0, 8192);
		assert_int_equal(cga_launch_one(0, 0, 5 + round, 3, 0xf), 0);
		rig_until(card, 0, 12 * (round + 1));
		assert_int_equal(sm_array_flush(card->array, 0, 5 + round, 0xf), 0);
		for (unsigned c = 0; c < 12; c++)
			assert_int_equal(data[8 * c], 0);
		assert_int_equal(card->cga_faults + card->faults, 0);
		for (unsigned sm = 0; sm < 4; sm++)
			for (unsigned i = 0; i < 128; i++)
				assert_int_equal(card->array->sm_cga[sm].bl_table[i], CGA_NO_SLOT);
	}
	teardown(NULL);
}

static unsigned routes_of(unsigned sm)
{
	const uint64_t *busy = card->array->sm_cga[sm].busy;
	unsigned n = 0;

	for (unsigned i = 0; i < 4; i++)
		n += (unsigned)__builtin_popcountll(busy[i]);
	return n;
}

/* An SM can be part of 256 CGAs at once, the most there can be. Each has a route of its own there until it is flushed. */
static void many_ids(void **unused)
{
	rig_ids = 256;
	setup(NULL);
	rig_ids = 0;
	cga_state(0, C_RING, 512, 2, 1);
	for (unsigned id = 0; id < 256; id++) {
		assert_int_equal(cga_launch_one(0, 0, id, 1, 3), 0);
		rig_until(card, 0, 2 * (id + 1));
		assert_int_equal(routes_of(0), id + 1);
		assert_int_equal(routes_of(1), id + 1);
	}
	for (unsigned id = 256; id--;) {
		assert_int_equal(sm_array_flush(card->array, 0, id, ALL), 0);
		assert_int_equal(routes_of(0), id);
	}
	assert_int_equal(card->cga_faults + card->faults, 0);
	teardown(NULL);
}

/* A killed CGA leaves nothing in its SMs' tables and does not keep its context: there are more rounds than room. */
static void killed_ones_leave(void **unused)
{
	for (unsigned round = 0; round < 40; round++) {
		cga_state(0, C_STAY, 4, 4, 1);
		assert_int_equal(cga_launch_one(0, 0, 3, 1, 0xf), 0);
		for (unsigned i = 0; i < round % 3; i++) /* before it begins, and while it runs */
			rig_step(card);
		sm_array_kill(card->array, 0);
		finish(0, 0, 3, 4 * (round + 1));
	}
	for (unsigned sm = 0; sm < SMS; sm++)
		for (unsigned i = 0; i < 32; i++)
			assert_int_equal(card->array->sm_cga[sm].entry[i].key, 0);
	assert_int_equal(card->array->engine[0].harts->live, 0);
}

/* A CTA without a CGA takes the wave slots that one of a CGA had. */
static void alone_after_a_cga(void **unused)
{
	for (unsigned round = 0; round < 2; round++) {
		cga_state(0, C_RING, 8, 8, 2);
		assert_int_equal(cga_launch_one(0, 0, round, 1, ALL), 0);
		finish(0, 0, round, 8 * (round + 1));
		cga_state(1, C_LOAD, 1, 0, 1);
		PARAMETER(data) = DSMEM(1, 8);
		assert_int_equal(rig_launch(card, 1, 1, 1), 0);
		card->faults = 0;
		rig_until_fault(card);
		assert_int_equal(card->fault.word[0] >> 16 & 0xff, TUTTI_CAUSE_CGA_RANK);
		sm_array_kill(card->array, 1);
		rig_until(card, 1, round + 1);
	}
}

/* A reset frees all ids and table entries. There are more rounds than ids. */
static void reset_while_they_run(void **unused)
{
	for (unsigned round = 0; round < 40; round++) {
		cga_state(0, C_STAY, 32, 4, 1);
		for (unsigned id = 0; id < 8; id++)
			assert_int_equal(cga_launch_one(0, 0, id, 1, id & 1 ? 0xf0 : 0x0f), 0);
		for (unsigned i = 0; i < 5; i++)
			rig_step(card);
		sm_array_reset(card->array);
		assert_false(sm_array_busy(card->array));
		for (unsigned sm = 0; sm < SMS; sm++)
			assert_int_equal(routes_of(sm), 0);
	}
	memset(data, 0, 4096);
	card->done[0] = 0;
	cga_state(0, C_RING, 32, 4, 1);
	for (unsigned id = 0; id < 8; id++)
		assert_int_equal(cga_launch_one(0, 0, id, 1, id & 1 ? 0xf0 : 0x0f), 0);
	rig_until(card, 0, 32);
	for (unsigned c = 0; c < 32; c++)
		assert_int_equal(data[8 * c], 0);
}

/* Where the shared memory of another CTA is, as movers ask for it. */
static void shared_of_ranks(void **unused)
{
	struct cta *first = NULL;
	struct sm_shared shared, own;

	cga_state(0, C_EXITED, 8, 4, 1);
	assert_int_equal(cga_launch_one(0, 1, 9, 1, 0x0f), 0);
	for (unsigned i = 0; i < 16 * 32; i++)
		if (card->array->cta[i].used && !card->array->cta[i].at.rank)
			first = &card->array->cta[i];
	assert_non_null(first);
	assert_int_equal(sm_array_shared(card->array, first->number, 0, &shared), TUTTI_CAUSE_SERVICE); /* it does not run yet */
	assert_int_equal(sm_array_shared(card->array, 16 * 32, 0, &shared), TUTTI_CAUSE_SERVICE);
	rig_until(card, 0, 3); /* all but rank 0 have exited */
	assert_int_equal(sm_array_shared(card->array, first->number, SM_SELF, &own), 0);
	assert_int_equal(own.bytes, 2048);
	assert_int_equal(sm_array_shared(card->array, first->number, 0, &shared), 0);
	assert_ptr_equal(shared.base, own.base);
	for (unsigned rank = 1; rank < 6; rank++)
		assert_int_equal(sm_array_shared(card->array, first->number, rank, &shared), TUTTI_CAUSE_CGA_EXITED);
	sm_array_reset(card->array);
	/* all ranks wait, that of the asking CTA included */
	cga_state(1, C_STAY, 4, 4, 1);
	assert_int_equal(cga_launch_one(1, 0, 3, 2, 0x81), 0);
	idle();
	for (unsigned i = 0; i < 16 * 32; i++) {
		const struct cta *cta = &card->array->cta[i];

		if (!cta->used)
			continue;
		for (unsigned rank = 0; rank < 4; rank++) {
			assert_int_equal(sm_array_shared(card->array, i, rank, &shared), 0);
			assert_int_equal(shared.bytes, 2048);
			assert_int_equal((uint64_t)(shared.base - cta->hart->shared),
					 (rank & 1 ? 7 : 0) * card->array->shared_stride + rank / 2 * 2048);
		}
		assert_int_equal(sm_array_shared(card->array, i, 4, &shared), TUTTI_CAUSE_CGA_EXITED);
		assert_int_equal(sm_array_shared(card->array, i, 1000, &shared), TUTTI_CAUSE_CGA_EXITED);
		assert_int_equal(sm_array_shared(card->array, i, SM_SELF, &own), 0);
		assert_int_equal(sm_array_shared(card->array, i, cta->at.rank, &shared), 0);
		assert_ptr_equal(own.base, shared.base);
	}
	sm_array_reset(card->array);
	/* without a CGA there is no rank but 0 */
	cga_state(2, C_STAY, 4, 0, 1);
	assert_int_equal(rig_launch(card, 2, 1, 1), 0);
	idle();
	for (unsigned i = 0; i < 16 * 32; i++)
		if (card->array->cta[i].used) {
			assert_int_equal(sm_array_shared(card->array, i, 0, &shared), 0);
			assert_int_equal(sm_array_shared(card->array, i, 1, &shared), TUTTI_CAUSE_CGA_EXITED);
		}
}

static void flush_of_nothing(void **unused)
{
	assert_int_equal(sm_array_flush(card->array, 0, 3, ALL), 0);
	assert_int_equal(sm_array_flush(card->array, 0, 32, ALL), -EINVAL);
	assert_int_equal(sm_array_flush(card->array, 2, 0, ALL), -EINVAL);
	assert_int_equal(sm_array_flush(card->array, 2, 0, 0), -EINVAL);
	assert_int_equal(sm_array_flush(card->array, 0, 32, 0), -EINVAL);
	assert_int_equal(sm_array_flush(card->array, 1, 31, 0), 0);
	assert_int_equal(sm_array_flush(card->array, 0, 0, 0x100), -EINVAL);
	assert_int_equal(sm_array_flush_lmem(card->array, 8), -EINVAL);
}

static void errors_of_the_gone(void **unused)
{
	touch(C_LOAD, DSMEM(1, 2000));
	for (unsigned i = 0; i < 50 && !card->array->faulted_cgas; i++)
		sm_array_run(card->array);
	assert_non_null(card->array->faulted_cgas);
	card->full = true; /* it cannot be told yet ... */
	assert_false(sm_array_report(card->array));
	sm_array_kill(card->array, 0);
	card->full = false; /* ... and now there is nobody to tell it of */
	rig_until(card, 0, 2);
	assert_int_equal(sm_array_flush(card->array, 1, 9, ALL), 0);
	assert_int_equal(card->cga_faults, 0);
	/* the next CGA with this id has errors of its own */
	touch(C_LOAD, DSMEM(1, 2000));
	finish(0, 1, 9, 4);
	assert_int_equal(card->cga_faults, 1);
}

/* Ids are used and freed at random on both GPCs: no CGA is ever disturbed, and all tables are empty in the end. */
static void reuse_at_random(void **unused)
{
	struct { bool used; unsigned slot; } id[2][8] = {0};
	unsigned done[32] = {0}, seed = 1, open = 0;

	for (unsigned step = 0; step < 400; step++) {
		unsigned g = (seed = seed * 1103515245u + 12345) >> 16 & 1, i = seed >> 18 & 7, slot = g * 8 + i;

		if (!id[g][i].used && open < 8) {
			cga_state(slot, C_RING, 4, 4, 1);
			id[g][i].used = true;
			open++;
			assert_int_equal(cga_launch_one(slot, g, i, 1 + (seed >> 22 & 1), seed >> 22 & 1 ? 0x11 << (seed >> 24 & 3)
										: 0x0f << (seed >> 24 & 3)), 0);
		} else if (id[g][i].used) {
			finish(slot, g, i, done[slot] += 4);
			id[g][i].used = false;
			open--;
		}
	}
	for (unsigned slot = 0; slot < 16; slot++)
		if (id[slot / 8][slot % 8].used)
			finish(slot, slot / 8, slot % 8, done[slot] + 4);
	for (unsigned c = 0; c < 4; c++)
		assert_int_equal(data[8 * c], 0);
	assert_int_equal(card->cga_faults + card->faults, 0);
	for (unsigned sm = 0; sm < SMS; sm++) {
		const struct sm_cga *tables = &card->array->sm_cga[sm];

		assert_int_equal(tables->busy[0], 0);
		for (unsigned i = 0; i < 32; i++)
			assert_int_equal(tables->entry[i].key, 0);
		for (unsigned i = 0; i < 32; i++)
			assert_int_equal(tables->bl_table[i], CGA_NO_SLOT);
	}
}

static void linear_memory(void **unused)
{
	for (unsigned round = 0; round < 3; round++) {
		cga_state(0, C_LMEM, 8, 4, 1);
		for (unsigned i = 0; i < 2; i++) {
			uint32_t words[4] = {++sequence | i << 24, i ? 7 : 2, 1 | 1u << 24, 0xf};

			PARAMETER(data) = 100 + i;
			assert_int_equal(sm_array_launch(card->array, 0, TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA,
							 words, 4), 0);
			rig_until(card, 0, 8 * round + 4 * (i + 1));
			assert_int_equal(sm_array_flush(card->array, i, 0, ALL), 0);
			for (unsigned c = 0; c < 4; c++)
				assert_int_equal(data[8 * (4 * i + c)], 100 + i);
		}
		assert_int_equal(sm_array_flush_lmem(card->array, 2), 0);
		assert_int_equal(sm_array_flush_lmem(card->array, 7), 0);
	}
}

static void speed(void **unused)
{
	unsigned n = 1000000;
	double start;

	cga_state(0, C_BENCH, 16, 16, 1);
	PARAMETER(data) = n;
	start = rig_ns();
	assert_int_equal(cga_launch_one(0, 0, 0, 2, ALL), 0);
	finish(0, 0, 0, 16);
	printf("# DSMEM: %.0f ns a load\n", (rig_ns() - start) / n);
}

static const struct CMUnitTest tests[] = {
	CASE("CGA-24: atomics and LR/SC in another CTA's shared memory are exact", atomics),
	CASE_THREADS("CGA-24: atomics and LR/SC in another CTA's shared memory are exact", atomics),
	CASE("CGA-24: loads and stores of every size, misaligned and floating point", sizes),
	CASE("CGA-24: loads and stores of parts of a word", parts),
	CASE("CGA-27: what the source can detect carries wave, pc and address", source_errors),
	CASE_THREADS("CGA-27: what the source can detect carries wave, pc and address", source_errors),
	CASE("CGA-27: past the end of a segment: found by the target, told once, before completions", past_the_segment),
	CASE("CGA-26, CGA-27: an exited CTA is out of reach, its resources free, its id not", exited),
	CASE_THREADS("CGA-26, CGA-27: an exited CTA is out of reach, its resources free, its id not", exited),
	CASE("CGA-26: who gets an exited CTA's memory is not reached by its CGA", exited_and_replaced),
	CASE("CGA-26: an id is free when every SM has been flushed", ids_are_not_reused_early),
	CASE("CGA-26, TSK-12: a CGA that is killed before it begins leaves others alone", killed_before_its_start),
	CASE("CGA-26, TSK-12: killed CGAs leave nothing behind", killed_ones_leave),
	CASE("CGA-26: flushes of what does not exist", flush_of_nothing),
	{"CGA-26: 256 CGAs in one SM", many_ids, NULL, NULL, NULL},
	{"CGA-24: CGAs on SMs of 128 wave slots", many_wave_slots, NULL, NULL, NULL},
	CASE("CGA-24: a CTA without a CGA reaches nobody, whoever was there before", alone_after_a_cga),
	CASE("CGA-26: a reset frees all ids", reset_while_they_run),
	CASE_THREADS("CGA-26: a reset frees all ids", reset_while_they_run),
	CASE("CGA-24, TMA-25: where movers find the shared memory of another rank", shared_of_ranks),
	CASE("CGA-27: an error for a CGA that is gone is dropped", errors_of_the_gone),
	CASE("CGA-26: ids come and go, no ring is disturbed, all tables are empty in the end", reuse_at_random),
	CASE_THREADS("CGA-26: ids come and go, no ring is disturbed, all tables are empty in the end", reuse_at_random),
	CASE("CGA-28: linear memory: one CGA's, empty at its start", linear_memory),
	CASE("CGA-24: speed", speed),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}

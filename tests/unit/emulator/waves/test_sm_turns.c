// SPDX-License-Identifier: MIT
/*
 * Nobody keeps others from their turn: neither waves that meet at a barrier without end, nor a grid of CTAs each of which
 * takes less than a time slice.
 */
#include "sm_rig.h"
#include "tutti/tensor.h"

/*
 *	meet: ld s0, 0(a0); 1: li a7, 1; ecall; ld t0, 8(s0); beqz t0, 1b; li a7, 0; ecall: barriers until out[1] is set
 *	wait: li a0, 0; li a1, 0; li a7, 33; ecall; li a7, 0; ecall: waits for phase 0 of the mbarrier at 0
 *	work: lui t0, 4; 1: addi t0, t0, -1; bnez t0, 1b; li a7, 0; ecall: 16384 rounds
 */
static const uint32_t kernel[] = {
    0x00053403, 0x00100893, 0x00000073, 0x00843283, 0xfe028ae3, 0x00000893, 0x00000073,
    0x00000513, 0x00000593, 0x02100893, 0x00000073, 0x00000893, 0x00000073,
    0x000042b7, 0xfff28293, 0xfe029ee3, 0x00000893, 0x00000073,
};
#define MEET 0x800u
#define WAIT (MEET + 0x1cu)
#define WORK (WAIT + 0x18u)
#define SMS  4u
#define CTAS 64u

enum { SLOT_MEET, SLOT_SET, SLOT_YIELD, SLOT_WAIT };

static struct tutti_card *card;
static uint64_t *data;

static int setup_mode(enum tutti_card_mode mode)
{
	card = rig_create(mode, 1, SMS);
	data = rig_prepare(card, 1);
	memcpy(rig_find(card, 1, CODE)->host + MEET, kernel, sizeof(kernel));
	return 0;
}

static int setup(void **state)
{
	return setup_mode(TUTTI_CARD_DETERMINISTIC);
}

static int setup_threads(void **state)
{
	return setup_mode(TUTTI_CARD_FAST);
}

static int teardown(void **state)
{
	rig_destroy(card);
	return 0;
}

static void launch(unsigned slot, uint32_t entry, unsigned waves)
{
	struct tutti_task_state state = rig_state(1, entry, 1, waves);

	state.shared_bytes = 64;
	state.shared_blocks = 1;
	rig_launch_one(card, &state, slot);
	for (unsigned i = 0; i < 5; i++)
		rig_step(card);
}

/* End the waits for the mbarrier of the CTA in SLOT_WAIT. */
static void end_phase(void)
{
	struct sm_shared shared;

	for (unsigned i = 0; i < SMS * 32; i++)
		if (card->array->cta[i].used && card->array->cta[i].slot == SLOT_WAIT &&
		    !sm_array_shared(card->array, i, SM_SELF, &shared))
			__atomic_store_n((uint64_t *)shared.base, 1ull << TUTTI_MBARRIER_PHASE_SHIFT, __ATOMIC_SEQ_CST);
}

/* The waves in SLOT_MEET still meet, and end when they are told to. */
static void end_meeting(void)
{
	assert_int_equal(card->done[SLOT_MEET], 0);
	data[1] = 1;
	rig_until(card, SLOT_MEET, 1);
}

/* Waves that yield, wait for memory, or have not started all get on while two others meet at a barrier all the time. */
static void barriers_without_end(void **state)
{
	launch(SLOT_YIELD, K_WAIT, 1);
	launch(SLOT_WAIT, WAIT, 1);
	launch(SLOT_MEET, MEET, 2);
	assert_int_equal(card->done[SLOT_YIELD] + card->done[SLOT_WAIT], 0);
	launch(SLOT_SET, K_SET, 1);
	end_phase();
	rig_until(card, SLOT_SET, 1);
	rig_until(card, SLOT_YIELD, 1);
	rig_until(card, SLOT_WAIT, 1);
	end_meeting();
}

/* All waves of a CTA that comes later start, and end. */
static void barriers_keep_no_wave_from_starting(void **state)
{
	launch(SLOT_MEET, MEET, 2);
	launch(SLOT_SET, K_PRIVATE, 16);
	rig_until(card, SLOT_SET, 1);
	end_meeting();
}

/* CTAs that the driving thread cannot start in its time go to the worker, though none of them takes a whole time slice. */
static void short_ctas_are_shared(void **state)
{
	struct tutti_task_state work = rig_state(1, WORK, CTAS, 1);
	unsigned rounds = 0;

	sm_array_state(card->array, 0, 0, &work, NULL, NULL, 0);
	while (!card->array->engine[1].hart[1] && rounds < 20) {
		assert_int_equal(rig_launch(card, 0, CTAS / SMS, SMS), 0);
		rig_until(card, 0, CTAS * ++rounds);
	}
	assert_non_null(card->array->engine[1].hart[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-12: waves that meet without end keep nobody waiting", barriers_without_end, setup, teardown, NULL},
	    {"SYS-12: waves that meet without end keep nobody waiting (threads)", barriers_without_end, setup_threads,
	     teardown, NULL},
	    {"SYS-12: waves that meet without end keep no CTA from starting", barriers_keep_no_wave_from_starting, setup,
	     teardown, NULL},
	    {"SYS-12: a worker helps with CTAs that are shorter than a time slice", short_ctas_are_shared, setup_threads,
	     teardown, NULL},
	};

	return cmocka_run_group_tests_name("SM: turns", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The SM array's rig with CGAs: two GPCs, one context with the kernels of sm_cga_kernels.S. */
#ifndef TUTTI_TEST_SM_CGA_RIG_H
#define TUTTI_TEST_SM_CGA_RIG_H

#include "sm_rig.h"
#include "sm_cga_kernels.h"

#define SMS 16u /* two GPCs of 8 */
#define ALL 0xffu
#define PARAMETER(data) ((data)[61440 / 8 + 1])

static struct tutti_card *card;
static uint64_t *data; /* line of CTA i at data[8 * i] */
static uint32_t sequence;

static inline int setup_mode(enum tutti_card_mode mode, unsigned workers)
{
	card = rig_create(mode, workers, SMS);
	memcpy(rig_map(card, 1, CODE, 4096, RX), sm_cga_kernels, sizeof(sm_cga_kernels));
	data = rig_map(card, 1, DATA, 65536, RW);
	data[61440 / 8] = DATA;
	return 0;
}

static inline int setup(void **mode)
{
	return setup_mode(TUTTI_CARD_DETERMINISTIC, 0);
}

static inline int setup_threads(void **mode)
{
	return setup_mode(TUTTI_CARD_FAST, 3);
}

static inline int teardown(void **unused)
{
	rig_destroy(card);
	return 0;
}

/* Grid of @ctas in a row, in CGAs of @size, in task slot @slot. */
static inline void cga_state(unsigned slot, uint32_t entry, uint32_t ctas, uint32_t size, uint32_t waves)
{
	struct tutti_task_state state = rig_state(1, entry, ctas, waves);

	state.shared_bytes = 2000;
	state.shared_blocks = 1;
	state.cga_x = (uint16_t)size;
	state.cga_y = state.cga_z = 1;
	sm_array_state(card->array, slot, 0, &state, NULL, NULL, 0);
}

static inline int cga_send(unsigned slot, unsigned flags, unsigned gpc, unsigned id, unsigned repeat, uint32_t mask)
{
	uint32_t words[4] = {(sequence & 0xffff) | id << 16 | gpc << 24, ~0u, repeat | 1u << 24, mask};

	return sm_array_launch(card->array, slot, TUTTI_LAUNCH_CGA | flags, words, 4);
}

/* A whole CGA: @repeat CTAs on each SM of @mask. */
static inline int cga_launch_one(unsigned slot, unsigned gpc, unsigned id, unsigned repeat, uint32_t mask)
{
	sequence++;
	return cga_send(slot, TUTTI_LAUNCH_END_OF_CGA, gpc, id, repeat, mask);
}

static inline void finish(unsigned slot, unsigned gpc, unsigned id, unsigned done)
{
	rig_until(card, slot, done);
	assert_int_equal(sm_array_flush(card->array, gpc, id, ALL), 0);
}

/* A test of the deterministic card, and of one with three workers. */
#define CASE(name, fn) {name, fn, setup, teardown, NULL}
#define CASE_THREADS(name, fn) {name " (threads)", fn, setup_threads, teardown, NULL}

/* Run for a while, to see that nothing happens. */
static inline void idle(void)
{
	time_t end = time(NULL) + 10;

	for (unsigned i = 0; i < 200 && time(NULL) < end; i++)
		rig_step(card);
}

#endif

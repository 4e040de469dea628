/* SPDX-License-Identifier: MIT */
/**
 * DOC: What each SM has free and has done (spec RES-01, RES-03, RES-12 .. RES-14)
 *
 * A table of one entry per SM, by SM number. The hardware writes it. The firmware
 * reads it at TUTTI_CORE_SMS; from TUTTI_CMD_SM_MODE with TUTTI_SM_TABLE on it is kept
 * current: an entry is true as soon as all commands written have been taken;
 * completions the firmware has not heard of yet only make an SM freer. The host
 * has a copy in the control window (discovery: sm_states), made when
 * TUTTI_SM_UPDATE says so, which is what TUTTI_MSG_COUNTERS does.
 *
 * Maps of class-1 resources. A map of n blocks has W words, W = the smallest of 1,
 * 2, 4, 8 with 32 W >= n. Block b is bit b / W of word b % W, 1 = free: neighbours
 * lie in neighbouring words, so a map is shifted by one block almost for nothing,
 * which the search for runs lives on. Blocks that do not exist read as occupied.
 */
#ifndef TUTTI_SM_STATE_H
#define TUTTI_SM_STATE_H

#include "types.h"

#define TUTTI_SM_PEUS 8u      /* most PEUs of an SM */
#define TUTTI_BLOCK_WORDS 8u  /* words of the largest map */

/** tutti_map_words() - W of a map of @blocks. */
static inline unsigned tutti_map_words(unsigned blocks)
{
	return blocks > 128 ? 8 : blocks > 64 ? 4 : blocks > 32 ? 2 : 1;
}

/**
 * enum tutti_class - instruction classes that are counted. One count per instruction of a wave.
 * A card without a matrix unit counts multiplications as matrices of one element.
 */
enum tutti_class {
	TUTTI_CLASS_MOVE = 0,     /* register to register, constants */
	TUTTI_CLASS_LOAD = 1,
	TUTTI_CLASS_STORE = 2,    /* atomics too */
	TUTTI_CLASS_MATRIX32 = 3, /* matrix, 32-bit elements */
	TUTTI_CLASS_MATRIX64 = 4, /* matrix, 64-bit elements */
	TUTTI_CLASS_COMPARE = 5,
	TUTTI_CLASS_JUMP = 6,     /* branches, taken or not */
	TUTTI_CLASS_OTHER = 7,    /* arithmetic and the rest */
	TUTTI_CLASSES = 8
};

/** enum tutti_resource - what a CTA takes of an SM. */
enum tutti_resource {
	TUTTI_RESOURCE_WAVES = 0,
	TUTTI_RESOURCE_SCALAR = 1, /* class-1 blocks of a PEU */
	TUTTI_RESOURCE_VECTOR = 2,
	TUTTI_RESOURCE_SHARED = 3, /* class-1 blocks of the SM */
	TUTTI_RESOURCE_BARRIERS = 4,
	TUTTI_RESOURCE_CTAS = 5,
	TUTTI_RESOURCES = 6
};

/** struct tutti_peu_state - one sub-core of an SM. */
struct tutti_peu_state {
	uint32_t scalar[TUTTI_BLOCK_WORDS];
	uint32_t vector[TUTTI_BLOCK_WORDS];
	uint16_t free_waves;
	uint16_t scalar_free; /* bits set in @scalar */
	uint16_t vector_free;
	uint16_t pad0;
};
TUTTI_SIZE(struct tutti_peu_state, 72);
TUTTI_AT(struct tutti_peu_state, scalar, 0);
TUTTI_AT(struct tutti_peu_state, vector, 32);
TUTTI_AT(struct tutti_peu_state, free_waves, 64);
TUTTI_AT(struct tutti_peu_state, scalar_free, 66);
TUTTI_AT(struct tutti_peu_state, vector_free, 68);
TUTTI_AT(struct tutti_peu_state, pad0, 70);

/**
 * struct tutti_sm_state - one SM.
 * @energy: picojoules since reset, 0 on a card without TUTTI_FEATURE_ENERGY, as @instructions
 * @split: PEU that got the last wave of the rotated split (spec RES-12)
 */
struct tutti_sm_state {
	uint32_t cta_slots;   /* free */
	uint32_t barriers;    /* free */
	uint32_t shared_free; /* bits set in @shared */
	uint32_t split;
	uint32_t shared[TUTTI_BLOCK_WORDS];
	uint64_t ctas;        /* ever started */
	uint64_t waves;
	uint64_t energy;
	uint64_t instructions[TUTTI_CLASSES];
	struct tutti_peu_state peu[TUTTI_SM_PEUS];
	uint32_t shared_blocks; /* it has now: another number than the card's while throttled (spec TSK-07) */
	uint32_t recent[TUTTI_CLASSES]; /* instructions of the last window of SM_MODE (spec RES-14) */
	/* from here on in the host's copy only; masks of task slots, the first 32 (spec TSK-05, TSK-16) */
	uint32_t state_sync;    /* sent to the SM and not acknowledged: their CTAs wait */
	uint64_t completed;     /* CTAs ever completed */
	uint64_t states;        /* task states ever sent to it */
	uint64_t throttles;     /* times its shared memory was divided anew (spec TSK-07) */
	uint32_t task_assign;   /* tasks that have CTAs on it, started or waiting for the state */
	uint32_t cta_launch;    /* the SM holds their state and takes their CTAs */
	uint32_t pad0[60];
};
TUTTI_SIZE(struct tutti_sm_state, 1024);
TUTTI_AT(struct tutti_sm_state, cta_slots, 0);
TUTTI_AT(struct tutti_sm_state, barriers, 4);
TUTTI_AT(struct tutti_sm_state, shared_free, 8);
TUTTI_AT(struct tutti_sm_state, split, 12);
TUTTI_AT(struct tutti_sm_state, shared, 16);
TUTTI_AT(struct tutti_sm_state, ctas, 48);
TUTTI_AT(struct tutti_sm_state, waves, 56);
TUTTI_AT(struct tutti_sm_state, energy, 64);
TUTTI_AT(struct tutti_sm_state, instructions, 72);
TUTTI_AT(struct tutti_sm_state, peu, 136);
TUTTI_AT(struct tutti_sm_state, shared_blocks, 712);
TUTTI_AT(struct tutti_sm_state, recent, 716);
TUTTI_AT(struct tutti_sm_state, state_sync, 748);
TUTTI_AT(struct tutti_sm_state, completed, 752);
TUTTI_AT(struct tutti_sm_state, states, 760);
TUTTI_AT(struct tutti_sm_state, throttles, 768);
TUTTI_AT(struct tutti_sm_state, task_assign, 776);
TUTTI_AT(struct tutti_sm_state, cta_launch, 780);
TUTTI_AT(struct tutti_sm_state, pad0, 784);

#endif

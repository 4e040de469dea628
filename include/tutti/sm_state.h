/* SPDX-License-Identifier: MIT */
/**
 * DOC: What each SM has free and what it has done (spec RES-01, RES-03, RES-12 .. RES-14)
 *
 * A table with one entry for each SM, by number. The hardware writes it, and the firmware
 * reads it at TUTTI_CORE_SMS. From a TUTTI_CMD_SM_MODE with TUTTI_SM_TABLE on it is kept
 * current: an entry is true when all commands have been taken; CTAs that have
 * completed meanwhile, of which the firmware has not heard yet, only make an SM freer. The
 * host has a copy in the control window (tutti_discovery.sm_states), which is made when
 * the firmware asks for it (TUTTI_SM_UPDATE), as it does for TUTTI_MSG_COUNTERS; before the first
 * time it may hold anything.
 *
 * Maps. Registers and shared memory are given out in runs of blocks, and a map has a bit for
 * each block, 1 = free. A map of n blocks has W words, W being the smallest of 1, 2, 4 and
 * 8 with 32 W >= n. Block b is bit b / W of word b % W: blocks that follow each other lie in
 * words that follow each other, which makes it cheap to shift a map by one block, and
 * that is how runs are searched. Blocks that do not exist are not free.
 */
#ifndef TUTTI_SM_STATE_H
#define TUTTI_SM_STATE_H

#include "types.h"

#define TUTTI_SM_PEUS 8u      /* most PEUs (sub-cores) of an SM */
#define TUTTI_BLOCK_WORDS 8u  /* words of the largest map */

/** tutti_map_words() - words (W) of a map of @blocks blocks. */
static inline unsigned tutti_map_words(unsigned blocks)
{
	return blocks > 128 ? 8 : blocks > 64 ? 4 : blocks > 32 ? 2 : 1;
}

/**
 * enum tutti_class - classes of instructions, counted once for each instruction of a wave.
 *
 * A card without a matrix unit counts multiplications as matrices of one element.
 */
enum tutti_class {
	TUTTI_CLASS_MOVE = 0,     /* from register to register, and constants */
	TUTTI_CLASS_LOAD = 1,
	TUTTI_CLASS_STORE = 2,    /* and atomics */
	TUTTI_CLASS_MATRIX32 = 3, /* matrices of 32-bit elements */
	TUTTI_CLASS_MATRIX64 = 4, /* matrices of 64-bit elements */
	TUTTI_CLASS_COMPARE = 5,
	TUTTI_CLASS_JUMP = 6,     /* branches, taken or not */
	TUTTI_CLASS_OTHER = 7,    /* other arithmetic and the rest */
	TUTTI_CLASSES = 8
};

/** enum tutti_resource - what a CTA takes of an SM. */
enum tutti_resource {
	TUTTI_RESOURCE_WAVES = 0,    /* wave slots of PEUs */
	TUTTI_RESOURCE_SCALAR = 1,   /* blocks of scalar registers of PEUs */
	TUTTI_RESOURCE_VECTOR = 2,   /* blocks of vector registers of PEUs */
	TUTTI_RESOURCE_SHARED = 3,   /* blocks of shared memory of the SM */
	TUTTI_RESOURCE_BARRIERS = 4, /* workgroup barriers of the SM */
	TUTTI_RESOURCE_CTAS = 5,     /* CTA slots of the SM */
	TUTTI_RESOURCES = 6
};

/** struct tutti_peu_state - one PEU (sub-core) of an SM. */
struct tutti_peu_state {
	uint32_t scalar[TUTTI_BLOCK_WORDS]; /* map of its scalar registers */
	uint32_t vector[TUTTI_BLOCK_WORDS]; /* map of its vector registers */
	uint16_t free_waves;  /* free wave slots */
	uint16_t scalar_free; /* bits set in @scalar */
	uint16_t vector_free; /* bits set in @vector */
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
 * struct tutti_sm_state - one SM. Numbers count from boot on.
 * @cta_slots: free CTA slots
 * @barriers: free workgroup barriers
 * @shared_free: bits set in @shared
 * @split: PEU that got the last wave of the rotated split (spec RES-12)
 * @shared: map of its shared memory
 * @ctas: CTAs ever started
 * @waves: waves ever started
 * @energy: picojoules; 0 on a card without TUTTI_FEATURE_ENERGY
 * @instructions: instructions executed of each class; 0 without TUTTI_FEATURE_ENERGY
 * @peu: its PEUs
 * @shared_blocks: blocks of shared memory it has now, which is another number than the card's while throttled (spec
 *	TSK-07)
 * @recent: instructions of each class executed in the last window of SM_MODE (spec RES-14)
 * @state_sync: mask of the first 32 task slots whose state was sent to the SM and not acknowledged: their CTAs wait
 * @completed: CTAs ever completed
 * @states: task states ever sent to it
 * @throttles: how often its shared memory was divided anew (spec TSK-07)
 * @task_assign: mask of the first 32 task slots that have CTAs on it, whether they run or wait for the state
 * @cta_launch: mask of the first 32 task slots whose state it holds, so that it takes their CTAs
 *
 * From @state_sync on fields are filled in the host's copy only (spec TSK-05, TSK-16).
 */
struct tutti_sm_state {
	uint32_t cta_slots;
	uint32_t barriers;
	uint32_t shared_free;
	uint32_t split;
	uint32_t shared[TUTTI_BLOCK_WORDS];
	uint64_t ctas;
	uint64_t waves;
	uint64_t energy;
	uint64_t instructions[TUTTI_CLASSES];
	struct tutti_peu_state peu[TUTTI_SM_PEUS];
	uint32_t shared_blocks;
	uint32_t recent[TUTTI_CLASSES];
	uint32_t state_sync;
	uint64_t completed;
	uint64_t states;
	uint64_t throttles;
	uint32_t task_assign;
	uint32_t cta_launch;
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

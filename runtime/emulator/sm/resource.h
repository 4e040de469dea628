/* SPDX-License-Identifier: MIT */
/** DOC: The resources of an SM, and how CTAs take them (spec RES-03, RES-05) */
#ifndef TUTTI_EMULATOR_SM_RESOURCE_H
#define TUTTI_EMULATOR_SM_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "tutti/contract.h"
#include "tutti/sm_state.h"

struct cta;

#define SM_PEUS 8u
#define SM_WAVES 128u /* the most wave slots of an SM */
#define SM_BLOCK_WORDS 4u
#define SM_SLOTS 256u
#define SM_HISTORY 8u /* parts of the window of recent instructions */

/** struct blocks - a class-1 resource, which is given out in runs of blocks; a set bit is a free block. */
struct blocks {
	uint64_t free[SM_BLOCK_WORDS];
};

/** struct wave_slot - a wave slot of an SM, if a wave has taken it. */
struct wave_slot {
	uint16_t number, peu;
	uint16_t scalar, vector; /* first blocks of its registers */
};

/** struct peu - what is free on a sub-core of an SM. */
struct peu {
	uint32_t free_waves;
	struct blocks scalar, vector;
};

/** struct sm - what is free on an SM, and what it has done. */
struct sm {
	uint32_t cta_slots, barriers; /* how many are free */
	uint32_t shared_blocks; /* free or not; THROTTLE changes their number, see launch/throttle.c */
	struct blocks shared;
	uint64_t busy[SM_WAVES / 64];
	struct peu peu[SM_PEUS];
	struct wave_slot *wave;
	uint32_t split;   /* with @rotate, the PEU that the last wave went to */
	bool rotate;      /* waves go to PEUs in rotation */
	uint32_t touched; /* atomic: the table of SM states may be stale */
	uint32_t factor;  /* by which its energy differs from that of other SMs */
	uint64_t ctas, waves; /* started so far */
	uint64_t completed, states, throttles; /* states leaves out those that were sent to all SMs */
	uint64_t resource_energy;
	uint64_t instructions[TUTTI_CLASSES]; /* atomic */
	struct { uint64_t piece; uint32_t count[TUTTI_CLASSES]; } history[SM_HISTORY]; /* under energy_lock */
};

void sm_init(struct sm *sm, const struct tutti_discovery *limits);
/** sm_take() - reserve everything that @cta needs. Return: false if it does not fit; nothing is taken then. */
bool sm_take(struct sm *sm, const struct tutti_discovery *limits, struct cta *cta);
void sm_give(struct sm *sm, const struct cta *cta);
/** sm_wave_slot() - the wave slot of wave @number of @cta. */
unsigned sm_wave_slot(const struct sm *sm, const struct cta *cta, unsigned number);
/** blocks_take() - take the lowest run of @need free blocks. Return: its first block, or -1 if there is none. */
int blocks_take(struct blocks *blocks, unsigned need);
void blocks_give(struct blocks *blocks, unsigned first, unsigned need);
void blocks_init(struct blocks *blocks, unsigned n);

#endif

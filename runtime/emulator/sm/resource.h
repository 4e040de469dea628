/* SPDX-License-Identifier: MIT */
/** DOC: What an SM has, and what a CTA takes of it (spec RES-03, RES-05) */
#ifndef TUTTI_EMULATOR_SM_RESOURCE_H
#define TUTTI_EMULATOR_SM_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "tutti/contract.h"
#include "tutti/sm_state.h"

struct cta;

#define SM_PEUS 8u
#define SM_WAVES 128u /* wave slots of an SM */
#define SM_BLOCK_WORDS 4u
#define SM_SLOTS 256u
#define SM_HISTORY 8u /* pieces of the window of recent instructions */

/** struct blocks - class-1 resource: bit set = block free. */
struct blocks {
	uint64_t free[SM_BLOCK_WORDS];
};

/** struct wave_slot - a place for a wave on an SM. */
struct wave_slot {
	uint32_t cta; /* number in the pool, ~0 = free */
	uint16_t number;
	uint16_t scalar, vector; /* first blocks */
};

/** struct peu - a sub-core. */
struct peu {
	uint32_t free_waves;
	struct blocks scalar, vector;
};

/** struct sm - what is free on an SM, and what it has done. */
struct sm {
	uint32_t cta_slots, barriers; /* free */
	uint32_t shared_blocks; /* free or not, see throttle.c */
	struct blocks shared;
	uint64_t busy[SM_WAVES / 64];
	struct peu peu[SM_PEUS];
	struct wave_slot *wave;
	uint32_t split;   /* PEU of the last wave of the rotated split */
	bool rotate;      /* waves are split by rotation */
	uint32_t touched; /* atomic: the table of SM states may be stale */
	uint32_t factor;  /* of its energy */
	uint64_t ctas, waves; /* ever started */
	uint64_t completed, states, throttles; /* states: without those sent to all */
	uint64_t resource_energy;
	uint64_t instructions[TUTTI_CLASSES]; /* atomic */
	struct { uint64_t piece; uint32_t count[TUTTI_CLASSES]; } history[SM_HISTORY]; /* under energy_lock */
};

void sm_init(struct sm *sm, const struct tutti_discovery *limits);
/** sm_take() - reserve everything @cta needs. Return: false (and nothing taken) if it does not fit. */
bool sm_take(struct sm *sm, const struct tutti_discovery *limits, struct cta *cta);
void sm_give(struct sm *sm, const struct tutti_discovery *limits, const struct cta *cta);
/** sm_wave_slot() - wave slot of wave @number of @cta. */
unsigned sm_wave_slot(const struct sm *sm, const struct cta *cta, unsigned number);
/** blocks_take() - first-fit: lowest start of @need free blocks, or -1. blocks_give() - the reverse. */
int blocks_take(struct blocks *blocks, unsigned need);
void blocks_give(struct blocks *blocks, unsigned first, unsigned need);
void blocks_init(struct blocks *blocks, unsigned n);

#endif

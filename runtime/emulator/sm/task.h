/* SPDX-License-Identifier: MIT */
/** DOC: What SMs know of tasks */
#ifndef TUTTI_EMULATOR_SM_TASK_H
#define TUTTI_EMULATOR_SM_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/sm/rasteriser.h"
#include "tutti/code_object.h"
#include "tutti/contract.h"
#include "tutti/softcore.h"
#include "tutti/wave.h"

#define MASK_WORDS (TUTTI_MAX_SMS / 32)

/** struct task - a task state and what is derived from it; lives while a slot or a CTA needs it. */
struct task {
	struct tutti_task_state state;
	struct tutti_wave_info info; /* what is the same for all waves */
	struct raster_shape shape;
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	uint32_t cga_ctas;           /* of the CGA that has ranks, 0 = none */
	uint64_t serial;             /* of this filling, never used twice */
	uint32_t references;
	uint32_t items;              /* of a full workgroup */
	uint32_t stack_class;
	bool edge;                   /* some workgroup is smaller */
	bool split;                  /* launched wave by wave */
	struct task *next;
};

/** struct slot - a task slot. @version: of the task; @all: version of the newest STATE to all SMs. */
struct slot {
	struct task *task;
	uint64_t launches; /* ever */
	uint32_t version;
	uint32_t epoch;    /* STATEs to all SMs */
	uint32_t all_version;
	uint64_t base;     /* launches at the newest one */
	uint32_t first;
	uint32_t resident;
	uint32_t dying; /* CTAs killed that still have requests */
	/* state_sync.c, on a card whose SMs acknowledge states */
	uint32_t unacknowledged;   /* states sent that the firmware has not been told of */
	uint32_t acknowledge_turn; /* when the SMs answer the newest one */
	uint32_t silent;           /* SM that does not, ~0 = none */
	/* completions not yet reported, by position in the priority order */
	uint32_t dirty_lo, dirty_hi; /* words of @done_mask */
	uint32_t done_mask[MASK_WORDS];
	uint32_t *done;
};

/** struct view - what one SM knows of one slot: one cache line. */
struct view {
	uint32_t epoch;
	uint32_t version;
	uint64_t split_base; /* split tasks: launch count at which wave 0 of some CTA was */
	struct rasteriser raster;
};
_Static_assert(sizeof(struct view) == 64, "a launch touches one line of each SM");

#endif

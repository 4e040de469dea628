/* SPDX-License-Identifier: MIT */
/** DOC: What SMs know of the tasks in the task slots */
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

/** struct task - a task state and what follows from it. Slots and CTAs that use it hold references. */
struct task {
	struct tutti_task_state state;
	struct tutti_wave_info info; /* the part that is the same for all waves */
	struct raster_shape shape;
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	uint32_t cga_ctas;           /* CTAs of the identity CGA; 0 if the task has no CGAs */
	uint64_t serial;             /* a new one each time this structure is filled */
	uint32_t references;
	uint32_t items;              /* work-items of a full workgroup */
	uint32_t stack_class;
	bool edge;                   /* some workgroups at the edge of the grid are smaller */
	bool split;                  /* its CTAs are split, that is, launched wave by wave */
	struct task *next;
};

/** struct slot - a task slot. @version is the task's; @all_version that of the newest STATE sent to all SMs. */
struct slot {
	struct task *task;
	uint64_t launches; /* launches in this slot so far */
	uint32_t version;
	uint32_t epoch;    /* number of STATEs that were sent to all SMs */
	uint32_t all_version;
	uint64_t base;     /* @launches when the newest of them was sent */
	uint32_t first;
	uint32_t resident;
	uint32_t dying; /* killed CTAs on whose tensor requests movers still work */
	/* For launch/state_sync.c, on a card whose SMs acknowledge states. */
	uint32_t unacknowledged;   /* states sent whose acknowledgement the firmware does not know */
	uint32_t acknowledge_turn; /* the turn in which the SMs acknowledge the newest one */
	uint32_t silent;           /* the SM that does not acknowledge it, ~0 if there is none */
	/* Completions that have not been reported, by the position of the SM in the priority order. */
	uint32_t dirty_lo, dirty_hi; /* the words of @done_mask that may be set */
	uint32_t done_mask[MASK_WORDS];
	uint32_t *done;
};

/** struct view - what one SM knows of one task slot, in one cache line. */
struct view {
	uint32_t epoch;
	uint32_t version;
	uint64_t split_base; /* of a split task: a launch count that started wave 0 of a CTA */
	struct rasteriser raster;
};
_Static_assert(sizeof(struct view) == 64, "a launch touches one line of each SM");

#endif

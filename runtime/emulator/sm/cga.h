/* SPDX-License-Identifier: MIT */
/**
 * DOC: CGAs in the SM array, or what the controllers of the SMs (MPC) do (spec CGA-31)
 *
 * LAUNCH only stages the CTAs of a CGA. END_OF_CGA writes the tables for accesses from SM to SM (DSMEM) and hands the
 * CTAs to the engines. All CTAs of a CGA run on one engine and one hart, whose memory holds their shared memory, so
 * that barriers and accesses need no lock. The CGA's id is free again after FLUSH of every SM that ran one of its CTAs.
 *
 * The driving thread writes the tables at launch and flush, and counts completions. The engine owns the barrier and
 * removes the table entries of CTAs that have ended.
 */
#ifndef TUTTI_EMULATOR_SM_CGA_H
#define TUTTI_EMULATOR_SM_CGA_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/sm/wave.h"

struct cta;
struct hart;

#define CGA_RANKS 256u
#define CGA_NO_SLOT 0xffffu
#define CGA_NO_SM 0xffu
#define GPC_SMS 32u /* the most SMs of a GPC, since masks of CGAs are one word */

/** struct cga_route - a line of a sender's cga_cta2sm_dir: for each rank its SM, as TPC << 1 | SM in the TPC. */
struct cga_route {
	uint8_t id;
	uint16_t ranks;
	uint8_t sm[]; /* limits->cga_ctas of them */
};

/** struct cga_entry - a line of a receiver's table. @key is 0 if the line is free (see dsmem.c), and written last. */
struct cga_entry {
	uint32_t key;
	uint32_t base, bytes; /* of the CTA's part of the SM's shared memory */
};

/** struct sm_cga - the tables of one SM (spec CGA-24). */
struct sm_cga {
	uint16_t bl_table[128];  /* the sm_cga_slot of each wave slot */
	uint64_t busy[4];        /* sm_cga_slots in use */
	uint8_t *cga_cta2sm_dir; /* a struct cga_route for each sm_cga_slot */
	struct cga_entry *entry; /* limits->cta_slots of them */
};

/** struct cga_fault - a DSMEM access that the receiving SM refused. */
struct cga_fault {
	uint32_t sm, rank, offset;
	uint8_t cause;
};

/** struct cga - the CGA of one gpc_local_cga_id of one GPC. */
struct cga {
	bool used, staged, dirty;
	uint8_t gpc, id, slot;
	struct cga *dirty_next;
	uint32_t size, ctas, running; /* CTAs of a whole CGA; those launched; those not completed */
	uint32_t ran;      /* SMs of the GPC that must be flushed, by their number in the GPC */
	uint16_t sm_slot[GPC_SMS];
	uint8_t rank_sm[CGA_RANKS];
	struct cta *first, *last; /* its CTAs until they go to an engine */
	/* Completions that have not been reported, by the position of the SM in the GPC. */
	uint32_t done_mask, done[GPC_SMS];
	/* The rest belongs to the engine that runs the CGA. */
	struct hart *hart;
	uint32_t left, waves; /* CTAs and waves not ended */
	struct cga_barrier barrier;
	bool faulted;      /* only the first bad access is reported */
	struct cga_fault fault;
	struct cga *fault_next; /* under array->lock */
};

/**
 * struct gpc - the SMs of a GPC. "Number" is an SM's number in the GPC.
 * @order: number of the SM at each position of the priority order
 * @position: position of each number, the inverse of @order
 * @place: TPC << 1 | SM in the TPC of each number
 * @number: number at each place, the inverse of @place
 */
struct gpc {
	uint32_t sms;
	uint8_t order[GPC_SMS], position[GPC_SMS];
	uint8_t place[GPC_SMS], number[2 * GPC_SMS];
};

#endif

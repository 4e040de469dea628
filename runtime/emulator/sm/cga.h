/* SPDX-License-Identifier: MIT */
/**
 * DOC: CGAs in the SM array: what the controllers of the SMs (MPC) do (spec CGA-31)
 *
 * A launch of a CGA only stages its CTAs; with END_OF_CGA the tables for SM-to-SM
 * access are written and its CTAs go to the engines. All CTAs of one CGA are run
 * by one engine and one hart, in whose memory their shared memory lies, so that barriers
 * and accesses need no lock. Its id is free again when every SM that ran one of its CTAs has
 * been flushed.
 *
 * Who owns what. The driving thread writes tables at launch and flush and counts
 * completions; the engine has the barrier and takes the entries of ended CTAs out.
 */
#ifndef TUTTI_EMULATOR_SM_CGA_H
#define TUTTI_EMULATOR_SM_CGA_H

#include <stdbool.h>
#include <stdint.h>

struct cta;
struct hart;
struct wave;

#define CGA_RANKS 256u
#define CGA_NO_SLOT 0xffffu
#define CGA_NO_SM 0xffu
#define GPC_SMS 32u /* SMs a GPC may have: masks of CGAs are one word */

/** struct cga_route - one line of a sender's cga_cta2sm_dir: which SM has which rank, as TPC << 1 | SM in the TPC. */
struct cga_route {
	uint8_t id;
	uint16_t ranks;
	uint8_t sm[]; /* limits->cga_ctas */
};

/** struct cga_entry - line of a receiver's table. @key: 0 = free, see dsmem.c; written last. */
struct cga_entry {
	uint32_t key;
	uint32_t base, bytes; /* in the SM's shared memory */
};

/** struct sm_cga - the tables of one SM (spec CGA-24). */
struct sm_cga {
	uint16_t bl_table[128];  /* by wave slot: sm_cga_slot */
	uint64_t busy[4];        /* sm_cga_slots in use */
	uint8_t *cga_cta2sm_dir; /* by sm_cga_slot: struct cga_route */
	struct cga_entry *entry; /* limits->cta_slots */
};

/** struct cga_fault - a bad access found by its target. */
struct cga_fault {
	uint32_t sm, rank, offset;
	uint8_t cause;
};

/** struct cga - one gpc_local_cga_id of one GPC. */
struct cga {
	bool used, staged, dirty;
	uint8_t gpc, id, slot;
	struct cga *dirty_next;
	uint32_t size, ctas, running; /* CTAs of a whole one, launched, not completed */
	uint32_t ran;      /* SMs of the GPC that have to be flushed, by number in the GPC */
	uint16_t sm_slot[GPC_SMS];
	uint8_t rank_sm[CGA_RANKS];
	struct cta *first, *last; /* until they go to an engine */
	/* completions not yet reported, by position in the GPC */
	uint32_t done_mask, done[GPC_SMS];
	/* the engine's */
	struct hart *hart;
	uint32_t left, waves, arrived, phase; /* CTAs, waves not ended; at the barrier */
	struct wave *waiting, **waiting_end;
	bool faulted;      /* one bad access is told, no more */
	struct cga_fault fault;
	struct cga *fault_next; /* under array->lock */
};

/**
 * struct gpc - SMs of a GPC.
 * @order: by position in the priority order: number in the GPC; @position: the reverse
 * @place: by number: TPC << 1 | SM in the TPC; @number: the reverse
 */
struct gpc {
	uint32_t sms;
	uint8_t order[GPC_SMS], position[GPC_SMS];
	uint8_t place[GPC_SMS], number[2 * GPC_SMS];
};

#endif

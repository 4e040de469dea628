/* SPDX-License-Identifier: MIT */
/**
 * DOC: What a wave sees: registers, wave information block, services
 *
 * A wave is an RV64IMAFD hart that works for up to 32 work-items, by loops.
 * At its start: pc = kernel entry, a0 = kernarg address, sp = top of its
 * private memory (16-byte aligned), tp = address of its struct tutti_wave_info
 * (read-only), ra = an address whose execution ends the wave, other registers 0,
 * floating point enabled, rounding to nearest, exception flags unspecified (this card sets NX).
 *
 * Address map of a wave: below 2^47 the context's page tables (an address that
 * is not mapped is a memory fault), above it these windows:
 */
#ifndef TUTTI_WAVE_H
#define TUTTI_WAVE_H

#include "code_object.h"

#define TUTTI_WAVE_ROM 0x0000800000000000ull    /* exit stub */
#define TUTTI_WAVE_INFO 0x0000800000100000ull   /* wave information blocks */
#define TUTTI_WAVE_SHARED 0x0000801000000000ull /* shared memory; a CTA is told its own base */
#define TUTTI_WAVE_PRIVATE 0x0000802000000000ull /* private memory; sp points into it */
#define TUTTI_WAVE_DSMEM 0x0000803000000000ull  /* CTAs of the CGA, this one included: + rank << 24 | offset */
#define TUTTI_WAVE_LMEM 0x0000804000000000ull   /* the CGA's linear memory slot, lmem_slot_bytes long (spec CGA-28) */

/** struct tutti_wave_info - what a CTA can read about itself (spec TSK-15). */
struct tutti_wave_info {
	uint64_t kernarg;
	uint64_t shared;        /* address of the CTA's shared memory, 16-byte aligned */
	uint32_t shared_bytes;
	uint32_t items;         /* work-items of this wave, 0..32 */
	uint32_t first_item;    /* flat number of its first one in the workgroup */
	uint32_t wave;          /* number of the wave in its CTA */
	uint32_t waves;
	uint32_t cta[3];        /* CTA id x, y, z */
	uint32_t groups[3];     /* CTAs of the grid */
	uint32_t grid[3];       /* work-items of the grid */
	uint16_t workgroup[3];  /* full workgroup size */
	uint16_t extent[3];     /* this workgroup's size (smaller at the grid's edge) */
	uint32_t cta_linear;    /* flat CTA number in the grid */
	uint32_t sm;
	uint16_t queue;
	uint16_t dimensions;
	uint32_t cga_id;        /* gpc_local_cga_id */
	uint32_t cga_rank;      /* 1-D rank in the CGA: order of launch, CTAs of an inner CGA in a row */
	uint32_t cga_ctas;      /* 1 = the CTA is alone */
	uint32_t gpc;           /* GPC of the SM */
	uint64_t tmd;
	uint64_t packet;        /* packet index */
	uint32_t cga[3];        /* CGA's coordinates in the grid of CGAs */
	uint32_t lmem;          /* linear memory slot, ~0 = none */
	uint64_t work_first;    /* queue tasks: first item's index */
	uint32_t work_items;    /* queue tasks: items given to this CTA */
	uint32_t pad0;
	uint64_t time;          /* card timer at the wave's start */
	struct tutti_cga_shape cga_level[TUTTI_CGA_LEVELS]; /* nesting of the grid, innermost first */
	uint16_t cga_size[3];   /* CTAs of the CGA along x, y, z */
	uint16_t pad1;
	uint64_t pad2[5];
};
TUTTI_SIZE(struct tutti_wave_info, 248);
TUTTI_AT(struct tutti_wave_info, kernarg, 0);
TUTTI_AT(struct tutti_wave_info, shared, 8);
TUTTI_AT(struct tutti_wave_info, shared_bytes, 16);
TUTTI_AT(struct tutti_wave_info, items, 20);
TUTTI_AT(struct tutti_wave_info, first_item, 24);
TUTTI_AT(struct tutti_wave_info, wave, 28);
TUTTI_AT(struct tutti_wave_info, waves, 32);
TUTTI_AT(struct tutti_wave_info, cta, 36);
TUTTI_AT(struct tutti_wave_info, groups, 48);
TUTTI_AT(struct tutti_wave_info, grid, 60);
TUTTI_AT(struct tutti_wave_info, workgroup, 72);
TUTTI_AT(struct tutti_wave_info, extent, 78);
TUTTI_AT(struct tutti_wave_info, cta_linear, 84);
TUTTI_AT(struct tutti_wave_info, sm, 88);
TUTTI_AT(struct tutti_wave_info, queue, 92);
TUTTI_AT(struct tutti_wave_info, dimensions, 94);
TUTTI_AT(struct tutti_wave_info, cga_id, 96);
TUTTI_AT(struct tutti_wave_info, cga_rank, 100);
TUTTI_AT(struct tutti_wave_info, cga_ctas, 104);
TUTTI_AT(struct tutti_wave_info, gpc, 108);
TUTTI_AT(struct tutti_wave_info, tmd, 112);
TUTTI_AT(struct tutti_wave_info, packet, 120);
TUTTI_AT(struct tutti_wave_info, cga, 128);
TUTTI_AT(struct tutti_wave_info, lmem, 140);
TUTTI_AT(struct tutti_wave_info, work_first, 144);
TUTTI_AT(struct tutti_wave_info, work_items, 152);
TUTTI_AT(struct tutti_wave_info, pad0, 156);
TUTTI_AT(struct tutti_wave_info, time, 160);
TUTTI_AT(struct tutti_wave_info, cga_level, 168);
TUTTI_AT(struct tutti_wave_info, cga_size, 200);
TUTTI_AT(struct tutti_wave_info, pad1, 206);
TUTTI_AT(struct tutti_wave_info, pad2, 208);

/*
 * Services: `ecall` with the number in a7, arguments in a0.., result in a0
 * (negative: -TUTTI_E*). All other registers are kept.
 */
enum tutti_service {
	TUTTI_SERVICE_EXIT = 0,    /* ends the wave (same as returning from the kernel) */
	TUTTI_SERVICE_BARRIER = 1, /* workgroup barrier: waits for all waves still running */
	TUTTI_SERVICE_PRINT = 2,   /* a0 text, a1 bytes (at most 4096): whole or not at all */
	TUTTI_SERVICE_ABORT = 3,   /* a0 code: kernel trap, cause ABORT */
	TUTTI_SERVICE_YIELD = 4,   /* lets other waves run: use it in waiting loops */
	TUTTI_SERVICE_TIME = 5,    /* card timer */
	/* through the firmware (TUTTI_EVENT_REQUEST) */
	TUTTI_SERVICE_TASK = 16,       /* a0 TMD address: create a child task (spec TSK-11); it completes by its TMD's signal */
	TUTTI_SERVICE_QUEUE_NOTIFY = 17, /* a0 TMD address: items were added */
	TUTTI_SERVICE_TENSOR = 18,     /* a0 address of a struct tutti_tensor_request, taken at once; waits for room only */
	TUTTI_SERVICE_WAIT_ALL = 19,   /* all earlier tensor requests of this CTA are done (hardware's, no event) */
	/* CGA */
	TUTTI_SERVICE_CGA_BARRIER = 32, /* CGA_ARRIVE and CGA_WAIT in one */
	TUTTI_SERVICE_MBARRIER_WAIT = 33, /* a0 shared offset, a1 phase parity */
	TUTTI_SERVICE_CGA_ARRIVE = 34,  /* this wave has come to the CGA's barrier; CGA_WAIT must follow */
	TUTTI_SERVICE_CGA_WAIT = 35,    /* waits until all waves of the CGA still running have arrived */
};

#endif
